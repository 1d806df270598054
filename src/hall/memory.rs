//! What a board remembers, turned into what nobody was there to observe.
//!
//! A board keeps a log of every change on its fields and of every press of the clock, without times
//! of day. From a placement that was known and from the one that stands now follows which part of
//! the log is new; that part is told again, in its order.

use std::collections::VecDeque;

use shakmaty::{Piece, Square};

use crate::game::{ClockReading, Observation, Placement, SideReading, Start, StartRule, Timestamp};

/// One entry of a board's memory, in the board's own frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// A square changed.
    Change(Change),
    /// This side of the clock was halted with this much time left, in ms.
    Halted {
        /// Whether it was the left side.
        left: bool,
        /// Time left in ms.
        ms: u32,
    },
    /// The board was switched on; a change for every man on it follows.
    PowerUp,
}

/// A square and what stands on it now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The square as the board names it.
    pub square: Square,
    /// What stands on it.
    pub piece: Option<Piece>,
}

/// The changes that were seen last, to find the place in a memory that tells them too.
#[derive(Clone, Debug, Default)]
pub struct Trail(VecDeque<Change>);

/// Where in a memory the new part begins.
#[derive(Clone, Copy, Debug)]
pub enum Known<'a> {
    /// After this placement was reached by these changes.
    Placement(&'a Placement, &'a Trail),
    /// Nothing was seen of this board yet: with the last array from which a game may start.
    Array(&'a StartRule),
}

/// What happened since then, in order, ending with the placement `now`; the first placement if it
/// was not known. None if the memory does not lead from what is known to `now`.
pub fn since(notes: &[Note], known: Known<'_>, now: &Placement) -> Option<Vec<Past>> {
    let states = states(notes, now);
    let (from, start) = match known {
        Known::Placement(placement, trail) => {
            let fits = |&i: &usize| is_like(&states[i], placement);
            let from = (0..states.len()).filter(fits).max_by_key(|&i| trail.follows(&notes[..i]));
            (from?, placement.clone())
        }
        Known::Array(rule) => {
            let fits = |&i: &usize| whole(&states[i]).is_some_and(|men| is_array(&men, rule));
            let from = (0..states.len()).rev().find(fits)?;
            // What stood before the board was last switched on belongs to another day.
            if notes[from..].contains(&Note::PowerUp) {
                return None;
            }
            (from, whole(&states[from])?)
        }
    };
    let mut past: Vec<Past> = Vec::new();
    if matches!(known, Known::Array(_)) {
        past.push(Past::Placement(start.clone()));
    }
    let told = past.len();
    past.extend(self::from(start.clone(), &notes[from..]));
    let mut standing = start;
    let mut reached = (standing == *now).then_some(told);
    for (n, past) in (1..).zip(&past).skip(told) {
        if let Past::Change(Change { square, piece }) = past {
            standing.set(*square, *piece);
        }
        if standing == *now {
            reached = Some(n);
        }
    }
    past.truncate(reached?);
    Some(past)
}

/// What stands at the end of these notes, if the board was switched on among them.
pub fn after_power_up(notes: &[Note]) -> Option<Placement> {
    let on = notes.iter().rposition(|note| *note == Note::PowerUp)?;
    let mut standing = Placement::empty();
    for note in &notes[on..] {
        if let Note::Change(Change { square, piece }) = *note {
            standing.set(square, piece);
        }
    }
    Some(standing)
}

/// What these notes tell that is new, from this placement on.
pub fn from(mut standing: Placement, notes: &[Note]) -> Vec<Past> {
    let news = notes.iter().filter_map(|note| match *note {
        Note::Change(change) => {
            let before = standing.set(change.square, change.piece);
            (before != change.piece).then_some(Past::Change(change))
        }
        Note::Halted { left, ms } => Some(Past::Halted { left, ms }),
        Note::PowerUp => None,
    });
    news.collect()
}

/// Something that happened while nobody was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Past {
    /// This stood on the board.
    Placement(Placement),
    /// A square changed.
    Change(Change),
    /// A side of the clock was halted.
    Halted {
        /// Whether it was the left side.
        left: bool,
        /// Time left in ms.
        ms: u32,
    },
}

/// The past as observations, as if they had come one after the other between `from` and `to`. The
/// board does not tell when they did. Presses need a running `clock` to begin with: the memory tells
/// one side only.
pub fn observations(
    past: Vec<Past>,
    mut clock: Option<ClockReading>,
    from: Timestamp,
    to: Timestamp,
) -> Vec<(Timestamp, Observation)> {
    let count = past.len() as u64;
    let step = (to.since(from) / (count + 1)).min(STEP_MS);
    let first = to.as_millis().saturating_sub(step * (count + 1));
    let told = past.into_iter().zip(1..).filter_map(|(past, n)| {
        let observation = match past {
            Past::Placement(placement) => Observation::Dump(placement),
            Past::Change(Change { square, piece }) => Observation::Change { square, piece },
            Past::Halted { left, ms } => {
                let reading = clock.as_mut().filter(|clock| clock.running)?;
                let side = SideReading { ms, flag: false };
                *(if left { &mut reading.left } else { &mut reading.right }) = side;
                reading.left_high = !left;
                Observation::Clock(*reading)
            }
        };
        Some((Timestamp::from_millis(first + step * n), observation))
    });
    told.collect()
}

impl Trail {
    /// Notes a change that was seen.
    pub fn push(&mut self, change: Change) {
        // The board does the same: of one man that keeps changing it remembers the last.
        if self.0.back().is_some_and(|last| last.square == change.square) {
            self.0.pop_back();
        }
        if self.0.len() == TRAIL {
            self.0.pop_front();
        }
        self.0.push_back(change);
    }

    /// How many of the last changes of the trail are also the last ones of these notes.
    fn follows(&self, notes: &[Note]) -> usize {
        let changes = notes.iter().rev().filter_map(|note| match note {
            Note::Change(change) => Some(change),
            Note::Halted { .. } | Note::PowerUp => None,
        });
        let mut last = None;
        let changes = changes.filter(|change| last.replace(change.square) != Some(change.square));
        changes.zip(self.0.iter().rev()).take_while(|(note, seen)| note == seen).count()
    }
}

/// What stood on each square; none where it is not known.
type Squares = [Option<Option<Piece>>; 64];

/// What stood on the board before each note, and after the last. A square that no note names has
/// always been as it is now; of the others nothing is known before the first note.
fn states(notes: &[Note], now: &Placement) -> Vec<Squares> {
    let mut squares: Squares = std::array::from_fn(|i| Some(now.piece_at(Square::new(i as u32))));
    for note in notes {
        match note {
            Note::Change(change) => squares[usize::from(change.square)] = None,
            Note::Halted { .. } => {}
            Note::PowerUp => squares = [None; 64],
        }
    }
    let mut states = vec![squares];
    for note in notes {
        match note {
            Note::Change(change) => squares[usize::from(change.square)] = Some(change.piece),
            Note::Halted { .. } => {}
            Note::PowerUp => squares = [Some(None); 64],
        }
        states.push(squares);
    }
    states
}

/// Whether this may have been the placement: at most a few squares are not known.
fn is_like(squares: &Squares, placement: &Placement) -> bool {
    let unknown = squares.iter().filter(|square| square.is_none()).count();
    unknown <= MAX_UNKNOWN
        && Square::ALL
            .iter()
            .zip(squares)
            .all(|(square, man)| man.is_none_or(|man| man == placement.piece_at(*square)))
}

fn whole(squares: &Squares) -> Option<Placement> {
    let mut placement = Placement::empty();
    for (&square, man) in Square::ALL.iter().zip(squares) {
        placement.set(square, (*man)?);
    }
    Some(placement)
}

/// Whether a game may start from this, whichever way round the board lies.
pub fn is_array(named: &Placement, rule: &StartRule) -> bool {
    let fits = |placement: &Placement| match rule {
        StartRule::Classical => *placement == Start::classical().placement(),
        StartRule::AnyChess960 => Start::chess960_array(placement).is_some(),
        StartRule::Position(start) => *placement == start.placement(),
    };
    named.count() > 0 && (fits(named) || fits(&named.turned()))
}

/// How much of what was seen last is compared with a memory.
const TRAIL: usize = 64;

/// Squares whose content nothing tells, where a placement is still recognised.
const MAX_UNKNOWN: usize = 16;

/// Between two things told again, if there was that much time: quick play, and a press is not too
/// far from its move.
const STEP_MS: u64 = 300;

#[cfg(test)]
mod tests;
