//! The board's own record of changes, which it keeps whether anybody listens or not.

use std::collections::VecDeque;

use dgt_protocol::{ClockSide, Field, PieceCode, Side};

/// A cyclic store of tags, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    tags: VecDeque<u8>,
}

impl Memory {
    /// Three fillers, the tag of switching on, and every man found.
    pub(super) fn power_up(&mut self, seen: &[PieceCode; 64]) {
        self.append(&[FILLER, FILLER, FILLER, POWER_UP]);
        for (field, &code) in Field::all().zip(seen) {
            if code != PieceCode::Empty {
                self.change(field, code);
            }
        }
    }

    /// The code and its field: the other way round than in the report of a change.
    pub(super) fn change(&mut self, field: Field, code: PieceCode) {
        self.append(&[CHANGE | code.to_byte(), field.index()]);
    }

    /// The time of the side that was halted, minutes and seconds in decimal digits.
    pub(super) fn time(&mut self, side: Side, time: ClockSide) {
        let start = match side {
            Side::Right => TIME_RIGHT,
            Side::Left => TIME_LEFT,
        };
        let digits = |value: u8| ((value / 10) << 4) | (value % 10);
        self.append(&[start | time.hours.min(9), digits(time.minutes), digits(time.seconds)]);
    }

    /// The whole store. What was never written reads as fillers.
    pub(super) fn read_out(&self) -> Vec<u8> {
        let mut bytes = vec![FILLER; SIZE - 1 - self.tags.len()];
        bytes.extend(&self.tags);
        bytes.push(END);
        bytes
    }

    /// Overwrites byte by byte, so that the oldest tag may be cut.
    fn append(&mut self, tag: &[u8]) {
        self.tags.extend(tag);
        let excess = self.tags.len().saturating_sub(SIZE - 1);
        self.tags.drain(..excess);
    }
}

const SIZE: usize = 0x1F00;
const FILLER: u8 = 0x7F;
const POWER_UP: u8 = 0x6A;
const END: u8 = 0x6B;
const CHANGE: u8 = 0x40;
const TIME_RIGHT: u8 = 0x60;
const TIME_LEFT: u8 = 0x70;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_changes_and_times_as_tags() {
        let mut memory = Memory::default();
        memory.change(Field::new(52).unwrap(), PieceCode::Empty);
        memory.change(Field::new(36).unwrap(), PieceCode::WhitePawn);
        memory.time(Side::Left, ClockSide::from_seconds(5398));
        let bytes = memory.read_out();
        assert_eq!(bytes.len(), SIZE);
        assert!(bytes.ends_with(&[0x40, 0x34, 0x41, 0x24, 0x71, 0x29, 0x58, 0x6B]));
    }

    #[test]
    fn forgets_the_oldest() {
        let mut memory = Memory::default();
        for _ in 0..SIZE {
            memory.change(Field::new(1).unwrap(), PieceCode::WhiteKing);
        }
        assert_eq!(memory.read_out().len(), SIZE);
    }
}
