use std::os::unix::fs::symlink;

use dgt_protocol::{LinkEvent, Message};
use tokio::task::JoinHandle;
use tokio_serial::SerialPortBuilderExt;

use super::*;
use crate::daemon::testing::Pty;

/// A running port and everything it says.
struct Running {
    inputs: mpsc::Receiver<Stamped>,
    requests: mpsc::Sender<Request>,
    tapped: mpsc::Receiver<Tapped>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    fn start(path: &Path) -> Self {
        let (send_inputs, inputs) = mpsc::channel(1024);
        let (requests, receive_requests) = mpsc::channel(16);
        let (tap, tapped) = mpsc::channel(1024);
        let stop = CancellationToken::new();
        let port = Port::new(PortName::new("a"), path, Clock::start()).tapped(tap);
        let task = tokio::spawn(port.run(send_inputs, receive_requests, stop.clone()));
        Self { inputs, requests, tapped, stop, task }
    }

    async fn input(&mut self) -> Input {
        self.inputs.recv().await.unwrap().input
    }

    async fn expect_open(&mut self) {
        let input = self.input().await;
        assert!(matches!(&input, Input::PortOpened { port } if port.as_str() == "a"), "{input:?}");
    }

    async fn expect_closed(&mut self, words: &str) {
        let input = self.input().await;
        assert!(
            matches!(&input, Input::PortClosed { reason, .. } if reason.contains(words)),
            "{input:?}"
        );
    }

    /// Waits until the link has read this message, whatever comes before it.
    async fn expect_version(&mut self) {
        let version = Message::Version { major: 1, minor: 7 };
        loop {
            match self.input().await {
                Input::Link { event: LinkEvent::Message(message), .. } if message == version => {
                    return;
                }
                Input::Link { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }

    async fn finish(self) -> Vec<Traffic> {
        self.stop.cancel();
        self.task.await.unwrap();
        let mut tapped = self.tapped;
        let mut traffic = Vec::new();
        while let Some(next) = tapped.recv().await {
            traffic.push(next.traffic);
        }
        traffic
    }
}

#[tokio::test]
async fn every_byte_passes_both_ways_and_the_tap_sees_it_all() {
    let mut pty = Pty::open();
    let mut port = Running::start(&pty.path);
    port.expect_open().await;
    let handshake = pty.receive(1).await;
    assert_eq!(handshake, [0x4B], "the link begins with the update mode");

    let all: Vec<u8> = (0..=255).collect();
    pty.send(&all).await;
    pty.send(&VERSION).await;
    port.expect_version().await;
    drop(pty);
    port.expect_closed("went away").await;

    let traffic = port.finish().await;
    assert_eq!(traffic.first(), Some(&Traffic::Up));
    assert_eq!(traffic.last(), Some(&Traffic::Down));
    let bytes = |received: bool| {
        let side = traffic.iter().filter_map(move |traffic| match traffic {
            Traffic::Received(bytes) if received => Some(bytes),
            Traffic::Sent(bytes) if !received => Some(bytes),
            _ => None,
        });
        side.flatten().copied().collect::<Vec<_>>()
    };
    assert_eq!(bytes(true), [&all[..], &VERSION].concat());
    assert!(bytes(false).starts_with(&handshake));
}

#[tokio::test]
async fn a_request_of_the_hall_reaches_the_board() {
    let mut pty = Pty::open();
    let mut port = Running::start(&pty.path);
    port.expect_open().await;
    pty.send(&VERSION).await;
    port.expect_version().await;
    port.requests.send(Request::Board).await.unwrap();
    while pty.receive(1).await != [READ_BOARD] {}
    port.finish().await;
}

#[tokio::test]
async fn a_device_that_comes_late_and_one_that_comes_back_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("usb-board");
    let mut port = Running::start(&path);
    port.expect_closed("no device at").await;

    // However often it was tried meanwhile, the next news is that the device is there.
    let first = Pty::open();
    symlink(&first.path, &path).unwrap();
    port.expect_open().await;
    std::fs::remove_file(&path).unwrap();
    drop(first);
    port.expect_closed("went away").await;

    let mut second = Pty::open();
    symlink(&second.path, &path).unwrap();
    port.expect_open().await;
    second.send(&VERSION).await;
    port.expect_version().await;
    port.finish().await;
}

#[tokio::test]
async fn a_device_in_use_is_told_and_used_when_it_is_free() {
    let pty = Pty::open();
    let other = tokio_serial::new(pty.path.to_str().unwrap(), 9600).open_native_async().unwrap();
    let mut port = Running::start(&pty.path);
    port.expect_closed("another program uses").await;
    drop(other);
    port.expect_open().await;
    port.finish().await;
}

#[tokio::test]
async fn a_path_that_is_no_serial_device_is_told() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for path in [file.path(), Path::new("/dev/null")] {
        let mut port = Running::start(path);
        port.expect_closed("is not a serial device").await;
        assert_eq!(port.finish().await, []);
    }
}

#[tokio::test]
async fn a_stop_ends_a_port_whose_engine_has_stalled() {
    let mut pty = Pty::open();
    let mut port = Running::start(&pty.path);
    port.expect_open().await;
    // Nobody takes the inputs: the channel fills, and the port waits for the engine.
    while port.inputs.len() < port.inputs.max_capacity() {
        pty.send(&VERSION).await;
        tokio::task::yield_now().await;
    }
    port.finish().await;
}

#[tokio::test]
async fn a_port_ends_when_nobody_listens() {
    let pty = Pty::open();
    let Running { inputs, requests, tapped, stop: _stop, task } = Running::start(&pty.path);
    drop((inputs, tapped));
    task.await.unwrap();
    drop(requests);
}

/// A board's answer to the question for its version.
const VERSION: [u8; 5] = [0x93, 0x00, 0x05, 0x01, 0x07];
const READ_BOARD: u8 = 0x42;
