//! Ports and boards for a program.

use dgt_protocol::{ClockSide, Lever};
use serde::Serialize;

use super::picture::{Guess, Picture};
use crate::{
    daemon::discovery::{
        Attachment, Found,
        probe::{Board, Finding},
    },
    game::Orientation,
};

/// One object for each port, as an array.
///
/// # Errors
///
/// None that a caller can provoke.
pub(super) fn array(looked: &[(Found, Finding)]) -> serde_json::Result<String> {
    let ports: Vec<_> = looked.iter().map(|(port, finding)| PortJson::new(port, finding)).collect();
    serde_json::to_string_pretty(&ports)
}

#[derive(Serialize)]
struct PortJson {
    port: String,
    stable_port: Option<String>,
    usb: Option<UsbJson>,
    bluetooth: bool,
    latency_ms: Option<u8>,
    /// `board`, `bus`, `foreign`, `quiet` or `trouble`.
    finding: &'static str,
    trouble: Option<String>,
    board: Option<BoardJson>,
    /// The boards of a bus.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    boards: Vec<BoardJson>,
}

#[derive(Serialize)]
struct UsbJson {
    vendor: String,
    product: String,
    serial: Option<String>,
    manufacturer: Option<String>,
    name: Option<String>,
}

#[derive(Serialize)]
struct BoardJson {
    serial: Option<String>,
    long_serial: Option<String>,
    version: Option<String>,
    bus_address: Option<u16>,
    clock: Option<ClockJson>,
    battery_percent: Option<u8>,
    charging: Option<bool>,
    /// The first field of a FEN, as White sees the board.
    placement: Option<String>,
    /// `left` or `right` of White.
    connector: Option<&'static str>,
    /// Whether the array of a game stands there, so that the side of the connector is sure.
    array: Option<bool>,
}

#[derive(Serialize)]
struct ClockJson {
    left_s: u32,
    right_s: u32,
    running: bool,
    /// `left` or `right`.
    to_move: &'static str,
    battery_low: bool,
}

impl PortJson {
    fn new(port: &Found, finding: &Finding) -> Self {
        let usb = match &port.attachment {
            Attachment::Usb(usb) => Some(UsbJson {
                vendor: format!("{:04x}", usb.vendor),
                product: format!("{:04x}", usb.product),
                serial: usb.serial.clone(),
                manufacturer: usb.manufacturer.clone(),
                name: usb.name.clone(),
            }),
            Attachment::Bluetooth | Attachment::Other => None,
        };
        let mut boards = Vec::new();
        let (name, trouble, board) = match finding {
            Finding::Bus(found) => {
                boards.extend(found.iter().map(BoardJson::new));
                ("bus", None, None)
            }
            Finding::Board(board) => ("board", None, Some(BoardJson::new(board))),
            Finding::Foreign { .. } => ("foreign", None, None),
            Finding::Quiet => ("quiet", None, None),
            Finding::Trouble(trouble) => ("trouble", Some(trouble.explain(&port.path)), None),
        };
        Self {
            port: port.path.display().to_string(),
            stable_port: port.stable.as_ref().map(|path| path.display().to_string()),
            usb,
            bluetooth: port.attachment == Attachment::Bluetooth,
            latency_ms: port.latency_ms,
            finding: name,
            trouble,
            board,
            boards,
        }
    }
}

impl BoardJson {
    fn new(board: &Board) -> Self {
        let identity = &board.identity;
        let picture = board.dump.as_ref().map(Picture::new);
        let guess = picture.as_ref().map(|picture| picture.guess);
        let connector = guess.filter(|guess| *guess != Guess::Unknown).map(Guess::orientation);
        let seconds = ClockSide::total_seconds;
        Self {
            serial: identity.serial_number.as_ref().map(ToString::to_string),
            long_serial: identity.long_serial_number.as_ref().map(ToString::to_string),
            version: identity.version.map(|(major, minor)| format!("{major}.{minor}")),
            bus_address: identity.bus_address,
            clock: board.clock.as_ref().map(|times| ClockJson {
                left_s: seconds(&times.left),
                right_s: seconds(&times.right),
                running: times.running,
                to_move: if times.lever == Lever::LeftHigh { "left" } else { "right" },
                battery_low: times.battery_low,
            }),
            battery_percent: board.battery.as_ref().map(|battery| battery.percent),
            charging: board.battery.as_ref().map(|battery| battery.charging),
            placement: picture.map(|picture| picture.placement().board().to_string()),
            connector: connector.map(|orientation| match orientation {
                Orientation::Normal => "left",
                Orientation::Turned => "right",
            }),
            array: guess.map(|guess| matches!(guess, Guess::Array(_))),
        }
    }
}
