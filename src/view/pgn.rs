//! Games as PGN, with clock comments.

use std::{fmt::Write, ops::Range};

use shakmaty::{Color, EnPassantMode, Position, fen::Fen};

use super::table::{PublicPly, plies_from};
use crate::game::State;

/// The tags of one game, in the order they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tags(Vec<(String, String)>);

impl Tags {
    /// The seven tags that every game has, unknown ones as the standard writes them.
    pub fn roster(event: &str, date: &str, round: &str, white: &str, black: &str) -> Self {
        let known = |value: &str, unknown: &str| {
            if value.is_empty() { unknown.to_owned() } else { value.to_owned() }
        };
        let pairs = [
            ("Event", known(event, "?")),
            ("Site", "?".to_owned()),
            ("Date", known(date, "????.??.??")),
            ("Round", known(round, "?")),
            ("White", known(white, "?")),
            ("Black", known(black, "?")),
        ];
        Self(pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Adds a tag.
    pub fn push(&mut self, name: &str, value: &str) {
        self.0.push((name.to_owned(), value.to_owned()));
    }
}

/// The game of `state` as PGN, ending in an empty line.
///
/// A PGN game holds legal moves only. Where play went on from a position that no legal move leads
/// to, the game ends with a comment that says so, and a second one with the same tags goes on from
/// that position.
pub fn game(tags: &Tags, state: &State) -> String {
    let irregular = (0..state.plies().len()).filter(|&i| state.plies()[i].legal().is_none());
    let ends: Vec<usize> = irregular.chain([state.plies().len()]).collect();
    let mut from = 0;
    ends.into_iter().fold(String::new(), |pgn, end| {
        let part = from..end;
        from = end + 1;
        // A player's first move may have been none: then there is nothing before it to write.
        if part.is_empty() && end < state.plies().len() {
            pgn
        } else {
            pgn + &written(tags, state, part)
        }
    })
}

/// The plies of `part`, all legal, as one game.
fn written(tags: &Tags, state: &State, part: Range<usize>) -> String {
    let result = state.result().map_or("*", |(result, _)| result.as_str());
    let mut pgn = String::new();
    let mut tag = |name: &str, value: &str| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(pgn, "[{name} \"{value}\"]"); // Writing to a string cannot fail.
    };
    for (name, value) in &tags.0 {
        tag(name, value);
    }
    tag("Result", result);
    if !state.start().is_classical() && super::table::variant(state) == "chess960" {
        tag("Variant", "Chess960");
    }
    if (part.start > 0 || !state.start().is_classical())
        && let Some(position) = state.position(part.start)
    {
        tag("SetUp", "1");
        tag("FEN", &Fen::from_position(position, EnPassantMode::Legal).to_string());
    }
    pgn.push('\n');
    let mut words = movetext(state, part.clone());
    if part.end < state.plies().len() {
        words.push("{No legal move leads to what was played here.}".to_owned());
    }
    words.push(result.to_owned());
    let mut column = 0;
    for word in words {
        if column > 0 && column + 1 + word.len() > MAX_COLUMN {
            pgn.push('\n');
            column = 0;
        } else if column > 0 {
            pgn.push(' ');
            column += 1;
        }
        column += word.len();
        pgn.push_str(&word);
    }
    pgn.push_str("\n\n");
    pgn
}

fn movetext(state: &State, part: Range<usize>) -> Vec<String> {
    let mut interrupted = true;
    let mut words = Vec::new();
    for (i, view) in plies_from(state, part.start).take(part.len()).enumerate() {
        let PublicPly { san, clock_ms, .. } = view.into();
        let (Some(san), Some(before)) = (san, state.position(part.start + i)) else {
            break;
        };
        let number = before.fullmoves();
        match before.turn() {
            Color::White => words.push(format!("{number}.")),
            Color::Black if interrupted => words.push(format!("{number}...")),
            Color::Black => {}
        }
        words.push(san);
        interrupted = clock_ms.is_some();
        if let Some(ms) = clock_ms {
            let s = ms / 1000;
            // One word: not every reader copes with a comment on two lines.
            words.push(format!("{{[%clk {}:{:02}:{:02}]}}", s / 3600, s / 60 % 60, s % 60));
        }
    }
    words
}

/// PGN lines stay below 80 characters.
const MAX_COLUMN: usize = 79;

#[cfg(test)]
mod tests {
    use shakmaty::{Board, CastlingMode, san::San};

    use super::*;
    use crate::game::{
        Cause, Event, GameResult, Orientation, Placement, Ply, Start, Timestamp, evidence::Press,
    };

    fn played(fen: Option<&str>, sans: &str) -> State {
        let mut state = State::default();
        if let Some(fen) = fen {
            let setup = fen.parse::<Fen>().unwrap().into_setup();
            let start = Start::from_setup(setup, CastlingMode::Standard).unwrap();
            state.apply(&Event::GameStarted { start, orientation: Orientation::Normal });
        }
        for (i, san) in sans.split_whitespace().enumerate() {
            let m = san.parse::<San>().unwrap().to_move(state.tip()).unwrap();
            let mut ply = Ply::made(m, Timestamp::ZERO);
            ply.clock_ms = (i == 1).then_some(5_397_000);
            state.apply(&Event::Plies { from: i, plies: vec![ply], cause: Cause::Settled });
        }
        state
    }

    #[test]
    fn a_game_that_went_on_after_an_illegal_move_is_two() {
        let mut state = played(None, "e4 e5");
        let board = b"rnbqkbnr/pppp1ppp/8/4p3/4P3/4K3/PPPP1PPP/RNBQ1BNR";
        let placement = Placement::new(Board::from_ascii_board_fen(board).unwrap());
        let press = Press { by: Color::White, at: Timestamp::ZERO, clock_ms: 60_000 };
        let plies = vec![Ply::irregular(placement, press)];
        state.apply(&Event::Plies { from: 2, plies, cause: Cause::PlayedOn });
        assert_eq!(state.first_irregular(), Some(2));
        let m = "Nc6".parse::<San>().unwrap().to_move(state.tip()).unwrap();
        let plies = vec![Ply::made(m, Timestamp::ZERO)];
        state.apply(&Event::Plies { from: 3, plies, cause: Cause::PlayedOn });
        assert_eq!(
            game(&Tags::default(), &state),
            "[Result \"*\"]\n\n1. e4 e5 {[%clk 1:29:57]} {No legal move leads to what was played \
             here.} *\n\n\
             [Result \"*\"]\n[SetUp \"1\"]\n\
             [FEN \"rnbqkbnr/pppp1ppp/8/4p3/4P3/4K3/PPPP1PPP/RNBQ1BNR b kq - 1 2\"]\n\n\
             2... Nc6 *\n\n"
        );
    }

    #[test]
    fn a_game_with_a_result() {
        let mut state = played(None, "f3 e5 g4 Qh4#");
        let reason = crate::game::EndReason::Checkmate;
        state.apply(&Event::GameEnded { result: GameResult::BlackWins, reason });
        let mut tags = Tags::roster("The \"Open\"", "", "1", "White, A", "");
        tags.push("Board", "4");
        assert_eq!(
            game(&tags, &state),
            "[Event \"The \\\"Open\\\"\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"1\"]\n\
             [White \"White, A\"]\n[Black \"?\"]\n[Board \"4\"]\n[Result \"0-1\"]\n\n\
             1. f3 e5 {[%clk 1:29:57]} 2. g4 Qh4# 0-1\n\n"
        );
    }

    #[test]
    fn a_game_from_a_position_begins_with_its_number_and_side() {
        let state = played(Some("8/4P1k1/8/8/8/8/8/4K3 b - - 0 60"), "Kf7 e8=Q+");
        let pgn = game(&Tags::default(), &state);
        assert!(pgn.contains("[FEN \"8/4P1k1/8/8/8/8/8/4K3 b - - 0 60\"]"), "{pgn}");
        assert!(pgn.ends_with("60... Kf7 61. e8=Q+ {[%clk 1:29:57]} *\n\n"), "{pgn}");
    }

    #[test]
    fn long_games_are_wrapped_and_read_back() {
        let sans = "Nf3 Nf6 Ng1 Ng8 ".repeat(40);
        let pgn = game(&Tags::roster("", "", "", "", ""), &played(None, &sans));
        assert!(pgn.lines().all(|line| line.len() < 80));
        let moves = pgn.lines().skip(8).flat_map(str::split_whitespace);
        let read: Vec<_> = moves.filter(|word| word.starts_with('N')).collect();
        assert_eq!(read, sans.split_whitespace().collect::<Vec<_>>());
    }
}
