//! What goes wrong between the daemon and its broker: cut roads, dead brokers, silent brokers.

use std::{collections::BTreeSet, time::Duration};

use crate::tools::{Heard, Mosquitto, Relay, Running, Subscriber, Table, blocking, outside};

const GAME: &str = "[Result \"*\"]\n[TimeControl \"300+3\"]\n\n1. e4 e5 2. Nf3 *\n";
const EVERYTHING: [&str; 2] = ["-t", "boardcast/hall/#"];

/// How long a daemon may take to stop, whatever its broker does.
const LAST_MOMENTS: Duration = Duration::from_secs(2);

fn is_status(heard: &Heard, state: &str) -> bool {
    heard.topic == "boardcast/hall/status" && heard.json()["state"] == state
}

/// Waits until a client that comes now has heard all that the broker keeps.
async fn hear_everything_kept(port: u16) {
    blocking(move || {
        let late = Subscriber::start(port, &EVERYTHING);
        let mut missing: BTreeSet<_> =
            ["status", "public/table/1/game", "public/table/1/clock", "arbiter/table/1/live"]
                .map(|topic| format!("boardcast/hall/{topic}"))
                .into();
        while !missing.is_empty() {
            missing.remove(&late.next().unwrap().topic);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_road_is_told_and_so_is_the_way_back() {
    let mosquitto = Mosquitto::start("allow_anonymous true");
    let mut road = Relay::start(mosquitto.port).await;
    let table = Table::start(GAME, 3.0).await;
    let mut daemon = Running::start(&table.path, outside(road.port)).await;
    daemon.wait_until_connected(true).await;
    let port = mosquitto.port;
    let subscriber = blocking(move || Subscriber::start(port, &EVERYTHING)).await;
    road.cut().await;
    let subscriber = blocking(move || {
        subscriber.until(|heard| is_status(heard, "offline"));
        subscriber
    })
    .await;
    daemon.wait_until_connected(false).await;
    road.open().await;
    let back = blocking(move || subscriber.until(|heard| heard.topic.ends_with("/live"))).await;
    assert!(is_status(&back[0], "online"), "{back:#?}");
    let topics: Vec<_> = back[1..].iter().map(|heard| heard.topic.rsplit('/').next()).collect();
    assert_eq!(topics, [Some("game"), Some("clock"), Some("live")], "the state, then the events");
    daemon.stop().await;
    table.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_without_memory_is_told_everything_again() {
    let mut mosquitto = Mosquitto::start("allow_anonymous true\npersistence false");
    let table = Table::start("[Result \"*\"]\n\n1. e4 *\n", 1.0).await;
    let mut daemon = Running::start(&table.path, outside(mosquitto.port)).await;
    daemon.wait_until_connected(true).await;
    hear_everything_kept(mosquitto.port).await;
    mosquitto.crash();
    daemon.wait_until_connected(false).await;
    mosquitto.restart();
    daemon.wait_until_connected(true).await;
    hear_everything_kept(mosquitto.port).await;
    daemon.stop().await;
    table.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_broker_holds_nobody_up_and_says_offline_when_it_wakes() {
    let mosquitto = Mosquitto::start("allow_anonymous true");
    let table = Table::start(GAME, 3.0).await;
    let mut daemon = Running::start(&table.path, outside(mosquitto.port)).await;
    daemon.wait_until_connected(true).await;
    let port = mosquitto.port;
    let subscriber = blocking(move || {
        let subscriber = Subscriber::start(port, &EVERYTHING);
        subscriber.until(|heard| is_status(heard, "online"));
        subscriber
    })
    .await;
    mosquitto.freeze();
    let took = daemon.stop().await;
    assert!(took < LAST_MOMENTS, "stopping took {took:?}");
    mosquitto.thaw();
    blocking(move || subscriber.until(|heard| is_status(heard, "offline"))).await;
    table.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_away_or_says_nothing_holds_nobody_up() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let away = crate::tools::free_port();
    for port in [silent.local_addr().unwrap().port(), away] {
        let table = Table::start("[Result \"*\"]\n\n1. e4 *\n", 3.0).await;
        let daemon = Running::start(&table.path, outside(port)).await;
        assert!(!daemon.is_connected());
        let took = daemon.stop().await;
        assert!(took < LAST_MOMENTS, "stopping took {took:?}");
        table.stop().await;
    }
}
