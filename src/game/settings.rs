//! The constants of the reading rules and what a table is set up for.

use super::{observation::Seat, start::Start};

/// Times in milliseconds, and the table's own conditions. The defaults suit classical chess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Quiet time until a placement counts as made.
    pub settle_ms: u64,
    /// How long the board usually needs to report a change: half a scan of its fields and the way
    /// to us.
    pub scan_ms: u64,
    /// How much later than the press the board's report may come.
    pub press_grace_ms: u64,
    /// How long the kings must stand in the centre to tell a result.
    pub signal_hold_ms: u64,
    /// How long the array must stand until the table is ready for a new game.
    pub setup_stable_ms: u64,
    /// The longest line, in plies, by which a placement after missing reports is explained.
    pub gap_plies: usize,
    /// Where games start.
    pub start: StartRule,
    /// Where the clock stands.
    pub seat: Seat,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            settle_ms: 1_000,
            scan_ms: 180,
            press_grace_ms: 500,
            signal_hold_ms: 3_000,
            setup_stable_ms: 2_000,
            gap_plies: 4,
            start: StartRule::Classical,
            seat: Seat::ConnectorSide,
        }
    }
}

impl Settings {
    /// The same for a board on a bus, whose reports are fetched in turns: on a full bus a man may
    /// seem to be in the air for a second and a half longer than he was.
    #[must_use]
    pub fn on_bus(mut self) -> Self {
        self.settle_ms = self.settle_ms.max(BUS_SETTLE_MS);
        self
    }
}

const BUS_SETTLE_MS: u64 = 2_500;

/// Which placements start a game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StartRule {
    /// The classical array.
    #[default]
    Classical,
    /// Any Chess960 array.
    AnyChess960,
    /// This position only.
    Position(Box<Start>),
}
