//! Why a whole message cannot be true.

use core::fmt;

/// A message that arrived whole but cannot be true. Nothing of it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The id of the message or the first byte of the command.
    pub id: u8,
    /// What is wrong with it.
    pub defect: Defect,
}

/// What is wrong with a malformed message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// The payload has a length that this message cannot have.
    Length(usize),
    /// A field number above 63.
    Field(u8),
    /// A piece code above 0x0F.
    PieceCode(u8),
    /// An hours digit above 9.
    Hours(u8),
    /// Minutes that are not two decimal digits up to 59.
    Minutes(u8),
    /// Seconds that are not two decimal digits up to 59.
    Seconds(u8),
    /// More than 100 percent.
    Percent(u8),
    /// A byte that is no printable character where one must be.
    Character(u8),
    /// An address that no board can have.
    Address(u16),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message 0x{:02X} is impossible: ", self.id)?;
        match self.defect {
            Defect::Length(bytes) => write!(f, "payload of {bytes} bytes"),
            Defect::Field(byte) => write!(f, "field {byte}"),
            Defect::PieceCode(byte) => write!(f, "piece code 0x{byte:02X}"),
            Defect::Hours(byte) => write!(f, "clock hours 0x{byte:02X}"),
            Defect::Minutes(byte) => write!(f, "minutes 0x{byte:02X}"),
            Defect::Seconds(byte) => write!(f, "seconds 0x{byte:02X}"),
            Defect::Percent(byte) => write!(f, "battery at {byte} percent"),
            Defect::Character(byte) => write!(f, "character 0x{byte:02X}"),
            Defect::Address(number) => write!(f, "bus address {number}"),
        }
    }
}

impl core::error::Error for Malformed {}
