//! The board's own record of changes, which it keeps whether anybody listens or not.
//!
//! It is a ring of bytes. A host in single-board mode reads all of it; a host on a bus fetches what is
//! new, piece by piece, and may ask for everything since the last start tag.

mod landmark;

use std::{collections::VecDeque, time::Duration};

use dgt_protocol::{ClockSide, Field, PieceCode, Side, Tag};

use self::landmark::Landmarks;

/// A cyclic store of tags. Positions count the bytes ever written.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    /// The newest bytes, oldest first.
    bytes: VecDeque<u8>,
    written: u64,
    /// Where the last fetched piece begins.
    fetched: u64,
    /// Where it ends, and the next one begins.
    unread: u64,
    /// Where the last start tag of a host stands.
    started: Option<u64>,
    /// Whether this kind of board marks changes that come close after another.
    marks_quick: bool,
    last_change: Option<Duration>,
    /// The field of the change tags at the end, and how many of them there are.
    flicker: Option<(Field, u32)>,
    landmarks: Landmarks,
}

impl Memory {
    /// A memory to which nothing was ever written.
    pub(super) fn new(marks_quick: bool) -> Self {
        Self {
            bytes: VecDeque::new(),
            written: 0,
            fetched: 0,
            unread: 0,
            started: None,
            marks_quick,
            last_change: None,
            flicker: None,
            landmarks: Landmarks::new(),
        }
    }

    /// Three fillers, the tag of switching on, and every man found.
    ///
    /// What was not fetched before is from now on to be had from the start tag only.
    pub(super) fn power_up(&mut self, seen: &[PieceCode; 64]) {
        self.fetched = self.written;
        self.unread = self.written;
        for tag in [Tag::Nop, Tag::Nop, Tag::Nop, Tag::PowerUp] {
            self.append(tag);
        }
        self.last_change = None;
        self.list_men(seen);
        self.landmarks = Landmarks::new();
        self.note_landmark(seen);
    }

    /// A field changed; this is the picture with the change in it.
    ///
    /// A man that flickers would fill the ring. From the third change of one field in a row on the last
    /// tag is overwritten, unless it was fetched.
    pub(super) fn change(&mut self, at: Duration, field: Field, seen: &[PieceCode; 64]) {
        let code = seen[usize::from(field.index())];
        let soon = self.last_change.is_some_and(|last| at.saturating_sub(last) < QUICK);
        self.last_change = Some(at);
        let tag = Tag::FieldChange { field, code, quick: self.marks_quick && soon };
        let in_a_row = match self.flicker {
            Some((before, count)) if before == field => count,
            _ => 0,
        };
        if in_a_row >= 2 && self.written >= self.unread + CHANGE_LENGTH {
            self.bytes.truncate(self.bytes.len() - CHANGE_LENGTH as usize);
            self.written -= CHANGE_LENGTH;
        }
        self.append(tag);
        self.flicker = Some((field, in_a_row + 1));
        self.note_landmark(seen);
    }

    /// Whether the last change is still being written.
    pub(super) fn is_writing(&self, now: Duration) -> bool {
        self.last_change.is_some_and(|last| now.saturating_sub(last) < WRITING)
    }

    /// The time of the side that was halted.
    pub(super) fn time(&mut self, side: Side, time: ClockSide) {
        self.append(Tag::Halted { side, time });
    }

    /// A host on a bus marks the start of a game: the tag, and every man on the board.
    pub(super) fn start_game(&mut self, seen: &[PieceCode; 64]) {
        self.started = Some(self.written);
        self.append(Tag::StartGame);
        self.list_men(seen);
    }

    /// What was written since the last time, which is thereby fetched.
    pub(super) fn fetch(&mut self) -> Vec<u8> {
        self.fetched = self.unread;
        self.unread = self.written;
        self.fetch_again()
    }

    /// What was fetched the last time.
    pub(super) fn fetch_again(&self) -> Vec<u8> {
        self.piece(self.fetched, self.unread)
    }

    /// Everything since the last start tag that was fetched before.
    pub(super) fn since_start(&self) -> Vec<u8> {
        self.piece(self.started.unwrap_or_default(), self.unread)
    }

    /// The whole store; what was never written reads as fillers. The board takes note that it was read.
    pub(super) fn read_out(&mut self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SIZE);
        for _ in 0..SIZE - 1 - self.bytes.len() {
            Tag::Nop.encode(&mut bytes);
        }
        bytes.extend(&self.bytes);
        Tag::End.encode(&mut bytes);
        self.append(Tag::Downloaded);
        bytes
    }

    fn list_men(&mut self, seen: &[PieceCode; 64]) {
        for (field, &code) in Field::all().zip(seen) {
            if code != PieceCode::Empty {
                self.append(Tag::FieldChange { field, code, quick: false });
            }
        }
    }

    fn note_landmark(&mut self, seen: &[PieceCode; 64]) {
        if let Some(tag) = self.landmarks.reached(seen) {
            self.append(tag);
        }
    }

    /// As much of this piece as was not overwritten.
    fn piece(&self, from: u64, to: u64) -> Vec<u8> {
        let oldest = self.written - self.bytes.len() as u64;
        let index = |position: u64| position.saturating_sub(oldest) as usize;
        self.bytes.range(index(from.min(to))..index(to)).copied().collect()
    }

    /// Overwrites byte by byte, so that the oldest tag may be cut.
    fn append(&mut self, tag: Tag) {
        let mut bytes = Vec::new();
        tag.encode(&mut bytes);
        self.written += bytes.len() as u64;
        self.bytes.extend(bytes);
        let excess = self.bytes.len().saturating_sub(SIZE - 1);
        self.bytes.drain(..excess);
        self.flicker = None;
    }
}

const SIZE: usize = 0x1F00;
/// Changes that come closer after one another than this are marked as quick.
const QUICK: Duration = Duration::from_millis(250);
/// How long it takes to write a tag.
const WRITING: Duration = Duration::from_millis(20);
const CHANGE_LENGTH: u64 = 2;

#[cfg(test)]
mod tests {
    use dgt_protocol::Log;
    use proptest::prelude::*;

    use super::*;

    /// A memory and the picture its board sees.
    struct Kept {
        memory: Memory,
        seen: [PieceCode; 64],
    }

    impl Kept {
        fn new() -> Self {
            Self { memory: Memory::new(true), seen: [PieceCode::Empty; 64] }
        }

        fn change(&mut self, at: u64, field: u8, code: PieceCode) {
            self.seen[usize::from(field)] = code;
            let field = Field::new(field).unwrap();
            self.memory.change(Duration::from_millis(at), field, &self.seen);
        }
    }

    #[test]
    fn keeps_changes_and_times_as_tags() {
        let mut kept = Kept::new();
        kept.change(1000, 8, PieceCode::WhiteKing);
        kept.change(2000, 52, PieceCode::Empty);
        kept.change(2249, 36, PieceCode::WhitePawn);
        kept.memory.time(Side::Left, ClockSide::from_seconds(5398));
        let bytes = kept.memory.read_out();
        assert_eq!(bytes.len(), SIZE);
        assert!(bytes.ends_with(&[0x45, 0x08, 0x40, 0x34, 0x51, 0x24, 0x71, 0x29, 0x58, 0x6B]));
        assert!(kept.memory.read_out().ends_with(&[0x58, 0x6E, 0x6B]));
    }

    #[test]
    fn old_boards_mark_nothing_as_quick() {
        let mut kept = Kept { memory: Memory::new(false), ..Kept::new() };
        kept.change(0, 52, PieceCode::WhitePawn);
        kept.change(1, 53, PieceCode::WhitePawn);
        assert_eq!(kept.memory.fetch(), [0x41, 0x34, 0x41, 0x35]);
    }

    #[test]
    fn forgets_the_oldest() {
        let mut kept = Kept::new();
        for i in 0..SIZE as u64 {
            kept.change(i * 1000, (i % 2) as u8, PieceCode::WhiteKing);
        }
        assert_eq!(kept.memory.fetch().len(), SIZE - 1);
        assert_eq!(kept.memory.read_out().len(), SIZE);
    }

    #[test]
    fn a_flickering_man_does_not_fill_the_ring() {
        let mut kept = Kept::new();
        for i in 0..100 {
            let code = if i % 2 == 0 { PieceCode::WhiteKing } else { PieceCode::Empty };
            kept.change(i * 1000, 4, code);
            if i == 49 {
                let expected = [0x45, 0x04, 0x40, 0x04, 0x6D, 0x45, 0x04, 0x40, 0x04];
                assert_eq!(kept.memory.fetch(), expected);
            }
        }
        // What was fetched stays, and the board that is empty again is noted only once.
        assert_eq!(kept.memory.fetch(), [0x40, 0x04]);
    }

    #[test]
    fn a_piece_is_fetched_once_and_again_on_demand() {
        let mut kept = Kept::new();
        kept.change(0, 60, PieceCode::WhiteKing);
        assert_eq!(kept.memory.fetch(), [0x45, 0x3C]);
        assert_eq!(kept.memory.fetch_again(), [0x45, 0x3C]);
        kept.change(1000, 4, PieceCode::BlackKing);
        assert_eq!(kept.memory.fetch_again(), [0x45, 0x3C]);
        assert_eq!(kept.memory.fetch(), [0x4B, 0x04]);
        assert_eq!(kept.memory.fetch(), [0; 0]);
        assert_eq!(kept.memory.fetch_again(), [0; 0]);
    }

    #[test]
    fn the_log_of_a_game_leaves_out_what_was_not_fetched() {
        let mut kept = Kept::new();
        kept.change(0, 60, PieceCode::WhiteKing);
        kept.memory.start_game(&kept.seen);
        assert_eq!(kept.memory.since_start(), [0; 0]);
        kept.memory.fetch();
        kept.change(1000, 4, PieceCode::BlackKing);
        assert_eq!(kept.memory.since_start(), [0x7B, 0x45, 0x3C]);
        kept.memory.power_up(&kept.seen);
        let expected = [0x7B, 0x45, 0x3C, 0x4B, 0x04];
        assert_eq!(kept.memory.since_start(), expected, "power-up gives the rest up");
        let expected = [0x7F, 0x7F, 0x7F, 0x6A, 0x4B, 0x04, 0x45, 0x3C];
        assert_eq!(kept.memory.fetch(), expected);
    }

    proptest! {
        #[test]
        fn fetched_pieces_in_a_row_are_the_picture(
            acts in prop::collection::vec((0_u8..64, 0_u8..13, 0_u64..500, any::<bool>()), 0..400),
        ) {
            let mut kept = Kept::new();
            let mut picture = kept.seen;
            let mut at = 0;
            for (field, code, wait, fetch) in acts {
                at += wait;
                kept.change(at, field, PieceCode::from_byte(code).unwrap());
                if fetch {
                    let piece = kept.memory.fetch();
                    let mut log = Log::new(&piece);
                    for tag in &mut log {
                        if let Tag::FieldChange { field, code, .. } = tag {
                            picture[usize::from(field.index())] = code;
                        }
                    }
                    prop_assert_eq!(log.skipped(), 0);
                    prop_assert_eq!(picture, kept.seen);
                }
            }
        }
    }
}
