//! What a bus link reports and what it can be asked for.

use alloc::vec::Vec;

use super::super::outbox::Weigh;
use crate::{
    bus::Address,
    fault::Fault,
    message::{
        board::Dump,
        clock::ClockMessage,
        memory::{Log, Tag},
    },
};

/// What happened on a bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BusEvent {
    /// Something about one board.
    Board {
        /// Which one.
        address: Address,
        /// What happened.
        event: BoardEvent,
    },
    /// A whole search found no board. Comes once; the link goes on searching.
    Deserted,
    /// A board answered, but the link serves 64 boards already and will not serve this one.
    Crowded(Address),
    /// Something on the line was no answer of a board.
    Fault(Fault),
    /// The caller did not take events in time.
    Overrun {
        /// How many events were dropped.
        events: usize,
    },
}

/// What happened to one board of a bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoardEvent {
    /// The board answers, for the first time or after [`Silent`](Self::Silent). Version, changes,
    /// dump and clock follow.
    Answering,
    /// The board has not answered several times in a row. Comes once; the link goes on trying.
    Silent,
    /// Version of the board's program, if it tells.
    Version(Option<(u8, u8)>),
    /// What stands on all fields.
    Dump(Dump),
    /// The clock.
    Clock(ClockMessage),
    /// What happened on the board since the last time. Nothing comes when nothing happened.
    Changes(Changes),
    /// Everything since the last start tag, except what later [`Changes`](Self::Changes) tell.
    FromStart {
        /// The tags, oldest first.
        tags: Vec<Tag>,
        /// Bytes that were no tag.
        skipped: usize,
    },
    /// The start tag was written.
    GameStarted,
    /// Changes were read from the board and did not arrive, and the board does not repeat them.
    /// The log since the start tag and a dump follow.
    ChangesLost,
    /// The board answers, but not to this request.
    Unanswered(BusRequest),
    /// An answer that is not known here.
    Other {
        /// The id, bit 7 set.
        id: u8,
        /// The data; 7-bit bytes.
        data: Vec<u8>,
    },
}

/// What happened on a board between two readings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The tags, oldest first.
    pub tags: Vec<Tag>,
    /// Bytes that were no tag.
    pub skipped: usize,
    /// How much the moment of arrival says about the moment of the change.
    pub pace: Pace,
}

/// How much the moment of arrival says about the moment of the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pace {
    /// The changes happened just before they were read.
    Live,
    /// The changes have been waiting in the board, nobody knows how long: only their order counts.
    Batched,
}

/// What a caller may want from a board on a bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BusRequest {
    /// The whole placement.
    Dump,
    /// The clock.
    Clock,
    /// The version.
    Version,
    /// Write a start tag; changes that wait are read before it.
    StartGame,
    /// The log since the last start tag.
    FromStart,
}

impl BusRequest {
    /// Whether every board that begins to answer is asked for this.
    pub(super) const fn is_asked_at_contact(self) -> bool {
        matches!(self, Self::Dump | Self::Clock | Self::Version)
    }
}

impl Changes {
    pub(super) fn new(log: &[u8], pace: Pace) -> Self {
        let (tags, skipped) = read_log(log);
        Self { tags, skipped, pace }
    }

    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty() && self.skipped == 0
    }

    /// Whether fields may have changed. Unknown bytes may have been anything.
    pub fn touch_fields(&self) -> bool {
        let touches = |tag: &Tag| matches!(tag, Tag::FieldChange { .. } | Tag::PowerUp);
        self.skipped > 0 || self.tags.iter().any(touches)
    }
}

impl Weigh for BusEvent {
    fn weight(&self) -> usize {
        let Self::Board { event, .. } = self else { return size_of::<Self>() };
        let payload = match event {
            BoardEvent::Changes(Changes { tags, .. }) | BoardEvent::FromStart { tags, .. } => {
                tags.len() * size_of::<Tag>()
            }
            BoardEvent::Other { data, .. } => data.len(),
            _ => 0,
        };
        size_of::<Self>() + payload
    }

    fn overrun(events: usize) -> Self {
        Self::Overrun { events }
    }
}

pub(super) fn read_log(bytes: &[u8]) -> (Vec<Tag>, usize) {
    let mut log = Log::new(bytes);
    let tags = log.by_ref().collect();
    (tags, log.skipped())
}
