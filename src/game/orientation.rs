//! Which way round the board lies, and so which field is which square and which clock side whose.

use shakmaty::{Color, Square};

/// Where the board's connector is, seen by White.
///
/// A board numbers its fields from the connector and never learns where White sits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Orientation {
    /// At White's left: the board's numbering is the chess numbering.
    #[default]
    Normal,
    /// At White's right: the real square is the one rotated by 180 degrees.
    Turned,
}

impl Orientation {
    /// The chess square of a square that the board named.
    #[must_use]
    pub fn square(self, named: Square) -> Square {
        match self {
            Self::Normal => named,
            Self::Turned => named.rotate_180(),
        }
    }

    /// Whose side of the clock the left one is, for a clock standing at the connector side.
    ///
    /// Measured on both recordings of real boards: White is on the left with the board in normal
    /// use and on the right with the board turned.
    pub fn left_clock_side(self) -> Color {
        match self {
            Self::Normal => Color::White,
            Self::Turned => Color::Black,
        }
    }
}
