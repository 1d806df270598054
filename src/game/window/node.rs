//! A position of the game as the window looks at it.

use shakmaty::{Chess, Color, Move, Position, Square};

use super::super::{
    placement::{Key, Placement},
    ply,
    time::Timestamp,
};

/// A position of the game with the keys of all positions one move later, computed when asked for.
#[derive(Clone, Debug)]
pub(super) struct Node {
    position: Chess,
    key: Key,
    /// The move that led here, if it belongs to the window.
    by: Option<Move>,
    /// When it first stood on the board complete.
    at: Timestamp,
    children: Option<Vec<(Key, Move)>>,
}

impl Node {
    /// The node of `position`.
    pub(super) fn new(position: Chess) -> Self {
        let key = Key::of(position.board());
        Self { position, key, by: None, at: Timestamp::ZERO, children: None }
    }

    /// The position.
    pub(super) fn position(&self) -> &Chess {
        &self.position
    }

    /// The move that led here, if it belongs to the window.
    pub(super) fn by(&self) -> Option<Move> {
        self.by
    }

    /// When it first stood on the board complete.
    pub(super) fn at(&self) -> Timestamp {
        self.at
    }

    /// The same node, first seen at `at`.
    pub(super) fn seen(self, at: Timestamp) -> Self {
        Self { at, ..self }
    }

    /// The node after `m`, if it is legal here.
    pub(super) fn after(&self, m: Move) -> Option<Self> {
        let position = self.position.clone().play(m).ok()?;
        Some(Self { by: Some(m), ..Self::new(position) })
    }

    /// The node after `m`, which is legal here and leads to men with this key.
    fn after_legal(&self, m: Move, key: Key) -> Self {
        let mut position = self.position.clone();
        position.play_unchecked(m);
        Self { position, key, by: Some(m), at: Timestamp::ZERO, children: None }
    }

    /// Whether exactly this stands on the board.
    pub(super) fn stands(&self, placement: &Placement) -> bool {
        self.key == placement.key() && self.position.board() == placement.board()
    }

    /// The node after which exactly `placement` stands. There is at most one: two moves of one side
    /// never lead to the same placement.
    pub(super) fn child(&mut self, placement: &Placement) -> Option<Self> {
        let squares = placement.difference(self.position.board()).count();
        if !SQUARES_OF_A_MOVE.contains(&squares) {
            return None;
        }
        let wanted = placement.key();
        let m = self.children().iter().find(|(key, _)| *key == wanted).map(|(_, m)| *m)?;
        Some(self.after_legal(m, wanted))
            .filter(|after| after.position.board() == placement.board())
    }

    /// Whether the side to move has a legal move.
    pub(super) fn has_moves(&mut self) -> bool {
        !self.children().is_empty()
    }

    /// The node after which the mover's men stand as they do in `placement`, while the opponent's
    /// hand is already busy with his reply; it may have taken one of them off.
    pub(super) fn child_under_reply(&mut self, placement: &Placement) -> Option<Self> {
        let mover = self.position.turn();
        let wanted = placement.key();
        if let Some(after) = self.child_of_side(mover, wanted)
            && after.is_under_reply(placement, Missing::Nobody)
        {
            return Some(after);
        }
        let board = self.position.board();
        let missing = board.by_color(mover) & !placement.board().by_color(mover);
        // The man that moved and a man that was taken off leave their squares.
        if missing.count() != 2 {
            return None;
        }
        missing.into_iter().find_map(|square| {
            let victim = self.position.board().piece_at(square)?;
            let after = self.child_of_side(mover, wanted.toggled(square, victim))?;
            after.is_under_reply(placement, Missing::Captured).then_some(after)
        })
    }

    fn child_of_side(&mut self, side: Color, wanted: Key) -> Option<Self> {
        let wanted = wanted.of_side(side);
        let (key, m) = *self.children().iter().find(|(key, _)| key.of_side(side) == wanted)?;
        Some(self.after_legal(m, key))
    }

    /// Whether `placement` is this position with the side to move busy: its own men lifted or put
    /// down elsewhere, nothing else changed but, as `missing` allows, one enemy man gone.
    pub(super) fn is_under_reply(&self, placement: &Placement, missing: Missing) -> bool {
        let replier = self.position.turn();
        let squares = placement.difference(self.position.board());
        let (mut lifted, mut put_down, mut gone) = (0, 0, None);
        for square in squares {
            match self.position.board().piece_at(square) {
                Some(piece) if piece.color == replier => lifted += 1,
                Some(_) if gone.is_some() => return false,
                Some(_) => gone = Some(square),
                None => {}
            }
            match placement.piece_at(square) {
                Some(piece) if piece.color == replier => put_down += 1,
                Some(_) => return false,
                None => {}
            }
        }
        let moved = self.by.map(Move::to);
        let allowed = |gone| match missing {
            Missing::Nobody => false,
            // The man that has just moved is in its owner's hand again, unless it can be captured.
            Missing::Captured => {
                let mut captors = self.captors(gone);
                moved != Some(gone)
                    || captors.any(|from| lifted == 0 || placement.piece_at(from).is_none())
            }
            Missing::Lifted => moved == Some(gone),
        };
        put_down <= lifted && squares.count() <= MAX_SQUARES_IN_HAND && gone.is_none_or(allowed)
    }

    /// The squares of the men that may take on `square`.
    pub(super) fn captors(&self, square: Square) -> impl Iterator<Item = Square> {
        let captures = ply::legal_moves(&self.position).into_iter();
        captures.filter(move |&m| victim(m) == Some(square)).filter_map(Move::from)
    }

    /// The legal move from `from` to `to`, promoting like `like`.
    pub(super) fn same_move(&self, from: Square, to: Square, like: Move) -> Option<Move> {
        let legal = ply::legal_moves(&self.position);
        let mut moves = legal.iter().filter(|m| m.from() == Some(from) && m.to() == to);
        moves.find(|m| m.promotion() == like.promotion()).copied()
    }

    fn children(&mut self) -> &[(Key, Move)] {
        let Self { position, key, children, .. } = self;
        children.get_or_insert_with(|| {
            let turn = position.turn();
            ply::legal_moves(position).iter().map(|m| (key.after(turn, m), *m)).collect()
        })
    }
}

/// Which man of the side that has moved may be off the board while the other side replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// None.
    Nobody,
    /// One that is being captured, or that is lifted already for the move after the reply.
    Captured,
    /// The one that has just moved: its owner has lifted it again.
    Lifted,
}

/// The square of the man that `m` captures.
fn victim(m: Move) -> Option<Square> {
    match m {
        Move::EnPassant { from, to } => Some(Square::from_coords(to.file(), from.rank())),
        _ => m.is_capture().then(|| m.to()),
    }
}

/// A move leaves one square and comes to another; en passant changes three, castling up to four.
const SQUARES_OF_A_MOVE: std::ops::RangeInclusive<usize> = 2..=4;

/// Castling empties two squares, and the king may pass a third.
const MAX_SQUARES_IN_HAND: usize = 3;
