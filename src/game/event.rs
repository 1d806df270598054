//! What the core decides and what it lets through, as facts that can be applied to a [`State`].
//!
//! [`State`]: super::state::State

use shakmaty::Color;

use super::{
    alert::{Alert, Status},
    clock::ClockView,
    ending::{EndReason, GameResult},
    orientation::Orientation,
    placement::Placement,
    ply::Ply,
    start::Start,
};

/// Why the mainline changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The placement stood for the settle time.
    Settled,
    /// This side pressed with the placement on the board.
    Pressed(Color),
    /// Two further plies were seen on top of it.
    Answered,
    /// The board's report came after the press that belongs to it.
    Correction,
    /// The clock was started for the opponent.
    ClockStarted,
    /// A made move was undone before it was completed.
    TakenBack,
    /// Reports were missing; the next full placement told what was played.
    Gap,
    /// What followed made no sense of the line before: all that was seen lately was read again.
    Reread,
    /// The opponent answered a move that was none: it stays in the record (Article 7.5).
    PlayedOn,
    /// The clock was stopped and an earlier position was set up again (Articles 7.5.1, 7.6).
    Restored,
    /// An arbiter said so.
    Arbiter,
    /// Kings in the centre showed that a last king move was none.
    Signalled,
    /// What was played while the clock stood turned out to be an analysis.
    Analysis,
    /// The starting array was set up again before the clock ever ran.
    SetUpAgain,
}

impl Cause {
    /// The word used in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Settled => "settled",
            Self::Pressed(_) => "pressed",
            Self::Answered => "answered",
            Self::Correction => "correction",
            Self::ClockStarted => "clock_started",
            Self::TakenBack => "taken_back",
            Self::Gap => "gap",
            Self::Reread => "reread",
            Self::PlayedOn => "played_on",
            Self::Restored => "restored",
            Self::Arbiter => "arbiter",
            Self::Signalled => "signalled",
            Self::Analysis => "analysis",
            Self::SetUpAgain => "set_up_again",
        }
    }
}

/// Where in its life a table is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The starting array does not stand on the board.
    #[default]
    WaitingSetup,
    /// It does, and nothing has been played.
    Ready,
    /// A game is being played.
    Running,
    /// A game is being played and its clock stands.
    Paused,
    /// The game has a result.
    Finished,
}

impl Phase {
    /// The word used in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WaitingSetup => "waiting_setup",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Finished => "finished",
        }
    }

    /// Whether a game is under way.
    pub fn is_playing(self) -> bool {
        matches!(self, Self::Running | Self::Paused)
    }
}

/// One fact about a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The life cycle moved on.
    Phase(Phase),
    /// A new game begins; the mainline is empty.
    GameStarted {
        /// Its first position.
        start: Start,
        /// How the board lies.
        orientation: Orientation,
    },
    /// The mainline's plies from index `from` (0 = first half-move) on are now these.
    Plies {
        /// Index of the first ply that is replaced or added.
        from: usize,
        /// All plies from there on.
        plies: Vec<Ply>,
        /// Why.
        cause: Cause,
    },
    /// The game has a result.
    GameEnded {
        /// The result.
        result: GameResult,
        /// Why.
        reason: EndReason,
    },
    /// Something that arbiters must know, and what became of it.
    Alert {
        /// Raised, updated, cleared, or momentary.
        status: Status,
        /// What it tells; for a cleared one, what it told last.
        alert: Alert,
    },
    /// The clock was read. Ephemeral.
    Clock(ClockView),
    /// No clock is connected any more. Ephemeral.
    ClockLost,
    /// What stands on the board. Ephemeral, and for arbiters only.
    Placement(Placement),
    /// The board stopped answering (`false`) or answers again (`true`).
    Link {
        /// Whether the board answers.
        up: bool,
    },
}

impl Event {
    /// Whether the fact is a decision that must outlive the process.
    pub fn is_durable(&self) -> bool {
        match self {
            Self::Phase(_)
            | Self::GameStarted { .. }
            | Self::Plies { .. }
            | Self::Alert { .. }
            | Self::GameEnded { .. } => true,
            Self::Clock(_) | Self::ClockLost | Self::Placement(_) | Self::Link { .. } => false,
        }
    }
}
