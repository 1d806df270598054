//! What stands on a board, as text, and which way round it seems to lie.

use dgt_protocol::Dump;
use shakmaty::{Color, File, Rank, Square};

use crate::{
    game::{Orientation, Placement, Start},
    hall::adapt,
};

/// A board as it was read.
pub(super) struct Picture {
    /// As the board numbers its squares.
    named: Placement,
    /// Which way round it lies.
    pub(super) guess: Guess,
}

/// Which way round a board lies, as far as what stands on it tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guess {
    /// The array of a game stands there this way round.
    Array(Orientation),
    /// White's men are on the whole nearer to this side.
    Likely(Orientation),
    /// Nothing tells.
    Unknown,
}

impl Picture {
    pub(super) fn new(dump: &Dump) -> Self {
        let named = adapt::placement(dump);
        let guess = Guess::new(&named);
        Self { named, guess }
    }

    /// How many men stand there.
    pub(super) fn men(&self) -> usize {
        self.named.count()
    }

    /// The squares as White sees them.
    pub(super) fn placement(&self) -> Placement {
        match self.guess.orientation() {
            Orientation::Normal => self.named.clone(),
            Orientation::Turned => self.named.turned(),
        }
    }

    /// One line for each rank, the eighth first: capital letters are White's men.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let placement = self.placement();
        Rank::ALL.into_iter().rev().map(move |rank| {
            let men = File::ALL.into_iter().map(|file| {
                let piece = placement.piece_at(Square::from_coords(file, rank));
                format!(" {}", piece.map_or('.', shakmaty::Piece::char))
            });
            format!("{}{}", rank.char(), men.collect::<String>())
        })
    }
}

impl Guess {
    fn new(named: &Placement) -> Self {
        let array = |placement: &Placement| {
            *placement == Start::classical().placement()
                || Start::chess960_array(placement).is_some()
        };
        if array(named) {
            return Self::Array(Orientation::Normal);
        }
        if array(&named.turned()) {
            return Self::Array(Orientation::Turned);
        }
        let mean = |color| {
            let men = named.board().by_color(color);
            let ranks: usize = men.into_iter().map(|square| usize::from(square.rank())).sum();
            (men.count() > 0).then(|| ranks * 64 / men.count())
        };
        match mean(Color::White).zip(mean(Color::Black)) {
            Some((white, black)) if white < black => Self::Likely(Orientation::Normal),
            Some((white, black)) if white > black => Self::Likely(Orientation::Turned),
            _ => Self::Unknown,
        }
    }

    /// The orientation to draw the board in.
    pub(super) fn orientation(self) -> Orientation {
        match self {
            Self::Array(orientation) | Self::Likely(orientation) => orientation,
            Self::Unknown => Orientation::default(),
        }
    }

    /// In words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Array(Orientation::Normal) => "connector at White's left",
            Self::Array(Orientation::Turned) => "connector at White's right",
            Self::Likely(Orientation::Normal) => "connector probably at White's left",
            Self::Likely(Orientation::Turned) => "connector probably at White's right",
            Self::Unknown => "nothing tells which way round it lies",
        }
    }
}

#[cfg(test)]
mod tests {
    use dgt_protocol::PieceCode;

    use super::*;

    fn picture(fen: &str, turned: bool) -> Picture {
        let mut codes = [PieceCode::Empty; 64];
        let fen: shakmaty::fen::Fen = fen.parse().unwrap();
        for (square, piece) in &fen.as_setup().board {
            let field = usize::from(square.flip_vertical());
            codes[if turned { 63 - field } else { field }] = crate::sim::board::code_of(piece);
        }
        Picture::new(&Dump::new(codes))
    }

    const ARRAY: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const ENDING: &str = "8/4k3/8/3p4/8/2P5/1K6/8 w - - 0 1";

    #[test]
    fn a_board_is_drawn_as_white_sees_it_whichever_way_it_lies() {
        for turned in [false, true] {
            let lines: Vec<_> = picture(ENDING, turned).lines().collect();
            assert_eq!(lines[1], "7 . . . . k . . .");
            assert_eq!(lines[6], "2 . K . . . . . .");
        }
    }

    #[test]
    fn the_men_tell_how_it_lies() {
        use Orientation::{Normal, Turned};
        let guess = |fen, turned| picture(fen, turned).guess;
        assert_eq!(guess(ARRAY, false), Guess::Array(Normal));
        assert_eq!(guess(ARRAY, true), Guess::Array(Turned));
        assert_eq!(guess(ENDING, false), Guess::Likely(Normal));
        assert_eq!(guess(ENDING, true), Guess::Likely(Turned));
        assert_eq!(guess("8/8/8/8/8/8/8/8 w - - 0 1", false), Guess::Unknown);
    }
}
