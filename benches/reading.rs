//! How fast games are read, told as a ratio to what anybody would measure beside it: replaying the
//! same games from SAN with shakmaty alone.
//!
//!     cargo bench --bench reading
//!     cargo bench --bench reading -- games.pgn      with other games
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
    hall::adapt,
    replay::{Replay, settings},
    sim::{
        capture,
        hand::preset::{Name, Preset},
        pgn,
        score::Score,
    },
    view::capture::{Line, Reader, Record, Writer},
};
use dgt_protocol::{LinkEvent, SingleLink, SingleSettings};
use shakmaty::{Chess, Position, san::SanPlus};

const HISTORICAL: &str = include_str!("../src/cli/historical.pgn");

/// One game in every form that is measured.
struct Game {
    start: Chess,
    sans: Vec<String>,
    settings: Settings,
    observations: Vec<(Timestamp, Observation)>,
    capture: Vec<u8>,
}

fn main() {
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let text =
        file.map_or_else(|| HISTORICAL.as_bytes().to_vec(), |file| std::fs::read(file).unwrap());
    let scores: Vec<Score> = pgn::read(&text).into_iter().map(Result::unwrap).collect();
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
    let san = rate("SAN replay with shakmaty", &games, None, replay_sans);
    rate("tracker alone", &games, Some(san), track);
    rate("replay of a capture, events", &games, Some(san), replay_capture);
}

/// Games a second of `work`, printed, and as a ratio to `beside`.
fn rate(name: &str, games: &[Game], beside: Option<f64>, work: impl Fn(&Game) -> usize) -> f64 {
    let mut done = 0;
    let mut made = 0;
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(2) {
        for game in games {
            made += work(game);
            done += 1;
        }
    }
    assert!(made > 0, "no work was left out");
    let rate = f64::from(done) / start.elapsed().as_secs_f64();
    let ratio = beside.map_or(String::new(), |beside| format!("  1 : {:.1}", beside / rate));
    println!("{name:<30} {rate:>9.0} games/s{ratio}");
    rate
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

fn replay_capture(game: &Game) -> usize {
    let mut events = 0;
    let reader = Reader::new(game.capture.as_slice()).unwrap();
    let mut replay = Replay::new(reader.header()).unwrap();
    for line in reader {
        replay.line(&line.unwrap().unwrap(), &mut |_| events += 1);
    }
    replay.finish(&mut |_| events += 1);
    events
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
