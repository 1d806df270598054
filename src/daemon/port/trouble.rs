//! Why a serial port cannot be used, in words that say what to do.

use std::{io, path::Path};

use tokio_serial::{Error, ErrorKind};

use crate::daemon::discovery::holder::Holder;

/// Why a serial port cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing is at the path.
    Missing,
    /// Another program uses the device, this one if it could be found.
    Busy(Option<Holder>),
    /// This user may not open the device.
    Denied,
    /// The path leads to something that is no serial device.
    NotSerial,
    /// The device was there and is not any more.
    Gone,
    /// The device takes no bytes.
    Deaf,
    /// Nobody answers on a port that nobody has named.
    Quiet,
    /// Something else than a board answers on a port that nobody has named.
    Foreign {
        /// How many bytes it said.
        bytes: usize,
    },
    /// Anything else, in the words of the system.
    Other(String),
}

impl Trouble {
    /// From looking at the path.
    pub(super) fn of_path(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            io::ErrorKind::PermissionDenied => Self::Denied,
            _ => Self::Other(error.to_string()),
        }
    }

    /// From opening the device; `exists` tells whether the path is still there.
    pub(super) fn of_open(error: &Error, exists: bool) -> Self {
        match error.kind() {
            _ if !exists => Self::Missing,
            // What the library makes of a lock that another process holds.
            ErrorKind::NoDevice => Self::Busy(None),
            ErrorKind::Io(io::ErrorKind::PermissionDenied) => Self::Denied,
            ErrorKind::Io(io::ErrorKind::NotFound) => Self::Missing,
            _ if error.description.contains("typewriter") => Self::NotSerial,
            _ => Self::Other(error.description.clone()),
        }
    }

    /// From reading or writing.
    pub(in crate::daemon) fn of_transfer(error: &io::Error) -> Self {
        match error.raw_os_error() {
            // Both are how a device says that it was pulled out.
            Some(code) if code == EIO || code == ENXIO || code == ENODEV => Self::Gone,
            _ => Self::Other(error.to_string()),
        }
    }

    /// One sentence for the operator.
    pub fn explain(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::Missing => format!(
                "no device at {path}: plug the board in and switch it on, or correct `port` in \
                 the configuration (`ls -l /dev/serial/by-id` lists what is plugged in)"
            ),
            Self::Busy(Some(holder)) => format!(
                "another program uses {path} ({holder}): stop it; the port can be used as soon as \
                 it is free"
            ),
            Self::Busy(None) => format!(
                "another program uses {path}: stop it (`sudo fuser -v {path}` names it); the port \
                 can be used as soon as it is free"
            ),
            Self::Denied => format!(
                "no permission to open {path}: add the user to the group of serial devices \
                 (`sudo usermod -aG dialout $USER`, then log in again) or start the packaged \
                 service, which is in it"
            ),
            Self::NotSerial => {
                format!("{path} is not a serial device: correct `port` in the configuration")
            }
            Self::Gone => format!(
                "the device at {path} went away: check the cable and the board's power; it is \
                 used again as soon as it is back"
            ),
            Self::Deaf => format!(
                "the device at {path} takes no bytes: switch the board off and on, and unplug its \
                 adapter for a moment if that does not help"
            ),
            Self::Quiet => format!(
                "nobody answers at {path}: if a board is there, switch it on, it is asked again now \
                 and then; if it is something else, write \"{path}\" into `exclude` of `[serial]`"
            ),
            Self::Foreign { bytes } => format!(
                "what is at {path} is no board (it said {bytes} bytes that no board says): it is \
                 left alone until it is unplugged"
            ),
            Self::Other(error) => format!("{path} cannot be used: {error}; it is tried again"),
        }
    }
}

const EIO: i32 = rustix::io::Errno::IO.raw_os_error();
const ENXIO: i32 = rustix::io::Errno::NXIO.raw_os_error();
const ENODEV: i32 = rustix::io::Errno::NODEV.raw_os_error();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_becomes_what_to_do() {
        let open = |kind, text: &str| Trouble::of_open(&Error::new(kind, text), true);
        let denied = open(ErrorKind::Io(io::ErrorKind::PermissionDenied), "Permission denied");
        let busy = open(ErrorKind::NoDevice, "Unable to acquire exclusive lock on serial port");
        assert_eq!(open(ErrorKind::Unknown, "Not a typewriter"), Trouble::NotSerial);
        let gone = Trouble::of_transfer(&io::Error::from_raw_os_error(EIO));

        let path = Path::new("/dev/ttyUSB0");
        assert!(denied.explain(path).contains("dialout"));
        assert!(busy.explain(path).contains("fuser -v /dev/ttyUSB0"));
        let holder = Holder { process: 4711, program: "picochess".to_owned() };
        let busy = Trouble::Busy(Some(holder)).explain(path);
        assert!(busy.contains("(picochess, process 4711): stop it"), "{busy}");
        assert!(gone.explain(path).contains("went away"));
        assert!(Trouble::Quiet.explain(path).contains("`exclude` of `[serial]`"));
        assert!(Trouble::Foreign { bytes: 70 }.explain(path).contains("left alone"));
        let missing = Trouble::of_open(&Error::new(ErrorKind::Unknown, "No such device"), false);
        assert!(missing.explain(path).contains("no device at /dev/ttyUSB0"));
    }
}
