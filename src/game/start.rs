//! The position a game starts from.

use shakmaty::{
    CastlingMode, Chess, EnPassantMode, FromSetup, Position, PositionError, Setup, fen::Fen,
};

use super::placement::Placement;

/// A legal starting position with the castling rules that go with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Boxed: events carry starts now and then, and are passed on all the time.
    position: Box<Chess>,
    mode: CastlingMode,
}

impl Start {
    /// The array of classical chess.
    pub fn classical() -> Self {
        Self { position: Box::default(), mode: CastlingMode::Standard }
    }

    /// A start from a set-up, for odds games, resumed games and Chess960.
    ///
    /// # Errors
    ///
    /// If no legal game can stand there; shakmaty's error names the reasons.
    pub fn from_setup(setup: Setup, mode: CastlingMode) -> Result<Self, Box<PositionError<Chess>>> {
        let position = Chess::from_setup(setup, mode).map_err(Box::new)?;
        Ok(Self { position: Box::new(position), mode })
    }

    /// The Chess960 array that stands on the board, if one does (Guidelines II.2): all pawns at
    /// home, the same pieces on both first ranks, bishops on both colours, the king between rooks.
    pub fn chess960_array(placement: &Placement) -> Option<Self> {
        let board = placement.board();
        let mut setup = Setup::empty();
        setup.board = board.clone();
        setup.castling_rights = board.rooks() & shakmaty::Bitboard::BACKRANKS;
        let fits = board.occupied().count() == 32
            && board.pawns() & board.white() == shakmaty::Rank::Second.into()
            && board.pawns() & board.black() == shakmaty::Rank::Seventh.into()
            && same_back_ranks(placement)
            && king_between_rooks(placement)
            && (board.bishops() & board.white() & shakmaty::Bitboard::DARK_SQUARES).count() == 1;
        if !fits {
            return None;
        }
        let mode = CastlingMode::detect(&setup);
        Self::from_setup(setup, mode).ok()
    }

    /// The position.
    pub fn position(&self) -> &Chess {
        &self.position
    }

    /// Standard or Chess960 castling.
    pub fn mode(&self) -> CastlingMode {
        self.mode
    }

    /// What stands on the board at the start.
    pub fn placement(&self) -> Placement {
        Placement::new(self.position.board().clone())
    }

    /// The starting position as a FEN.
    pub fn fen(&self) -> Fen {
        Fen::from_position(self.position(), EnPassantMode::Legal)
    }

    /// Whether this is the classical array with the classical rules.
    pub fn is_classical(&self) -> bool {
        self.mode == CastlingMode::Standard && *self.position == Chess::new()
    }
}

fn same_back_ranks(placement: &Placement) -> bool {
    shakmaty::File::ALL.iter().all(|&file| {
        let man = |rank| placement.piece_at(shakmaty::Square::from_coords(file, rank));
        match (man(shakmaty::Rank::First), man(shakmaty::Rank::Eighth)) {
            (Some(white), Some(black)) => {
                white.role == black.role && white.color.is_white() && black.color.is_black()
            }
            _ => false,
        }
    })
}

fn king_between_rooks(placement: &Placement) -> bool {
    let board = placement.board();
    let rank = shakmaty::Bitboard::from(shakmaty::Rank::First);
    let rooks = board.rooks() & rank;
    let counts = [
        (board.kings() & rank).count() == 1,
        (board.queens() & rank).count() == 1,
        rooks.count() == 2,
        (board.bishops() & rank).count() == 2,
        (board.knights() & rank).count() == 2,
    ];
    let king = (board.kings() & rank).first();
    counts.iter().all(|&right| right)
        && king.is_some_and(|king| {
            rooks.first().is_some_and(|rook| rook < king)
                && rooks.last().is_some_and(|rook| rook > king)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placement(fen: &str) -> Placement {
        let board = shakmaty::Board::from_ascii_board_fen(fen.as_bytes()).unwrap();
        Placement::new(board)
    }

    #[test]
    fn the_classical_array_is_a_chess960_array_with_classical_castling() {
        let start = Start::chess960_array(&Start::classical().placement()).unwrap();
        assert!(start.is_classical());
    }

    #[test]
    fn a_chess960_array_keeps_all_castling_rights() {
        let start =
            Start::chess960_array(&placement("nrbkqbrn/pppppppp/8/8/8/8/PPPPPPPP/NRBKQBRN"))
                .unwrap();
        assert_eq!(start.mode(), CastlingMode::Chess960);
        assert_eq!(start.position().castles().castling_rights().count(), 4);
    }

    #[test]
    fn other_set_ups_are_not_arrays() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBKQBNR", // White's king and queen exchanged
            "rrkbqbnn/pppppppp/8/8/8/8/PPPPPPPP/RRKBQBNN", // king outside the rooks
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPP1/RNBQKBNR",
            "RNBQKBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbqkbnr",
            "8/8/8/8/8/8/8/8",
        ] {
            assert!(Start::chess960_array(&placement(fen)).is_none(), "{fen}");
        }
    }
}
