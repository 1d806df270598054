//! The serial device itself: open, move bytes, close, none of which may block the runtime.

use std::{
    io,
    path::{Path, PathBuf},
    pin::Pin,
    task::{Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    task::spawn_blocking,
};
use tokio_serial::{DataBits, FlowControl, Parity, SerialPortBuilderExt, SerialStream, StopBits};

use super::Trouble;
use crate::daemon::discovery::holder::holder;

/// Opens a device with the line settings of all boards, for this process alone. Also tells which
/// device it was if the path is a symbolic link.
pub(in crate::daemon) async fn open(path: &Path) -> Result<(SerialStream, PathBuf), Trouble> {
    let path = path.to_owned();
    // Opening a Bluetooth channel dials; a USB adapter may take its time to be configured.
    match spawn_blocking(move || open_now(path)).await {
        Ok(opened) => opened,
        Err(error) => Err(Trouble::Other(format!("opening it failed inside: {error}"))),
    }
}

/// Closes a device and waits until the path can be opened again.
pub(in crate::daemon) async fn close<S: Send + 'static>(serial: S) {
    // The kernel may wait for unsent bytes to leave.
    if spawn_blocking(move || drop(serial)).await.is_err() {
        tracing::debug!("closing was interrupted");
    }
}

/// What [`transfer`] moved.
pub(in crate::daemon) enum Moved {
    /// This many bytes were read; none means that the device is gone.
    In(usize),
    /// This many of the bytes to send were taken.
    Out(usize),
}

/// Reads what has come or, failing that, writes what can be written. Safe to cancel: what was
/// moved is always returned.
pub(in crate::daemon) async fn transfer<S>(
    serial: &mut S,
    buffer: &mut [u8],
    unsent: &[u8],
) -> io::Result<Moved>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    std::future::poll_fn(|context| {
        let mut read = ReadBuf::new(buffer);
        if let Poll::Ready(outcome) = Pin::new(&mut *serial).poll_read(context, &mut read) {
            return Poll::Ready(outcome.map(|()| Moved::In(read.filled().len())));
        }
        if unsent.is_empty() {
            return Poll::Pending;
        }
        Poll::Ready(match ready!(Pin::new(&mut *serial).poll_write(context, unsent)) {
            Ok(0) => Err(io::ErrorKind::WriteZero.into()),
            written => written.map(Moved::Out),
        })
    })
    .await
}

fn open_now(path: PathBuf) -> Result<(SerialStream, PathBuf), Trouble> {
    use std::os::unix::fs::FileTypeExt;

    match std::fs::metadata(&path) {
        Ok(metadata) if !metadata.file_type().is_char_device() => return Err(Trouble::NotSerial),
        Err(error) => return Err(Trouble::of_path(&error)),
        Ok(_) => {}
    }
    let serial = tokio_serial::new(path.to_string_lossy(), BAUD)
        .data_bits(DataBits::Eight)
        .parity(Parity::None)
        .stop_bits(StopBits::One)
        .flow_control(FlowControl::None)
        .exclusive(true)
        .open_native_async()
        .map_err(|error| match Trouble::of_open(&error, path.exists()) {
            Trouble::Busy(_) => Trouble::Busy(holder(&path)),
            other => other,
        })?;
    Ok((serial, std::fs::canonicalize(&path).unwrap_or(path)))
}

/// The speed of all boards (dgt-protocol, section on the line).
const BAUD: u32 = 9600;
