//! A command from the moment it is decided on to the end of its answer.

use core::time::Duration;

use super::station::Job;
use crate::bus::{Address, BusCommand, Content, Order};

/// A command that the caller has yet to take. The boards have not heard it: what arrives meanwhile
/// was said for another reason, late or by chance, and does not answer it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outgoing {
    pub(super) command: BusCommand,
    /// How it goes on when it was taken; none for a ping to all, which many boards answer.
    pub(super) flight: Option<Flight>,
}

/// A command that was taken and whose answer is awaited.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub(super) address: Address,
    pub(super) order: Order,
    /// What the command was sent for; none when it belongs to a search.
    pub(super) job: Option<Job>,
    /// Something broken arrived in place of the answer, or before it.
    pub(super) garbled: bool,
}

impl Flight {
    pub(super) const fn new(address: Address, order: Order, job: Option<Job>) -> Self {
        Self { address, order, job, garbled: false }
    }

    /// Whether this comes from the board that was asked, and is the kind of answer it was asked for.
    pub(super) fn is_answered_by(self, address: Address, content: &Content) -> bool {
        let answers = matches!(
            (self.order, content),
            (Order::ReadClock, Content::Clock(_))
                | (Order::ReadBoard, Content::Dump(_))
                | (Order::ReadChanges | Order::RepeatChanges, Content::Changes { .. })
                | (Order::StartGame, Content::GameStarted)
                | (Order::ReadFromStart, Content::FromStart(_))
                | (Order::Ping | Order::IgnoreNextPing, Content::Pong)
                | (Order::ReadVersion, Content::Version(_))
        );
        answers && address == self.address
    }

    /// How long bytes may keep coming without being the answer.
    pub(super) const fn limit(self) -> Duration {
        match self.order {
            Order::ReadChanges | Order::RepeatChanges | Order::ReadFromStart => LONGEST_LOG,
            _ => LONGEST_ANSWER,
        }
    }
}

/// A whole memory takes a bit more than eight seconds.
const LONGEST_LOG: Duration = Duration::from_secs(10);
/// A dump takes 73 ms.
const LONGEST_ANSWER: Duration = Duration::from_secs(1);
