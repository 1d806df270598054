//! Capture files: what went over a cable, line by line, with times. `docs/capture-format.md` is the
//! contract; this module reads and writes it.

use std::{
    fmt,
    io::{self, BufRead, Write},
};

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
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Milliseconds since the start of the capture.
    pub t: u64,
    /// What happened.
    pub record: Record,
}

/// What one line records.
#[derive(Clone, Debug, PartialEq)]
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

/// Reads a capture line by line.
pub struct Reader<R> {
    input: R,
    header: Header,
    number: usize,
    last_t: u64,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or does not begin with a header of version 1.
    pub fn new(mut input: R) -> io::Result<Self> {
        let invalid = |problem: String| io::Error::new(io::ErrorKind::InvalidData, problem);
        let line = read_line(&mut input)?.ok_or_else(|| {
            invalid("the file is empty; a capture begins with {\"capture\":1,...}".to_owned())
        })?;
        let header: Header = line
            .and_then(|line| {
                // Some editors begin a file with a byte order mark.
                let line = line.strip_prefix('\u{FEFF}').unwrap_or(&line);
                serde_json::from_str(line).map_err(|error| error.to_string())
            })
            .map_err(|problem| {
                invalid(format!(
                    "line 1: this is not a capture, which begins with {{\"capture\":1,\"link\":\"single\"}} ({problem})"
                ))
            })?;
        if header.capture != 1 {
            return Err(invalid(format!(
                "line 1: capture version {} is not known to this program, which reads version 1",
                header.capture
            )));
        }
        Ok(Self { input, header, number: 1, last_t: 0 })
    }

    /// The first line.
    pub fn header(&self) -> &Header {
        &self.header
    }

    fn parse(&mut self, line: &str) -> Result<Line, String> {
        if let Some((t, hex)) = plain_rx(line) {
            // The time of a broken line counts for nothing, or the good ones after it would be late.
            let record = Record::Rx(from_hex(hex)?);
            self.check_time(t)?;
            return Ok(Line { t, record });
        }
        let raw: RawLine = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let t = raw.t.ok_or("\"t\", the time in milliseconds, is missing")?;
        if t < self.last_t {
            self.check_time(t)?;
        }
        let record = match raw {
            RawLine { rx: Some(hex), .. } => Record::Rx(from_hex(&hex)?),
            RawLine { tx: Some(hex), .. } => Record::Tx(from_hex(&hex)?),
            RawLine { line: Some(state), .. } => match state.as_str() {
                "up" => Record::Port(true),
                "down" => Record::Port(false),
                other => return Err(format!("\"line\" is \"{other}\", not \"up\" or \"down\"")),
            },
            RawLine { mark: Some(text), .. } => Record::Mark(text),
            RawLine { command: Some(command), .. } => Record::Command(command),
            _ => Record::Other,
        };
        self.check_time(t)?;
        Ok(Line { t, record })
    }

    fn check_time(&mut self, t: u64) -> Result<(), String> {
        if t < self.last_t {
            return Err(format!("\"t\" is {t}, earlier than {} before it", self.last_t));
        }
        self.last_t = t;
        Ok(())
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = io::Result<Result<Line, BrokenLine>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.number += 1;
            let line = match read_line(&mut self.input) {
                Ok(line) => line?,
                Err(error) => return Some(Err(error)),
            };
            let number = self.number;
            let parsed = match line {
                Ok(text) if text.trim().is_empty() => continue,
                Ok(text) => self.parse(&text),
                Err(problem) => Err(problem),
            };
            return Some(Ok(parsed.map_err(|problem| BrokenLine { number, problem })));
        }
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

/// One line without its end, `None` at the end of the input. The inner error is a line that is too
/// long or no text; it has been read over.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<Result<String, String>>> {
    let mut bytes = Vec::new();
    let mut length = 0;
    loop {
        let chunk = input.fill_buf()?;
        if chunk.is_empty() {
            if length == 0 {
                return Ok(None);
            }
            break;
        }
        let end = chunk.iter().position(|&byte| byte == b'\n');
        let part = end.unwrap_or(chunk.len());
        if length <= MAX_LINE {
            bytes.extend_from_slice(&chunk[..part]);
        }
        length += part + usize::from(end.is_some());
        let consumed = part + usize::from(end.is_some());
        input.consume(consumed);
        if end.is_some() {
            break;
        }
    }
    if length > MAX_LINE {
        return Ok(Some(Err(format!("longer than {MAX_LINE} bytes"))));
    }
    Ok(Some(String::from_utf8(bytes).map_err(|_| "not UTF-8 text".to_owned())))
}

/// Time and digits of a line that says nothing but `{"t":120,"rx":"8e00053400"}`, spaces allowed:
/// nearly every line of a capture is one, and reading it needs no parser for all of JSON.
fn plain_rx(line: &str) -> Option<(u64, &str)> {
    let rest = line.strip_prefix("{\"t\":")?.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = rest.split_at(digits);
    if number.len() > 1 && number.starts_with('0') {
        return None; // No number in JSON.
    }
    let rest = rest.strip_prefix(',')?.trim_start().strip_prefix("\"rx\":")?;
    let hex = rest.trim_start().strip_prefix('"')?.trim_end().strip_suffix("\"}")?;
    let plain = hex.bytes().all(|digit| digit.is_ascii_hexdigit());
    plain.then_some(())?;
    Some((number.parse().ok()?, hex))
}

fn from_hex(hex: &str) -> Result<Vec<u8>, String> {
    let digits = hex.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return Err("an odd number of hex digits".to_owned());
    }
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        b'A'..=b'F' => Ok(digit - b'A' + 10),
        other => Err(format!("'{}' is not a hex digit", char::from(other).escape_default())),
    };
    digits.chunks(2).map(|pair| Ok(value(pair[0])? << 4 | value(pair[1])?)).collect()
}

fn to_hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}"); // Writing to a string cannot fail.
        hex
    })
}

/// A whole memory dump of a board in one line is 16 kB of hex; this leaves room for far more.
const MAX_LINE: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> (Vec<Line>, Vec<BrokenLine>) {
        let mut lines = Vec::new();
        let mut broken = Vec::new();
        for line in Reader::new(text.as_bytes()).unwrap() {
            match line.unwrap() {
                Ok(line) => lines.push(line),
                Err(line) => broken.push(line),
            }
        }
        (lines, broken)
    }

    #[test]
    fn every_kind_of_line() {
        let (lines, broken) = read(
            "{\"capture\":1,\"link\":\"single\",\"colour\":\"green\"}\n\
             {\"t\":0,\"tx\":\"4b\"}\n{\"t\":120,\"rx\":\"8E00053400\",\"x\":1}\n\n\
             {\"t\":120,\"line\":\"down\"}\n{\"t\":130,\"mark\":\"tea\"}\n\
             {\"t\":131,\"command\":{\"result\":\"1-0\"}}\n{\"t\":132}",
        );
        assert_eq!(broken, []);
        let records: Vec<_> = lines.into_iter().map(|line| (line.t, line.record)).collect();
        assert_eq!(
            records,
            [
                (0, Record::Tx(vec![0x4B])),
                (120, Record::Rx(vec![0x8E, 0, 5, 0x34, 0])),
                (120, Record::Port(false)),
                (130, Record::Mark("tea".to_owned())),
                (131, Record::Command(serde_json::json!({"result": "1-0"}))),
                (132, Record::Other),
            ]
        );
    }

    #[test]
    fn a_broken_line_is_told_and_skipped() {
        let long = "a".repeat(MAX_LINE + 10);
        let (lines, broken) = read(&format!(
            "{{\"capture\":1,\"link\":\"single\"}}\n{{\"t\":5,\"rx\":\"8e0\"}}\n{{\"t\":9,\"rx\":\"zz\"}}\nnonsense\n\
             {{\"t\":10,\"rx\":\"00\"}}\n{{\"t\":9,\"rx\":\"00\"}}\n{{\"rx\":\"00\"}}\n{long}\n{{\"t\":11,\"line\":\"sideways\"}}\n"
        ));
        assert_eq!(lines, [Line { t: 10, record: Record::Rx(vec![0]) }]);
        let numbers: Vec<_> = broken.iter().map(|line| line.number).collect();
        assert_eq!(numbers, [2, 3, 4, 6, 7, 8, 9]);
        assert_eq!(broken[0].to_string(), "line 2: an odd number of hex digits");
        assert_eq!(broken[3].problem, "\"t\" is 9, earlier than 10 before it");
    }

    #[test]
    fn the_time_of_a_broken_line_counts_for_nothing() {
        let (lines, broken) = read(
            "{\"capture\":1,\"link\":\"single\"}\n{\"t\":900,\"rx\":\"8e0\"}\n{\"t\":50,\"rx\":\"00\"}\n",
        );
        assert_eq!(lines, [Line { t: 50, record: Record::Rx(vec![0]) }]);
        assert_eq!(broken.len(), 1);
    }

    #[test]
    fn plain_lines_are_what_any_parser_makes_of_them() {
        for (line, plain) in [
            ("{\"t\":120,\"rx\":\"8e00\"}", Some((120, "8e00"))),
            ("{\"t\": 120, \"rx\": \"8E00\"}\r", Some((120, "8E00"))),
            ("{\"t\":0,\"rx\":\"\"}", Some((0, ""))),
            ("{\"t\":012,\"rx\":\"00\"}", None),
            ("{\"t\":-1,\"rx\":\"00\"}", None),
            ("{\"t\":1.5,\"rx\":\"00\"}", None),
            ("{\"t\":1,\"rx\":\"00\",\"x\":\"\"}", None),
            ("{\"t\":1,\"rx\":\"0g\"}", None),
            ("{\"t\":99999999999999999999,\"rx\":\"00\"}", None),
        ] {
            assert_eq!(plain_rx(line), plain, "{line}");
            let any: Result<RawLine, _> = serde_json::from_str(line);
            if let Some((t, hex)) = plain {
                let any = any.unwrap();
                assert_eq!((any.t, any.rx.as_deref()), (Some(t), Some(hex)), "{line}");
            }
        }
    }

    #[test]
    fn files_from_other_systems_are_read() {
        let (lines, broken) =
            read("\u{FEFF}{\"capture\":1,\"link\":\"single\"}\r\n{\"t\":7,\"rx\":\"00\"}\r\n");
        assert_eq!((lines.len(), broken.len()), (1, 0));
    }

    #[test]
    fn what_is_no_capture_is_refused() {
        for (text, part) in [
            ("", "empty"),
            ("[Event \"?\"]\n", "not a capture"),
            ("{\"capture\":7,\"link\":\"single\"}\n", "version 7"),
        ] {
            let error = Reader::new(text.as_bytes()).err().unwrap().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            runs in proptest::collection::vec((0u64..500, proptest::collection::vec(any::<u8>(), 0..80)), 0..40),
        ) {
            let mut writer = Writer::new(Vec::new(), &Header::single()).unwrap();
            let mut t = 0;
            let mut written = Vec::new();
            for (wait, bytes) in runs {
                t += wait;
                let line = Line { t, record: Record::Rx(bytes) };
                writer.write(&line).unwrap();
                written.push(line);
            }
            let text = String::from_utf8(writer.finish().unwrap()).unwrap();
            prop_assert_eq!(read(&text), (written, vec![]));
        }
    }
}
