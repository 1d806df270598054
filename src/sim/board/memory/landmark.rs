//! Positions that a board takes note of by itself.

use dgt_protocol::{PieceCode, Tag};

/// Which notes a board would write.
///
/// A note is written when its position is reached, and again only after more than two men had left it:
/// one badly placed man that comes and goes shall not fill the memory.
#[derive(Clone, Debug)]
pub(super) struct Landmarks {
    armed: [bool; 4],
}

impl Landmarks {
    /// A board that has not noted anything.
    pub(super) fn new() -> Self {
        Self { armed: [true; 4] }
    }

    /// The note that this position is worth, if any.
    pub(super) fn reached(&mut self, seen: &[PieceCode; 64]) -> Option<Tag> {
        let mut note = None;
        for (armed, landmark) in self.armed.iter_mut().zip(LANDMARKS) {
            if *armed && landmark.is(seen) && note.is_none() {
                *armed = false;
                note = Some(landmark.tag());
            }
            *armed |= landmark.left(seen) > HYSTERESIS;
        }
        note
    }
}

#[derive(Clone, Copy)]
enum Landmark {
    Start,
    StartTurned,
    Empty,
    FourRows,
}

impl Landmark {
    fn tag(self) -> Tag {
        match self {
            Self::Start => Tag::StartPosition,
            Self::StartTurned => Tag::StartPositionTurned,
            Self::Empty => Tag::EmptyBoard,
            Self::FourRows => Tag::FourRows,
        }
    }

    fn is(self, seen: &[PieceCode; 64]) -> bool {
        match self {
            Self::Start => *seen == START,
            Self::StartTurned => *seen == turned(START),
            Self::Empty => seen.iter().all(|&code| code == PieceCode::Empty),
            // A hint only: the first two of this list come before it.
            Self::FourRows => {
                let mut fields = seen.iter().zip(&START);
                fields
                    .all(|(&code, &home)| (code == PieceCode::Empty) == (home == PieceCode::Empty))
                    && !Self::Start.is(seen)
                    && !Self::StartTurned.is(seen)
            }
        }
    }

    /// How many men have left the position.
    fn left(self, seen: &[PieceCode; 64]) -> usize {
        let away = |home: [PieceCode; 64]| {
            let homes = seen.iter().zip(home);
            homes.filter(|&(&code, home)| home != PieceCode::Empty && code != home).count()
        };
        match self {
            Self::Start => away(START),
            Self::StartTurned => away(turned(START)),
            Self::Empty => seen.iter().filter(|&&code| code != PieceCode::Empty).count(),
            Self::FourRows => {
                let homes = seen.iter().zip(START);
                homes
                    .filter(|&(&code, home)| home != PieceCode::Empty && code == PieceCode::Empty)
                    .count()
            }
        }
    }
}

fn turned(mut codes: [PieceCode; 64]) -> [PieceCode; 64] {
    codes.reverse();
    codes
}

const fn start() -> [PieceCode; 64] {
    use PieceCode as P;
    let mut codes = [P::Empty; 64];
    let black = [
        P::BlackRook,
        P::BlackKnight,
        P::BlackBishop,
        P::BlackQueen,
        P::BlackKing,
        P::BlackBishop,
        P::BlackKnight,
        P::BlackRook,
    ];
    let white = [
        P::WhiteRook,
        P::WhiteKnight,
        P::WhiteBishop,
        P::WhiteQueen,
        P::WhiteKing,
        P::WhiteBishop,
        P::WhiteKnight,
        P::WhiteRook,
    ];
    let mut file = 0;
    while file < 8 {
        codes[file] = black[file];
        codes[8 + file] = P::BlackPawn;
        codes[48 + file] = P::WhitePawn;
        codes[56 + file] = white[file];
        file += 1;
    }
    codes
}

const LANDMARKS: [Landmark; 4] =
    [Landmark::Start, Landmark::StartTurned, Landmark::Empty, Landmark::FourRows];
/// So many men may leave a position and come back without a second note.
const HYSTERESIS: usize = 2;
const START: [PieceCode; 64] = start();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_a_position_again_only_after_three_men_had_left_it() {
        for (position, tag) in
            [(START, Tag::StartPosition), (turned(START), Tag::StartPositionTurned)]
        {
            let mut landmarks = Landmarks::new();
            assert_eq!(landmarks.reached(&position), Some(tag));
            assert_eq!(landmarks.reached(&position), None);
            for (away, expected) in [(2, None), (3, Some(tag))] {
                let mut other = position;
                other[..away].fill(PieceCode::Empty);
                assert_eq!(landmarks.reached(&other), None);
                assert_eq!(landmarks.reached(&position), expected, "{away}");
            }
        }
    }

    #[test]
    fn notes_an_empty_board_and_another_array() {
        let mut landmarks = Landmarks::new();
        let empty = [PieceCode::Empty; 64];
        assert_eq!(landmarks.reached(&empty), Some(Tag::EmptyBoard));
        assert_eq!(landmarks.reached(&empty), None);
        let mut array = START;
        array.swap(0, 1);
        assert_eq!(landmarks.reached(&array), Some(Tag::FourRows));
        assert_eq!(landmarks.reached(&empty), Some(Tag::EmptyBoard));
    }
}
