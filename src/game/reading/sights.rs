//! What a board shows of a position and of the moves that may have been played from it.

use shakmaty::{Bitboard, Board, Chess, Move, Piece, Position, Role, Square, attacks};

use super::{
    super::placement::difference,
    cost::{DOUBTFUL, HIDDEN, LOST, PLY},
};

/// What the board reported, and what is to be thought of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown<'a> {
    /// What it reported.
    pub(super) board: &'a Board,
    /// Squares of which reports were lost: the next dump shows them otherwise.
    pub(super) doubtful: Bitboard,
    /// What that dump shows.
    pub(super) told: &'a Board,
}

impl Shown<'_> {
    /// The squares that certainly stand otherwise than in `position`.
    fn changed(&self, position: &Chess) -> Bitboard {
        difference(position.board(), self.board) & !self.doubtful
    }

    fn may_hold(&self, square: Square, piece: Piece) -> bool {
        self.board.piece_at(square) == Some(piece)
            || (self.doubtful.contains(square) && self.told.piece_at(square) == Some(piece))
    }
}

/// What a board shows of the moves of the side to move in a position.
pub(super) struct Sights<'a> {
    position: &'a Chess,
    shown: Shown<'a>,
    /// Squares that the mover's men have left.
    left: Bitboard,
    /// Squares where men of his stand that stood otherwise before.
    arrived: Bitboard,
    /// Squares where the opponent's men have arrived.
    answered: Bitboard,
}

impl<'a> Sights<'a> {
    /// `None` if no move can have been made.
    pub(super) fn new(position: &'a Chess, shown: Shown<'a>) -> Option<Self> {
        let before = position.board();
        let mover = position.turn();
        let now = difference(before, shown.board);
        let later = difference(before, shown.told) & shown.doubtful;
        let left = (now | later) & before.by_color(mover);
        let of = |side| (now & shown.board.by_color(side)) | (later & shown.told.by_color(side));
        let (arrived, answered) = (of(mover), of(!mover));
        (arrived.any() || left.any()).then_some(Self { position, shown, left, arrived, answered })
    }

    /// Whether no move is shown, whichever are legal: men of the mover were lifted, and that is all.
    pub(super) fn are_blank(&self) -> bool {
        self.arrived.is_empty()
            && self.answered.is_empty()
            && self.shown.doubtful.is_empty()
            && !self.shown.changed(self.position).intersects(self.position.them())
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
        let left = self.left.contains(from);
        if !left && self.left.any() {
            return None;
        }
        let stands = self.arrived.contains(to) && self.shown.may_hold(to, role.of(mover));
        if !left {
            // Nobody reported that it left its square, but it stands where it can have gone.
            return stands.then_some(PLY + LOST);
        }
        if stands {
            let doubtful = self.shown.doubtful.contains(to);
            return Some(if doubtful { PLY + DOUBTFUL } else { PLY });
        }
        // It was taken where it went before the board could report it.
        if self.answered.contains(to) {
            return Some(PLY + HIDDEN);
        }
        // It went on from there before the board could report it.
        if self.arrived.any() && self.goes_on(to, role.of(mover)) {
            return Some(PLY + GONE_ON);
        }
        // It was taken there, by a man like the one that it took: only its own square tells.
        let retaken = m.is_capture()
            && self.shown.board.by_color(!mover).contains(to)
            && self.shown.changed(self.position).intersects(self.position.them());
        retaken.then_some(PLY + RETAKEN)
    }

    /// Whether `piece`, if it had come to `square`, can have moved on to where such a man has arrived.
    fn goes_on(&self, square: Square, piece: Piece) -> bool {
        let occupied = self.shown.board.occupied();
        let onward = self.arrived & attacks::attacks(square, piece, occupied);
        onward.into_iter().any(|square| self.shown.may_hold(square, piece))
    }

    fn castling_cost(&self, king: Square, rook: Square) -> Option<u32> {
        let mover = self.position.turn();
        let side = shakmaty::CastlingSide::from_king_side(king < rook);
        let (king_to, rook_to) = (side.king_to(mover), side.rook_to(mover));
        let king_left = (self.left | self.arrived).contains(king_to) || self.left.contains(king);
        let there = self.shown.may_hold(king_to, mover.king());
        let rook_there = self.shown.may_hold(rook_to, mover.rook());
        match (king_left && there, rook_there) {
            (true, true) => Some(PLY),
            (true, false) => Some(PLY + HIDDEN),
            _ => None,
        }
    }
}

/// How many squares stand otherwise than in `position`, as hands at work would have it, and how many
/// in a way that needs another reason.
///
/// The side to move may have its men in the air or anywhere, and the men that they can take off the
/// board. The other side's men should stand.
pub(super) fn apart(position: &Chess, shown: &Shown<'_>) -> (u32, u32) {
    let (before, board) = (position.board(), shown.board);
    let mover = position.turn();
    let changed = shown.changed(position);
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

/// What a capture costs more if its only trace is that the taker left his square.
const RETAKEN: u32 = HIDDEN + 500;

/// What a ply costs more whose man went on before it was reported.
const GONE_ON: u32 = HIDDEN + 500;
