//! What fails in the middle of a game, and costs nothing.

use std::{fs, path::PathBuf};

use boardcast::sim::board::BoardSettings;
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use super::{
    RETI, configure, game, hear, hear_ready, is_status, kept_games, listen,
    scoresheet::{Scoresheets, sans},
    tells,
};
use crate::tools::{Heard, Mosquitto, Player, Program, Subscriber, blocking};

/// One table at which a game of [`RETI`] is about to begin, and a reader who hears everything.
struct Scene {
    _folder: TempDir,
    mosquitto: Mosquitto,
    config: PathBuf,
    player: Player,
    daemon: Program,
    subscriber: Subscriber,
    /// What was heard since the pieces stood ready.
    heard: Vec<Heard>,
}

impl Scene {
    async fn set() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mosquitto = Mosquitto::start("allow_anonymous true\npersistence false");
        let board = folder.path().join("board");
        let config = configure(folder.path(), &mosquitto, std::slice::from_ref(&board));
        let player = Player::sit(&board, &game(0), BoardSettings::new(30_001)).await;
        let subscriber = listen(&mosquitto).await;
        let daemon = Program::daemon(&config);
        let subscriber = hear_ready(subscriber, 1).await;
        Self { _folder: folder, mosquitto, config, player, daemon, subscriber, heard: Vec::new() }
    }

    /// Hears everything up to the first message that fits.
    async fn hear(self, fits: impl Fn(&Heard) -> bool + Send + 'static) -> Self {
        let Self { subscriber, mut heard, .. } = self;
        let (subscriber, more) = hear(subscriber, fits).await;
        heard.extend(more);
        Self { subscriber, heard, ..self }
    }

    /// Hears that this move was played.
    async fn hear_move(self, san: &'static str) -> Self {
        self.hear(move |heard| tells(heard, 1, san)).await
    }

    /// Hears whether the board answers, unless that was heard already among the messages from
    /// number `since` on: a clock and a move may overtake each other.
    async fn hear_board(self, up: bool, since: usize) -> Self {
        let fits =
            move |heard: &Heard| heard.topic.ends_with("/clock") && heard.json()["board_up"] == up;
        if self.heard[since..].iter().any(fits) { self } else { self.hear(fits).await }
    }

    /// The moves as they were told one by one, each once and in order.
    fn moves(&self) -> String {
        let mut sheets = Scoresheets::default();
        sheets.write_all(&self.heard);
        sheets.moves(1).join(" ")
    }

    /// What a client gets that comes now.
    async fn kept_game(&self) -> Value {
        let port = self.mosquitto.port;
        let [game] = blocking(move || kept_games(port, "boardcast/hall")).await;
        game
    }

    /// Stops the daemon, which must have run all the time.
    async fn stop(self) {
        self.daemon.signal(Signal::TERM);
        let daemon = self.daemon;
        let (status, _, told) = blocking(move || daemon.finish()).await;
        assert!(status.success(), "{told:#?}");
        hear(self.subscriber, |heard| is_status(heard, "offline")).await;
        self.player.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn moves_made_while_the_cable_is_out_are_told_when_it_is_back() {
    let scene = Scene::set().await;
    scene.player.play(4).await;
    let mut scene = scene.hear_move("d5").await;
    // One ply, one of each side, and none.
    for (plies, last) in [(1, Some("Nc3")), (2, Some("Nxe4")), (0, None)] {
        let pulled = scene.heard.len();
        scene.player.pull_cable().await;
        scene = scene.hear_board(false, pulled).await;
        scene.player.play(plies).await;
        let back = scene.heard.len();
        scene.player.put_cable_back().await;
        if let Some(san) = last {
            scene = scene.hear_move(san).await;
        }
        scene = scene.hear_board(true, back).await;
    }
    scene.player.play(scene.player.moves.len() - 7).await;
    let scene = scene.hear_move("Bd8#").await;
    assert_eq!(scene.moves(), RETI);
    assert!(scene.heard.iter().all(|heard| !heard.topic.ends_with("/status")));
    let kept = scene.kept_game().await;
    assert_eq!((sans(&kept).join(" ").as_str(), &kept["revision"]), (RETI, &0.into()));
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_killed_knows_everything_again_and_nothing_is_told_twice() {
    let scene = Scene::set().await;
    scene.player.play(6).await;
    let mut scene = scene.hear_move("dxe4").await;
    // The clock, told every second, shows that what was told before has been confirmed.
    for _ in 0..2 {
        scene = scene.hear(|heard| heard.topic.ends_with("/clock")).await;
    }
    scene.mosquitto.crash();
    scene.player.play(2).await;
    scene.mosquitto.restart();
    let Scene { subscriber, .. } = scene;
    let (subscriber, more) = blocking(move || {
        let heard = subscriber.until_subscribed_again();
        (subscriber, heard)
    })
    .await;
    scene.heard.extend(more);
    let scene = Scene { subscriber, ..scene };

    scene.player.play(2).await;
    let scene = scene.hear_move("e5").await;
    let kept = scene.kept_game().await;
    assert_eq!(sans(&kept), scene.player.moves[..10]);
    scene.player.play(scene.player.moves.len() - 10).await;
    let scene = scene.hear_move("Bd8#").await;
    assert_eq!(scene.moves(), RETI);
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_that_is_killed_is_offline_and_its_successor_learns_the_game() {
    let scene = Scene::set().await;
    scene.player.play(6).await;
    let scene = scene.hear_move("dxe4").await;
    scene.daemon.signal(Signal::KILL);
    let scene = scene.hear(|heard| is_status(heard, "offline")).await;
    let kept = scene.kept_game().await;
    assert_eq!(sans(&kept), scene.player.moves[..6], "what was told is kept without the daemon");

    // They play on; the board remembers what nobody hears.
    scene.player.play(5).await;
    scene.player.reseat_adapter().await;
    let daemon = Program::daemon(&scene.config);
    let scene = Scene { daemon, ..scene };
    let scene = scene.hear(|heard| is_status(heard, "online")).await;
    let scene = scene.hear_move("dxe5").await;
    scene.player.play(scene.player.moves.len() - 11).await;
    let scene = scene.hear_move("Bd8#").await;
    let kept = scene.kept_game().await;
    assert_eq!(sans(&kept).join(" "), RETI);
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_board_that_is_plugged_in_after_the_start_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let mosquitto = Mosquitto::start("allow_anonymous true");
    let boards = ["early", "late"].map(|name| folder.path().join(name));
    let config = configure(folder.path(), &mosquitto, &boards);
    let early = Player::sit(&boards[0], &game(2), BoardSettings::new(30_001)).await;
    let subscriber = listen(&mosquitto).await;
    let daemon = Program::daemon(&config);
    let (daemon, told) = blocking(move || {
        let told = daemon.hear("no device at");
        (daemon, told)
    })
    .await;
    assert!(told.contains(boards[1].to_str().unwrap()), "{told}");

    // The other table is not kept waiting.
    let subscriber = hear_ready(subscriber, 1).await;
    early.play(1).await;
    let (subscriber, _) = hear(subscriber, |heard| tells(heard, 1, "f4")).await;
    assert!(fs::symlink_metadata(&boards[1]).is_err());
    let late = Player::sit(&boards[1], &game(2), BoardSettings::new(30_002)).await;
    let ready =
        |heard: &Heard| heard.topic.ends_with("/table/2/live") && heard.json()["state"] == "ready";
    let (subscriber, _) = hear(subscriber, ready).await;
    late.play(6).await;
    hear(subscriber, |heard| tells(heard, 2, "Qh4#")).await;
    daemon.signal(Signal::TERM);
    let (status, _, _) = blocking(move || daemon.finish()).await;
    assert!(status.success());
    early.leave().await;
    late.leave().await;
}
