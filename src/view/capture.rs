//! Capture files: what went over a cable, line by line, with times. `docs/capture-format.md` is the
//! contract; this module reads and writes it.

mod reader;

#[cfg(test)]
mod tests;

use std::{
    fmt,
    io::{self, Write},
};

pub use reader::Reader;
use serde::{Deserialize, Serialize};

/// Which conversation was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    /// One board on the cable.
    #[default]
    Single,
    /// Several boards on one RS-232 bus.
    Bus,
}

/// The first line of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format; 1.
    pub capture: u32,
    /// Single board or bus.
    pub link: LinkKind,
    /// When `t` was 0, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// The device it was recorded from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// What wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the table was set up for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<TableHeader>,
}

impl Header {
    /// The header of a single-board capture written by this program.
    pub fn single() -> Self {
        Self {
            capture: 1,
            tool: Some(concat!("boardcast ", env!("CARGO_PKG_VERSION")).to_owned()),
            ..Self::default()
        }
    }
}

/// What a capture says about its table. Everything is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableHeader {
    /// The table's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// The position games start from, if not the array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fen: Option<String>,
    /// Whether Chess960 is played: any array of it starts a game, unless `fen` names one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub chess960: bool,
    /// The time control, in PGN notation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_control: Option<String>,
    /// The ruleset's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruleset: Option<String>,
}

/// One line after the header.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Milliseconds since the start of the capture.
    pub t: u64,
    /// What happened.
    pub record: Record,
}

/// What one line records.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Record {
    /// Bytes from the board, cut anywhere.
    Rx(Vec<u8>),
    /// Bytes to the board.
    Tx(Vec<u8>),
    /// The port went away (`false`) or came back (`true`).
    Port(bool),
    /// A remark.
    Mark(String),
    /// An arbiter command, as it was given.
    Command(serde_json::Value),
    /// Nothing this version knows: a line with other keys only.
    #[default]
    Other,
}

/// A line that could not be read. The ones around it still can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenLine {
    /// The line's number in the file, from 1.
    pub number: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for BrokenLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.number, self.problem)
    }
}

/// Writes a capture line by line.
pub struct Writer<W> {
    output: W,
}

impl<W: Write> Writer<W> {
    /// Writes the header.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn new(mut output: W, header: &Header) -> io::Result<Self> {
        serde_json::to_writer(&mut output, header)?;
        output.write_all(b"\n")?;
        Ok(Self { output })
    }

    /// Writes one line.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn write(&mut self, line: &Line) -> io::Result<()> {
        let mut raw = RawLine { t: Some(line.t), ..RawLine::default() };
        match &line.record {
            Record::Rx(bytes) => raw.rx = Some(to_hex(bytes)),
            Record::Tx(bytes) => raw.tx = Some(to_hex(bytes)),
            Record::Port(up) => raw.line = Some(if *up { "up" } else { "down" }.to_owned()),
            Record::Mark(text) => raw.mark = Some(text.clone()),
            Record::Command(command) => raw.command = Some(command.clone()),
            Record::Other => {}
        }
        serde_json::to_writer(&mut self.output, &raw)?;
        self.output.write_all(b"\n")
    }

    /// Brings everything written so far to the file.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }

    /// Hands back the output, flushed.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }
}

#[derive(Default, Serialize, Deserialize)]
struct RawLine {
    t: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rx: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tx: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mark: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<serde_json::Value>,
}

fn to_hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}"); // Writing to a string cannot fail.
        hex
    })
}
