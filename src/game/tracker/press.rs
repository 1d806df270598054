//! The lever: which ply a press completes.

use shakmaty::Color;

use super::{
    super::{
        alert::Code,
        event::{Cause, Phase},
        evidence::Press,
        time::Timestamp,
        window::{Missing, Standing},
    },
    Tracker,
    play::LOST_THE_THREAD,
};

impl Tracker {
    /// A side pressed.
    pub(super) fn pressed(&mut self, press: Press) {
        if !self.is_following() {
            return;
        }
        if self.state.phase() == Phase::Paused {
            self.set_phase(Phase::Running);
        }
        self.stopped_at = None;
        self.analysing = false;
        self.clock_ran = true;
        self.evidence.note_press(press);
        self.wait_for_report(press);
    }

    /// A side pressed while the clock stands: it completes a move that is there, and means nothing
    /// otherwise.
    pub(super) fn pressed_standing(&mut self, press: Press) {
        if self.state.phase().is_playing() && self.completed_length(press, true).is_some() {
            self.wait_for_report(press);
        }
    }

    /// Lets a press stand until the board's report of the move must be in: its fields are scanned
    /// one after the other, and the man may just have passed over another square.
    fn wait_for_report(&mut self, press: Press) {
        // Whoever presses in answer has seen the move: nothing of it is on its way any more.
        if let Some(earlier) = self.pending
            && !self.complete_with(earlier, true)
        {
            self.complete_by_search(earlier);
        }
        self.pending = Some(press);
        self.expect_report();
    }

    /// The presser's men moved: the report of his move may not be whole yet.
    pub(super) fn expect_report(&mut self) {
        self.timers.press = self.pending.and_then(|press| {
            let moved = press.by.fold_wb(self.moved_at.0, self.moved_at.1);
            // A man put down just before the press may have been on its way still.
            let fresh = press.at.since(moved) < FRESH_SCANS * self.settings.scan_ms;
            let seen = if fresh { press.at.max(moved) } else { moved };
            let due = press.at.max(seen.after(self.settings.scan_ms)).min(self.last_report(press));
            (self.now <= self.last_report(press)).then_some(due)
        });
        if self.timers.press.is_some_and(|due| due <= self.now) {
            self.press_reported();
        }
    }

    /// The latest time at which a move can be reported that was on the board at this press.
    fn last_report(&self, press: Press) -> Timestamp {
        press.at.after(self.settings.press_grace_ms)
    }

    /// What the press found on the board is reported: it completes a move, or waits for one.
    pub(super) fn press_reported(&mut self) {
        self.timers.press = None;
        let Some(press) = self.pending else {
            return;
        };
        if self.complete_with(press, false) || self.played_on(press) {
            return;
        }
        if self.now >= self.last_report(press) {
            self.complete_by_search(press);
        } else {
            // The presses before went without a move: what stands may tell all of them.
            if self.missed > 0
                && self.missed_line(self.missed + 1, Some(press.by))
                && self.complete_with(press, false)
            {
                return;
            }
            self.timers.press = Some(self.last_report(press));
        }
    }

    /// Completes what is on the window's line for this press; `reported` if all of it must have been
    /// reported.
    pub(super) fn complete_with(&mut self, press: Press, reported: bool) -> bool {
        if self.window.standing(&self.placement) == Standing::Off {
            // Better than a line with a hand on the board is one that leads to what stands.
            self.missed_line(2, Some(press.by));
        }
        let reported = reported || self.now >= self.last_report(press);
        let Some(n) = self.completed_length(press, reported) else {
            return false;
        };
        let exact = self.window.standing(&self.placement) != Standing::Off;
        self.pending = None;
        self.missed = 0;
        self.read(n, Cause::Pressed(press.by), Some(press));
        self.inexact = if exact { 0 } else { self.inexact + 1 };
        if exact {
            self.clear(Code::GapUnresolved);
            self.review();
        } else {
            self.doubt();
        }
        if self.inexact >= LOST_THE_THREAD {
            self.reread();
        }
        true
    }

    /// A press whose move was never seen on the way: what stands now tells what was played, as far
    /// as one shortest line does. The more presses went by, the longer it may be.
    fn complete_by_search(&mut self, press: Press) {
        let plies = if self.missed < LOST_THE_THREAD { 2 } else { self.settings.gap_plies };
        if self.missed_line(plies, Some(press.by)) && self.complete_with(press, true) {
            return;
        }
        self.play_on_again(press);
        if !self.reread() {
            self.freeze(press);
        }
        self.missed += 1;
    }

    /// The clock was started for the opponent of `press.by`: a ply of his that stands is completed.
    pub(super) fn completed_by_start(&mut self, press: Press) {
        if let Standing::On(n) = self.window.standing(&self.placement)
            && n > 0
            && self.window.mover(n - 1) == press.by
        {
            self.read(n, Cause::ClockStarted, Some(press));
        }
    }

    /// How much of the window's line is on the board for this press, if a ply of the presser's is
    /// there to be completed. What the opponent played on top of it counts if it has been there for
    /// a scan.
    fn completed_length(&self, press: Press, reported: bool) -> Option<usize> {
        let by = press.by;
        let replied = by.fold_wb(self.moved_at.1, self.moved_at.0);
        if let Standing::On(n) = self.window.standing(&self.placement)
            && self.has_open_ply(by, n)
        {
            let reply = n > self.window.made().max(1) && self.window.mover(n - 1) != by;
            let fresh = self.now.since(replied) < self.settings.scan_ms;
            return Some(if reply && fresh { n - 1 } else { n });
        }
        // The opponent has begun his reply: his men are in the air, what the presser played stands.
        // Only when no report can be on its way any more is one of the presser's men captured, or
        // in his hand again after it stood there at the press.
        let ways = [Missing::Nobody, Missing::Captured, Missing::Lifted];
        ways.into_iter().take(if reported { 3 } else { 1 }).find_map(|missing| {
            (1..=self.window.len()).rev().find(|&n| {
                self.window.mover(n - 1) == by
                    && self.has_open_ply(by, n)
                    && self.window.is_under_reply(n, &self.placement, missing)
                    && (missing != Missing::Lifted || self.stood_at(press, n))
            })
        })
    }

    /// Whether the man that moved last in the first `n` plies of the line stood there at the press
    /// and was lifted after it.
    fn stood_at(&self, press: Press, n: usize) -> bool {
        self.window
            .arrival(n)
            .is_some_and(|(at, to)| at <= press.at && self.emptied_at[usize::from(to)] > press.at)
    }

    /// Whether the first `n` plies of the line hold one of `by` that is not completed.
    fn has_open_ply(&self, by: Color, n: usize) -> bool {
        let Some(last) = (0..n).rev().find(|&i| self.window.mover(i) == by) else {
            return false;
        };
        let made = last < self.window.shared();
        !made || self.state.plies().get(self.window.base() + last).is_none_or(|ply| !ply.completed)
    }
}

/// A man that is pushed over squares stands on each for a moment, and each is reported up to a scan
/// late.
const FRESH_SCANS: u64 = 3;
