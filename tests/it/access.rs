//! What the embedded broker lets people do, tried with clients of another make.

use std::path::Path;

use boardcast::config::{Account, Broker, Embedded};

use crate::tools::{Running, Subscriber, Table, blocking, client, secret_file};

const GAME: &str = "[Result \"*\"]\n[TimeControl \"300+3\"]\n\n1. e4 e5 2. Nf3 *\n";

/// A daemon with an account for an arbiter, and a board on which something happens.
async fn hall(folder: &Path) -> (Table, Running) {
    let arbiter = Account {
        user: "anna".to_owned(),
        password_file: secret_file(folder, "anna", "right one"),
    };
    let broker = Embedded { port: 0, arbiters: vec![arbiter], ..Embedded::default() };
    let table = Table::start(GAME, 3.0).await;
    let mut daemon = Running::start(&table.path, Broker::Embedded(broker)).await;
    daemon.wait_until_connected(true).await;
    (table, daemon)
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_hear_what_is_public_whatever_they_ask_for() {
    let folder = tempfile::tempdir().unwrap();
    let (table, daemon) = hall(folder.path()).await;
    let port = daemon.port;
    for version in ["mqttv311", "mqttv5"] {
        blocking(move || {
            for filter in
                ["#", "+/#", "boardcast/hall/#", "boardcast/+/arbiter/#", "$share/g/boardcast/#"]
            {
                let arguments = ["-V", version, "-W", "30", "-t", filter];
                let refused = client("mosquitto_sub", port, &arguments);
                let text = String::from_utf8_lossy(&refused.stderr).into_owned();
                assert!(text.contains("denied"), "{version} {filter}: {text}");
                assert!(refused.stdout.is_empty(), "{version} {filter}");
            }
        })
        .await;
    }
    // A client that asks for everything besides gets what is public, and no more.
    let heard = blocking(move || {
        let everything =
            ["-t", "boardcast/hall/public/#", "-t", "#", "-t", "boardcast/hall/arbiter/#"];
        Subscriber::start(port, &everything).until(|heard| heard.payload.contains("\"Nf3\""))
    })
    .await;
    assert!(
        heard.iter().all(|heard| heard.topic.starts_with("boardcast/hall/public/")),
        "{heard:#?}"
    );
    daemon.stop().await;
    table.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_hears_everything_and_a_wrong_password_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (table, daemon) = hall(folder.path()).await;
    let port = daemon.port;
    blocking(move || {
        for (user, password) in
            [("anna", "wrong one"), ("anna", ""), ("boardcast-daemon", "x"), ("bob", "x")]
        {
            let arguments = ["-u", user, "-P", password, "-t", "boardcast/hall/status", "-W", "30"];
            let refused = client("mosquitto_sub", port, &arguments);
            assert!(!refused.status.success() && refused.stdout.is_empty(), "{user}");
        }
        let arguments = ["-u", "anna", "-P", "right one", "-t", "#"];
        let heard = Subscriber::start(port, &arguments)
            .until(|heard| heard.topic == "boardcast/hall/arbiter/table/1/event");
        assert!(heard.iter().any(|heard| heard.topic == "boardcast/hall/status"));
    })
    .await;
    daemon.stop().await;
    table.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_but_the_daemon_writes_or_throws_it_out() {
    let folder = tempfile::tempdir().unwrap();
    let (table, daemon) = hall(folder.path()).await;
    let port = daemon.port;
    let subscriber = blocking(move || {
        let subscriber = Subscriber::start(
            port,
            &["-t", "boardcast/hall/status", "-t", "boardcast/hall/public/#"],
        );
        for account in [&[][..], &["-u", "anna", "-P", "right one"]] {
            for version in ["mqttv311", "mqttv5"] {
                let forged = ["-V", version, "-q", "1", "-r", "-m", "forged"];
                for topic in ["boardcast/hall/status", "boardcast/hall/public/table/1/game"] {
                    let arguments = [&forged[..], &["-t", topic], account].concat();
                    client("mosquitto_pub", port, &arguments);
                }
            }
            // A last will is a publication too.
            let will = ["--will-topic", "boardcast/hall/status", "--will-payload", "forged"];
            let arguments = [&["-t", "boardcast/hall/status"], &will[..], account].concat();
            drop(Subscriber::start(port, &arguments));
        }
        // The daemon's own client id is not for others.
        let arguments = ["-i", "boardcast-hall", "-t", "boardcast/hall/status", "-W", "30"];
        let refused = client("mosquitto_sub", port, &arguments);
        assert!(!refused.status.success() && refused.stdout.is_empty());
        subscriber
    })
    .await;
    assert!(daemon.is_connected());
    // Everything that was tried has been answered by now; the daemon's last word comes after it.
    daemon.stop().await;
    let heard = blocking(move || subscriber.until(|heard| heard.payload.contains("offline"))).await;
    assert!(heard.iter().all(|heard| heard.payload != "forged"), "{heard:#?}");
    table.stop().await;
}
