//! MQTT over WebSocket for browsers: the bytes of the messages are the bytes of a connection to
//! the broker. Where one message ends and the next begins means nothing.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tracing::debug;

/// Copies both ways until one side ends or `stop` is cancelled.
pub(super) async fn copy(socket: WebSocket, broker: (String, u16), stop: CancellationToken) {
    let (mut to_browser, mut from_browser) = socket.split();
    let connect = TcpStream::connect((broker.0.as_str(), broker.1));
    let Ok(Ok(stream)) = timeout(CONNECT_TIMEOUT, connect).await else {
        debug!("the broker cannot be reached for a browser");
        farewell(&mut to_browser, close_code::AGAIN, "the broker cannot be reached").await;
        return;
    };
    if let Err(error) = stream.set_nodelay(true) {
        debug!("small packets may be late: {error}");
    }
    let (mut from_broker, mut to_broker) = stream.into_split();
    // Both directions at once: a browser that reads slowly must still be able to send.
    let (code, reason) = tokio::select! {
        // First, for the broker inside closes its end for the same reason.
        biased;
        () = stop.cancelled() => (close_code::AWAY, "the daemon stops"),
        end = upward(&mut from_browser, &mut to_broker) => end,
        end = downward(&mut from_broker, &mut to_browser) => end,
    };
    farewell(&mut to_browser, code, reason).await;
}

type End = (u16, &'static str);

async fn upward(browser: &mut SplitStream<WebSocket>, broker: &mut OwnedWriteHalf) -> End {
    while let Some(message) = browser.next().await {
        match message {
            Ok(Message::Binary(bytes)) => {
                if broker.write_all(&bytes).await.is_err() {
                    return BROKER_CLOSED;
                }
            }
            Ok(Message::Text(_)) => return (close_code::UNSUPPORTED, "MQTT is binary"),
            Ok(Message::Ping(_) | Message::Pong(_)) => {}
            Ok(Message::Close(_)) | Err(_) => break,
        }
    }
    (close_code::NORMAL, "")
}

async fn downward(broker: &mut OwnedReadHalf, browser: &mut SplitSink<WebSocket, Message>) -> End {
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        match broker.read(&mut buffer).await {
            Ok(0) | Err(_) => return BROKER_CLOSED,
            Ok(length) => {
                let bytes = buffer[..length].to_vec();
                if browser.send(Message::Binary(bytes.into())).await.is_err() {
                    return (close_code::NORMAL, "");
                }
            }
        }
    }
}

/// Says why the connection ends, to whoever still listens.
async fn farewell(browser: &mut SplitSink<WebSocket, Message>, code: u16, reason: &'static str) {
    let close = Message::Close(Some(CloseFrame { code, reason: reason.into() }));
    if !matches!(timeout(FAREWELL_TIMEOUT, browser.send(close)).await, Ok(Ok(()))) {
        debug!("the browser is gone");
    }
}

const BROKER_CLOSED: End = (close_code::NORMAL, "the broker closed the connection");

const COPY_BYTES: usize = 16 * 1024;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const FAREWELL_TIMEOUT: Duration = Duration::from_millis(200);
