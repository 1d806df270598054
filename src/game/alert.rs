//! What arbiters are told besides the moves: doubts about the record that a person must settle.
//!
//! Codes, severities and payload words are those of the alert catalogue that the project publishes;
//! nothing here is ever shown to players.

use shakmaty::{Bitboard, Move};

/// One alert with what it tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alert {
    /// The placement is certain, the order of the plies that led to it is not. The mainline has the
    /// first of `orders`; each leads from before ply `from` to the same placement.
    MoveOrderUncertain {
        /// Index of the first ply in question; 0 is the first half-move.
        from: usize,
        /// Every order that is possible, at least two, at most [`MAX_ORDERS`].
        orders: Vec<Vec<Move>>,
    },
    /// Reports were missing, and no legal moves lead from the record to what stands.
    GapUnresolved {
        /// The squares that stand otherwise than the record says.
        wrong: Bitboard,
    },
    /// Men stand as before a game, but not as the array has them.
    StartPositionWrong {
        /// The squares that stand otherwise than the array says.
        wrong: Bitboard,
    },
    /// The board is back after a lost link, and legal moves explain what stands on it.
    Resynchronised {
        /// How many plies were played meanwhile.
        plies: usize,
    },
}

/// Which alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// [`Alert::MoveOrderUncertain`].
    MoveOrderUncertain,
    /// [`Alert::GapUnresolved`].
    GapUnresolved,
    /// [`Alert::StartPositionWrong`].
    StartPositionWrong,
    /// [`Alert::Resynchronised`].
    Resynchronised,
}

/// How soon a person should look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Go to the board now.
    Critical,
    /// Look soon.
    Warning,
    /// A decision may be needed.
    Notice,
    /// For the log.
    Info,
}

/// What became of an alert. A standing one is raised once and cleared once; a momentary one is told
/// and over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It stands from now on.
    Raised,
    /// It stands still, and tells something else than before.
    Updated,
    /// It is over.
    Cleared,
    /// It tells of one moment.
    Momentary,
}

impl Alert {
    /// Which alert this is.
    pub fn code(&self) -> Code {
        match self {
            Self::MoveOrderUncertain { .. } => Code::MoveOrderUncertain,
            Self::GapUnresolved { .. } => Code::GapUnresolved,
            Self::StartPositionWrong { .. } => Code::StartPositionWrong,
            Self::Resynchronised { .. } => Code::Resynchronised,
        }
    }
}

impl Code {
    /// The word used in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MoveOrderUncertain => "move_order_uncertain",
            Self::GapUnresolved => "gap_unresolved",
            Self::StartPositionWrong => "start_position_wrong",
            Self::Resynchronised => "resynchronised",
        }
    }

    /// How soon a person should look.
    pub fn severity(self) -> Severity {
        match self {
            Self::MoveOrderUncertain => Severity::Notice,
            Self::StartPositionWrong => Severity::Critical,
            Self::GapUnresolved => Severity::Warning,
            Self::Resynchronised => Severity::Info,
        }
    }

    /// Whether it says something about the game's record, which remains doubtful when the game is
    /// over. What only concerns the board ends with the game.
    pub fn outlives_the_game(self) -> bool {
        match self {
            Self::MoveOrderUncertain => true,
            Self::GapUnresolved | Self::StartPositionWrong | Self::Resynchronised => false,
        }
    }
}

impl Severity {
    /// The word used in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
            Self::Notice => "notice",
            Self::Info => "info",
        }
    }
}

impl Status {
    /// The word used in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Raised => "raised",
            Self::Updated => "updated",
            Self::Cleared => "cleared",
            Self::Momentary => "momentary",
        }
    }
}

/// How many orders of plies are told. Where more are possible the first ones stand for all.
pub const MAX_ORDERS: usize = 8;
