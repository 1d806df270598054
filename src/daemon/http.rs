//! The web port: whether the daemon is well, the road for browsers to the broker, and a page that
//! says what this is.

mod limit;

mod tunnel;

use std::{fmt, io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{ConnectInfo, Request, State, ws::WebSocketUpgrade},
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use tokio::{net::TcpListener, sync::watch, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower_http::{limit::RequestBodyLimitLayer, timeout::TimeoutLayer};
use tracing::{debug, info};

use self::limit::{Asked, Limited};
use super::engine::Pulse;
use crate::config::url::BrokerUrl;

/// What the web port tells and where it leads.
#[derive(Clone, Debug)]
pub struct Site {
    /// The topic under which everything is published.
    pub base: String,
    /// Where the broker is.
    pub broker: BrokerUrl,
    /// Whether there is a connection to it.
    pub connected: watch::Receiver<bool>,
    /// The engine's pulse.
    pub pulse: Pulse,
}

/// A web port that listens.
#[derive(Debug)]
pub struct Web {
    listener: TcpListener,
    address: SocketAddr,
}

/// Why the web port cannot listen.
#[derive(Debug)]
pub struct BindError {
    address: SocketAddr,
    error: io::Error,
}

impl Web {
    /// Takes the port.
    ///
    /// # Errors
    ///
    /// If it is not free or not ours.
    pub async fn bind(address: SocketAddr) -> Result<Self, BindError> {
        let fail = |error| BindError { address, error };
        let listener = TcpListener::bind(address).await.map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        info!(address = %address, "web port listens");
        Ok(Self { listener, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is cancelled, and never much longer.
    ///
    /// # Errors
    ///
    /// If the server ends by itself.
    pub async fn run(self, site: Site, stop: CancellationToken) -> io::Result<()> {
        let tunnels = TaskTracker::new();
        let shared = Arc::new(Shared { site, stop: stop.clone(), tunnels: tunnels.clone() });
        let router = router(shared).into_make_service_with_connect_info::<Asked>();
        let serve = axum::serve(Limited::new(self.listener), router)
            .with_graceful_shutdown(stop.clone().cancelled_owned());
        let mut server = tokio::spawn(async move { serve.await });
        tokio::select! {
            () = stop.cancelled() => {}
            ended = &mut server => return ended.map_err(io::Error::other)?,
        }
        tunnels.close();
        let all = async { tokio::join!(&mut server, tunnels.wait()) };
        if timeout(STOP_TIMEOUT, all).await.is_err() {
            debug!("clients of the web port did not leave in time");
            server.abort();
        }
        Ok(())
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, error } = self;
        let choose = "choose another with `port` in `[http]` (0 takes a free one), or do without \
                      it: `enabled = false`";
        match error.kind() {
            io::ErrorKind::AddrInUse => {
                write!(f, "the web port {} is in use by another program: {choose}", address.port())
            }
            io::ErrorKind::PermissionDenied => {
                write!(f, "this user may not listen at {address}: {choose}")
            }
            _ => write!(f, "the web port cannot listen at {address}: {error}; {choose}"),
        }
    }
}

impl std::error::Error for BindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

struct Shared {
    site: Site,
    stop: CancellationToken,
    tunnels: TaskTracker,
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/healthz", get(health))
        .route("/mqtt", get(mqtt))
        .fallback(|| async { (StatusCode::NOT_FOUND, "there is no such page\n") })
        .layer(RequestBodyLimitLayer::new(MAX_BODY_BYTES))
        .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, ANSWER_TIMEOUT))
        .layer(middleware::from_fn(guard))
        .with_state(shared)
}

async fn page(State(shared): State<Arc<Shared>>) -> Html<String> {
    let Site { base, broker, .. } = &shared.site;
    Html(PAGE.replace("{base}", base).replace("{broker}", &broker.to_string()))
}

async fn health(State(shared): State<Arc<Shared>>) -> (StatusCode, &'static str) {
    if timeout(PULSE_TIMEOUT, shared.site.pulse.beat()).await.is_err() {
        return (StatusCode::SERVICE_UNAVAILABLE, "the engine does not answer\n");
    }
    let connected = *shared.site.connected.borrow();
    // A broker that is away heals without a restart, so it is told and is no reason for one.
    (StatusCode::OK, if connected { "ok\n" } else { "ok, but not connected to the broker\n" })
}

async fn mqtt(State(shared): State<Arc<Shared>>, upgrade: WebSocketUpgrade) -> Response {
    let broker = shared.site.broker.clone();
    if broker.tls {
        let text = "the broker speaks TLS only: browsers must connect to it directly\n";
        return (StatusCode::NOT_IMPLEMENTED, text).into_response();
    }
    let broker = (broker.host, broker.port);
    upgrade
        .protocols(["mqtt"])
        .max_message_size(MAX_MESSAGE_BYTES)
        .max_frame_size(MAX_MESSAGE_BYTES)
        .on_upgrade(move |socket| {
            let copy = tunnel::copy(socket, broker, shared.stop.clone());
            // The task that axum starts is not known to anybody; this one is waited for.
            let task = shared.tunnels.spawn(copy);
            async {
                if let Err(error) = task.await {
                    debug!("a tunnel ended badly: {error}");
                }
            }
        })
}

/// Every answer forbids browsers what this port never needs, and ends its connection: then each
/// connection is bounded by the time it may take to ask and to be answered.
async fn guard(ConnectInfo(asked): ConnectInfo<Asked>, request: Request, next: Next) -> Response {
    asked.mark();
    let mut response = next.run(request).await;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        let headers = response.headers_mut();
        for (name, value) in HEADERS {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    response
}

const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONNECTION, "close"),
    (header::CACHE_CONTROL, "no-store"),
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

const PAGE: &str = include_str!("http/page.html");

/// No request of this port has a body.
const MAX_BODY_BYTES: usize = 1024;

/// The largest MQTT packet of a browser.
const MAX_MESSAGE_BYTES: usize = 1 << 20;

const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
const PULSE_TIMEOUT: Duration = Duration::from_secs(1);
const STOP_TIMEOUT: Duration = Duration::from_millis(500);
