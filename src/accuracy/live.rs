//! A live link in front of a simulated board, on virtual time.

use std::time::Duration;

use dgt_protocol::{Request as Question, SingleLink, SingleSettings};

use crate::{
    game::{Event, Settings, Timestamp},
    hall::{Hall, HallSetup, Input, PortName, Recorded, Request, Source, TableSetup},
    sim::{capture::Host, device::Cable},
};

/// The link and the hall of the daemon, without the daemon: the link asks for the board after each
/// quiet time, finds a board that was away, and passes on what the hall wants to know.
pub(super) struct LiveHost {
    port: PortName,
    link: SingleLink,
    hall: Hall,
    pulled: bool,
    /// What was decided, but for readings of the clock.
    pub(super) events: Vec<Recorded>,
}

impl LiveHost {
    /// A link that opens the port now.
    pub(super) fn new(settings: Settings) -> Self {
        let port = PortName::new("simulated");
        let table = TableSetup { settings, ..TableSetup::new(1, Source::Port(port.clone())) };
        let mut hall = Hall::new(HallSetup { tables: vec![table], first_event: 1 });
        hall.handle(Timestamp::ZERO, Input::PortOpened { port: port.clone() });
        let link = SingleLink::new(SingleSettings::cable(), Duration::ZERO);
        Self { port, link, hall, pulled: false, events: Vec::new() }
    }

    /// Lets the timers run on after the last act.
    pub(super) fn finish(&mut self, until: Duration) {
        while let Some(due) = self.hall.deadline().filter(|&due| due <= timestamp(until)) {
            self.hall.handle_timeout(due);
            self.drain(Duration::from_millis(due.as_millis()));
        }
    }

    fn pass_on(&mut self, now: Duration) {
        while let Some(event) = self.link.poll_event() {
            self.hall.handle(timestamp(now), Input::Link { port: self.port.clone(), event });
        }
        self.drain(now);
    }

    fn drain(&mut self, now: Duration) {
        while let Some(recorded) = self.hall.poll_event() {
            if !matches!(recorded.event, Event::Clock(_)) {
                self.events.push(recorded);
            }
        }
        while let Some((_, request)) = self.hall.poll_request() {
            self.link.request(
                now,
                match request {
                    Request::Board => Question::Dump,
                    Request::Memory => Question::Memory,
                },
            );
        }
    }
}

impl Host for LiveHost {
    fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        if !self.pulled {
            self.link.handle_bytes(now, bytes);
            self.pass_on(now);
        }
    }

    fn handle_cable(&mut self, now: Duration, cable: Cable) {
        self.pulled = cable == Cable::Pulled;
        let port = self.port.clone();
        let input = if self.pulled {
            Input::PortClosed { port, reason: "the cable is pulled".to_owned() }
        } else {
            self.link = SingleLink::new(SingleSettings::cable(), now);
            Input::PortOpened { port }
        };
        self.hall.handle(timestamp(now), input);
        self.drain(now);
    }

    fn next(&self) -> Option<Duration> {
        let link = self.link.poll_timeout().filter(|_| !self.pulled);
        let hall = self.hall.deadline().map(|due| Duration::from_millis(due.as_millis()));
        [link, hall].into_iter().flatten().min()
    }

    fn say(&mut self, now: Duration) -> Option<Vec<u8>> {
        if self.hall.deadline().is_some_and(|due| due <= timestamp(now)) {
            self.hall.handle_timeout(timestamp(now));
            self.drain(now);
        }
        if self.pulled {
            return None;
        }
        if self.link.poll_timeout().is_some_and(|due| due <= now) {
            self.link.handle_timeout(now);
            self.pass_on(now);
        }
        self.link.poll_transmit()
    }
}

fn timestamp(now: Duration) -> Timestamp {
    Timestamp::from_millis(now.as_millis() as u64)
}
