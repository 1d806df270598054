//! A whole hall from end to end: the real program, boards behind pseudo-terminals, and a broker and
//! readers of another make.

mod commands;

mod crowd;

mod hotplug;

mod outages;

mod scoresheet;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use boardcast::sim::board::{BoardSettings, Connector};
use rustix::process::Signal;
use serde_json::Value;

use self::scoresheet::{Scoresheets, sans};
use crate::tools::{Heard, Mosquitto, Player, Program, Subscriber, blocking, now};

const GAMES: &str = include_str!("../data/hall.pgn");
const RETI: &str = "e4 c6 d4 d5 Nc3 dxe4 Nxe4 Nf6 Qd3 e5 dxe5 Qa5+ Bd2 Qxe5 O-O-O Nxe4 Qd8+ Kxd8 \
                    Bg5+ Kc7 Bd8#";
const PASSANT: &str = "e4 Nf6 e5 d5 exd6 g6 dxc7 Bg7 cxb8=Q Rxb8 Nf3 O-O Be2 Ng4 O-O";
const BIRD: &str = "f4 e5 g3 exf4 gxf4 Qh4#";

/// One of [`GAMES`], counted from 0.
fn game(number: usize) -> String {
    let game = GAMES.split("[Event ").nth(number + 1).unwrap();
    format!("[Event {game}")
}

/// Writes the configuration of a hall with these boards at its tables, counted from 1.
fn configure(folder: &Path, mosquitto: &Mosquitto, boards: &[PathBuf]) -> PathBuf {
    use std::fmt::Write;

    let mut text = format!(
        "[broker]\nurl = \"mqtt://127.0.0.1:{}\"\n[http]\nenabled = false\n[timing]\n\
         settle-s = 0.1\npress-grace-s = 0.1\nsignal-hold-s = 0.5\nsetup-stable-s = 0.5\n",
        mosquitto.port
    );
    for (board, number) in boards.iter().zip(1..) {
        write!(
            text,
            "[[table]]\nnumber = {number}\nport = \"{}\"\nwhite = {{ name = \"White {number}\" }}\n",
            board.display()
        )
        .unwrap();
    }
    let path = folder.join("hall.toml");
    std::fs::write(&path, text).unwrap();
    path
}

/// Hears everything that the daemon says.
async fn listen(mosquitto: &Mosquitto) -> Subscriber {
    let port = mosquitto.port;
    blocking(move || Subscriber::start(port, &["-t", "boardcast/hall/#"])).await
}

/// Hears everything until the first message that fits.
async fn hear(
    subscriber: Subscriber,
    fits: impl Fn(&Heard) -> bool + Send + 'static,
) -> (Subscriber, Vec<Heard>) {
    blocking(move || {
        let heard = subscriber.until(fits);
        (subscriber, heard)
    })
    .await
}

/// Waits until the pieces stand ready at all these tables.
async fn hear_ready(subscriber: Subscriber, tables: u64) -> Subscriber {
    let mut missing: BTreeSet<_> = (1..=tables).collect();
    blocking(move || {
        while !missing.is_empty() {
            let heard = subscriber.next().expect("the broker stays");
            if heard.topic.ends_with("/live") && heard.json()["state"] == "ready" {
                missing.remove(&heard.json()["table"].as_u64().unwrap());
            }
        }
        subscriber
    })
    .await
}

/// Whether the public events say now that this move was played at this table.
fn tells(heard: &Heard, table: u64, san: &str) -> bool {
    heard.topic == format!("boardcast/hall/public/table/{table}/event")
        && heard.json()["event"] == "plies"
        && sans(&heard.json()).last().is_some_and(|last| last == san)
}

fn is_status(heard: &Heard, state: &str) -> bool {
    heard.topic.ends_with("/status") && heard.json()["state"] == state
}

/// The games that a client gets which comes now.
fn kept_games<const N: usize>(port: u16, base: &str) -> [Value; N] {
    let topic = format!("{base}/public/table/+/game");
    let late = Subscriber::start(port, &["-t", &topic]);
    let mut games = [const { Value::Null }; N];
    while games.contains(&Value::Null) {
        let heard = late.next().expect("the broker keeps the game of each table");
        let game = heard.json();
        let place = &mut games[game["table"].as_u64().unwrap() as usize - 1];
        if place.is_null() {
            assert!(heard.retained, "{heard:?}");
            *place = game;
        }
    }
    games
}

#[test]
fn a_demo_tells_every_move_of_every_table_once_and_in_order() {
    let pgn = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/hall.pgn");
    let demo = ["demo", "--once", "--tables", "3", "--speed", "20", "--pgn", pgn];
    let demo = Program::start(&[&demo[..], &["--mqtt-port", "0", "--http-port", "0"]].concat());
    let line = demo.hear("mosquitto_sub");
    let port = line.split_once("-p ").unwrap().1.split_once(' ').unwrap().0.parse().unwrap();
    let topics = ["public/table/+/event", "public/table/+/game", "status"]
        .map(|topic| format!("boardcast/demo/{topic}"));
    let topics = topics.each_ref().map(|topic| ["-t", topic.as_str()]);
    let subscriber = Subscriber::start(port, topics.as_flattened());
    let mut sheets = Scoresheets::default();
    while sheets.result(3).is_none() {
        sheets.write(&subscriber.next().expect("the broker stays until the end"));
    }

    // The shortest game is over. Who comes now knows as much as who was there from the beginning.
    let kept = kept_games::<3>(port, "boardcast/demo");
    assert_eq!(sans(&kept[2]).join(" "), BIRD);
    assert_eq!((&kept[2]["result"], &kept[2]["white"]["name"]), (&"0-1".into(), &"Bird".into()));
    for (kept, table) in kept.iter().zip(1..) {
        assert!(sans(kept).starts_with(sheets.moves(table)), "{kept} after {sheets:?}");
    }

    sheets.write_all(&subscriber.until(|heard| is_status(heard, "offline")));
    let (status, shown, _) = demo.finish();
    assert!(status.success());
    assert_eq!(sheets.all(), [RETI, PASSANT, BIRD]);
    assert_eq!((sheets.result(1), sheets.result(3)), (Some("1-0"), Some("0-1")));
    assert_eq!(sheets.result(2), None, "a draw by agreement is the arbiter's to tell");
    let shown = shown.join("\n");
    for words in ["table 1   11. Bd8#", "table 1   1-0, checkmate", "table 2   1/2-1/2, "] {
        assert!(shown.contains(words), "{words:?} is not in {shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hall_is_published_to_another_broker_until_the_daemon_is_told_to_stop() {
    let folder = tempfile::tempdir().unwrap();
    let mosquitto = Mosquitto::start("allow_anonymous true");
    let boards: Vec<_> = (1..=3).map(|n| folder.path().join(format!("board-{n}"))).collect();
    let mut players = Vec::new();
    for (i, board) in boards.iter().enumerate() {
        let mut settings = BoardSettings::new(30_001 + i as u32);
        if i == 1 {
            settings.connector = Connector::RightOfWhite;
        }
        players.push(Player::sit(board, &game(i), settings).await);
    }
    let subscriber = listen(&mosquitto).await;
    let daemon = Program::daemon(&configure(folder.path(), &mosquitto, &boards));
    let subscriber = hear_ready(subscriber, 3).await;

    // All play at the same time, to the end.
    let mut sheets = Scoresheets::default();
    let reader = blocking(move || {
        let mut over = BTreeSet::new();
        let mut clocks = BTreeSet::new();
        while over.len() < 3 {
            let heard = subscriber.next().expect("the broker stays");
            sheets.write(&heard);
            let message = heard.json();
            if heard.topic.ends_with("/public/table/1/clock") {
                let ms = ["white_ms", "black_ms"].map(|side| message[side].as_u64());
                clocks.extend(ms.into_iter().flatten());
            } else if heard.topic.contains("/arbiter/") && message["event"] == "game_ended" {
                over.insert((message["table"].as_u64(), message["result"].to_string()));
            }
        }
        assert!(clocks.len() > 3, "the clock ran: {clocks:?}");
        (subscriber, sheets, over)
    });
    let playing: Vec<_> = players
        .into_iter()
        .map(|player| {
            tokio::spawn(async move {
                player.play(player.moves.len()).await;
                player.show_result().await;
                player
            })
        })
        .collect();
    let (subscriber, mut sheets, over) = reader.await;
    let results: Vec<_> = over.iter().map(|(_, result)| result.as_str()).collect();
    assert_eq!(results, ["\"1-0\"", "\"1/2-1/2\"", "\"0-1\""]);

    // Who comes when everything is over, and the daemon gone, finds all of it.
    let start = now();
    daemon.signal(Signal::TERM);
    let (status, _, told) = blocking(move || daemon.finish()).await;
    println!("stopped within {:?}", now() - start);
    assert!(status.success(), "{told:#?}");
    let (_, rest) = hear(subscriber, |heard| is_status(heard, "offline")).await;
    sheets.write_all(&rest);
    assert_eq!(sheets.all(), [RETI, PASSANT, BIRD]);
    let port = mosquitto.port;
    let kept = blocking(move || kept_games::<3>(port, "boardcast/hall")).await;
    assert_eq!(kept.each_ref().map(|game| sans(game).join(" ")), [RETI, PASSANT, BIRD]);
    assert_eq!(kept.each_ref().map(|game| game["revision"].clone()), [0, 0, 0]);
    assert_eq!((&kept[0]["result"], &kept[2]["result"]), (&"1-0".into(), &"0-1".into()));
    assert_eq!(kept[1]["white"]["name"], "White 2");
    for playing in playing {
        playing.await.unwrap().leave().await;
    }
}
