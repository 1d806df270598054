//! Several boards on one line: commands of the host. Answers are in [`reply`].
//!
//! A command is always four bytes: command, address high 7 bits, address low 7 bits, and a sum: the
//! three bytes before it added and cut to 7 bits. The command has bit 7 set, which no command of
//! single-board mode has; the two are different types because a single-board command on a bus would
//! switch every listening board out of bus mode.

mod reply;

pub use reply::{BusDeframer, BusReply, ChangesForm, Content};

use alloc::vec::Vec;
use core::fmt;

use crate::fault::Fault;

/// The address of a board on a bus, 1 to 16383: its serial number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address(u16);

impl Address {
    /// The address of this number, or `None` for 0, which names all boards, and above 16383.
    pub const fn new(number: u16) -> Option<Self> {
        if 0 < number && number < 1 << 14 { Some(Self(number)) } else { None }
    }

    /// The number, 1 to 16383.
    pub const fn number(self) -> u16 {
        self.0
    }

    const fn from_bytes([high, low]: [u8; 2]) -> Option<Self> {
        Self::new(((high & 0x7F) as u16) << 7 | (low & 0x7F) as u16)
    }

    const fn to_bytes(self) -> [u8; 2] {
        [(self.0 >> 7) as u8, (self.0 & 0x7F) as u8]
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Whom a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// Every board that hears it: address 0.
    All,
    /// One board.
    Board(Address),
}

/// A command on a bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BusCommand {
    /// Byte 0: what to do.
    pub order: Order,
    /// Bytes 1 and 2: who shall do it.
    pub target: Target,
}

/// What a board on a bus can be told. Orders for draughts boards (0x8C) and the one that changes
/// addresses on some boards (0x92) are left out on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Order {
    /// 0x81: asks for the clock, answer 0x84.
    ReadClock = 0x81,
    /// 0x82: asks for a dump, answer 0x83.
    ReadBoard = 0x82,
    /// 0x83: asks for the log since the last time and forgets it, answer 0x85 or 0x8B.
    ReadChanges = 0x83,
    /// 0x84: asks for the last answer to [`ReadChanges`](Self::ReadChanges) again.
    RepeatChanges = 0x84,
    /// 0x85: writes a start tag and all pieces into the log, answer 0x88 after about 70 ms.
    StartGame = 0x85,
    /// 0x86: asks for the log since the last start tag, without what the next
    /// [`ReadChanges`](Self::ReadChanges) will bring; answer 0x86.
    ReadFromStart = 0x86,
    /// 0x87: asks who is there, answer 0x87. For all, each board waits a random time of at most
    /// 1100 ms.
    Ping = 0x87,
    /// 0x88: to single-board mode; no answer.
    EndBusMode = 0x88,
    /// 0x89: restart as after power-up, which takes seconds; no answer.
    Reset = 0x89,
    /// 0x8A: do not answer the next ping to all, answer 0x87 at once.
    IgnoreNextPing = 0x8A,
    /// 0x8B: asks for the version, answer 0x89.
    ReadVersion = 0x8B,
    /// 0x8D: asks for changes, clock and dump one after the other, answers 0x85, 0x84, 0x83.
    ReadAll = 0x8D,
    /// 0x91: asks newer boards for the serial number, answer 0xB0.
    ReadSerialNumber = 0x91,
    /// 0x94: asks newer boards for clock buttons, answer 0xB1.
    ReadButton = 0x94,
    /// 0x97: asks newer boards for the trademark text, answer 0xB4.
    ReadTrademark = 0x97,
    /// 0x98: asks newer boards for the battery, answer 0xB5.
    ReadBattery = 0x98,
    /// 0x9B: asks newer boards for the hardware version, answer 0x8C.
    ReadHardwareVersion = 0x9B,
}

impl BusCommand {
    /// A command to one board.
    pub const fn to(address: Address, order: Order) -> Self {
        Self { order, target: Target::Board(address) }
    }

    /// A command to every board that hears it.
    pub const fn to_all(order: Order) -> Self {
        Self { order, target: Target::All }
    }

    /// Appends the four bytes of the command.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let [high, low] = match self.target {
            Target::All => [0, 0],
            Target::Board(address) => address.to_bytes(),
        };
        let bytes = [self.order.to_byte(), high, low];
        out.extend(bytes);
        out.push(sum(&bytes));
    }

    /// Reads a command.
    ///
    /// # Errors
    ///
    /// If the sum is wrong or the first byte names no order that is known here.
    pub fn decode(bytes: [u8; 4]) -> Result<Self, Fault> {
        let [id, high, low, received] = bytes;
        let computed = sum(&bytes[..3]);
        if received != computed {
            return Err(Fault::Checksum { id, received, computed });
        }
        let order = Order::from_byte(id).ok_or(Fault::UnknownCommand { byte: id })?;
        let target = Address::from_bytes([high, low]).map_or(Target::All, Target::Board);
        Ok(Self { order, target })
    }
}

impl Order {
    /// Every order, in the order of their bytes.
    pub const ALL: [Self; 17] = [
        Self::ReadClock,
        Self::ReadBoard,
        Self::ReadChanges,
        Self::RepeatChanges,
        Self::StartGame,
        Self::ReadFromStart,
        Self::Ping,
        Self::EndBusMode,
        Self::Reset,
        Self::IgnoreNextPing,
        Self::ReadVersion,
        Self::ReadAll,
        Self::ReadSerialNumber,
        Self::ReadButton,
        Self::ReadTrademark,
        Self::ReadBattery,
        Self::ReadHardwareVersion,
    ];

    /// The byte on the wire; bit 7 is set.
    pub const fn to_byte(self) -> u8 {
        self as u8
    }

    /// The order of a byte on the wire.
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.to_byte() == byte)
    }
}

/// All bytes added and cut to 7 bits: the last byte of every frame on a bus.
fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte)) & 0x7F
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_read_and_write_the_same_bytes() {
        let board = |number| Target::Board(Address::new(number).unwrap());
        let table = [
            ([0x81, 0x10, 0x06, 0x17], Order::ReadClock, board(2054)),
            ([0x87, 0x00, 0x00, 0x07], Order::Ping, Target::All),
            ([0x8B, 0x00, 0x00, 0x0B], Order::ReadVersion, Target::All),
            ([0x83, 0x08, 0x01, 0x0C], Order::ReadChanges, board(1025)),
            ([0x94, 0x06, 0x50, 0x6A], Order::ReadButton, board(848)),
        ];
        for (bytes, order, target) in table {
            let command = BusCommand { order, target };
            assert_eq!(BusCommand::decode(bytes), Ok(command));
            let mut out = Vec::new();
            command.encode(&mut out);
            assert_eq!(out, bytes);
        }
    }

    #[test]
    fn wrong_sums_and_unknown_orders_are_faults() {
        let fault = Fault::Checksum { id: 0x83, received: 0x0D, computed: 0x0C };
        assert_eq!(BusCommand::decode([0x83, 0x08, 0x01, 0x0D]), Err(fault));
        let fault = Fault::UnknownCommand { byte: 0x92 };
        assert_eq!(BusCommand::decode([0x92, 0x00, 0x00, 0x12]), Err(fault));
    }

    #[test]
    fn addresses_have_fourteen_bits_and_are_not_zero() {
        assert_eq!(Address::new(0), None);
        assert_eq!(Address::new(16_384), None);
        let last = Address::new(16_383).unwrap();
        assert_eq!(Address::from_bytes(last.to_bytes()), Some(last));
    }
}
