//! Captures through the very same stack as live bytes: frames, link, hall, on virtual time.

use std::io;

use dgt_protocol::{SingleLink, SingleSettings};
use shakmaty::{CastlingMode, fen::Fen};

use crate::{
    game::{Settings, Start, StartRule, Timestamp},
    hall::{Hall, HallSetup, Input, PortName, Recorded, Source, State, TableSetup},
    view::capture::{Header, Line, LinkKind, Record, TableHeader},
};

/// One capture on its way through the stack.
pub struct Replay {
    port: PortName,
    link: SingleLink,
    hall: Hall,
    /// What readers of the events have seen so far.
    last_t: u64,
}

impl Replay {
    /// A replay of a capture with this header.
    ///
    /// # Errors
    ///
    /// If the header asks for what cannot be: a FEN that is none, or a kind of link that this
    /// version does not read.
    pub fn new(header: &Header) -> io::Result<Self> {
        let invalid = |problem: String| io::Error::new(io::ErrorKind::InvalidData, problem);
        if header.link == LinkKind::Bus {
            return Err(invalid("captures of a bus are not read by this version".to_owned()));
        }
        let table = header.table.clone().unwrap_or_default();
        let port = PortName::new(header.port.as_deref().unwrap_or("capture"));
        let mut setup =
            TableSetup::new(table.number.unwrap_or(1).max(1), Source::Port(port.clone()));
        setup.settings = settings(&table).map_err(invalid)?;
        let mut hall = Hall::new(HallSetup { tables: vec![setup], first_event: 1 });
        hall.handle(Timestamp::ZERO, Input::PortOpened { port: port.clone() });
        Ok(Self { link: listening_link(), port, hall, last_t: 0 })
    }

    /// Takes one line of the capture and hands every event it causes to `event`, with the state of
    /// the hall after it.
    pub fn line(&mut self, line: &Line, event: &mut impl FnMut(&Recorded)) {
        self.wake_until(line.t, event);
        self.last_t = line.t;
        let at = Timestamp::from_millis(line.t);
        match &line.record {
            Record::Rx(bytes) => {
                self.link.handle_bytes(at_duration(line.t), bytes);
                self.forward(at);
            }
            Record::Port(false) => {
                let reason = "the capture says so".to_owned();
                self.hall.handle(at, Input::PortClosed { port: self.port.clone(), reason });
            }
            Record::Port(true) => {
                self.link = listening_link();
                self.hall.handle(at, Input::PortOpened { port: self.port.clone() });
            }
            Record::Tx(_) | Record::Mark(_) | Record::Command(_) | Record::Other => {}
        }
        self.drain(event);
    }

    /// Lets the timers run on after the last line, so that what settles only then is told.
    pub fn finish(&mut self, event: &mut impl FnMut(&Recorded)) {
        self.wake_until(self.last_t + AFTERWARDS_MS, event);
    }

    /// What is published as of the last event.
    pub fn state(&self) -> &State {
        self.hall.state()
    }

    fn wake_until(&mut self, t: u64, event: &mut impl FnMut(&Recorded)) {
        while let Some(due) = self.hall.deadline().filter(|due| due.as_millis() <= t) {
            self.hall.handle_timeout(due);
            self.drain(event);
        }
    }

    fn forward(&mut self, at: Timestamp) {
        while let Some(event) = self.link.poll_event() {
            self.hall.handle(at, Input::Link { port: self.port.clone(), event });
        }
    }

    fn drain(&mut self, event: &mut impl FnMut(&Recorded)) {
        while let Some(recorded) = self.hall.poll_event() {
            event(&recorded);
        }
        while self.hall.poll_request().is_some() {
            // A recorded board cannot be asked.
        }
    }
}

/// A link that asks nothing: nobody would answer.
fn listening_link() -> SingleLink {
    SingleLink::new(SingleSettings::replay(), at_duration(0))
}

fn at_duration(t: u64) -> std::time::Duration {
    std::time::Duration::from_millis(t)
}

/// The settings that a capture's table asks for.
///
/// # Errors
///
/// If its FEN is no FEN or no legal position; the text says which.
pub fn settings(table: &TableHeader) -> Result<Settings, String> {
    let start = match &table.fen {
        Some(fen) => {
            let mode = CastlingMode::from_chess960(table.chess960);
            let setup = fen
                .parse::<Fen>()
                .map_err(|error| format!("\"fen\" of the table is \"{fen}\": {error}"))?
                .into_setup();
            let start = Start::from_setup(setup, mode)
                .map_err(|error| format!("\"fen\" of the table is \"{fen}\": {error}"))?;
            StartRule::Position(Box::new(start))
        }
        None if table.chess960 => StartRule::AnyChess960,
        None => StartRule::Classical,
    };
    Ok(Settings { start, ..Settings::default() })
}

/// How long the timers run on after a capture's last line: longer than any of them.
pub const AFTERWARDS_MS: u64 = 10_000;
