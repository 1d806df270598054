//! The clock as it was read, and what one reading after another says: presses, starts and stops.

use shakmaty::Color;

use super::{orientation::Orientation, time::Timestamp};

/// One side of one reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SideReading {
    /// Time left, in milliseconds. The wire carries whole seconds.
    pub ms: u32,
    /// The clock shows this side's flag.
    pub flag: bool,
}

/// One reading of a connected clock, by clock side as seen from its front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClockReading {
    /// The left side.
    pub left: SideReading,
    /// The right side.
    pub right: SideReading,
    /// Whether the clock runs.
    pub running: bool,
    /// Whether the left side of the lever is the high one: left is to move, right has just pressed.
    pub left_high: bool,
}

/// The clock with colours: what is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClockView {
    /// White's time in milliseconds.
    pub white_ms: u32,
    /// Black's time in milliseconds.
    pub black_ms: u32,
    /// Whose clock runs; nobody's while it is stopped.
    pub running: Option<Color>,
    /// Whose side of the lever is high, also while the clock is stopped.
    pub lever: Color,
    /// The clock shows White's flag.
    pub white_flag: bool,
    /// The clock shows Black's flag.
    pub black_flag: bool,
    /// When it was read.
    pub read_at: Timestamp,
}

impl ClockView {
    /// Gives a reading its colours.
    pub fn new(reading: &ClockReading, left: Color, read_at: Timestamp) -> Self {
        let (white, black) = match left {
            Color::White => (reading.left, reading.right),
            Color::Black => (reading.right, reading.left),
        };
        let lever = if reading.left_high { left } else { !left };
        Self {
            white_ms: white.ms,
            black_ms: black.ms,
            running: reading.running.then_some(lever),
            lever,
            white_flag: white.flag,
            black_flag: black.flag,
            read_at,
        }
    }

    /// The time of `side`, in milliseconds.
    pub fn ms(&self, side: Color) -> u32 {
        side.fold_wb(self.white_ms, self.black_ms)
    }

    /// Whether the two say the same, apart from when they were read.
    pub fn same_as(&self, other: &Self) -> bool {
        Self { read_at: other.read_at, ..*self } == *other
    }
}

/// What changed between two readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockSignal {
    /// This side pressed: its clock stopped and the other one started.
    Pressed(Color),
    /// A standing clock was started and now runs for this side.
    Started(Color),
    /// A running clock was stopped.
    Stopped,
    /// This side pressed on a clock that stands, as players do after a flag has stopped it.
    PressedStanding(Color),
}

/// What happened between `before` and `now`, if anything.
///
/// Only the running sign and the lever are used; the sources disagree about every other bit.
pub fn signal(before: Option<&ClockView>, now: &ClockView) -> Option<ClockSignal> {
    let was = before.and_then(|view| view.running);
    match (was, now.running) {
        (Some(was), Some(is)) if was != is => Some(ClockSignal::Pressed(was)),
        (None, Some(is)) => Some(ClockSignal::Started(is)),
        (Some(_), None) => Some(ClockSignal::Stopped),
        (None, None) => before
            .filter(|before| before.lever != now.lever)
            .map(|_| ClockSignal::PressedStanding(!now.lever)),
        (Some(_), Some(_)) => None,
    }
}

/// Whose side the clock's left one is.
pub fn left_side(orientation: Orientation, opposite: bool) -> Color {
    let left = orientation.left_clock_side();
    if opposite { !left } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(running: bool, left_high: bool) -> ClockReading {
        let side = |ms| SideReading { ms, flag: false };
        ClockReading { left: side(61_000), right: side(59_000), running, left_high }
    }

    fn view(running: bool, left_high: bool) -> ClockView {
        ClockView::new(&reading(running, left_high), Color::White, Timestamp::ZERO)
    }

    #[test]
    fn the_high_side_of_the_lever_is_to_move() {
        assert_eq!(view(true, true).running, Some(Color::White));
        assert_eq!(view(true, false).running, Some(Color::Black));
        assert_eq!(view(false, false).running, None);
        assert_eq!(view(true, true).white_ms, 61_000);
        let turned = ClockView::new(&reading(true, true), Color::Black, Timestamp::ZERO);
        assert_eq!((turned.running, turned.black_ms), (Some(Color::Black), 61_000));
    }

    #[test]
    fn presses_starts_and_stops_are_told_apart() {
        let (white, black, stopped) = (view(true, true), view(true, false), view(false, true));
        assert_eq!(signal(Some(&white), &black), Some(ClockSignal::Pressed(Color::White)));
        assert_eq!(signal(Some(&stopped), &black), Some(ClockSignal::Started(Color::Black)));
        assert_eq!(signal(None, &white), Some(ClockSignal::Started(Color::White)));
        assert_eq!(signal(Some(&white), &stopped), Some(ClockSignal::Stopped));
        assert_eq!(signal(Some(&white), &white), None);
        assert_eq!(signal(None, &stopped), None);
        let pressed = view(false, false);
        assert_eq!(
            signal(Some(&stopped), &pressed),
            Some(ClockSignal::PressedStanding(Color::White))
        );
    }
}
