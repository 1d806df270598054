//! The line to the host, 9600 baud.

use std::{collections::VecDeque, time::Duration};

/// Bytes on their way: each takes its time, and they come out in runs as an adapter collects them.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    free_at: Duration,
    under_way: VecDeque<(Duration, Vec<u8>)>,
    arrived: VecDeque<Vec<u8>>,
}

impl Line {
    /// Sends a message, not before this time and after everything sent earlier. If the host asks for far
    /// more than the line can carry, the message is not sent at all.
    pub(super) fn send(&mut self, from: Duration, message: &[u8]) {
        if self.under_way.len() + self.arrived.len() >= MOST_RUNS {
            return;
        }
        let mut at = self.free_at.max(from);
        for run in message.chunks(RUN) {
            at += BYTE * run.len() as u32;
            self.under_way.push_back((at, run.to_vec()));
        }
        self.free_at = at;
    }

    /// When the next run arrives.
    pub(super) fn next(&self) -> Option<Duration> {
        self.under_way.front().map(|&(at, _)| at)
    }

    /// When the last byte will be out.
    pub(super) fn busy_until(&self) -> Duration {
        self.free_at
    }

    /// Takes the next run and the time it begins, before it has been under way.
    pub(super) fn take(&mut self) -> Option<(Duration, Vec<u8>)> {
        let (at, run) = self.under_way.pop_front()?;
        Some((at.saturating_sub(BYTE * run.len() as u32), run))
    }

    /// Lets time pass.
    pub(super) fn run(&mut self, now: Duration) {
        while let Some((_, run)) = self.under_way.pop_front_if(|(at, _)| *at <= now) {
            self.arrived.push_back(run);
        }
    }

    pub(super) fn poll(&mut self) -> Option<Vec<u8>> {
        self.arrived.pop_front()
    }

    /// The line breaks off: what is on its way is lost, what has arrived is not.
    pub(super) fn cut(&mut self) {
        self.under_way.clear();
        self.free_at = Duration::ZERO;
    }
}

/// Eight bits, a start bit and a stop bit at 9600 baud.
pub(in crate::sim) const BYTE: Duration = Duration::from_nanos(1_041_667);
/// About what arrives within the 16 ms that adapters wait before they hand bytes on.
pub(in crate::sim) const RUN: usize = 16;
const MOST_RUNS: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_takes_seventy_milliseconds() {
        let mut line = Line::default();
        line.send(Duration::from_millis(100), &[0; 67]);
        let mut runs = 0;
        let mut last = Duration::ZERO;
        while let Some(at) = line.next() {
            line.run(at);
            runs += usize::from(line.poll().is_some());
            last = at;
        }
        assert_eq!((runs, last.as_millis()), (5, 169));
    }

    #[test]
    fn messages_wait_for_the_line() {
        let mut line = Line::default();
        line.send(Duration::ZERO, &[1; 10]);
        line.send(Duration::ZERO, &[2; 5]);
        line.run(Duration::from_millis(11));
        assert_eq!(line.poll(), Some(vec![1; 10]));
        assert_eq!(line.poll(), None);
        assert_eq!(line.next().map(|at| at.as_millis()), Some(15));
    }

    #[test]
    fn a_flood_is_bounded() {
        let mut line = Line::default();
        for _ in 0..2 * MOST_RUNS {
            line.send(Duration::ZERO, &[0]);
        }
        line.run(Duration::from_hours(1));
        assert_eq!(std::iter::from_fn(|| line.poll()).count(), MOST_RUNS);
    }
}
