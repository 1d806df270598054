//! A line on virtual time: 9600 baud, boards that answer 5 ms after a command, and collisions.

use alloc::{collections::VecDeque, vec::Vec};
use core::time::Duration;

use super::{
    super::*,
    board::{Answer, Board},
};
use crate::{HostCommand, HostReader};

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
    pub(super) fn new(boards: u16) -> Self {
        Self {
            boards: (1..=boards).map(Board::new).collect(),
            collisions: 0,
            broken_percent: 0,
            lost_percent: 0,
            reader: HostReader::new(),
            commands: VecDeque::new(),
            answers: Vec::new(),
            random: 0x1234_5678_9ABC_DEF1,
        }
    }

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

    pub(super) fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 8
    }

    pub(super) fn send(&mut self, now: Duration, bytes: Vec<u8>) {
        self.commands.push_back((now + line_time(bytes.len()), bytes));
    }

    pub(super) fn next_at(&self) -> Option<Duration> {
        let commands = self.commands.iter().map(|&(at, _)| at);
        commands.chain(self.answers.iter().map(Transmission::next_piece)).min()
    }

    /// What reaches the host at this moment.
    pub(super) fn advance(&mut self, now: Duration) -> Vec<u8> {
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

pub(super) fn address(number: u16) -> Address {
    Address::new(number).unwrap()
}

pub(super) fn line_time(bytes: usize) -> Duration {
    Duration::from_micros(bytes as u64 * 10_000_000 / 9600)
}

pub(super) const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(super) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const PIECE: usize = 16;
