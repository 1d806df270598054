//! As many boards as a hall has: thirty on one bus, sixteen on cables of their own, each with another
//! game, and everything that can be wrong with a line.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

use boardcast::sim::hand::preset::Name;
use shakmaty::{Chess, Position, san::SanPlus};

use super::{is_status, scoresheet::sans};
use crate::{
    bus::inexact,
    tools::{Program, Subscriber},
};

/// Games of random legal moves, each another one, as PGN: no book and no habit makes them easier to
/// read. Each move takes [`SECONDS`].
fn games(count: u64, plies: usize) -> String {
    let mut pgn = String::new();
    for game in 1..=count {
        write!(
            pgn,
            "[White \"Random {game}\"]\n[TimeControl \"5400\"]\n\n{}*\n\n",
            movetext(game, plies)
        )
        .unwrap();
    }
    pgn
}

/// The moves of game `seed`, numbered.
fn movetext(seed: u64, plies: usize) -> String {
    let mut position = Chess::default();
    let mut chance = seed;
    let mut text = String::new();
    for ply in 0..plies {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        // The constants of Knuth's MMIX generator; the upper bits are the good ones.
        chance =
            chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let m = moves[(chance >> 33) as usize % moves.len()];
        if ply % 2 == 0 {
            write!(text, "{}. ", ply / 2 + 1).unwrap();
        }
        let left = 5_400 - (ply as u64 / 2 + 1) * SECONDS;
        let clock = format!("{}:{:02}:{:02}", left / 3600, left / 60 % 60, left % 60);
        let san = SanPlus::from_move_and_play_unchecked(&mut position, m);
        write!(text, "{san} {{[%clk {clock}]}} ").unwrap();
    }
    text
}

/// A demonstration that plays `pgn` once; how to reach its broker, too.
fn demo(pgn: &Path, tables: u64, arguments: &[&str]) -> (Program, Subscriber) {
    let tables = tables.to_string();
    let common = ["demo", "--once", "--pgn", pgn.to_str().unwrap(), "--tables", &tables];
    let demo = Program::start(
        &[&common[..], &["--mqtt-port", "0", "--http-port", "0"], arguments].concat(),
    );
    let line = demo.hear("mosquitto_sub");
    let port = line.split_once("-p ").unwrap().1.split_once(' ').unwrap().0.parse().unwrap();
    let topics = ["-t", "boardcast/demo/public/table/+/game", "-t", "boardcast/demo/status"];
    (demo, Subscriber::start(port, &topics))
}

/// The moves of each table's game at the end.
fn read(demo: Program, subscriber: &Subscriber) -> BTreeMap<u64, String> {
    let mut games = BTreeMap::new();
    for heard in subscriber.until(|heard| is_status(heard, "offline")) {
        if heard.topic.ends_with("/game") {
            let game = heard.json();
            games.insert(game["table"].as_u64().unwrap(), sans(&game).join(" "));
        }
    }
    let (status, _, told) = demo.finish();
    assert!(status.success(), "{told:#?}");
    games
}

/// The moves of each game of [`games`].
fn played(count: u64, plies: usize) -> BTreeMap<u64, String> {
    let numberless = |text: String| {
        let words = text.split_whitespace();
        let sans = words.filter(|word| !word.ends_with('.') && !word.contains(['{', '}']));
        sans.collect::<Vec<_>>().join(" ")
    };
    (1..=count).map(|game| (game, numberless(movetext(game, plies)))).collect()
}

#[test]
fn thirty_boards_on_a_bus_and_sixteen_on_cables_lose_no_move_to_their_faults() {
    let folder = tempfile::tempdir().unwrap();
    let (on_bus, on_cables) = (folder.path().join("30.pgn"), folder.path().join("16.pgn"));
    fs::write(&on_bus, games(30, PLIES)).unwrap();
    fs::write(&on_cables, games(16, PLIES)).unwrap();
    // A board that has its power from the cable sees nothing while that is pulled, and a line that
    // loses bytes cannot bring its memory: if three moves were missing, nobody could know their order.
    // Boards on a bus repeat what was lost.
    let both = "loss=1e-3,pull=100s+5s,silence=3@160s";
    let (cables, line) = (format!("{both}+8s"), format!("{both}+40s"));
    let (bus, bus_heard) = demo(&on_bus, 30, &["--speed", "5", "--bus", "--faults", &line]);
    let (hall, hall_heard) = demo(&on_cables, 16, &["--speed", "5", "--faults", &cables]);
    assert_eq!(read(hall, &hall_heard), played(16, PLIES));
    assert_eq!(read(bus, &bus_heard), played(30, PLIES));
}

/// How long the players think about each move.
const SECONDS: u64 = 12;

/// Enough for the faults to come in the middle of the games.
const PLIES: usize = 24;

#[test]
fn thirty_boards_on_one_line_lose_no_move_to_its_faults() {
    let games = games(30, 30);
    for faults in ["", "loss=1e-3", "loss=1e-3,pull=60s+20s,silence=17@90s+60s"] {
        for preset in [Name::Orders, Name::Classical] {
            assert_eq!(inexact(&games, preset, faults), [0_u32; 0], "{preset:?} {faults}");
        }
    }
}
