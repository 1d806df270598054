//! Play that goes on after a move that was none (Articles 7.5, 7.6).
//!
//! A press over a placement that no legal move explains freezes the record before it: what stands may
//! be put right. When the opponent plays on from there instead, what stood is taken into the record
//! as it is, and the game is followed further.

use shakmaty::{Color, Position};

use super::{
    super::{
        event::{Cause, Event},
        evidence::Press,
        placement::Placement,
        ply::{self, Ply},
        window::{Standing, Window},
    },
    Tracker,
};

/// What stood at a press for which there was no legal move.
#[derive(Clone, Debug)]
pub(super) struct Frozen {
    /// The press.
    press: Press,
    /// The index that this ply would have.
    ply: usize,
    /// What stood.
    placement: Placement,
    /// The opponent's moves from there.
    after: Window,
}

impl Tracker {
    /// No legal move explains what stands at this press: notes it, if it is something that the
    /// presser alone can have done and from which a game can go on.
    pub(super) fn freeze(&mut self, press: Press) {
        if self.frozen.as_ref().is_some_and(|frozen| frozen.press == press) {
            return; // The board has changed since.
        }
        let tip = self.state.tip();
        self.frozen = None;
        if self.analysing || press.by != tip.turn() || !self.was_seen_whole() {
            return;
        }
        let placement = self.placement.clone();
        let ply = self.state.plies().len();
        self.frozen = ply::after_irregular(tip, &placement).map(|after| Frozen {
            press,
            ply,
            placement,
            after: Window::new(after, ply + 1),
        });
    }

    /// Whether no report can be missing since the record's last position stood on the board: what looks
    /// like an illegal move may be half of what hands did.
    fn was_seen_whole(&self) -> bool {
        let last = self.evidence.last_of(self.state.tip().board(), self.now);
        self.armed.is_none()
            && !self.gap
            && self.missed == 0
            && self.inexact == 0
            && last.is_some_and(|last| {
                let mut since = self.evidence.scenes_from(last).skip(1);
                since.all(|scene| !scene.told_by_dump)
            })
    }

    /// The opponent has pressed after a legal move from what was frozen: both plies are played.
    pub(super) fn played_on(&mut self, press: Press) -> bool {
        if !self.is_answered(Some(press.by)) {
            return false;
        }
        self.thaw();
        self.complete_with(press, true)
    }

    /// What stands still is a legal move of the opponent from what was frozen.
    pub(super) fn made_on(&mut self) -> bool {
        if self.stopped_at.is_some() || !self.is_answered(None) {
            return false;
        }
        self.thaw();
        self.read(1, Cause::Settled, None);
        true
    }

    /// The opponent has pressed too, and his move is none either: the first one stays.
    pub(super) fn play_on_again(&mut self, press: Press) {
        let answered = self.frozen.as_ref().is_some_and(|frozen| {
            frozen.press.by != press.by
                && frozen.ply == self.state.plies().len()
                && ply::after_irregular(frozen.after.position(0), &self.placement).is_some()
        });
        if answered && !self.gap {
            self.thaw();
        }
    }

    /// Whether one legal move of the opponent leads from what was frozen to what stands.
    fn is_answered(&mut self, by: Option<Color>) -> bool {
        let sight = self.sight();
        let Some(mut after) = self.frozen.as_ref().map(|frozen| frozen.after.clone()) else {
            return false;
        };
        after.see(&sight);
        let frozen = self.frozen.as_ref().filter(|frozen| {
            frozen.ply == self.state.plies().len()
                && by.is_none_or(|by| by != frozen.press.by)
                && after.standing(&self.placement) == Standing::On(1)
        });
        frozen.is_some()
    }

    /// Takes what was frozen into the record; the window goes on from there.
    fn thaw(&mut self) {
        let Some(Frozen { press, ply, placement, after }) = self.frozen.take() else {
            return;
        };
        let plies = vec![Ply::irregular(placement, press)];
        self.emit(Event::Plies { from: ply, plies, cause: Cause::PlayedOn });
        self.weigh_orders(ply);
        self.window = after;
        self.orders = None;
        self.missed = 0;
        self.inexact = 0;
        let (placement, emptied_at, at) = (&self.placement, &self.emptied_at, self.now);
        let press = self.pending.map(|press| (press.by, press.at));
        self.window.see(&super::Sight { placement, at, emptied_at, press });
    }
}
