//! What can be wrong with the bytes on a line, and how often it was.

use core::fmt;

use crate::message::{Message, malformed::Malformed};

/// Something on the line that was not a message. It is reported, counted, and reading goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Bytes outside of any message. A run is reported when it ends or reaches 256 bytes.
    Skipped {
        /// Length of the run.
        bytes: usize,
    },
    /// A message stopped in the middle, because another one started.
    Cut {
        /// The id of the message that was given up.
        id: u8,
        /// How many of its bytes had arrived, the id included.
        bytes: usize,
    },
    /// A message announced a length that a message of this id cannot have.
    Length {
        /// The id of the message.
        id: u8,
        /// The announced length, header included.
        length: usize,
    },
    /// A whole message with impossible content.
    Malformed(Malformed),
    /// A bus frame whose last byte is not the sum of the others.
    Checksum {
        /// The id of the frame.
        id: u8,
        /// The sum as received.
        received: u8,
        /// The sum as computed.
        computed: u8,
    },
    /// A byte that starts no command known here; seen by the board side only.
    UnknownCommand {
        /// The byte.
        byte: u8,
    },
    /// More bytes were pushed than may wait unread; the newest were dropped.
    Overrun {
        /// How many were dropped.
        bytes: usize,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skipped { bytes } => write!(f, "skipped {bytes} bytes that belong to no message"),
            Self::Cut { id, bytes } => {
                write!(f, "message 0x{id:02X} broke off after {bytes} bytes")
            }
            Self::Length { id, length } => {
                write!(f, "message 0x{id:02X} announced the impossible length {length}")
            }
            Self::Malformed(malformed) => malformed.fmt(f),
            Self::Checksum { id, received, computed } => write!(
                f,
                "bus frame 0x{id:02X} has the sum 0x{received:02X} instead of 0x{computed:02X}"
            ),
            Self::UnknownCommand { byte } => write!(f, "byte 0x{byte:02X} starts no known command"),
            Self::Overrun { bytes } => write!(f, "dropped {bytes} bytes that nobody read in time"),
        }
    }
}

impl core::error::Error for Fault {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Malformed(malformed) => Some(malformed),
            _ => None,
        }
    }
}

/// How often things happened on a line since its reader was made. The numbers only grow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Good messages, unknown ids included.
    pub messages: u64,
    /// Messages with an id that is not known here.
    pub unknown: u64,
    /// Bytes that belong to no message, those of cut messages included.
    pub skipped_bytes: u64,
    /// Messages cut by the start of another one.
    pub cut: u64,
    /// Messages that announced an impossible length.
    pub bad_length: u64,
    /// Whole messages with impossible content.
    pub malformed: u64,
    /// Bus frames with a wrong sum.
    pub bad_checksum: u64,
    /// Bytes dropped because they were not read in time.
    pub overrun_bytes: u64,
}

impl Counts {
    pub(crate) const fn new() -> Self {
        Self {
            messages: 0,
            unknown: 0,
            skipped_bytes: 0,
            cut: 0,
            bad_length: 0,
            malformed: 0,
            bad_checksum: 0,
            overrun_bytes: 0,
        }
    }

    pub(crate) fn add_message(&mut self, message: &Message) {
        self.messages += 1;
        self.unknown += u64::from(matches!(message, Message::Unknown { .. }));
    }

    pub(crate) fn add_fault(&mut self, fault: &Fault) {
        match *fault {
            Fault::Skipped { bytes } => self.skipped_bytes += bytes as u64,
            Fault::Cut { bytes, .. } => {
                self.cut += 1;
                self.skipped_bytes += bytes as u64;
            }
            Fault::Length { .. } => self.bad_length += 1,
            Fault::Malformed(_) => self.malformed += 1,
            Fault::Checksum { .. } => self.bad_checksum += 1,
            Fault::UnknownCommand { .. } => self.unknown += 1,
            Fault::Overrun { bytes } => self.overrun_bytes += bytes as u64,
        }
    }
}
