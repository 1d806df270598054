//! Asking a port who is there, in a way that hurts nobody.

mod bus;

use std::{path::Path, time::Duration};

use dgt_protocol::{
    Battery, ClockMessage, ClockTimes, Dump, Identity, LinkEvent, Message, SingleLink,
    SingleSettings,
};
use tokio::time::sleep_until;
use tokio_serial::SerialStream;

pub use bus::probe_bus;

use super::is_bluetooth;
use crate::daemon::{
    clock::Clock,
    port::{
        Trouble,
        device::{self, Moved},
    },
};

/// What is at the other end of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A board.
    Board(Box<Board>),
    /// A bus with these boards, in the order of their addresses.
    Bus(Vec<Board>),
    /// Something that talks, but not as boards do. It was sent a few letters and then left alone.
    Foreign {
        /// How many bytes it said.
        bytes: usize,
    },
    /// Nobody answers.
    Quiet,
    /// The port cannot be used.
    Trouble(Trouble),
}

/// What a board told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Board {
    /// Who it is.
    pub identity: Identity,
    /// What stands on it.
    pub dump: Option<Dump>,
    /// The clock, if one is connected.
    pub clock: Option<ClockTimes>,
    /// The battery, if it has one.
    pub battery: Option<Battery>,
}

/// Opens the port, asks for a few seconds and closes it.
///
/// Until something answers as a board does, only the letters `K` and `M` are sent, at most three
/// times: nothing that a modem, a receiver or a printer would act upon.
pub async fn probe(path: &Path) -> Finding {
    let mut serial = match device::open(path).await {
        Ok((serial, _)) => serial,
        Err(trouble) => return Finding::Trouble(trouble),
    };
    let finding = Probe::new(path).ask(&mut serial).await;
    device::close(serial).await;
    finding
}

struct Probe {
    clock: Clock,
    link: SingleLink,
    /// When to give up waiting for a first answer, and for more after it.
    patience: [Duration; 2],
    answered: bool,
    asked_clock: bool,
    bytes: usize,
    board: Board,
}

impl Probe {
    fn new(path: &Path) -> Self {
        let clock = Clock::start();
        let (settings, patience) = if is_bluetooth(path) {
            (SingleSettings::bluetooth(), BLUETOOTH_PATIENCE)
        } else {
            (SingleSettings::cable(), CABLE_PATIENCE)
        };
        // The rhythm in which a daemon looks for its board is too leisurely here.
        let settings = SingleSettings { handshake_retry: patience[0] / 4, ..settings };
        let link = SingleLink::new(settings, clock.elapsed());
        let board = Board::default();
        Self { clock, link, patience, answered: false, asked_clock: false, bytes: 0, board }
    }

    async fn ask(mut self, serial: &mut SerialStream) -> Finding {
        let mut until = self.patience[0];
        let mut unsent = Vec::new();
        let mut buffer = [0; 512];
        loop {
            let now = self.clock.elapsed();
            if now >= until || self.knows_all() {
                return self.finding();
            }
            if self.link.poll_timeout().is_some_and(|due| due <= now) {
                self.link.handle_timeout(now);
            }
            while let Some(bytes) = self.link.poll_transmit() {
                unsent.extend(bytes);
            }
            while let Some(event) = self.link.poll_event() {
                if event == LinkEvent::Answering && !self.answered {
                    self.answered = true;
                    until = now + self.patience[1];
                }
                self.learn(event);
            }
            let due = self.link.poll_timeout().map_or(until, |due| due.min(until));
            tokio::select! {
                biased;
                moved = device::transfer(serial, &mut buffer, &unsent) => match moved {
                    Ok(Moved::In(0)) => return Finding::Trouble(Trouble::Gone),
                    Ok(Moved::In(length)) => {
                        self.bytes += length;
                        self.link.handle_bytes(self.clock.elapsed(), &buffer[..length]);
                    }
                    Ok(Moved::Out(length)) => drop(unsent.drain(..length)),
                    Err(error) => return Finding::Trouble(Trouble::of_transfer(&error)),
                },
                () = sleep_until(self.clock.after_start(due)) => {}
            }
        }
    }

    fn learn(&mut self, event: LinkEvent) {
        match event {
            LinkEvent::Message(Message::Dump(dump)) => self.board.dump = Some(dump),
            LinkEvent::Message(Message::Battery(battery)) => self.board.battery = Some(battery),
            LinkEvent::Message(Message::Clock(ClockMessage::Times(times))) => {
                self.asked_clock = true;
                self.board.clock = Some(times).filter(|times| times.connected);
            }
            _ => {}
        }
        self.board.identity = self.link.identity().clone();
    }

    fn knows_all(&self) -> bool {
        let Board { identity, dump, battery, .. } = &self.board;
        let Identity { serial_number, long_serial_number, version, .. } = identity;
        let known = serial_number.is_some() && long_serial_number.is_some() && version.is_some();
        known && dump.is_some() && battery.is_some() && self.asked_clock
    }

    fn finding(self) -> Finding {
        if self.answered {
            Finding::Board(Box::new(self.board))
        } else if self.bytes > 0 {
            Finding::Foreign { bytes: self.bytes }
        } else {
            Finding::Quiet
        }
    }
}

/// Enough for three attempts, then for all answers of a board that does not know every question.
const CABLE_PATIENCE: [Duration; 2] = [Duration::from_secs(3), Duration::from_millis(2500)];
const BLUETOOTH_PATIENCE: [Duration; 2] = [Duration::from_secs(8), Duration::from_secs(5)];

#[cfg(test)]
mod tests {
    use dgt_protocol::SerialNumber;

    use super::*;
    use crate::daemon::testing::{Pty, array};

    #[tokio::test]
    async fn a_board_tells_everything() {
        let mut pty = Pty::open();
        let path = pty.path.clone();
        let probing = tokio::spawn(async move { probe(&path).await });
        assert_eq!(pty.receive(2).await, [0x4B, 0x4D], "the harmless question");
        let serial = SerialNumber::from_number(1025).unwrap();
        let mut said = Vec::new();
        for message in [
            Message::Version { major: 1, minor: 7 },
            Message::SerialNumber(serial),
            Message::Dump(array()),
        ] {
            message.encode(&mut said);
        }
        pty.send(&said).await;
        let Finding::Board(board) = probing.await.unwrap() else { panic!("no board") };
        assert_eq!(board.identity.serial_number, Some(serial));
        assert_eq!(board.identity.version, Some((1, 7)));
        assert_eq!((board.dump, board.clock), (Some(array()), None));
    }

    #[tokio::test]
    async fn a_receiver_is_left_alone() {
        let mut pty = Pty::open();
        let path = pty.path.clone();
        let probing = tokio::spawn(async move { probe(&path).await });
        let said = b"$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n";
        let mut asked = pty.receive(1).await;
        pty.send(said).await;
        let finding = probing.await.unwrap();
        assert_eq!(finding, Finding::Foreign { bytes: said.len() });
        asked.extend(pty.receive(1).await);
        assert!(asked.iter().all(|byte| matches!(byte, 0x4B | 0x4D)), "{asked:x?}");
    }

    #[tokio::test]
    async fn a_quiet_port_and_a_missing_one() {
        let pty = Pty::open();
        let missing = Path::new("/dev/no-such-port");
        let findings = tokio::join!(probe(&pty.path), probe(missing));
        assert_eq!(findings, (Finding::Quiet, Finding::Trouble(Trouble::Missing)));
    }
}
