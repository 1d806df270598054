//! When a board is asked for its memory, and what has to wait meanwhile.
//!
//! While a board was away its table stands still. When it is back the first whole reading decides:
//! if it was away for a short time and the game explains the placement in one way only, nothing else
//! is needed; if not, the board is asked for its memory. Whoever was away for longer may have missed
//! moves that were undone again, which no placement tells. What it says until the answer is there
//! waits, so that the table learns everything in the order in which it happened.

use super::memory::{self, Change, Known, Note, Past, Trail};
use crate::game::{
    ClockReading, Observation, Orientation, Phase, Placement, Settings, State, Timestamp, explain,
};

/// The part of a table that bridges the times when its board was away.
#[derive(Clone, Debug, Default)]
pub(super) struct Recall {
    /// What stands on the board as it names its squares, once it was read.
    named: Option<Placement>,
    trail: Trail,
    clock: Option<ClockReading>,
    seen_at: Timestamp,
    stage: Stage,
    held: Vec<(Timestamp, Observation)>,
}

#[derive(Clone, Debug, Default)]
enum Stage {
    #[default]
    Following,
    /// The board went away; the next whole reading decides.
    Away { since: Timestamp },
    /// The board was asked.
    Asked { at: Timestamp, now: Placement },
    /// On a bus: a reading shows what the notes have not told yet.
    Doubtful { at: Timestamp },
    /// On a bus: changes were lost. What is known of them, until a whole reading tells where they
    /// led.
    Lost { at: Timestamp, notes: Vec<Note> },
}

/// What to do with an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Tell the table.
    Pass,
    /// Nothing yet.
    Hold,
    /// Nothing yet; ask the board for its memory.
    Ask,
    /// Tell the table everything that was held.
    Release,
}

impl Recall {
    /// Takes an observation; `state` and `settings` are those of the table.
    pub(super) fn take(
        &mut self,
        at: Timestamp,
        observation: &Observation,
        state: &State,
        settings: &Settings,
    ) -> Turn {
        match (&self.stage, observation) {
            (_, Observation::Link { up: false }) => {
                self.held.clear();
                let under_way = state.phase().is_playing() || state.phase() == Phase::Ready;
                let bridge = self.named.is_some() && under_way;
                self.stage = if bridge { Stage::Away { since: at } } else { Stage::Following };
            }
            (Stage::Following, Observation::Dump(now)) if self.named.is_none() => {
                if is_mid_game(now, settings) {
                    return self.ask(at, now);
                }
            }
            (Stage::Following, _) => {}
            (Stage::Away { since }, Observation::Dump(now)) => {
                let short = at.since(*since) < SHORT_ABSENCE_MS;
                let new_game = memory::is_array(now, &settings.start);
                let explained = short && self.is_explained(now, state, settings);
                if !(new_game || explained) {
                    return self.ask(at, now);
                }
                self.held.push((at, observation.clone()));
                return Turn::Release;
            }
            (_, _) => {
                let known_up = self.held.iter().any(|(_, held)| held == observation);
                if !(known_up && matches!(observation, Observation::Link { .. })) {
                    self.held.push((at, observation.clone()));
                }
                return if self.held.len() < MAX_HELD { Turn::Hold } else { Turn::Release };
            }
        }
        self.note(at, observation);
        Turn::Pass
    }

    /// What the board remembers came. Everything the table has to be told now, in order.
    pub(super) fn remember(
        &mut self,
        at: Timestamp,
        notes: &[Note],
        settings: &Settings,
    ) -> Vec<(Timestamp, Observation)> {
        let Stage::Asked { now, .. } = &self.stage else {
            return Vec::new();
        };
        let known = match &self.named {
            Some(named) => Known::Placement(named, &self.trail),
            None => Known::Array(&settings.start),
        };
        let past = memory::since(notes, known, now);
        tracing::debug!(told = past.as_ref().map(Vec::len), "the board's memory was read");
        // A board that was away told nothing from when it went until it came back.
        let (from, to) = match &self.named {
            Some(_) => (self.seen_at, self.held.first().map_or(at, |(back, _)| *back)),
            None => (self.seen_at, at),
        };
        let mut told = memory::observations(past.unwrap_or_default(), self.clock, from, to);
        for (at, observation) in &told {
            self.note(*at, observation);
        }
        told.extend(self.release());
        told
    }

    /// A board on a bus tells what it noted since the last time, until `at`; if not `live`, nobody
    /// knows since when. What the table has to be told, in order.
    pub(super) fn noted(
        &mut self,
        at: Timestamp,
        new: &[Note],
        live: bool,
        settings: &Settings,
    ) -> Vec<(Timestamp, Observation)> {
        if let Stage::Lost { notes, .. } = &mut self.stage {
            notes.extend(new);
            return Vec::new();
        }
        let past = match (&self.named, memory::after_power_up(new)) {
            (Some(named), _) => memory::from(named.clone(), new),
            // The board tells what it found when it was switched on, and what was played since.
            (None, Some(now)) => memory::since(new, Known::Array(&settings.start), &now)
                .unwrap_or_else(|| vec![Past::Placement(now)]),
            (None, None) => return Vec::new(), // The first whole reading will tell.
        };
        let just_now = Timestamp::from_millis(at.as_millis().saturating_sub(LIVE_MS));
        let from = if live { just_now } else { self.seen_at };
        let mut told = memory::observations(past, self.clock, from, at);
        for (at, observation) in &told {
            self.note(*at, observation);
        }
        // A reading from before these notes were fetched says less than they do.
        let changed = new.iter().any(|note| matches!(note, Note::Change(_)));
        let pressed = told.iter().any(|(_, told)| matches!(told, Observation::Clock(_)));
        self.held.retain(|(_, held)| match held {
            Observation::Dump(_) => !changed,
            Observation::Clock(_) => !pressed,
            _ => true,
        });
        told.extend(self.release());
        told
    }

    /// A board on a bus reads a whole clock or board. What the table has to be told, in order.
    ///
    /// A reading may be ahead of the notes, which are fetched in turns. One that shows more than they
    /// told waits for them: they know in which order it happened.
    pub(super) fn read(
        &mut self,
        at: Timestamp,
        observation: &Observation,
    ) -> Vec<(Timestamp, Observation)> {
        let news = match observation {
            Observation::Dump(now) => self.named.as_ref().is_some_and(|named| named != now),
            Observation::Clock(reading) => {
                self.clock.is_some_and(|clock| clock.left_high != reading.left_high)
            }
            _ => false,
        };
        let mut told = Vec::new();
        match (&self.stage, observation) {
            (Stage::Lost { notes, .. }, Observation::Dump(now)) => {
                if let Some(named) = &self.named {
                    let past = memory::since(notes, Known::Placement(named, &self.trail), now);
                    let past = past.unwrap_or_default();
                    told = memory::observations(past, self.clock, self.seen_at, at);
                }
                for (at, observation) in &told {
                    self.note(*at, observation);
                }
                self.held.push((at, observation.clone()));
                told.extend(self.release());
            }
            (stage, _) if news || matches!(stage, Stage::Lost { .. }) => {
                let kind = std::mem::discriminant(observation);
                self.held.retain(|(_, held)| std::mem::discriminant(held) != kind);
                self.held.push((at, observation.clone()));
                if matches!(self.stage, Stage::Following) {
                    self.stage = Stage::Doubtful { at };
                }
            }
            _ => {
                self.note(at, observation);
                told.push((at, observation.clone()));
            }
        }
        told
    }

    /// Changes of a board on a bus were lost.
    pub(super) fn lose(&mut self, at: Timestamp) {
        self.stage = Stage::Lost { at, notes: Vec::new() };
    }

    /// What a board on a bus noted since the game began, if it is needed.
    pub(super) fn noted_in_game(&mut self, game: &[Note]) {
        if let Stage::Lost { notes, .. } = &mut self.stage {
            notes.splice(..0, game.iter().copied());
        }
    }

    /// Everything that was held, in order; from now on nothing is.
    pub(super) fn release(&mut self) -> Vec<(Timestamp, Observation)> {
        self.stage = Stage::Following;
        let held = std::mem::take(&mut self.held);
        for (at, observation) in &held {
            self.note(*at, observation);
        }
        held
    }

    /// Forgets what was held: the board went away, and what it tells when it is back says more.
    pub(super) fn forget_held(&mut self) {
        self.stage = Stage::Following;
        self.held.clear();
    }

    /// Whether the board was asked and has not answered.
    pub(super) fn is_asked(&self) -> bool {
        matches!(self.stage, Stage::Asked { .. })
    }

    /// When to stop waiting and [`release`](Self::release).
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        match &self.stage {
            Stage::Asked { at, .. } => Some(at.after(MEMORY_WITHIN_MS)),
            Stage::Away { .. } => self.held.first().map(|(at, _)| at.after(READING_WITHIN_MS)),
            Stage::Doubtful { at } => Some(at.after(NOTES_WITHIN_MS)),
            Stage::Lost { at, .. } => Some(at.after(READING_WITHIN_MS)),
            Stage::Following => None,
        }
    }

    fn ask(&mut self, at: Timestamp, now: &Placement) -> Turn {
        self.held.push((at, Observation::Dump(now.clone())));
        self.seen_at = if self.named.is_some() { self.seen_at } else { at };
        self.stage = Stage::Asked { at, now: now.clone() };
        Turn::Ask
    }

    /// Whether what stands now is what stood, or can be played from there in one way only.
    fn is_explained(&self, now: &Placement, state: &State, settings: &Settings) -> bool {
        if self.named.as_ref() == Some(now) {
            return true;
        }
        let placement = match state.orientation() {
            Orientation::Normal => now.clone(),
            Orientation::Turned => now.turned(),
        };
        placement.key() == crate::game::placement::Key::of(shakmaty::Position::board(state.tip()))
            || explain::shortest_lines(state.tip(), &placement, settings.gap_plies, 2).len() == 1
    }

    fn note(&mut self, at: Timestamp, observation: &Observation) {
        self.seen_at = self.seen_at.max(at);
        match observation {
            Observation::Dump(now) => {
                if let Some(named) = &self.named {
                    for square in named.difference(now.board()) {
                        self.trail.push(Change { square, piece: now.piece_at(square) });
                    }
                }
                self.named = Some(now.clone());
            }
            Observation::Change { square, piece } => {
                if let Some(named) = &mut self.named
                    && named.set(*square, *piece) != *piece
                {
                    self.trail.push(Change { square: *square, piece: *piece });
                }
            }
            Observation::Clock(reading) => self.clock = Some(*reading),
            Observation::ClockAbsent => self.clock = None,
            Observation::Link { .. } => {}
        }
    }
}

/// Whether a game may be under way on a board that is seen for the first time.
fn is_mid_game(now: &Placement, settings: &Settings) -> bool {
    let kings = now.board().kings();
    kings.count() == 2
        && (kings & now.board().white()).count() == 1
        && now.count() <= 32
        && !memory::is_array(now, &settings.start)
}

/// Changes that are told at once happened within this time: a round of the bus with many boards.
const LIVE_MS: u64 = 500;

/// A full bus has fetched the notes of every board once in this time, also while the line is taken
/// by a search for boards.
const NOTES_WITHIN_MS: u64 = 5_000;

/// In less time nobody plays four plies that undo each other, and one or two more.
const SHORT_ABSENCE_MS: u64 = 10_000;

/// A board that is back reads itself at once; longer than a few attempts nothing waits for it.
const READING_WITHIN_MS: u64 = 5_000;

/// Reading a memory takes about eight seconds.
const MEMORY_WITHIN_MS: u64 = 20_000;

/// More than anybody does on a board in that time.
const MAX_HELD: usize = 2_048;
