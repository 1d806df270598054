//! Single-board mode: reports and answers.

use std::time::Duration;

use dgt_protocol::{Command, Dump, Field, Message, PieceCode};

use super::{Mode, VirtualBoard};

impl VirtualBoard {
    /// A look at a field found something new.
    pub(super) fn notice(&mut self, at: Duration, field: Field, code: PieceCode) {
        self.memory.change(at, field, &self.sensors.seen());
        if matches!(self.mode, Mode::Bus | Mode::Idle) {
            return;
        }
        if self.random.chance(self.settings.lost_per_mille) {
            self.lost += 1;
            return;
        }
        self.send(at, &Message::FieldUpdate { field, code });
    }

    /// Reads the clock if it is time to.
    pub(super) fn read_clock(&mut self, at: Duration) {
        let always = self.mode == Mode::Update;
        if !matches!(self.mode, Mode::Update | Mode::UpdateNice) {
            return self.socket.forget(at);
        }
        for message in self.socket.look(at, always) {
            self.send(at, &Message::Clock(message));
        }
    }

    /// Does what the host says.
    pub(super) fn obey(&mut self, now: Duration, command: &Command) {
        match command {
            Command::Reset => self.mode = Mode::Idle,
            Command::ToBusMode => self.mode = Mode::Bus,
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
}

/// From a request to the first byte of the dump: with its time on the line a little over a tenth of a
/// second, as hosts have measured.
const DUMP_DELAY: Duration = Duration::from_millis(34);
