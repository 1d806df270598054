//! What the tracker is not sure of, and says so: orders of plies that nobody saw, gaps that no legal
//! moves fill.

use shakmaty::{Color, Move, Position};

use super::{
    super::{
        alert::{Alert, Code, Status},
        ending,
        event::Event,
        evidence::Press,
        placement::difference,
        ply::Ply,
        time::Timestamp,
        window::Standing,
    },
    Tracker,
};

/// Lines that all lead from one position to what stands on the board.
#[derive(Clone, Debug)]
pub(super) struct Orders {
    /// Index in the mainline of their first ply.
    pub(super) from: usize,
    /// The line that was read from the board, and the others.
    pub(super) lines: Vec<Vec<Move>>,
}

impl Tracker {
    /// Says that `alert` stands, if it does not yet or told something else.
    pub(super) fn raise(&mut self, alert: Alert) {
        let status = match self.state.alert(alert.code()) {
            Some(open) if *open == alert => return,
            Some(_) => Status::Updated,
            None => Status::Raised,
        };
        self.emit(Event::Alert { status, alert });
    }

    /// Says that the alert of this kind is over, if it stood.
    pub(super) fn clear(&mut self, code: Code) {
        if let Some(alert) = self.state.alert(code).cloned() {
            self.emit(Event::Alert { status: Status::Cleared, alert });
        }
    }

    /// The board is back and shows what it showed before.
    pub(super) fn back_as_before(&mut self) {
        if self.state.phase().is_playing() && self.window.standing(&self.placement) != Standing::Off
        {
            self.resynchronised(0);
        }
    }

    /// The board is back, and `plies` legal plies explain what stands on it.
    pub(super) fn resynchronised(&mut self, plies: usize) {
        let alert = Alert::Resynchronised { plies };
        self.emit(Event::Alert { status: Status::Momentary, alert });
    }

    /// Reports are missing and what stands is explained by nothing: a person must look. With `many`
    /// squares wrong only, for hands may be at work; otherwise with any.
    pub(super) fn gap_stays(&mut self, many: bool) {
        let wrong = difference(self.state.tip().board(), self.placement.board());
        let playing = self.state.phase().is_playing()
            && self.armed.is_none()
            && self.stopped_at.is_none()
            && !self.analysing
            && ending::signalled(&self.placement).is_none();
        if self.gap && playing && wrong.count() > if many { MAX_SQUARES_OF_HANDS } else { 0 } {
            self.raise(Alert::GapUnresolved { wrong });
        }
    }

    /// The mainline has changed from ply `from` on: which orders of plies are still possible?
    pub(super) fn weigh_orders(&mut self, from: usize) {
        self.tell_orders();
        let Some(Alert::MoveOrderUncertain { from: first, orders }) =
            self.state.alert(Code::MoveOrderUncertain).cloned()
        else {
            return;
        };
        let length = orders.first().map_or(0, Vec::len);
        let told: Vec<Move> = self.state.moves(first).take(length).collect();
        if orders.first() != Some(&told) {
            // It was taken back, corrected, or read again with more to go by.
            self.clear(Code::MoveOrderUncertain);
            return;
        }
        if from < first + length && self.state.plies().len() == first + length {
            return;
        }
        // What was played since may not have been possible after each of them.
        let since: Vec<Move> = self.state.moves(first + length).collect();
        let possible: Vec<Vec<Move>> =
            orders.iter().filter(|order| self.goes_on(first, order, &since)).cloned().collect();
        if possible.len() < 2 {
            self.clear(Code::MoveOrderUncertain);
        } else if possible.len() < orders.len() {
            self.raise(Alert::MoveOrderUncertain { from: first, orders: possible });
        }
    }

    /// Says which orders are possible, once the one that was read stands in the mainline.
    fn tell_orders(&mut self) {
        let Some(Orders { from, lines }) = self.orders.take() else {
            return;
        };
        let Some(line) = lines.first() else {
            return;
        };
        let there: Vec<Move> = self.state.moves(from).take(line.len()).collect();
        if there == *line {
            self.raise(Alert::MoveOrderUncertain { from, orders: lines });
        } else if there.len() < line.len() && line.starts_with(&there) {
            self.orders = Some(Orders { from, lines });
        }
    }

    fn goes_on(&self, from: usize, order: &[Move], since: &[Move]) -> bool {
        let Some(mut position) = self.state.position(from).cloned() else {
            return false;
        };
        for m in order.iter().chain(since) {
            if !position.is_legal(*m) {
                return false;
            }
            match position.play(*m) {
                Ok(after) => position = after,
                Err(_) => return false,
            }
        }
        true
    }

    /// Completes the plies at the end of `plies` that have no press, where the presses since the last
    /// one that has are just those that belong to them; `last` made the last ply. Returns the presses
    /// that were used, or none.
    pub(super) fn press_unseen(&self, plies: &mut [Ply], last: Color) -> Vec<Press> {
        let tail = plies.iter().rev().take_while(|ply| ply.pressed_at.is_none()).count();
        let first = plies.len() - tail;
        let since = plies[..first].iter().filter_map(|ply| ply.pressed_at).max();
        let presses: Vec<_> =
            self.evidence.presses_after(since.unwrap_or(Timestamp::ZERO)).collect();
        let mover = |back: usize| if back.is_multiple_of(2) { last } else { !last };
        let fits = presses.len() == tail
            && presses.iter().rev().enumerate().all(|(back, press)| press.by == mover(back));
        if !fits {
            return Vec::new();
        }
        for (ply, press) in plies[first..].iter_mut().zip(&presses) {
            ply.press(*press);
        }
        presses
    }
}

/// So many squares stand otherwise while both players have a hand on the board.
const MAX_SQUARES_OF_HANDS: usize = 4;
