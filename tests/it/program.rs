//! The real program at the command line: what a person types, sees, and gets.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::tools::{Heard, Mosquitto, Subscriber, Table, blocking, now};

const GAMES: &str = "\
[White \"Fool\"]\n[Black \"Scholar\"]\n[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n\
[White \"Legall\"]\n[Black \"Saint Brie\"]\n[Result \"1-0\"]\n\n\
1. e4 e5 2. Nf3 d6 3. Bc4 Bg4 4. Nc3 g6 5. Nxe5 Bxd1 6. Bxf7+ Ke7 7. Nd5# 1-0\n";
const FOOL: [&str; 4] = ["f3", "e5", "g4", "Qh4#"];
const LEGALL: [&str; 13] =
    ["e4", "e5", "Nf3", "d6", "Bc4", "Bg4", "Nc3", "g6", "Nxe5", "Bxd1", "Bxf7+", "Ke7", "Nd5#"];

fn boardcast(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boardcast"));
    command.args(arguments).env_remove("BOARDCAST_LOG").env_remove("BOARDCAST_BROKER");
    command.stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    boardcast(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A program that is ended with the test.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> Self {
        Self(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended; then there is nothing to kill.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn sans(game: &serde_json::Value) -> Vec<&str> {
    game["plies"].as_array().unwrap().iter().map(|ply| ply["san"].as_str().unwrap()).collect()
}

#[test]
fn every_command_explains_itself_with_examples() {
    let top = text(&run(&["--help"]).stdout);
    for command in ["demo", "run", "boards", "record", "replay", "simulate", "accuracy"] {
        assert!(top.contains(command), "{command} is not in {top}");
        let output = run(&[command, "--help"]);
        let help = text(&output.stdout);
        assert!(output.status.success());
        assert!(help.contains("Examples:"), "{command} shows no examples: {help}");
        assert!(help.contains(&format!("boardcast {command}")), "{help}");
    }
}

#[test]
fn accuracy_prints_a_table_and_ends_as_its_conditions_ask() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    std::fs::write(&pgn, GAMES).unwrap();
    let pgn = pgn.to_str().unwrap();
    let strict = ["--at-least", "100", "--at-most-wrong", "20000"];
    for way in [&[][..], &["--live"]] {
        let mut arguments = vec!["accuracy", "--pgn", pgn, "--preset", "orders"];
        arguments.extend(strict);
        arguments.extend(way);
        let output = run(&arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let table = text(&output.stdout);
        let row = table.lines().find(|line| line.starts_with("orders")).unwrap();
        let cells: Vec<_> = row.split_whitespace().collect();
        assert_eq!(cells[1..4], ["2", "2", "100.00"], "{table}");
        assert_eq!(cells[6..10], ["0", "0", "0", "0"], "wrong plies and alerts: {table}");
    }
    let hopeless = ["accuracy", "--pgn", pgn, "--preset", "orders", "--at-least", "101"];
    let output = run(&hopeless);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("orders: 100.00 % of the games"), "{output:?}");
}

#[test]
fn boards_on_a_bus_are_published_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    std::fs::write(&pgn, GAMES).unwrap();
    let mut command = boardcast(&["demo", "--pgn", pgn.to_str().unwrap(), "--bus", "--once"]);
    command.args(["--tables", "2", "--speed", "4", "--mqtt-port", "0", "--http-port", "0"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    for move_ in ["table 1   2... Qh4#", "table 2   7. Nd5#"] {
        assert!(shown.contains(move_), "{move_} is not in {shown}");
    }
}

#[test]
fn a_demo_plays_its_games_publishes_them_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("games.pgn");
    std::fs::write(&pgn, GAMES).unwrap();
    let arguments = ["--once", "--tables", "2", "--speed", "10", "--mqtt-port", "0"];
    let mut command = boardcast(&["demo", "--pgn", pgn.to_str().unwrap(), "--http-port", "0"]);
    let mut demo = Running::start(command.args(arguments));

    // The line to paste names the port; a client that pastes it sees both games whole.
    let mut said = BufReader::new(demo.0.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("mosquitto_sub") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "the demo ended without an address");
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let port = words[words.iter().position(|word| *word == "-p").unwrap() + 1].parse().unwrap();
    let subscriber = Subscriber::start(port, &["-t", "boardcast/demo/public/table/+/game"]);
    let mut games = std::collections::BTreeMap::new();
    while games.len() < 2 {
        let heard = subscriber.next().expect("both games end before the broker does");
        let game = heard.json();
        if game["result"].is_string() {
            games.insert(game["table"].as_u64().unwrap(), game);
        }
    }
    assert_eq!(sans(&games[&1]), FOOL);
    assert_eq!(sans(&games[&2]), LEGALL);
    assert_eq!((&games[&1]["result"], &games[&2]["result"]), (&"0-1".into(), &"1-0".into()));
    assert_eq!(games[&2]["white"]["name"], "Legall");
    assert_eq!(games[&1]["revision"], 0, "nothing was shown that had to be taken back");

    let mut shown = String::new();
    demo.0.stdout.take().unwrap().read_to_string(&mut shown).unwrap();
    assert!(demo.0.wait().unwrap().success());
    assert!(shown.contains("table 2   7. Nd5#"), "{shown}");
    assert!(shown.contains("table 1   0-1, checkmate"), "{shown}");
}

/// Runs the daemon on a board until the game is over; the events in between, and the daemon.
async fn follow_a_game(mosquitto: &Mosquitto, folder: &Path) -> (Vec<Heard>, Running) {
    let table = Table::start(GAMES.split_once("\n\n[White").unwrap().0, 3.0).await;
    let config = folder.join("hall.toml");
    let hall = format!(
        "[[table]]\nnumber = 1\nport = \"{}\"\n[http]\nenabled = false\n",
        table.path.display()
    );
    std::fs::write(&config, hall).unwrap();
    let url = format!("mqtt://127.0.0.1:{}", mosquitto.port);
    let port = mosquitto.port;
    let subscriber =
        blocking(move || Subscriber::start(port, &["-t", "boardcast/hall/public/table/1/event"]))
            .await;
    let daemon = Running::start(&mut boardcast(&[
        "run",
        "--config",
        config.to_str().unwrap(),
        "--broker",
        &url,
    ]));
    let events =
        blocking(move || subscriber.until(|heard| heard.json()["event"] == "game_ended")).await;
    table.stop().await;
    (events, daemon)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_daemon_publishes_each_move_once_and_in_order_and_ends_on_a_signal() {
    let (mosquitto, folder) =
        (Mosquitto::start("allow_anonymous true"), tempfile::tempdir().unwrap());
    let (events, mut daemon) = follow_a_game(&mosquitto, folder.path()).await;

    let mut told = Vec::new();
    for event in events.iter().map(Heard::json).filter(|event| event["event"] == "plies") {
        assert_eq!(event["from"], told.len(), "each move once, in order: {events:#?}");
        told.extend(sans(&event).into_iter().map(str::to_owned));
    }
    assert_eq!(told, FOOL);

    // A client that comes late reads the whole game, and is told when the daemon goes.
    let late = Subscriber::start(
        mosquitto.port,
        &["-t", "boardcast/hall/public/table/1/game", "-t", "boardcast/hall/status"],
    );
    let kept = late.until(|heard| heard.topic.ends_with("/game"));
    assert_eq!(sans(&kept.last().unwrap().json()), FOOL);
    assert!(kept.last().unwrap().retained);
    let start = now();
    daemon.signal(Signal::TERM);
    assert!(daemon.0.wait().unwrap().success());
    println!("stopped within {:?}", now() - start);
    late.until(|heard| heard.json()["state"] == "offline");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_is_killed_is_offline_and_its_games_are_kept() {
    let (mosquitto, folder) =
        (Mosquitto::start("allow_anonymous true"), tempfile::tempdir().unwrap());
    let (_, daemon) = follow_a_game(&mosquitto, folder.path()).await;
    let topics = ["-t", "boardcast/hall/status", "-t", "boardcast/hall/public/table/1/game"];
    let subscriber = Subscriber::start(mosquitto.port, &topics);
    daemon.signal(Signal::KILL);
    let heard = subscriber
        .until(|heard| heard.topic.ends_with("/status") && heard.json()["state"] == "offline");
    let game = heard.iter().find(|heard| heard.topic.ends_with("/game")).unwrap();
    assert_eq!(sans(&game.json()), FOOL);
}

#[test]
fn a_simulated_capture_replays_to_its_games_and_always_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (pgn, capture) = (folder.path().join("games.pgn"), folder.path().join("games.jsonl"));
    std::fs::write(&pgn, GAMES).unwrap();
    let simulate = |seed: &str, noise: &str| {
        let (pgn, capture) = (pgn.to_str().unwrap(), capture.to_str().unwrap());
        let arguments = ["simulate", "--pgn", pgn, "--seed", seed, "--noise", noise, "-o", capture];
        let output = run(&arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        std::fs::read(capture).unwrap()
    };
    for noise in ["clean", "orders"] {
        let bytes = simulate("3", noise);
        assert_eq!(bytes, simulate("3", noise));
        assert_ne!(bytes, simulate("4", noise));
        let replay = |how: &str| run(&["replay", capture.to_str().unwrap(), how]);
        let (events, again) = (replay("--events"), replay("--events"));
        assert!(events.status.success());
        assert_eq!(events.stdout, again.stdout);
        let games: Vec<Vec<String>> = games_of(&text(&events.stdout));
        assert_eq!(games, [FOOL.map(str::to_owned).to_vec(), LEGALL.map(str::to_owned).to_vec()]);
        let games = text(&replay("--pgn").stdout);
        assert_eq!(games.matches("[Event ").count(), 2, "{games}");
        assert!(games.contains("Qh4#") && games.contains("Nd5#"), "{games}");
    }
}

/// Folds event lines as any reader may: a game begins, plies from n on are replaced.
fn games_of(events: &str) -> Vec<Vec<String>> {
    let mut games = Vec::new();
    let mut t = 0;
    for line in events.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(event["t"].as_u64().unwrap() >= t);
        t = event["t"].as_u64().unwrap();
        match event["event"].as_str().unwrap() {
            "game_started" => games.push(Vec::new()),
            "plies" => {
                let game = games.last_mut().unwrap();
                game.truncate(event["from"].as_u64().unwrap() as usize);
                game.extend(sans(&event).into_iter().map(str::to_owned));
            }
            _ => {}
        }
    }
    games
}

#[test]
fn a_broken_capture_is_told_line_by_line_and_the_rest_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.jsonl");
    let mut file = std::fs::File::create(&path).unwrap();
    let array = format!(
        "8600430809{}",
        "0a0c0b0a0908".to_owned()
            + &"07".repeat(8)
            + &"00".repeat(32)
            + &"01".repeat(8)
            + "0203040605040302"
    );
    writeln!(file, "{{\"capture\":1,\"link\":\"single\"}}").unwrap();
    writeln!(file, "{{\"t\":0,\"rx\":\"{array}\"}}\n{{\"t\":10,\"rx\":\"8e0\"}}\nhello").unwrap();
    writeln!(file, "{{\"t\":3000,\"rx\":\"8e00053400\"}}\n{{\"t\":3100,\"rx\":\"8e00052401\"}}")
        .unwrap();
    drop(file);
    let output = run(&["replay", path.to_str().unwrap()]);
    let complaints = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(complaints.contains("line 3: ") && complaints.contains("line 4: "), "{complaints}");
    assert!(complaints.contains("2 broken lines skipped"), "{complaints}");
    assert_eq!(games_of(&text(&output.stdout)), [["e4"]]);

    let missing = run(&["replay", "/nowhere/game.jsonl"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(&missing.stderr).contains("/nowhere/game.jsonl"));
    assert_eq!(text(&missing.stderr).lines().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_recorded_replays_to_the_moves_that_were_played() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("game.jsonl");
    let table = Table::start(GAMES.split_once("\n\n[White").unwrap().0, 3.0).await;
    let mut recorder = Running::start(&mut boardcast(&[
        "record",
        table.path.to_str().unwrap(),
        "-o",
        capture.to_str().unwrap(),
    ]));
    let said = BufReader::new(recorder.0.stderr.take().unwrap());
    blocking(move || {
        let mut lines = said.lines().map(Result::unwrap);
        assert!(lines.any(|line| line.contains("checkmate")), "the recorder shows the moves");
    })
    .await;
    recorder.signal(Signal::INT);
    assert!(recorder.0.wait().unwrap().success());
    table.stop().await;
    let events = run(&["replay", capture.to_str().unwrap()]);
    assert!(events.status.success(), "{}", text(&events.stderr));
    assert_eq!(games_of(&text(&events.stdout)), [FOOL]);
}
