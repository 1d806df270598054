//! Links under any sequence of bytes, times and requests.

pub(super) mod bus;
pub(super) mod single;

use std::{fmt::Debug, iter, time::Duration};

use super::source::Source;

/// What both links have in common.
trait Link {
    type Event: Debug;

    fn handle_bytes(&mut self, now: Duration, bytes: &[u8]);
    fn handle_timeout(&mut self, now: Duration);
    fn poll_event(&mut self) -> Option<Self::Event>;
    fn poll_transmit(&mut self) -> Option<Vec<u8>>;
    fn poll_timeout(&self) -> Option<Duration>;

    /// Bytes of memory that an event holds beside itself, or `None` for the note that events are
    /// missing.
    fn payload(event: &Self::Event) -> Option<usize>;
}

macro_rules! link {
    ($link:ty, $event:ty, $payload:path) => {
        impl Link for $link {
            type Event = $event;

            fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
                self.handle_bytes(now, bytes);
            }

            fn handle_timeout(&mut self, now: Duration) {
                self.handle_timeout(now);
            }

            fn poll_event(&mut self) -> Option<$event> {
                self.poll_event()
            }

            fn poll_transmit(&mut self) -> Option<Vec<u8>> {
                self.poll_transmit()
            }

            fn poll_timeout(&self) -> Option<Duration> {
                self.poll_timeout()
            }

            fn payload(event: &$event) -> Option<usize> {
                $payload(event)
            }
        }
    };
}

link!(dgt_protocol::SingleLink, dgt_protocol::LinkEvent, single::payload);
link!(dgt_protocol::BusLink, dgt_protocol::BusEvent, bus::payload);

/// A link and the time at which it lives.
struct Session<L> {
    link: L,
    now: Duration,
}

impl<L: Link> Session<L> {
    /// Serves the next deadline, however far away it is.
    fn wait_for_deadline(&mut self) {
        if let Some(deadline) = self.link.poll_timeout() {
            self.now = self.now.max(deadline);
            self.timeout();
        }
    }

    /// Lets time pass and serves some of the deadlines on the way.
    fn wait(&mut self, ms: u16) {
        let end = self.now.saturating_add(Duration::from_millis(ms.into()));
        for _ in 0..MOST_DEADLINES {
            let Some(deadline) = self.link.poll_timeout().filter(|&at| at <= end) else { break };
            self.now = self.now.max(deadline);
            self.timeout();
        }
        self.now = end;
    }

    fn timeout(&mut self) {
        self.link.handle_timeout(self.now);
        let next = self.link.poll_timeout();
        assert!(next.is_none_or(|next| next > self.now), "{next:?} is due at {:?}", self.now);
    }

    /// A time earlier than the last one counts as the last one.
    fn go_back(&mut self, ms: u16) {
        self.link.handle_timeout(self.now.saturating_sub(Duration::from_millis(ms.into())));
    }

    /// Hears the same some times.
    fn hear(&mut self, bytes: &[u8], times: u8) {
        for _ in 0..times {
            self.link.handle_bytes(self.now, bytes);
        }
    }

    /// Takes all events, which weigh no more than is promised.
    fn events(&mut self) -> Vec<L::Event> {
        let events: Vec<_> = iter::from_fn(|| self.link.poll_event()).collect();
        let missing = events.iter().position(|event| L::payload(event).is_none());
        assert!(missing.is_none_or(|place| place == events.len() - 1), "{missing:?}");
        let payloads: usize = events.iter().filter_map(L::payload).sum();
        let weight = (events.len() - usize::from(missing.is_some())) * size_of::<L::Event>();
        assert!(payloads + weight <= MAX_WEIGHT, "{} bytes of events", payloads + weight);
        events
    }

    /// The command to send, of which there is one at a time.
    fn transmit(&mut self) -> Option<Vec<u8>> {
        let bytes = self.link.poll_transmit()?;
        assert_eq!(self.link.poll_transmit(), None);
        Some(bytes)
    }
}

/// Spans as a configuration could have them, and worse.
fn span(source: &mut Source<'_>) -> Duration {
    match source.byte() {
        0xFF => Duration::MAX,
        byte => Duration::from_millis(u64::from(byte) * u64::from(byte)),
    }
}

const MAX_WEIGHT: usize = 256 * 1024;
/// Enough for a wait; with spans of nothing a link would otherwise be served for hours.
const MOST_DEADLINES: usize = 64;
