//! The web port, spoken to byte by byte.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::tools::{PATIENCE, Running, Table, embedded};

const GAME: &str = "[Result \"*\"]\n\n1. e4 *\n";

async fn hall() -> (Table, Running, SocketAddr) {
    let table = Table::start(GAME, 1.0).await;
    let mut daemon = Running::start(&table.path, embedded()).await;
    daemon.wait_until_connected(true).await;
    let web = daemon.web.unwrap();
    (table, daemon, web)
}

/// Sends a request and reads until the server closes.
async fn exchange(web: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(web).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let read = stream.read_to_string(&mut answer);
    tokio::time::timeout(PATIENCE, read).await.unwrap().unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_say_what_this_is_and_how_it_is() {
    let (table, daemon, web) = hall().await;
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: hall\r\n\r\n");
    let health = exchange(web, &get("/healthz")).await;
    assert!(health.starts_with("HTTP/1.1 200 ") && health.ends_with("\r\n\r\nok\n"), "{health}");
    let page = exchange(web, &get("/")).await;
    let topic = format!("mqtt://127.0.0.1:{}/boardcast/hall/public/#", daemon.port);
    assert!(page.starts_with("HTTP/1.1 200 ") && page.contains(&topic), "{page}");
    for header in ["content-security-policy: default-src 'none'", "x-content-type-options: nosniff"]
    {
        assert!(page.contains(header), "{page}");
    }
    let missing = exchange(web, &get("/secret")).await;
    assert!(missing.starts_with("HTTP/1.1 404 "), "{missing}");
    let plain = exchange(web, &get("/mqtt")).await;
    assert!(plain.starts_with("HTTP/1.1 4"), "no WebSocket, no tunnel: {plain}");
    let garbage = exchange(web, "\u{1}\u{2}\u{3}\r\n\r\n").await;
    assert!(garbage.starts_with("HTTP/1.1 400 "), "{garbage}");
    daemon.stop().await;
    table.stop().await;
}

/// A WebSocket, as far as MQTT needs it.
struct Socket(TcpStream);

impl Socket {
    async fn open(web: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(web).await.unwrap();
        let request = "GET /mqtt HTTP/1.1\r\nHost: hall\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                       Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\
                       Sec-WebSocket-Protocol: mqtt\r\n\r\n";
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(stream.read_u8().await.unwrap());
        }
        let answer = String::from_utf8(answer).unwrap().to_ascii_lowercase();
        assert!(answer.starts_with("http/1.1 101 "), "{answer}");
        assert!(answer.contains("sec-websocket-protocol: mqtt\r\n"), "{answer}");
        Self(stream)
    }

    /// Sends one binary frame, with a mask of zeros.
    async fn send(&mut self, bytes: &[u8]) {
        let length = u8::try_from(bytes.len()).unwrap();
        assert!(length < 126);
        let head = [0x82, 0x80 | length, 0, 0, 0, 0];
        self.0.write_all(&[&head, bytes].concat()).await.unwrap();
    }

    /// The next frame: its opcode and what is in it.
    async fn receive(&mut self) -> (u8, Vec<u8>) {
        let frame = async {
            let opcode = self.0.read_u8().await.unwrap() & 0x0F;
            let length = match self.0.read_u8().await.unwrap() {
                126 => usize::from(self.0.read_u16().await.unwrap()),
                length => usize::from(length),
            };
            let mut payload = vec![0; length];
            self.0.read_exact(&mut payload).await.unwrap();
            (opcode, payload)
        };
        tokio::time::timeout(PATIENCE, frame).await.unwrap()
    }

    async fn receive_bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < count {
            let (opcode, payload) = self.receive().await;
            assert_eq!(opcode, 2);
            bytes.extend(payload);
        }
        bytes
    }
}

/// CONNECT of MQTT 3.1.1 with a clean session, keep-alive off and the client id `b`.
const CONNECT: &[u8] = b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x00\x00\x01b";

#[tokio::test(flavor = "multi_thread")]
async fn browsers_reach_the_broker_whatever_the_pieces_look_like() {
    let (table, daemon, web) = hall().await;
    let mut socket = Socket::open(web).await;
    // A packet in several frames, an empty frame between them, then two packets in one frame.
    socket.send(&CONNECT[..5]).await;
    socket.send(&[]).await;
    socket.send(&CONNECT[5..]).await;
    assert_eq!(socket.receive_bytes(4).await, b"\x20\x02\x00\x00");
    let topic = b"boardcast/hall/status";
    let mut packets = vec![0x82, 2 + 2 + 21 + 1, 0, 1, 0, 21];
    packets.extend_from_slice(topic);
    packets.push(0);
    packets.extend_from_slice(b"\xc0\x00");
    socket.send(&packets).await;
    // The kept status comes, and the answers to SUBSCRIBE and PINGREQ.
    let mut heard = Vec::new();
    let has = |heard: &[u8], part: &[u8]| heard.windows(part.len()).any(|window| window == part);
    while !(has(&heard, b"\"online\"")
        && has(&heard, b"\x90\x03\x00\x01\x00")
        && has(&heard, b"\xd0\x00"))
    {
        heard.extend(socket.receive().await.1);
    }
    // When the daemon stops, the browser is told why and nothing hangs.
    let took = daemon.stop().await;
    println!("stopping took {took:?}");
    let close = loop {
        let (opcode, payload) = socket.receive().await;
        if opcode == 8 {
            break payload;
        }
    };
    assert_eq!(close[..2], 1001_u16.to_be_bytes());
    table.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_connection_keeps_nobody_out() {
    let (table, daemon, web) = hall().await;
    let _idle = TcpStream::connect(web).await.unwrap();
    let mut socket = Socket::open(web).await;
    socket.send(CONNECT).await;
    assert_eq!(socket.receive_bytes(4).await, b"\x20\x02\x00\x00");
    daemon.stop().await;
    table.stop().await;
}
