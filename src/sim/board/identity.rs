//! What a board says about itself.

use std::time::Duration;

use dgt_protocol::{
    Address, Battery, Command, Content, LongSerialNumber, Message, Order, SerialNumber, Text,
};

use super::Connector;

/// How old a board is, where that shows on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generation {
    /// Marks no change as quick, and tells no version on a bus.
    First,
    /// Marks quick changes.
    #[default]
    Usual,
    /// Also answers changes on a bus under two ids in turn, closes them with an end tag, and answers on a
    /// bus who it is.
    Newer,
}

/// The facts of one virtual board.
#[derive(Clone, Debug)]
pub struct BoardSettings {
    /// The short serial number; also the address on a bus, if it is small enough.
    pub serial: SerialNumber,
    /// The long serial number, if the board is of the kind that has one.
    pub long_serial: Option<LongSerialNumber>,
    /// The trademark text. It is our own: the maker's text may not be passed on by others.
    pub trademark: Text,
    /// Version of the program: major, minor.
    pub version: (u8, u8),
    /// Version of the hardware: major, minor.
    pub hardware: (u8, u8),
    /// The battery, if the board is of the kind that has one.
    pub battery: Option<Battery>,
    /// How old the board is.
    pub generation: Generation,
    /// Where White sits.
    pub connector: Connector,
    /// The clock stands at the other end of the board, so that its sides are swapped.
    pub clock_turned: bool,
    /// Time for a look at all 64 fields, one after the other.
    pub scan: Duration,
    /// How often the board reads its clock; readings are late by up to this time. At most a second on
    /// real boards.
    pub clock_poll: Duration,
    /// Field reports that get lost, of a thousand.
    pub lost_per_mille: u16,
    /// Decides which reports get lost, and with the serial number how fast the board answers on a bus.
    pub seed: u64,
}

impl BoardSettings {
    /// A board of this serial number, with everything else as it is on most boards. Numbers above
    /// 99999 wrap.
    pub fn new(serial: u32) -> Self {
        Self {
            serial: five_digits(serial),
            long_serial: None,
            trademark: Text::new(&format!(
                "boardcast virtual board\r\nsoftware version: 1.08\r\nserial no: {:05}\r\n",
                serial % 100_000
            )),
            version: (1, 8),
            hardware: (1, 0),
            battery: None,
            generation: Generation::Usual,
            connector: Connector::LeftOfWhite,
            clock_turned: false,
            scan: Duration::from_millis(224),
            clock_poll: Duration::from_millis(100),
            lost_per_mille: 0,
            seed: 0,
        }
    }

    /// The answer to a question about the board itself; boards stay silent where they have none.
    pub(super) fn answer(&self, command: &Command) -> Option<Message> {
        match command {
            Command::ReadSerialNumber => Some(Message::SerialNumber(self.serial)),
            Command::ReadLongSerialNumber => self.long_serial.map(Message::LongSerialNumber),
            Command::ReadBusAddress => {
                Some(Message::BusAddress(self.serial.bus_address().unwrap_or_default()))
            }
            Command::ReadTrademark => Some(Message::Trademark(self.trademark.clone())),
            Command::ReadVersion => {
                let (major, minor) = self.version;
                Some(Message::Version { major, minor })
            }
            Command::ReadHardwareVersion => {
                let (major, minor) = self.hardware;
                Some(Message::HardwareVersion { major, minor })
            }
            Command::ReadBattery => self.battery.map(Message::Battery),
            _ => None,
        }
    }

    /// The address on a bus: the serial number. A board whose number has no place there has none, and
    /// keeps silent on a bus.
    pub(super) fn address(&self) -> Option<Address> {
        Address::new(self.serial.bus_address()?)
    }

    /// The answer to such a question on a bus.
    pub(super) fn bus_answer(&self, order: Order) -> Option<Content> {
        if order == Order::ReadVersion {
            let tells = self.generation != Generation::First;
            return Some(Content::Version(tells.then_some(self.version)));
        }
        if self.generation != Generation::Newer {
            return None;
        }
        let (id, command) = match order {
            Order::ReadSerialNumber => (0xB0, Command::ReadSerialNumber),
            Order::ReadTrademark => (0xB4, Command::ReadTrademark),
            Order::ReadBattery => (0xB5, Command::ReadBattery),
            Order::ReadHardwareVersion => (0x8C, Command::ReadHardwareVersion),
            // No button was pressed; what an answer with one looks like is not known.
            Order::ReadButton => return Some(Content::Other { id: 0xB1, data: Vec::new() }),
            _ => return None,
        };
        let mut bytes = Vec::new();
        self.answer(&command)?.encode(&mut bytes);
        let data = bytes.split_off(SINGLE_HEADER);
        Some(Content::Other { id, data })
    }
}

/// What stands before the data of an answer in single-board mode: id and length.
const SINGLE_HEADER: usize = 3;

fn five_digits(number: u32) -> SerialNumber {
    SerialNumber::from_number(number % 100_000).expect("a number of five digits")
}
