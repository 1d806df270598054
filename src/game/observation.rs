//! What the core is told: one fact at a time, in the board's own frame.

use shakmaty::{Piece, Square};

use super::{clock::ClockReading, placement::Placement};

/// One fact from a table's board or clock.
///
/// Squares are named as if the connector were at White's left; the tracker turns them once it knows
/// better. Clock sides are left and right until orientation makes them White's and Black's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// The whole board was read.
    Dump(Placement),
    /// One square was reported: this man, or none, stands on it now.
    Change {
        /// The square as the board names it.
        square: Square,
        /// What stands on it.
        piece: Option<Piece>,
    },
    /// The clock was read.
    Clock(ClockReading),
    /// The clock is not connected to the board.
    ClockAbsent,
    /// The board went away (`up` false) or is back (`up` true).
    Link {
        /// Whether the board answers.
        up: bool,
    },
}

/// Who sits where at the clock, when it is not standing at the connector side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Seat {
    /// The clock stands at the board's connector side, as is usual.
    #[default]
    ConnectorSide,
    /// The clock stands at the other side: its left and right are exchanged.
    OppositeSide,
}
