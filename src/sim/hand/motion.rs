//! How one move is made: which men are lifted and placed, in which order, how quickly.

use std::time::Duration;

use shakmaty::{Bitboard, Board, Chess, Move, Piece, Position, Square, attacks};

use super::{
    habit::{Habit, Rates},
    preset::{Preset, Tempo},
    script::{Action, Deed},
};
use crate::sim::random::{Random, Span};

mod ways;

/// What a hand does in one go, with the time of each act since the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Motion {
    pub(super) acts: Vec<(Duration, Action)>,
    /// What is worth telling about them.
    pub(super) deeds: Vec<Deed>,
}

impl Motion {
    /// When the last act is done.
    pub(super) fn length(&self) -> Duration {
        self.acts.last().map_or(Duration::ZERO, |&(at, _)| at)
    }

    /// Every square an act touches.
    pub(super) fn squares(&self) -> Bitboard {
        self.acts
            .iter()
            .filter_map(|(_, action)| match *action {
                Action::Lift(sq) | Action::Place(sq, _) => Some(sq),
                _ => None,
            })
            .collect()
    }
}

/// A hand over the men as they stand. Each act is recorded and done at once.
pub(super) struct Hand<'a> {
    rates: &'a Rates,
    tempo: &'a Tempo,
    random: &'a mut Random,
    men: &'a mut Board,
    at: Duration,
    motion: Motion,
}

impl<'a> Hand<'a> {
    pub(super) fn new(preset: &'a Preset, random: &'a mut Random, men: &'a mut Board) -> Self {
        Self {
            rates: &preset.rates,
            tempo: &preset.tempo,
            random,
            men,
            at: Duration::ZERO,
            motion: Motion::default(),
        }
    }

    pub(super) fn finish(self) -> Motion {
        self.motion
    }

    pub(super) fn men(&self) -> &Board {
        self.men
    }

    /// Takes a man off. Lifting from an empty square is no act.
    pub(super) fn lift(&mut self, sq: Square) -> Option<Piece> {
        let piece = self.men.remove_piece_at(sq)?;
        self.motion.acts.push((self.at, Action::Lift(sq)));
        Some(piece)
    }

    pub(super) fn place(&mut self, sq: Square, piece: Piece) {
        self.men.set_piece_at(sq, piece);
        self.motion.acts.push((self.at, Action::Place(sq, piece)));
    }

    pub(super) fn wait(&mut self, span: Span) {
        self.at += span.even(self.random);
    }

    /// Tells of a habit that showed from `since` until now.
    pub(super) fn note(&mut self, habit: Habit, since: Duration) {
        self.motion.deeds.push(Deed { habit, from: since, until: self.at });
    }

    pub(super) fn random(&mut self) -> &mut Random {
        self.random
    }

    /// Makes a move that is legal in `pos`, the position that stands on the board, with everything
    /// that this player's hands do around it. Afterwards the position after the move stands there.
    pub(super) fn make(&mut self, pos: &Chess, m: Move) {
        self.fidget(pos, m);
        let from = self.detour(pos, m);
        let dest = match m {
            Move::Castle { king, rook } => self.castle(pos, king, rook, from),
            Move::EnPassant { from: home, to } => {
                let victim = Square::from_coords(to.file(), home.rank());
                self.capture_en_passant(from, to, victim);
                to
            }
            Move::Normal { to, promotion: Some(role), capture, .. } => {
                let new = role.of(pos.turn());
                self.promote(from, to, new, capture.is_some());
                to
            }
            Move::Normal { to, capture: Some(_), .. } => {
                self.capture(from, to);
                to
            }
            Move::Normal { to, .. } | Move::Put { to, .. } => {
                self.travel(from, to);
                to
            }
        };
        if self.habit(Habit::Bumped) {
            self.bump(dest);
        }
    }

    /// Men touched before the move: put straight, or taken up and thought better of.
    fn fidget(&mut self, pos: &Chess, m: Move) {
        let mut pause = false;
        if self.habit(Habit::Adjusted) {
            let all: Vec<Square> = self.men.occupied().into_iter().collect();
            pause |= self.lift_and_put_back(&all, Span::ms(120, 700), Habit::Adjusted);
        }
        if self.habit(Habit::Touched) {
            let own = pos.us() & !Bitboard::from_iter(m.from());
            let own: Vec<Square> = own.into_iter().collect();
            if pause {
                self.wait(Span::ms(500, 2000));
            }
            pause |= self.lift_and_put_back(&own, Span::ms(300, 2000), Habit::Touched);
        }
        if pause {
            self.wait(Span::ms(400, 3000));
        }
    }

    fn lift_and_put_back(&mut self, from: &[Square], hold: Span, habit: Habit) -> bool {
        let since = self.at;
        let Some(&sq) = self.random.pick(from) else { return false };
        let Some(piece) = self.lift(sq) else { return false };
        self.wait(hold);
        self.place(sq, piece);
        self.note(habit, since);
        true
    }

    /// Where the man that moves stands when its last journey begins: at home, on a square between
    /// where it rested, or on another square the player first chose.
    fn detour(&mut self, pos: &Chess, m: Move) -> Square {
        let home = m.from().expect("a move of chess has an origin");
        let places: Vec<Square> = pos
            .legal_moves()
            .into_iter()
            .filter_map(|other| match other {
                Move::Normal { from, to, capture: None, promotion: None, .. }
                    if from == home && to != m.to() =>
                {
                    Some(to)
                }
                _ => None,
            })
            .collect();
        let between = attacks::between(home, destination(pos, m));
        let resting: Vec<Square> =
            places.iter().copied().filter(|&sq| between.contains(sq)).collect();
        let (habit, squares) = if self.habit(Habit::MoveChanged) {
            (Habit::MoveChanged, places)
        } else if self.habit(Habit::Rested) {
            (Habit::Rested, resting)
        } else {
            return home;
        };
        let Some(&sq) = self.random.pick(&squares) else { return home };
        self.travel(home, sq);
        let since = self.at;
        self.wait(self.tempo.rest);
        self.note(habit, since);
        sq
    }

    /// Carries or pushes the man on `from` to `to`.
    pub(super) fn travel(&mut self, from: Square, to: Square) {
        let passed = self.passed(from, to);
        let slides = !passed.is_empty() && self.habit(Habit::Slid);
        let since = self.at;
        let Some(piece) = self.lift(from) else { return };
        if !slides {
            self.wait(self.tempo.carry);
            return self.set_down(to, piece);
        }
        for sq in passed {
            self.wait(self.tempo.pass);
            self.place(sq, piece);
            self.wait(self.tempo.pass);
            self.lift(sq);
        }
        self.wait(self.tempo.pass);
        self.place(to, piece);
        self.note(Habit::Slid, since);
    }

    /// The squares passed when a man is pushed from one square to another, in their order; none if
    /// something stands in the way or no straight way leads there.
    fn passed(&self, from: Square, to: Square) -> Vec<Square> {
        let between = attacks::between(from, to);
        if (between & self.men.occupied()).any() {
            return Vec::new();
        }
        let mut passed: Vec<Square> = between.into_iter().collect();
        passed.sort_by_key(|sq| sq.distance(from));
        passed
    }

    fn set_down(&mut self, sq: Square, piece: Piece) {
        let beside = self.free_neighbours(sq);
        if self.habit(Habit::NeighbourLit)
            && let Some(&lit) = self.random.pick(&beside)
        {
            let since = self.at;
            self.place(lit, piece);
            self.wait(Span::ms(40, 260));
            self.lift(lit);
            self.note(Habit::NeighbourLit, since);
            self.wait(Span::ms(5, 60));
        }
        self.place(sq, piece);
    }

    /// Knocks a man beside `sq` off its square, sometimes onto a free one, and puts it back.
    fn bump(&mut self, sq: Square) {
        let beside: Vec<Square> =
            (attacks::king_attacks(sq) & self.men.occupied()).into_iter().collect();
        let Some(&home) = self.random.pick(&beside) else { return };
        let since = self.at;
        let Some(piece) = self.lift(home) else { return };
        let free = self.free_neighbours(home);
        let strayed = self.random.chance(300).then(|| self.random.pick(&free).copied()).flatten();
        if let Some(stray) = strayed {
            self.wait(self.tempo.pass);
            self.place(stray, piece);
            self.wait(self.tempo.carry);
            self.lift(stray);
        }
        self.wait(self.tempo.carry);
        self.place(home, piece);
        self.note(Habit::Bumped, since);
    }

    fn free_neighbours(&self, sq: Square) -> Vec<Square> {
        (attacks::king_attacks(sq) & !self.men.occupied()).into_iter().collect()
    }

    pub(super) fn habit(&mut self, habit: Habit) -> bool {
        self.random.chance(self.rates.get(habit))
    }

    fn way<const N: usize>(&mut self, group: [Habit; N]) -> Habit {
        let way = group[self.random.weighted(&self.rates.each(group))];
        self.note(way, self.at);
        way
    }
}

/// Where the man that moves ends, the king if two do.
fn destination(pos: &Chess, m: Move) -> Square {
    match m.castling_side() {
        Some(side) => side.king_to(pos.turn()),
        None => m.to(),
    }
}

#[cfg(test)]
mod tests;
