//! Reading the last plies again when what followed makes no sense of them.

use shakmaty::{CastlingMode, Chess, Color, Move, Position};
use tracing::trace;

use super::{
    super::{
        alert::Code,
        ending,
        event::Cause,
        evidence::Press,
        ply::Ply,
        reading::{self, Reading, Stretch},
        time::Timestamp,
        window::Window,
    },
    Tracker,
};

impl Tracker {
    /// Reads what was seen since a few plies ago again and takes in what explains it clearly better
    /// than the mainline does. Returns whether anything was found.
    pub(super) fn reread(&mut self) -> bool {
        if !self.may_reread() {
            return false;
        }
        let Some((floor, position, first)) = self.anchor() else {
            return false;
        };
        let stretch = Stretch {
            position: &position,
            evidence: &self.evidence,
            first,
            open: self.open_before(floor, first),
            until: self.now,
            gap_plies: self.settings.gap_plies,
        };
        let believed: Vec<Move> = self.state.moves(floor).collect();
        let readings = reading::read(&stretch);
        let found = readings.iter().map(|reading| (reading, self.firm_part(reading))).find(
            |(reading, firm)| reading.strange == 0 && reading.in_hand <= MAX_IN_HAND && *firm > 0,
        );
        let Some((best, firm)) = found else {
            self.give_up();
            return false;
        };
        let same = believed.iter().zip(&best.line).take_while(|(old, new)| **old == new.0).count();
        if same >= firm {
            self.give_up();
            return false;
        }
        let margin = if same == believed.len() {
            MARGIN_BEYOND
        } else if self.state.plies()[floor + same].completed {
            MARGIN_COMPLETED
        } else {
            MARGIN_MADE
        };
        let cost = reading::cost_of(&stretch, &believed);
        trace!(
            at = self.now.as_millis(), floor, same, firm, margin, believed = ?cost, best = best.cost,
            line = %uci(best), "read again"
        );
        if cost.is_some_and(|cost| best.cost + margin > cost) {
            self.give_up();
            return false;
        }
        let line = best.line.clone();
        self.adopt(floor, &position, &line, firm, same);
        true
    }

    /// What was just decided rests on little: it is looked at again when more was seen.
    pub(super) fn doubt(&mut self) {
        self.review_at.get_or_insert(self.evidence.noted() + REVIEW_SCENES);
    }

    /// Looks again at what was doubtful, if enough was seen since.
    pub(super) fn review(&mut self) {
        if self.review_at.take_if(|at| *at <= self.evidence.noted()).is_some() {
            self.reread();
        }
    }

    fn may_reread(&self) -> bool {
        let board = self.placement.board();
        let kings =
            [Color::White, Color::Black].into_iter().all(|side| board.king_of(side).is_some());
        self.evidence.noted() >= self.reread_at
            && self.state.phase().is_playing()
            && self.armed.is_none()
            && self.stopped_at.is_none()
            && !self.analysing
            && kings
            && ending::signalled(&self.placement).is_none()
    }

    fn give_up(&mut self) {
        let remembered = self.evidence.scenes().len();
        self.reread_at = self.evidence.noted() + 2 + remembered / 16;
    }

    /// Where reading begins: the index of the first ply in doubt, the position before it, and the
    /// scene that shows it.
    fn anchor(&self) -> Option<(usize, Chess, usize)> {
        let plies = self.state.plies();
        let earliest =
            plies.len().saturating_sub(MAX_PLIES_AGAIN).max(self.state.irregular_until());
        (earliest..=plies.len()).find_map(|floor| {
            let position = self.state.position(floor)?;
            let before = plies.get(floor).map_or(self.now, |ply| ply.made_at);
            let first = self.evidence.last_of(position.board(), before)?;
            Some((floor, position.clone(), first))
        })
    }

    /// Whose last ply before `floor` was not pressed yet when scene `first` began.
    fn open_before(&self, floor: usize, first: usize) -> [bool; 2] {
        let since = self.evidence.scenes_from(first).next().map_or(self.now, |scene| scene.at);
        let mut open = [false; 2];
        for i in (0..floor).rev().take(2) {
            let mover = self.state.position(i).map_or(Color::White, Position::turn);
            let pressed_at = self.state.plies()[i].pressed_at;
            open[mover.fold_wb(0, 1)] = pressed_at.is_none_or(|at| at > since);
        }
        open
    }

    /// How many plies of `reading` are more than a glimpse: all but a last one that nobody pressed
    /// and that has not stood for the settle time.
    fn firm_part(&self, reading: &Reading) -> usize {
        let pressed = |at: Timestamp| self.evidence.presses_after(at).next().is_some();
        let fresh =
            reading.line.iter().rev().take_while(|(_, at)| {
                self.now.since(*at) < self.settings.settle_ms && !pressed(*at)
            });
        reading.line.len() - fresh.count().min(2)
    }

    /// Makes the first `firm` plies of `line` the mainline from `floor` on, of which the first
    /// `same` are there already.
    fn adopt(
        &mut self,
        floor: usize,
        position: &Chess,
        line: &[(Move, Timestamp)],
        firm: usize,
        same: usize,
    ) {
        let mut plies: Vec<Ply> = self.state.plies()[floor..floor + same].to_vec();
        plies.extend(line[same..firm].iter().map(|(m, at)| Ply::made(*m, *at)));
        let first = position.turn();
        let last = if plies.len() % 2 == 1 { first } else { !first };
        // What came to the board at one moment was played while nobody looked.
        let unseen = plies.windows(2).any(|pair| pair[0].made_at == pair[1].made_at);
        let mut used = if unseen { self.press_unseen(&mut plies, last) } else { Vec::new() };
        used.extend(self.assign_presses(first, &mut plies));
        if self.pending.is_some_and(|press| used.contains(&press)) {
            self.pending = None;
            self.timers.press = None;
        }
        for ply in plies.iter_mut().rev().skip(2) {
            ply.completed = true;
        }
        let open = plies.iter().rev().take_while(|ply| !ply.completed).count();
        let closed = plies.len() - open;
        let mut before = position.clone();
        for (m, _) in &line[..closed] {
            if let Ok(after) = before.clone().play(*m) {
                before = after;
            }
        }
        self.window = Window::over(before, floor + closed, &line[closed..firm], &line[firm..]);
        self.replace_from(floor, plies, Cause::Reread);
        self.clear(Code::GapUnresolved);
        self.missed = 0;
        self.inexact = 0;
        self.gap = false;
        self.reread_at = self.evidence.noted() + 1;
        if let Some((result, reason)) = ending::on_board(self.window.position(self.window.made()))
            && self.state.phase().is_playing()
        {
            self.end(result, reason);
        }
    }

    /// Gives each ply that has none the press that belongs to it: the first of its side after it
    /// was made, or just before, that belongs to no earlier ply.
    fn assign_presses(&self, first: Color, plies: &mut [Ply]) -> Vec<Press> {
        let mut used = Vec::new();
        for side in [Color::White, Color::Black] {
            let mut last = Timestamp::ZERO;
            let mine: Vec<usize> = (0..plies.len())
                .filter(|i| (if i % 2 == 0 { first } else { !first }) == side)
                .collect();
            for (k, &i) in mine.iter().enumerate() {
                if let Some(at) = plies[i].pressed_at {
                    last = last.max(at);
                    continue;
                }
                let next = mine.get(k + 1).map(|&next| plies[next].made_at);
                let made = plies[i].made_at;
                let press = self
                    .evidence
                    .presses_after(last)
                    .find(|press| press.by == side && press.at.after(EARLY_MS) >= made);
                let Some(press) =
                    press.filter(|press| next.is_none_or(|next| press.at <= next.after(EARLY_MS)))
                else {
                    continue;
                };
                last = press.at;
                plies[i].press(press);
                used.push(press);
            }
        }
        used
    }
}

fn uci(reading: &Reading) -> String {
    let moves = reading.line.iter();
    let moves = moves.map(|(m, _)| m.to_uci(CastlingMode::Chess960).to_string());
    moves.collect::<Vec<_>>().join(" ")
}

/// How many of the last plies are read again.
const MAX_PLIES_AGAIN: usize = 16;

/// After how many changes of the board a doubtful decision is looked at again: two or three plies.
const REVIEW_SCENES: usize = 8;

/// How many squares may stand otherwise: a man in each hand, or one on its way.
const MAX_IN_HAND: usize = 3;

/// How much better than the mainline an explanation must be, in thousandths of a ply: to go on from
/// it, to replace what was made, to replace what was completed.
const MARGIN_BEYOND: u32 = 1_000;
const MARGIN_MADE: u32 = 1_500;
const MARGIN_COMPLETED: u32 = 3_000;

/// A press may be reported before its move.
const EARLY_MS: u64 = 500;
