//! One game planned in time: thinking, moving, pressing.

use std::time::Duration;

use dgt_protocol::Side;
use shakmaty::{Bitboard, Board, Chess, Color, Position, san::SanPlus};

use super::{
    aftermath,
    habit::Habit,
    motion::{Hand, Motion},
    preset::Preset,
    script::{Action, Deed, GameTruth, PlyTruth, Step},
};
use crate::sim::{
    clock::VirtualClock,
    random::{Random, Span},
    score::{Score, ScoredPly},
    time_control::TimeControl,
};

/// The acts and the truth of one game, and what is left on the board after it.
pub(super) struct Plan<'a> {
    pub(super) preset: &'a Preset,
    pub(super) random: Random,
    pub(super) men: Board,
    pub(super) now: Duration,
    pub(super) steps: Vec<Step>,
    pub(super) truth: GameTruth,
    /// The clock as it will go, White at its left.
    pub(super) clock: Option<VirtualClock>,
    /// What both players have been given beyond the time control of the record.
    extra: Duration,
    pos: Chess,
    last: Option<Made>,
}

/// A ply whose moves are planned and whose press may still be put off.
struct Made {
    color: Color,
    touched: Duration,
    complete: Duration,
    press: Option<Duration>,
    squares: Bitboard,
    /// When the opponent had pressed for the ply before, and his hand was free again.
    opponent_free: Duration,
}

impl<'a> Plan<'a> {
    /// Plans a game on the men as the last one left them, beginning with the set-up.
    pub(super) fn of_game(
        score: &Score,
        preset: &'a Preset,
        random: &Random,
        men: &Board,
        start: Duration,
    ) -> Self {
        let control = preset.control.clone().map(|own| {
            let recorded = if preset.follows_record { score.time_control() } else { None };
            recorded.unwrap_or(own)
        });
        let mut extra = Duration::ZERO;
        loop {
            let control = control.as_ref().map(|control| control.with_extra(extra));
            let mut plan = Self::new(preset, random.clone(), men.clone(), start, score);
            plan.extra = extra;
            plan.play(score, control.as_ref());
            // A day of extra time ends the search for certain.
            if !plan.overstepped() || extra > MOST_EXTRA {
                aftermath::end_game(&mut plan, score);
                return plan;
            }
            extra += control.map_or(MOST_EXTRA, |control| control.first().time / 4)
                + Duration::from_secs(20);
        }
    }

    fn new(preset: &'a Preset, random: Random, men: Board, start: Duration, score: &Score) -> Self {
        let truth = GameTruth {
            ready: start,
            started: None,
            plies: Vec::new(),
            deeds: Vec::new(),
            signal: None,
            over: start,
        };
        Self {
            preset,
            random,
            men,
            now: start,
            steps: Vec::new(),
            truth,
            clock: None,
            extra: Duration::ZERO,
            pos: score.start().clone(),
            last: None,
        }
    }

    fn play(&mut self, score: &Score, control: Option<&TimeControl>) {
        aftermath::set_up(self, score.start().board());
        self.truth.ready = self.now;
        if let Some(control) = control {
            self.prepare_clock(control);
        } else {
            self.pause(BEFORE_THE_GAME);
        }
        for (number, ply) in score.plies().iter().enumerate() {
            self.make(ply, number + 1 == score.plies().len());
        }
        self.press_last();
    }

    /// Sets and starts the clock, White's lever up.
    fn prepare_clock(&mut self, control: &TimeControl) {
        self.pause(Span::ms(1500, 4000));
        self.act(Action::SetClock(control.clone()));
        let to_move = self.pos.turn();
        let mut clock = VirtualClock::new(control.clone(), side(to_move), self.now);
        self.pause(Span::ms(300, 1500));
        // Which side was down after the last game, or when the clock was unpacked, is not known here:
        // pressing a side that is down already does nothing.
        self.act(Action::Press(!to_move));
        self.pause(BEFORE_THE_GAME);
        self.act(Action::StartClock);
        clock.start(self.now);
        self.clock = Some(clock);
        self.truth.started = Some(self.now);
    }

    fn make(&mut self, ply: &ScoredPly, is_last: bool) {
        let san = SanPlus::from_move(self.pos.clone(), ply.m).to_string();
        let mut hand = Hand::new(self.preset, &mut self.random, &mut self.men);
        hand.make(&self.pos, ply.m);
        let motion = hand.finish();
        let color = self.pos.turn();
        let press = self.preset.tempo.press.even(&mut self.random);
        let touched = match self.last.take() {
            Some(last) if last.press.is_some() => self.touch_after(last, ply, &motion, press),
            Some(last) => {
                // The press was forgotten, or there is no clock.
                self.now = last.complete;
                self.last = Some(last);
                self.think(ply, &motion, press)
            }
            None => self.think(ply, &motion, press),
        };
        let opponent_free = self.now;
        self.truth.deeds.extend(motion.deeds.iter().map(|deed| deed.later(touched)));
        let complete = touched + motion.length();
        let squares = motion.squares();
        self.steps
            .extend(motion.acts.into_iter().map(|(at, action)| Step { at: touched + at, action }));
        let earliest = complete.max(self.now);
        let press =
            self.decides_to_press(color, is_last).then(|| earliest + self.press_delay(press));
        self.truth.plies.push(PlyTruth {
            m: ply.m,
            san,
            touched,
            complete,
            pressed: None,
            clock: None,
        });
        self.pos.play_unchecked(ply.m);
        self.last = Some(Made { color, touched, complete, press, squares, opponent_free });
        self.now = complete;
    }

    /// When the hand that answers a move first touches a man; presses for the move before.
    fn touch_after(
        &mut self,
        mut last: Made,
        ply: &ScoredPly,
        motion: &Motion,
        press: Duration,
    ) -> Duration {
        let apart = (last.squares & motion.squares()).is_empty();
        if apart && self.habit(Habit::HandsOverlap) {
            // The answer may begin before, but not be complete before, the move it answers.
            let most = last.complete.saturating_sub(last.touched).min(MOST_OVERLAP) / 2;
            let early = Span::ms(0, most.as_millis() as u32).even(&mut self.random);
            let touched = last
                .complete
                .saturating_sub(early)
                .max((last.complete + ONE_AFTER_THE_OTHER).saturating_sub(motion.length()))
                .max(last.opponent_free + ONE_AFTER_THE_OTHER);
            self.note(Habit::HandsOverlap, touched, last.complete);
            self.last = Some(last);
            self.press_last();
            return touched;
        }
        if self.habit(Habit::ReplyBeforePress) {
            let touched = last.complete.max(last.opponent_free) + REACTION.even(&mut self.random);
            let window = motion.length().as_millis() as u32 + 200;
            let put_off = touched + Span::ms(0, window).even(&mut self.random);
            last.press = last.press.map(|planned| planned.max(put_off));
            self.note(Habit::ReplyBeforePress, touched, put_off);
            self.last = Some(last);
            self.press_last();
            return touched;
        }
        self.last = Some(last);
        self.press_last();
        self.think(ply, motion, press)
    }

    /// Thinks from now on, as long as the record says or as this player likes; gives the time of the
    /// first touch.
    fn think(&mut self, ply: &ScoredPly, motion: &Motion, press: Duration) -> Duration {
        let own = self.preset.tempo.think.mostly_short(&mut self.random);
        let least = Duration::from_millis(self.preset.tempo.think.from.into());
        let needed = motion.length() + press;
        let Some(clock) = &self.clock else { return self.now + own };
        let mover = side(self.pos.turn());
        let remaining = clock.remaining(clock.to_move(), self.now);
        let recorded = ply.clock.filter(|_| self.preset.follows_record).and_then(|shown| {
            // Half a second less than shown is the middle of that second.
            let left = self.extra + shown.saturating_sub(Duration::from_millis(500));
            let before = clock.remaining(mover, self.now) + clock.gain(mover);
            let elapsed = before.checked_sub(left)?;
            (elapsed < remaining).then(|| elapsed.saturating_sub(needed))
        });
        let spare = remaining.saturating_sub(needed);
        let think = recorded.unwrap_or_else(|| own.min(spare / 8)).max(least.min(spare / 2));
        self.now + think
    }

    fn decides_to_press(&mut self, color: Color, is_last: bool) -> bool {
        let Some(clock) = &self.clock else { return false };
        // After a forgotten press this player's side is still down.
        let lever_up = clock.to_move() == side(color);
        // The last move of a game may well stay unpressed, but the truth is clearer if it is not.
        let forgotten = lever_up && !is_last && self.habit(Habit::PressForgotten);
        if forgotten {
            self.note(Habit::PressForgotten, self.now, self.now);
        }
        lever_up && !forgotten
    }

    fn press_delay(&mut self, usual: Duration) -> Duration {
        let late = self.habit(Habit::LatePress);
        let delay = self.preset.tempo.late_press.even(&mut self.random);
        let in_time = self
            .clock
            .as_ref()
            .is_some_and(|clock| clock.remaining(clock.to_move(), self.now) > delay * 5);
        if !(late && in_time) {
            return usual;
        }
        self.note(Habit::LatePress, self.now, self.now + delay);
        delay
    }

    /// Carries out the press of the last ply, if it comes at all. Time then stands at the press.
    fn press_last(&mut self) {
        let Some(Made { color, press: Some(at), .. }) = self.last.as_ref() else { return };
        let (color, at) = (*color, *at);
        self.now = at;
        self.act(Action::Press(color));
        if let Some(clock) = &mut self.clock {
            clock.press(side(color), at);
            let shown = clock.shown(side(color), at);
            if let Some(ply) = self.truth.plies.last_mut() {
                ply.pressed = Some(at);
                ply.clock = Some(shown);
            }
        }
    }

    fn overstepped(&self) -> bool {
        self.clock.as_ref().is_some_and(|clock| {
            [Side::Left, Side::Right].into_iter().any(|side| clock.has_fallen(side, self.now))
        })
    }

    pub(super) fn act(&mut self, action: Action) {
        self.steps.push(Step { at: self.now, action });
    }

    pub(super) fn pause(&mut self, span: Span) {
        self.now += span.even(&mut self.random);
    }

    /// Tells of a habit that showed.
    pub(super) fn note(&mut self, habit: Habit, from: Duration, until: Duration) {
        self.truth.deeds.push(Deed { habit, from, until });
    }

    pub(super) fn habit(&mut self, habit: Habit) -> bool {
        self.random.chance(self.preset.rates.get(habit))
    }

    /// Lets a hand work from now on; time then stands at its last act.
    pub(super) fn with_hand(&mut self, work: impl FnOnce(&mut Hand<'_>)) {
        let mut hand = Hand::new(self.preset, &mut self.random, &mut self.men);
        work(&mut hand);
        let motion = hand.finish();
        let (start, length) = (self.now, motion.length());
        self.truth.deeds.extend(motion.deeds.iter().map(|deed| deed.later(start)));
        self.steps
            .extend(motion.acts.into_iter().map(|(at, action)| Step { at: start + at, action }));
        self.now += length;
    }
}

/// White sits at the left of the clock in this plan; the real clock may stand elsewhere.
pub(super) fn side(color: Color) -> Side {
    color.fold_wb(Side::Left, Side::Right)
}

const BEFORE_THE_GAME: Span = Span::ms(4000, 12_000);
const REACTION: Span = Span::ms(80, 500);
const MOST_OVERLAP: Duration = Duration::from_millis(500);
const ONE_AFTER_THE_OTHER: Duration = Duration::from_millis(40);
const MOST_EXTRA: Duration = Duration::from_hours(24);
