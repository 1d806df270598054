//! Reading a capture line by line.

use std::io::{self, BufRead, Read};

use super::{BrokenLine, Header, Line, RawLine, Record};

/// Reads a capture line by line.
pub struct Reader<R> {
    input: R,
    header: Header,
    number: usize,
    last_t: u64,
    /// The line that was read last, kept for its memory.
    text: Vec<u8>,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or does not begin with a header of version 1.
    pub fn new(mut input: R) -> io::Result<Self> {
        let invalid = |problem: String| io::Error::new(io::ErrorKind::InvalidData, problem);
        let mut text = Vec::new();
        let found = read_line(&mut input, &mut text)?.ok_or_else(|| {
            invalid("the file is empty; a capture begins with {\"capture\":1,...}".to_owned())
        })?;
        let header: Header = found
            .and_then(|()| {
                let line = as_text(&text)?;
                // Some editors begin a file with a byte order mark.
                let line = line.strip_prefix('\u{FEFF}').unwrap_or(line);
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
        Ok(Self { input, header, number: 1, last_t: 0, text })
    }

    /// The first line.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Reads the next line into `line`, whose memory is used again; nothing at the end of the
    /// input. What stands in `line` after a broken one is of no use.
    ///
    /// # Errors
    ///
    /// If the input cannot be read.
    pub fn read_into(&mut self, line: &mut Line) -> Option<io::Result<Result<(), BrokenLine>>> {
        loop {
            self.number += 1;
            match self.read_plain(line) {
                Ok(true) => return Some(Ok(Ok(()))),
                Ok(false) => {}
                Err(error) => return Some(Err(error)),
            }
            let found = match read_line(&mut self.input, &mut self.text) {
                Ok(found) => found?,
                Err(error) => return Some(Err(error)),
            };
            let text = found.and_then(|()| as_text(&self.text));
            let parsed = match text {
                Ok(text) if text.trim().is_empty() => continue,
                Ok(text) => parse(text, self.last_t),
                Err(problem) => Err(problem),
            };
            return Some(Ok(match parsed {
                Ok(parsed) => {
                    self.last_t = parsed.t;
                    *line = parsed;
                    Ok(())
                }
                // The time of a broken line counts for nothing, or the good ones after it would be
                // late.
                Err(problem) => Err(BrokenLine { number: self.number, problem }),
            }));
        }
    }

    /// Reads a line of bytes from the board if it is written as most are, is not late, and stands
    /// whole in the buffer of the input. Otherwise nothing is read.
    fn read_plain(&mut self, line: &mut Line) -> io::Result<bool> {
        if !matches!(line.record, Record::Rx(_)) {
            line.record = Record::Rx(Vec::new());
        }
        let Record::Rx(bytes) = &mut line.record else {
            return Ok(false);
        };
        let buffer = match self.input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(false),
            filled => filled?,
        };
        let Some((t, length)) = plain_rx(buffer, bytes).filter(|(t, _)| *t >= self.last_t) else {
            return Ok(false);
        };
        self.input.consume(length);
        line.t = t;
        self.last_t = t;
        Ok(true)
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = io::Result<Result<Line, BrokenLine>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = Line::default();
        let found = self.read_into(&mut line)?;
        Some(found.map(|found| found.map(|()| line)))
    }
}

/// Any line, of a capture that has come to `last_t` before it.
fn parse(line: &str, last_t: u64) -> Result<Line, String> {
    let raw: RawLine = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let t = raw.t.ok_or("\"t\", the time in milliseconds, is missing")?;
    if t < last_t {
        return Err(format!("\"t\" is {t}, earlier than {last_t} before it"));
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
    Ok(Line { t, record })
}

/// Reads one line into `text`, without its end; `None` at the end of the input. The inner error is
/// a line that is too long; it has been read over.
fn read_line(
    input: &mut impl BufRead,
    text: &mut Vec<u8>,
) -> io::Result<Option<Result<(), String>>> {
    text.clear();
    let length = input.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', text)?;
    let ended = text.pop_if(|end| *end == b'\n').is_some();
    if length <= MAX_LINE {
        return Ok((length > 0).then_some(Ok(())));
    }
    if !ended {
        input.skip_until(b'\n')?;
    }
    Ok(Some(Err(format!("longer than {MAX_LINE} bytes"))))
}

fn as_text(line: &[u8]) -> Result<&str, String> {
    str::from_utf8(line).map_err(|_| "not UTF-8 text".to_owned())
}

/// Time and length, with its end, of a line that says nothing but `{"t":120,"rx":"8e00053400"}`,
/// and its bytes in `bytes`. Nearly every line of a capture is one, and reading it needs no parser
/// for all of JSON.
pub(super) fn plain_rx(text: &[u8], bytes: &mut Vec<u8>) -> Option<(u64, usize)> {
    let rest = text.strip_prefix(b"{\"t\":")?;
    let count = rest.iter().take_while(|digit| digit.is_ascii_digit()).count();
    if count == 0 || count > MAX_DIGITS || (count > 1 && rest[0] == b'0') {
        return None; // No number in JSON, or one that may be too large.
    }
    let (number, rest) = rest.split_at(count);
    let t = number.iter().fold(0, |t, digit| t * 10 + u64::from(digit - b'0'));
    let rest = rest.strip_prefix(b",\"rx\":\"")?;
    let (hex, rest) = rest.split_at(rest.iter().position(|&byte| byte == b'"')?);
    decode(hex, bytes)?;
    let rest = rest.strip_prefix(b"\"}\n")?;
    Some((t, text.len() - rest.len()))
}

/// The bytes that these hex digits are, in `bytes`; nothing if something else is among them.
fn decode(hex: &[u8], bytes: &mut Vec<u8>) -> Option<()> {
    let (pairs, rest) = hex.as_chunks::<2>();
    let mut all = 0;
    bytes.clear();
    bytes.extend(pairs.iter().map(|&[high, low]| {
        let (high, low) = (VALUES[usize::from(high)], VALUES[usize::from(low)]);
        all |= high | low;
        high << 4 | low
    }));
    (rest.is_empty() && all < 16).then_some(())
}

fn from_hex(hex: &str) -> Result<Vec<u8>, String> {
    if !hex.len().is_multiple_of(2) {
        return Err("an odd number of hex digits".to_owned());
    }
    let mut bytes = Vec::new();
    if decode(hex.as_bytes(), &mut bytes).is_some() {
        return Ok(bytes);
    }
    let wrong = hex.chars().find(|digit| !digit.is_ascii_hexdigit()).unwrap_or('?');
    Err(format!("'{}' is not a hex digit", wrong.escape_default()))
}

/// What each byte is worth as a hex digit; 255 if it is none.
const VALUES: [u8; 256] = {
    let mut values = [255; 256];
    let mut i = 0;
    while i < 16 {
        values[b"0123456789abcdef"[i] as usize] = i as u8;
        values[b"0123456789ABCDEF"[i] as usize] = i as u8;
        i += 1;
    }
    values
};

/// As many digits as fit into 64 bits whatever they are.
const MAX_DIGITS: usize = 19;

/// A whole memory dump of a board in one line is 16 kB of hex; this leaves room for far more.
pub(super) const MAX_LINE: usize = 1 << 20;
