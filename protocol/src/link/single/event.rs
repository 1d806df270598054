//! What a single-board link reports and what it can be asked for.

use super::{super::outbox::Weigh, Identity};
use crate::{fault::Fault, message::Message};

/// What happened on a single-board link.
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

/// What a caller may want from a board. All of these only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The whole placement.
    Dump,
    /// The clock.
    Clock,
    /// The battery.
    Battery,
    /// Serial numbers, versions and texts; [`LinkEvent::Identified`] follows.
    Identity,
    /// The board's own memory. The board says nothing else for about eight seconds.
    Memory,
}

impl Weigh for LinkEvent {
    fn weight(&self) -> usize {
        let payload = match self {
            Self::Message(Message::Memory(payload) | Message::Unknown { payload, .. }) => {
                payload.len()
            }
            Self::Message(Message::Trademark(text)) => text.as_str().len(),
            Self::Identified(identity) => {
                identity.trademark.as_ref().map_or(0, |text| text.as_str().len())
            }
            _ => 0,
        };
        size_of::<Self>() + payload
    }

    fn overrun(events: usize) -> Self {
        Self::Overrun { events }
    }
}
