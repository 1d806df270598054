//! Virtual hardware behind a pseudo-terminal, so that a real host can open it like a serial port.

use std::{
    ffi::OsString,
    fs,
    io::{self, ErrorKind},
    os::{
        fd::OwnedFd,
        unix::{ffi::OsStringExt, fs::symlink},
    },
    path::{Path, PathBuf},
    time::Duration,
};

use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::Errno,
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{OptionalActions, tcgetattr, tcsetattr},
};
use tokio::{io::unix::AsyncFd, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::sim::device::{Cable, Device};

/// Where and how fast a device runs.
#[derive(Clone, Debug)]
pub struct PtySettings {
    /// A symbolic link that always leads to the board, also after its cable was pulled and put back.
    pub link: Option<PathBuf>,
    /// How many times faster than life everything goes: hands, clock, sensors and line. Above 0 and at
    /// most 10000.
    pub speed: f64,
    /// When to end, in the time of the script; nothing to go on until cancelled.
    pub until: Option<Duration>,
}

/// Runs a device on a pseudo-terminal until it is cancelled or its time is over.
///
/// `now` is the time since the beginning, by the caller's clock; it must not run backwards.
/// `opened` hears the path of the terminal whenever a new one is there: in the beginning, and each time
/// the cable is put back. Pulling the cable closes the terminal and takes the link away.
///
/// Bytes that nobody takes are lost, as on a real line; the answer is how many.
///
/// # Errors
///
/// If the speed is out of range, no pseudo-terminal can be had, or the link cannot be made.
pub async fn perform(
    device: &mut impl Device,
    settings: &PtySettings,
    now: impl Fn() -> Duration,
    mut opened: impl FnMut(&Path),
    cancel: &CancellationToken,
) -> io::Result<u64> {
    if !(settings.speed > 0.0 && settings.speed <= FASTEST) {
        let reason = format!("the speed {} is not between 0 and {FASTEST}", settings.speed);
        return Err(io::Error::new(ErrorKind::InvalidInput, reason));
    }
    let mut socket = Some(Pty::open(settings.link.as_deref())?);
    if let Some(pty) = &socket {
        opened(&pty.path);
    }
    let mut lost = 0;
    let mut buffer = [0; 256];
    loop {
        let time = now().mul_f64(settings.speed);
        device.handle_timeout(time);
        while let Some(bytes) = device.poll_transmit() {
            let taken = socket.as_ref().map_or(0, |pty| pty.write(&bytes));
            lost += (bytes.len() - taken) as u64;
        }
        while let Some(cable) = device.poll_cable() {
            // The old terminal goes first, or the new one could not have its place.
            socket = None;
            if cable == Cable::Back {
                let pty = Pty::open(settings.link.as_deref())?;
                opened(&pty.path);
                socket = Some(pty);
            }
        }
        if settings.until.is_some_and(|until| time >= until) {
            return Ok(lost);
        }
        let wake = [device.poll_timeout(), settings.until].into_iter().flatten().min();
        let wait = wake.map_or(LONGEST_WAIT, |wake| {
            wake.saturating_sub(time).div_f64(settings.speed).min(LONGEST_WAIT)
        });
        tokio::select! {
            () = cancel.cancelled() => return Ok(lost),
            () = sleep(wait) => {}
            read = read(socket.as_mut(), &mut buffer) => {
                let time = now().mul_f64(settings.speed);
                device.handle_bytes(time, &buffer[..read?]);
            }
        }
    }
}

/// A pseudo-terminal, seen from the board.
struct Pty {
    master: AsyncFd<OwnedFd>,
    path: PathBuf,
    link: Option<PathBuf>,
    /// Somebody has the other end open, as far as is known.
    taken: bool,
}

impl Pty {
    fn open(link: Option<&Path>) -> io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let mut modes = tcgetattr(&master)?;
        modes.make_raw();
        tcsetattr(&master, OptionalActions::Now, &modes)?;
        fcntl_setfl(&master, fcntl_getfl(&master)? | OFlags::NONBLOCK)?;
        let name = ptsname(&master, Vec::new())?;
        let path = PathBuf::from(OsString::from_vec(name.into_bytes()));
        let mut pty = Self { master: watch(master)?, path, link: None, taken: true };
        if let Some(link) = link {
            put_link(link, &pty.path)?;
            pty.link = Some(link.to_owned());
        }
        Ok(pty)
    }

    /// Hands bytes to the other end; gives how many found room there.
    fn write(&self, bytes: &[u8]) -> usize {
        // What is written while nobody is there would wait for the next one.
        if !self.taken {
            return 0;
        }
        rustix::io::write(self.master.get_ref(), bytes).unwrap_or(0)
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.master.readable().await?;
            let was_closed = ready.ready().is_read_closed();
            let result = ready.try_io(|fd| Ok(rustix::io::read(fd.get_ref(), &mut *buffer)?));
            match result {
                Ok(Ok(count)) if count > 0 => {
                    self.taken = true;
                    return Ok(count);
                }
                // Nobody has the other end open: the kernel tells so at once, again and again.
                Ok(Ok(_)) => self.taken = false,
                Ok(Err(error)) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => {
                    self.taken = false;
                }
                Ok(Err(error)) if error.kind() == ErrorKind::Interrupted => continue,
                Ok(Err(error)) => return Err(error),
                // Somebody is there and has said nothing yet. Once the other end was closed, the watch
                // reports that for ever, and only a new one tells when there is something to read.
                Err(_would_block) => {
                    self.taken = true;
                    if was_closed {
                        self.master = watch(self.master.get_ref().try_clone()?)?;
                    }
                    continue;
                }
            }
            sleep(BEFORE_LOOKING_AGAIN).await;
        }
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let Some(link) = &self.link else { return };
        // A link that somebody else has put there in the meantime is not ours to remove.
        if fs::read_link(link).is_ok_and(|to| to == self.path) {
            // If it cannot be removed, it leads nowhere, which is what a pulled cable looks like too.
            let _ = fs::remove_file(link);
        }
    }
}

/// Registers a descriptor with the runtime.
#[expect(deprecated, reason = "the replacement is unsafe; this descriptor is owned and stays open")]
fn watch(master: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::new(master)
}

/// Reads from the terminal; without one it waits for ever.
async fn read(pty: Option<&mut Pty>, buffer: &mut [u8]) -> io::Result<usize> {
    match pty {
        Some(pty) => pty.read(buffer).await,
        None => std::future::pending().await,
    }
}

/// Makes a link, in the place of an old one if need be, but never of anything else.
fn put_link(link: &Path, to: &Path) -> io::Result<()> {
    let explain = |error: io::Error| {
        let reason = format!("cannot make {} a link to {}: {error}", link.display(), to.display());
        io::Error::new(error.kind(), reason)
    };
    if fs::symlink_metadata(link).is_ok_and(|old| old.file_type().is_symlink()) {
        fs::remove_file(link).map_err(explain)?;
    }
    symlink(to, link).map_err(explain)
}

const FASTEST: f64 = 10_000.0;
/// Long enough to cost nothing, short enough that a script does not depend on the timer's range.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
const BEFORE_LOOKING_AGAIN: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests;
