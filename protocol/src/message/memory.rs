//! The board's own memory: a log of tags, one to three bytes each.
//!
//! The same tags come as the whole memory in single-board mode (0x8F) and in pieces on a bus. The
//! memory is a ring that is overwritten byte by byte, so a dump of it may begin inside a tag, and
//! newer boards write bytes whose meaning is not known.

use alloc::vec::Vec;

use super::clock::{ClockSide, from_bcd, to_bcd};
use crate::{
    command::Side,
    field::{Field, PieceCode},
};

/// One entry of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// `010r nnnn 00ff ffff`: a field changed. The piece comes before the field.
    FieldChange {
        /// The field, six bits of the second byte.
        field: Field,
        /// What stands there now, four bits of the first byte.
        code: PieceCode,
        /// Bit 4 of the first byte: written within about 250 ms after the previous change. Old
        /// boards never set it.
        quick: bool,
    },
    /// 0x60 to 0x69 right, 0x70 to 0x79 left, then minutes and seconds as decimal digits: this side
    /// was halted at this time. The signs of the side are not recorded.
    Halted {
        /// The side that was halted.
        side: Side,
        /// Its time, 0:00:00 to 9:59:59.
        time: ClockSide,
    },
    /// 0x6A: power came on. Three [`Nop`](Self::Nop) stand before it; a change for every piece
    /// follows, in any order.
    PowerUp,
    /// 0x6B: the end of a dump.
    End,
    /// 0x6C: sixteen pieces on the first and last rows, not in the starting order. A hint only.
    FourRows,
    /// 0x6D: the board is empty.
    EmptyBoard,
    /// 0x6E: the memory was read out.
    Downloaded,
    /// 0x6F: the classical starting position, connector at White's left.
    StartPosition,
    /// 0x7A: the classical starting position, turned.
    StartPositionTurned,
    /// 0x7B: the host marked the start of a game over the bus.
    StartGame,
    /// 0x7C: the board restarted itself; a power-up follows. Newer boards use it for other notes.
    Watchdog,
    /// 0x7F: nothing.
    Nop,
    /// 0x00: nothing, as newer boards write it.
    NopZero,
}

impl Tag {
    /// Appends the bytes of the tag.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match *self {
            Self::FieldChange { field, code, quick } => {
                let quick = if quick { QUICK } else { 0 };
                out.extend([CHANGE | quick | code.to_byte(), field.index()]);
            }
            Self::Halted { side, time } => {
                let base = if side == Side::Right { RIGHT } else { LEFT };
                let hours = base | time.hours.min(9);
                out.extend([hours, to_bcd(time.minutes), to_bcd(time.seconds)]);
            }
            Self::PowerUp => out.push(0x6A),
            Self::End => out.push(0x6B),
            Self::FourRows => out.push(0x6C),
            Self::EmptyBoard => out.push(0x6D),
            Self::Downloaded => out.push(0x6E),
            Self::StartPosition => out.push(0x6F),
            Self::StartPositionTurned => out.push(0x7A),
            Self::StartGame => out.push(0x7B),
            Self::Watchdog => out.push(0x7C),
            Self::Nop => out.push(0x7F),
            Self::NopZero => out.push(0x00),
        }
    }

    /// Reads the tag at the start of the bytes and says how long it is.
    fn decode(bytes: &[u8]) -> Option<(Self, usize)> {
        let tag = match *bytes {
            [first @ 0x40..=0x5F, field, ..] => {
                let field = Field::new(field)?;
                let code = PieceCode::from_byte(first & 0x0F)?;
                return Some((Self::FieldChange { field, code, quick: first & QUICK != 0 }, 2));
            }
            [first @ (0x60..=0x69 | 0x70..=0x79), minutes, seconds, ..] => {
                let side = if first & 0xF0 == RIGHT { Side::Right } else { Side::Left };
                let time = ClockSide {
                    hours: first & 0x0F,
                    minutes: from_bcd(minutes)?,
                    seconds: from_bcd(seconds)?,
                    ..ClockSide::default()
                };
                return Some((Self::Halted { side, time }, 3));
            }
            [0x6A, ..] => Self::PowerUp,
            [0x6B, ..] => Self::End,
            [0x6C, ..] => Self::FourRows,
            [0x6D, ..] => Self::EmptyBoard,
            [0x6E, ..] => Self::Downloaded,
            [0x6F, ..] => Self::StartPosition,
            [0x7A, ..] => Self::StartPositionTurned,
            [0x7B, ..] => Self::StartGame,
            [0x7C, ..] => Self::Watchdog,
            [0x7F, ..] => Self::Nop,
            [0x00, ..] => Self::NopZero,
            _ => return None,
        };
        Some((tag, 1))
    }
}

/// The tags of a piece of log, oldest first. Bytes that start no tag are skipped and counted.
#[derive(Clone, Debug)]
pub struct Log<'a> {
    bytes: &'a [u8],
    position: usize,
    /// Tags that begin before this position may be the tail of an older one.
    trusted_from: usize,
    skipped: usize,
}

impl<'a> Log<'a> {
    /// A log that begins with a whole tag, as boards on a bus send it.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0, trusted_from: 0, skipped: 0 }
    }

    /// A dump of the whole memory (0x8F), which may begin inside a tag.
    ///
    /// A field change in the first two bytes is skipped, because the minutes of a time tag that lost
    /// its first byte look the same. Nothing after it is misread for that: the second byte of a
    /// field change is smaller than the first byte of any tag that matters.
    pub const fn cyclic(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0, trusted_from: 2, skipped: 0 }
    }

    /// How many bytes started no tag so far.
    pub const fn skipped(&self) -> usize {
        self.skipped
    }
}

impl Iterator for Log<'_> {
    type Item = Tag;

    fn next(&mut self) -> Option<Tag> {
        loop {
            let rest = self.bytes.get(self.position..)?;
            let &first = rest.first()?;
            let (tag, length) = Tag::decode(rest).map_or((None, 1), |(tag, n)| (Some(tag), n));
            let trusted = self.position >= self.trusted_from || first >= RIGHT;
            self.position += length;
            if let Some(tag) = tag.filter(|_| trusted) {
                self.trusted_from = 0;
                return Some(tag);
            }
            self.skipped += length;
        }
    }
}

const CHANGE: u8 = 0x40;
const QUICK: u8 = 0x10;
const RIGHT: u8 = 0x60;
const LEFT: u8 = 0x70;

#[cfg(test)]
mod tests {
    use super::*;

    fn change(field: u8, code: PieceCode) -> Tag {
        Tag::FieldChange { field: Field::new(field).unwrap(), code, quick: false }
    }

    fn read(mut log: Log<'_>) -> (Vec<Tag>, usize) {
        let tags = log.by_ref().collect();
        (tags, log.skipped())
    }

    #[test]
    fn tags_read_and_write_the_same_bytes() {
        let time = ClockSide::from_seconds(5398);
        let quick = Tag::FieldChange {
            field: Field::new(36).unwrap(),
            code: PieceCode::WhitePawn,
            quick: true,
        };
        let table: [(&[u8], Tag); 16] = [
            (&[0x40, 0x34], change(52, PieceCode::Empty)),
            (&[0x41, 0x24], change(36, PieceCode::WhitePawn)),
            (&[0x51, 0x24], quick),
            (&[0x71, 0x29, 0x58], Tag::Halted { side: Side::Left, time }),
            (&[0x61, 0x29, 0x58], Tag::Halted { side: Side::Right, time }),
            (&[0x6A], Tag::PowerUp),
            (&[0x6B], Tag::End),
            (&[0x6C], Tag::FourRows),
            (&[0x6D], Tag::EmptyBoard),
            (&[0x6E], Tag::Downloaded),
            (&[0x6F], Tag::StartPosition),
            (&[0x7A], Tag::StartPositionTurned),
            (&[0x7B], Tag::StartGame),
            (&[0x7C], Tag::Watchdog),
            (&[0x7F], Tag::Nop),
            (&[0x00], Tag::NopZero),
        ];
        for (bytes, tag) in table {
            let mut out = Vec::new();
            tag.encode(&mut out);
            assert_eq!(out, bytes);
            assert_eq!(read(Log::new(bytes)), ([tag].to_vec(), 0));
        }
    }

    #[test]
    fn unknown_bytes_at_boundaries_are_skipped() {
        let bytes = [0x05, 0x3A, 0x41, 0x24, 0x7C, 0x03, 0x7D, 0x40, 0x34];
        let expected =
            [change(36, PieceCode::WhitePawn), Tag::Watchdog, change(52, PieceCode::Empty)];
        assert_eq!(read(Log::new(&bytes)), (expected.to_vec(), 4));
    }

    #[test]
    fn broken_tags_cost_one_byte() {
        let bytes = [0x41, 0x41, 0x24, 0x61, 0x71, 0x00, 0x07, 0x40];
        let time = ClockSide::from_seconds(3607);
        let halted = Tag::Halted { side: Side::Left, time };
        let expected = [change(36, PieceCode::WhitePawn), halted];
        assert_eq!(read(Log::new(&bytes)), (expected.to_vec(), 3));
    }

    #[test]
    fn a_dump_that_begins_inside_a_time_invents_no_change() {
        let whole = [0x71, 0x45, 0x30, 0x41, 0x24, 0x40, 0x34, 0x6B];
        let expected = [change(36, PieceCode::WhitePawn), change(52, PieceCode::Empty), Tag::End];
        assert_eq!(read(Log::cyclic(&whole[1..])), (expected.to_vec(), 2));
        // Here the change in the second byte is real, but nothing tells.
        assert_eq!(read(Log::cyclic(&whole[2..])), (expected[1..].to_vec(), 3));
    }

    #[test]
    fn a_dump_that_begins_with_a_certain_tag_is_trusted_at_once() {
        let bytes = [0x6A, 0x48, 0x00, 0x49, 0x01];
        let expected =
            [Tag::PowerUp, change(0, PieceCode::BlackRook), change(1, PieceCode::BlackKnight)];
        assert_eq!(read(Log::cyclic(&bytes)), (expected.to_vec(), 0));
    }
}
