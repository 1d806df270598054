//! The only place that reads time.
#![expect(clippy::disallowed_methods, reason = "everything else gets the time from here")]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::game::Timestamp;

/// The wall clock as it stood when the daemon started, carried on by the monotonic clock.
///
/// A wall clock that is set while games run would give moves in the past; this one never goes back
/// and never jumps. The price: a clock that was wrong at the start stays wrong until a restart,
/// which [`Clock::drift`] makes visible.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    anchor: Instant,
    wall: Timestamp,
}

impl Clock {
    /// Reads both clocks once.
    pub fn start() -> Self {
        Self { anchor: Instant::now(), wall: wall() }
    }

    /// The point at which this clock was started.
    pub fn started(&self) -> Timestamp {
        self.wall
    }

    /// Now, in milliseconds since the Unix epoch.
    pub fn now(&self) -> Timestamp {
        self.timestamp(self.elapsed())
    }

    /// Time since the start, with the full resolution of the monotonic clock.
    pub fn elapsed(&self) -> Duration {
        self.anchor.elapsed()
    }

    /// The point `elapsed` after the start.
    pub fn timestamp(&self, elapsed: Duration) -> Timestamp {
        self.wall.after(millis(elapsed))
    }

    /// The moment to sleep until when something is due at `at`.
    pub fn instant(&self, at: Timestamp) -> Instant {
        self.after_start(Duration::from_millis(at.since(self.wall)))
    }

    /// The moment `elapsed` after the start.
    pub fn after_start(&self, elapsed: Duration) -> Instant {
        self.anchor.checked_add(elapsed).unwrap_or_else(|| self.anchor + FAR_AWAY)
    }

    /// How far the wall clock has moved away from this one since the start, in milliseconds.
    pub fn drift(&self) -> u64 {
        let (wall, own) = (wall(), self.now());
        wall.since(own).max(own.since(wall))
    }
}

/// Warns when the wall clock is set while `clock` runs: what is published keeps the old one until a
/// restart. That is what happens on a machine without a battery for its clock which was started
/// without a network.
pub async fn watch(clock: Clock, stop: CancellationToken) {
    let mut told = MAX_DRIFT_MS;
    while stop.run_until_cancelled(sleep(BETWEEN_LOOKS)).await.is_some() {
        let drift = clock.drift();
        if drift > told {
            let seconds = drift / 1000;
            warn!(
                seconds,
                "the system's clock was set after the start: times are published as it stood \
                 before; restart boardcast between two rounds"
            );
            told = drift.saturating_mul(2);
        }
    }
}

/// Milliseconds since the Unix epoch; zero if the machine believes to live before it.
fn wall() -> Timestamp {
    Timestamp::from_millis(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A clock that is corrected by its network all day moves by less.
const MAX_DRIFT_MS: u64 = 2_000;
const BETWEEN_LOOKS: Duration = Duration::from_mins(1);

/// "Never" for a sleep: tokio adds durations to instants, which may overflow.
const FAR_AWAY: Duration = Duration::from_hours(30 * 365 * 24);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_runs_from_the_start_and_deadlines_are_on_the_same_line() {
        let clock = Clock::start();
        let due = clock.started().after(1_500);
        assert_eq!(
            clock.instant(due) - clock.instant(clock.started()),
            Duration::from_millis(1500)
        );
        assert!(clock.now() >= clock.started());
        assert!(clock.started() > Timestamp::from_millis(1_700_000_000_000), "after 2023");
        assert!(clock.drift() < MAX_DRIFT_MS);
    }

    #[test]
    fn the_end_of_time_is_a_moment_too() {
        let clock = Clock::start();
        assert!(clock.instant(Timestamp::from_millis(u64::MAX)) > clock.instant(clock.now()));
    }
}
