//! One half-move of the mainline: a legal move, or what was played against the Laws and stands.

use shakmaty::{
    Board, Chess, Color, EnPassantMode, FromSetup, Move, MoveList, Piece, Position, PositionError,
    Role, Square,
};

use super::{
    evidence::Press,
    placement::{Placement, difference},
    time::Timestamp,
};

/// One half-move of the mainline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ply {
    /// What was played.
    pub step: Step,
    /// When its final placement was first seen.
    pub made_at: Timestamp,
    /// Whether the move is completed (Article 6.2.1): pressed, or made final by what followed.
    /// A made move may still be replaced; a completed one only by the arbiter or by proof.
    pub completed: bool,
    /// When the mover pressed, if a press was seen.
    pub pressed_at: Option<Timestamp>,
    /// The mover's time left right after the press, in milliseconds.
    pub clock_ms: Option<u32>,
}

/// What a ply did to the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A legal move.
    Move(Move),
    /// No legal move leads to what stands here, and play went on from it all the same (Article 7.5):
    /// the record takes it as it stands. Boxed: games without one are the rule.
    Irregular(Box<Placement>),
}

impl Ply {
    /// A move that stands on the board and is not completed.
    pub fn made(m: Move, made_at: Timestamp) -> Self {
        let step = Step::Move(m);
        Self { step, made_at, completed: false, pressed_at: None, clock_ms: None }
    }

    /// A placement that no legal move explains and that stays in the record, pressed by `press`.
    pub fn irregular(placement: Placement, press: Press) -> Self {
        let step = Step::Irregular(Box::new(placement));
        let made_at = press.at;
        let mut ply = Self { step, made_at, completed: true, pressed_at: None, clock_ms: None };
        ply.press(press);
        ply
    }

    /// The move, if it is a legal one.
    pub fn legal(&self) -> Option<Move> {
        match &self.step {
            Step::Move(m) => Some(*m),
            Step::Irregular(_) => None,
        }
    }

    /// Completes it with `press`.
    pub fn press(&mut self, press: Press) {
        self.completed = true;
        self.pressed_at = Some(press.at);
        self.clock_ms = Some(press.clock_ms);
    }
}

impl Step {
    /// The position after this step from `before`, if it is possible there.
    pub fn after(&self, before: &Chess) -> Option<Chess> {
        match self {
            Self::Move(m) if takes_king(*m) => None,
            Self::Move(m) => before.clone().play(*m).ok(),
            Self::Irregular(placement) => after_irregular(before, placement),
        }
    }
}

/// The legal moves in `position`, which may stand after an irregular ply. There a king may be
/// attacked by the side to move, and taking it is no move (Article 1.4.1).
pub fn legal_moves(position: &Chess) -> MoveList {
    let mut moves = position.legal_moves();
    moves.retain(|m| !takes_king(*m));
    moves
}

fn takes_king(m: Move) -> bool {
    m.capture() == Some(Role::King)
}

/// The position in which the opponent of the side to move in `before` is to move and `placement`
/// stands, if a game can go on there: the mover's own men stand otherwise than before and are all
/// there but one that another one may have taken, at most one enemy man is gone, and both have their
/// king.
///
/// A man that moved to a square it may not go to, or left its king in check, gives a position that
/// cannot come about by the Laws. It answers all the same which moves are legal for the opponent.
pub fn after_irregular(before: &Chess, placement: &Placement) -> Option<Chess> {
    let (old, new) = (before.board(), placement.board());
    let mover = before.turn();
    let own = new.by_color(mover).count();
    let theirs = (old.by_color(!mover), new.by_color(!mover));
    let victims = theirs.0 & !theirs.1;
    let stay = Role::ALL
        .iter()
        .all(|&role| (new.by_role(role) & theirs.1).is_subset(old.by_role(role) & theirs.0));
    let kings = Color::ALL.iter().all(|&side| new.king_of(side).is_some() && one_king(new, side));
    let arrived = new.by_color(mover) & difference(old, new);
    if victims.count() > 1 || !stay || !kings || arrived.is_empty() {
        return None;
    }
    let all_there = own == old.by_color(mover).count();
    one_man_moved(before, new).or_else(|| set_up(before, new).filter(|_| all_there))
}

/// The position after one man of the side to move went from its square to another one, however.
fn one_man_moved(before: &Chess, new: &Board) -> Option<Chess> {
    let old = before.board();
    let squares: Vec<Square> = difference(old, new).into_iter().collect();
    let [one, other] = *squares.as_slice() else {
        return None;
    };
    let (from, to) = if new.piece_at(one).is_none() { (one, other) } else { (other, one) };
    let Piece { color, role } = old.piece_at(from)?;
    if color != before.turn() || new.piece_at(from).is_some() || new.piece_at(to)?.role != role {
        return None;
    }
    let capture = old.role_at(to);
    let mut after = before.clone();
    after.play_unchecked(Move::Normal { role, from, capture, to, promotion: None });
    Some(after)
}

/// The position set up as `new` has it, if a legal game could stand there.
fn set_up(before: &Chess, new: &Board) -> Option<Chess> {
    let mut setup = before.to_setup(EnPassantMode::Legal);
    setup.castling_rights &= !difference(before.board(), new);
    for side in Color::ALL {
        if before.board().king_of(side) != new.king_of(side) {
            setup.castling_rights &= !before.board().by_color(side);
        }
    }
    setup.board = new.clone();
    setup.ep_square = None;
    setup.halfmoves = 0;
    if setup.turn.is_black() {
        setup.fullmoves = setup.fullmoves.saturating_add(1);
    }
    setup.turn = !setup.turn;
    Chess::from_setup(setup, before.castles().mode())
        .or_else(PositionError::ignore_too_much_material)
        .or_else(PositionError::ignore_impossible_check)
        .ok()
}

fn one_king(board: &Board, side: Color) -> bool {
    (board.kings() & board.by_color(side)).count() == 1
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, fen::Fen, san::SanPlus};

    use super::*;

    fn position(fen: &str) -> Chess {
        fen.parse::<Fen>().unwrap().into_position(CastlingMode::Standard).unwrap()
    }

    fn placement(fen: &str) -> Placement {
        Placement::new(Board::from_ascii_board_fen(fen.as_bytes()).unwrap())
    }

    #[test]
    fn a_king_left_in_check_stands_and_the_reply_is_legal() {
        let before = position("4k3/p6p/8/8/8/8/P3R2P/4K3 b - - 0 30");
        let after = after_irregular(&before, &placement("4k3/7p/p7/8/8/8/P3R2P/4K3")).unwrap();
        assert_eq!((after.turn(), after.fullmoves().get()), (Color::White, 31));
        assert!(after.legal_moves().iter().any(|m| takes_king(*m)));
        assert!(!legal_moves(&after).iter().any(|m| takes_king(*m)));
        let reply = legal_moves(&after).into_iter().find(|m| m.to() == Square::H3).unwrap();
        assert_eq!(SanPlus::from_move(after, reply).to_string(), "h3+");
    }

    #[test]
    fn a_pawn_on_the_last_rank_and_two_moves_at_once_stand() {
        let before = position("8/4P1k1/8/8/8/8/p7/4K3 w - - 0 60");
        let after = after_irregular(&before, &placement("4P3/6k1/8/8/8/8/p7/4K3")).unwrap();
        assert!(after.legal_moves().iter().any(|m| m.to() == Square::H7));
        let before = Chess::default();
        let two = placement("rnbqkbnr/pppppppp/8/8/3PP3/8/PPP2PPP/RNBQKBNR");
        let after = after_irregular(&before, &two).unwrap();
        assert_eq!(after.turn(), Color::Black);
        assert!(after.castles().has(Color::White, shakmaty::CastlingSide::KingSide));
    }

    #[test]
    fn what_no_hand_of_the_mover_did_is_no_ply() {
        let before = Chess::default();
        for other in [
            // Nothing moved; an enemy man was taken off and nothing else done; an enemy man moved; a king is gone; two victims.
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
            "rnbqkbnr/ppp1pppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
            "rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ1BNR",
            "rnbqkbnr/pppppp2/8/8/8/8/PPPPPPPP/RNBQKBNR",
        ] {
            assert!(after_irregular(&before, &placement(other)).is_none(), "{other}");
        }
    }
}
