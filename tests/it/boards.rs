//! `boardcast boards`: what it finds on real terminals.

use std::process::{Command, Output, Stdio};

use boardcast::sim::{
    board::BoardSettings,
    bus::VirtualBus,
    hand::preset::{Name, Preset},
};

use crate::tools::{Stranger, Table, blocking, performance};

fn boards(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boardcast"));
    command.arg("boards").args(arguments).env_remove("BOARDCAST_LOG").stdin(Stdio::null());
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_is_found_beside_what_is_none() {
    // The first move is long in coming: the array stands while the board is looked at.
    let table = Table::start("[TimeControl \"5400\"]\n\n1. f3 {[%clk 1:00:00]} 1-0", 1.0).await;
    let path = table.path.to_str().unwrap().to_owned();
    let (shown, json) = blocking(move || {
        let shown = boards(&[&path, "/dev/null", "/dev/no-such-port"]);
        (shown, boards(&[&path, "--json"]))
    })
    .await;
    table.stop().await;

    assert!(shown.status.success(), "{}", text(&shown.stderr));
    let shown = text(&shown.stdout);
    for part in [
        "board 30001",
        "connector at White's left",
        "8 r n b q k b n r",
        "1 R N B Q K B N R",
        "/dev/null is not a serial device",
        "no device at /dev/no-such-port",
        "1 board",
    ] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }

    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json[0]["finding"], "board");
    assert_eq!(json[0]["board"]["serial"], "30001");
    assert_eq!(json[0]["board"]["connector"], "left");
    assert_eq!(json[0]["board"]["array"], true);
    assert_eq!(json[0]["board"]["placement"], "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR");
}

#[test]
fn without_a_board_the_exit_status_says_so() {
    let output = boards(&["/dev/no-such-port", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json[0]["finding"], "trouble");
    assert!(json[0]["trouble"].as_str().unwrap().contains("plug the board in"), "{json}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_boards_of_a_bus_are_found_and_what_is_none_is_said_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let slow = "[TimeControl \"5400\"]\n\n1. f3 {[%clk 1:00:00]} 1-0";
    let on_bus = [1001, 1025, 2054]
        .map(|serial| performance(BoardSettings::new(serial), slow, &Preset::new(Name::Clean)));
    let bus = Table::of(VirtualBus::new(on_bus), &folder.path().join("bus"), 1.0).await;
    let (receiver, asked) = Stranger::receiver();
    let receiver = Table::of(receiver, &folder.path().join("gps"), 1.0).await;
    let paths = [&bus.path, &receiver.path].map(|path| path.to_str().unwrap().to_owned());
    let (shown, json) = blocking(move || {
        let [bus, receiver] = paths.each_ref().map(String::as_str);
        (boards(&[receiver, "--bus", bus]), boards(&["--bus", bus, "--json"]))
    })
    .await;
    let shown = text(&shown.stdout);
    for part in [
        "board 01001",
        "board 01025",
        "board 02054",
        "not a board: it said",
        "clock 1:30:00 left, 1:30:00 right, stopped",
        "8 r n b q k b n r",
        "3 boards",
    ] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
    let asked = asked.bytes();
    assert!(asked.iter().all(|byte| b"KM".contains(byte)), "{asked:x?}");

    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json[0]["finding"], "bus");
    let boards = json[0]["boards"].as_array().unwrap();
    let addresses: Vec<_> = boards.iter().map(|board| board["bus_address"].as_u64()).collect();
    assert_eq!(addresses, [Some(1001), Some(1025), Some(2054)]);
    assert!(boards.iter().all(|board| board["array"] == true), "{json:#}");
    bus.stop().await;
    receiver.stop().await;
}
