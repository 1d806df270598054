//! Bus mode: a board that speaks when it is spoken to.

use std::time::Duration;

use dgt_protocol::{Address, BusCommand, BusReply, ChangesForm, Content, Dump, Order, Tag, Target};

use super::{BoardSettings, Generation, Mode, VirtualBoard};
use crate::sim::random::{Random, Span};

/// What a board keeps in mind on a bus.
#[derive(Clone, Debug)]
pub(super) struct BusSide {
    address: Option<Address>,
    random: Random,
    /// The id of the last answer to a request for changes.
    form: ChangesForm,
    ignores_next_ping: bool,
    /// When to answer a ping to all boards.
    pong: Option<Duration>,
    /// A command that came while the board was speaking. There is room for one.
    waiting: Option<BusCommand>,
}

impl BusSide {
    pub(super) fn new(settings: &BoardSettings) -> Self {
        let address = settings.address();
        let number = address.map_or(0, Address::number);
        Self {
            address,
            random: Random::new(settings.seed).branch(u64::from(number)),
            form: ChangesForm::Even,
            ignores_next_ping: false,
            pong: None,
            waiting: None,
        }
    }

    /// Power was lost.
    pub(super) fn forget(&mut self) {
        self.form = ChangesForm::Even;
        self.ignores_next_ping = false;
        self.pong = None;
        self.waiting = None;
    }

    /// When there is something to say or to do, given when the board has said everything else.
    pub(super) fn next(&self, free_at: Duration) -> Option<Duration> {
        let waiting = self.waiting.map(|_| free_at);
        [self.pong, waiting].into_iter().flatten().min()
    }

    fn is_meant(&self, target: Target) -> bool {
        self.address.is_some_and(|address| match target {
            Target::All => true,
            Target::Board(wanted) => wanted == address,
        })
    }
}

impl VirtualBoard {
    /// Takes a command that was on the bus. In single-board mode it is not done: it only leads back to
    /// bus mode.
    pub(super) fn hear(&mut self, now: Duration, command: BusCommand) {
        if !self.bus.is_meant(command.target) {
            return;
        }
        if self.mode != Mode::Bus {
            self.mode = Mode::Bus;
        } else if self.line.busy_until() <= now {
            self.obey_bus(now, command);
        } else if self.bus.waiting.is_none() {
            self.bus.waiting = Some(command);
        }
    }

    /// Says what was put off, if its time has come.
    pub(super) fn speak(&mut self, now: Duration) {
        if self.bus.pong.take_if(|at| *at <= now).is_some() {
            self.reply(now, Content::Pong);
        }
        if self.line.busy_until() <= now
            && let Some(command) = self.bus.waiting.take()
        {
            self.obey_bus(now, command);
        }
    }

    fn obey_bus(&mut self, now: Duration, BusCommand { order, target }: BusCommand) {
        let from = now + self.thinking(now);
        match order {
            Order::ReadClock => self.reply_clock(now, from),
            Order::ReadBoard => self.reply_dump(from),
            Order::ReadChanges => self.reply_changes(from),
            Order::RepeatChanges => {
                let log = self.memory.fetch_again();
                self.reply_log(from, log);
            }
            Order::StartGame => {
                self.memory.start_game(&self.sensors.seen());
                self.reply(now + WRITING_A_START, Content::GameStarted);
            }
            Order::ReadFromStart => {
                let mut log = self.memory.since_start();
                self.close(&mut log);
                self.reply(from, Content::FromStart(log));
            }
            Order::Ping if target == Target::All => {
                if !std::mem::take(&mut self.bus.ignores_next_ping) {
                    self.bus.pong = Some(now + BEFORE_A_PONG.even(&mut self.bus.random));
                }
            }
            Order::Ping => self.reply(from, Content::Pong),
            Order::IgnoreNextPing => {
                self.bus.ignores_next_ping = true;
                self.reply(from, Content::Pong);
            }
            Order::EndBusMode => {
                self.mode = Mode::Idle;
                self.socket.tell_again(now);
            }
            Order::Reset => {
                self.bus.forget();
                self.asleep_until = Some(now + RESTARTING.even(&mut self.bus.random));
            }
            Order::ReadAll => {
                self.reply_changes(from);
                self.reply_clock(now, from);
                self.reply_dump(from);
            }
            _ => {
                if let Some(content) = self.settings.bus_answer(order) {
                    self.reply(from, content);
                }
            }
        }
    }

    /// How long the board takes to answer: longer while it writes to its memory.
    fn thinking(&mut self, now: Duration) -> Duration {
        let random = &mut self.bus.random;
        THINKING.even(random)
            + if self.memory.is_writing(now) { WRITING.even(random) } else { Duration::ZERO }
    }

    fn reply_clock(&mut self, now: Duration, from: Duration) {
        let reading = self.socket.reading(now);
        self.reply(from, Content::Clock(reading));
    }

    fn reply_dump(&mut self, from: Duration) {
        let dump = Dump::new(self.sensors.seen());
        self.reply(from, Content::Dump(dump));
    }

    fn reply_changes(&mut self, from: Duration) {
        if self.settings.generation == Generation::Newer {
            self.bus.form = match self.bus.form {
                ChangesForm::Odd => ChangesForm::Even,
                ChangesForm::Even => ChangesForm::Odd,
            };
        } else {
            self.bus.form = ChangesForm::Odd;
        }
        let log = self.memory.fetch();
        self.reply_log(from, log);
    }

    fn reply_log(&mut self, from: Duration, mut log: Vec<u8>) {
        self.close(&mut log);
        self.reply(from, Content::Changes { form: self.bus.form, log });
    }

    /// Newer boards close what they send with an end tag, unless there is nothing to send.
    fn close(&self, log: &mut Vec<u8>) {
        if self.settings.generation == Generation::Newer && !log.is_empty() {
            Tag::End.encode(log);
        }
    }

    fn reply(&mut self, from: Duration, content: Content) {
        let Some(address) = self.bus.address else { return };
        let mut bytes = Vec::new();
        BusReply { address, content }.encode(&mut bytes);
        self.line.send(from, &bytes);
    }
}

/// From a command to the first byte of the answer.
const THINKING: Span = Span::ms(1, 4);
/// The longest that writing to the memory delays an answer.
const WRITING: Span = Span::ms(0, 16);
const WRITING_A_START: Duration = Duration::from_millis(70);
/// Boards that hear a ping for all answer at different times.
const BEFORE_A_PONG: Span = Span::ms(0, 1100);
/// How long a restart takes.
const RESTARTING: Span = Span::ms(2000, 3000);

#[cfg(test)]
mod tests;
