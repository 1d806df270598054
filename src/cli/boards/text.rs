//! Ports and boards for a person at a terminal.

use std::fmt::Write;

use dgt_protocol::{Battery, ClockSide, ClockTimes, Lever, Side};

use super::{boards_in, picture::Picture};
use crate::daemon::discovery::{
    Attachment, Found, Usb, latency,
    probe::{Board, Finding},
};

/// Everything that was found, a paragraph for each port.
pub(super) fn report(looked: &[(Found, Finding)]) -> String {
    let mut out = String::new();
    for (port, finding) in looked {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}{}", port.path.display(), attachment(&port.attachment));
        for line in lines(port, finding) {
            let _ = writeln!(out, "  {line}");
        }
        out.push('\n');
    }
    let boards: usize = looked.iter().map(|(_, finding)| boards_in(finding)).sum();
    out + &match boards {
        0 if looked.is_empty() => NO_PORTS.to_owned(),
        0 => "no board found: is it switched on, and is its cable plugged in?".to_owned(),
        1 => "1 board".to_owned(),
        _ => format!("{boards} boards"),
    }
}

fn lines(port: &Found, finding: &Finding) -> Vec<String> {
    let mut lines = match finding {
        Finding::Board(board) => board_lines(board),
        Finding::Bus(boards) => boards.iter().flat_map(board_lines).collect(),
        Finding::Foreign { bytes } => {
            vec![format!("not a board: it said {bytes} bytes that no board says; it is left alone")]
        }
        Finding::Quiet => vec![
            "nobody answers: if this is a board, switch it on, plug in its power, and look again"
                .to_owned(),
        ],
        Finding::Trouble(trouble) => vec![trouble.explain(&port.path)],
    };
    if boards_in(finding) > 0 {
        if let Some(stable) = &port.stable {
            lines.push(format!("the same port whatever its number: {}", stable.display()));
        }
        if let Some(ms) = port.latency_ms.filter(|&ms| ms > latency::SHORTEST_MS) {
            let device = std::fs::canonicalize(&port.path).unwrap_or_else(|_| port.path.clone());
            lines.push(format!(
                "its adapter waits {ms} ms for more bytes; shorter, for a bus: echo 1 | sudo tee {}",
                latency::file(&device).display()
            ));
        }
    }
    lines
}

fn attachment(attachment: &Attachment) -> String {
    match attachment {
        Attachment::Usb(Usb { vendor, product, serial, manufacturer, name }) => {
            let mut text = format!("  (USB {vendor:04x}:{product:04x}");
            for part in [manufacturer, name].into_iter().flatten() {
                text.push(' ');
                text.push_str(part);
            }
            if let Some(serial) = serial {
                text.push_str(", adapter ");
                text.push_str(serial);
            }
            text.push(')');
            text
        }
        Attachment::Bluetooth => "  (Bluetooth)".to_owned(),
        Attachment::Other => String::new(),
    }
}

fn board_lines(board: &Board) -> Vec<String> {
    let identity = &board.identity;
    let mut name = match (&identity.serial_number, &identity.long_serial_number) {
        (Some(short), Some(long)) => format!("board {short}, long serial number {long}"),
        (Some(short), None) => format!("board {short}"),
        (None, Some(long)) => format!("board {long}"),
        (None, None) => "a board that does not tell its serial number".to_owned(),
    };
    if let Some((major, minor)) = identity.version {
        // Writing to a string cannot fail.
        let _ = write!(name, ", version {major}.{minor}");
    }
    let mut lines = vec![name];
    lines.push(board.clock.as_ref().map_or_else(|| "no clock connected".to_owned(), clock));
    lines.extend(board.battery.as_ref().map(battery));
    if let Some(dump) = &board.dump {
        let picture = Picture::new(dump);
        lines.push(match picture.men() {
            0 => "empty".to_owned(),
            1 => format!("1 man; {}", picture.guess.words()),
            men => format!("{men} men; {}", picture.guess.words()),
        });
        if picture.men() > 0 {
            lines.extend(picture.lines().map(|line| format!("  {line}")));
            lines.push("    a b c d e f g h".to_owned());
        }
    } else {
        lines.push("it does not tell what stands on it: switch it off and on".to_owned());
    }
    lines
}

fn clock(times: &ClockTimes) -> String {
    let to_move = match times.lever {
        Lever::LeftHigh => Side::Left,
        Lever::RightHigh => Side::Right,
    };
    let side = if to_move == Side::Left { "left" } else { "right" };
    let state = if times.running { format!("{side} side runs") } else { "stopped".to_owned() };
    let low = if times.battery_low { ", its battery is low" } else { "" };
    format!("clock {} left, {} right, {state}{low}", time(times.left), time(times.right))
}

fn time(side: ClockSide) -> String {
    format!("{}:{:02}:{:02}", side.hours, side.minutes, side.seconds)
}

fn battery(battery: &Battery) -> String {
    let charging = if battery.charging { ", charging" } else { "" };
    let left = battery.time_left.map(|left| format!(", {}:{:02} left", left.hours, left.minutes));
    format!("battery {} %{charging}{}", battery.percent, left.unwrap_or_default())
}

const NO_PORTS: &str = "no serial ports: plug in a board (`sudo dmesg | tail` shows whether the \
                        system saw it), or name the port";

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use dgt_protocol::{Identity, LongSerialNumber, SerialNumber};

    use super::*;
    use crate::daemon::port::Trouble;

    fn port(attachment: Attachment) -> Found {
        let path = PathBuf::from("/dev/ttyUSB3");
        Found { path, stable: None, attachment, latency_ms: Some(16) }
    }

    #[test]
    fn a_board_is_told_in_full() {
        let usb = Usb {
            vendor: 0x0403,
            product: 0x6001,
            serial: Some("A50285BI".to_owned()),
            manufacturer: Some("FTDI".to_owned()),
            name: None,
        };
        let mut codes = [dgt_protocol::PieceCode::Empty; 64];
        codes[60] = dgt_protocol::PieceCode::WhiteKing;
        let board = Board {
            identity: Identity {
                serial_number: SerialNumber::from_number(1025),
                long_serial_number: LongSerialNumber::new("3000147740"),
                version: Some((1, 7)),
                ..Identity::default()
            },
            dump: Some(dgt_protocol::Dump::new(codes)),
            clock: Some(ClockTimes {
                left: ClockSide::from_seconds(5398),
                right: ClockSide::from_seconds(5400),
                running: true,
                lever: Lever::LeftHigh,
                battery_low: false,
                connected: true,
                turn_bits: 0,
            }),
            battery: None,
        };
        let text = report(&[(port(Attachment::Usb(usb)), Finding::Board(Box::new(board)))]);
        for part in [
            "/dev/ttyUSB3  (USB 0403:6001 FTDI, adapter A50285BI)\n",
            "  board 01025, long serial number 3000147740, version 1.7\n",
            "  clock 1:29:58 left, 1:30:00 right, left side runs\n",
            "  1 man; nothing tells which way round it lies\n",
            "    1 . . . . K . . .\n      a b c d e f g h\n",
            "tee /sys/class/tty/ttyUSB3/device/latency_timer\n",
            "\n1 board",
        ] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
    }

    #[test]
    fn what_is_no_board_says_what_to_do() {
        let looked =
            [Finding::Quiet, Finding::Foreign { bytes: 7 }, Finding::Trouble(Trouble::Denied)]
                .map(|finding| (port(Attachment::Bluetooth), finding));
        let text = report(&looked);
        for part in ["(Bluetooth)", "switch it on", "left alone", "dialout", "no board found"] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
        assert!(report(&[]).starts_with("no serial ports"));
    }
}
