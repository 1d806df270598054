//! Ports that nobody named, and what comes and goes at them.

use std::{
    fmt::Write,
    fs::{self, File, Permissions},
    os::unix::{
        fs::{PermissionsExt, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::Command,
};

use boardcast::sim::board::BoardSettings;
use rustix::{
    fs::{FlockOperation, flock},
    process::{Signal, geteuid},
};

use super::{BIRD, configure, game, hear, hear_ready, listen, scoresheet::Scoresheets, tells};
use crate::tools::{Mosquitto, Player, Program, Stranger, Table, blocking};

/// A configuration for boards that are found by their numbers at ports that fit a pattern.
fn configure_serials(folder: &Path, mosquitto: &Mosquitto, serials: &[&str]) -> PathBuf {
    let path = configure(folder, mosquitto, &[]);
    let mut text = fs::read_to_string(&path).unwrap();
    let folder = folder.display();
    writeln!(text, "[serial]\nports = [\"{folder}/usb*\"]\nexclude = [\"{folder}/usb-gps*\"]")
        .unwrap();
    for (serial, number) in serials.iter().zip(1..) {
        writeln!(text, "[[table]]\nnumber = {number}\nboard = \"{serial}\"").unwrap();
    }
    fs::write(&path, text).unwrap();
    path
}

/// Waits until the program has told this.
async fn told(program: Program, words: &str) -> Program {
    let words = words.to_owned();
    blocking(move || {
        program.hear(&words);
        program
    })
    .await
}

async fn stop(daemon: Program) {
    daemon.signal(Signal::TERM);
    let (status, _, told) = blocking(move || daemon.finish()).await;
    assert!(status.success(), "{told:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn boards_that_exchange_their_ports_keep_their_games() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mosquitto = Mosquitto::start("allow_anonymous true");
    let config = configure_serials(folder, &mosquitto, &["30001", "30002"]);
    let mut subscriber = listen(&mosquitto).await;
    let daemon = told(Program::daemon(&config), "started").await;

    // Nothing is plugged in when the daemon starts.
    let [one, two] = ["one", "two"].map(|name| folder.join(name));
    let [usb0, usb1] = ["usb0", "usb1"].map(|name| folder.join(name));
    let players = [
        Player::sit(&one, &game(2), BoardSettings::new(30_001)).await,
        Player::sit(&two, &game(2), BoardSettings::new(30_002)).await,
    ];
    symlink(&one, &usb0).unwrap();
    symlink(&two, &usb1).unwrap();
    subscriber = hear_ready(subscriber, 2).await;
    let mut sheets = Scoresheets::default();
    for (player, table) in players.iter().zip(1..) {
        player.play(3).await;
        let (rest, heard) = hear(subscriber, move |heard| tells(heard, table, "g3")).await;
        subscriber = rest;
        sheets.write_all(&heard);
    }

    // Both adapters are pulled out, and put back the other way round.
    for player in &players {
        player.pull_cable().await;
    }
    for (port, board) in [(&usb0, &two), (&usb1, &one)] {
        fs::remove_file(port).unwrap();
        symlink(board, port).unwrap();
    }
    for player in &players {
        player.put_cable_back().await;
    }
    let moved = format!("board 30001 of table 1 is at {} now", usb1.display());
    let daemon = told(daemon, &moved).await;
    for (player, table) in players.iter().zip(1..) {
        player.play(3).await;
        let (rest, heard) = hear(subscriber, move |heard| tells(heard, table, "Qh4#")).await;
        subscriber = rest;
        sheets.write_all(&heard);
    }
    assert_eq!(sheets.all(), [BIRD, BIRD]);
    stop(daemon).await;
    for player in players {
        player.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_board_is_asked_harmlessly_told_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mosquitto = Mosquitto::start("allow_anonymous true");
    let config = configure_serials(folder, &mosquitto, &["30001", "30147"]);
    let (modem, to_modem) = Stranger::modem();
    let (receiver, to_receiver) = Stranger::receiver();
    let (printer, to_printer) = Stranger::printer();
    let (excluded, to_excluded) = Stranger::receiver();
    let at = |name: &str| folder.join(name);
    let modem = Table::of(modem, &at("usb0"), 1.0).await;
    let receiver = Table::of(receiver, &at("usb1"), 1.0).await;
    let printer = Table::of(printer, &at("usb2"), 1.0).await;
    let excluded = Table::of(excluded, &at("usb-gps"), 1.0).await;
    let player = Player::sit(&at("usb3"), &game(2), BoardSettings::new(30_001)).await;
    let subscriber = listen(&mosquitto).await;
    let daemon = Program::daemon(&config);

    // The board among them is found at once, and its game is followed meanwhile.
    let subscriber = hear_ready(subscriber, 1).await;
    player.play(6).await;
    hear(subscriber, |heard| tells(heard, 1, "Qh4#")).await;

    let (daemon, verdicts) = blocking(move || {
        let mut verdicts = String::new();
        let decided = |verdicts: &str| {
            verdicts.matches("left alone until it is unplugged").count() == 2
                && verdicts.contains("nobody answers at")
                && verdicts.contains("waits for board 30147")
        };
        while !decided(&verdicts) {
            verdicts += &(daemon.hear("") + "\n");
        }
        (daemon, verdicts)
    })
    .await;
    for name in ["usb0", "usb1"] {
        let words = format!("what is at {} is no board", at(name).display());
        assert!(verdicts.contains(&words), "{verdicts}");
    }
    let words = format!("nobody answers at {}: if a board is there", at("usb2").display());
    assert!(verdicts.contains(&words), "{verdicts}");
    assert!(verdicts.contains("table 2 waits for board 30147"), "{verdicts}");
    for heard in [to_modem, to_receiver, to_printer] {
        let heard = heard.bytes();
        assert!((2..=12).contains(&heard.len()), "asked a few times: {heard:x?}");
        assert!(heard.iter().all(|byte| b"KM".contains(byte)), "harmlessly: {heard:x?}");
    }
    assert_eq!(to_excluded.bytes(), b"", "what is excluded is not asked at all");

    // In the place of the modem comes a board that no table waits for.
    modem.stop().await;
    let stranger = Player::sit(&at("usb0"), &game(2), BoardSettings::new(30_174)).await;
    let words = format!("board 30174 at {} belongs to no table", at("usb0").display());
    let daemon = told(daemon, &words).await;
    stop(daemon).await;
    for table in [receiver, printer, excluded] {
        table.stop().await;
    }
    for player in [player, stranger] {
        player.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_another_program_has_is_used_when_it_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let mosquitto = Mosquitto::start("allow_anonymous true");
    let board = folder.path().join("board");
    let config = configure(folder.path(), &mosquitto, std::slice::from_ref(&board));
    let player = Player::sit(&board, &game(2), BoardSettings::new(30_001)).await;
    let other = File::options().read(true).write(true).open(&board).unwrap();
    flock(&other, FlockOperation::LockExclusive).unwrap();
    let subscriber = listen(&mosquitto).await;
    let daemon = Program::daemon(&config);
    let process = format!("process {}): stop it", std::process::id());
    let daemon = told(daemon, &process).await;
    drop(other);
    let daemon = told(daemon, "the board answers").await;
    let subscriber = hear_ready(subscriber, 1).await;
    player.play(1).await;
    hear(subscriber, |heard| tells(heard, 1, "f4")).await;
    stop(daemon).await;
    player.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_port_that_may_not_be_opened_is_used_as_soon_as_it_may() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let mosquitto = Mosquitto::start("allow_anonymous true");
    let board = folder.path().join("board");
    let config = configure(folder.path(), &mosquitto, std::slice::from_ref(&board));
    let player = Player::sit(&board, &game(2), BoardSettings::new(30_001)).await;
    fs::set_permissions(&board, Permissions::from_mode(0o000)).unwrap();
    let subscriber = listen(&mosquitto).await;
    // Nothing is forbidden to root: then the daemon is somebody else, who can read the program.
    let program = folder.path().join("boardcast");
    fs::copy(env!("CARGO_BIN_EXE_boardcast"), &program).unwrap();
    let mut command = Command::new(&program);
    command.args(["run", "--config", config.to_str().unwrap()]).env_remove("BOARDCAST_BROKER");
    if geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let daemon = told(Program::of(&mut command), "sudo usermod -aG dialout").await;
    fs::set_permissions(&board, Permissions::from_mode(0o666)).unwrap();
    let subscriber = hear_ready(subscriber, 1).await;
    player.play(1).await;
    hear(subscriber, |heard| tells(heard, 1, "f4")).await;
    stop(daemon).await;
    player.leave().await;
}

const NOBODY: u32 = 65_534;
