//! Points in time, as plain numbers that can be written to a file.

use std::fmt;

/// Milliseconds since an origin that the caller chose: the Unix epoch for a live hall, the start of
/// the capture in a replay. The core compares and subtracts; it never asks what time it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The origin itself.
    pub const ZERO: Self = Self(0);

    /// A point `ms` milliseconds after the origin.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the origin.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The point `ms` milliseconds later; the end of time if that overflows.
    pub const fn after(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Milliseconds from `earlier` to here; zero if `earlier` is not earlier.
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Timestamp {
    /// Seconds with three decimals, as captures and logs print it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_never_wraps() {
        let t = Timestamp::from_millis(1_500);
        assert_eq!(t.after(500).since(t), 500);
        assert_eq!(t.since(t.after(500)), 0);
        assert_eq!(Timestamp::from_millis(u64::MAX).after(1).as_millis(), u64::MAX);
        assert_eq!(t.to_string(), "1.500");
    }
}
