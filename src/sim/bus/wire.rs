//! The line on which all boards of a bus answer.
//!
//! An idle line is at 1. Any board can pull it to 0, so the line is at the lowest level of all who speak.
//! The host's receiver does not know of boards: it waits for a start bit and takes the eight bits after
//! it, whoever they are from.

use std::{collections::VecDeque, time::Duration};

use crate::sim::board::{BYTE, RUN};

/// Bytes of several speakers on one line, on their way to the host.
#[derive(Clone, Debug, Default)]
pub(super) struct Wire {
    /// In the order of their start bits.
    under_way: VecDeque<Spoken>,
    arrived: VecDeque<Vec<u8>>,
    garbled: u64,
}

#[derive(Clone, Copy, Debug)]
struct Spoken {
    start: Duration,
    speaker: usize,
    byte: u8,
}

impl Spoken {
    fn end(self) -> Duration {
        self.start + BYTE
    }

    /// The level this speaker alone would give the line.
    fn level(self, at: Duration) -> bool {
        let Some(since) = at.checked_sub(self.start) else { return true };
        match since.as_nanos() / BIT.as_nanos() {
            0 => false,
            bit @ 1..=8 => self.byte >> (bit - 1) & 1 == 1,
            _ => true,
        }
    }
}

/// The bytes that reach the host together next.
struct Run {
    bytes: usize,
    end: Duration,
    garbled: bool,
}

impl Wire {
    /// Somebody says these bytes without a pause.
    pub(super) fn speak(&mut self, speaker: usize, from: Duration, bytes: &[u8]) {
        let mut start = from;
        for &byte in bytes {
            let place = self.under_way.partition_point(|before| before.start <= start);
            self.under_way.insert(place, Spoken { start, speaker, byte });
            start += BYTE;
        }
    }

    /// Somebody is cut off: what has not arrived by now never will.
    pub(super) fn cut(&mut self, now: Duration, speaker: usize) {
        self.run(now);
        self.under_way.retain(|spoken| spoken.speaker != speaker);
    }

    /// Everybody is cut off.
    pub(super) fn cut_all(&mut self, now: Duration) {
        self.run(now);
        self.under_way.clear();
    }

    /// When the next bytes arrive.
    pub(super) fn next(&self) -> Option<Duration> {
        self.next_run().map(|run| run.end)
    }

    /// Lets time pass.
    pub(super) fn run(&mut self, now: Duration) {
        while let Some(run) = self.next_run().filter(|run| run.end <= now) {
            let spoken: Vec<Spoken> = self.under_way.drain(..run.bytes).collect();
            let bytes = if run.garbled {
                self.garbled += spoken.len() as u64;
                receive(&spoken)
            } else {
                spoken.iter().map(|spoken| spoken.byte).collect()
            };
            if self.arrived.len() < MOST_RUNS {
                self.arrived.push_back(bytes);
            }
        }
    }

    pub(super) fn poll(&mut self) -> Option<Vec<u8>> {
        self.arrived.pop_front()
    }

    /// How many bytes were said while somebody else was speaking.
    pub(super) fn garbled(&self) -> u64 {
        self.garbled
    }

    /// Bytes that overlap, as many as hang together; or bytes without a gap, as many as an adapter hands
    /// on at once.
    fn next_run(&self) -> Option<Run> {
        let mut spoken = self.under_way.iter().copied().peekable();
        let first = spoken.next()?;
        let mut run = Run { bytes: 1, end: first.end(), garbled: false };
        while let Some(next) = spoken.next_if(|next| next.start < run.end) {
            run = Run { bytes: run.bytes + 1, end: run.end.max(next.end()), garbled: true };
        }
        if run.garbled {
            return Some(run);
        }
        while run.bytes < RUN
            && let Some(next) = spoken.next_if(|next| next.start == run.end)
        {
            if spoken.peek().is_some_and(|after| after.start < next.end()) {
                break;
            }
            run = Run { bytes: run.bytes + 1, end: next.end(), garbled: false };
        }
        Some(run)
    }
}

/// What a receiver makes of several bytes at once.
fn receive(spoken: &[Spoken]) -> Vec<u8> {
    let level = |at: Duration| spoken.iter().all(|one| one.level(at));
    let mut edges: Vec<Duration> =
        spoken.iter().flat_map(|one| (0..10).map(|bit| one.start + BIT * bit)).collect();
    edges.sort_unstable();
    let mut bytes = Vec::new();
    let mut free_at = Duration::ZERO;
    for edge in edges {
        let was_high = edge.checked_sub(Duration::from_nanos(1)).is_none_or(level);
        if edge < free_at || level(edge) || !was_high {
            continue;
        }
        let sample = |bit: u32| level(edge + BIT * bit + BIT / 2);
        let byte = (0..8).fold(0, |byte, bit| byte | u8::from(sample(bit + 1)) << bit);
        // Without a stop bit it was no byte, and the system gives a zero for it.
        bytes.push(if sample(9) { byte } else { 0 });
        free_at = edge + BIT * 9 + BIT / 2;
    }
    bytes
}

const BIT: Duration = Duration::from_nanos(BYTE.as_nanos() as u64 / 10);
/// More than any host leaves lying about.
const MOST_RUNS: usize = 4096;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn us(time: u64) -> Duration {
        Duration::from_micros(time)
    }

    fn arrivals(wire: &mut Wire) -> Vec<Vec<u8>> {
        while let Some(at) = wire.next() {
            wire.run(at);
        }
        std::iter::from_fn(|| wire.poll()).collect()
    }

    #[test]
    fn answers_that_do_not_meet_arrive_whole() {
        let mut wire = Wire::default();
        wire.speak(1, us(20_000), &[7; 20]);
        wire.speak(0, us(0), &[0x87, 0, 6, 8, 1, 0x16]);
        let expected = [vec![0x87, 0, 6, 8, 1, 0x16], vec![7; 16], vec![7; 4]];
        assert_eq!(arrivals(&mut wire), expected);
        assert_eq!(wire.garbled(), 0);
    }

    #[test]
    fn bytes_said_at_once_are_their_common_ones() {
        let mut wire = Wire::default();
        wire.speak(0, us(0), &[0b1100_1010]);
        wire.speak(1, us(3), &[0b1010_1111]);
        assert_eq!(arrivals(&mut wire), [vec![0b1000_1010]]);
        assert_eq!(wire.garbled(), 2);
    }

    #[test]
    fn a_late_start_bit_is_heard_in_the_middle_of_a_byte() {
        let mut wire = Wire::default();
        wire.speak(0, us(0), &[0xFF]);
        wire.speak(1, us(521), &[0xFF]);
        // The second start bit falls into the first byte's bit 4 and is over before its stop bit.
        assert_eq!(arrivals(&mut wire), [vec![0xEF]]);
    }

    #[test]
    fn a_byte_without_a_stop_bit_is_zero() {
        let mut wire = Wire::default();
        wire.speak(0, us(0), &[0xFF]);
        wire.speak(1, us(900), &[0xAA]);
        let bytes = arrivals(&mut wire).concat();
        assert_eq!(bytes[0], 0);
    }

    #[test]
    fn who_is_cut_off_is_heard_no_more() {
        let mut wire = Wire::default();
        wire.speak(0, us(0), &[1; 40]);
        wire.speak(1, us(60_000), &[2; 3]);
        wire.cut(us(17_000), 0);
        assert_eq!(arrivals(&mut wire), [vec![1; 16], vec![2; 3]]);
    }

    proptest! {
        #[test]
        fn a_receiver_understands_one_speaker(bytes: Vec<u8>, gap in 0_u64..3000) {
            let spoken: Vec<Spoken> = bytes
                .iter()
                .zip(0_u32..)
                .map(|(&byte, i)| Spoken { start: (BYTE + us(gap)) * i, speaker: 0, byte })
                .collect();
            prop_assert_eq!(receive(&spoken), bytes);
        }

        #[test]
        fn collisions_never_give_more_bytes_than_were_said(
            said in prop::collection::vec((0_u64..40_000, prop::collection::vec(any::<u8>(), 1..8)), 1..6),
        ) {
            let mut wire = Wire::default();
            let mut most = 0;
            for (speaker, (from, bytes)) in said.iter().enumerate() {
                wire.speak(speaker, us(*from), bytes);
                most += bytes.len();
            }
            prop_assert!(arrivals(&mut wire).concat().len() <= most);
        }
    }
}
