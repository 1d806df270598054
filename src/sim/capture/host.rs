//! The hosts in front of which a simulation is recorded.

use std::{collections::BTreeSet, time::Duration};

use dgt_protocol::{Address, BoardEvent, BusEvent, BusLink, BusRequest, BusSettings, Command};

use crate::sim::device::Cable;

/// Who listens to a device and speaks to it.
pub trait Host {
    /// Takes bytes from the device.
    fn handle_bytes(&mut self, now: Duration, bytes: &[u8]);

    /// Notices that the cable was pulled or put back.
    fn handle_cable(&mut self, now: Duration, cable: Cable);

    /// When there is something to say.
    fn next(&self) -> Option<Duration>;

    /// The next thing to say.
    fn say(&mut self, now: Duration) -> Option<Vec<u8>>;
}

/// A host that wants updates, asks for the board when it begins, and again from time to time.
pub(super) struct SingleHost {
    /// What to say next; at most two things at a time.
    due: Vec<(Duration, Command)>,
    dump_every: Option<Duration>,
}

impl SingleHost {
    pub(super) fn new(dump_every: Option<Duration>) -> Self {
        let mut host = Self { due: Vec::new(), dump_every };
        host.greet(Duration::ZERO);
        host
    }

    fn greet(&mut self, now: Duration) {
        self.due = vec![(now, Command::UpdateNice), (now + BETWEEN_COMMANDS, Command::ReadBoard)];
    }
}

impl Host for SingleHost {
    fn handle_bytes(&mut self, _now: Duration, _bytes: &[u8]) {}

    fn handle_cable(&mut self, now: Duration, cable: Cable) {
        self.due.clear();
        if cable == Cable::Back {
            self.greet(now + BEFORE_GREETING);
        }
    }

    fn next(&self) -> Option<Duration> {
        self.due.first().map(|&(at, _)| at)
    }

    fn say(&mut self, now: Duration) -> Option<Vec<u8>> {
        let due = self.due.first().is_some_and(|&(at, _)| at <= now);
        let (_, command) = due.then(|| self.due.remove(0))?;
        if let Some(every) = self.dump_every.filter(|_| command == Command::ReadBoard) {
            self.due.push((now + every, Command::ReadBoard));
        }
        let mut bytes = Vec::new();
        command.encode(&mut bytes);
        Some(bytes)
    }
}

/// A host that polls a bus, and marks the start of a game on every board when it first meets it.
pub(super) struct BusHost {
    link: BusLink,
    pulled: bool,
    marked: BTreeSet<Address>,
}

impl BusHost {
    pub(super) fn new(settings: BusSettings) -> Self {
        let link = BusLink::new(settings, Duration::ZERO);
        Self { link, pulled: false, marked: BTreeSet::new() }
    }
}

impl Host for BusHost {
    fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        if self.pulled {
            return;
        }
        self.link.handle_bytes(now, bytes);
        while let Some(event) = self.link.poll_event() {
            if let BusEvent::Board { address, event: BoardEvent::Answering } = event
                && self.marked.insert(address)
            {
                self.link.request(now, address, BusRequest::StartGame);
            }
        }
    }

    fn handle_cable(&mut self, now: Duration, cable: Cable) {
        self.pulled = cable == Cable::Pulled;
        if cable == Cable::Back {
            self.link.reopen(now);
        }
    }

    fn next(&self) -> Option<Duration> {
        self.link.poll_timeout().filter(|_| !self.pulled)
    }

    fn say(&mut self, now: Duration) -> Option<Vec<u8>> {
        if self.next().is_some_and(|at| at <= now) {
            self.link.handle_timeout(now);
        }
        if self.pulled { None } else { self.link.poll_transmit() }
    }
}

/// Hosts leave the board this long between two commands.
const BETWEEN_COMMANDS: Duration = Duration::from_millis(100);
/// A device that came back is left alone for a moment.
const BEFORE_GREETING: Duration = Duration::from_millis(500);
