//! The event log in memory, from which every sink pulls at its own pace.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

use crate::hall::{Recorded, State};

/// The write end, owned by the engine. When it is dropped, cursors read what is left and then end.
#[derive(Debug)]
pub struct Log {
    shared: Arc<Shared>,
    end: watch::Sender<u64>,
}

/// The read end: makes cursors.
#[derive(Clone, Debug)]
pub struct LogReader {
    shared: Arc<Shared>,
    end: watch::Receiver<u64>,
}

/// One reader's place in the log.
#[derive(Debug)]
pub struct Cursor {
    log: LogReader,
    next: u64,
}

/// What a cursor reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The next event.
    Event(Arc<Recorded>),
    /// The log no longer holds the next event: the reader was too slow. It must forget what it
    /// knew and start from this state, which includes everything that was missed.
    Reload {
        /// Everything up to the place where the cursor now stands.
        state: Box<State>,
        /// How many events were passed over.
        missed: u64,
    },
}

impl Log {
    /// An empty log that holds on to the last `capacity` events, and starts from `state`.
    pub fn new(state: State, capacity: usize) -> Self {
        let entries = Entries { state, events: VecDeque::new(), end: 0 };
        let shared = Shared { capacity: capacity.max(1), entries: Mutex::new(entries) };
        Self { shared: Arc::new(shared), end: watch::Sender::new(0) }
    }

    /// Appends events in order and wakes all readers; never waits for any of them.
    pub fn append(&self, events: impl IntoIterator<Item = Recorded>) {
        let mut entries = self.shared.lock();
        for recorded in events {
            entries.state.apply(&recorded);
            if entries.events.len() == self.shared.capacity {
                entries.events.pop_front();
            }
            entries.events.push_back(Arc::new(recorded));
            entries.end += 1;
        }
        let end = entries.end;
        drop(entries);
        self.end.send_if_modified(|told| std::mem::replace(told, end) != end);
    }

    /// The read end.
    pub fn reader(&self) -> LogReader {
        LogReader { shared: Arc::clone(&self.shared), end: self.end.subscribe() }
    }
}

impl LogReader {
    /// The state as it is now, and a cursor that continues exactly from there.
    pub fn follow(&self) -> (State, Cursor) {
        let entries = self.shared.lock();
        let state = entries.state.clone();
        let next = entries.end;
        drop(entries);
        (state, Cursor { log: self.clone(), next })
    }
}

impl Cursor {
    /// Waits for the next reading; `None` when the log has ended and everything was read. Safe to
    /// cancel: a reading that was not returned is not lost.
    pub async fn next(&mut self) -> Option<Reading> {
        loop {
            // Marked as seen before looking: what is appended after the look wakes the wait.
            self.log.end.borrow_and_update();
            if let Some(reading) = self.read() {
                return Some(reading);
            }
            if self.log.end.changed().await.is_err() {
                return self.read();
            }
        }
    }

    /// The next reading if there already is one.
    pub fn read(&mut self) -> Option<Reading> {
        let entries = self.log.shared.lock();
        let first = entries.end - entries.events.len() as u64;
        let Some(place) = self.next.checked_sub(first) else {
            let missed = entries.end - self.next;
            self.next = entries.end;
            return Some(Reading::Reload { state: Box::new(entries.state.clone()), missed });
        };
        let event = entries.events.get(place as usize)?;
        self.next += 1;
        Some(Reading::Event(Arc::clone(event)))
    }
}

#[derive(Debug)]
struct Shared {
    capacity: usize,
    entries: Mutex<Entries>,
}

/// The events before `end`, as many as fit, and the state after the last of them.
#[derive(Debug)]
struct Entries {
    state: State,
    events: VecDeque<Arc<Recorded>>,
    end: u64,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        // A panic while the lock was held ends the whole process; no reader has to answer for it.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::testing::recorded;

    fn id(reading: Option<Reading>) -> u64 {
        match reading {
            Some(Reading::Event(recorded)) => recorded.id,
            other => panic!("not an event: {other:?}"),
        }
    }

    #[tokio::test]
    async fn every_cursor_reads_every_event_in_order_from_its_start() {
        let log = Log::new(State::default(), 100);
        let (_, mut early) = log.reader().follow();
        log.append((1..=3).map(recorded));
        let (state, mut late) = log.reader().follow();
        assert_eq!(state, folded(1..=3));
        log.append([recorded(4)]);
        drop(log);
        for expected in 1..=4 {
            assert_eq!(id(early.next().await), expected);
        }
        assert_eq!(id(late.next().await), 4);
        assert_eq!(early.next().await, None);
        assert_eq!(late.next().await, None);
    }

    #[tokio::test]
    async fn a_waiting_cursor_wakes_and_a_cancelled_wait_loses_nothing() {
        let log = Log::new(State::default(), 100);
        let (_, mut cursor) = log.reader().follow();
        tokio::select! {
            biased;
            reading = cursor.next() => panic!("nothing was appended: {reading:?}"),
            () = std::future::ready(()) => {}
        }
        let (reading, ()) = tokio::join!(cursor.next(), async { log.append([recorded(1)]) });
        assert_eq!(id(reading), 1);
    }

    #[tokio::test]
    async fn a_cursor_that_fell_behind_is_told_to_reload() {
        let log = Log::new(State::default(), 4);
        let (_, mut cursor) = log.reader().follow();
        log.append((1..=10).map(recorded));
        let Some(Reading::Reload { state, missed }) = cursor.next().await else {
            panic!("the first six events are gone");
        };
        assert_eq!((*state, missed), (folded(1..=10), 10));
        log.append([recorded(11)]);
        assert_eq!(id(cursor.next().await), 11);
    }

    #[test]
    fn a_cursor_just_inside_the_log_reads_on() {
        let log = Log::new(State::default(), 4);
        let (_, mut cursor) = log.reader().follow();
        log.append((1..=4).map(recorded));
        assert_eq!(id(cursor.read()), 1);
        log.append([recorded(5)]);
        assert_eq!(id(cursor.read()), 2);
    }

    fn folded(ids: impl Iterator<Item = u64>) -> State {
        let mut state = State::default();
        ids.for_each(|id| state.apply(&recorded(id)));
        state
    }
}
