//! From a board to a subscriber: the daemon in one piece, virtual boards on pseudo-terminals, real
//! brokers and clients of another make.

use std::collections::BTreeMap;

use boardcast::{
    config::{Account, Broker},
    sim::{
        hand::preset::{Name, Preset, Wire},
        random::Span,
    },
};

use crate::tools::{
    Heard, Mosquitto, Relay, Running, STOPPING, Subscriber, Table, blocking, embedded, outside,
    secret_file,
};

fn is_end(heard: &Heard) -> bool {
    heard.topic.ends_with("/event") && heard.json()["event"] == "game_ended"
}

/// What a reader of events alone has on his board at the end.
fn moves(heard: &[Heard]) -> Vec<String> {
    let mut line = Vec::new();
    let mut last_id = 0;
    for event in heard.iter().filter(|heard| heard.topic.ends_with("/public/table/1/event")) {
        let event = event.json();
        let id = event["id"].as_u64().unwrap();
        assert!(id > last_id, "event {id} after event {last_id}: {heard:#?}");
        last_id = id;
        if event["event"] == "plies" {
            line.truncate(event["from"].as_u64().unwrap() as usize);
            let plies = event["plies"].as_array().unwrap();
            line.extend(plies.iter().map(|ply| ply["san"].as_str().unwrap().to_owned()));
        }
    }
    line
}

const MATE: &str = "[Result \"1-0\"]\n[TimeControl \"300+3\"]\n\n\
                    1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0\n";
const MATE_MOVES: [&str; 7] = ["e4", "e5", "Bc4", "Nc6", "Qh5", "Nf6", "Qxf7#"];

#[tokio::test(flavor = "multi_thread")]
async fn a_game_reaches_subscribers_of_the_embedded_broker() {
    let table = Table::start(MATE, 3.0).await;
    let daemon = Running::start(&table.path, embedded()).await;
    a_game_reaches_subscribers(table, daemon).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_game_reaches_subscribers_of_a_mosquitto() {
    let mosquitto = Mosquitto::start("allow_anonymous true");
    let table = Table::start(MATE, 3.0).await;
    let daemon = Running::start(&table.path, outside(mosquitto.port)).await;
    a_game_reaches_subscribers(table, daemon).await;
}

async fn a_game_reaches_subscribers(table: Table, daemon: Running) {
    let port = daemon.port;
    let (early, heard) = blocking(move || {
        let early = Subscriber::start(
            port,
            &["-t", "boardcast/hall/public/#", "-t", "boardcast/hall/status"],
        );
        let heard = early.until(is_end);
        (early, heard)
    })
    .await;
    assert_eq!(moves(&heard), MATE_MOVES, "each move once and in order: {heard:#?}");

    // Who comes late gets the whole game at once.
    let late = blocking(move || {
        let late = Subscriber::start(port, &["-t", "boardcast/hall/public/table/1/game"]);
        late.next().unwrap()
    })
    .await;
    assert!(late.retained);
    let game = late.json();
    let plies = game["plies"].as_array().unwrap();
    let sans: Vec<_> = plies.iter().map(|ply| ply["san"].as_str().unwrap()).collect();
    assert_eq!(sans, MATE_MOVES);
    assert_eq!(game["result"], "1-0");

    let took = daemon.stop().await;
    assert!(took < STOPPING, "stopping took {took:?}");
    let offline = |heard: &Heard| {
        heard.topic == "boardcast/hall/status" && heard.json()["state"] == "offline"
    };
    blocking(move || early.until(offline)).await;
    table.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cable_that_is_pulled_in_the_middle_of_a_game_costs_no_move() {
    let outages = Wire {
        lost_per_mille: 0,
        outage_every: Some(Span::ms(6_000, 8_000)),
        outage: Span::ms(1_500, 2_500),
        dump_every: None,
    };
    let preset = Preset::new(Name::Clean).with_wire(outages);
    let table = Table::start_with(MATE, 2.0, &preset).await;
    let daemon = Running::start(&table.path, embedded()).await;
    let port = daemon.port;
    let heard =
        blocking(move || Subscriber::start(port, &["-t", "boardcast/hall/public/#"]).until(is_end))
            .await;
    assert_eq!(moves(&heard), MATE_MOVES, "{heard:#?}");
    // Screens were told that they showed an old board.
    let clocks = heard.iter().filter(|heard| heard.topic.ends_with("/clock"));
    let up: Vec<_> = clocks.map(|clock| clock.json()["board_up"] == true).collect();
    assert!(up.windows(2).any(|pair| pair == [false, true]), "{up:?}");
    daemon.stop().await;
    table.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_dies_and_comes_back_has_lost_nothing() {
    let mut mosquitto = Mosquitto::start("allow_anonymous true\npersistence false");
    let mut road = Relay::start(mosquitto.port).await;
    let table = Table::start(MATE, 3.0).await;
    let mut daemon = Running::start(&table.path, outside(road.port)).await;
    let port = mosquitto.port;
    let (subscriber, mut heard) = blocking(move || {
        let subscriber = Subscriber::start(port, &["-t", "boardcast/hall/public/#"]);
        let heard = subscriber.until(|heard| heard.payload.contains("\"Bc4\""));
        (subscriber, heard)
    })
    .await;

    // The road is cut in the middle of the game, and the broker forgets everything meanwhile.
    road.cut().await;
    daemon.wait_until_connected(false).await;
    mosquitto.crash();
    mosquitto.restart();
    let (subscriber, before) = blocking(move || {
        let heard = subscriber.until_subscribed_again();
        (subscriber, heard)
    })
    .await;
    heard.extend(before);
    road.open().await;
    let rest = blocking(move || subscriber.until(is_end)).await;
    // The state is whole again before anything else, although nothing about it had changed.
    assert!(rest[0].topic.ends_with("/game"), "{rest:#?}");
    heard.extend(rest);

    // What the dead broker had not confirmed came twice, and said the same. Nothing is missing.
    let mut events = BTreeMap::new();
    for event in heard.iter().filter(|heard| heard.topic.ends_with("/event")) {
        let again = events.insert(event.json()["id"].as_u64().unwrap(), event.clone());
        assert!(again.is_none_or(|first| first == *event));
    }
    let events: Vec<_> = events.into_values().collect();
    assert_eq!(moves(&events), MATE_MOVES, "{heard:#?}");
    daemon.stop().await;
    table.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_is_killed_is_declared_offline_by_the_broker() {
    let mosquitto = Mosquitto::start("allow_anonymous true");
    let table = Table::start(MATE, 1.0).await;
    let mut daemon = Running::start(&table.path, outside(mosquitto.port)).await;
    daemon.wait_until_connected(true).await;
    let port = daemon.port;
    let subscriber =
        blocking(move || Subscriber::start(port, &["-t", "boardcast/hall/status"])).await;
    // Its sockets close without a word.
    daemon.kill();
    let heard = blocking(move || subscriber.until(|heard| heard.payload.contains("offline"))).await;
    let states: Vec<_> = heard.iter().map(|heard| heard.json()["state"].clone()).collect();
    assert_eq!(states, ["online", "offline"]);
    table.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_with_passwords_is_logged_in_to() {
    let folder = tempfile::tempdir().unwrap();
    let passwords = folder.path().join("passwords");
    let file = passwords.to_str().unwrap();
    std::fs::write(&passwords, "").unwrap();
    let made = std::process::Command::new("mosquitto_passwd")
        .args(["-b", file, "hall", "s3cret"])
        .status();
    assert!(made.unwrap().success());
    let mosquitto =
        Mosquitto::start(&format!("allow_anonymous false\npassword_file {file}\nuser root"));
    let Broker::Outside(mut broker) = outside(mosquitto.port) else { unreachable!() };
    let password_file = secret_file(folder.path(), "secret", "s3cret");
    broker.account = Some(Account { user: "hall".to_owned(), password_file });
    let table = Table::start(MATE, 1.0).await;
    let mut daemon = Running::start(&table.path, Broker::Outside(broker)).await;
    daemon.wait_until_connected(true).await;
    daemon.stop().await;
    table.stop().await;
}
