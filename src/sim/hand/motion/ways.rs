//! Captures, castling, en passant and promotion in every order.

use shakmaty::{CastlingSide, Chess, Piece, Position, Square};

use super::Hand;
use crate::sim::hand::habit::Habit;

impl Hand<'_> {
    pub(super) fn capture(&mut self, from: Square, to: Square) {
        let way = self.way(Habit::CAPTURE);
        let aside = self.free_neighbours(to);
        match way {
            Habit::CaptureOwnFirst => {
                let Some(piece) = self.lift(from) else { return };
                self.wait(self.tempo.carry);
                self.lift(to);
                self.wait(self.tempo.shift);
                self.set_down(to, piece);
            }
            Habit::CaptureReplaced => self.travel(from, to),
            Habit::CapturePushedAside if !aside.is_empty() => self.push_aside(from, to, &aside),
            _ => {
                self.lift(to);
                self.wait(self.tempo.shift);
                self.travel(from, to);
            }
        }
    }

    fn push_aside(&mut self, from: Square, to: Square, free: &[Square]) {
        let (Some(piece), Some(&aside)) = (self.lift(from), self.random.pick(free)) else { return };
        self.wait(self.tempo.carry);
        let victim = self.lift(to);
        self.wait(self.tempo.pass);
        if let Some(victim) = victim {
            self.place(aside, victim);
        }
        self.wait(self.tempo.shift);
        self.set_down(to, piece);
        self.wait(self.tempo.shift);
        self.lift(aside);
    }

    pub(super) fn capture_en_passant(&mut self, from: Square, to: Square, victim: Square) {
        match self.way(Habit::EN_PASSANT) {
            Habit::EnPassantVictimFirst => {
                self.lift(victim);
                self.wait(self.tempo.shift);
                self.travel(from, to);
            }
            Habit::EnPassantVictimBetween => {
                let Some(pawn) = self.lift(from) else { return };
                self.wait(self.tempo.shift);
                self.lift(victim);
                self.wait(self.tempo.carry);
                self.set_down(to, pawn);
            }
            _ => {
                self.travel(from, to);
                self.wait(self.tempo.shift);
                self.lift(victim);
            }
        }
    }

    pub(super) fn promote(&mut self, from: Square, to: Square, new: Piece, captures: bool) {
        match self.way(Habit::PROMOTION) {
            Habit::PromotionPawnOff => {
                if captures {
                    self.lift(to);
                    self.wait(self.tempo.shift);
                }
                self.lift(from);
                self.wait(self.tempo.fetch);
                self.set_down(to, new);
            }
            Habit::PromotionPieceFirst => {
                if captures {
                    self.lift(to);
                    self.wait(self.tempo.fetch);
                }
                self.set_down(to, new);
                self.wait(self.tempo.shift);
                self.lift(from);
            }
            _ => {
                if captures {
                    self.capture(from, to);
                } else {
                    self.travel(from, to);
                }
                self.wait(self.tempo.fetch);
                if self.random.chance(600) {
                    self.lift(to);
                    self.wait(self.tempo.shift);
                }
                self.place(to, new);
            }
        }
    }

    /// Castles with the king standing on `king_at`, its home unless it rested on the way. Gives the
    /// square the king ends on.
    pub(super) fn castle(
        &mut self,
        pos: &Chess,
        home: Square,
        rook_at: Square,
        king_at: Square,
    ) -> Square {
        let side = CastlingSide::from_king_side(home < rook_at);
        let (king_to, rook_to) = (side.king_to(pos.turn()), side.rook_to(pos.turn()));
        let free =
            |hand: &Self, sq: Square, own: Square| sq == own || hand.men.piece_at(sq).is_none();
        let way = self.way(Habit::CASTLING);
        if way == Habit::CastleKingFirst && free(self, king_to, king_at) {
            self.travel_apart(king_at, king_to, rook_at, rook_to);
        } else if way == Habit::CastleRookFirst && free(self, rook_to, rook_at) {
            self.travel_apart(rook_at, rook_to, king_at, king_to);
        } else {
            self.swap((king_at, king_to), (rook_at, rook_to));
        }
        king_to
    }

    fn travel_apart(&mut self, from: Square, to: Square, then_from: Square, then_to: Square) {
        if from != to {
            self.travel(from, to);
            self.wait(self.tempo.shift);
        }
        if then_from != then_to {
            self.travel(then_from, then_to);
        }
    }

    /// Takes both men up before either is put down. Both must move: if one stays, only the other goes.
    fn swap(&mut self, one: (Square, Square), other: (Square, Square)) {
        if one.0 == one.1 || other.0 == other.1 {
            return self.travel_apart(one.0, one.1, other.0, other.1);
        }
        let mut pairs = [one, other];
        self.random.shuffle(&mut pairs);
        let lifted = pairs.map(|(from, to)| {
            let piece = self.lift(from);
            self.wait(self.tempo.shift);
            (to, piece)
        });
        let first = usize::from(self.random.chance(500));
        for (to, piece) in [lifted[first], lifted[1 - first]] {
            if let Some(piece) = piece {
                self.wait(self.tempo.shift);
                self.set_down(to, piece);
            }
        }
    }
}
