//! Other people's programs and a virtual board, as several tests need them.

mod player;

mod program;

mod stranger;

mod table;

use std::{
    fmt,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use boardcast::{
    config::{Broker, Config, Embedded, Http, Outside, Table as TableConfig},
    daemon::Daemon,
    hall::{PortName, Source},
};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    sync::{oneshot, watch},
    task::{JoinHandle, JoinSet},
    time::Instant,
};

pub(crate) use player::Player;
pub(crate) use program::{Program, boardcast};
pub(crate) use stranger::Stranger;
pub(crate) use table::{Table, performance};

/// How long anything may take before a test gives up. A busy machine is slow; nothing waits for
/// this to pass.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// The stages of a stop are bounded below two seconds by construction; a busy machine may add to it.
pub(crate) const STOPPING: Duration = Duration::from_secs(20);

/// One message as `mosquitto_sub` prints it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Heard {
    /// Whether it was kept by the broker and not sent just now.
    pub(crate) retained: bool,
    pub(crate) topic: String,
    pub(crate) payload: String,
}

impl fmt::Debug for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} {}", if self.retained { "kept " } else { "" }, self.topic, self.payload)
    }
}

impl Heard {
    fn of(line: &str) -> Option<Self> {
        let mut parts = line.strip_prefix("heard ")?.splitn(3, ' ');
        let mut part = || parts.next().unwrap_or_default().to_owned();
        Some(Self { retained: part() == "1", topic: part(), payload: part() })
    }

    /// The payload as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.payload).unwrap()
    }
}

/// A running `mosquitto_sub`.
pub(crate) struct Subscriber {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Subscriber {
    /// Subscribes and waits until the broker has agreed.
    pub(crate) fn start(port: u16, arguments: &[&str]) -> Self {
        // Line by line: what it says about itself would wait for the next message otherwise.
        let mut child = Command::new("stdbuf")
            .args(["-oL", "mosquitto_sub"])
            .args(["-h", "127.0.0.1", "-p", &port.to_string(), "-V", "mqttv5", "-q", "1", "-d"])
            .args(["-F", "heard %r %t %p"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("mosquitto_sub is installed (Debian: mosquitto-clients)");
        let lines = lines_of(child.stdout.take().unwrap());
        let subscriber = Self { child, lines };
        let answered = |line: &str| line.contains("received SUBACK");
        while !answered(&subscriber.line().expect("mosquitto_sub is answered")) {}
        subscriber
    }

    /// The next message; `None` when the connection has ended.
    pub(crate) fn next(&self) -> Option<Heard> {
        loop {
            let line = self.line()?;
            if let Some(heard) = Heard::of(&line) {
                return Some(heard);
            }
        }
    }

    /// All messages up to the first that fits.
    pub(crate) fn until(&self, fits: impl Fn(&Heard) -> bool) -> Vec<Heard> {
        let mut heard = Vec::new();
        loop {
            let next = self.next();
            let next = next.unwrap_or_else(|| panic!("the connection ended after {heard:#?}"));
            let done = fits(&next);
            heard.push(next);
            if done {
                return heard;
            }
        }
    }

    /// All messages until the client has connected once more and is subscribed again.
    pub(crate) fn until_subscribed_again(&self) -> Vec<Heard> {
        let mut heard = Vec::new();
        loop {
            let line = self.line().expect("mosquitto_sub tries again");
            if line.contains("received SUBACK") {
                return heard;
            }
            heard.extend(Heard::of(&line));
        }
    }

    fn line(&self) -> Option<String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("nothing came for {PATIENCE:?}"),
        }
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Runs a client that ends by itself.
pub(crate) fn client(program: &str, port: u16, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(["-h", "127.0.0.1", "-p", &port.to_string()]).args(arguments);
    command.output().expect("the client is installed (Debian: mosquitto-clients)")
}

/// A real Mosquitto on a port and with a folder of its own.
pub(crate) struct Mosquitto {
    child: Child,
    folder: tempfile::TempDir,
    pub(crate) port: u16,
}

impl Mosquitto {
    /// Starts one with these lines of configuration besides the listener.
    pub(crate) fn start(configuration: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let text = format!("listener {port} 127.0.0.1\n{configuration}\n");
        std::fs::write(folder.path().join("mosquitto.conf"), text).unwrap();
        let child = launch(folder.path());
        Self { child, folder, port }
    }

    /// Ends it without a word, as a power cut does.
    pub(crate) fn crash(&mut self) {
        end(&mut self.child);
    }

    /// Stops it where it stands: its connections stay open and nothing is answered.
    pub(crate) fn freeze(&self) {
        kill_process(Pid::from_child(&self.child), Signal::STOP).unwrap();
    }

    /// Lets it go on.
    pub(crate) fn thaw(&self) {
        kill_process(Pid::from_child(&self.child), Signal::CONT).unwrap();
    }

    /// Starts it again after a crash.
    pub(crate) fn restart(&mut self) {
        self.child = launch(self.folder.path());
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// Starts Mosquitto and waits until it says that it runs.
#[expect(clippy::zombie_processes, reason = "if it does not start, the test ends here")]
fn launch(folder: &Path) -> Child {
    let path = format!("{}:/usr/sbin", std::env::var("PATH").unwrap_or_default());
    let mut child = Command::new("mosquitto")
        .env("PATH", path)
        .arg("-c")
        .arg(folder.join("mosquitto.conf"))
        .stderr(Stdio::piped())
        .spawn()
        .expect("mosquitto is installed (Debian: mosquitto)");
    let lines = lines_of(child.stderr.take().unwrap());
    loop {
        let line = lines.recv_timeout(PATIENCE).expect("mosquitto starts");
        if line.contains("running") {
            return child;
        }
    }
}

fn end(child: &mut Child) {
    // It may have ended already; then there is nothing to end.
    let _ = child.kill();
    child.wait().unwrap();
}

/// The lines of a program as they come.
pub(crate) fn lines_of(output: impl std::io::Read + Send + 'static) -> mpsc::Receiver<String> {
    let (send, lines) = mpsc::channel();
    thread::spawn(move || {
        // The pipe is emptied to its end, whether or not somebody still listens.
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let _ = send.send(line);
        }
    });
    lines
}

/// A road to a broker that can be cut.
pub(crate) struct Relay {
    pub(crate) port: u16,
    to: u16,
    task: Option<JoinHandle<()>>,
}

impl Relay {
    pub(crate) async fn start(to: u16) -> Self {
        let mut relay = Self { port: free_port(), to, task: None };
        relay.open().await;
        relay
    }

    pub(crate) async fn open(&mut self) {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", self.port)).await.unwrap();
        let to = self.to;
        self.task = Some(tokio::spawn(async move {
            // Dropped with the task, and all connections with it.
            let mut connections = JoinSet::new();
            loop {
                let (mut near, _) = listener.accept().await.unwrap();
                connections.spawn(async move {
                    if let Ok(mut far) = tokio::net::TcpStream::connect(("127.0.0.1", to)).await {
                        let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
                    }
                });
            }
        }));
    }

    pub(crate) async fn cut(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
        }
    }
}

/// A port that nobody uses now, and that the system gives to nobody who asks for any port. Another
/// process with tests begins to look elsewhere.
pub(crate) fn free_port() -> u16 {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    loop {
        let nth = ASKED.fetch_add(1, Ordering::Relaxed);
        let offset = std::process::id().wrapping_mul(PORTS_APART).wrapping_add(nth) % PORTS;
        let port = FIRST_PORT + offset as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Below the ports that Linux gives away, from 32768 on.
const FIRST_PORT: u16 = 10_000;
const PORTS: u32 = 22_000;
const PORTS_APART: u32 = 61;

/// A file with one line in it.
pub(crate) fn secret_file(folder: &Path, name: &str, secret: &str) -> PathBuf {
    let path = folder.join(name);
    let mut file = std::fs::File::create(&path).unwrap();
    writeln!(file, "{secret}").unwrap();
    path
}

/// Runs what waits for a client without keeping the daemon from running.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// A daemon that runs in the background.
pub(crate) struct Running {
    pub(crate) port: u16,
    pub(crate) web: Option<SocketAddr>,
    connected: watch::Receiver<bool>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    /// One with a single table.
    pub(crate) async fn start(board: &Path, broker: Broker) -> Self {
        let port = PortName::new(board.to_str().unwrap());
        Self::start_with(Config {
            tables: vec![TableConfig::new(1, Source::Port(port))],
            broker,
            http: Http { port: 0, ..Http::default() },
            ..Config::default()
        })
        .await
    }

    pub(crate) async fn start_with(config: Config) -> Self {
        let daemon = Daemon::start(&config).await.unwrap();
        let (port, web) = (daemon.broker_url().port, daemon.web_address());
        let connected = daemon.connected();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async {
            let stop = async { stopped.await.unwrap_or(()) };
            daemon.run_until(stop).await.unwrap();
        });
        Self { port, web, connected, stop, task }
    }

    pub(crate) fn is_connected(&self) -> bool {
        *self.connected.borrow()
    }

    pub(crate) async fn wait_until_connected(&mut self, connected: bool) {
        let wait = self.connected.wait_for(|now| *now == connected);
        tokio::time::timeout(PATIENCE, wait).await.unwrap().unwrap();
    }

    /// Stops it and says how long that took.
    pub(crate) async fn stop(self) -> Duration {
        let start = now();
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
        now() - start
    }

    /// Ends it without giving it a chance to say anything: its sockets just close.
    pub(crate) fn kill(self) {
        self.task.abort();
    }
}

/// The broker inside the daemon, on a free port.
pub(crate) fn embedded() -> Broker {
    Broker::Embedded(Embedded { port: 0, ..Embedded::default() })
}

/// A broker outside.
pub(crate) fn outside(port: u16) -> Broker {
    let url = format!("mqtt://127.0.0.1:{port}").parse().unwrap();
    Broker::Outside(Outside::new(url))
}

#[expect(clippy::disallowed_methods, reason = "a virtual board lives in real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
