//! Which serial ports there are, and what is at the other end of them.

pub mod holder;

pub mod latency;

pub mod probe;

use std::path::{Path, PathBuf};

use serialport::{SerialPortType, UsbPortInfo};
use tokio::task::spawn_blocking;
use tracing::debug;

/// A serial port of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The path as it was given or found, such as `/dev/ttyUSB0`.
    pub path: PathBuf,
    /// A path that stays the same when the adapter gets another number: under `/dev/serial/by-id`.
    pub stable: Option<PathBuf>,
    /// How the port is attached.
    pub attachment: Attachment,
    /// The latency timer of its adapter in ms, if it has one.
    pub latency_ms: Option<u8>,
}

/// How a port is attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attachment {
    /// An adapter or board on USB.
    Usb(Usb),
    /// A Bluetooth channel.
    Bluetooth,
    /// A port of the machine itself, or one the system tells nothing about.
    Other,
}

/// What a USB device says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usb {
    /// The vendor's number.
    pub vendor: u16,
    /// The vendor's number of the product.
    pub product: u16,
    /// The serial number of the adapter, which is not the board's.
    pub serial: Option<String>,
    /// The maker's name.
    pub manufacturer: Option<String>,
    /// The product's name.
    pub name: Option<String>,
}

/// All serial ports that the system knows, in the order of their names. Opens none of them.
pub async fn all_ports() -> Vec<Found> {
    in_background(|| {
        let listed = listed();
        let mut paths: Vec<_> = listed.iter().map(|port| PathBuf::from(&port.port_name)).collect();
        paths.extend(entries(Path::new("/dev")).filter(|path| is_bluetooth(path)));
        paths.sort_by_cached_key(|path| natural(path));
        paths.dedup();
        paths.into_iter().map(|path| describe(path, &listed)).collect()
    })
    .await
}

/// These ports, with what the system knows about them. They need not exist.
pub async fn these_ports(paths: &[PathBuf]) -> Vec<Found> {
    let paths = paths.to_vec();
    in_background(|| {
        let listed = listed();
        paths.into_iter().map(|path| describe(path, &listed)).collect()
    })
    .await
}

/// Whether the path is that of a Bluetooth channel, whose boards are slower.
pub fn is_bluetooth(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("rfcomm"))
}

async fn in_background<T: Default + Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    spawn_blocking(work).await.unwrap_or_else(|error| {
        debug!("looking for ports failed inside: {error}");
        T::default()
    })
}

/// What the library finds without libudev. It panics where the system shows no terminals at all, as
/// in some containers.
fn listed() -> Vec<serialport::SerialPortInfo> {
    if !Path::new("/sys/class/tty").is_dir() {
        return Vec::new();
    }
    serialport::available_ports().unwrap_or_else(|error| {
        debug!("the system lists no serial ports: {error}");
        Vec::new()
    })
}

fn describe(path: PathBuf, listed: &[serialport::SerialPortInfo]) -> Found {
    let device = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
    let known = listed.iter().find(|port| Path::new(&port.port_name) == device);
    let attachment = match known.map(|port| &port.port_type) {
        Some(SerialPortType::UsbPort(usb)) => Attachment::Usb(Usb::new(usb)),
        _ if is_bluetooth(&device) => Attachment::Bluetooth,
        _ => Attachment::Other,
    };
    let stable = entries(Path::new("/dev/serial/by-id"))
        .find(|link| std::fs::canonicalize(link).is_ok_and(|target| target == device));
    let latency_ms = latency::of(&device);
    Found { path, stable, attachment, latency_ms }
}

impl Usb {
    fn new(usb: &UsbPortInfo) -> Self {
        Self {
            vendor: usb.vid,
            product: usb.pid,
            serial: usb.serial_number.clone(),
            manufacturer: usb.manufacturer.clone(),
            name: usb.product.clone(),
        }
    }
}

/// The paths in a folder; none if it cannot be read.
pub(super) fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Sorts `ttyUSB10` behind `ttyUSB9`.
pub(super) fn natural(path: &Path) -> (String, u64) {
    let text = path.to_string_lossy();
    let name = text.trim_end_matches(|c: char| c.is_ascii_digit());
    (name.to_owned(), text[name.len()..].parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usb(path: &str) -> serialport::SerialPortInfo {
        let port_type = SerialPortType::UsbPort(UsbPortInfo {
            vid: 0x0403,
            pid: 0x6001,
            serial_number: Some("A50285BI".to_owned()),
            manufacturer: Some("FTDI".to_owned()),
            product: Some("FT232R USB UART".to_owned()),
        });
        serialport::SerialPortInfo { port_name: path.to_owned(), port_type }
    }

    #[test]
    fn what_the_system_knows_is_found_behind_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let device = std::fs::canonicalize(folder.path()).unwrap().join("ttyUSB0");
        std::fs::write(&device, "").unwrap();
        let link = folder.path().join("board");
        std::os::unix::fs::symlink(&device, &link).unwrap();
        let found = describe(link.clone(), &[usb(device.to_str().unwrap())]);
        assert_eq!(found.path, link);
        let Attachment::Usb(usb) = found.attachment else { panic!("{found:?}") };
        assert_eq!((usb.vendor, usb.product), (0x0403, 0x6001));
        assert_eq!(usb.serial.as_deref(), Some("A50285BI"));
    }

    #[test]
    fn ports_are_in_the_order_people_count() {
        let mut paths = ["/dev/ttyUSB10", "/dev/ttyACM0", "/dev/ttyUSB9"].map(PathBuf::from);
        paths.sort_by_cached_key(|path| natural(path));
        assert_eq!(paths, ["/dev/ttyACM0", "/dev/ttyUSB9", "/dev/ttyUSB10"].map(PathBuf::from));
    }

    #[tokio::test]
    async fn a_port_that_does_not_exist_is_described_all_the_same() {
        let path = PathBuf::from("/dev/rfcomm77");
        let found = these_ports(std::slice::from_ref(&path)).await;
        let attachment = Attachment::Bluetooth;
        assert_eq!(found, [Found { path, stable: None, attachment, latency_ms: None }]);
    }
}
