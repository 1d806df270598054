//! The conversation on a port: one board, or the boards of a bus.

use std::time::Duration;

use dgt_protocol::{Address, BusLink, BusSettings, SingleLink, SingleSettings};
use tracing::debug;

use super::narrate::Narrator;
use crate::hall::{Input, PortName, Request};

/// What is expected at the other end of a port.
#[derive(Clone, Debug)]
pub(super) enum Talk {
    /// One board.
    Single(SingleSettings),
    /// A bus of boards.
    Bus(BusSettings),
}

/// A conversation under way.
pub(super) enum Link {
    Single(Box<SingleLink>),
    Bus(Box<BusLink>),
}

impl Talk {
    /// A conversation on a port that was opened at `now`, after the one before. A single board may be
    /// another one now; what boards on a bus owe is not forgotten.
    pub(super) fn begin(&self, now: Duration, before: Option<Link>) -> Link {
        match (self, before) {
            (Self::Bus(_), Some(Link::Bus(mut link))) => {
                link.reopen(now);
                Link::Bus(link)
            }
            (Self::Bus(settings), _) => Link::Bus(Box::new(BusLink::new(settings.clone(), now))),
            (Self::Single(settings), _) => {
                Link::Single(Box::new(SingleLink::new(settings.clone(), now)))
            }
        }
    }

    /// A bus on which at least these boards are.
    pub(super) fn bus(expected: Vec<Address>) -> Self {
        Self::Bus(BusSettings { expected, ..BusSettings::default() })
    }
}

impl Link {
    pub(super) fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        match self {
            Self::Single(link) => link.handle_bytes(now, bytes),
            Self::Bus(link) => link.handle_bytes(now, bytes),
        }
    }

    /// Wakes the link if it wanted to be woken by now.
    pub(super) fn wake(&mut self, now: Duration) {
        if self.poll_timeout().is_some_and(|due| due <= now) {
            match self {
                Self::Single(link) => link.handle_timeout(now),
                Self::Bus(link) => link.handle_timeout(now),
            }
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Duration> {
        match self {
            Self::Single(link) => link.poll_timeout(),
            Self::Bus(link) => link.poll_timeout(),
        }
    }

    pub(super) fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        match self {
            Self::Single(link) => link.poll_transmit(),
            Self::Bus(link) => link.poll_transmit(),
        }
    }

    /// The next thing that happened, told to the log and as the hall wants to hear it.
    pub(super) fn poll_input(&mut self, port: &PortName, narrator: &mut Narrator) -> Option<Input> {
        let port = port.clone();
        match self {
            Self::Single(link) => link.poll_event().map(|event| {
                narrator.tell(&port, &event);
                Input::Link { port, event }
            }),
            Self::Bus(link) => link.poll_event().map(|event| {
                narrator.tell_bus(&port, &event);
                Input::Bus { port, event }
            }),
        }
    }

    /// Asks a single board. The boards of a bus are asked in turns all the time.
    pub(super) fn request(&mut self, now: Duration, request: Request) {
        let request = match request {
            Request::Board => dgt_protocol::Request::Dump,
            Request::Memory => dgt_protocol::Request::Memory,
        };
        match self {
            Self::Single(link) => link.request(now, request),
            Self::Bus(_) => debug!(?request, "not asked on a bus"),
        }
    }
}
