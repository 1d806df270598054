//! The broker inside the daemon, so that nothing else must be installed.
//!
//! It is an ordinary broker on an ordinary port, and the daemon publishes to it like to any other.
//! Nothing of its library shows outside this file.

mod access;

use std::{
    collections::BTreeMap,
    fmt,
    future::Future,
    io::{self, Read},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use mqtt5::{
    broker::{
        AuthProvider, AuthResult, BrokerConfig, BrokerShutdownHandle, MqttBroker,
        StorageBackendType, StorageConfig,
    },
    packet::connect::ConnectPacket,
    protocol::v5::reason_codes::ReasonCode,
};
use tokio::{task::JoinHandle, time};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use self::access::{Access, DAEMON, PUBLIC};
use crate::config::{Embedded, secret::Secret};

/// A running broker.
pub struct Broker {
    address: SocketAddr,
    secret: Secret,
    handle: BrokerShutdownHandle,
    task: JoinHandle<Result<(), String>>,
}

/// Why the broker could not be started.
#[derive(Debug)]
pub enum BrokerError {
    /// The address is not free, or not ours.
    Bind {
        /// Where it should listen.
        address: SocketAddr,
        /// What the system says.
        error: io::Error,
    },
    /// An account's password could not be read, or its name is taken.
    Account(String),
    /// Anything else.
    Other(String),
}

/// A future whose code is compiled here and not where it is awaited.
type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl Broker {
    /// Starts the broker for the topics below `base`; complete when it accepts connections.
    pub fn start(settings: &Embedded, base: &str) -> Boxed<'static, Result<Self, BrokerError>> {
        let (settings, base) = (settings.clone(), base.to_owned());
        Box::pin(async move { start(&settings, &base).await })
    }

    /// Where programs on this machine reach it.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The account with which the daemon publishes. Made at the start and never written down.
    pub fn credentials(&self) -> (String, Secret) {
        (DAEMON.to_owned(), self.secret.clone())
    }

    /// Runs until `stop` is cancelled.
    ///
    /// # Errors
    ///
    /// If the broker ends by itself; the text says why, if it is known.
    pub fn run(mut self, stop: CancellationToken) -> Boxed<'static, Result<(), String>> {
        Box::pin(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                ended = &mut self.task => return match ended {
                    Ok(Ok(())) => Err("the broker ended by itself".to_owned()),
                    Ok(Err(error)) => Err(format!("the broker failed: {error}")),
                    Err(error) => Err(format!("the broker failed: {error}")),
                },
            }
            self.handle.shutdown();
            if time::timeout(STOP_TIMEOUT, &mut self.task).await.is_err() {
                debug!("clients of the broker did not leave in time");
                self.task.abort();
            }
            Ok(())
        })
    }
}

impl fmt::Display for BrokerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind { address, error } if error.kind() == io::ErrorKind::AddrInUse => write!(
                f,
                "port {} is in use, perhaps by a broker such as Mosquitto that runs here already: \
                 use that one (`--broker mqtt://{}`, or `url` in `[broker]`), or choose another \
                 port (`port` in `[broker]`, 0 takes a free one)",
                address.port(),
                loopback(*address),
            ),
            Self::Bind { address, error } if error.kind() == io::ErrorKind::PermissionDenied => {
                write!(
                    f,
                    "this user may not listen at {address}: choose a port above 1023 (`port` in \
                     `[broker]`)"
                )
            }
            Self::Bind { address, error } => write!(
                f,
                "the broker cannot listen at {address}: {error}; correct `listen` or `port` in \
                 `[broker]`"
            ),
            Self::Account(text) | Self::Other(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for BrokerError {}

async fn start(settings: &Embedded, base: &str) -> Result<Broker, BrokerError> {
    let address = settings.address();
    // The library tells all failures to listen in one text; the system tells them apart.
    drop(TcpListener::bind(address).map_err(|error| BrokerError::Bind { address, error })?);
    let secret = random_secret().map_err(|error| BrokerError::Other(error.to_string()))?;
    let access = Access::new(base, secret.clone(), accounts(settings)?);

    let other = |error: mqtt5::MqttError| BrokerError::Other(format!("the broker: {error}"));
    let broker = MqttBroker::with_config(config(address)).await.map_err(other)?;
    let gate = Gate { access, base: base.to_owned(), refused: Refused::default() };
    let mut broker = broker.with_auth_provider(Arc::new(gate));
    let bound = broker.local_addr();
    let address = bound.ok_or_else(|| BrokerError::Other("the broker has no port".to_owned()))?;
    let handle = broker.shutdown_handle();
    let mut ready = broker.ready_receiver();
    let task = tokio::spawn(async move { broker.run().await.map_err(|e| e.to_string()) });
    if ready.wait_for(|ready| *ready).await.is_err() {
        return Err(BrokerError::Other("the broker ended while it was starting".to_owned()));
    }
    info!(address = %address, "broker listens");
    Ok(Broker { address: loopback(address), secret, handle, task })
}

fn config(address: SocketAddr) -> BrokerConfig {
    // Without persistence there are no sessions at all; in memory there are.
    let storage = StorageConfig::new()
        .with_backend(StorageBackendType::Memory)
        .with_max_queued_messages_per_client(QUEUED_MESSAGES)
        .with_max_queued_bytes_per_client(QUEUED_BYTES);
    BrokerConfig::new()
        .with_bind_address(address)
        .with_storage(storage)
        .with_max_clients(MAX_CLIENTS)
        .with_max_packet_size(MAX_PACKET_BYTES)
        .with_max_retained_message_size(MAX_PACKET_BYTES)
        .with_max_retained_messages(MAX_RETAINED)
        .with_max_subscriptions_per_client(MAX_SUBSCRIPTIONS)
        .with_client_channel_capacity(QUEUED_MESSAGES)
        .with_session_expiry(SESSION_EXPIRY)
        .with_sys_topics_enabled(false)
}

fn accounts(settings: &Embedded) -> Result<BTreeMap<String, Secret>, BrokerError> {
    let mut accounts = BTreeMap::new();
    for account in &settings.arbiters {
        if account.user == DAEMON {
            let text = format!("the name {DAEMON} is the daemon's own; name the arbiter otherwise");
            return Err(BrokerError::Account(text));
        }
        let secret = account.password().map_err(|error| BrokerError::Account(error.to_string()))?;
        accounts.insert(account.user.clone(), secret);
    }
    Ok(accounts)
}

/// 256 bits of the system's randomness, in hexadecimal.
fn random_secret() -> io::Result<Secret> {
    let mut halves = [[0; 16]; 2];
    std::fs::File::open("/dev/urandom")?.read_exact(halves.as_flattened_mut())?;
    let [a, b] = halves.map(u128::from_ne_bytes);
    Ok(Secret::new(format!("{a:032x}{b:032x}")))
}

/// The address at which a program on this machine reaches a port that listens at `address`.
fn loopback(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// The rules, as the library asks for them.
struct Gate {
    access: Access,
    base: String,
    refused: Refused,
}

/// What was refused so far.
#[derive(Default)]
struct Refused {
    log_ins: AtomicU64,
    publications: AtomicU64,
    subscriptions: AtomicU64,
}

impl AuthProvider for Gate {
    fn authenticate<'a>(
        &'a self,
        connect: &'a ConnectPacket,
        client_addr: SocketAddr,
    ) -> Boxed<'a, mqtt5::error::Result<AuthResult>> {
        Box::pin(async move {
            let user = connect.username.as_deref();
            let id = &connect.client_id;
            match self.access.log_in(id, user, connect.password.as_deref()) {
                Ok(Some(user)) => Ok(AuthResult::success_with_user(user)),
                Ok(None) => Ok(AuthResult::success()),
                Err(refusal) => {
                    if is_news(&self.refused.log_ins) {
                        warn!(id, user, from = %client_addr, "log-in refused: {refusal:?}");
                    }
                    // Guessing is slow; so many connections at once there are not.
                    time::sleep(AFTER_WRONG_PASSWORD).await;
                    Ok(AuthResult::fail(match refusal {
                        access::Refusal::WrongPassword => ReasonCode::BadUsernameOrPassword,
                        access::Refusal::ForeignId => ReasonCode::NotAuthorized,
                    }))
                }
            }
        })
    }

    fn authorize_publish<'a>(
        &'a self,
        client_id: &str,
        user_id: Option<&'a str>,
        topic: &'a str,
    ) -> Boxed<'a, bool> {
        let allowed = self.access.may_publish(user_id, topic);
        if !allowed && is_news(&self.refused.publications) {
            warn!(client_id, user_id, topic, "publication refused: only the daemon publishes here");
        }
        Box::pin(std::future::ready(allowed))
    }

    fn authorize_subscribe<'a>(
        &'a self,
        client_id: &str,
        user_id: Option<&'a str>,
        topic_filter: &'a str,
    ) -> Boxed<'a, bool> {
        let allowed = self.access.may_subscribe(user_id, topic_filter);
        if !allowed && is_news(&self.refused.subscriptions) {
            let [status, public] = PUBLIC.map(|below| format!("{}/{below}", self.base));
            warn!(
                client_id,
                filter = topic_filter,
                "subscription refused: without an account one reads {public} and {status}"
            );
        }
        Box::pin(std::future::ready(allowed))
    }
}

/// Counts, and says whether to tell: the first time, then ever more rarely.
fn is_news(count: &AtomicU64) -> bool {
    (count.fetch_add(1, Ordering::Relaxed) + 1).is_power_of_two()
}

/// Screens, phones and tools in one hall.
const MAX_CLIENTS: usize = 2_000;

/// The largest message is a whole game.
const MAX_PACKET_BYTES: usize = 1 << 20;
const MAX_RETAINED: usize = 50_000;
const MAX_SUBSCRIPTIONS: usize = 200;

/// What a client may be behind before it loses messages, and what waits for one that is away.
const QUEUED_MESSAGES: usize = 1_000;
const QUEUED_BYTES: usize = 4 << 20;

/// How long the broker remembers a client that is away. What is public is kept anyway.
const SESSION_EXPIRY: Duration = Duration::from_mins(15);

const AFTER_WRONG_PASSWORD: Duration = Duration::from_secs(1);
const STOP_TIMEOUT: Duration = Duration::from_millis(400);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_port_in_use_is_told_with_what_to_do() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let settings = Embedded { port, ..Embedded::default() };
        let Err(error) = Broker::start(&settings, "boardcast/hall").await else {
            panic!("two programs on port {port}");
        };
        let text = error.to_string();
        assert!(text.contains(&format!("--broker mqtt://127.0.0.1:{port}")), "{text}");
    }

    #[tokio::test]
    async fn an_account_without_password_is_told() {
        let account = crate::config::Account {
            user: "anna".to_owned(),
            password_file: "/nowhere/anna".into(),
        };
        let settings = Embedded { port: 0, arbiters: vec![account], ..Embedded::default() };
        let Err(error) = Broker::start(&settings, "boardcast/hall").await else {
            panic!("a broker with an unknown password");
        };
        assert!(error.to_string().contains("/nowhere/anna"), "{error}");
    }

    #[test]
    fn secrets_are_random() {
        let (a, b) = (random_secret().unwrap(), random_secret().unwrap());
        assert_eq!((a.reveal().len(), a == b), (64, false));
    }
}
