//! Deadlines: one for each kind of timer.

use core::time::Duration;

/// The deadlines of a link, one place for each of its timers.
///
/// A timer is the discriminant of the link's own enumeration. Firing early or twice is harmless,
/// because a deadline is looked at again when its timer is handled.
#[derive(Clone, Debug)]
pub(crate) struct Timers<const N: usize>([Option<Duration>; N]);

impl<const N: usize> Timers<N> {
    pub(crate) const fn new() -> Self {
        Self([None; N])
    }

    /// Arms a timer for `now` plus a delay; one that cannot be reached in time never fires.
    pub(crate) fn arm(&mut self, timer: usize, now: Duration, delay: Duration) {
        self.0[timer] = now.checked_add(delay.max(SHORTEST));
    }

    /// Arms a timer unless it is armed already.
    pub(crate) fn arm_if_idle(&mut self, timer: usize, now: Duration, delay: Duration) {
        if self.0[timer].is_none() {
            self.arm(timer, now, delay);
        }
    }

    pub(crate) fn disarm(&mut self, timer: usize) {
        self.0[timer] = None;
    }

    pub(crate) fn disarm_all(&mut self) {
        self.0 = [None; N];
    }

    /// When the timer fires, if it is armed.
    pub(crate) fn deadline(&self, timer: usize) -> Option<Duration> {
        self.0[timer]
    }

    pub(crate) fn is_armed(&self, timer: usize) -> bool {
        self.0[timer].is_some()
    }

    /// Whether the timer is due; if so it is disarmed.
    pub(crate) fn take_due(&mut self, timer: usize, now: Duration) -> bool {
        let due = self.0[timer].is_some_and(|deadline| deadline <= now);
        if due {
            self.0[timer] = None;
        }
        due
    }

    /// The earliest deadline.
    pub(crate) fn next(&self) -> Option<Duration> {
        self.0.iter().flatten().min().copied()
    }
}

/// A timer that is armed again when it fires has to move on, or a link would spin.
const SHORTEST: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_due_timer_fires_once() {
        let mut timers = Timers::<2>::new();
        timers.arm(0, Duration::ZERO, Duration::from_secs(1));
        timers.arm(1, Duration::ZERO, Duration::from_secs(2));
        assert_eq!(timers.next(), Some(Duration::from_secs(1)));
        assert!(!timers.take_due(0, Duration::from_millis(999)));
        assert!(timers.take_due(0, Duration::from_secs(1)));
        assert!(!timers.take_due(0, Duration::from_secs(1)));
        assert_eq!(timers.next(), Some(Duration::from_secs(2)));
    }

    #[test]
    fn never_and_at_once_are_not_taken_literally() {
        let mut timers = Timers::<1>::new();
        timers.arm(0, Duration::from_secs(1), Duration::MAX);
        assert_eq!(timers.next(), None);
        timers.arm(0, Duration::from_secs(1), Duration::ZERO);
        assert_eq!(timers.next(), Some(Duration::from_millis(1001)));
    }
}
