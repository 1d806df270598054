//! How a person or the system ends a command that runs.

use std::io;

use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// Cancels `stop` on the first Ctrl-C or SIGTERM. The task ends then, or can be aborted.
///
/// # Errors
///
/// If the system does not let signals be caught.
pub(super) fn stop_on_signal(stop: CancellationToken) -> io::Result<JoinHandle<()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        stop.cancel();
    }))
}
