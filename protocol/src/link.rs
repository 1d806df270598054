//! Links: the conversation on a port, as state machines without I/O and without a clock.
//!
//! Time is a [`Duration`](core::time::Duration) since an origin that the caller chooses; a time
//! earlier than the last one counts as the last one. The methods of a link come in four kinds:
//!
//! - getters, which change nothing;
//! - `handle_bytes` and `handle_timeout` for what happened;
//! - `request` for what the caller wants;
//! - `poll_event`, `poll_transmit` and `poll_timeout` for what follows from it.
//!
//! After any call of the second and third kind, drain the link in this order: take events until
//! there are none, take bytes to send until there are none, then ask for the next deadline and wait
//! for bytes or for that moment, whichever comes first. Calling `handle_timeout` early, late or
//! twice is harmless. What is not taken in time is bounded: events beyond about 256 KiB are dropped
//! and reported as [`LinkEvent::Overrun`], and the link then asks for the whole board again.

mod single;
mod timer;

pub use single::{Identity, Request, SingleLink, SingleSettings};

use alloc::collections::VecDeque;

use crate::{frame::Fault, message::Message};

/// What happened on a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// The board sent this.
    Message(Message),
    /// The board was asked who it is; this is what it answered. Comes again when the board was
    /// silent in between and when an answer changes, as it does when another board was plugged in.
    Identified(Identity),
    /// The board has not answered for the time set. Comes once; the link goes on trying, slowly.
    Silent,
    /// The board answers, for the first time or after [`Silent`](Self::Silent). A dump follows.
    Answering,
    /// The board answers, but not to this request; for a dump the link goes on asking.
    Unanswered(Request),
    /// Something on the line was no message.
    Fault(Fault),
    /// The caller did not take events in time.
    Overrun {
        /// How many events were dropped.
        events: usize,
    },
}

/// Events that wait to be taken, bounded by what they weigh.
#[derive(Clone, Debug)]
struct Outbox {
    events: VecDeque<LinkEvent>,
    weight: usize,
    dropped: usize,
}

impl Outbox {
    const fn new() -> Self {
        Self { events: VecDeque::new(), weight: 0, dropped: 0 }
    }

    /// Adds an event; `false` when it had to be dropped. Once one was dropped all are, until the
    /// gap was reported, so that the report stands where the events are missing.
    fn push(&mut self, event: LinkEvent) -> bool {
        let weight = weight(&event);
        if self.dropped > 0 || self.weight + weight > MAX_WEIGHT {
            self.dropped += 1;
            return false;
        }
        self.weight += weight;
        self.events.push_back(event);
        true
    }

    fn pop(&mut self) -> Option<LinkEvent> {
        if let Some(event) = self.events.pop_front() {
            self.weight -= weight(&event);
            return Some(event);
        }
        let events = core::mem::take(&mut self.dropped);
        (events > 0).then_some(LinkEvent::Overrun { events })
    }
}

fn weight(event: &LinkEvent) -> usize {
    let payload = match event {
        LinkEvent::Message(Message::Memory(payload) | Message::Unknown { payload, .. }) => {
            payload.len()
        }
        LinkEvent::Message(Message::Trademark(text)) => text.as_str().len(),
        LinkEvent::Identified(identity) => identity.weight(),
        _ => 0,
    };
    size_of::<LinkEvent>() + payload
}

const MAX_WEIGHT: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn events_beyond_the_bound_are_reported_where_they_are_missing() {
        let heavy = LinkEvent::Message(Message::Memory(vec![0; 16_000]));
        let mut outbox = Outbox::new();
        let kept = (0..100).filter(|_| outbox.push(heavy.clone())).count();
        assert!((10..20).contains(&kept), "{kept} of 100 events were kept");
        assert!(!outbox.push(LinkEvent::Silent));
        for _ in 0..kept {
            assert_eq!(outbox.pop().as_ref(), Some(&heavy));
        }
        assert_eq!(outbox.pop(), Some(LinkEvent::Overrun { events: 101 - kept }));
        assert_eq!(outbox.pop(), None);
        assert!(outbox.push(LinkEvent::Silent));
    }
}
