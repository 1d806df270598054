//! Captures through the very same stack as live bytes: frames, link, hall, on virtual time.

use std::{collections::BTreeMap, io};

use dgt_protocol::{Address, BusDeframer, BusLink, BusSettings, SingleLink, SingleSettings};
use shakmaty::{CastlingMode, fen::Fen};

use crate::{
    game::{Settings, Start, StartRule, Timestamp},
    hall::{Hall, HallSetup, Input, PortName, Recorded, Source, State, TableSetup},
    view::capture::{Header, Line, LinkKind, Record, TableHeader},
};

/// One capture on its way through the stack.
pub struct Replay {
    port: PortName,
    link: Link,
    hall: Hall,
    /// What readers of the events have seen so far.
    last_t: u64,
}

/// The conversation that was recorded.
enum Link {
    Single(Box<SingleLink>),
    Bus(Box<BusLink>),
}

impl Replay {
    /// A replay of a capture with this header, of one board on its own cable.
    ///
    /// # Errors
    ///
    /// If the header asks for what cannot be: a FEN that is none, or a bus, whose boards must be
    /// known; see [`Replay::bus`].
    pub fn new(header: &Header) -> io::Result<Self> {
        let invalid = |problem: String| io::Error::new(io::ErrorKind::InvalidData, problem);
        if header.link == LinkKind::Bus {
            return Err(invalid("expected one board, and this is a bus".to_owned()));
        }
        let table = header.table.clone().unwrap_or_default();
        let port = PortName::new(header.port.as_deref().unwrap_or("capture"));
        let mut setup =
            TableSetup::new(table.number.unwrap_or(1).max(1), Source::Port(port.clone()));
        setup.settings = settings(&table).map_err(invalid)?;
        Ok(Self::of(port, vec![setup], Link::single()))
    }

    /// A replay of a capture of a bus with these boards; [`addresses`] finds them. Their tables are
    /// numbered in the order of the addresses, from the number in the header.
    ///
    /// # Errors
    ///
    /// If the header asks for a FEN that is none.
    pub fn bus(header: &Header, boards: &[Address]) -> io::Result<Self> {
        let invalid = |problem: String| io::Error::new(io::ErrorKind::InvalidData, problem);
        let table = header.table.clone().unwrap_or_default();
        let settings = settings(&table).map_err(invalid)?.on_bus();
        let mut boards = boards.to_vec();
        boards.sort_unstable();
        let numbered = (table.number.unwrap_or(1).max(1)..).zip(&boards);
        let tables = numbered.map(|(number, board)| TableSetup {
            settings: settings.clone(),
            ..TableSetup::new(number, Source::Board(board.to_string()))
        });
        let port = PortName::new(header.port.as_deref().unwrap_or("capture"));
        let tables = tables.collect();
        Ok(Self::of(port, tables, Link::bus(boards)))
    }

    fn of(port: PortName, tables: Vec<TableSetup>, link: Link) -> Self {
        let mut hall = Hall::new(HallSetup { tables, first_event: 1 });
        hall.handle(Timestamp::ZERO, Input::PortOpened { port: port.clone() });
        Self { link, port, hall, last_t: 0 }
    }

    /// Takes one line of the capture and hands every event it causes to `event`, with the state of
    /// the hall after it.
    pub fn line(&mut self, line: &Line, event: &mut impl FnMut(&Recorded)) {
        self.wake_until(line.t, event);
        self.last_t = line.t;
        let at = Timestamp::from_millis(line.t);
        match &line.record {
            Record::Rx(bytes) => {
                let now = at_duration(line.t);
                match &mut self.link {
                    Link::Single(single) => single.handle_bytes(now, bytes),
                    Link::Bus(bus) => bus.handle_bytes(now, bytes),
                }
                self.forward(at);
            }
            Record::Port(false) => {
                let reason = "the capture says so".to_owned();
                self.hall.handle(at, Input::PortClosed { port: self.port.clone(), reason });
            }
            Record::Port(true) => {
                match &mut self.link {
                    Link::Single(_) => self.link = Link::single(),
                    Link::Bus(bus) => bus.reopen(at_duration(line.t)),
                }
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
        while let Some(input) = self.link.poll_input(&self.port) {
            self.hall.handle(at, input);
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

/// Links that are never woken ask nothing: nobody would answer.
impl Link {
    fn single() -> Self {
        Self::Single(Box::new(SingleLink::new(SingleSettings::replay(), at_duration(0))))
    }

    fn bus(expected: Vec<Address>) -> Self {
        let settings = BusSettings { expected, ..BusSettings::default() };
        Self::Bus(Box::new(BusLink::new(settings, at_duration(0))))
    }

    fn poll_input(&mut self, port: &PortName) -> Option<Input> {
        let port = || port.clone();
        match self {
            Self::Single(link) => {
                link.poll_event().map(|event| Input::Link { port: port(), event })
            }
            Self::Bus(link) => link.poll_event().map(|event| Input::Bus { port: port(), event }),
        }
    }
}

/// The boards that speak in the lines of a capture of a bus, in the order of their addresses. One
/// that is heard only once may be noise.
pub fn addresses<'a>(lines: impl IntoIterator<Item = &'a Line>) -> Vec<Address> {
    let mut deframer = BusDeframer::new();
    let mut heard: BTreeMap<Address, usize> = BTreeMap::new();
    for line in lines {
        if let Record::Rx(bytes) = &line.record {
            for piece in bytes.chunks(READ_PIECE) {
                deframer.push(piece);
                for reply in deframer.by_ref().flatten() {
                    *heard.entry(reply.address).or_default() += 1;
                }
            }
        }
    }
    heard.into_iter().filter(|&(_, times)| times > 1).map(|(address, _)| address).collect()
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

/// Bytes read at a time, far below what the deframer may hold.
const READ_PIECE: usize = 1024;

/// How long the timers run on after a capture's last line: longer than any of them.
pub const AFTERWARDS_MS: u64 = 10_000;
