//! Clock times and status, and the answers of the clock that share the identifier 0x8D.
//!
//! Byte numbers count from the id, so the payload is bytes 3 to 9. Sides are those of the clock
//! seen from its front; which of them is White depends on how board and clock stand.

mod ack;

pub use ack::{AckMeaning, Button, ClockAck};

use super::{
    CLOCK,
    malformed::{Defect, Malformed},
};

/// The content of a clock message (0x8D, bytes 3 to 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockMessage {
    /// Times and status.
    Times(ClockTimes),
    /// The answer of the clock to a command, or a pressed button. Marked by the impossible hour
    /// ten in the low half of byte 3 or byte 6.
    Ack(ClockAck),
    /// Seven zero bytes, as some Bluetooth boards send after a command. It says nothing.
    Null,
}

/// What the clock shows and does.
///
/// Encoding clamps values that the wire cannot hold: hours to 9, minutes and seconds to 59. Times
/// whose every bit is zero read back as [`ClockMessage::Null`]; real clocks set a turn bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockTimes {
    /// Right side of the clock, bytes 3 to 5.
    pub right: ClockSide,
    /// Left side of the clock, bytes 6 to 8.
    pub left: ClockSide,
    /// Byte 9 bit 0: started and not halted by the start/stop button.
    pub running: bool,
    /// Byte 9 bit 1.
    pub lever: Lever,
    /// Byte 9 bit 2: the clock shows its low-battery sign.
    pub battery_low: bool,
    /// Byte 9 bit 5, inverted: without a clock the times mean nothing.
    pub connected: bool,
    /// Byte 9 bits 3 and 4 in place (mask 0x18). Sources disagree about which side they name, so
    /// they are kept and not used; the lever says the same without dispute.
    pub turn_bits: u8,
}

/// One side of the clock: three bytes, hours with three status bits, then minutes and seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockSide {
    /// 0 to 9.
    pub hours: u8,
    /// 0 to 59.
    pub minutes: u8,
    /// 0 to 59. Tenths, where the display shows them, are not transmitted.
    pub seconds: u8,
    /// Hours byte bit 4: the flag has fallen and the clock is blocked at zero.
    pub flag: bool,
    /// Hours byte bit 5: the sign for time per move (increment, delay) is lit.
    pub increment_sign: bool,
    /// Hours byte bit 6: the flag has fallen and is shown, the clock may go on in a next period.
    pub flag_running: bool,
}

/// Position of the lever. The high side is to move; the low side has just been pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lever {
    /// Byte 9 bit 1 clear: the left player is to move.
    LeftHigh,
    /// Byte 9 bit 1 set: the right player is to move.
    RightHigh,
}

impl ClockMessage {
    pub(crate) fn decode(payload: [u8; 7]) -> Result<Self, Malformed> {
        let [b3, b4, b5, b6, b7, b8, status] = payload;
        if payload == [0; 7] {
            return Ok(Self::Null);
        }
        if let Some(ack) = ClockAck::decode(payload) {
            return Ok(Self::Ack(ack));
        }
        let connected = status & NOT_CONNECTED == 0;
        // Without a clock the times mean nothing, so nonsense in them is no fault.
        let side = |bytes| match ClockSide::decode(bytes) {
            Err(_) if !connected => Ok(ClockSide::default()),
            result => result,
        };
        Ok(Self::Times(ClockTimes {
            right: side([b3, b4, b5])?,
            left: side([b6, b7, b8])?,
            running: status & RUNNING != 0,
            lever: if status & RIGHT_HIGH == 0 { Lever::LeftHigh } else { Lever::RightHigh },
            battery_low: status & BATTERY_LOW != 0,
            connected,
            turn_bits: status & TURN,
        }))
    }

    pub(crate) fn encode(&self) -> [u8; 7] {
        match self {
            Self::Times(times) => times.encode(),
            Self::Ack(ack) => ack.encode(),
            Self::Null => [0; 7],
        }
    }
}

impl ClockTimes {
    /// The side that is to move: the high one.
    pub const fn to_move(&self) -> ClockSide {
        match self.lever {
            Lever::LeftHigh => self.left,
            Lever::RightHigh => self.right,
        }
    }

    fn encode(&self) -> [u8; 7] {
        let [b3, b4, b5] = self.right.encode();
        let [b6, b7, b8] = self.left.encode();
        let status = if self.running { RUNNING } else { 0 }
            | if self.lever == Lever::RightHigh { RIGHT_HIGH } else { 0 }
            | if self.battery_low { BATTERY_LOW } else { 0 }
            | if self.connected { 0 } else { NOT_CONNECTED }
            | self.turn_bits & TURN;
        [b3, b4, b5, b6, b7, b8, status]
    }
}

impl ClockSide {
    /// A side that shows this time and no sign; more than 9:59:59 is cut to that.
    pub const fn from_seconds(seconds: u32) -> Self {
        let seconds = if seconds < MAX_SECONDS { seconds } else { MAX_SECONDS };
        Self {
            hours: (seconds / 3600) as u8,
            minutes: (seconds / 60 % 60) as u8,
            seconds: (seconds % 60) as u8,
            flag: false,
            increment_sign: false,
            flag_running: false,
        }
    }

    /// The time shown, in seconds.
    pub const fn total_seconds(&self) -> u32 {
        self.hours as u32 * 3600 + self.minutes as u32 * 60 + self.seconds as u32
    }

    pub(crate) fn decode([hours, minutes, seconds]: [u8; 3]) -> Result<Self, Malformed> {
        let broken = |defect| Malformed { id: CLOCK, defect };
        if hours & 0x0F > 9 {
            return Err(broken(Defect::Hours(hours)));
        }
        Ok(Self {
            hours: hours & 0x0F,
            minutes: from_bcd(minutes).ok_or(broken(Defect::Minutes(minutes)))?,
            seconds: from_bcd(seconds).ok_or(broken(Defect::Seconds(seconds)))?,
            flag: hours & FLAG != 0,
            increment_sign: hours & INCREMENT_SIGN != 0,
            flag_running: hours & FLAG_RUNNING != 0,
        })
    }

    fn encode(self) -> [u8; 3] {
        let signs = if self.flag { FLAG } else { 0 }
            | if self.increment_sign { INCREMENT_SIGN } else { 0 }
            | if self.flag_running { FLAG_RUNNING } else { 0 };
        [self.hours.min(9) | signs, to_bcd(self.minutes), to_bcd(self.seconds)]
    }
}

impl Lever {
    /// The turn bits that real clocks send with this lever (byte 9, mask 0x18).
    pub const fn turn_bits(self) -> u8 {
        match self {
            Self::LeftHigh => 0x08,
            Self::RightHigh => 0x10,
        }
    }

    /// The lever after the side that is to move has pressed.
    pub const fn pressed(self) -> Self {
        match self {
            Self::LeftHigh => Self::RightHigh,
            Self::RightHigh => Self::LeftHigh,
        }
    }
}

/// Two decimal digits in one byte, up to 59.
pub(crate) const fn from_bcd(byte: u8) -> Option<u8> {
    let (tens, ones) = (byte >> 4, byte & 0x0F);
    if tens < 6 && ones < 10 { Some(tens * 10 + ones) } else { None }
}

/// The reverse of [`from_bcd`]; more than 59 becomes 59.
pub(crate) const fn to_bcd(value: u8) -> u8 {
    let value = if value < 60 { value } else { 59 };
    ((value / 10) << 4) | (value % 10)
}

const MAX_SECONDS: u32 = 9 * 3600 + 59 * 60 + 59;
const FLAG: u8 = 0x10;
const INCREMENT_SIGN: u8 = 0x20;
const FLAG_RUNNING: u8 = 0x40;
const RUNNING: u8 = 0x01;
const RIGHT_HIGH: u8 = 0x02;
const BATTERY_LOW: u8 = 0x04;
const TURN: u8 = 0x18;
const NOT_CONNECTED: u8 = 0x20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_and_write_the_same_bytes() {
        let fischer =
            |seconds| ClockSide { increment_sign: true, ..ClockSide::from_seconds(seconds) };
        let times = ClockTimes {
            right: fischer(182),
            left: fischer(179),
            running: true,
            lever: Lever::LeftHigh,
            battery_low: false,
            connected: true,
            turn_bits: Lever::LeftHigh.turn_bits(),
        };
        let bytes = [0x20, 0x03, 0x02, 0x20, 0x02, 0x59, 0x09];
        assert_eq!(ClockMessage::decode(bytes), Ok(ClockMessage::Times(times)));
        assert_eq!(ClockMessage::Times(times).encode(), bytes);
        assert_eq!(times.to_move().total_seconds(), 179);
    }

    #[test]
    fn impossible_times_are_malformed() {
        let table = [
            ([0x0B, 0, 0, 0, 0, 0, 8], Defect::Hours(0x0B)),
            ([0, 0x60, 0, 0, 0, 0, 8], Defect::Minutes(0x60)),
            ([0, 0, 0, 0, 0x1A, 0, 8], Defect::Minutes(0x1A)),
            ([0, 0, 0, 0, 0, 0x79, 8], Defect::Seconds(0x79)),
        ];
        for (bytes, defect) in table {
            assert_eq!(ClockMessage::decode(bytes), Err(Malformed { id: CLOCK, defect }));
        }
    }

    #[test]
    fn without_a_clock_nonsense_is_no_fault() {
        let decoded = ClockMessage::decode([0, 0x7F, 0, 0, 0, 0, 0x20]);
        assert!(matches!(decoded, Ok(ClockMessage::Times(times)) if !times.connected));
    }
}
