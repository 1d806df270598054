//! Reading the games that shall be played from a PGN file.

use std::{borrow::Cow, error::Error, fmt, mem, ops::ControlFlow, time::Duration};

use pgn_reader::{Outcome, RawComment, RawTag, Reader, SanPlus, Visitor};
use shakmaty::{CastlingMode, Chess, Position, PositionError, fen::Fen};

use crate::sim::score::Score;

/// Reads every game of a PGN text; a game that cannot be played is an error in its place, and the
/// games after it are read all the same.
///
/// Comments are looked through for `[%clk h:mm:ss]`; variations and glyphs are skipped. A `Variant` tag
/// with 960 or Fischer in it, or castling rights no classical game can have, make it a game of Chess960.
pub fn read(text: &[u8]) -> Vec<Result<Score, PgnError>> {
    let mut reader = Reader::build(text).set_supported_comment_length(LONGEST_COMMENT).finish();
    let mut visitor = Games { number: 0 };
    let mut games = Vec::new();
    // Reading from memory does not fail; a text that ends in the middle of something ends the list.
    while let Ok(Some(game)) = reader.read_game(&mut visitor) {
        games.push(game);
    }
    games
}

/// Why a game cannot be played, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgnError {
    /// The place of the game in the file, counted from 1.
    pub game: usize,
    /// The ply at fault, counted from 1; nothing if the fault lies in the tags.
    pub ply: Option<usize>,
    /// What is wrong.
    pub fault: PgnFault,
}

/// What can be wrong with a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PgnFault {
    /// The `FEN` tag cannot be read.
    Fen(String),
    /// The `FEN` tag is no position a game can be in.
    Position {
        /// The tag.
        fen: String,
        /// What the rules object to.
        reason: String,
    },
    /// The `Variant` tag names another game.
    Variant(String),
    /// The move is not possible here, or the text names more than one.
    Move {
        /// The move as written, with its number.
        san: String,
        /// The position it was meant for.
        fen: String,
    },
    /// More plies than any game has.
    TooLong,
}

impl fmt::Display for PgnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "game {}", self.game)?;
        if let Some(ply) = self.ply {
            write!(f, ", ply {ply}")?;
        }
        match &self.fault {
            PgnFault::Fen(fen) => write!(f, ": {fen:?} in the FEN tag is not a FEN"),
            PgnFault::Position { fen, reason } => {
                write!(f, ": the FEN {fen:?} is not a playable position: {reason}")
            }
            PgnFault::Variant(name) => write!(f, ": the variant {name:?} cannot be played here"),
            PgnFault::Move { san, fen } => write!(f, ": {san} cannot be played in {fen}"),
            PgnFault::TooLong => write!(f, ": more than {MOST_PLIES} plies"),
        }
    }
}

impl Error for PgnError {}

struct Games {
    number: usize,
}

/// A game while its moves are read.
struct Draft {
    number: usize,
    score: Score,
    pos: Chess,
    comment: Vec<u8>,
}

impl Draft {
    fn fail<T>(&self, fault: PgnFault) -> ControlFlow<Result<Score, PgnError>, T> {
        let ply = Some(self.score.plies().len() + 1);
        ControlFlow::Break(Err(PgnError { game: self.number, ply, fault }))
    }
}

impl Visitor for Games {
    type Tags = Vec<(String, String)>;
    type Movetext = Draft;
    type Output = Result<Score, PgnError>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Self::Tags> {
        self.number += 1;
        ControlFlow::Continue(Vec::new())
    }

    fn tag(
        &mut self,
        tags: &mut Self::Tags,
        name: &[u8],
        value: RawTag<'_>,
    ) -> ControlFlow<Self::Output> {
        if tags.len() < MOST_TAGS {
            let name = String::from_utf8_lossy(name).into_owned();
            tags.push((name, value.decode_utf8_lossy().into_owned()));
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Self::Tags) -> ControlFlow<Self::Output, Self::Movetext> {
        let number = self.number;
        let start = match start(&tags) {
            Ok(start) => start,
            Err(fault) => {
                return ControlFlow::Break(Err(PgnError { game: number, ply: None, fault }));
            }
        };
        let control = value(&tags, "TimeControl").and_then(|text| text.parse().ok());
        let lost_on_time = value(&tags, "Termination")
            .is_some_and(|text| text.eq_ignore_ascii_case("time forfeit"));
        let mut score = Score::new(start.clone());
        score.set_facts(tags, control, lost_on_time);
        ControlFlow::Continue(Draft { number, score, pos: start, comment: Vec::new() })
    }

    fn san(&mut self, draft: &mut Draft, san_plus: SanPlus) -> ControlFlow<Self::Output> {
        if draft.score.plies().len() >= MOST_PLIES {
            return draft.fail(PgnFault::TooLong);
        }
        let Ok(m) = san_plus.san.to_move(&draft.pos) else {
            let fen = Fen::from_position(&draft.pos, shakmaty::EnPassantMode::Legal).to_string();
            let dots = draft.pos.turn().fold_wb(".", "...");
            let san = format!("{}{dots} {san_plus}", draft.pos.fullmoves());
            return draft.fail(PgnFault::Move { san, fen });
        };
        draft.pos.play_unchecked(m);
        draft.score.push(m);
        ControlFlow::Continue(())
    }

    fn partial_comment(
        &mut self,
        draft: &mut Draft,
        comment: RawComment<'_>,
    ) -> ControlFlow<Self::Output> {
        // Only the first pieces of a very long comment are looked at.
        if draft.comment.len() < LONGEST_COMMENT {
            draft.comment.extend_from_slice(comment.as_bytes());
        }
        ControlFlow::Continue(())
    }

    fn comment(&mut self, draft: &mut Draft, comment: RawComment<'_>) -> ControlFlow<Self::Output> {
        let mut text = mem::take(&mut draft.comment);
        text.extend_from_slice(comment.as_bytes());
        if let Some(clock) = clock(&String::from_utf8_lossy(&text)) {
            draft.score.set_last_clock(clock);
        }
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, draft: &mut Draft, outcome: Outcome) -> ControlFlow<Self::Output> {
        draft.score.set_outcome(outcome);
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, draft: Draft) -> Self::Output {
        let Draft { mut score, pos, .. } = draft;
        // A text that breaks off says nothing; then the tag may, or the position.
        if score.outcome().is_unknown() {
            let tag = score.tag("Result").and_then(|text| text.parse().ok());
            score.set_outcome(tag.filter(|tag: &Outcome| tag.is_known()).unwrap_or(pos.outcome()));
        }
        Ok(score)
    }
}

fn value<'a>(tags: &'a [(String, String)], name: &str) -> Option<&'a str> {
    tags.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim())
}

/// The position the tags ask for.
fn start(tags: &[(String, String)]) -> Result<Chess, PgnFault> {
    let variant = value(tags, "Variant").unwrap_or_default().to_ascii_lowercase();
    let chess960 = variant.contains("960") || variant.contains("fischer");
    if !chess960 && !ORDINARY_NAMES.contains(&variant.as_str()) {
        return Err(PgnFault::Variant(variant));
    }
    let Some(text) = value(tags, "FEN") else {
        let start: Fen = INITIAL_FEN.parse().expect("the FEN of the initial position");
        let mode = CastlingMode::from_chess960(chess960);
        return start.into_position(mode).map_err(|error| refusal(INITIAL_FEN, &error));
    };
    let fen: Fen = text.parse().map_err(|_| PgnFault::Fen(text.to_owned()))?;
    let mode = if chess960 { CastlingMode::Chess960 } else { CastlingMode::detect(fen.as_setup()) };
    fen.into_position(mode)
        .or_else(PositionError::ignore_too_much_material)
        .map_err(|error| refusal(text, &error))
}

fn refusal(fen: &str, error: &PositionError<Chess>) -> PgnFault {
    PgnFault::Position { fen: fen.to_owned(), reason: error.to_string() }
}

/// The reading of the last `[%clk ...]` of a comment.
fn clock(comment: &str) -> Option<Duration> {
    let (_, rest) = comment.rsplit_once("%clk")?;
    let text: Cow<'_, str> = rest.split(']').next()?.trim().into();
    let mut seconds = 0_f64;
    let mut parts = 0;
    for part in text.split(':') {
        parts += 1;
        let digits = part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let value = digits.then(|| part.parse::<f64>().ok()).flatten()?;
        if parts > 3 || value >= 1000.0 {
            return None;
        }
        seconds = seconds * 60.0 + value;
    }
    Some(Duration::from_secs(seconds as u64))
}

const INITIAL_FEN: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const ORDINARY_NAMES: [&str; 5] = ["", "standard", "normal", "chess", "from position"];
/// Twice the longest game ever recorded in a tournament, and some more.
const MOST_PLIES: usize = 1200;
const MOST_TAGS: usize = 64;
const LONGEST_COMMENT: usize = 4096;

#[cfg(test)]
mod tests {
    use shakmaty::{Color, KnownOutcome};

    use super::*;

    fn only(text: &str) -> Score {
        let mut games = read(text.as_bytes());
        assert_eq!(games.len(), 1);
        games.remove(0).unwrap()
    }

    #[test]
    fn reads_tags_moves_clocks_and_result() {
        let game = only(
            "[Event \"A \\\"B\\\"\"]\n[TimeControl \"180+2\"]\n[Termination \"Time forfeit\"]\n\n\
             1. e4 {a comment} ({a line} 1. d4 d5) 1... e5 $1 { [%eval 0.3] [%clk 0:02:59.7] } \
             2. Nf3 {[%clk 02:58]} ; rest of the line\n2... Nc6 1-0\n",
        );
        assert_eq!(game.tag("Event"), Some("A \"B\""));
        assert_eq!(game.plies().len(), 4);
        let clocks: Vec<_> =
            game.plies().iter().map(|ply| ply.clock.map(|time| time.as_secs())).collect();
        assert_eq!(clocks, [None, Some(179), Some(178), None]);
        assert_eq!(game.outcome().winner(), Some(Color::White));
        assert_eq!(game.time_control().unwrap().to_string(), "180+2");
        assert!(game.lost_on_time());
    }

    #[test]
    fn reads_chess960_with_its_castling() {
        let game = only(
            "[Variant \"Chess960\"]\n[SetUp \"1\"]\n\
             [FEN \"4k3/8/8/8/8/8/8/5KR1 w G - 0 1\"]\n\n1. O-O Ke7 *\n",
        );
        assert_eq!(game.castling_mode(), CastlingMode::Chess960);
        assert!(game.plies()[0].m.is_castle());
    }

    #[test]
    fn a_bad_game_does_not_spoil_its_neighbours() {
        let games = read(
            b"[Event \"1\"]\n\n1. e4 e5 2. Ke5 Nc6 1-0\n\n\
              [Event \"2\"]\n[FEN \"nonsense\"]\n\n1. e4 *\n\n\
              [Event \"3\"]\n[FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n\n*\n\n\
              [Event \"4\"]\n[Variant \"Atomic\"]\n\n1. e4 *\n\n\
              [Event \"5\"]\n\n1. d4 1/2-1/2\n",
        );
        let faults: Vec<String> =
            games[..4].iter().map(|game| game.as_ref().unwrap_err().to_string()).collect();
        assert_eq!(
            faults[0],
            "game 1, ply 3: 2. Ke5 cannot be played in \
             rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
        );
        assert_eq!(faults[1], "game 2: \"nonsense\" in the FEN tag is not a FEN");
        assert!(faults[2].starts_with("game 3: the FEN \"8/8/8/8/8/8/8/8 w - - 0 1\" is not"));
        assert_eq!(faults[3], "game 4: the variant \"atomic\" cannot be played here");
        assert_eq!(games.len(), 5);
        assert_eq!(games[4].as_ref().unwrap().outcome(), Outcome::Known(KnownOutcome::Draw));
    }

    #[test]
    fn takes_a_missing_result_from_the_tag_or_the_position() {
        assert_eq!(only("[Result \"0-1\"]\n\n1. e4 *\n").outcome().winner(), Some(Color::Black));
        assert_eq!(only("1. f3 e5 2. g4 Qh4#\n").outcome().winner(), Some(Color::Black));
    }

    #[test]
    fn finds_a_clock_behind_a_very_long_comment() {
        let game = only(&format!("1. e4 {{ {} [%clk 0:10:00] }} *\n", "words ".repeat(700)));
        assert_eq!(game.plies()[0].clock, Some(Duration::from_mins(10)));
    }

    #[test]
    fn survives_garbage() {
        for text in ["", "\u{feff}", "}{)(", "[", "1. e4 {", "[Event \"", "1-0 0-1 * *"] {
            for game in read(text.as_bytes()) {
                assert!(game.is_err() || game.is_ok_and(|game| game.plies().len() < 2));
            }
        }
        for bytes in [&[0xff_u8, 0x00, 0x80][..], b"1. e4 {[%clk 9999999:xx]} {[%clk :::]} *"] {
            assert!(
                read(bytes)
                    .iter()
                    .flatten()
                    .all(|game| { game.plies().iter().all(|ply| ply.clock.is_none()) })
            );
        }
    }
}
