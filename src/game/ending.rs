//! How a game ends: on the board by the Laws, or by a signal with the kings.

use shakmaty::{Color, Position, Role, Square};

use super::placement::Placement;

/// A result as it stands in a crosstable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameResult {
    /// 1-0.
    WhiteWins,
    /// 0-1.
    BlackWins,
    /// 1/2-1/2.
    Draw,
}

impl GameResult {
    /// The win of `side`.
    pub fn win(side: Color) -> Self {
        side.fold_wb(Self::WhiteWins, Self::BlackWins)
    }

    /// As PGN writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WhiteWins => "1-0",
            Self::BlackWins => "0-1",
            Self::Draw => "1/2-1/2",
        }
    }
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// Article 5.1.1.
    Checkmate,
    /// Article 5.2.1.
    Stalemate,
    /// Article 5.2.2, as far as counting the men proves it.
    DeadPosition,
    /// Both kings stood on centre squares: what players do to tell the board the result.
    Signalled,
}

impl EndReason {
    /// The word used in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Checkmate => "checkmate",
            Self::Stalemate => "stalemate",
            Self::DeadPosition => "dead_position",
            Self::Signalled => "signalled",
        }
    }
}

/// The end that `position` itself is, if it is one.
pub fn on_board(position: &impl Position) -> Option<(GameResult, EndReason)> {
    if position.is_checkmate() {
        Some((GameResult::win(!position.turn()), EndReason::Checkmate))
    } else if position.is_stalemate() {
        Some((GameResult::Draw, EndReason::Stalemate))
    } else {
        dead(position)
    }
}

/// The end that `position` itself is, if there are legal moves and it is one all the same.
pub fn dead(position: &impl Position) -> Option<(GameResult, EndReason)> {
    position.is_insufficient_material().then_some((GameResult::Draw, EndReason::DeadPosition))
}

/// The result that the kings tell, if both stand on centre squares.
///
/// Both light 1-0, both dark 0-1, one of each a draw. Two kings on these squares touch each other,
/// so no legal position looks like this.
pub fn signalled(placement: &Placement) -> Option<GameResult> {
    let king = |color: Color| {
        let mut kings = placement.board().kings() & placement.board().by_color(color);
        let square = kings.pop_front()?;
        (kings.is_empty() && is_centre(square)).then_some(square)
    };
    let (white, black) = (king(Color::White)?, king(Color::Black)?);
    Some(match (white.is_light(), black.is_light()) {
        (true, true) => GameResult::WhiteWins,
        (false, false) => GameResult::BlackWins,
        _ => GameResult::Draw,
    })
}

/// Whether `m` is a king's step to a centre square, which may be the first half of a signal.
pub fn is_king_step_to_centre(m: &shakmaty::Move) -> bool {
    m.role() == Role::King && !m.is_castle() && is_centre(m.to())
}

/// Whether `square` is one of e4, d5, d4, e5.
pub fn is_centre(square: Square) -> bool {
    matches!(square, Square::D4 | Square::D5 | Square::E4 | Square::E5)
}

#[cfg(test)]
mod tests {
    use shakmaty::{Board, CastlingMode, Chess, FromSetup, Piece, fen::Fen};

    use super::*;

    fn kings(white: Square, black: Square) -> Placement {
        let mut placement = Placement::new(Board::empty());
        placement.set(white, Some(Piece { color: Color::White, role: Role::King }));
        placement.set(black, Some(Piece { color: Color::Black, role: Role::King }));
        placement
    }

    #[test]
    fn all_twelve_king_pairs() {
        let centre = [Square::D4, Square::E5, Square::D5, Square::E4];
        for white in centre {
            for black in centre.into_iter().filter(|&black| black != white) {
                let expected = match (white, black) {
                    (Square::E4 | Square::D5, Square::E4 | Square::D5) => GameResult::WhiteWins,
                    (Square::D4 | Square::E5, Square::D4 | Square::E5) => GameResult::BlackWins,
                    _ => GameResult::Draw,
                };
                assert_eq!(signalled(&kings(white, black)), Some(expected), "{white} {black}");
            }
        }
        assert_eq!(signalled(&kings(Square::E4, Square::E6)), None);
        assert_eq!(signalled(&Placement::empty()), None);
    }

    #[test]
    fn ends_on_the_board() {
        let cases = [
            (
                "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3",
                Some((GameResult::BlackWins, EndReason::Checkmate)),
            ),
            ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 70", Some((GameResult::Draw, EndReason::Stalemate))),
            ("8/8/4k3/8/8/3K4/8/8 b - - 0 80", Some((GameResult::Draw, EndReason::DeadPosition))),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", None),
        ];
        for (fen, expected) in cases {
            let setup = fen.parse::<Fen>().unwrap().into_setup();
            let position = Chess::from_setup(setup, CastlingMode::Standard).unwrap();
            assert_eq!(on_board(&position), expected, "{fen}");
        }
    }
}
