//! The hall: all tables of one daemon behind one state machine.
//!
//! It routes what boards say to the table they stand at and numbers what the tables decide. Like
//! the game core it is pure: time and messages go in, numbered events and requests come out.
//!
//! Drive it like a tracker: [`Hall::handle`] or [`Hall::handle_timeout`], then drain
//! [`Hall::poll_event`] and [`Hall::poll_request`], then ask [`Hall::deadline`].

pub mod adapt;

mod bus;

pub mod event;

pub mod input;

pub mod memory;

mod recall;

pub mod state;

pub mod table;

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
};

pub use event::Recorded;
pub use input::{Input, PortName, Request};
pub use state::{State, TableState};
pub use table::{Player, Sides, Source, TableNumber, TableSetup};

use self::recall::{Recall, Turn};
use crate::game::{Observation, Timestamp, Tracker};

/// What a hall is set up with.
#[derive(Clone, Debug, Default)]
pub struct HallSetup {
    /// The tables, each number once. A second table with a number that is taken is left out.
    pub tables: Vec<TableSetup>,
    /// The number that the first event gets. 1 for a new hall.
    pub first_event: u64,
}

/// All tables of one daemon.
pub struct Hall {
    tables: Vec<Table>,
    state: State,
    events: VecDeque<Recorded>,
    requests: VecDeque<(PortName, Request)>,
    next_event: u64,
    /// Whether boards can be asked for their memory.
    recalls: bool,
}

struct Table {
    setup: TableSetup,
    tracker: Tracker,
    recall: Recall,
    /// The port on which the table's board is now.
    port: Option<PortName>,
    /// Whether that port is a bus.
    on_bus: bool,
    /// A fault stopped this table's tracker; it follows nothing until the arbiter acts.
    quarantined: bool,
}

impl Hall {
    /// A hall with these tables, nothing seen yet.
    pub fn new(setup: HallSetup) -> Self {
        let mut hall = Self {
            tables: Vec::new(),
            state: State::default(),
            events: VecDeque::new(),
            requests: VecDeque::new(),
            next_event: setup.first_event.max(1),
            recalls: false,
        };
        for table in setup.tables {
            if hall.tables.iter().any(|known| known.setup.number == table.number) {
                tracing::debug!(table = table.number, "left out: the number is taken");
                continue;
            }
            hall.state.seat(&table);
            hall.tables.push(Table {
                tracker: Tracker::new(table.settings.clone()),
                setup: table,
                recall: Recall::default(),
                port: None,
                on_bus: false,
                quarantined: false,
            });
        }
        hall
    }

    /// Asks boards that come back in the middle of a game for what they remember. For boards that can
    /// answer, not for recordings of them.
    #[must_use]
    pub fn recalling(mut self) -> Self {
        self.recalls = true;
        self
    }

    /// Everything that is published, as of the last event.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Takes one input that arrived at `at`.
    pub fn handle(&mut self, at: Timestamp, input: Input) {
        match input {
            Input::PortOpened { port } => {
                if let Some(i) = self.bound_to_port(&port) {
                    self.tables[i].port = Some(port);
                }
            }
            Input::PortClosed { port, .. } => {
                while let Some(i) = self.on_port(&port) {
                    self.tables[i].recall.forget_held();
                    self.observe(i, at, &Observation::Link { up: false });
                    self.tables[i].port = None;
                }
            }
            Input::Link { port, event } => self.link(at, port, &event),
            Input::Bus { port, event } => self.bus(at, &port, &event),
        }
    }

    /// Lets everything happen whose time has come by `at`.
    pub fn handle_timeout(&mut self, at: Timestamp) {
        for i in 0..self.tables.len() {
            if self.tables[i].recall.deadline().is_some_and(|due| due <= at) {
                let held = self.tables[i].recall.release();
                self.tell(i, at, &held);
            }
            if self.tables[i].tracker.deadline().is_some_and(|due| due <= at) {
                self.drive(i, at, |tracker| tracker.handle_timeout(at));
            }
        }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout), if nothing else happens before.
    pub fn deadline(&self) -> Option<Timestamp> {
        let tables = self.tables.iter().filter(|table| !table.quarantined);
        tables.flat_map(|table| [table.tracker.deadline(), table.recall.deadline()]).flatten().min()
    }

    /// The next numbered event that has not been handed out.
    pub fn poll_event(&mut self) -> Option<Recorded> {
        self.events.pop_front()
    }

    /// The next request to a port that has not been handed out.
    pub fn poll_request(&mut self) -> Option<(PortName, Request)> {
        self.requests.pop_front()
    }

    fn link(&mut self, at: Timestamp, port: PortName, event: &dgt_protocol::LinkEvent) {
        if let Some(i) = self.bound_to_board_of(event)
            && self.tables[i].port.as_ref() != Some(&port)
        {
            self.tables[i].port = Some(port.clone());
            self.tables[i].on_bus = false;
            // What the board said before it told its name was not listened to.
            self.requests.push_back((port.clone(), Request::Board));
        }
        let Some(i) = self.on_port(&port).or_else(|| self.bound_to_port(&port)) else {
            return;
        };
        if self.tables[i].port.is_none() {
            self.tables[i].port = Some(port);
        }
        if self.tables[i].recall.is_asked() {
            let table = &mut self.tables[i];
            if let Some(notes) = adapt::memory(event) {
                let told = table.recall.remember(at, &notes, &table.setup.settings);
                self.tell(i, at, &told);
            } else if adapt::refuses_memory(event) {
                let held = table.recall.release();
                self.tell(i, at, &held);
            }
        }
        if let Some(observation) = adapt::observation(event) {
            if !self.tables[i].tracker.state().link_up() && adapt::shows_life(event) {
                self.observe(i, at, &Observation::Link { up: true });
            }
            self.observe(i, at, &observation);
        }
    }

    fn bound_to_port(&self, port: &PortName) -> Option<usize> {
        self.tables.iter().position(|t| matches!(&t.setup.source, Source::Port(p) if p == port))
    }

    fn bound_to_board_of(&self, event: &dgt_protocol::LinkEvent) -> Option<usize> {
        self.tables.iter().position(
            |t| matches!(&t.setup.source, Source::Board(serial) if adapt::names_board(event, serial)),
        )
    }

    fn on_port(&self, port: &PortName) -> Option<usize> {
        self.tables.iter().position(|table| table.port.as_ref() == Some(port))
    }

    fn observe(&mut self, i: usize, at: Timestamp, observation: &Observation) {
        let Table { recall, tracker, setup, port, on_bus, .. } = &mut self.tables[i];
        let turn = if self.recalls && !*on_bus {
            recall.take(at, observation, tracker.state(), &setup.settings)
        } else {
            Turn::Pass
        };
        match turn {
            Turn::Pass => self.drive(i, at, |tracker| tracker.handle(at, observation)),
            Turn::Hold => {}
            Turn::Ask => {
                let port = port.clone();
                self.requests.extend(port.map(|port| (port, Request::Memory)));
            }
            Turn::Release => {
                let held = recall.release();
                self.tell(i, at, &held);
            }
        }
    }

    /// Tells a table at `at` what happened before, each thing with its own time.
    fn tell(&mut self, i: usize, at: Timestamp, past: &[(Timestamp, Observation)]) {
        for (then, observation) in past {
            self.drive(i, at, |tracker| tracker.handle(*then, observation));
        }
        self.drive(i, at, |tracker| tracker.handle_timeout(at));
    }

    /// Runs one table's tracker and records what it decided. A panic there is that table's fault
    /// only: it is recorded and the others go on.
    fn drive(&mut self, i: usize, at: Timestamp, step: impl FnOnce(&mut Tracker)) {
        let table = &mut self.tables[i];
        if table.quarantined {
            return;
        }
        if catch_unwind(AssertUnwindSafe(|| step(&mut table.tracker))).is_err() {
            table.quarantined = true;
            tracing::error!(
                table = table.setup.number,
                "a fault of the program: this table is not followed any more; restart boardcast and \
                 report what stands on the board"
            );
        }
        while let Some(event) = table.tracker.poll_event() {
            let recorded = Recorded { id: self.next_event, at, table: table.setup.number, event };
            self.next_event += 1;
            self.state.apply(&recorded);
            self.events.push_back(recorded);
        }
    }
}
