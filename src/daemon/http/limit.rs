//! How many connections the web port takes, and how long one may take to say what it wants.

use std::{
    collections::BTreeMap,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Sleep, sleep},
};
use tracing::debug;

/// A listener that takes a bounded number of connections, altogether and from each address.
pub(super) struct Limited {
    listener: TcpListener,
    all: Arc<Semaphore>,
    each: Arc<Mutex<BTreeMap<IpAddr, usize>>>,
}

/// One connection.
pub(super) struct Connection {
    stream: TcpStream,
    /// When to give up on a client that has not asked for anything.
    patience: Pin<Box<Sleep>>,
    asked: Asked,
    _place: Place,
}

/// Whether a connection's request has come.
#[derive(Clone, Default)]
pub(super) struct Asked(Arc<AtomicBool>);

impl Limited {
    pub(super) fn new(listener: TcpListener) -> Self {
        Self { listener, all: Arc::new(Semaphore::new(MAX_CONNECTIONS)), each: Arc::default() }
    }

    /// A place for a connection from `ip`, if there is one left for it.
    fn place(&self, ip: IpAddr, all: OwnedSemaphorePermit) -> Option<Place> {
        let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
        let count = each.entry(ip).or_default();
        // Behind a proxy on this machine everybody has the same address.
        if *count >= MAX_PER_ADDRESS && !ip.is_loopback() {
            return None;
        }
        *count += 1;
        Some(Place { ip, each: Arc::clone(&self.each), _all: all })
    }
}

impl Listener for Limited {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        loop {
            // While all places are taken, new connections wait in the system's queue.
            let Ok(all) = Arc::clone(&self.all).acquire_owned().await else {
                std::future::pending().await
            };
            let (stream, address) = Listener::accept(&mut self.listener).await;
            let Some(place) = self.place(address.ip(), all) else {
                debug!(from = %address, "too many connections from one address");
                continue;
            };
            let connection = Connection {
                stream,
                patience: Box::pin(sleep(PATIENCE)),
                asked: Asked::default(),
                _place: place,
            };
            return (connection, address);
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Asked {
    /// The request is there: the connection may stay as long as the answer takes.
    pub(super) fn mark(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Connected<IncomingStream<'_, Limited>> for Asked {
    fn connect_info(stream: IncomingStream<'_, Limited>) -> Self {
        stream.io().asked.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_pending()
            && !self.asked.0.load(Ordering::Relaxed)
            && self.patience.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Counts a connection for as long as it exists.
struct Place {
    ip: IpAddr,
    each: Arc<Mutex<BTreeMap<IpAddr, usize>>>,
    _all: OwnedSemaphorePermit,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = each.get_mut(&self.ip) {
            *count -= 1;
            if *count == 0 {
                each.remove(&self.ip);
            }
        }
    }
}

/// Screens and phones of a hall, and some room.
const MAX_CONNECTIONS: usize = 1_000;
const MAX_PER_ADDRESS: usize = 64;

/// How long a client may take to send its request.
const PATIENCE: Duration = Duration::from_secs(10);
