//! Boards behind real pseudo-terminals, with a time that passes when it is looked at, and no further
//! than the host allows. At the highest speed a second of the script is a tenth of a millisecond.

use std::{
    cell::Cell,
    fs::{File, OpenOptions},
    io::{Read, Write},
};

use dgt_protocol::{Address, BusCommand, BusDeframer, BusReply, Content, Deframer, Message, Order};
use shakmaty::{Board, Piece, Square};
use tokio::{sync::mpsc, task::spawn_blocking};

use super::*;
use crate::sim::{
    board::{BoardSettings, VirtualBoard},
    bus::VirtualBus,
    faults::Faulty,
    hand::script::{Action, Script, Step},
    performance::Performance,
};

fn script(steps: &[(u64, Action)]) -> Performance {
    let steps = steps
        .iter()
        .map(|(at, action)| Step { at: Duration::from_millis(*at), action: action.clone() })
        .collect();
    let script = Script { steps, ..Script::default() };
    let board = VirtualBoard::new(BoardSettings::new(1025), Duration::ZERO);
    Performance::new(board, &Board::new(), &script)
}

/// Goes on by a second of the script whenever somebody looks at it, but not beyond the gate.
fn ticking(gate: &Cell<u32>) -> impl Fn() -> Duration {
    let ticks = Cell::new(0);
    move || {
        ticks.set((ticks.get() + 1).min(gate.get()));
        Duration::from_micros(100) * ticks.get()
    }
}

fn settings(link: Option<PathBuf>) -> PtySettings {
    PtySettings { link, speed: FASTEST, until: None }
}

/// Opens the board as a host does and greets it.
async fn greet(path: PathBuf) -> File {
    spawn_blocking(move || {
        let mut port = OpenOptions::new().read(true).write(true).open(path).unwrap();
        port.write_all(&[0x4B, 0x42]).unwrap();
        port
    })
    .await
    .unwrap()
}

/// Reads until this message comes; gives the port back, or nothing if it is gone.
async fn read_until(mut port: File, wanted: fn(&Message) -> bool) -> Option<File> {
    spawn_blocking(move || {
        let mut deframer = Deframer::new();
        let mut bytes = [0; 64];
        loop {
            match port.read(&mut bytes) {
                Ok(0) | Err(_) => return None,
                Ok(count) => deframer.push(&bytes[..count]),
            }
            if deframer.by_ref().any(|message| wanted(&message.unwrap())) {
                return Some(port);
            }
        }
    })
    .await
    .unwrap()
}

fn is_dump(message: &Message) -> bool {
    matches!(message, Message::Dump(_))
}

fn is_e4(message: &Message) -> bool {
    matches!(message, Message::FieldUpdate { field, .. } if field.index() == 36)
}

const PAWN: Piece = Piece { color: shakmaty::Color::White, role: shakmaty::Role::Pawn };

/// Runs a board and a host side by side until the host is done.
async fn with_host<F: Future<Output = ()>>(
    device: &mut impl Device,
    settings: &PtySettings,
    gate: &Cell<u32>,
    host: impl FnOnce(mpsc::UnboundedReceiver<PathBuf>) -> F,
) -> u64 {
    let (sender, paths) = mpsc::unbounded_channel();
    let cancel = CancellationToken::new();
    let board = perform(
        device,
        settings,
        ticking(gate),
        |path| sender.send(path.to_owned()).unwrap(),
        &cancel,
    );
    let host = async {
        host(paths).await;
        cancel.cancel();
    };
    let (lost, ()) = tokio::join!(board, host);
    lost.unwrap()
}

#[tokio::test]
async fn a_host_sees_the_board_and_its_changes() {
    let mut performance = script(&[(60_000, Action::Place(Square::E4, PAWN))]);
    let gate = &Cell::new(50);
    let lost = with_host(&mut performance, &settings(None), gate, |mut paths| async move {
        let port = greet(paths.recv().await.unwrap()).await;
        let port = read_until(port, is_dump).await.expect("a dump");
        gate.set(u32::MAX);
        read_until(port, is_e4).await.expect("a report of e4");
    })
    .await;
    assert_eq!(lost, 0);
    assert!(performance.is_over());
}

#[tokio::test]
async fn a_host_may_go_and_another_come() {
    let mut performance = script(&[]);
    let gate = &Cell::new(u32::MAX);
    with_host(&mut performance, &settings(None), gate, |mut paths| async move {
        let path = paths.recv().await.unwrap();
        for _ in 0..3 {
            let port = greet(path.clone()).await;
            read_until(port, is_dump).await.expect("a dump");
        }
    })
    .await;
}

#[tokio::test]
async fn a_pulled_cable_ends_the_port_and_comes_back_at_the_same_link() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("board");
    let mut performance = script(&[
        (120_000, Action::Unplug),
        (130_000, Action::Place(Square::E4, PAWN)),
        (140_000, Action::Replug),
    ]);
    let path = link.clone();
    let gate = &Cell::new(100);
    with_host(&mut performance, &settings(Some(link.clone())), gate, |mut paths| async move {
        let first = paths.recv().await.unwrap();
        assert_eq!(fs::read_link(&path).unwrap(), first);
        let port = greet(path.clone()).await;
        let port = read_until(port, is_dump).await.expect("a dump");
        gate.set(u32::MAX);
        assert!(read_until(port, |_| false).await.is_none(), "the cable is pulled");
        let second = paths.recv().await.unwrap();
        assert_eq!(fs::read_link(&path).unwrap(), second);
        let port = greet(path.clone()).await;
        read_until(port, is_dump).await.expect("a dump");
    })
    .await;
    assert!(fs::symlink_metadata(&link).is_err(), "the link is gone with the board");
}

#[tokio::test]
async fn ends_at_its_time_without_any_host() {
    let mut performance = script(&[(5_000, Action::Place(Square::E4, PAWN))]);
    let until = Some(Duration::from_secs(10));
    let settings = PtySettings { until, ..settings(None) };
    let gate = Cell::new(u32::MAX);
    let cancel = CancellationToken::new();
    let lost = perform(&mut performance, &settings, ticking(&gate), |_| {}, &cancel).await.unwrap();
    assert_eq!(lost, 0);
    assert!(performance.is_over());
}

#[tokio::test]
async fn never_replaces_what_is_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("precious");
    fs::write(&link, "text").unwrap();
    let cancel = CancellationToken::new();
    let settings = settings(Some(link.clone()));
    let error =
        perform(&mut script(&[]), &settings, || Duration::ZERO, |_| {}, &cancel).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot make "), "{error}");
    assert_eq!(fs::read_to_string(&link).unwrap(), "text");
}

#[tokio::test]
async fn refuses_a_speed_out_of_range() {
    let cancel = CancellationToken::new();
    for speed in [0.0, -1.0, f64::NAN, f64::INFINITY, 10_001.0] {
        let settings = PtySettings { link: None, speed, until: None };
        let refused =
            perform(&mut script(&[]), &settings, || Duration::ZERO, |_| {}, &cancel).await;
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}

/// Opens a bus as a host does, asks a board who it is, and waits for the answer.
async fn ping(path: PathBuf, board: u16) {
    spawn_blocking(move || {
        let address = Address::new(board).unwrap();
        let mut port = OpenOptions::new().read(true).write(true).open(path).unwrap();
        let mut deframer = BusDeframer::new();
        let mut bytes = [0; 64];
        loop {
            let mut command = Vec::new();
            BusCommand::to(address, Order::Ping).encode(&mut command);
            port.write_all(&command).unwrap();
            let count = port.read(&mut bytes).unwrap();
            deframer.push(&bytes[..count]);
            let pong = BusReply { address, content: Content::Pong };
            if deframer.by_ref().flatten().any(|reply| reply == pong) {
                return;
            }
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_bus_behind_a_bad_cable_comes_back_at_the_same_link() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("bus");
    let boards = [1001, 1002].map(|serial| {
        Performance::from(VirtualBoard::new(BoardSettings::new(serial), Duration::ZERO))
    });
    let faults = "noise=500@1s,pull=120s+20s".parse().unwrap();
    let mut bus = Faulty::new(VirtualBus::new(boards), &faults, 1);
    let path = link.clone();
    let gate = &Cell::new(100);
    with_host(&mut bus, &settings(Some(link)), gate, |mut paths| async move {
        paths.recv().await.unwrap();
        ping(path.clone(), 1001).await;
        ping(path.clone(), 1002).await;
        gate.set(u32::MAX);
        let second = paths.recv().await.unwrap();
        assert_eq!(fs::read_link(&path).unwrap(), second);
        ping(path, 1002).await;
    })
    .await;
    assert_eq!(bus.harm().noise, 500);
}
