//! What it costs to believe something, in thousandths of a ply.

/// What a square that stands otherwise for `ms` costs: the binary logarithm of 1 + ms / 300 in
/// thousandths, with straight lines between the powers of two.
pub(super) fn weight(ms: u64) -> u32 {
    let ratio = (ms.min(MAX_WEIGHED_MS) + 300) * 1_024 / 300;
    let whole = ratio.ilog2() - 10;
    let rest = (ratio >> whole) - 1_024;
    whole * 1_000 + u32::try_from(rest * 1_000 / 1_024).unwrap_or(0)
}

/// The cost of a square that stands otherwise, for a second, in thousandths of the weight of time.
pub(super) const NATURAL: u32 = 700;
pub(super) const STRANGE: u32 = 1_500;

/// The cost of each square that stands otherwise when the lever is pressed.
pub(super) const PRESSED_APART: u32 = 500;

/// The cost of a ply.
pub(super) const PLY: u32 = 1_000;

/// What a ply costs more that the board has not shown whole.
pub(super) const HIDDEN: u32 = 700;

/// What a ply costs more whose man was not reported to leave its square.
pub(super) const LOST: u32 = 2_000;

/// What a ply costs more that is known only from a later dump.
pub(super) const DOUBTFUL: u32 = 300;

/// The cost of a ply of a given line that the board does not show at all.
pub(super) const UNSEEN_PLY: u32 = 3_000;

/// The cost of a ply that was never pressed although the next one of its side was made.
pub(super) const UNPRESSED: u32 = 3_000;

/// The cost of a second press without a ply.
pub(super) const IDLE_PRESS: u32 = 2_000;

/// The cost of a ply whose report came long after its press.
pub(super) const LATE_REPORT: u32 = 1_500;

/// How long after its press a ply may be reported in the ordinary way, in milliseconds.
pub(super) const REPORT_MS: u64 = 500;

/// A press that has waited so long for a ply belongs to none, in milliseconds.
pub(super) const FORGOTTEN_MS: u64 = 8_000;

/// How long a placement must stand to be worth a search after missing reports, in milliseconds.
pub(super) const GAP_MS: u64 = 500;

pub(super) const MAX_WEIGHED_MS: u64 = 60_000;
