//! The conversation with one board in single-board mode.

mod event;
mod identity;
mod settings;

pub use event::{LinkEvent, Request};
pub use identity::Identity;
pub use settings::SingleSettings;

use alloc::{collections::VecDeque, vec::Vec};
use core::time::Duration;

use super::{outbox::Outbox, timer::Timers};
use crate::{command::Command, fault::Counts, frame::Deframer, message::Message};
use identity::Lesson;

/// Keeps one board talking: a state machine without I/O.
///
/// The link repeats a short handshake until the board says anything at all. Then it sets the
/// update mode, asks for a dump, for the clock and for everything the board knows about itself.
/// From there on it listens; it asks for a dump when field changes have come to rest, after a
/// damaged message and from time to time, and it asks a quiet board for its serial number. A board
/// that does not answer is reported once and tried again slowly.
///
/// Nothing depends on an answer: the messages of a recording pass through all the same.
///
/// ```
/// use core::time::Duration;
/// use dgt_protocol::{LinkEvent, Message, SingleLink, SingleSettings};
///
/// let mut link = SingleLink::new(SingleSettings::cable(), Duration::ZERO);
/// let first = link.poll_timeout().expect("the handshake is planned");
/// link.handle_timeout(first);
/// assert_eq!(link.poll_transmit().as_deref(), Some(&[0x4B][..]));
///
/// link.handle_bytes(first, &[0x93, 0x00, 0x05, 0x01, 0x07]);
/// assert_eq!(link.poll_event(), Some(LinkEvent::Answering));
/// let version = Message::Version { major: 1, minor: 7 };
/// assert_eq!(link.poll_event(), Some(LinkEvent::Message(version)));
/// ```
#[derive(Clone, Debug)]
pub struct SingleLink {
    settings: SingleSettings,
    now: Duration,
    deframer: Deframer,
    presence: Presence,
    identity: Identity,
    unanswered_dumps: u8,
    /// Commands that wait for their turn, each at most once.
    queue: VecDeque<Command>,
    /// The command that waits to be taken by the caller.
    outgoing: Option<Vec<u8>>,
    next_command_at: Duration,
    timers: Timers<{ Timer::ALL.len() }>,
    outbox: Outbox<LinkEvent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    /// Never heard of.
    Unknown,
    Answering,
    Silent,
}

#[derive(Clone, Copy, Debug)]
enum Timer {
    /// The next command may be sent.
    Send,
    /// Try to make the board answer.
    Handshake,
    /// The board was asked who it is and had time to answer.
    Identity,
    /// Field changes have come to rest.
    Settle,
    Period,
    /// A dump was asked for and has not come.
    DumpAnswer,
    KeepAlive,
    Silence,
    Battery,
    /// The memory was asked for and has not come. While armed, nothing else is sent.
    Memory,
}

impl SingleLink {
    /// A link on a port opened at `now`.
    pub fn new(settings: SingleSettings, now: Duration) -> Self {
        let mut link = Self {
            now,
            deframer: Deframer::new(),
            presence: Presence::Unknown,
            identity: Identity::default(),
            unanswered_dumps: 0,
            queue: VecDeque::new(),
            outgoing: None,
            next_command_at: now,
            timers: Timers::new(),
            outbox: Outbox::new(),
            settings,
        };
        link.arm(Timer::Handshake, link.settings.opening_pause);
        let silence = link.settings.opening_pause.saturating_add(link.settings.silent_after);
        link.arm(Timer::Silence, silence);
        link
    }

    /// What the board said about itself so far.
    pub const fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What was seen on the line so far, good and bad.
    pub const fn counts(&self) -> &Counts {
        self.deframer.counts()
    }

    /// Bytes arrived from the board.
    pub fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        self.advance(now);
        for piece in bytes.chunks(READ_PIECE) {
            self.deframer.push(piece);
            while let Some(result) = self.deframer.next() {
                match result {
                    Ok(message) => self.handle_message(message),
                    Err(fault) => {
                        self.emit(LinkEvent::Fault(fault));
                        self.settle_if_answering();
                    }
                }
            }
        }
        self.send_next();
    }

    /// Time passed, perhaps up to the moment of [`poll_timeout`](Self::poll_timeout).
    pub fn handle_timeout(&mut self, now: Duration) {
        self.advance(now);
        for timer in Timer::ALL {
            if self.timers.take_due(timer as usize, self.now) {
                self.fire(timer);
            }
        }
        self.send_next();
    }

    /// Asks the board for something. A board that does not answer now is asked for everything but
    /// its memory as soon as it does.
    pub fn request(&mut self, now: Duration, request: Request) {
        self.advance(now);
        match request {
            Request::Memory if self.presence != Presence::Answering => {
                self.emit(LinkEvent::Unanswered(request));
            }
            _ if self.presence != Presence::Answering => {}
            Request::Dump => self.ask(Command::ReadBoard),
            Request::Clock => self.ask(Command::ReadClock),
            Request::Battery => self.ask(Command::ReadBattery),
            Request::Memory => self.ask(Command::ReadMemory),
            Request::Identity => self.ask_identity(),
        }
        self.send_next();
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<LinkEvent> {
        self.outbox.pop()
    }

    /// The next bytes to send, one command at a time.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        let bytes = self.outgoing.take()?;
        self.plan_next_command();
        Some(bytes)
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) at the latest.
    pub fn poll_timeout(&self) -> Option<Duration> {
        self.timers.next()
    }

    fn handle_message(&mut self, message: Message) {
        // Noise makes unknown messages now and then; they prove nothing.
        if !matches!(message, Message::Unknown { .. }) {
            self.heard();
        }
        match &message {
            Message::FieldUpdate { .. } => self.arm(Timer::Settle, self.settings.settle),
            Message::Dump(_) => {
                self.unanswered_dumps = 0;
                self.disarm(Timer::DumpAnswer);
                self.arm(Timer::Period, self.settings.dump_period);
            }
            Message::Battery(_) => self.arm(Timer::Battery, self.settings.battery_period),
            Message::Memory(_) => self.end_memory(),
            _ => {}
        }
        let mut lesson = self.identity.learn(&message);
        if lesson == Lesson::AnotherBoard {
            self.make_contact();
            lesson = self.identity.learn(&message);
        }
        self.emit(LinkEvent::Message(message));
        let waits = self.timers.is_armed(Timer::Identity as usize);
        if lesson == Lesson::News && (!waits || self.identity.missing().next().is_none()) {
            self.report_identity();
        }
    }

    fn heard(&mut self) {
        if self.presence != Presence::Answering {
            self.presence = Presence::Answering;
            self.emit(LinkEvent::Answering);
            self.make_contact();
        }
        self.expect_life();
    }

    /// Everything a board is asked that has just begun to answer.
    fn make_contact(&mut self) {
        self.identity = Identity::default();
        self.unanswered_dumps = 0;
        self.disarm(Timer::Handshake);
        self.queue.clear();
        self.ask(Command::UpdateNice);
        self.ask(Command::ReadBoard);
        self.ask_identity();
        self.ask(Command::ReadClock);
        self.ask(Command::ReadBattery);
        self.arm(Timer::Period, self.settings.dump_period);
    }

    fn ask_identity(&mut self) {
        Identity::default().missing().for_each(|command| self.ask(command));
        self.arm(Timer::Identity, self.settings.identify_within);
    }

    fn report_identity(&mut self) {
        self.disarm(Timer::Identity);
        self.emit(LinkEvent::Identified(self.identity.clone()));
    }

    fn expect_life(&mut self) {
        if !self.timers.is_armed(Timer::Memory as usize) {
            self.arm(Timer::KeepAlive, self.settings.keep_alive);
            self.arm(Timer::Silence, self.settings.silent_after);
        }
    }

    /// A damaged message may have been a field change, so the board is asked to say it all again.
    fn settle_if_answering(&mut self) {
        if self.presence == Presence::Answering {
            self.timers.arm_if_idle(Timer::Settle as usize, self.now, self.settings.settle);
        }
    }

    fn fire(&mut self, timer: Timer) {
        match timer {
            // What waits is sent after all timers were looked at.
            Timer::Send => {}
            Timer::Handshake => {
                self.ask(Command::UpdateNice);
                self.ask(Command::ReadVersion);
                let retry = match self.presence {
                    Presence::Silent => self.settings.slow_retry,
                    Presence::Unknown | Presence::Answering => self.settings.handshake_retry,
                };
                self.arm(Timer::Handshake, retry);
            }
            Timer::Identity => {
                // An answer may have been lost, or the board may not know it: ask once more.
                for command in self.identity.missing() {
                    self.ask(command);
                }
                if !self.identity.is_empty() {
                    self.report_identity();
                }
            }
            Timer::Settle => self.ask(Command::ReadBoard),
            Timer::Period => {
                self.ask(Command::UpdateNice);
                self.ask(Command::ReadSerialNumber);
                self.ask(Command::ReadBoard);
                self.arm(Timer::Period, self.settings.dump_period);
            }
            Timer::DumpAnswer => {
                self.unanswered_dumps = self.unanswered_dumps.saturating_add(1);
                if self.unanswered_dumps == DUMP_ATTEMPTS {
                    self.emit(LinkEvent::Unanswered(Request::Dump));
                }
                self.ask(Command::ReadBoard);
            }
            Timer::KeepAlive => {
                self.ask(Command::ReadSerialNumber);
                self.arm(Timer::KeepAlive, self.settings.keep_alive);
            }
            Timer::Silence => self.fall_silent(),
            Timer::Battery => {
                self.ask(Command::ReadBattery);
                self.arm(Timer::Battery, self.settings.battery_period);
            }
            Timer::Memory => {
                self.emit(LinkEvent::Unanswered(Request::Memory));
                self.end_memory();
            }
        }
    }

    fn fall_silent(&mut self) {
        self.presence = Presence::Silent;
        self.queue.clear();
        self.timers.disarm_all();
        self.arm(Timer::Handshake, self.settings.slow_retry);
        self.emit(LinkEvent::Silent);
    }

    /// Field changes made while the memory was read are only seen in a dump.
    fn end_memory(&mut self) {
        self.disarm(Timer::Memory);
        self.expect_life();
        self.ask(Command::ReadBoard);
    }

    /// Puts a command into the queue, unless it waits there already.
    fn ask(&mut self, command: Command) {
        if !self.queue.contains(&command) {
            self.queue.push_back(command);
        }
    }

    fn send_next(&mut self) {
        let may_send = self.outgoing.is_none()
            && self.now >= self.next_command_at
            && !self.timers.is_armed(Timer::Memory as usize);
        if may_send && let Some(command) = self.queue.pop_front() {
            let mut bytes = Vec::new();
            command.encode(&mut bytes);
            self.outgoing = Some(bytes);
            self.next_command_at = self.now.saturating_add(self.settings.command_gap);
            match command {
                Command::ReadBoard => self.arm(Timer::DumpAnswer, self.settings.answer_timeout),
                Command::ReadMemory => {
                    self.disarm(Timer::DumpAnswer);
                    self.disarm(Timer::KeepAlive);
                    self.disarm(Timer::Silence);
                    self.arm(Timer::Memory, self.settings.memory_timeout);
                }
                _ => {}
            }
        }
        self.plan_next_command();
    }

    /// The deadline for the next command; none while the caller has yet to take the last one.
    fn plan_next_command(&mut self) {
        let waits = self.outgoing.is_none()
            && !self.queue.is_empty()
            && !self.timers.is_armed(Timer::Memory as usize);
        if waits {
            self.arm(Timer::Send, self.next_command_at.saturating_sub(self.now));
        } else {
            self.disarm(Timer::Send);
        }
    }

    fn emit(&mut self, event: LinkEvent) {
        if !self.outbox.push(event) {
            self.settle_if_answering();
        }
    }

    fn advance(&mut self, now: Duration) {
        self.now = self.now.max(now);
    }

    fn arm(&mut self, timer: Timer, delay: Duration) {
        self.timers.arm(timer as usize, self.now, delay);
    }

    fn disarm(&mut self, timer: Timer) {
        self.timers.disarm(timer as usize);
    }
}

impl Timer {
    const ALL: [Self; 10] = [
        Self::Send,
        Self::Handshake,
        Self::Identity,
        Self::Settle,
        Self::Period,
        Self::DumpAnswer,
        Self::KeepAlive,
        Self::Silence,
        Self::Battery,
        Self::Memory,
    ];
}

/// Unanswered requests for a dump in a row until the caller is told.
const DUMP_ATTEMPTS: u8 = 3;
/// Bytes read at a time, far below what the deframer may hold.
const READ_PIECE: usize = 4096;

#[cfg(test)]
mod tests;
