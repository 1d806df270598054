//! What a board shows of a position and of the moves that may have been played from it.

use shakmaty::{Bitboard, Board, Chess, Move, Piece, Position, Role, Square};

use super::{super::placement::difference, HIDDEN, PLY};

/// What a board shows of the moves of the side to move in a position.
pub(super) struct Sights<'a> {
    position: &'a Chess,
    board: &'a Board,
    /// Squares that the mover's men have left.
    left: Bitboard,
    /// Squares where men of his stand that stood otherwise before.
    arrived: Bitboard,
    /// Squares where the opponent's men have arrived.
    answered: Bitboard,
}

impl<'a> Sights<'a> {
    /// `None` if no move can have been made.
    pub(super) fn new(position: &'a Chess, board: &'a Board) -> Option<Self> {
        let before = position.board();
        let changed = difference(before, board);
        let mover = position.turn();
        let left = changed & before.by_color(mover);
        let arrived = changed & board.by_color(mover);
        let answered = changed & board.by_color(!mover);
        (left.any() && (arrived | answered).any()).then_some(Self {
            position,
            board,
            left,
            arrived,
            answered,
        })
    }

    /// What `m` costs if the board shows it.
    pub(super) fn cost(&self, m: Move) -> Option<u32> {
        let mover = self.position.turn();
        let (from, to, role) = match m {
            Move::Normal { from, to, role, promotion, .. } => (from, to, promotion.unwrap_or(role)),
            Move::EnPassant { from, to } => (from, to, Role::Pawn),
            Move::Castle { king, rook } => return self.castling_cost(king, rook),
            Move::Put { .. } => return None,
        };
        if !self.left.contains(from) {
            return None;
        }
        if self.arrived.contains(to) && self.stands(to, role.of(mover)) {
            return Some(PLY);
        }
        // It was taken where it went before the board could report it.
        self.answered.contains(to).then_some(PLY + HIDDEN)
    }

    fn castling_cost(&self, king: Square, rook: Square) -> Option<u32> {
        let mover = self.position.turn();
        let side = shakmaty::CastlingSide::from_king_side(king < rook);
        let (king_to, rook_to) = (side.king_to(mover), side.rook_to(mover));
        let king_left = (self.left | self.arrived).contains(king_to) || self.left.contains(king);
        let there = self.stands(king_to, mover.king());
        let rook_there = self.stands(rook_to, mover.rook());
        match (king_left && there, rook_there) {
            (true, true) => Some(PLY),
            (true, false) => Some(PLY + HIDDEN),
            _ => None,
        }
    }

    fn stands(&self, square: Square, piece: Piece) -> bool {
        self.board.piece_at(square) == Some(piece)
    }
}

/// How many squares stand otherwise than in `position`, as hands at work would have it, and how many
/// in a way that needs another reason.
///
/// The side to move may have its men in the air or anywhere, and the men that they can take off the
/// board. The other side's men should stand.
pub(super) fn apart(position: &Chess, board: &Board) -> (u32, u32) {
    let before = position.board();
    let mover = position.turn();
    let changed = difference(before, board);
    let theirs = changed & (before.by_color(!mover) | board.by_color(!mover));
    let mut strange = 0;
    for square in theirs {
        let victim = before.by_color(!mover).contains(square)
            && !board.by_color(!mover).contains(square)
            && before.attacks_to(square, mover, before.occupied()).any();
        strange += u32::from(!victim);
    }
    (u32::try_from(changed.count()).unwrap_or(0) - strange, strange)
}
