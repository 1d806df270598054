//! Boards on a bus: from the line to the games.

use std::{
    process::{Command, Stdio},
    time::Duration,
};

use boardcast::{
    accuracy,
    replay::{self, Replay},
    sim::{
        board::{BoardSettings, VirtualBoard},
        bus::VirtualBus,
        capture,
        faults::FaultSpec,
        hand::{
            self,
            preset::{Name, Preset},
        },
        performance::Performance,
        pgn,
        pty::{PtySettings, perform},
    },
};
use rustix::process::{Pid, Signal, kill_process};
use shakmaty::Position;
use tokio_util::sync::CancellationToken;

use crate::tools::now;

const GAMES: &str = "\
[White \"One\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 1-0\n\n\
[White \"Two\"]\n\n1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. cxd5 exd5 5. Bg5 Be7 6. e3 O-O 7. Bd3 Nbd7 1/2-1/2\n\n\
[White \"Three\"]\n\n1. e4 e6 2. e5 d5 3. exd6 cxd6 4. d4 Nf6 5. c4 g6 6. Nc3 Bg7 7. Nf3 O-O 0-1\n\n\
[White \"Four\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n";

/// Plays each game on a board of its own, all at once, and reads the capture of the bus. Returns the
/// numbers of the boards whose games were not read exactly.
pub(crate) fn inexact(games: &str, preset: Name, faults: &str) -> Vec<u32> {
    let scores: Vec<_> = pgn::read(games.as_bytes()).into_iter().map(Result::unwrap).collect();
    let games: Vec<_> = scores.iter().map(|score| vec![score.clone()]).collect();
    let faults: FaultSpec = faults.parse().unwrap();
    let played = capture::simulate_bus(&games, &faults, &Preset::new(preset), 5);
    let (header, lines) = accuracy::bus_capture_of(&scores, &played);
    let boards = replay::addresses(&lines);
    assert_eq!(boards, played.boards.iter().map(|board| board.address).collect::<Vec<_>>());
    let mut replay = Replay::bus(&header, &boards).unwrap();
    for line in &lines {
        replay.line(line, &mut |_| {});
    }
    replay.finish(&mut |_| {});
    let read =
        |number: u32| replay.state().table(number).unwrap().game.moves(0).collect::<Vec<_>>();
    let truth = |board: &capture::BoardTruth| {
        board.games[0].plies.iter().map(|ply| ply.m).collect::<Vec<_>>()
    };
    assert_eq!(played.boards.len(), scores.len());
    let boards = (1..).zip(&played.boards);
    let wrong = boards.filter(|(number, board)| read(*number) != truth(board));
    wrong.map(|(number, _)| number).collect()
}

#[test]
fn each_board_of_a_bus_has_its_table_and_its_game() {
    for preset in [Name::Clean, Name::Orders, Name::Classical] {
        assert_eq!(inexact(GAMES, preset, ""), [0_u32; 0], "{preset:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_bus_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = (folder.path().join("bus"), folder.path().join("bus.jsonl"));
    let scores: Vec<_> = pgn::read(GAMES.as_bytes()).into_iter().map(Result::unwrap).collect();
    let script = hand::play(&scores[3..], &Preset::new(Name::Clean), 7);
    let board = VirtualBoard::new(BoardSettings::new(1001), Duration::ZERO);
    let board = Performance::new(board, scores[3].start().board(), &script);
    let mut bus = VirtualBus::new([board]);
    let mut recorder = Command::new(env!("CARGO_BIN_EXE_boardcast"));
    let recorder = recorder.args(["record", "--bus"]).arg(&path).arg("-o").arg(&file);
    let mut recorder = recorder.stderr(Stdio::null()).spawn().unwrap();

    let until = Some(script.end + Duration::from_secs(10));
    let settings = PtySettings { link: Some(path), speed: 3.0, until };
    let (start, never) = (now(), CancellationToken::new());
    perform(&mut bus, &settings, || now() - start, |_| {}, &never).await.unwrap();
    kill_process(Pid::from_child(&recorder), Signal::INT).unwrap();
    assert!(recorder.wait().unwrap().success());

    let mut replayed = Command::new(env!("CARGO_BIN_EXE_boardcast"));
    let replayed = replayed.args(["replay", "--pgn"]).arg(&file).output().unwrap();
    let pgn = String::from_utf8(replayed.stdout).unwrap();
    assert!(pgn.contains("f3") && pgn.contains("Qh4#"), "{pgn}");
}

#[test]
fn a_lossy_line_and_a_pulled_cable_cost_no_move() {
    assert_eq!(inexact(GAMES, Name::Orders, "loss=1e-3,pull=60s+20s"), [0_u32; 0]);
}
