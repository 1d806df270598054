//! Lines of legal moves that lead from a position to a placement.
//!
//! The search goes for the placement: every ply that does not leave enough plies for the men that
//! still have to arrive, or to disappear, is cut at once. What remains is a handful of lines where
//! a blind search would look at hundreds of thousands.

use shakmaty::{Bitboard, Board, Chess, Color, Move, Position, Role};

use super::{
    placement::{Key, Placement},
    ply,
};

/// How much work one question may cause, in positions looked at. A bound, not a tuning knob: a
/// placement that needs more is reported as unexplained.
pub const BUDGET: usize = 20_000;

/// All shortest lines of at most `max_plies` legal plies from `position` to `target`, up to
/// `max_lines` of them, in the order of shakmaty's move generation. Empty if there is none or if
/// [`BUDGET`] did not suffice to know whether a single one is the only one.
pub fn shortest_lines(
    position: &Chess,
    target: &Placement,
    max_plies: usize,
    max_lines: usize,
) -> Vec<Vec<Move>> {
    let mut search = Search { target, budget: BUDGET, max_lines, line: Vec::new(), found: vec![] };
    for plies in 1..=max_plies {
        search.deepen(position, Key::of(position.board()), plies);
        if search.budget == 0 && search.found.len() < 2 {
            return Vec::new();
        }
        if !search.found.is_empty() {
            break;
        }
    }
    search.found
}

struct Search<'a> {
    target: &'a Placement,
    budget: usize,
    max_lines: usize,
    line: Vec<Move>,
    found: Vec<Vec<Move>>,
}

impl Search<'_> {
    fn deepen(&mut self, position: &Chess, key: Key, plies: usize) {
        if !reachable(position.board(), position.turn(), self.target.board(), plies) {
            return;
        }
        for m in ply::legal_moves(position) {
            if self.budget == 0 || self.found.len() == self.max_lines {
                return;
            }
            self.budget -= 1;
            let next = key.after(position.turn(), &m);
            if plies == 1 && next != self.target.key() {
                continue;
            }
            let Ok(after) = position.clone().play(m) else {
                continue;
            };
            self.line.push(m);
            if plies == 1 {
                if after.board() == self.target.board() {
                    self.found.push(self.line.clone());
                }
            } else {
                self.deepen(&after, next, plies - 1);
            }
            self.line.pop();
        }
    }
}

/// Whether `plies` plies, `turn` first, can suffice to turn `from` into `to`. Never wrongly `false`.
fn reachable(from: &Board, turn: Color, to: &Board, plies: usize) -> bool {
    [Color::White, Color::Black].into_iter().all(|side| {
        let own = if side == turn { plies.div_ceil(2) } else { plies / 2 };
        let arriving = arrivals(from, to, side);
        let vanishing = from.by_color(!side).count().checked_sub(to.by_color(!side).count());
        // Castling brings two men to their squares in one ply.
        arriving.count() <= own + usize::from(castles_into(arriving, to, side))
            && vanishing.is_some_and(|victims| victims <= own)
    })
}

/// Squares where a man of `side` stands in `to` that does not stand there in `from`.
fn arrivals(from: &Board, to: &Board, side: Color) -> Bitboard {
    let (before, after) = (from.by_color(side), to.by_color(side));
    Role::ALL.iter().fold(Bitboard::EMPTY, |squares, &role| {
        squares | ((to.by_role(role) & after) & !(from.by_role(role) & before))
    })
}

fn castles_into(arriving: Bitboard, to: &Board, side: Color) -> bool {
    let home =
        arriving & Bitboard::from(side.fold_wb(shakmaty::Rank::First, shakmaty::Rank::Eighth));
    (home & to.kings()).any() && (home & to.rooks()).any()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shakmaty::{CastlingMode, FromSetup, fen::Fen, san::San};

    use super::*;

    fn position(fen: &str) -> Chess {
        let setup = fen.parse::<Fen>().unwrap().into_setup();
        Chess::from_setup(setup, CastlingMode::Standard).unwrap()
    }

    fn after(position: &Chess, sans: &str) -> Placement {
        let mut position = position.clone();
        for san in sans.split_whitespace() {
            let m = san.parse::<San>().unwrap().to_move(&position).unwrap();
            position = position.play(m).unwrap();
        }
        Placement::new(position.board().clone())
    }

    fn explained(fen: &str, sans: &str) -> Vec<String> {
        let start = position(fen);
        let plies = sans.split_whitespace().count();
        shortest_lines(&start, &after(&start, sans), plies, 8)
            .iter()
            .map(|line| {
                let mut position = start.clone();
                let mut out = Vec::new();
                for m in line {
                    out.push(San::from_move(&position, *m).to_string());
                    position = position.play(*m).unwrap();
                }
                out.join(" ")
            })
            .collect()
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const CASTLING: &str = "r3k2r/pppqbppp/2np1n2/4p3/2B1P3/2NP1N2/PPPQ1PPP/R3K2R w KQkq - 4 8";

    #[test]
    fn single_moves() {
        assert_eq!(explained(START, "e4"), ["e4"]);
        assert_eq!(explained(CASTLING, "O-O"), ["O-O"]);
        assert_eq!(explained(CASTLING, "O-O-O"), ["O-O-O"]);
        assert_eq!(explained("8/4P1k1/8/8/8/8/8/4K3 w - - 0 60", "e8=N+"), ["e8=N"]);
    }

    #[test]
    fn pairs() {
        assert_eq!(explained(START, "e4 e5"), ["e4 e5"]);
        assert_eq!(explained(CASTLING, "O-O O-O-O"), ["O-O O-O-O"]);
        let exchange = "r1bqkbnr/ppp2ppp/2n5/3pp3/3PP3/5N2/PPP2PPP/RNBQKB1R w KQkq - 0 4";
        assert_eq!(explained(exchange, "exd5 Qxd5"), ["exd5 Qxd5"]);
    }

    #[test]
    fn longer_gaps_give_every_order() {
        let mut lines = explained(START, "e4 e5 Nf3 Nc6");
        lines.sort();
        // Black's knight may have come out first; the knight move needs no pawn out of its way.
        assert_eq!(lines, ["Nf3 Nc6 e4 e5", "Nf3 e5 e4 Nc6", "e4 Nc6 Nf3 e5", "e4 e5 Nf3 Nc6"]);
    }

    #[test]
    fn what_no_move_explains_is_not_explained() {
        let start = position(START);
        let mut placement = Placement::new(start.board().clone());
        placement.set(shakmaty::Square::D1, None);
        assert!(shortest_lines(&start, &placement, 3, 8).is_empty());
        placement.set(shakmaty::Square::D5, Some(Color::White.queen()));
        assert!(shortest_lines(&start, &placement, 3, 8).is_empty());
    }

    proptest! {
        #[test]
        fn what_was_played_is_found(choices in proptest::collection::vec(any::<usize>(), 1..40)) {
            let mut line = vec![Chess::default()];
            for choice in choices {
                let pos = line.last().unwrap();
                let moves = pos.legal_moves();
                if moves.is_empty() {
                    break;
                }
                let next = pos.clone().play(moves[choice % moves.len()]).unwrap();
                line.push(next);
            }
            let gap = line.len().min(4) - 1;
            let from = &line[line.len() - 1 - gap];
            let target = Placement::new(line.last().unwrap().board().clone());
            let lines = shortest_lines(from, &target, gap, 64);
            // Fewer plies can lead to the same placement, but some line must be found.
            prop_assert!(gap == 0 || target.board() == from.board() || !lines.is_empty());
        }
    }
}
