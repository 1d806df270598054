//! What a board says about itself.

use crate::{
    command::Command,
    message::{
        Message,
        identity::{LongSerialNumber, SerialNumber, Text},
    },
};

/// Everything a board answered to the question who it is. Old boards do not know every answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The short serial number.
    pub serial_number: Option<SerialNumber>,
    /// The long serial number of newer boards.
    pub long_serial_number: Option<LongSerialNumber>,
    /// Major and minor version of the program.
    pub version: Option<(u8, u8)>,
    /// Major and minor version of the hardware.
    pub hardware_version: Option<(u8, u8)>,
    /// The address on a bus, 14 bits.
    pub bus_address: Option<u16>,
    /// The trademark text.
    pub trademark: Option<Text>,
}

/// What an identity learns from a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lesson {
    Nothing,
    News,
    /// A serial number that differs from the known one: this is another board.
    AnotherBoard,
}

impl Identity {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The commands whose answers are missing.
    pub(super) fn missing(&self) -> impl Iterator<Item = Command> + use<> {
        let asked = [
            (self.serial_number.is_none(), Command::ReadSerialNumber),
            (self.long_serial_number.is_none(), Command::ReadLongSerialNumber),
            (self.version.is_none(), Command::ReadVersion),
            (self.bus_address.is_none(), Command::ReadBusAddress),
            (self.hardware_version.is_none(), Command::ReadHardwareVersion),
            (self.trademark.is_none(), Command::ReadTrademark),
        ];
        asked.into_iter().filter(|(missing, _)| *missing).map(|(_, command)| command)
    }

    pub(super) fn learn(&mut self, message: &Message) -> Lesson {
        match message {
            Message::SerialNumber(serial) => note_serial(&mut self.serial_number, serial),
            Message::LongSerialNumber(serial) => note_serial(&mut self.long_serial_number, serial),
            Message::Version { major, minor } => note(&mut self.version, &(*major, *minor)),
            Message::HardwareVersion { major, minor } => {
                note(&mut self.hardware_version, &(*major, *minor))
            }
            Message::BusAddress(address) => note(&mut self.bus_address, address),
            Message::Trademark(text) => note(&mut self.trademark, text),
            _ => Lesson::Nothing,
        }
    }
}

fn note_serial<T: Clone + PartialEq>(known: &mut Option<T>, serial: &T) -> Lesson {
    if known.as_ref().is_some_and(|known| known != serial) {
        return Lesson::AnotherBoard;
    }
    note(known, serial)
}

fn note<T: Clone + PartialEq>(known: &mut Option<T>, value: &T) -> Lesson {
    if known.as_ref() == Some(value) {
        return Lesson::Nothing;
    }
    *known = Some(value.clone());
    Lesson::News
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_serial_number_is_another_board() {
        let serial = |number| Message::SerialNumber(SerialNumber::from_number(number).unwrap());
        let mut identity = Identity::default();
        assert_eq!(identity.learn(&serial(1025)), Lesson::News);
        assert_eq!(identity.learn(&serial(1025)), Lesson::Nothing);
        assert_eq!(identity.learn(&serial(1026)), Lesson::AnotherBoard);
        assert_eq!(identity.serial_number, SerialNumber::from_number(1025));
        assert_eq!(identity.missing().count(), 5);
    }
}
