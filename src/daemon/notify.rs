//! What the service manager is told: ready, alive, stopping.

use std::time::Duration;

use sd_notify::NotifyState;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use super::engine::Pulse;

/// Everything works; `status` is shown by `systemctl status`.
pub fn ready(status: &str) {
    notify(&[NotifyState::Ready, NotifyState::Status(status)]);
}

/// The daemon is about to end.
pub fn stopping() {
    notify(&[NotifyState::Stopping]);
}

/// How often the service manager wants to hear from the daemon, if at all.
pub fn watchdog() -> Option<Duration> {
    sd_notify::watchdog_enabled()
}

/// Tells the service manager that the daemon is alive, twice in `interval` and only while the
/// engine turns: a daemon that runs and follows no game is worth nothing.
pub async fn feed(interval: Duration, pulse: Pulse, stop: CancellationToken) {
    let half = interval / 2;
    while stop.run_until_cancelled(sleep(half)).await.is_some() {
        if timeout(half, pulse.beat()).await.is_ok() {
            notify(&[NotifyState::Watchdog]);
        } else {
            warn!("the engine does not answer: the watchdog is not told");
        }
    }
}

fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        debug!("the service manager was not told: {error}");
    }
}
