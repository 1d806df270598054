//! Messages of a board in single-board mode: identifiers and dispatch.

pub(crate) mod malformed;

pub(crate) mod battery;
pub(crate) mod board;
pub(crate) mod clock;
pub(crate) mod identity;
pub(crate) mod memory;

use alloc::vec::Vec;

use crate::{
    field::{Field, PieceCode},
    frame::{HEADER, write_frame},
};
use battery::Battery;
use board::Dump;
use clock::ClockMessage;
use identity::{LongSerialNumber, SerialNumber, Text};
use malformed::{Defect, Malformed};

/// One message of a board in single-board mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// 0x86, 67 bytes: what stands on all 64 fields.
    Dump(Dump),
    /// 0x8E, 5 bytes: one field changed to this code.
    FieldUpdate {
        /// Byte 3.
        field: Field,
        /// Byte 4; [`PieceCode::Empty`] when the piece was lifted.
        code: PieceCode,
    },
    /// 0x8D, 10 bytes: clock times, or the answer of the clock to a command.
    Clock(ClockMessage),
    /// 0x8F, 7939 bytes when whole: the board's own memory, oldest byte first.
    Memory(Vec<u8>),
    /// 0x90, 5 bytes: the 14-bit address on a bus.
    BusAddress(u16),
    /// 0x91, 8 bytes: the short serial number.
    SerialNumber(SerialNumber),
    /// 0x92: a text of several lines about the maker and the versions.
    Trademark(Text),
    /// 0x93, 5 bytes: version of the board's program. 1.2 means "1.02", not a decimal fraction.
    Version {
        /// Byte 3, 0 to 127.
        major: u8,
        /// Byte 4, 0 to 127.
        minor: u8,
    },
    /// 0x96, 5 bytes: version of the board's hardware.
    HardwareVersion {
        /// Byte 3, 0 to 127.
        major: u8,
        /// Byte 4, 0 to 127.
        minor: u8,
    },
    /// 0xA0, 12 bytes: battery of a Bluetooth board.
    Battery(Battery),
    /// 0xA2, 13 bytes: the ten-character serial number of newer boards.
    LongSerialNumber(LongSerialNumber),
    /// Any other id, handed on unread.
    Unknown {
        /// The id, bit 7 set.
        id: u8,
        /// Everything after the three header bytes; 7-bit bytes.
        payload: Vec<u8>,
    },
}

impl Message {
    /// Reads the payload of a message: everything after its three header bytes.
    ///
    /// # Errors
    ///
    /// If the length or a value cannot occur in a message of this id.
    pub fn decode(id: u8, payload: &[u8]) -> Result<Self, Malformed> {
        match id {
            DUMP => Dump::decode(payload).map(Self::Dump),
            FIELD_UPDATE => {
                let &[field, code] = exact(id, payload)?;
                let (field, code) = board::decode_change(id, field, code)?;
                Ok(Self::FieldUpdate { field, code })
            }
            CLOCK => ClockMessage::decode(*exact(id, payload)?).map(Self::Clock),
            MEMORY => Ok(Self::Memory(payload.to_vec())),
            BUS_ADDRESS => {
                let &[high, low] = exact(id, payload)?;
                Ok(Self::BusAddress(u16::from(high & 0x7F) << 7 | u16::from(low & 0x7F)))
            }
            SERIAL_NUMBER => SerialNumber::decode(payload).map(Self::SerialNumber),
            TRADEMARK => Text::decode(payload).map(Self::Trademark),
            VERSION => {
                let &[major, minor] = exact(id, payload)?;
                Ok(Self::Version { major, minor })
            }
            HARDWARE_VERSION => {
                let &[major, minor] = exact(id, payload)?;
                Ok(Self::HardwareVersion { major, minor })
            }
            BATTERY => Battery::decode(exact(id, payload)?).map(Self::Battery),
            LONG_SERIAL_NUMBER => LongSerialNumber::decode(payload).map(Self::LongSerialNumber),
            _ => Ok(Self::Unknown { id, payload: payload.to_vec() }),
        }
    }

    /// Appends the whole message, header included, as a board sends it.
    ///
    /// Bytes of free payloads are cut to 7 bits, payloads to the 16380 bytes a header can announce.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let id = self.id();
        match self {
            Self::Dump(dump) => write_frame(id, &dump.encode(), out),
            Self::FieldUpdate { field, code } => {
                write_frame(id, &[field.index(), code.to_byte()], out);
            }
            Self::Clock(clock) => write_frame(id, &clock.encode(), out),
            Self::Memory(payload) | Self::Unknown { payload, .. } => write_frame(id, payload, out),
            Self::BusAddress(address) => {
                write_frame(id, &[(address >> 7) as u8, *address as u8], out);
            }
            Self::SerialNumber(serial) => write_frame(id, &serial.encode(), out),
            Self::Trademark(text) => write_frame(id, text.as_str().as_bytes(), out),
            Self::Version { major, minor } | Self::HardwareVersion { major, minor } => {
                write_frame(id, &[*major, *minor], out);
            }
            Self::Battery(battery) => write_frame(id, &battery.encode(), out),
            Self::LongSerialNumber(serial) => write_frame(id, serial.as_str().as_bytes(), out),
        }
    }

    /// The identifying first byte; bit 7 is set.
    pub const fn id(&self) -> u8 {
        match self {
            Self::Dump(_) => DUMP,
            Self::FieldUpdate { .. } => FIELD_UPDATE,
            Self::Clock(_) => CLOCK,
            Self::Memory(_) => MEMORY,
            Self::BusAddress(_) => BUS_ADDRESS,
            Self::SerialNumber(_) => SERIAL_NUMBER,
            Self::Trademark(_) => TRADEMARK,
            Self::Version { .. } => VERSION,
            Self::HardwareVersion { .. } => HARDWARE_VERSION,
            Self::Battery(_) => BATTERY,
            Self::LongSerialNumber(_) => LONG_SERIAL_NUMBER,
            Self::Unknown { id, .. } => *id | 0x80,
        }
    }

    /// Whether a message of this id can have this length, header included.
    ///
    /// A wrong length is noticed at the third byte instead of when a swallowed message is missed.
    pub(crate) fn allows_length(id: u8, length: usize) -> bool {
        let payload = length.saturating_sub(HEADER);
        match id {
            DUMP => payload == 64,
            FIELD_UPDATE | BUS_ADDRESS | VERSION | HARDWARE_VERSION => payload == 2,
            CLOCK => payload == 7,
            SERIAL_NUMBER => payload == 5 || payload == 9,
            BATTERY => payload == 9,
            LONG_SERIAL_NUMBER => payload == 10,
            _ => true,
        }
    }
}

/// The payload as an array, if it has the one length this id can have.
fn exact<const N: usize>(id: u8, payload: &[u8]) -> Result<&[u8; N], Malformed> {
    payload.try_into().map_err(|_| Malformed { id, defect: Defect::Length(payload.len()) })
}

pub(crate) const DUMP: u8 = 0x86;
pub(crate) const CLOCK: u8 = 0x8D;
pub(crate) const FIELD_UPDATE: u8 = 0x8E;
const MEMORY: u8 = 0x8F;
const BUS_ADDRESS: u8 = 0x90;
pub(crate) const SERIAL_NUMBER: u8 = 0x91;
pub(crate) const TRADEMARK: u8 = 0x92;
const VERSION: u8 = 0x93;
const HARDWARE_VERSION: u8 = 0x96;
pub(crate) const BATTERY: u8 = 0xA0;
pub(crate) const LONG_SERIAL_NUMBER: u8 = 0xA2;

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn small_messages_read_and_write_the_same_bytes() {
        let table: [(&[u8], Message); 4] = [
            (&[0x90, 0x00, 0x05, 0x08, 0x01], Message::BusAddress(1025)),
            (&[0x93, 0x00, 0x05, 0x01, 0x07], Message::Version { major: 1, minor: 7 }),
            (&[0x96, 0x00, 0x05, 0x02, 0x00], Message::HardwareVersion { major: 2, minor: 0 }),
            (&[0xA3, 0x00, 0x04, 0x11], Message::Unknown { id: 0xA3, payload: vec![0x11] }),
        ];
        for (bytes, message) in table {
            assert_eq!(Message::decode(bytes[0], &bytes[3..]).as_ref(), Ok(&message));
            let mut out = Vec::new();
            message.encode(&mut out);
            assert_eq!(out, bytes);
        }
    }

    #[test]
    fn a_wrong_length_is_malformed() {
        let defect = Defect::Length(1);
        assert_eq!(Message::decode(CLOCK, &[0]), Err(Malformed { id: CLOCK, defect }));
    }
}
