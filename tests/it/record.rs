//! `boardcast record`: everything on real terminals, kept and played again.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::Stdio,
};

use boardcast::sim::{
    board::BoardSettings,
    bus::VirtualBus,
    hand::preset::{Name, Preset},
};
use rustix::process::{Pid, Signal, kill_process};

use crate::tools::{Program, Table, blocking, boardcast, performance};

const FOOL: &str = "[TimeControl \"5400\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n";
const BIRD: &str = "[TimeControl \"5400\"]\n\n1. f4 e5 2. g3 exf4 3. gxf4 Qh4# 0-1\n";
const SCHOLAR: &str = "[TimeControl \"5400\"]\n\n1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n";

/// A board with this number at `folder/name`, on which this is played.
async fn board(folder: &Path, name: &str, serial: u32, movetext: &str) -> Table {
    let preset = Preset::new(Name::Clean);
    let device = performance(BoardSettings::new(serial), movetext, &preset);
    Table::of(device, &folder.join(name), SPEED).await
}

/// The games in a capture, as PGN.
fn replayed(file: &Path) -> String {
    let output = boardcast(&["replay", "--pgn", file.to_str().unwrap()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The same of one that is still being written and may end within a line.
fn shown(file: &Path) -> String {
    let output = boardcast(&["replay", "--pgn", file.to_str().unwrap()]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The recorder, once it has said that it begins.
async fn recorder(arguments: &[&str]) -> Program {
    let recorder = Program::start(&[&["record"], arguments].concat());
    blocking(move || {
        recorder.hear("Ctrl-C ends it");
        recorder
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn several_boards_and_a_bus_are_recorded_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let boards = [
        board(folder.path(), "one", 30_001, FOOL).await,
        board(folder.path(), "two", 30_002, BIRD).await,
    ];
    let preset = Preset::new(Name::Clean);
    let on_bus = performance(BoardSettings::new(1001), SCHOLAR, &preset);
    let bus_port = folder.path().join("bus");
    let bus = Table::of(VirtualBus::new([on_bus]), &bus_port, SPEED).await;
    let captures = folder.path().join("round");
    let paths = [&boards[0].path, &boards[1].path, &bus.path, &captures];
    let [one, two, third, output] = paths.map(|path| path.to_str().unwrap());
    let recorder = recorder(&[one, two, "--bus", third, "-o", output]).await;

    // The bus is only written down: its last move is looked for in the capture itself.
    let written = captures.join("bus.jsonl");
    let recorder = blocking(move || {
        for table in ["table 1", "table 2"] {
            recorder.hear(&format!("{table}   0-1, checkmate"));
        }
        while !shown(&written).contains("Qxf7#") {}
        recorder.signal(Signal::INT);
        recorder
    })
    .await;
    let (status, _, told) = blocking(move || recorder.finish()).await;
    assert!(status.success(), "{told:#?}");
    assert_eq!(told.iter().filter(|line| line.contains(" lines in ")).count(), 3, "{told:#?}");
    for (name, moves) in
        [("one", ["g4", "Qh4#"]), ("two", ["gxf4", "Qh4#"]), ("bus", ["Nf6", "Qxf7#"])]
    {
        let games = replayed(&captures.join(format!("{name}.jsonl")));
        assert!(moves.iter().all(|san| games.contains(san)), "{name}: {games}");
    }
    for table in boards.into_iter().chain([bus]) {
        table.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_output_and_a_device_take_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let table = board(folder.path(), "one", 30_001, FOOL).await;
    let path = table.path.to_str().unwrap().to_owned();
    let recorder = recorder(&[&path, "-o", "-"]).await;
    let (status, shown, told) = blocking(move || {
        recorder.hear("checkmate");
        recorder.signal(Signal::INT);
        recorder.finish()
    })
    .await;
    assert!(status.success(), "{told:#?}");
    assert!(told.iter().any(|line| line.ends_with("lines in standard output")), "{told:#?}");
    let capture = folder.path().join("capture.jsonl");
    fs::write(&capture, shown.join("\n")).unwrap();
    assert!(replayed(&capture).contains("Qh4#"));
    table.stop().await;

    let table = board(folder.path(), "two", 30_002, FOOL).await;
    let recorder = self::recorder(&[table.path.to_str().unwrap(), "-o", "/dev/null"]).await;
    let (status, _, told) = blocking(move || {
        recorder.hear("checkmate");
        recorder.signal(Signal::TERM);
        recorder.finish()
    })
    .await;
    assert!(status.success(), "{told:#?}");
    table.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_ends_with_its_reader() {
    let folder = tempfile::tempdir().unwrap();
    let table = board(folder.path(), "one", 30_001, FOOL).await;
    let mut command = boardcast(&["record", table.path.to_str().unwrap(), "-o", "-"]);
    let mut recorder = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let ended = blocking(move || {
        let mut header = String::new();
        BufReader::new(recorder.stdout.take().unwrap()).read_line(&mut header).unwrap();
        (header, recorder.wait().unwrap())
    });
    let (header, status) = ended.await;
    assert!(header.contains("\"capture\":1"), "{header}");
    assert!(status.success());
    table.stop().await;
}

#[test]
fn a_recording_of_nothing_is_a_capture_of_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("nothing.jsonl");
    let missing = folder.path().join("no-board");
    let file = capture.to_str().unwrap();
    let recorder = Program::start(&["record", missing.to_str().unwrap(), "-o", file]);
    recorder.hear("no device at");
    let written = fs::read_to_string(&capture).unwrap();
    recorder.signal(Signal::INT);
    let (status, _, told) = recorder.finish();
    assert!(status.success(), "{told:#?}");
    assert!(told.iter().any(|line| line.starts_with("no board said anything")), "{told:#?}");
    assert_eq!((written.lines().count(), fs::read_to_string(&capture).unwrap()), (1, written));
    assert_eq!(replayed(&capture), "");
}

#[test]
fn what_would_destroy_or_mix_a_recording_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old.jsonl");
    fs::write(&old, "a game that cannot be played again").unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    let (old_name, link) = (old.to_str().unwrap(), link.to_str().unwrap());
    for (arguments, words) in [
        (&["/dev/null", "-o", old_name][..], "name another"),
        (&["/dev/null", "/dev/zero", "-o", "-"], "name a folder"),
        (&["/dev/null", "--bus", link, "-o", "round"], "is the same device as /dev/null"),
        (&["-o", "round"], "PORT"),
    ] {
        let output = boardcast(&[&["record"], arguments].concat()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && told.contains(words), "{arguments:?}: {told}");
    }
    assert_eq!(fs::read_to_string(&old).unwrap(), "a game that cannot be played again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_that_is_closed_ends_a_recording_properly() {
    let folder = tempfile::tempdir().unwrap();
    let table = board(folder.path(), "one", 30_001, FOOL).await;
    let capture = folder.path().join("game.jsonl");
    let mut command = boardcast(&["record", table.path.to_str().unwrap(), "-o"]);
    let mut recorder = command.arg(&capture).stderr(Stdio::piped()).spawn().unwrap();
    let status = blocking(move || {
        let mut told = BufReader::new(recorder.stderr.take().unwrap()).lines();
        assert!(told.any(|line| line.unwrap().contains("checkmate")));
        kill_process(Pid::from_child(&recorder), Signal::HUP).unwrap();
        recorder.wait().unwrap()
    });
    assert!(status.await.success());
    assert!(replayed(&capture).contains("Qh4#"));
    table.stop().await;
}

/// How many times as fast as life the hands play.
const SPEED: f64 = 3.0;
