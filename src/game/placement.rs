//! What stands on the board, legal or not, with a key that is cheap to keep and to compare.

use std::fmt;

use shakmaty::{Bitboard, Board, Color, Move, Piece, Role, Square};

/// What stands on the sixty-four squares. Always representable: two kings of one colour, pawns on
/// the last rank or an empty board are placements too.
#[derive(Clone, PartialEq, Eq)]
pub struct Placement {
    board: Board,
    key: Key,
}

impl Placement {
    /// Nothing stands.
    pub fn empty() -> Self {
        Self { board: Board::empty(), key: Key::default() }
    }

    /// What stands on `board`.
    pub fn new(board: Board) -> Self {
        let key = Key::of(&board);
        Self { board, key }
    }

    /// The squares as shakmaty holds them.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The key of what stands; equal placements have equal keys.
    pub fn key(&self) -> Key {
        self.key
    }

    /// The man on `square`.
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        self.board.piece_at(square)
    }

    /// Puts `piece` on `square`, or empties it. Returns what stood there before.
    pub fn set(&mut self, square: Square, piece: Option<Piece>) -> Option<Piece> {
        let before = self.board.remove_piece_at(square);
        if let Some(old) = before {
            self.key = self.key.toggled(square, old);
        }
        if let Some(new) = piece {
            self.board.set_piece_at(square, new);
            self.key = self.key.toggled(square, new);
        }
        before
    }

    /// The same men with the board turned by 180 degrees.
    pub fn turned(&self) -> Self {
        let mut board = Board::empty();
        for (square, piece) in self.board.clone() {
            board.set_piece_at(square.rotate_180(), piece);
        }
        Self::new(board)
    }

    /// The squares on which the two placements differ.
    pub fn difference(&self, other: &Board) -> Bitboard {
        difference(&self.board, other)
    }

    /// How many men stand.
    pub fn count(&self) -> usize {
        self.board.occupied().count()
    }
}

impl fmt::Debug for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Placement({self})")
    }
}

impl fmt::Display for Placement {
    /// The first field of a FEN.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.board.board_fen())
    }
}

/// The squares on which two boards differ.
pub fn difference(a: &Board, b: &Board) -> Bitboard {
    let colours = (a.white() ^ b.white()) | (a.black() ^ b.black());
    Role::ALL.iter().fold(colours, |squares, &role| squares | (a.by_role(role) ^ b.by_role(role)))
}

/// A fingerprint of a placement, kept up to date square by square: 64 bits for the men of each
/// side, so that one side's move can be recognised while the other side's hand is on the board.
///
/// Different placements can share one in theory; whoever acts on a match compares the boards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    white: u64,
    black: u64,
}

impl Key {
    /// The key of `board`, from scratch.
    pub fn of(board: &Board) -> Self {
        board
            .clone()
            .into_iter()
            .fold(Self::default(), |key, (square, piece)| key.toggled(square, piece))
    }

    /// The key with `piece` on `square` added, or taken away if it stood there.
    #[must_use]
    pub fn toggled(self, square: Square, piece: Piece) -> Self {
        let role = usize::from(piece.role) - 1;
        match piece.color {
            Color::White => Self { white: self.white ^ KEYS[role][usize::from(square)], ..self },
            Color::Black => {
                Self { black: self.black ^ KEYS[role + 6][usize::from(square)], ..self }
            }
        }
    }

    /// The part that tells the men of `side`.
    pub fn of_side(self, side: Color) -> u64 {
        side.fold_wb(self.white, self.black)
    }

    /// The key after the side `turn` played `m` from a position with this key.
    #[must_use]
    pub fn after(self, turn: Color, m: &Move) -> Self {
        match *m {
            Move::Normal { role, from, capture, to, promotion } => {
                let mut key = self.toggled(from, role.of(turn));
                if let Some(victim) = capture {
                    key = key.toggled(to, victim.of(!turn));
                }
                key.toggled(to, promotion.unwrap_or(role).of(turn))
            }
            Move::EnPassant { from, to } => self
                .toggled(from, turn.pawn())
                .toggled(Square::from_coords(to.file(), from.rank()), (!turn).pawn())
                .toggled(to, turn.pawn()),
            Move::Castle { king, rook } => {
                let side = shakmaty::CastlingSide::from_king_side(king < rook);
                self.toggled(king, turn.king())
                    .toggled(rook, turn.rook())
                    .toggled(Square::from_coords(side.king_to_file(), king.rank()), turn.king())
                    .toggled(Square::from_coords(side.rook_to_file(), rook.rank()), turn.rook())
            }
            Move::Put { role, to } => self.toggled(to, role.of(turn)),
        }
    }
}

/// One random number per man and square, the same on every machine and in every version.
const KEYS: [[u64; 64]; 12] = keys();

const fn keys() -> [[u64; 64]; 12] {
    let mut table = [[0; 64]; 12];
    let mut seed: u64 = 0x00B0_A2DC_A57A_2026;
    let mut row = 0;
    while row < 12 {
        let mut square = 0;
        while square < 64 {
            // The splitmix64 sequence.
            seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = seed;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            table[row][square] = z ^ (z >> 31);
            square += 1;
        }
        row += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::{CastlingMode, Chess, FromSetup, Position, fen::Fen};

    use super::*;

    fn position(fen: &str, mode: CastlingMode) -> Chess {
        Chess::from_setup(fen.parse::<Fen>().unwrap().into_setup(), mode).unwrap()
    }

    #[test]
    fn the_key_of_a_move_is_the_key_of_the_board_after_it() {
        let cases = [
            ("r3k2r/pppqbppp/2np1n2/4p3/2B1P3/2NP1N2/PPPQ1PPP/R3K2R w KQkq - 4 8", false),
            ("rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3", false),
            ("3r4/4P1k1/8/8/8/8/8/4K3 w - - 0 60", false),
            ("4k3/8/8/8/8/8/8/RK3R2 w FA - 0 1", true),
            ("1rk3r1/8/8/8/8/8/8/4K3 b gb - 0 1", true),
        ];
        for (fen, chess960) in cases {
            let pos = position(fen, CastlingMode::from_chess960(chess960));
            let key = Key::of(pos.board());
            for m in pos.legal_moves() {
                let after = pos.clone().play(m).unwrap();
                assert_eq!(key.after(pos.turn(), &m), Key::of(after.board()), "{fen} {m:?}");
            }
        }
    }

    #[test]
    fn a_turned_board_turns_back() {
        let start = Placement::new(Board::new());
        assert_ne!(start.turned(), start);
        assert_eq!(start.turned().turned(), start);
        assert_eq!(start.turned().to_string(), "RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr");
    }

    proptest! {
        #[test]
        fn the_kept_key_is_the_key_from_scratch(
            changes in proptest::collection::vec((0u32..64, 0usize..13), 0..200),
        ) {
            let mut placement = Placement::new(Board::new());
            for (square, code) in changes {
                let piece = (code < 12).then(|| Piece {
                    color: Color::from_white(code % 2 == 0),
                    role: Role::ALL[code / 2],
                });
                placement.set(Square::new(square), piece);
                prop_assert_eq!(placement.key(), Key::of(placement.board()));
                prop_assert_eq!(placement.piece_at(Square::new(square)), piece);
            }
        }
    }
}
