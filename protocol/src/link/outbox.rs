//! Events that wait to be taken, bounded by what they weigh.

use alloc::collections::VecDeque;

/// An event that knows roughly how many bytes it holds.
pub(super) trait Weigh {
    /// Bytes of memory.
    fn weight(&self) -> usize;

    /// The event that reports how many others were dropped.
    fn overrun(events: usize) -> Self;
}

#[derive(Clone, Debug)]
pub(super) struct Outbox<E> {
    events: VecDeque<E>,
    weight: usize,
    dropped: usize,
}

impl<E: Weigh> Outbox<E> {
    pub(super) const fn new() -> Self {
        Self { events: VecDeque::new(), weight: 0, dropped: 0 }
    }

    /// Adds an event; `false` when it had to be dropped. Once one was dropped all are, until the
    /// gap was reported, so that the report stands where the events are missing.
    #[must_use]
    pub(super) fn push(&mut self, event: E) -> bool {
        let weight = event.weight();
        if self.dropped > 0 || self.weight + weight > MAX_WEIGHT {
            self.dropped += 1;
            return false;
        }
        self.weight += weight;
        self.events.push_back(event);
        true
    }

    pub(super) fn pop(&mut self) -> Option<E> {
        if let Some(event) = self.events.pop_front() {
            self.weight -= event.weight();
            return Some(event);
        }
        let events = core::mem::take(&mut self.dropped);
        (events > 0).then(|| E::overrun(events))
    }

    /// Whether the caller is so far behind that nothing more should be asked for.
    pub(super) fn is_crowded(&self) -> bool {
        self.dropped > 0 || self.weight > MAX_WEIGHT / 2
    }
}

const MAX_WEIGHT: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    impl Weigh for usize {
        fn weight(&self) -> usize {
            16_000
        }

        fn overrun(events: usize) -> Self {
            1000 + events
        }
    }

    #[test]
    fn events_beyond_the_bound_are_reported_where_they_are_missing() {
        let mut outbox = Outbox::new();
        let kept = (0..100usize).filter(|&event| outbox.push(event)).count();
        assert_eq!(kept, 16);
        assert!(outbox.is_crowded());
        for event in 0..kept {
            assert_eq!(outbox.pop(), Some(event));
        }
        assert_eq!(outbox.pop(), Some(1084));
        assert_eq!(outbox.pop(), None);
        assert!(outbox.push(0));
        assert!(!outbox.is_crowded());
    }
}
