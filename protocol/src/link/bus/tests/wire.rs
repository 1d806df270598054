//! A bus on virtual time: 9600 baud, boards that answer 5 ms after a command, and collisions.

use alloc::{collections::VecDeque, vec, vec::Vec};
use core::time::Duration;

use super::super::*;
use crate::{
    BusCommand, ChangesForm, ClockMessage, ClockSide, ClockTimes, Dump, Field, HostCommand,
    HostReader, Lever, PieceCode, Tag, Target,
};

#[expect(clippy::struct_excessive_bools, reason = "a test sets each on its own")]
pub(super) struct Board {
    pub(super) address: Address,
    pub(super) on: bool,
    pub(super) in_bus_mode: bool,
    pub(super) heard: Vec<(Duration, Order)>,
    /// This many change answers arrive with a broken byte.
    pub(super) break_answers: u32,
    /// This many commands for changes are not heard.
    pub(super) deaf: u32,
    /// Whether the board knows how to repeat changes.
    pub(super) repeats: bool,
    pub(super) unplug_after_next_reading: bool,
    /// Readings of changes that came before the last ones had arrived.
    pub(super) destroyed: usize,
    arrived: bool,
    ignores_next_ping: bool,
    codes: [PieceCode; 64],
    form: ChangesForm,
    /// Everything since the last start tag that was read.
    history: Vec<u8>,
    fresh: Vec<u8>,
    last: Vec<u8>,
}

impl Board {
    fn new(number: u16) -> Self {
        Self {
            address: address(number),
            on: true,
            in_bus_mode: true,
            heard: Vec::new(),
            break_answers: 0,
            deaf: 0,
            repeats: true,
            unplug_after_next_reading: false,
            destroyed: 0,
            arrived: true,
            ignores_next_ping: false,
            codes: [PieceCode::Empty; 64],
            form: ChangesForm::Odd,
            history: Vec::new(),
            fresh: Vec::new(),
            last: Vec::new(),
        }
    }

    pub(super) fn change(&mut self, field: u8, code: PieceCode) {
        self.codes[usize::from(field)] = code;
        let field = Field::new(field).unwrap();
        Tag::FieldChange { field, code, quick: false }.encode(&mut self.fresh);
        self.fresh.truncate(7000);
    }

    pub(super) fn count(&self, order: Order) -> usize {
        self.heard.iter().filter(|&&(_, heard)| heard == order).count()
    }

    /// The answer, if there is one, and how long the board thinks about it.
    fn obey(&mut self, now: Duration, command: BusCommand, random: u64) -> Option<Answer> {
        let all = command.target == Target::All;
        if !self.on || !all && command.target != Target::Board(self.address) {
            return None;
        }
        if !self.in_bus_mode {
            self.in_bus_mode = true;
            return None;
        }
        if command.order == Order::ReadChanges && self.deaf > 0 {
            self.deaf -= 1;
            return None;
        }
        self.heard.push((now, command.order));
        let mut delay = ms(5);
        let content = match command.order {
            Order::Ping if all => {
                if core::mem::take(&mut self.ignores_next_ping) {
                    return None;
                }
                delay = ms(random % 1100);
                Content::Pong
            }
            Order::Ping => Content::Pong,
            Order::IgnoreNextPing => {
                self.ignores_next_ping = true;
                Content::Pong
            }
            Order::ReadChanges => {
                self.destroyed += usize::from(!self.arrived);
                self.arrived = false;
                self.last = core::mem::take(&mut self.fresh);
                self.history.extend(&self.last);
                self.form = match self.form {
                    ChangesForm::Odd => ChangesForm::Even,
                    ChangesForm::Even => ChangesForm::Odd,
                };
                if core::mem::take(&mut self.unplug_after_next_reading) {
                    self.on = false;
                    return None;
                }
                Content::Changes { form: self.form, log: self.last.clone() }
            }
            Order::RepeatChanges if self.repeats => {
                Content::Changes { form: self.form, log: self.last.clone() }
            }
            Order::ReadClock => {
                let side = ClockSide::from_seconds(5400);
                Content::Clock(ClockMessage::Times(ClockTimes {
                    right: side,
                    left: side,
                    running: true,
                    lever: Lever::LeftHigh,
                    battery_low: false,
                    connected: true,
                    turn_bits: 0x08,
                }))
            }
            Order::ReadBoard => Content::Dump(Dump::new(self.codes)),
            Order::StartGame => {
                self.history.clear();
                Tag::StartGame.encode(&mut self.fresh);
                delay = ms(75);
                Content::GameStarted
            }
            Order::ReadFromStart => Content::FromStart(self.history.clone()),
            Order::ReadVersion => Content::Version(Some((1, 6))),
            _ => return None,
        };
        let is_changes = matches!(content, Content::Changes { .. });
        let broken = is_changes && self.break_answers > 0;
        self.break_answers -= u32::from(broken);
        let mut bytes = Vec::new();
        BusReply { address: self.address, content }.encode(&mut bytes);
        Some(Answer { delay, bytes, broken, is_changes })
    }
}

struct Answer {
    delay: Duration,
    bytes: Vec<u8>,
    broken: bool,
    is_changes: bool,
}

pub(super) struct Wire {
    pub(super) boards: Vec<Board>,
    pub(super) collisions: usize,
    pub(super) broken_percent: u64,
    pub(super) lost_percent: u64,
    reader: HostReader,
    commands: VecDeque<(Duration, Vec<u8>)>,
    answers: Vec<Transmission>,
    random: u64,
}

struct Transmission {
    start: Duration,
    bytes: Vec<u8>,
    sent: usize,
    collided: bool,
    /// The board whose changes these are.
    changes_of: Option<usize>,
}

impl Transmission {
    fn end(&self) -> Duration {
        self.start + line_time(self.bytes.len())
    }

    /// When the next piece has arrived; adapters hand bytes over in pieces of some milliseconds.
    fn next_piece(&self) -> Duration {
        self.start + line_time((self.sent + PIECE).min(self.bytes.len()))
    }
}

impl Wire {
    pub(super) fn seed(&mut self, seed: u64) {
        self.random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    }

    /// What is under way does not arrive.
    pub(super) fn cut(&mut self) {
        self.commands.clear();
        self.answers.clear();
        self.reader = HostReader::new();
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.next_random() % 100 < percent
    }

    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 8
    }

    fn send(&mut self, now: Duration, bytes: Vec<u8>) {
        self.commands.push_back((now + line_time(bytes.len()), bytes));
    }

    fn next_at(&self) -> Option<Duration> {
        let commands = self.commands.iter().map(|&(at, _)| at);
        commands.chain(self.answers.iter().map(Transmission::next_piece)).min()
    }

    /// What reaches the host at this moment.
    fn advance(&mut self, now: Duration) -> Vec<u8> {
        while self.commands.front().is_some_and(|&(at, _)| at <= now) {
            let (at, bytes) = self.commands.pop_front().unwrap();
            if !self.chance(self.lost_percent) {
                self.hear(at, &bytes);
            }
        }
        let Some(index) = self.answers.iter().position(|answer| answer.next_piece() <= now) else {
            return Vec::new();
        };
        let answer = &mut self.answers[index];
        let end = (answer.sent + PIECE).min(answer.bytes.len());
        let mut piece = answer.bytes[answer.sent..end].to_vec();
        if answer.collided {
            for byte in &mut piece {
                *byte |= 0x55;
            }
        }
        answer.sent = end;
        if end == answer.bytes.len() {
            let answer = self.answers.swap_remove(index);
            if let Some(board) = answer.changes_of.filter(|_| !answer.collided) {
                self.boards[board].arrived = true;
            }
        }
        piece
    }

    fn hear(&mut self, at: Duration, bytes: &[u8]) {
        self.reader.push(bytes);
        while let Some(command) = self.reader.next() {
            let Ok(HostCommand::Bus(command)) = command else {
                panic!("a bus link sends whole bus commands");
            };
            for index in 0..self.boards.len() {
                let random = self.next_random();
                if let Some(answer) = self.boards[index].obey(at, command, random) {
                    self.answer(at, index, answer);
                }
            }
        }
    }

    fn answer(&mut self, at: Duration, index: usize, mut answer: Answer) {
        let broken = answer.broken || self.chance(self.broken_percent);
        if broken {
            let position = self.next_random() as usize % answer.bytes.len();
            answer.bytes[position] ^= 0x04;
        }
        let mut transmission = Transmission {
            start: at + answer.delay,
            bytes: answer.bytes,
            sent: 0,
            collided: false,
            changes_of: Some(index).filter(|_| answer.is_changes && !broken),
        };
        for other in &mut self.answers {
            if other.start < transmission.end() && transmission.start < other.end() {
                self.collisions += 1;
                other.collided = true;
                transmission.collided = true;
            }
        }
        self.answers.push(transmission);
    }
}

/// A link and a bus with one clock for both.
pub(super) struct Pair {
    pub(super) now: Duration,
    pub(super) link: BusLink,
    pub(super) wire: Wire,
    pub(super) events: Vec<(Duration, BusEvent)>,
    /// Whether the caller takes events.
    pub(super) listening: bool,
}

impl Pair {
    pub(super) fn new(boards: u16) -> Self {
        Self::with(boards, BusSettings::default())
    }

    pub(super) fn with(boards: u16, settings: BusSettings) -> Self {
        let wire = Wire {
            boards: (1..=boards).map(Board::new).collect(),
            collisions: 0,
            broken_percent: 0,
            lost_percent: 0,
            reader: HostReader::new(),
            commands: VecDeque::new(),
            answers: vec![],
            random: 0x1234_5678_9ABC_DEF1,
        };
        let link = BusLink::new(settings, Duration::ZERO);
        Self { now: Duration::ZERO, link, wire, events: Vec::new(), listening: true }
    }

    pub(super) fn run_until(&mut self, end: Duration) {
        loop {
            while self.listening
                && let Some(event) = self.link.poll_event()
            {
                self.events.push((self.now, event));
            }
            while let Some(bytes) = self.link.poll_transmit() {
                self.wire.send(self.now, bytes);
            }
            let arrival = self.wire.next_at();
            let deadline = self.link.poll_timeout();
            let Some(next) = arrival.into_iter().chain(deadline).min().filter(|&at| at <= end)
            else {
                self.now = end;
                return;
            };
            // A link that waited for its caller may ask for a moment that has passed.
            self.now = self.now.max(next);
            if arrival == Some(next) {
                let bytes = self.wire.advance(next);
                self.link.handle_bytes(self.now, &bytes);
            } else {
                self.link.handle_timeout(self.now);
            }
        }
    }

    pub(super) fn run_for(&mut self, span: Duration) {
        self.run_until(self.now + span);
    }

    pub(super) fn forget(&mut self) {
        self.events.clear();
        self.wire.boards.iter_mut().for_each(|board| board.heard.clear());
    }

    pub(super) fn count(&self, wanted: impl Fn(&BusEvent) -> bool) -> usize {
        self.events.iter().filter(|(_, event)| wanted(event)).count()
    }

    pub(super) fn board_events(
        &self,
        wanted: impl Fn(&BoardEvent) -> bool,
    ) -> Vec<(Duration, Address)> {
        let events = self.events.iter().filter_map(|(at, event)| match event {
            BusEvent::Board { address, event } if wanted(event) => Some((*at, *address)),
            _ => None,
        });
        events.collect()
    }

    pub(super) fn changes(&self, number: u16) -> impl Iterator<Item = &Changes> {
        self.events.iter().filter_map(move |(_, event)| match event {
            BusEvent::Board { address, event: BoardEvent::Changes(changes) }
                if address.number() == number =>
            {
                Some(changes)
            }
            _ => None,
        })
    }

    pub(super) fn tags(&self, number: u16) -> Vec<Tag> {
        self.changes(number).flat_map(|changes| changes.tags.iter().copied()).collect()
    }

    /// The tags of a board that came with a log from the start.
    pub(super) fn told_again(&self, number: u16) -> Vec<Tag> {
        let logs = self.events.iter().filter_map(|(_, event)| match event {
            BusEvent::Board { address, event: BoardEvent::FromStart { tags, .. } }
                if address.number() == number =>
            {
                Some(tags)
            }
            _ => None,
        });
        logs.flatten().copied().collect()
    }

    pub(super) fn lost(&self, number: u16) -> usize {
        let lost = self.board_events(|event| *event == BoardEvent::ChangesLost);
        lost.iter().filter(|(_, address)| address.number() == number).count()
    }

    /// Mean and longest time between two readings of the changes of a board, in ms.
    pub(super) fn polling_cycle(&self) -> (u128, u128) {
        let mut gaps = Vec::new();
        for board in self.wire.boards.iter().filter(|board| board.on) {
            let reads: Vec<_> = board
                .heard
                .iter()
                .filter_map(|&(at, order)| (order == Order::ReadChanges).then_some(at))
                .collect();
            gaps.extend(reads.windows(2).map(|pair| pair[1].abs_diff(pair[0]).as_millis()));
        }
        let sum: u128 = gaps.iter().sum();
        (sum / gaps.len() as u128, gaps.into_iter().max().unwrap())
    }
}

pub(super) fn address(number: u16) -> Address {
    Address::new(number).unwrap()
}

fn line_time(bytes: usize) -> Duration {
    Duration::from_micros(bytes as u64 * 10_000_000 / 9600)
}

pub(super) const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(super) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const PIECE: usize = 16;
