//! A virtual board: men on 64 fields, sensors, a clock at its socket, and a host at its line.
//!
//! The board is a state machine without time of its own: acts and bytes go in with the time they happen,
//! bytes come out, and [`VirtualBoard::poll_timeout`] says when it wants to be woken. All of it is
//! seen the way a real board sees it, that is late and one field at a time.
//!
//! A board that was switched on is in bus mode. The first command of single-board mode takes it out of
//! there, which is why one board alone on a line never needs to know.

mod bus;
mod connector;
mod identity;
mod line;
mod memory;
mod sensor;
mod single;
mod socket;

pub use connector::{Connector, code_of};
pub use identity::{BoardSettings, Generation};
pub(in crate::sim) use line::{BYTE, RUN};

use std::time::Duration;

use dgt_protocol::{Field, HostCommand, HostReader, PieceCode, Side};
use shakmaty::{Board, Color, Piece, Square};

use self::{bus::BusSide, line::Line, memory::Memory, sensor::Sensors, socket::Socket};
use crate::sim::{clock::VirtualClock, hand::script::Action, random::Random};

/// What the board listens to, and what it reports without being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Nothing; it answers commands of a bus.
    Bus,
    /// Nothing.
    Idle,
    /// Fields, and the clock at least once a second.
    Update,
    /// Fields only.
    UpdateBoard,
    /// Fields, and the clock when it changed.
    UpdateNice,
}

/// A board with men on it, a host at its line, and perhaps a clock at its socket.
///
/// Times are durations since an origin of the caller and must not run backwards. Every call first does
/// what was due before it.
#[derive(Clone, Debug)]
pub struct VirtualBoard {
    settings: BoardSettings,
    random: Random,
    mode: Mode,
    plugged: bool,
    /// The board restarts and is deaf and blind until then.
    asleep_until: Option<Duration>,
    reader: HostReader,
    bus: BusSide,
    sensors: Sensors,
    socket: Socket,
    memory: Memory,
    line: Line,
    lost: u64,
}

impl VirtualBoard {
    /// An empty board that was just switched on.
    pub fn new(settings: BoardSettings, now: Duration) -> Self {
        let mut board = Self {
            random: Random::new(settings.seed),
            mode: Mode::Bus,
            plugged: true,
            asleep_until: None,
            reader: HostReader::new(),
            bus: BusSide::new(&settings),
            sensors: Sensors::new(settings.scan),
            socket: Socket::new(settings.clock_poll),
            memory: Memory::new(settings.generation != Generation::First),
            line: Line::default(),
            lost: 0,
            settings,
        };
        board.power_up(now);
        board
    }

    /// The board's own facts.
    pub fn settings(&self) -> &BoardSettings {
        &self.settings
    }

    /// What really stands on a field, whether the board has noticed or not.
    pub fn code(&self, field: Field) -> PieceCode {
        self.sensors.standing(field)
    }

    /// Field reports that were lost on purpose.
    pub fn lost_reports(&self) -> u64 {
        self.lost
    }

    /// The clock at the socket.
    pub fn clock(&self) -> Option<&VirtualClock> {
        self.socket.clock()
    }

    /// Puts a clock at the socket, or takes it away.
    pub fn plug_clock(&mut self, now: Duration, clock: Option<VirtualClock>) {
        self.advance(now);
        self.socket.plug(now, clock);
    }

    /// Puts these men on the board at once, all of them seen already, as after switching it on.
    pub fn set_up(&mut self, now: Duration, men: &Board) {
        self.advance(now);
        for sq in Square::ALL {
            let code = men.piece_at(sq).map_or(PieceCode::Empty, code_of);
            self.sensors.set(now, self.settings.connector.field(sq), code);
        }
        self.sensors.see_everything();
        self.memory.power_up(&self.sensors.seen());
    }

    /// Puts a man on a square, or takes it off.
    pub fn set_square(&mut self, now: Duration, sq: Square, piece: Option<Piece>) {
        let code = piece.map_or(PieceCode::Empty, code_of);
        self.set_field(now, self.settings.connector.field(sq), code);
    }

    /// Puts anything on a field that a board can tell apart.
    pub fn set_field(&mut self, now: Duration, field: Field, code: PieceCode) {
        self.advance(now);
        self.sensors.set(now, field, code);
    }

    /// Does what a hand does.
    pub fn perform(&mut self, now: Duration, action: &Action) {
        self.advance(now);
        match action {
            Action::Lift(sq) => self.set_square(now, *sq, None),
            Action::Place(sq, piece) => self.set_square(now, *sq, Some(*piece)),
            Action::Press(color) => {
                let side = self.clock_side(*color);
                self.socket.handle_clock(now, |clock| clock.press(side, now));
                self.note_time(now, side);
            }
            Action::StartClock => self.socket.handle_clock(now, |clock| clock.start(now)),
            Action::StopClock => self.socket.handle_clock(now, |clock| clock.stop(now)),
            Action::SetClock(control) => {
                let white = self.clock_side(Color::White);
                let to_move = self.socket.clock().map_or(white, VirtualClock::to_move);
                let clock = VirtualClock::new(control.clone(), to_move, now);
                self.socket.plug(now, Some(clock));
            }
            Action::Unplug => {
                self.plugged = false;
                self.line.cut();
            }
            Action::Replug => {
                self.plugged = true;
                self.power_up(now);
            }
        }
    }

    /// Takes bytes from the host.
    pub fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        self.advance(now);
        if !self.plugged || self.asleep_until.is_some() {
            return;
        }
        self.reader.push(bytes);
        // A board ignores what it does not understand.
        while let Some(result) = self.reader.next() {
            match result {
                Ok(HostCommand::Single(command)) => {
                    if self.mode == Mode::Bus {
                        self.mode = Mode::Idle;
                    }
                    self.obey(now, &command);
                }
                Ok(HostCommand::Bus(command)) => self.hear(now, command),
                Err(_) => {}
            }
        }
    }

    /// Does everything that is due.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.advance(now);
    }

    /// The next bytes that go out on the line, and when the first of them does.
    ///
    /// On a line that is shared they are taken as soon as they are said, and meet there.
    pub(super) fn poll_speech(&mut self) -> Option<(Duration, Vec<u8>)> {
        self.line.take()
    }

    /// The next bytes that have come down the line, at most as many as an adapter hands on at once.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.line.poll()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    pub fn poll_timeout(&self) -> Option<Duration> {
        if !self.plugged {
            return None;
        }
        [self.next_act(), self.line.next()].into_iter().flatten().min()
    }

    /// The side of the clock this player presses.
    pub fn clock_side(&self, color: Color) -> Side {
        let color = if self.settings.clock_turned { !color } else { color };
        self.settings.connector.clock_side(color)
    }

    /// When the board does something of its own accord.
    fn next_act(&self) -> Option<Duration> {
        if self.asleep_until.is_some() {
            return self.asleep_until;
        }
        let clock = self.socket.next_look(self.mode == Mode::Update);
        let speech = self.bus.next(self.line.busy_until());
        [self.sensors.next(), clock, speech].into_iter().flatten().min()
    }

    /// Looks at fields and clock in the order of time, then lets the line run.
    fn advance(&mut self, now: Duration) {
        if !self.plugged {
            return;
        }
        while let Some(at) = self.next_act().filter(|&at| at <= now) {
            if self.asleep_until.take().is_some() {
                self.power_up(at);
                continue;
            }
            if let Some((field, code)) = self.sensors.look(at) {
                self.notice(at, field, code);
            }
            self.read_clock(at);
            self.speak(at);
        }
        self.line.run(now);
    }

    /// The board finds out what stands on it and waits for its host.
    fn power_up(&mut self, now: Duration) {
        self.mode = Mode::Bus;
        self.asleep_until = None;
        self.reader = HostReader::new();
        self.bus.forget();
        self.line.cut();
        self.sensors.see_everything();
        self.memory.power_up(&self.sensors.seen());
        self.socket.tell_again(now);
    }

    /// The memory keeps the time of the side that was halted.
    fn note_time(&mut self, now: Duration, side: Side) {
        if let Some(clock) = self.socket.clock().filter(|clock| clock.to_move() != side) {
            let times = clock.reading(now);
            let halted = match side {
                Side::Left => times.left,
                Side::Right => times.right,
            };
            self.memory.time(side, halted);
        }
    }
}

#[cfg(test)]
mod tests;
