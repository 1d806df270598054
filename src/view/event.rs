//! Events as JSON objects: everything for arbiters, and what players may see for the hall.

use serde::Serialize;
use shakmaty::Color;

use crate::{
    game::{self, ClockView, Timestamp},
    hall::Recorded,
};

use super::{
    alert::AlertChange,
    table::{ArbiterPly, PublicPly, Side, plies_from},
};

/// An event as arbiters get it: topic `arbiter/table/<n>/event`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArbiterEvent {
    /// What happened.
    #[serde(flatten)]
    pub body: ArbiterBody,
    #[serde(flatten)]
    envelope: Envelope,
}

/// An event as the hall gets it: topic `public/table/<n>/event`. It has no way to say whether a
/// move was completed, which players must not be told (Article 12.6).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PublicEvent {
    /// What happened.
    #[serde(flatten)]
    pub body: PublicBody,
    #[serde(flatten)]
    envelope: Envelope,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Envelope {
    id: u64,
    table: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
}

/// The kinds of events for arbiters, told apart by the key `event`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ArbiterBody {
    /// The life cycle moved on.
    State {
        /// The state's word.
        state: &'static str,
    },
    /// A new game; its mainline is empty.
    GameStarted(GameStarted),
    /// The mainline's plies from index `from` on are now these.
    Plies {
        /// Index of the first of them; 0 is the first half-move.
        from: usize,
        /// All plies from there on.
        plies: Vec<ArbiterPly>,
        /// Why the mainline changed.
        cause: &'static str,
    },
    /// The game has a result.
    GameEnded {
        /// As PGN writes it.
        result: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// What became of an alert.
    Alert(AlertChange),
    /// The clock was read.
    Clock(ClockTimes),
    /// No clock is connected any more.
    ClockLost,
    /// The board's link.
    Board {
        /// Whether it answers.
        up: bool,
    },
}

/// The kinds of events for the hall.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum PublicBody {
    /// A new game; its mainline is empty.
    GameStarted(GameStarted),
    /// The mainline's plies from index `from` on are now these.
    Plies {
        /// Index of the first of them; 0 is the first half-move.
        from: usize,
        /// All plies from there on.
        plies: Vec<PublicPly>,
    },
    /// The game has a result that the board itself shows.
    GameEnded {
        /// As PGN writes it.
        result: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// The clock was read.
    Clock(ClockTimes),
}

/// How a game starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GameStarted {
    /// The table's games counted from 1 since the daemon first ran.
    pub game: u32,
    /// The starting position.
    pub fen: String,
    /// `standard` or `chess960`.
    pub variant: &'static str,
    /// Whether the board lies with its connector at White's right.
    pub turned: bool,
}

/// Both times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClockTimes {
    /// White's time left in milliseconds.
    pub white_ms: u32,
    /// Black's time left in milliseconds.
    pub black_ms: u32,
    /// Whose clock runs; `null` while it is stopped.
    pub running: Option<Side>,
}

impl From<&ClockView> for ClockTimes {
    fn from(view: &ClockView) -> Self {
        Self {
            white_ms: view.white_ms,
            black_ms: view.black_ms,
            running: view.running.map(Side::from),
        }
    }
}

impl ArbiterEvent {
    /// The JSON form of `recorded`; `after` is the state of its table with it applied. `epoch` says
    /// whether times are wall clock times, which then stand in the event. Nothing for a change of
    /// the placement, which stands in the retained topic `live`.
    pub fn new(recorded: &Recorded, after: &game::State, epoch: Epoch) -> Option<Self> {
        let body = match &recorded.event {
            game::Event::Phase(phase) => ArbiterBody::State { state: phase.as_str() },
            game::Event::GameStarted { .. } => ArbiterBody::GameStarted(game_started(after)),
            game::Event::Plies { from, cause, .. } => ArbiterBody::Plies {
                from: *from,
                plies: plies_from(after, *from).map(ArbiterPly::from).collect(),
                cause: cause.as_str(),
            },
            game::Event::GameEnded { result, reason } => {
                ArbiterBody::GameEnded { result: result.as_str(), reason: reason.as_str() }
            }
            game::Event::Alert { status, alert } => {
                ArbiterBody::Alert(AlertChange::new(*status, alert, after))
            }
            game::Event::Clock(view) => ArbiterBody::Clock(view.into()),
            game::Event::ClockLost => ArbiterBody::ClockLost,
            game::Event::Placement(_) => return None,
            game::Event::Link { up } => ArbiterBody::Board { up: *up },
        };
        Some(Self { body, envelope: Envelope::new(recorded, epoch) })
    }
}

impl PublicEvent {
    /// What the hall may know of `recorded`, which turned `before` into `after`; nothing if it
    /// changes nothing for the hall.
    pub fn new(
        recorded: &Recorded,
        before: &game::State,
        after: &game::State,
        epoch: Epoch,
    ) -> Option<Self> {
        let body = match &recorded.event {
            game::Event::GameStarted { .. } => PublicBody::GameStarted(game_started(after)),
            game::Event::Plies { .. } => {
                let same = before.plies().iter().zip(after.plies());
                let from = same.take_while(|(old, new)| old.step == new.step).count();
                if from == before.plies().len() && from == after.plies().len() {
                    return None;
                }
                let plies = plies_from(after, from).map(PublicPly::from).collect();
                PublicBody::Plies { from, plies }
            }
            game::Event::GameEnded { result, reason } if is_public_end(*reason) => {
                PublicBody::GameEnded { result: result.as_str(), reason: reason.as_str() }
            }
            game::Event::Clock(view) => PublicBody::Clock(view.into()),
            _ => return None,
        };
        Some(Self { body, envelope: Envelope::new(recorded, epoch) })
    }
}

/// Whether a result with this reason may be shown before an arbiter confirmed it: mate and
/// stalemate stand on the board for all to see.
pub fn is_public_end(reason: game::EndReason) -> bool {
    matches!(reason, game::EndReason::Checkmate | game::EndReason::Stalemate)
}

/// What the zero of the timestamps is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Epoch {
    /// The Unix epoch: a live hall.
    Unix,
    /// The start of a capture; events then carry no wall clock time.
    Capture,
}

impl Epoch {
    /// `at` as RFC 3339 in UTC, where that means something.
    pub fn format(self, at: Timestamp) -> Option<String> {
        match self {
            Self::Unix => {
                let ms = i64::try_from(at.as_millis()).ok()?;
                let time = jiff::Timestamp::from_millisecond(ms).ok()?;
                Some(format!("{time:.3}"))
            }
            Self::Capture => None,
        }
    }
}

impl Envelope {
    fn new(recorded: &Recorded, epoch: Epoch) -> Self {
        Self { id: recorded.id, table: recorded.table, time: epoch.format(recorded.at) }
    }
}

fn game_started(after: &game::State) -> GameStarted {
    GameStarted {
        game: after.game(),
        fen: after.start().fen().to_string(),
        variant: super::table::variant(after),
        turned: after.orientation() == game::Orientation::Turned,
    }
}

impl From<Color> for Side {
    fn from(color: Color) -> Self {
        color.fold_wb(Self::White, Self::Black)
    }
}
