//! Files that people bring: captures and games.

use std::{
    io::{BufRead, BufReader},
    iter,
};

use boardcast::{
    game::{Cause, EndReason, Event, GameResult, Orientation, Ply, Start, State, Timestamp},
    sim::{
        pgn::read,
        score::{Score, ScoredPly},
    },
    view::{
        capture::{BrokenLine, Line, Reader, Record, Writer},
        pgn::{Tags, game},
    },
};
use shakmaty::{Color, EnPassantMode, KnownOutcome, Outcome, Position};

/// Every line of a capture is read or told by its number, and does not depend on its neighbours.
pub fn capture_lines(bytes: &[u8]) {
    if Reader::new(bytes).is_ok() {
        read_capture(bytes);
    } else {
        read_capture(&[HEADER, bytes].concat());
    }
}

/// Whatever games are found in a text are written to a text in which they are found.
pub fn pgn(bytes: &[u8]) {
    for score in read(bytes) {
        match score {
            Ok(score) => write_and_read(&score),
            Err(error) => assert!(error.game > 0 && !error.to_string().is_empty()),
        }
    }
}

fn read_capture(bytes: &[u8]) {
    let read = lines(bytes);
    let (capacity, _) = bytes.split_first().expect("a header");
    let piecemeal = BufReader::with_capacity(1 + usize::from(*capacity & 7), bytes);
    assert_eq!(read, lines(piecemeal), "pieces make no difference");

    // What the file holds below its header, with the numbers of the lines that are not empty.
    let text = bytes.split(|&byte| byte == b'\n').zip(1..).skip(1);
    let mut text = text.filter(|(line, _)| !is_blank(line));
    let header = bytes.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
    let mut last = 0;
    for result in &read {
        let (line, number) = text.next().expect("no more results than lines");
        let alone = lines(&[header, line].concat()[..]);
        if let Some(spaced) = line.strip_suffix(b"\"}") {
            let spaced = lines(&[header, spaced, b"\" }"].concat()[..]);
            assert!(alone.iter().flatten().eq(spaced.iter().flatten()), "a space is no difference");
        }
        match result {
            Ok(line) => {
                assert!(line.t >= last, "time goes back in line {number}");
                last = line.t;
                assert_eq!(alone, [Ok(line.clone())]);
            }
            Err(broken) => {
                assert_eq!(broken.number, number);
                match &alone[..] {
                    [Ok(line)] => assert!(line.t < last, "{broken}"),
                    [Err(_)] if broken.problem.contains("earlier than") => {}
                    [Err(alone)] => assert_eq!(alone.problem, broken.problem),
                    _ => panic!("{alone:?}"),
                }
            }
        }
    }
    assert_eq!(text.next(), None, "every line has its result");
    write_again(bytes, read.into_iter().flatten().filter(keeps_its_text).collect());
}

fn lines(input: impl BufRead) -> Vec<Result<Line, BrokenLine>> {
    let reader = Reader::new(input).expect("a header");
    reader.map(|result| result.expect("memory can be read")).collect()
}

fn is_blank(line: &[u8]) -> bool {
    std::str::from_utf8(line).is_ok_and(|line| line.trim().is_empty())
}

/// Numbers with a fraction in a command may come back with another last digit.
fn keeps_its_text(line: &Line) -> bool {
    !matches!(&line.record, Record::Command(command) if command.to_string().contains(['.', 'e']))
}

fn write_again(bytes: &[u8], lines: Vec<Line>) {
    let header = Reader::new(bytes).expect("a header").header().clone();
    let mut writer = Writer::new(Vec::new(), &header).expect("memory can be written");
    for line in &lines {
        writer.write(line).expect("memory can be written");
    }
    let again = writer.finish().expect("memory can be written");
    assert_eq!(Reader::new(&again[..]).expect("a header").header(), &header);
    assert_eq!(self::lines(&again[..]), lines.into_iter().map(Ok).collect::<Vec<_>>());
}

fn write_and_read(score: &Score) {
    let position = score.start();
    let setup = position.to_setup(EnPassantMode::Legal);
    // Positions with too many men are read and cannot be the start of a game here.
    let Ok(start) = Start::from_setup(setup, score.castling_mode()) else { return };
    let mut state = State::default();
    state.apply(&Event::GameStarted { start, orientation: Orientation::Normal });
    let plies: Vec<_> = score.plies().iter().map(ply).collect();
    state.apply(&Event::Plies { from: 0, plies: plies.clone(), cause: Cause::Gap });
    assert_eq!(state.plies(), plies, "moves that were read are legal");
    if let Some(result) = result(score.outcome()) {
        state.apply(&Event::GameEnded { result, reason: EndReason::Signalled });
    }
    reads_back(&state);
}

/// Writes the game of a state and finds its moves, clocks and result in the text.
pub(super) fn reads_back(state: &State) {
    let text = game(&Tags::roster("Test \\\"1\\", "", "1", "White, A", ""), state);
    assert!(text.lines().all(|line| line.len() < 80 || line.starts_with("[FEN")), "{text}");
    let games = read(text.as_bytes());
    let [Ok(again)] = &games[..] else { panic!("{games:?} in {text}") };
    let moves = |plies: &[ScoredPly]| plies.iter().map(|ply| ply.m).collect::<Vec<_>>();
    let expected: Vec<_> = state.moves(0).collect();
    assert_eq!(moves(again.plies()), expected, "{text}");
    for (ply, again) in iter::zip(state.plies(), again.plies()) {
        let seconds = ply.clock_ms.map(|ms| u64::from(ms / 1000));
        assert_eq!(again.clock.map(|clock| clock.as_secs()), seconds, "{text}");
    }
    if let Some((told, _)) = state.result() {
        assert_eq!(result(again.outcome()), Some(told), "{text}");
    }
}

fn ply(ply: &ScoredPly) -> Ply {
    let longest = 999 * 3600;
    let clock = ply.clock.map(|clock| clock.as_secs().min(longest) as u32 * 1000);
    Ply { clock_ms: clock, ..Ply::made(ply.m, Timestamp::ZERO) }
}

fn result(outcome: Outcome) -> Option<GameResult> {
    match outcome {
        Outcome::Known(KnownOutcome::Draw) => Some(GameResult::Draw),
        Outcome::Known(KnownOutcome::Decisive { winner: Color::White }) => {
            Some(GameResult::win(Color::White))
        }
        Outcome::Known(KnownOutcome::Decisive { winner: Color::Black }) => {
            Some(GameResult::win(Color::Black))
        }
        Outcome::Unknown => None,
    }
}

const HEADER: &[u8] = b"{\"capture\":1,\"link\":\"single\"}\n";
