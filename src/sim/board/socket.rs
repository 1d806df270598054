//! The clock socket: a clock that is read every now and then.

use std::{collections::VecDeque, time::Duration};

use dgt_protocol::{ClockAck, ClockCommand, ClockMessage, ClockSide, ClockTimes, Lever};

use crate::sim::clock::VirtualClock;

/// The socket with its clock, and what the host was last told about it.
#[derive(Clone, Debug)]
pub(super) struct Socket {
    poll: Duration,
    clock: Option<VirtualClock>,
    /// When the next reading may differ.
    look: Option<Duration>,
    told: Option<(Duration, ClockMessage)>,
    answers: VecDeque<ClockAck>,
}

impl Socket {
    /// An empty socket, read this often.
    pub(super) fn new(poll: Duration) -> Self {
        Self {
            poll: poll.max(SHORTEST_POLL),
            clock: None,
            look: None,
            told: None,
            answers: VecDeque::new(),
        }
    }

    pub(super) fn clock(&self) -> Option<&VirtualClock> {
        self.clock.as_ref()
    }

    pub(super) fn plug(&mut self, now: Duration, clock: Option<VirtualClock>) {
        self.clock = clock;
        self.look_after(now);
    }

    /// Does something to the clock, if there is one.
    pub(super) fn handle_clock(&mut self, now: Duration, act: impl FnOnce(&mut VirtualClock)) {
        if let Some(clock) = &mut self.clock {
            act(clock);
            self.look_after(now);
        }
    }

    /// Passes a command on to the clock, which answers at one of the next readings.
    pub(super) fn obey(&mut self, now: Duration, command: &ClockCommand) {
        if self.clock.is_some() && self.answers.len() < MOST_ANSWERS {
            self.answers.push_back(answer(command));
            self.look_after(now);
        }
    }

    /// Forgets what the host knows.
    pub(super) fn tell_again(&mut self, now: Duration) {
        self.told = None;
        self.answers.clear();
        self.look_after(now);
    }

    /// When the clock shall be read next; with `always` at least a second after the last report.
    pub(super) fn next_look(&self, always: bool) -> Option<Duration> {
        let again = self.told.as_ref().filter(|_| always).map(|&(at, _)| at + SECOND);
        [self.look, again].into_iter().flatten().min()
    }

    /// Reads the clock if it is time to; gives what the host has to be told.
    pub(super) fn look(&mut self, at: Duration, always: bool) -> Vec<ClockMessage> {
        if self.next_look(always).is_none_or(|look| look > at) {
            return Vec::new();
        }
        let mut news: Vec<_> = self.answers.drain(..).map(ClockMessage::Ack).collect();
        let reading = self.reading(at);
        let old = self.told.as_ref().is_some_and(|&(told_at, ref told)| {
            *told == reading && !(always && at >= told_at + SECOND)
        });
        if !old {
            self.told = Some((at, reading));
            news.push(reading);
        }
        self.schedule(at);
        news
    }

    /// Lets a reading pass that nobody wants.
    pub(super) fn forget(&mut self, at: Duration) {
        if self.look.is_some_and(|look| look <= at) {
            self.look = None;
        }
    }

    /// What the board would say now.
    pub(super) fn reading(&self, now: Duration) -> ClockMessage {
        ClockMessage::Times(self.clock.as_ref().map_or(NO_CLOCK, |clock| clock.reading(now)))
    }

    fn schedule(&mut self, now: Duration) {
        let change = self.clock.as_ref().and_then(|clock| clock.next_change(now));
        self.look = change.map(|change| self.reading_at_or_after(change));
    }

    /// Something changed now: the next reading may show it.
    fn look_after(&mut self, now: Duration) {
        let next = self.reading_at_or_after(now + Duration::from_nanos(1));
        self.look = Some(self.look.map_or(next, |look| look.min(next)));
    }

    fn reading_at_or_after(&self, time: Duration) -> Duration {
        let readings = time.as_nanos().div_ceil(self.poll.as_nanos());
        self.poll * u32::try_from(readings).unwrap_or(u32::MAX)
    }
}

/// A clock of version 2.0 that shows everything it is told to, but lets nobody else set its times.
fn answer(command: &ClockCommand) -> ClockAck {
    let (status, kind, first) = match command {
        ClockCommand::Display(_) => (GOOD, 0x01, 0),
        ClockCommand::Icons(_) => (GOOD, 0x02, 0),
        ClockCommand::End => (GOOD, 0x03, 0),
        ClockCommand::Button => (GOOD, 0x08, 0),
        ClockCommand::Version => (GOOD, 0x09, 0x20),
        ClockCommand::SetAndRun(_) => (REFUSED, 0x0A, 0),
        ClockCommand::Beep(_) => (GOOD, 0x0B, 0),
        ClockCommand::Ascii { .. } | ClockCommand::LongAscii { .. } => (GOOD, 0x0C, 0),
    };
    ClockAck { status, kind, detail: [first, 0] }
}

const NO_SIDE: ClockSide = ClockSide {
    hours: 0,
    minutes: 0,
    seconds: 0,
    flag: false,
    increment_sign: false,
    flag_running: false,
};
const NO_CLOCK: ClockTimes = ClockTimes {
    right: NO_SIDE,
    left: NO_SIDE,
    running: false,
    lever: Lever::LeftHigh,
    battery_low: false,
    connected: false,
    turn_bits: 0,
};
const GOOD: u8 = 0x10;
const REFUSED: u8 = 0x40;
const SECOND: Duration = Duration::from_secs(1);
const SHORTEST_POLL: Duration = Duration::from_millis(1);
/// Real boards take one command at a time; a host that does not wait gets no more answers than this.
const MOST_ANSWERS: usize = 8;
