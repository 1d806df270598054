//! Commands to a board in single-board mode.
//!
//! Commands that could harm a board or belong to other games are left out on purpose: the jump to
//! the boot loader (0x4E), the switch to draughts scanning (0x51, 0x53, 0x54) and its half dumps
//! (0x50, 0x52), and the keys of the Pegasus family (0x59, 0x5A, 0x63). The requests for clocks on
//! another connector (0x56 to 0x58) are left out because nothing is known about their answers.

mod clock;
mod reader;

pub use clock::{Beep, ClockCommand, Run, SegmentText, SetAndRun};
pub use reader::{CommandReader, HostCommand, HostReader};

use alloc::vec::Vec;

use crate::field::Field;

/// One command to a board in single-board mode; bit 7 of its first byte is clear.
///
/// On a bus every one of these would switch all listening boards out of bus mode, which is why bus
/// commands are another type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// 0x40: stop sending unasked. Not a reboot; no answer.
    Reset,
    /// 0x41: asks for one clock message.
    ReadClock,
    /// 0x42: asks for a dump.
    ReadBoard,
    /// 0x43: send field changes, and clock times at least once a second.
    Update,
    /// 0x44: send field changes only.
    UpdateBoard,
    /// 0x45: asks for the short serial number.
    ReadSerialNumber,
    /// 0x46: asks for the bus address.
    ReadBusAddress,
    /// 0x47: asks for the trademark text.
    ReadTrademark,
    /// 0x48: asks for the hardware version.
    ReadHardwareVersion,
    /// 0x49: asks for the whole memory, which blocks the line for about eight seconds.
    ReadMemory,
    /// 0x4A: go to bus mode; no answer.
    ToBusMode,
    /// 0x4B: send field changes, and clock times when they change.
    UpdateNice,
    /// 0x4C: asks for the battery; only boards with one answer.
    ReadBattery,
    /// 0x4D: asks for the program version.
    ReadVersion,
    /// 0x55: asks for the long serial number; older boards do not answer.
    ReadLongSerialNumber,
    /// 0x60: lamps of a Revelation II. Other boards hang for a while when they get it.
    Leds(Leds),
    /// 0x2B: a command to the clock, answered inside a clock message in the modes of
    /// [`Update`](Self::Update) and [`UpdateNice`](Self::UpdateNice).
    ToClock(ClockCommand),
}

/// What the lamps of a Revelation II shall do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leds {
    /// All off: `60 04 00 40 40 00`.
    AllOff,
    /// Light or darken two fields, as for a move.
    Pair {
        /// Byte 2: 1 lights, 0 darkens.
        lit: bool,
        /// Byte 3.
        from: Field,
        /// Byte 4.
        to: Field,
    },
}

/// A side of the clock seen from its front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Left.
    Left,
    /// Right.
    Right,
}

impl Command {
    /// Appends the bytes of the command.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Leds(leds) => leds.encode(out),
            Self::ToClock(command) => command.encode(out),
            plain => out.push(plain.first_byte()),
        }
    }

    /// The byte that identifies the command.
    pub const fn first_byte(&self) -> u8 {
        match self {
            Self::Reset => 0x40,
            Self::ReadClock => 0x41,
            Self::ReadBoard => 0x42,
            Self::Update => 0x43,
            Self::UpdateBoard => 0x44,
            Self::ReadSerialNumber => 0x45,
            Self::ReadBusAddress => 0x46,
            Self::ReadTrademark => 0x47,
            Self::ReadHardwareVersion => 0x48,
            Self::ReadMemory => 0x49,
            Self::ToBusMode => 0x4A,
            Self::UpdateNice => 0x4B,
            Self::ReadBattery => 0x4C,
            Self::ReadVersion => 0x4D,
            Self::ReadLongSerialNumber => 0x55,
            Self::Leds(_) => LEDS,
            Self::ToClock(_) => TO_CLOCK,
        }
    }

    /// The command of a single byte, or `None` for commands of several bytes and unknown ones.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0x40 => Self::Reset,
            0x41 => Self::ReadClock,
            0x42 => Self::ReadBoard,
            0x43 => Self::Update,
            0x44 => Self::UpdateBoard,
            0x45 => Self::ReadSerialNumber,
            0x46 => Self::ReadBusAddress,
            0x47 => Self::ReadTrademark,
            0x48 => Self::ReadHardwareVersion,
            0x49 => Self::ReadMemory,
            0x4A => Self::ToBusMode,
            0x4B => Self::UpdateNice,
            0x4C => Self::ReadBattery,
            0x4D => Self::ReadVersion,
            0x55 => Self::ReadLongSerialNumber,
            _ => return None,
        })
    }
}

impl Leds {
    fn encode(self, out: &mut Vec<u8>) {
        let (mode, from, to) = match self {
            Self::AllOff => (0, ALL_FIELDS, ALL_FIELDS),
            Self::Pair { lit, from, to } => (u8::from(lit), from.index(), to.index()),
        };
        out.extend([LEDS, 4, mode, from, to, 0]);
    }

    /// Reads the four bytes after the size.
    fn decode(body: [u8; 4]) -> Option<Self> {
        match body {
            [0, ALL_FIELDS, _, 0] => Some(Self::AllOff),
            [mode @ 0..=1, from, to, 0] => {
                Some(Self::Pair { lit: mode == 1, from: Field::new(from)?, to: Field::new(to)? })
            }
            _ => None,
        }
    }
}

const LEDS: u8 = 0x60;
const TO_CLOCK: u8 = 0x2B;
const ALL_FIELDS: u8 = 0x40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_bytes_name_the_commands_that_they_are() {
        for byte in 0..=u8::MAX {
            if let Some(command) = Command::from_byte(byte) {
                assert_eq!(command.first_byte(), byte);
                let mut out = Vec::new();
                command.encode(&mut out);
                assert_eq!(out, [byte]);
            }
        }
    }

    #[test]
    fn harmful_commands_do_not_exist() {
        for byte in [0x4E, 0x50, 0x51, 0x52, 0x53, 0x54, 0x63] {
            assert_eq!(Command::from_byte(byte), None);
        }
    }
}
