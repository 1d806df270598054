//! What a person types, and gets.

use std::{fs, io::Write, net::TcpListener, process::Stdio};

use boardcast::sim::{board::BoardSettings, pgn};
use rustix::process::Signal;

use super::{GAMES, PASSANT, RETI, game, scoresheet::sans};
use crate::tools::{Player, Program, blocking, boardcast};

const PGN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/hall.pgn");

/// What a command showed and told; whether it succeeded stands beside.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = boardcast(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The mainlines that a reader of event lines ends with.
fn mainlines(events: &str) -> Vec<String> {
    let mut games: Vec<Vec<String>> = Vec::new();
    for line in events.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        if event["event"] == "game_started" {
            games.push(Vec::new());
        } else if event["event"] == "plies" {
            let game = games.last_mut().unwrap();
            game.truncate(event["from"].as_u64().unwrap() as usize);
            game.extend(sans(&event));
        }
    }
    games.into_iter().map(|game| game.join(" ")).collect()
}

#[test]
fn what_is_wrong_in_a_configuration_is_told_with_file_line_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hall.toml");
    let path = path.to_str().unwrap();
    for (rest, places) in [
        ("settle = 1.0\n", &["line 5", "`settle`", "expected one of `settle-s`"][..]),
        ("settle-s = \"1\"\n", &["line 5", "settle-s", "expected f64"]),
        (
            "settle-s = 99.0\n[[table]]\nnumber = 1\nport = \"ttyUSB1\"\n",
            &[
                "line 5, `timing.settle-s`: 99 is out of range; expected 0.1 to 10",
                "line 7, `table.number`: table 1 is already on line 2",
                "line 8, `table.port`: `ttyUSB1` is no full path",
            ],
        ),
    ] {
        fs::write(path, format!("[[table]]\nnumber = 1\nport = \"/dev/a\"\n[timing]\n{rest}"))
            .unwrap();
        for arguments in [&["run", "--config", path][..], &["run", "--check", "--config", path]] {
            let (status, shown, told) = run(arguments);
            assert_eq!((status, shown.as_str()), (Some(1), ""), "{told}");
            for words in places.iter().chain([&path]) {
                assert!(told.contains(words), "{words:?} is not in {told}");
            }
        }
    }
    fs::write(path, "[[table]]\nnumber = 1\nport = \"/dev/a\"\n").unwrap();
    let (status, _, told) = run(&["run", "--check", "--config", path]);
    assert_eq!((status, told), (Some(0), format!("{path}: right, 1 table\n")));
    let (status, _, told) = run(&["run", "--config", "/nowhere/hall.toml"]);
    assert_eq!(status, Some(1));
    assert!(told.contains("/nowhere/hall.toml: there is no such file"), "{told}");
}

#[test]
fn a_demo_whose_port_is_taken_says_how_to_choose_others() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let (status, _, told) = run(&["demo", "--mqtt-port", &port, "--http-port", "0"]);
    assert_eq!(status, Some(1), "{told}");
    assert!(told.contains(&format!("port {port} is in use")), "{told}");
    assert!(told.contains("boardcast demo --mqtt-port 0 --http-port 0"), "{told}");
}

#[test]
fn a_simulation_piped_into_a_replay_gives_the_games_back() {
    let mut simulate = boardcast(&["simulate", "--pgn", PGN, "--noise", "orders", "-o", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let replay = boardcast(&["replay", "-", "--pgn"])
        .stdin(simulate.stdout.take().unwrap())
        .output()
        .unwrap();
    assert!(simulate.wait().unwrap().success() && replay.status.success());
    let games = String::from_utf8(replay.stdout).unwrap();
    let moves = |pgn: &str| -> Vec<Vec<_>> {
        let scores = pgn::read(pgn.as_bytes()).into_iter().map(Result::unwrap);
        scores.map(|score| score.plies().iter().map(|ply| ply.m).collect()).collect()
    };
    assert_eq!(moves(&games), moves(GAMES), "{games}");
    assert_eq!(games.matches("[Result \"1/2-1/2\"]").count(), 1, "{games}");
}

#[test]
fn several_captures_are_replayed_always_the_same_each_line_with_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["1", "2"].map(|seed| {
        let file = folder.path().join(format!("{seed}.jsonl")).to_str().unwrap().to_owned();
        let arguments = ["simulate", "--pgn", PGN, "--seed", seed, "--game", seed, "-o", &file];
        let (status, _, told) = run(&arguments);
        assert_eq!(status, Some(0), "{told}");
        file
    });
    for how in ["--events", "--pgn", "--explain"] {
        let replay = || run(&["replay", &files[0], &files[1], how]);
        let (once, twice) = (replay(), replay());
        assert_eq!(once.0, Some(0), "{}", once.2);
        assert!(!once.1.is_empty() && once == twice, "{how}");
    }
    let (_, events, _) = run(&["replay", &files[0], &files[1]]);
    assert_eq!(mainlines(&events), [RETI, PASSANT]);
    for line in events.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(files.iter().any(|file| event["source"] == file.as_str()), "{line}");
    }

    // A file that is broken at its end does not cost the games before.
    let mut broken = fs::OpenOptions::new().append(true).open(&files[0]).unwrap();
    broken.write_all(b"{\"t\":99").unwrap();
    let last = fs::read(&files[0]).unwrap().split(|byte| *byte == b'\n').count();
    let (status, shown, told) = run(&["replay", &files[0], &files[1]]);
    assert_eq!((status, shown), (Some(1), events));
    assert!(told.contains(&files[0]) && told.contains(&format!("line {last}")), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_goes_on_when_the_cable_is_back_and_replays_to_the_game() {
    let folder = tempfile::tempdir().unwrap();
    let (board, capture) = (folder.path().join("board"), folder.path().join("game.jsonl"));
    let player = Player::sit(&board, &game(0), BoardSettings::new(30_001)).await;
    let capture = capture.to_str().unwrap().to_owned();
    let recorder = Program::start(&["record", board.to_str().unwrap(), "-o", &capture]);
    let recorder = hear(recorder, "ready").await;
    player.play(8).await;
    let recorder = hear(recorder, "4... Nf6").await;
    player.pull_cable().await;
    let recorder = hear(recorder, "does not answer").await;
    player.play(1).await;
    player.put_cable_back().await;
    let recorder = hear(recorder, "5. Qd3").await;
    player.play(player.moves.len() - 9).await;
    let recorder = hear(recorder, "checkmate").await;
    recorder.signal(Signal::TERM);
    let (status, _, told) = blocking(move || recorder.finish()).await;
    assert!(status.success(), "{told:#?}");
    assert!(told.last().unwrap().contains(&format!("lines in {capture}")), "{told:#?}");
    player.leave().await;

    let (status, events, told) = run(&["replay", &capture]);
    assert_eq!((status, mainlines(&events)), (Some(0), vec![RETI.to_owned()]), "{told}");
    let text = fs::read_to_string(&capture).unwrap();
    assert!(text.contains(r#""line":"down""#) && text.contains(r#""line":"up""#), "{text}");
}

async fn hear(program: Program, words: &'static str) -> Program {
    blocking(move || {
        program.hear(words);
        program
    })
    .await
}
