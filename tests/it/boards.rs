//! `boardcast boards`: what it finds on real terminals.

use std::process::{Command, Output, Stdio};

use crate::tools::{Table, blocking};

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
