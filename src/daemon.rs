//! The shell: tasks, devices, sockets and time around the pure core.
//!
//! Tasks and what they wait for:
//!
//! | task | waits for | gives |
//! |---|---|---|
//! | one per [`port`] | the device, its link's deadline, requests of the hall | inputs |
//! | [`scout`] | devices that come and go | a [`port`] for each |
//! | [`engine`] | inputs, the hall's deadline | the [`log`], requests |
//! | one per [`sink`] | its cursor in the log, its own connection | publications |
//! | [`broker`], [`http`] | clients | |
//!
//! They stop in that order, so that what the first ones saw is still published by the last ones.
//! If one of them ends before, all are stopped and the daemon ends with an error.

pub mod clock;

pub mod backoff;

pub mod port;

pub mod discovery;

pub mod roster;

pub mod scout;

pub mod log;

pub mod engine;

pub mod sink;

#[cfg(feature = "broker")]
pub mod broker;

#[cfg(feature = "http")]
pub mod http;

pub mod notify;

mod stage;

#[cfg(test)]
mod testing;

use std::{fmt, future::Future, io, net::SocketAddr, sync::Arc, time::Duration};

use dgt_protocol::Address;
use tokio::{
    runtime,
    signal::unix::{SignalKind, signal},
    sync::watch,
};
use tracing::{error, info};

use self::{
    clock::Clock,
    engine::Engine,
    log::LogReader,
    port::Port,
    roster::Roster,
    scout::Scout,
    sink::mqtt::{Mqtt, Target},
    stage::Stage,
};
use crate::{
    config::{Broker, Config, Embedded, Outside, Serial, Table, url::BrokerUrl},
    hall::{Hall, Source},
};

/// A running daemon.
pub struct Daemon {
    clock: Clock,
    log: LogReader,
    broker_url: BrokerUrl,
    connected: watch::Receiver<bool>,
    web: Option<SocketAddr>,
    /// In the order in which they are stopped.
    stages: [Stage; 4],
}

/// Why the daemon could not start, in a sentence for the operator.
#[derive(Debug)]
pub struct StartError(String);

/// Which task ended that should not have, and how.
#[derive(Debug)]
pub struct Failure {
    task: &'static str,
    reason: String,
}

impl Daemon {
    /// Starts everything that `config` asks for. Complete when all ports of the network are open;
    /// boards and brokers may come later.
    ///
    /// # Errors
    ///
    /// If a network port is not free, or a secret or certificate cannot be read.
    pub async fn start(config: &Config) -> Result<Self, StartError> {
        let clock = Clock::start();
        let base = config.event.base_topic();
        let [mut ports, mut engines, mut sinks, mut services] = [
            ("port", PORTS_STOP),
            ("engine", ENGINE_STOP),
            ("mqtt", SINKS_STOP),
            ("service", SERVICES_STOP),
        ]
        .map(|(name, patience)| Stage::new(name, patience));

        // What can fail comes first: nothing is read from a board that could not be published.
        let target = target(config, &base, &mut services).await?;
        let mut engine = Engine::new(Hall::new(config.hall_setup()).recalling(), clock);
        let log = engine.log();
        let broker_url = target.url.clone();
        let mqtt = Mqtt::new(target, &base, clock, &log).map_err(StartError)?;
        let connected = mqtt.connected();
        #[cfg(feature = "http")]
        let web = {
            let broker = broker_url.clone();
            let (connected, pulse) = (connected.clone(), engine.pulse());
            let site = http::Site { base, broker, connected, pulse };
            start_web(config, site, &mut services).await?
        };
        #[cfg(not(feature = "http"))]
        let web = None;
        if let Some(interval) = notify::watchdog() {
            let feed = notify::feed(interval, engine.pulse(), services.stop());
            services.spawn(feed);
        }

        services.spawn(clock::watch(clock, services.stop()));
        sinks.spawn(mqtt.run());
        let roster = Arc::new(Roster::new(&config.tables));
        services.spawn(roster::watch(roster.clone(), services.stop()));
        for name in config.all_ports() {
            let requests = engine.requests(name.clone());
            let mut port = Port::new(name.clone(), name.as_str(), clock);
            if config.serial.ports.contains(&name) {
                port = port.on_roster(roster.clone());
            }
            let run = port.run(engine.inputs(), requests, ports.stop());
            ports.spawn(run);
        }
        for name in &config.buses {
            let requests = engine.requests(name.clone());
            let port = Port::new(name.clone(), name.as_str(), clock);
            let port = port.on_bus(expected(config)).on_roster(roster.clone());
            let run = port.run(engine.inputs(), requests, ports.stop());
            ports.spawn(run);
        }
        if let Some(scout) = Scout::new(config, engine.desk(), clock, roster) {
            let run = scout.run(ports.stop());
            ports.spawn(run);
        }
        let run = engine.run(engines.stop());
        engines.spawn(run);
        info!(tables = config.tables.len(), broker = %broker_url, "started");
        let stages = [ports, engines, sinks, services];
        Ok(Self { clock, log, broker_url, connected, web, stages })
    }

    /// The clock that all events are stamped with.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The log of everything that is decided, for readers inside the process.
    pub fn log(&self) -> &LogReader {
        &self.log
    }

    /// Where everything is published.
    pub fn broker_url(&self) -> &BrokerUrl {
        &self.broker_url
    }

    /// Whether there is a connection to the broker.
    pub fn connected(&self) -> watch::Receiver<bool> {
        self.connected.clone()
    }

    /// Where the web port is, if there is one.
    pub fn web_address(&self) -> Option<SocketAddr> {
        self.web
    }

    /// Runs until `stop` completes or a task fails, then stops everything, within two seconds.
    ///
    /// # Errors
    ///
    /// If a task failed.
    pub async fn run_until(mut self, stop: impl Future<Output = ()>) -> Result<(), Failure> {
        let failure = tokio::select! {
            () = stop => None,
            failure = stage::first_end(&mut self.stages) => Some(failure),
        };
        if let Some(failure) = &failure {
            error!("{failure}; stopping");
        }
        for stage in &mut self.stages {
            stage.finish().await;
        }
        info!("stopped");
        failure.map_or(Ok(()), Err)
    }
}

/// Runs the daemon as a service: until SIGTERM or SIGINT, with the service manager told.
///
/// # Errors
///
/// If it cannot start, or a task fails.
pub async fn serve(config: &Config) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let signal = stop_signal()?;
    let daemon = Daemon::start(config).await?;
    let tables = config.tables.len();
    notify::ready(&format!("{tables} tables, publishing at {}", daemon.broker_url));
    let stop = async {
        signal.await;
        notify::stopping();
    };
    Ok(daemon.run_until(stop).await?)
}

/// Completes at the first SIGTERM or SIGINT from now on, or SIGHUP, with which a terminal that is
/// closed ends what was started in it; `nohup` is respected.
///
/// # Errors
///
/// If signals cannot be caught.
pub fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = if ignores_hangup() { None } else { Some(signal(SignalKind::hangup())?) };
    Ok(async move {
        let hangup = async {
            match &mut hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = terminate.recv() => info!("SIGTERM"),
            _ = interrupt.recv() => info!("SIGINT"),
            _ = hangup => info!("SIGHUP"),
        }
    })
}

/// Whether whoever started this process wants it to outlive the terminal.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 1 > 0)
}

/// Runs a future with everything it needs, on threads of its own.
///
/// # Errors
///
/// If the threads cannot be started.
pub fn block_on<F: Future>(future: F) -> io::Result<F::Output> {
    let runtime = runtime::Builder::new_multi_thread().enable_all().build()?;
    let output = runtime.block_on(future);
    // A device that hangs while it is opened must not keep the process.
    runtime.shutdown_timeout(Duration::from_millis(50));
    Ok(output)
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StartError {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} task failed: {}", self.task, self.reason)
    }
}

impl std::error::Error for Failure {}

impl StartError {
    fn new(error: &dyn std::error::Error) -> Self {
        Self(error.to_string())
    }
}

/// The boards that must be on the bus, if there is only one: otherwise nobody says which is where.
fn expected(config: &Config) -> Vec<Address> {
    let address = |table: &Table| match &table.source {
        Source::Board(serial) => serial.parse().ok().and_then(Address::new),
        Source::Port(_) => None,
    };
    let elsewhere = config.buses.len() > 1 || config.serial != Serial::default();
    if elsewhere { Vec::new() } else { config.tables.iter().filter_map(address).collect() }
}

/// The broker to publish to, which is started if it is ours.
async fn target(config: &Config, base: &str, services: &mut Stage) -> Result<Target, StartError> {
    match &config.broker {
        Broker::Outside(outside) => outside_target(outside),
        Broker::Embedded(embedded) => embedded_target(embedded, base, services).await,
    }
}

fn outside_target(outside: &Outside) -> Result<Target, StartError> {
    let credentials = outside.credentials().map_err(|error| StartError::new(&error))?;
    let read = |path: &std::path::PathBuf| {
        let fail = |e| StartError(format!("the file {} (`ca-file`): {e}", path.display()));
        std::fs::read(path).map_err(fail)
    };
    let ca = outside.ca_file.as_ref().map(read).transpose()?;
    Ok(Target { url: outside.url.clone(), credentials, ca })
}

#[cfg(feature = "broker")]
async fn embedded_target(
    settings: &Embedded,
    base: &str,
    services: &mut Stage,
) -> Result<Target, StartError> {
    let broker = broker::Broker::start(settings, base).await;
    let broker = broker.map_err(|error| StartError::new(&error))?;
    let (address, credentials) = (broker.address(), Some(broker.credentials()));
    services.spawn_fallible(broker.run(services.stop()));
    let (host, port) = (address.ip().to_string(), address.port());
    let url = BrokerUrl { tls: false, host, port, user: None, password: None };
    Ok(Target { url, credentials, ca: None })
}

#[cfg(not(feature = "broker"))]
fn embedded_target(
    _settings: &Embedded,
    _base: &str,
    _services: &mut Stage,
) -> std::future::Ready<Result<Target, StartError>> {
    let text = "this boardcast was built without a broker inside: name another with `--broker \
                mqtt://host`, or with `url` in `[broker]`";
    std::future::ready(Err(StartError(text.to_owned())))
}

#[cfg(feature = "http")]
async fn start_web(
    config: &Config,
    site: http::Site,
    services: &mut Stage,
) -> Result<Option<SocketAddr>, StartError> {
    let Some(address) = config.http.address() else { return Ok(None) };
    let web = http::Web::bind(address).await.map_err(|error| StartError::new(&error))?;
    let address = web.address();
    let run = web.run(site, services.stop());
    services.spawn_fallible(async { run.await.map_err(|error| error.to_string()) });
    Ok(Some(address))
}

/// How long each stage may take to stop; a little under two seconds together.
const PORTS_STOP: Duration = Duration::from_millis(150);
const ENGINE_STOP: Duration = Duration::from_millis(150);
const SINKS_STOP: Duration = Duration::from_millis(1050);
const SERVICES_STOP: Duration = Duration::from_millis(550);
const _: () = assert!(
    PORTS_STOP.as_millis()
        + ENGINE_STOP.as_millis()
        + SINKS_STOP.as_millis()
        + SERVICES_STOP.as_millis()
        < 2000
);
