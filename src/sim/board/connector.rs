//! Which field lies under which square.

use dgt_protocol::{Field, PieceCode, Side};
use shakmaty::{Color, Piece, Role, Square};

/// At which hand of White the board's connector lies; this decides what the board calls field 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Connector {
    /// At White's left hand, the normal way: field 0 is a8.
    #[default]
    LeftOfWhite,
    /// At White's right hand: field 0 is h1.
    RightOfWhite,
}

impl Connector {
    /// The field under a square.
    pub fn field(self, sq: Square) -> Field {
        match self {
            Self::LeftOfWhite => field_under(sq),
            Self::RightOfWhite => field_under(sq).turned(),
        }
    }

    /// The side of a clock that stands at the connector's end of the board, for this player.
    pub fn clock_side(self, color: Color) -> Side {
        match (self, color) {
            (Self::LeftOfWhite, Color::White) | (Self::RightOfWhite, Color::Black) => Side::Left,
            _ => Side::Right,
        }
    }
}

/// The code of a man.
pub fn code_of(piece: Piece) -> PieceCode {
    let (white, black) = match piece.role {
        Role::Pawn => (PieceCode::WhitePawn, PieceCode::BlackPawn),
        Role::Knight => (PieceCode::WhiteKnight, PieceCode::BlackKnight),
        Role::Bishop => (PieceCode::WhiteBishop, PieceCode::BlackBishop),
        Role::Rook => (PieceCode::WhiteRook, PieceCode::BlackRook),
        Role::Queen => (PieceCode::WhiteQueen, PieceCode::BlackQueen),
        Role::King => (PieceCode::WhiteKing, PieceCode::BlackKing),
    };
    piece.color.fold_wb(white, black)
}

/// The field of a square in normal use, counted from a8 in reading order.
fn field_under(sq: Square) -> Field {
    let number = (7 - u8::from(sq.rank())) * 8 + u8::from(sq.file());
    Field::new(number).expect("a number below 64")
}
