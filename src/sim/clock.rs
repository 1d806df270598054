//! A digital chess clock with a lever.

use std::time::Duration;

use dgt_protocol::{ClockSide, ClockTimes, Lever, Side};

use crate::sim::time_control::TimeControl;

/// A clock: two times, a lever, a start button, and a program of periods with increments.
///
/// It counts milliseconds but shows whole seconds; a second is shown until it has passed, so zero
/// appears at the moment the flag falls. Time is a duration since an origin of the caller and must not
/// run backwards.
#[derive(Clone, Debug)]
pub struct VirtualClock {
    control: TimeControl,
    state: State,
}

/// What a clock holds at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    left: Half,
    right: Half,
    to_move: Side,
    running: bool,
    at: Duration,
}

/// One player's half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Half {
    remaining: Duration,
    period: usize,
    /// Presses in this period.
    moves: u32,
    /// The last period has run out.
    fallen: bool,
    /// A period has run out, and the next one has begun by itself.
    overrun: bool,
}

impl VirtualClock {
    /// A stopped clock, set to the first period, with the lever such that `to_move` has the move.
    pub fn new(control: TimeControl, to_move: Side, now: Duration) -> Self {
        let half = Half {
            remaining: control.first().time,
            period: 0,
            moves: 0,
            fallen: false,
            overrun: false,
        };
        let state = State { left: half, right: half, to_move, running: false, at: now };
        Self { control, state }
    }

    /// The side whose time runs, or would run.
    pub fn to_move(&self) -> Side {
        self.state.to_move
    }

    /// Whether time is running at this moment.
    pub fn is_running(&self, now: Duration) -> bool {
        self.at(now).running
    }

    /// The time a side has left, to the millisecond.
    pub fn remaining(&self, side: Side, now: Duration) -> Duration {
        self.at(now).half(side).remaining
    }

    /// The whole seconds a side shows.
    pub fn shown(&self, side: Side, now: Duration) -> Duration {
        self.at(now).half(side).shown()
    }

    /// Whether the flag of a side has fallen for good.
    pub fn has_fallen(&self, side: Side, now: Duration) -> bool {
        self.at(now).half(side).fallen
    }

    /// What a press of this side would add to its time.
    pub fn gain(&self, side: Side) -> Duration {
        self.state.half(side).gain(&self.control)
    }

    /// Presses the lever down on this side. Nothing happens if it is down already; while time is not
    /// running only the lever moves.
    pub fn press(&mut self, side: Side, now: Duration) {
        self.state = self.at(now);
        if self.state.to_move != side {
            return;
        }
        if self.state.running {
            let half = match side {
                Side::Left => &mut self.state.left,
                Side::Right => &mut self.state.right,
            };
            half.complete(&self.control);
        }
        self.state.to_move = other(side);
    }

    /// Starts the time of the side whose lever is up. A fallen flag keeps it stopped.
    pub fn start(&mut self, now: Duration) {
        self.state = self.at(now);
        self.state.running = !self.state.left.fallen && !self.state.right.fallen;
    }

    /// Stops the time.
    pub fn stop(&mut self, now: Duration) {
        self.state = self.at(now);
        self.state.running = false;
    }

    /// Gives both sides these times, as an arbiter corrects them; flags go up, the rest stays.
    pub fn set(&mut self, left: Duration, right: Duration, now: Duration) {
        self.state = self.at(now);
        for (half, time) in [(&mut self.state.left, left), (&mut self.state.right, right)] {
            half.remaining = time;
            half.fallen = false;
            half.overrun = false;
        }
    }

    /// What the clock tells the board: whole seconds, signs, lever and running.
    pub fn reading(&self, now: Duration) -> ClockTimes {
        let state = self.at(now);
        let lever = match state.to_move {
            Side::Left => Lever::LeftHigh,
            Side::Right => Lever::RightHigh,
        };
        ClockTimes {
            right: state.right.reading(&self.control),
            left: state.left.reading(&self.control),
            running: state.running,
            lever,
            battery_low: false,
            connected: true,
            turn_bits: lever.turn_bits(),
        }
    }

    /// When the display next changes by itself, if ever.
    pub fn next_change(&self, now: Duration) -> Option<Duration> {
        let state = self.at(now);
        let half = state.half(state.to_move);
        // One second less is shown as soon as this one has fully passed.
        state.running.then(|| now + (half.remaining + SECOND).saturating_sub(half.shown()))
    }

    fn at(&self, now: Duration) -> State {
        let mut state = self.state;
        let mut passed = now.saturating_sub(state.at);
        state.at = state.at.max(now);
        if !state.running {
            return state;
        }
        let half = match state.to_move {
            Side::Left => &mut state.left,
            Side::Right => &mut state.right,
        };
        while passed >= half.remaining {
            passed -= half.remaining;
            if !half.overrun_into_next(&self.control) {
                state.running = false;
                return state;
            }
        }
        half.remaining -= passed;
        state
    }
}

impl State {
    fn half(&self, side: Side) -> &Half {
        match side {
            Side::Left => &self.left,
            Side::Right => &self.right,
        }
    }
}

impl Half {
    fn shown(&self) -> Duration {
        Duration::from_secs(self.remaining.as_millis().div_ceil(1000) as u64)
    }

    fn reading(&self, control: &TimeControl) -> ClockSide {
        ClockSide {
            flag: self.fallen,
            increment_sign: !control.periods()[self.period].increment.is_zero(),
            flag_running: self.overrun,
            ..ClockSide::from_seconds(self.shown().as_secs() as u32)
        }
    }

    fn gain(&self, control: &TimeControl) -> Duration {
        let period = &control.periods()[self.period];
        let next =
            control.periods().get(self.period + 1).filter(|_| self.completes_period(control));
        period.increment + next.map_or(Duration::ZERO, |next| next.time)
    }

    fn completes_period(&self, control: &TimeControl) -> bool {
        control.periods()[self.period].moves == Some(self.moves + 1)
    }

    fn complete(&mut self, control: &TimeControl) {
        self.remaining += self.gain(control);
        self.overrun = false;
        if self.completes_period(control) && self.period + 1 < control.periods().len() {
            self.period += 1;
            self.moves = 0;
        } else {
            self.moves += 1;
        }
    }

    /// Goes on with the next period, if there is one; else the flag falls.
    fn overrun_into_next(&mut self, control: &TimeControl) -> bool {
        self.remaining = Duration::ZERO;
        match control.periods().get(self.period + 1) {
            Some(next) if !next.time.is_zero() => {
                self.remaining = next.time;
                self.period += 1;
                self.moves = 0;
                self.overrun = true;
            }
            _ => self.fallen = true,
        }
        !self.fallen
    }
}

const fn other(side: Side) -> Side {
    match side {
        Side::Left => Side::Right,
        Side::Right => Side::Left,
    }
}

const SECOND: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(control: &str) -> VirtualClock {
        VirtualClock::new(control.parse().unwrap(), Side::Left, Duration::ZERO)
    }

    fn ms(time: u64) -> Duration {
        Duration::from_millis(time)
    }

    #[test]
    fn a_second_is_shown_until_it_has_passed() {
        let mut clock = clock("180+2");
        clock.start(ms(0));
        assert_eq!(clock.shown(Side::Left, ms(999)).as_secs(), 180);
        assert_eq!(clock.shown(Side::Left, ms(1000)).as_secs(), 179);
        assert_eq!(clock.next_change(ms(0)), Some(ms(1000)));
        assert_eq!(clock.next_change(ms(1300)), Some(ms(2000)));
    }

    #[test]
    fn a_press_adds_the_increment_and_starts_the_other_side() {
        let mut clock = clock("180+2");
        clock.start(ms(0));
        clock.press(Side::Left, ms(5500));
        assert_eq!(clock.remaining(Side::Left, ms(9000)), ms(176_500));
        assert_eq!(clock.remaining(Side::Right, ms(9000)), ms(176_500));
        assert_eq!(clock.to_move(), Side::Right);
    }

    #[test]
    fn a_press_on_the_low_side_does_nothing() {
        let mut clock = clock("180+2");
        clock.start(ms(0));
        clock.press(Side::Right, ms(100));
        assert_eq!(clock.to_move(), Side::Left);
        assert_eq!(clock.remaining(Side::Right, ms(100)), ms(180_000));
    }

    #[test]
    fn a_stopped_clock_only_moves_its_lever() {
        let mut clock = clock("180+2");
        clock.press(Side::Left, ms(0));
        assert_eq!(clock.to_move(), Side::Right);
        assert_eq!(clock.remaining(Side::Left, ms(9000)), ms(180_000));
        assert_eq!(clock.next_change(ms(9000)), None);
    }

    #[test]
    fn the_flag_falls_at_zero_and_stops_the_clock() {
        let mut clock = clock("3");
        clock.start(ms(0));
        assert_eq!(clock.next_change(ms(2500)), Some(ms(3000)));
        assert!(!clock.has_fallen(Side::Left, ms(2999)));
        assert!(clock.has_fallen(Side::Left, ms(3000)));
        assert!(!clock.is_running(ms(3000)));
        clock.start(ms(4000));
        assert!(!clock.is_running(ms(4000)));
        clock.set(ms(5000), ms(5000), ms(6000));
        clock.start(ms(6000));
        assert!(clock.is_running(ms(6000)));
    }

    #[test]
    fn readings_are_what_the_protocol_says() {
        let mut clock = clock("180+2");
        clock.start(ms(0));
        clock.press(Side::Left, ms(1500));
        let reading = clock.reading(ms(2600));
        assert_eq!((reading.left.total_seconds(), reading.right.total_seconds()), (181, 179));
        assert_eq!(reading.lever, Lever::RightHigh);
        assert!(reading.running && reading.connected && reading.left.increment_sign);
        let fallen = clock.reading(ms(200_000));
        assert!(fallen.right.flag && !fallen.running && !fallen.left.flag);
        assert_eq!(fallen.right.total_seconds(), 0);
    }

    #[test]
    fn the_next_period_begins_at_its_press() {
        let mut clock = clock("2/60+1:30+5");
        clock.start(ms(0));
        for side in [Side::Left, Side::Right, Side::Left] {
            clock.press(side, ms(0));
        }
        assert_eq!(clock.remaining(Side::Left, ms(0)), ms(92_000));
        assert_eq!(clock.remaining(Side::Right, ms(0)), ms(61_000));
        clock.press(Side::Right, ms(0));
        clock.press(Side::Left, ms(0));
        assert_eq!(clock.remaining(Side::Left, ms(0)), ms(97_000));
    }

    #[test]
    fn a_period_that_runs_out_gives_way_to_the_next() {
        let mut clock = clock("2/60:30");
        clock.start(ms(0));
        assert_eq!(clock.remaining(Side::Left, ms(70_000)), ms(20_000));
        assert!(!clock.has_fallen(Side::Left, ms(70_000)));
        assert!(clock.reading(ms(70_000)).left.flag_running);
        assert!(clock.has_fallen(Side::Left, ms(90_000)));
    }
}
