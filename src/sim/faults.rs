//! A bad cable, and boards that fall silent: a filter between a device and its host.

mod spec;

pub use spec::{Burst, FaultSpec, FaultSpecError, Outage};

use std::{collections::VecDeque, time::Duration};

use crate::sim::{
    device::{Cable, Device},
    random::Random,
};

/// A device behind a bad cable. Which bytes suffer follows from the seed.
#[derive(Clone, Debug)]
pub struct Faulty<D> {
    device: D,
    loss: f64,
    flip: f64,
    /// What still happens, in the order of time.
    plan: VecDeque<(Duration, Happening)>,
    /// Noise that has begun: when the next bytes of it come, and how many are left.
    noise: Option<(Duration, usize)>,
    to_host: Random,
    from_host: Random,
    hiss: Random,
    pulled: bool,
    outbox: VecDeque<Vec<u8>>,
    cable: VecDeque<Cable>,
    harm: Harm,
}

/// What a bad cable has done so far, in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Harm {
    /// Bytes that were lost, without those of a pulled cable.
    pub lost: u64,
    /// Bytes in which a bit was flipped.
    pub flipped: u64,
    /// Bytes of noise.
    pub noise: u64,
}

#[derive(Clone, Copy, Debug)]
enum Happening {
    Noise(usize),
    Cable(Cable),
    Plug(usize, Cable),
    Silent(usize, bool),
}

impl<D: Device> Faulty<D> {
    /// Puts a device behind a cable with these faults.
    pub fn new(device: D, spec: &FaultSpec, seed: u64) -> Self {
        let random = Random::new(seed).branch(FAULTS);
        Self {
            device,
            loss: spec.loss,
            flip: spec.flip,
            plan: plan(spec),
            noise: None,
            to_host: random.branch(0),
            from_host: random.branch(1),
            hiss: random.branch(2),
            pulled: false,
            outbox: VecDeque::new(),
            cable: VecDeque::new(),
            harm: Harm::default(),
        }
    }

    /// The device behind the cable.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// What the cable has done so far.
    pub fn harm(&self) -> Harm {
        self.harm
    }

    fn next(&self) -> Option<Duration> {
        let noise = self.noise.map(|(at, _)| at);
        let planned = self.plan.front().map(|&(at, _)| at);
        [noise, planned].into_iter().flatten().min()
    }

    /// Lets faults and device act in the order of time.
    fn advance(&mut self, now: Duration) {
        while let Some(at) = self.next().filter(|&at| at <= now) {
            self.run_device(at);
            if let Some((_, happening)) = self.plan.pop_front_if(|(planned, _)| *planned <= at) {
                self.happen(at, happening);
            }
            self.hiss(at);
        }
        self.run_device(now);
    }

    fn run_device(&mut self, now: Duration) {
        self.device.handle_timeout(now);
        self.collect();
    }

    /// Takes what comes from the device.
    fn collect(&mut self) {
        while let Some(bytes) = self.device.poll_transmit() {
            if !self.pulled {
                let bytes = spoil(&bytes, self.loss, self.flip, &mut self.to_host, &mut self.harm);
                self.hand_on(bytes);
            }
        }
        while let Some(cable) = self.device.poll_cable() {
            self.cable.push_back(cable);
        }
    }

    fn happen(&mut self, now: Duration, happening: Happening) {
        match happening {
            Happening::Noise(bytes) => {
                let left = self.noise.map_or(0, |(_, left)| left);
                self.noise = Some((now, left + bytes));
            }
            Happening::Cable(cable) => {
                self.device.handle_cable(now, cable);
                self.collect();
                self.pulled = cable == Cable::Pulled;
                self.cable.push_back(cable);
            }
            Happening::Plug(board, cable) => self.device.handle_plug(now, board, cable),
            Happening::Silent(board, silent) => self.device.set_silent(now, board, silent),
        }
    }

    fn hiss(&mut self, now: Duration) {
        let Some((_, left)) = self.noise.take_if(|(at, _)| *at <= now) else { return };
        let bytes: Vec<u8> =
            (0..left.min(NOISE_AT_ONCE)).map(|_| self.hiss.below(256) as u8).collect();
        let left = left - bytes.len();
        self.noise = (left > 0).then_some((now + BETWEEN_NOISE, left));
        if !self.pulled {
            self.harm.noise += bytes.len() as u64;
            self.hand_on(bytes);
        }
    }

    fn hand_on(&mut self, bytes: Vec<u8>) {
        if !bytes.is_empty() && self.outbox.len() < MOST_RUNS {
            self.outbox.push_back(bytes);
        }
    }
}

impl<D: Device> Device for Faulty<D> {
    fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        self.advance(now);
        if !self.pulled {
            let bytes = spoil(bytes, self.loss, self.flip, &mut self.from_host, &mut self.harm);
            self.device.handle_bytes(now, &bytes);
            self.collect();
        }
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.advance(now);
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.outbox.pop_front()
    }

    fn poll_cable(&mut self) -> Option<Cable> {
        self.cable.pop_front()
    }

    fn poll_timeout(&self) -> Option<Duration> {
        [self.next(), self.device.poll_timeout()].into_iter().flatten().min()
    }

    fn handle_cable(&mut self, now: Duration, cable: Cable) {
        self.advance(now);
        self.device.handle_cable(now, cable);
        self.collect();
    }

    fn handle_plug(&mut self, now: Duration, number: usize, cable: Cable) {
        self.advance(now);
        self.device.handle_plug(now, number, cable);
        self.collect();
    }

    fn set_silent(&mut self, now: Duration, number: usize, silent: bool) {
        self.advance(now);
        self.device.set_silent(now, number, silent);
        self.collect();
    }
}

/// Everything that is planned, in the order of time; of what comes at one time, ends come first.
fn plan(spec: &FaultSpec) -> VecDeque<(Duration, Happening)> {
    let mut plan = Vec::new();
    for pull in &spec.pulls {
        let happening = |cable| match pull.board {
            Some(board) => Happening::Plug(board, cable),
            None => Happening::Cable(cable),
        };
        plan.push((pull.from, happening(Cable::Pulled)));
        plan.extend(pull.until.map(|until| (until, happening(Cable::Back))));
    }
    for silence in &spec.silences {
        let board = silence.board.unwrap_or(1);
        plan.push((silence.from, Happening::Silent(board, true)));
        plan.extend(silence.until.map(|until| (until, Happening::Silent(board, false))));
    }
    plan.extend(spec.noise.iter().map(|burst| (burst.at, Happening::Noise(burst.bytes))));
    plan.sort_by_key(|&(at, happening)| {
        let ends = matches!(happening, Happening::Cable(Cable::Back) | Happening::Silent(_, false));
        (at, !ends)
    });
    plan.into()
}

/// What arrives of these bytes.
fn spoil(bytes: &[u8], loss: f64, flip: f64, random: &mut Random, harm: &mut Harm) -> Vec<u8> {
    let mut rest = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        if loss > 0.0 && unit(random) < loss {
            harm.lost += 1;
        } else if flip > 0.0 && unit(random) < flip {
            harm.flipped += 1;
            rest.push(byte ^ 1 << random.below(8));
        } else {
            rest.push(byte);
        }
    }
    rest
}

/// From 0 up to, not including, 1; 53 bits of it, all that fit.
fn unit(random: &mut Random) -> f64 {
    (random.word() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Sets the faults apart from what the hands and the boards do.
const FAULTS: u64 = 0xFA01;
const NOISE_AT_ONCE: usize = 64;
const BETWEEN_NOISE: Duration = Duration::from_millis(1);
/// More than any host leaves lying about: 16 MiB of noise.
const MOST_RUNS: usize = 1 << 18;

#[cfg(test)]
mod tests;
