//! The real program as a service: what it tells the service manager, how it stops, and what it says
//! when it cannot start.

use std::{
    io::Read,
    net::TcpListener,
    os::unix::net::UnixDatagram,
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::tools::{Mosquitto, PATIENCE, STOPPING, Subscriber, free_port, now};

/// A configuration for one table without a board.
fn configuration(folder: &Path, rest: &str) -> std::path::PathBuf {
    let path = folder.join("hall.toml");
    let board = folder.join("no-board");
    let text = format!("[[table]]\nnumber = 1\nport = \"{}\"\n\n{rest}\n", board.display());
    std::fs::write(&path, text).unwrap();
    path
}

fn boardcast(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boardcast"));
    command.args(arguments).env_remove("BOARDCAST_LOG").env_remove("BOARDCAST_BROKER");
    command
}

fn refused(config: &Path) -> (Output, String) {
    let output = boardcast(&["run", "--config", config.to_str().unwrap()]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, text)
}

/// The program under a service manager.
struct Service {
    child: Child,
    manager: UnixDatagram,
}

impl Service {
    fn start(folder: &Path, config: &Path) -> Self {
        let socket = folder.join("notify");
        let manager = UnixDatagram::bind(&socket).unwrap();
        manager.set_read_timeout(Some(PATIENCE)).unwrap();
        let child = boardcast(&["run", "--config", config.to_str().unwrap()])
            .env("NOTIFY_SOCKET", &socket)
            .env("WATCHDOG_USEC", "400000")
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self { child, manager }
    }

    /// Waits for the service manager to be told this.
    fn expect(&self, word: &str) {
        let mut buffer = [0; 1024];
        loop {
            let length = self.manager.recv(&mut buffer).unwrap();
            let told = String::from_utf8_lossy(&buffer[..length]);
            if told.lines().any(|line| line == word) {
                return;
            }
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).unwrap();
    }

    /// Waits for the end: whether it was a good one, and what was logged.
    fn finish(mut self) -> (bool, String) {
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        (self.child.wait().unwrap().success(), log)
    }
}

#[test]
fn a_service_is_ready_alive_and_stops_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let mosquitto = Mosquitto::start("allow_anonymous true");
    let rest =
        format!("[broker]\nurl = \"mqtt://127.0.0.1:{}\"\n[http]\nport = 0\n", mosquitto.port);
    let service = Service::start(folder.path(), &configuration(folder.path(), &rest));
    service.expect("READY=1");
    service.expect("WATCHDOG=1");
    service.expect("WATCHDOG=1");
    let subscriber = Subscriber::start(mosquitto.port, &["-t", "boardcast/hall/status"]);
    subscriber.until(|heard| heard.payload.contains("online"));

    let start = now();
    service.signal(Signal::TERM);
    service.expect("STOPPING=1");
    let (good, log) = service.finish();
    let took = now() - start;
    assert!(good, "{log}");
    assert!(took < STOPPING, "stopping took {took:?}\n{log}");
    let words = subscriber.until(|heard| heard.payload.contains("offline"));
    assert_eq!(words.len(), 1, "{words:#?}");
    assert!(log.contains("no device at"), "the missing board is told: {log}");
    assert_eq!(log.matches("no device at").count(), 1, "once: {log}");
}

#[test]
fn a_broker_that_never_comes_does_not_keep_a_service_from_starting_or_stopping() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let rest = format!("[broker]\nurl = \"mqtt://127.0.0.1:{port}\"\n[http]\nenabled = false\n");
    let service = Service::start(folder.path(), &configuration(folder.path(), &rest));
    service.expect("READY=1");
    service.expect("WATCHDOG=1");
    let start = now();
    service.signal(Signal::INT);
    let (good, log) = service.finish();
    assert!(good && now() - start < STOPPING, "{log}");
    assert!(log.contains(&format!("nothing listens at mqtt://127.0.0.1:{port}")), "{log}");
}

#[test]
fn a_wrong_password_is_told_and_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    let passwords = folder.path().join("passwords");
    std::fs::write(&passwords, "").unwrap();
    let mosquitto = Mosquitto::start(&format!(
        "allow_anonymous false\npassword_file {}\nuser root",
        passwords.display()
    ));
    let config = configuration(folder.path(), "[http]\nenabled = false\n");
    let url = format!("mqtt://hall:hunter2@127.0.0.1:{}", mosquitto.port);
    let mut child = boardcast(&["run", "--config", config.to_str().unwrap(), "--log", "trace"])
        .args(["--broker", &url])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = String::new();
    let mut stderr = child.stderr.take().unwrap();
    let mut piece = [0; 4096];
    while !log.contains("refuses the user or the password") {
        let length = stderr.read(&mut piece).unwrap();
        assert!(length > 0, "it ended: {log}");
        log.push_str(&String::from_utf8_lossy(&piece[..length]));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!log.contains("hunter2"), "{log}");
}

#[test]
fn what_keeps_it_from_starting_is_told_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();

    let config = configuration(folder.path(), &format!("[broker]\nport = {port}\n"));
    let (output, text) = refused(&config);
    assert!(!output.status.success());
    assert!(text.contains(&format!("port {port} is in use")), "{text}");
    assert!(text.contains(&format!("--broker mqtt://127.0.0.1:{port}")), "{text}");

    let config =
        configuration(folder.path(), &format!("[broker]\nport = 0\n[http]\nport = {port}\n"));
    let (output, text) = refused(&config);
    assert!(!output.status.success() && text.contains("`port` in `[http]`"), "{text}");

    let config = configuration(folder.path(), "[event]\nsite = \"a/#\"\n");
    let (output, text) = refused(&config);
    assert!(!output.status.success() && text.contains("line 6, `event.site`"), "{text}");
}
