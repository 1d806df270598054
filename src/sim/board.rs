//! A virtual board: men on 64 fields, sensors, a clock at its socket, and a host at its line.
//!
//! The board is a state machine without time of its own: acts and bytes go in with the time they happen,
//! bytes come out, and [`VirtualBoard::poll_timeout`] says when it wants to be woken. All of it is
//! seen the way a real board sees it, that is late and one field at a time.

mod identity;
mod line;
mod memory;
mod sensor;
mod socket;

pub use identity::BoardSettings;

use std::time::Duration;

use dgt_protocol::{Command, CommandReader, Dump, Field, Message, PieceCode, Side};
use shakmaty::{Board, Color, Piece, Role, Square};

use self::{line::Line, memory::Memory, sensor::Sensors, socket::Socket};
use crate::sim::{clock::VirtualClock, hand::script::Action, random::Random};

/// At which hand of White the board's connector lies; this decides what the board calls field 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Connector {
    /// At White's left hand, the normal way: field 0 is a8.
    #[default]
    LeftOfWhite,
    /// At White's right hand: field 0 is h1.
    RightOfWhite,
}

impl Connector {
    /// The field under a square.
    pub fn field(self, sq: Square) -> Field {
        match self {
            Self::LeftOfWhite => field_under(sq),
            Self::RightOfWhite => field_under(sq).turned(),
        }
    }

    /// The side of a clock that stands at the connector's end of the board, for this player.
    pub fn clock_side(self, color: Color) -> Side {
        match (self, color) {
            (Self::LeftOfWhite, Color::White) | (Self::RightOfWhite, Color::Black) => Side::Left,
            _ => Side::Right,
        }
    }
}

/// What the board reports without being asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
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
    reader: CommandReader,
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
            mode: Mode::Idle,
            plugged: true,
            reader: CommandReader::new(),
            sensors: Sensors::new(settings.scan),
            socket: Socket::new(settings.clock_poll),
            memory: Memory::default(),
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
        if !self.plugged {
            return;
        }
        self.reader.push(bytes);
        // A board ignores what it does not understand.
        while let Some(result) = self.reader.next() {
            if let Ok(command) = result {
                self.obey(now, &command);
            }
        }
    }

    /// Does everything that is due.
    pub fn handle_timeout(&mut self, now: Duration) {
        self.advance(now);
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
        [self.next_look(), self.line.next()].into_iter().flatten().min()
    }

    /// The side of the clock this player presses.
    pub fn clock_side(&self, color: Color) -> Side {
        let color = if self.settings.clock_turned { !color } else { color };
        self.settings.connector.clock_side(color)
    }

    fn next_look(&self) -> Option<Duration> {
        let clock = self.socket.next_look(self.mode == Mode::Update);
        [self.sensors.next(), clock].into_iter().flatten().min()
    }

    /// Looks at fields and clock in the order of time, then lets the line run.
    fn advance(&mut self, now: Duration) {
        if !self.plugged {
            return;
        }
        while let Some(at) = self.next_look().filter(|&at| at <= now) {
            if let Some((field, code)) = self.sensors.look(at) {
                self.notice(at, field, code);
            }
            self.read_clock(at);
        }
        self.line.run(now);
    }

    fn notice(&mut self, at: Duration, field: Field, code: PieceCode) {
        self.memory.change(field, code);
        if self.mode == Mode::Idle {
            return;
        }
        if self.random.chance(self.settings.lost_per_mille) {
            self.lost += 1;
            return;
        }
        self.send(at, &Message::FieldUpdate { field, code });
    }

    fn read_clock(&mut self, at: Duration) {
        let always = self.mode == Mode::Update;
        if !matches!(self.mode, Mode::Update | Mode::UpdateNice) {
            return self.socket.forget(at);
        }
        for message in self.socket.look(at, always) {
            self.send(at, &Message::Clock(message));
        }
    }

    fn obey(&mut self, now: Duration, command: &Command) {
        match command {
            Command::Reset | Command::ToBusMode => self.mode = Mode::Idle,
            Command::Update => self.enter(now, Mode::Update),
            Command::UpdateBoard => self.enter(now, Mode::UpdateBoard),
            Command::UpdateNice => self.enter(now, Mode::UpdateNice),
            Command::ReadBoard => {
                let dump = Message::Dump(Dump::new(self.sensors.seen()));
                self.send(now + DUMP_DELAY, &dump);
            }
            Command::ReadClock => {
                let times = self.socket.reading(now);
                self.send(now, &Message::Clock(times));
            }
            Command::ReadMemory => {
                let memory = Message::Memory(self.memory.read_out());
                self.send(now, &memory);
            }
            Command::Leds(_) => {}
            Command::ToClock(command) => {
                if matches!(self.mode, Mode::Update | Mode::UpdateNice) {
                    self.socket.obey(now, command);
                }
            }
            _ => {
                if let Some(answer) = self.settings.answer(command) {
                    self.send(now, &answer);
                }
            }
        }
    }

    fn enter(&mut self, now: Duration, mode: Mode) {
        self.mode = mode;
        self.socket.tell_again(now);
    }

    fn send(&mut self, from: Duration, message: &Message) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.line.send(from, &bytes);
    }

    /// The board finds out what stands on it and waits for its host.
    fn power_up(&mut self, now: Duration) {
        self.mode = Mode::Idle;
        self.reader = CommandReader::new();
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

/// The code of a man.
pub fn code_of(piece: Piece) -> PieceCode {
    let (white, black) = match piece.role {
        Role::Pawn => (PieceCode::WhitePawn, PieceCode::BlackPawn),
        Role::Knight => (PieceCode::WhiteKnight, PieceCode::BlackKnight),
        Role::Bishop => (PieceCode::WhiteBishop, PieceCode::BlackBishop),
        Role::Rook => (PieceCode::WhiteRook, PieceCode::BlackRook),
        Role::Queen => (PieceCode::WhiteQueen, PieceCode::BlackQueen),
        Role::King => (PieceCode::WhiteKing, PieceCode::BlackKing),
    };
    piece.color.fold_wb(white, black)
}

/// The field of a square in normal use, counted from a8 in reading order.
fn field_under(sq: Square) -> Field {
    let number = (7 - u8::from(sq.rank())) * 8 + u8::from(sq.file());
    Field::new(number).expect("a number below 64")
}

/// From a request to the first byte of the dump: with its time on the line a little over a tenth of a
/// second, as hosts have measured.
const DUMP_DELAY: Duration = Duration::from_millis(34);

#[cfg(test)]
mod tests;
