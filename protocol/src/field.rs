//! Field numbers and piece codes, as the board counts and names them.

use core::fmt;

/// One of the 64 fields, numbered in reading order from the corner the board calls the first.
///
/// With the connector at White's left hand, which is the normal way round, 0 is a8, 7 is h8,
/// 56 is a1 and 63 is h1. The board never renumbers; see [`Field::turned`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field(u8);

impl Field {
    /// The field of this number, or `None` above 63.
    pub const fn new(number: u8) -> Option<Self> {
        if number < 64 { Some(Self(number)) } else { None }
    }

    /// The number of the field, 0 to 63.
    pub const fn index(self) -> u8 {
        self.0
    }

    /// All fields in the order of a dump, 0 to 63.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..64).map(Self)
    }

    /// The same place seen by a board that lies the other way round: 63 minus the number.
    pub const fn turned(self) -> Self {
        Self(63 - self.0)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "field {}", self.0)
    }
}

/// What a field reports: nothing, one of the twelve pieces, or one of the three result pieces.
///
/// The codes run pawn, rook, knight, bishop, king, queen: the king comes before the queen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PieceCode {
    /// Code 0x00.
    #[default]
    Empty = 0x00,
    /// Code 0x01.
    WhitePawn = 0x01,
    /// Code 0x02.
    WhiteRook = 0x02,
    /// Code 0x03.
    WhiteKnight = 0x03,
    /// Code 0x04.
    WhiteBishop = 0x04,
    /// Code 0x05.
    WhiteKing = 0x05,
    /// Code 0x06.
    WhiteQueen = 0x06,
    /// Code 0x07.
    BlackPawn = 0x07,
    /// Code 0x08.
    BlackRook = 0x08,
    /// Code 0x09.
    BlackKnight = 0x09,
    /// Code 0x0A.
    BlackBishop = 0x0A,
    /// Code 0x0B.
    BlackKing = 0x0B,
    /// Code 0x0C.
    BlackQueen = 0x0C,
    /// Code 0x0D: the special piece that says "draw".
    DrawMark = 0x0D,
    /// Code 0x0E: the special piece that says "White wins".
    WhiteWinsMark = 0x0E,
    /// Code 0x0F: the special piece that says "Black wins".
    BlackWinsMark = 0x0F,
}

impl PieceCode {
    /// Every code, in the order of their bytes.
    pub const ALL: [Self; 16] = [
        Self::Empty,
        Self::WhitePawn,
        Self::WhiteRook,
        Self::WhiteKnight,
        Self::WhiteBishop,
        Self::WhiteKing,
        Self::WhiteQueen,
        Self::BlackPawn,
        Self::BlackRook,
        Self::BlackKnight,
        Self::BlackBishop,
        Self::BlackKing,
        Self::BlackQueen,
        Self::DrawMark,
        Self::WhiteWinsMark,
        Self::BlackWinsMark,
    ];

    /// The piece of a byte on the wire, or `None` above 0x0F.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        if byte < 16 { Some(Self::ALL[byte as usize]) } else { None }
    }

    /// The byte on the wire.
    pub const fn to_byte(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_end_at_63() {
        assert_eq!(Field::new(63).map(Field::index), Some(63));
        assert_eq!(Field::new(64), None);
        assert_eq!(Field::all().count(), 64);
    }

    #[test]
    fn turning_twice_changes_nothing() {
        for field in Field::all() {
            assert_eq!(field.turned().turned(), field);
        }
        assert_eq!(Field::new(0).map(|a8| a8.turned().index()), Some(63));
    }

    #[test]
    fn piece_codes_are_their_bytes() {
        for byte in 0..=u8::MAX {
            let back = PieceCode::from_byte(byte).map(PieceCode::to_byte);
            assert_eq!(back, (byte < 16).then_some(byte));
        }
        assert_eq!(PieceCode::from_byte(5), Some(PieceCode::WhiteKing));
        assert_eq!(PieceCode::from_byte(6), Some(PieceCode::WhiteQueen));
    }
}
