//! Everything that can wake the hall, as one closed list, and what it asks of ports.

use std::{fmt, sync::Arc};

use dgt_protocol::LinkEvent;

/// The name of a serial port as configured or found: a device path, or the name of a capture.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortName(Arc<str>);

impl PortName {
    /// The port called `name`.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PortName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What can wake the hall, besides time.
#[derive(Clone, Debug)]
pub enum Input {
    /// A port was opened.
    PortOpened {
        /// Which.
        port: PortName,
    },
    /// A port went away or was closed.
    PortClosed {
        /// Which.
        port: PortName,
        /// Why, in a sentence for people.
        reason: String,
    },
    /// The link on a port says something.
    Link {
        /// Which port.
        port: PortName,
        /// What it says.
        event: LinkEvent,
    },
    /// The link on a bus says something.
    Bus {
        /// Which port.
        port: PortName,
        /// What it says.
        event: dgt_protocol::BusEvent,
    },
}

/// What the hall asks of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Read the whole board.
    Board,
    /// Read the board's own record of what happened on it.
    Memory,
}
