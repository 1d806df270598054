//! How long a USB adapter waits for more bytes before it passes on what it has.
//!
//! FTDI chips wait 16 ms unless told otherwise. One board hardly notices; on a bus every answer is
//! awaited, so the wait is paid with each command.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The latency timer of the adapter behind a device, in ms; none if it has none.
pub fn of(device: &Path) -> Option<u8> {
    read(Path::new(SYSTEM), device)
}

/// Sets the timer to the shortest latency. Does nothing if it is that already or there is no timer.
///
/// # Errors
///
/// If the system does not permit it; [`file()`] is what must be written to.
pub fn shorten(device: &Path) -> io::Result<()> {
    shorten_below(Path::new(SYSTEM), device)
}

/// Where the system keeps the timer of a device.
pub fn file(device: &Path) -> PathBuf {
    below(Path::new(SYSTEM), device)
}

fn read(system: &Path, device: &Path) -> Option<u8> {
    fs::read_to_string(below(system, device)).ok()?.trim().parse().ok()
}

fn shorten_below(system: &Path, device: &Path) -> io::Result<()> {
    match read(system, device) {
        Some(ms) if ms > SHORTEST_MS => fs::write(below(system, device), SHORTEST_MS.to_string()),
        _ => Ok(()),
    }
}

fn below(system: &Path, device: &Path) -> PathBuf {
    system.join(device.file_name().unwrap_or_default()).join("device/latency_timer")
}

/// The shortest latency an adapter can be set to, in ms.
pub const SHORTEST_MS: u8 = 1;

const SYSTEM: &str = "/sys/class/tty";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timer_is_read_where_the_system_keeps_it() {
        let system = tempfile::tempdir().unwrap();
        let device = Path::new("/dev/ttyUSB3");
        assert_eq!(read(system.path(), device), None);
        fs::create_dir_all(system.path().join("ttyUSB3/device")).unwrap();
        fs::write(system.path().join("ttyUSB3/device/latency_timer"), "16\n").unwrap();
        assert_eq!(read(system.path(), device), Some(16));
        assert_eq!(file(device), Path::new("/sys/class/tty/ttyUSB3/device/latency_timer"));
    }

    #[test]
    fn a_long_wait_is_shortened_and_what_cannot_be_set_is_told() {
        let system = tempfile::tempdir().unwrap();
        let device = Path::new("/dev/ttyUSB3");
        let timer = below(system.path(), device);
        assert!(shorten_below(system.path(), device).is_ok(), "there is none");
        fs::create_dir_all(timer.parent().unwrap()).unwrap();
        fs::write(&timer, "16\n").unwrap();
        shorten_below(system.path(), device).unwrap();
        assert_eq!(read(system.path(), device), Some(SHORTEST_MS));
        fs::remove_file(&timer).unwrap();
        std::os::unix::fs::symlink("/proc/self/status", &timer).unwrap();
        assert!(shorten_below(system.path(), device).is_ok(), "it says nothing that is a time");
    }

    #[test]
    fn a_device_without_a_timer_is_left_alone() {
        assert!(shorten(Path::new("/dev/null")).is_ok());
    }
}
