//! How fast games are read, told as a ratio to what anybody would measure beside it: replaying the
//! same games from SAN with shakmaty alone.
//!
//!     cargo bench --bench reading
//!     cargo bench --bench reading -- games.pgn                   with other games
//!     cargo bench --bench reading -- --once tracker games.pgn    one of them, once: for a profiler
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on should stop where it stands"
)]
#![expect(clippy::print_stdout, reason = "a benchmark tells its figures")]

use std::time::{Duration, Instant};

use boardcast::{
    accuracy::{capture_of, seed_of},
    game::{Event, Observation, Settings, Timestamp, Tracker},
    hall::{Recorded, State, adapt},
    replay::{Replay, settings},
    sim::{
        capture,
        hand::preset::{Name, Preset},
        pgn,
        score::Score,
    },
    view::{
        capture::{Line, Reader, Record, Writer},
        line::EventLines,
    },
};
use dgt_protocol::{LinkEvent, SingleLink, SingleSettings};
use shakmaty::{Chess, Position, san::SanPlus};

const HISTORICAL: &str = include_str!("../../src/cli/historical.pgn");

/// One game in every form that is measured.
struct Game {
    start: Chess,
    sans: Vec<String>,
    settings: Settings,
    observations: Vec<(Timestamp, Observation)>,
    capture: Vec<u8>,
}

/// Something that can be done with a game; returns how much came of it.
type Work = fn(&Game) -> usize;

fn main() {
    let mut once = None;
    let mut text = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--bench" => {} // Cargo says so.
            "--once" => once = Some(arguments.next().unwrap()),
            file => text.extend(std::fs::read(file).unwrap()),
        }
    }
    let text = if text.is_empty() { HISTORICAL.as_bytes() } else { &text };
    let scores: Vec<Score> = pgn::read(text).into_iter().map(Result::unwrap).collect();
    let games: Vec<Game> =
        scores.iter().enumerate().map(|(i, score)| game(score, seed_of(1, i))).collect();
    let count = |of: fn(&Game) -> usize| games.iter().map(of).sum::<usize>() / games.len();
    println!(
        "{} games, on average {} plies, {} observations, {} kB of capture",
        games.len(),
        count(|game| game.sans.len()),
        count(|game| game.observations.len()),
        count(|game| game.capture.len()) / 1000,
    );
    let works: [(&str, Work); 3] =
        [("SAN replay by shakmaty", replay_sans), ("tracker", track), ("replay --events", replay)];
    if let Some(name) = once {
        let (_, work) = works.iter().find(|(known, _)| *known == name).unwrap();
        for game in &games {
            assert!(work(game) > 0, "no work was left out");
        }
        return;
    }
    let mut beside = None;
    for (name, work) in works {
        let rate = rate(&games, work);
        let ratio =
            beside.map_or(String::new(), |beside: f64| format!("  1 : {:.1}", beside / rate));
        println!("{name:<24} {rate:>9.0} games/s{ratio}");
        beside = beside.or(Some(rate));
    }
}

/// Games a second of `work` on one core.
fn rate(games: &[Game], work: Work) -> f64 {
    let mut done = 0;
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(3) {
        for game in games {
            assert!(work(game) > 0, "no work was left out");
            done += 1;
        }
    }
    f64::from(done) / start.elapsed().as_secs_f64()
}

fn replay_sans(game: &Game) -> usize {
    let mut position = game.start.clone();
    for san in &game.sans {
        let san: SanPlus = san.parse().unwrap();
        let m = san.san.to_move(&position).unwrap();
        position.play_unchecked(m);
    }
    position.fullmoves().get() as usize
}

fn track(game: &Game) -> usize {
    let mut tracker = Tracker::new(game.settings.clone());
    let mut plies = 0;
    for (at, observation) in &game.observations {
        tracker.handle(*at, observation);
        while let Some(event) = tracker.poll_event() {
            plies += usize::from(matches!(event, Event::Plies { .. }));
        }
    }
    assert_eq!(tracker.state().plies().len(), game.sans.len());
    plies
}

/// What `boardcast replay --events` does with a file, but for the file itself: from the text of a
/// capture to the text of the events.
fn replay(game: &Game) -> usize {
    let mut text = Vec::new();
    let mut lines = EventLines::of(None);
    let mut state = State::default();
    let mut print = |recorded: &Recorded| {
        state.apply(recorded);
        let table = state.table(recorded.table).unwrap();
        lines.write(recorded, &table.game, &mut text).unwrap();
    };
    let mut reader = Reader::new(game.capture.as_slice()).unwrap();
    let mut replay = Replay::new(reader.header()).unwrap();
    let mut line = Line::default();
    while let Some(found) = reader.read_into(&mut line) {
        found.unwrap().unwrap();
        replay.line(&line, &mut print);
    }
    replay.finish(&mut print);
    text.len()
}

fn game(score: &Score, seed: u64) -> Game {
    let scores = std::slice::from_ref(score);
    let simulation = capture::simulate(scores, &Preset::new(Name::Classical), seed);
    let (header, lines) = capture_of(scores, &simulation);
    let mut writer = Writer::new(Vec::new(), &header).unwrap();
    for line in &lines {
        writer.write(line).unwrap();
    }
    let mut position = score.start().clone();
    let sans = score
        .plies()
        .iter()
        .map(|ply| SanPlus::from_move_and_play_unchecked(&mut position, ply.m).to_string());
    Game {
        start: score.start().clone(),
        sans: sans.collect(),
        settings: settings(&header.table.clone().unwrap_or_default()).unwrap(),
        observations: observations(&lines),
        capture: writer.finish().unwrap(),
    }
}

/// What the tracker is told when this capture is replayed.
fn observations(lines: &[Line]) -> Vec<(Timestamp, Observation)> {
    let mut link = SingleLink::new(SingleSettings::replay(), Duration::ZERO);
    let mut observations = Vec::new();
    for line in lines {
        if let Record::Rx(bytes) = &line.record {
            link.handle_bytes(Duration::from_millis(line.t), bytes);
            let at = Timestamp::from_millis(line.t);
            let told = std::iter::from_fn(|| link.poll_event());
            observations.extend(
                told.filter_map(|event: LinkEvent| Some((at, adapt::observation(&event)?))),
            );
        }
    }
    observations
}
