//! Who the board is: serial numbers and the trademark text.

use alloc::{string::String, vec::Vec};
use core::fmt;

use super::{
    LONG_SERIAL_NUMBER, SERIAL_NUMBER, TRADEMARK, exact,
    malformed::{Defect, Malformed},
};
use crate::frame::{HEADER, MAX_FRAME};

/// The short serial number (0x91): five characters, digits on every board made by DGT.
///
/// Old boards append a space and three characters of a version; both forms are kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SerialNumber {
    digits: [u8; 5],
    version: Option<[u8; 3]>,
}

impl SerialNumber {
    /// The serial number of a decimal number below 100 000.
    pub fn from_number(number: u32) -> Option<Self> {
        if number > 99_999 {
            return None;
        }
        let digit = |power: u32| b'0' + (number / power % 10) as u8;
        Some(Self { digits: [10_000, 1000, 100, 10, 1].map(digit), version: None })
    }

    /// The five characters.
    pub fn as_str(&self) -> &str {
        ascii(&self.digits)
    }

    /// The version that old boards append, such as `1.0`.
    pub fn version(&self) -> Option<&str> {
        self.version.as_ref().map(|version| ascii(version))
    }

    /// The address of this board on a bus: the decimal number, if it fits into 14 bits.
    pub fn bus_address(&self) -> Option<u16> {
        self.as_str().parse().ok().filter(|&address| address < 1 << 14)
    }

    pub(crate) fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let id = SERIAL_NUMBER;
        let (digits, version) = match payload {
            &[ref digits @ .., b' ', v1, v2, v3] if digits.len() == 5 => {
                (digits, Some(printable(id, &[v1, v2, v3])?))
            }
            digits => (digits, None),
        };
        Ok(Self { digits: printable(id, exact(id, digits)?)?, version })
    }

    pub(crate) fn encode(self) -> Vec<u8> {
        let mut bytes = self.digits.to_vec();
        if let Some(version) = self.version {
            bytes.push(b' ');
            bytes.extend(version);
        }
        bytes
    }
}

impl fmt::Display for SerialNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for SerialNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = f.debug_tuple("SerialNumber");
        tuple.field(&self.as_str());
        if let Some(version) = self.version() {
            tuple.field(&version);
        }
        tuple.finish()
    }
}

/// The ten-character serial number of newer boards (0xA2).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LongSerialNumber([u8; 10]);

impl LongSerialNumber {
    /// The serial number of ten printable ASCII characters.
    pub fn new(text: &str) -> Option<Self> {
        Self::decode(text.as_bytes()).ok()
    }

    /// The ten characters.
    pub fn as_str(&self) -> &str {
        ascii(&self.0)
    }

    pub(crate) fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        let characters = exact(LONG_SERIAL_NUMBER, payload)?;
        Ok(Self(printable(LONG_SERIAL_NUMBER, characters)?))
    }
}

impl fmt::Display for LongSerialNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for LongSerialNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LongSerialNumber").field(&self.as_str()).finish()
    }
}

/// ASCII text of several lines (0x92), at most 16380 characters. Control characters may occur.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(String);

impl Text {
    /// A text that can be sent: other characters than ASCII become `?`, excess is cut off.
    pub fn new(text: &str) -> Self {
        let ascii = |c: char| if c.is_ascii() { c } else { '?' };
        Self(text.chars().map(ascii).take(MAX_FRAME - HEADER).collect())
    }

    /// The text as it was sent, line ends and control characters included.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The lines that hold something, without surrounding space.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.0.split(['\r', '\n']).map(str::trim).filter(|line| !line.is_empty())
    }

    pub(crate) fn decode(payload: &[u8]) -> Result<Self, Malformed> {
        if let Some(&byte) = payload.iter().find(|byte| !byte.is_ascii()) {
            return Err(Malformed { id: TRADEMARK, defect: Defect::Character(byte) });
        }
        Ok(Self(payload.iter().map(|&byte| char::from(byte)).collect()))
    }
}

fn printable<const N: usize>(id: u8, bytes: &[u8; N]) -> Result<[u8; N], Malformed> {
    match bytes.iter().find(|byte| !matches!(byte, 0x20..=0x7E)) {
        None => Ok(*bytes),
        Some(&byte) => Err(Malformed { id, defect: Defect::Character(byte) }),
    }
}

fn ascii(bytes: &[u8]) -> &str {
    core::str::from_utf8(bytes).expect("characters checked when read")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_serial_number_gives_the_address() {
        let serial = SerialNumber::decode(b"01025").unwrap();
        assert_eq!(serial.bus_address(), Some(1025));
        assert_eq!(SerialNumber::from_number(1025), Some(serial));
        assert_eq!(SerialNumber::from_number(99_999).and_then(|serial| serial.bus_address()), None);
        assert_eq!(SerialNumber::from_number(100_000), None);
    }

    #[test]
    fn old_boards_append_a_version() {
        let serial = SerialNumber::decode(b"00137 1.0").unwrap();
        assert_eq!((serial.as_str(), serial.version()), ("00137", Some("1.0")));
        assert_eq!(serial.encode(), b"00137 1.0");
    }

    #[test]
    fn control_characters_make_no_serial_number() {
        let malformed = Malformed { id: 0x91, defect: Defect::Character(7) };
        assert_eq!(SerialNumber::decode(&[b'0', 7, b'0', b'0', b'0']), Err(malformed));
        assert_eq!(LongSerialNumber::new("3000147740").unwrap().as_str(), "3000147740");
        assert_eq!(LongSerialNumber::new("short"), None);
    }

    #[test]
    fn text_is_ascii_and_knows_its_lines() {
        let text = Text::new("Ünit\r\n\r\n version 1 ");
        assert_eq!(text.as_str(), "?nit\r\n\r\n version 1 ");
        assert!(text.lines().eq(["?nit", "version 1"]));
    }
}
