//! Several virtual boards on one RS-232 line.
//!
//! Every board hears what the host says. What the boards say meets on one line: two that speak at once
//! are heard as one that says neither. In the host's direction and in the boards' direction a byte takes
//! its time at 9600 baud.

mod wire;

use std::{collections::VecDeque, time::Duration};

use self::wire::Wire;
use crate::sim::{
    board::{BYTE, VirtualBoard},
    device::{Cable, Device},
    performance::Performance,
};

/// A bus with its boards, and the hands that still have something to do on them.
#[derive(Clone, Debug)]
pub struct VirtualBus {
    members: Vec<Member>,
    /// What the host said, piece by piece, and when the last byte of it is heard.
    under_way: VecDeque<(Duration, Vec<u8>)>,
    host_free_at: Duration,
    wire: Wire,
}

#[derive(Clone, Debug)]
struct Member {
    performance: Performance,
    /// When it next does something, looked up whenever something was done to it.
    due: Option<Duration>,
    silent: bool,
}

impl VirtualBus {
    /// A bus with these boards on it.
    pub fn new(performances: impl IntoIterator<Item = Performance>) -> Self {
        let mut bus = Self {
            members: Vec::new(),
            under_way: VecDeque::new(),
            host_free_at: Duration::ZERO,
            wire: Wire::default(),
        };
        for performance in performances {
            let due = performance.poll_timeout();
            bus.members.push(Member { performance, due, silent: false });
        }
        bus
    }

    /// The boards, in the order in which they were put on the bus.
    pub fn boards(&self) -> impl Iterator<Item = &VirtualBoard> {
        self.members.iter().map(|member| member.performance.board())
    }

    /// Whether the hands have nothing left to do on any board.
    pub fn is_over(&self) -> bool {
        self.members.iter().all(|member| member.performance.is_over())
    }

    /// How many bytes were said while another board was speaking.
    pub fn garbled(&self) -> u64 {
        self.wire.garbled()
    }

    fn next(&self) -> Option<Duration> {
        let acts = self.members.iter().filter_map(|member| member.due);
        let heard = self.under_way.front().map(|&(at, _)| at);
        acts.chain(heard).chain(self.wire.next()).min()
    }

    /// Does what is due, in the order of time.
    fn advance(&mut self, now: Duration) {
        while let Some(at) = self.next().filter(|&at| at <= now) {
            // What has arrived at the host by now cannot be changed by what happens now.
            self.wire.run(at);
            self.act(at, |_, member| {
                if member.due.is_some_and(|due| due <= at) {
                    member.performance.handle_timeout(at);
                }
            });
            if let Some((_, bytes)) = self.under_way.pop_front_if(|(heard, _)| *heard <= at) {
                self.act(at, |_, member| {
                    if !member.silent {
                        member.performance.handle_bytes(at, &bytes);
                    }
                });
            }
        }
    }

    /// Does something to every board, and lets those speak that have something to say.
    fn act(&mut self, now: Duration, mut act: impl FnMut(usize, &mut Member)) {
        for (number, member) in self.members.iter_mut().enumerate() {
            act(number, member);
            while let Some((from, bytes)) = member.performance.poll_speech() {
                if !member.silent {
                    self.wire.speak(number, from, &bytes);
                }
            }
            while let Some(cable) = member.performance.poll_cable() {
                if cable == Cable::Pulled {
                    self.wire.cut(now, number);
                }
            }
            member.due = member.performance.poll_timeout();
        }
    }
}

impl Device for VirtualBus {
    fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        self.advance(now);
        // A command of a bus begins with bit 7, so that each is heard when its own last byte is.
        for piece in bytes.chunk_by(|_, next| next & 0x80 == 0) {
            if self.under_way.len() < MOST_PIECES {
                self.host_free_at = self.host_free_at.max(now) + BYTE * piece.len() as u32;
                self.under_way.push_back((self.host_free_at, piece.to_vec()));
            }
        }
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.advance(now);
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.wire.poll()
    }

    fn poll_cable(&mut self) -> Option<Cable> {
        None
    }

    fn poll_timeout(&self) -> Option<Duration> {
        self.next()
    }

    /// The boards have their own power and do not notice.
    fn handle_cable(&mut self, now: Duration, cable: Cable) {
        self.advance(now);
        if cable == Cable::Pulled {
            self.under_way.clear();
            self.host_free_at = now;
            self.wire.cut_all(now);
        }
    }

    fn handle_plug(&mut self, now: Duration, number: usize, cable: Cable) {
        self.advance(now);
        self.act(now, |index, member| {
            if index + 1 == number {
                member.performance.handle_cable(now, cable);
            }
        });
        if cable == Cable::Pulled {
            self.wire.cut(now, number.wrapping_sub(1));
        }
    }

    fn set_silent(&mut self, now: Duration, number: usize, silent: bool) {
        self.advance(now);
        let index = number.wrapping_sub(1);
        if let Some(member) = self.members.get_mut(index) {
            member.silent = silent;
            if silent {
                self.wire.cut(now, index);
            }
        }
    }
}

/// A host that says more than the line can carry is not heard any more.
const MOST_PIECES: usize = 4096;

#[cfg(test)]
mod tests;
