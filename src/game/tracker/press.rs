//! The lever: which ply a press completes.

use shakmaty::{Chess, Color, Position};

use super::{
    super::{
        event::{Cause, Phase},
        placement::Placement,
        window::Standing,
    },
    Press, Tracker,
};

impl Tracker {
    /// A side pressed.
    pub(super) fn pressed(&mut self, press: Press) {
        self.pending = None;
        if !self.is_following() {
            return;
        }
        if self.state.phase() == Phase::Paused {
            self.set_phase(Phase::Running);
        }
        self.clock_ran = true;
        match self.completed_length(press.by) {
            Some(n) => self.read(n, Cause::Pressed(press.by), Some(press)),
            // The board's report may be a moment late (0.2, `press_grace_s`), or the move may come
            // only after the press.
            None => self.pending = Some(press),
        }
    }

    /// A side pressed while the clock stands: it completes a move that is there, and means nothing
    /// otherwise.
    pub(super) fn pressed_standing(&mut self, press: Press) {
        if self.state.phase().is_playing()
            && let Some(n) = self.completed_length(press.by)
        {
            self.read(n, Cause::Pressed(press.by), Some(press));
        }
    }

    /// A press may complete what came on the board just now.
    pub(super) fn press_in_grace(&mut self) {
        let grace = self.settings.press_grace_ms;
        if let Some(press) = self.pending.filter(|press| self.now.since(press.at) <= grace)
            && let Standing::On(n) = self.window.standing(&self.placement)
            && self.has_open_ply(press.by, n)
        {
            self.pending = None;
            self.read(n, Cause::Pressed(press.by), Some(press));
        }
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

    /// How much of the window's line is on the board when `by` presses, if a ply of his is there to
    /// be completed.
    fn completed_length(&self, by: Color) -> Option<usize> {
        if let Standing::On(n) = self.window.standing(&self.placement) {
            return self.has_open_ply(by, n).then_some(n);
        }
        // The opponent has begun his reply: his men are in the air, what the presser played stands.
        (1..=self.window.len()).rev().find(|&n| {
            self.window.mover(n - 1) == by
                && self.has_open_ply(by, n)
                && reply_in_hand(&self.placement, self.window.position(n))
        })
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

/// Whether `placement` is `position` with the side to move busy: its own men lifted or put down
/// elsewhere, at most one enemy man taken off.
fn reply_in_hand(placement: &Placement, position: &Chess) -> bool {
    let replier = position.turn();
    let squares = placement.difference(position.board());
    let mut taken = 0;
    let busy = squares.into_iter().all(|square| {
        let stood = position.board().piece_at(square);
        taken += usize::from(stood.is_some_and(|piece| piece.color != replier));
        placement.piece_at(square).is_none_or(|piece| piece.color == replier)
    });
    busy && taken <= 1 && squares.count() <= MAX_SQUARES_IN_HAND
}

/// Castling empties two squares, and the king may pass a third.
const MAX_SQUARES_IN_HAND: usize = 3;
