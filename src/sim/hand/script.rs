//! What hands do, act by act, and what it means.

use std::time::Duration;

use shakmaty::{Color, KnownOutcome, Move, Piece, Square};

use super::habit::Habit;
use crate::sim::time_control::TimeControl;

/// One act at the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Takes whatever stands on the square off it.
    Lift(Square),
    /// Puts a man on the square; whatever stood there is pushed off.
    Place(Square, Piece),
    /// Presses the lever of the clock down on this player's side.
    Press(Color),
    /// Starts the clock.
    StartClock,
    /// Stops the clock.
    StopClock,
    /// Sets the clock for a game; the lever stays as it is.
    SetClock(TimeControl),
    /// Pulls the cable out of the board.
    Unplug,
    /// Puts the cable back.
    Replug,
}

/// An act and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Since the beginning of the script.
    pub at: Duration,
    /// The act.
    pub action: Action,
}

/// Everything that happens at one board, from the first game to the last, and the truth about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The acts, in order of time.
    pub steps: Vec<Step>,
    /// What the games really were.
    pub games: Vec<GameTruth>,
    /// When nothing happens any more.
    pub end: Duration,
}

/// What really happened in one game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameTruth {
    /// When the men stood ready for the game.
    pub ready: Duration,
    /// When the clock was started, if there was one.
    pub started: Option<Duration>,
    /// The moves.
    pub plies: Vec<PlyTruth>,
    /// What the hands did besides, or in which way, in no particular order.
    pub deeds: Vec<Deed>,
    /// The result shown with the kings, if it was.
    pub signal: Option<SignalTruth>,
    /// When the players were done with the game: from here on the board is theirs to do with as they
    /// like.
    pub over: Duration,
}

/// What really happened in one ply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlyTruth {
    /// The move.
    pub m: Move,
    /// The move as people write it.
    pub san: String,
    /// When the first man was touched for it.
    pub touched: Duration,
    /// When the position after it stood on the board.
    pub complete: Duration,
    /// When the mover pressed the clock, if he did.
    pub pressed: Option<Duration>,
    /// What the mover's clock showed after the press.
    pub clock: Option<Duration>,
}

impl PlyTruth {
    /// When the mover was done with it: with the press, if there was one.
    pub fn end(&self) -> Duration {
        self.pressed.unwrap_or(self.complete)
    }
}

/// A habit that showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deed {
    /// Which.
    pub habit: Habit,
    /// From its first act on.
    pub from: Duration,
    /// Until it was over, or made good.
    pub until: Duration,
}

impl Deed {
    /// The same deed, this much later.
    #[must_use]
    pub fn later(self, by: Duration) -> Self {
        Self { from: self.from + by, until: self.until + by, ..self }
    }
}

/// The kings in the centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalTruth {
    /// When the second king was on its square; after a corrected mistake, the time of the correction.
    pub at: Duration,
    /// What they say.
    pub outcome: KnownOutcome,
    /// Where the white king stands.
    pub white_king: Square,
    /// Where the black king stands.
    pub black_king: Square,
}
