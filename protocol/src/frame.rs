//! Frames: where a message starts and ends in a stream of bytes that may be damaged.
//!
//! A message of a board is `id, length high 7 bits, length low 7 bits, payload`. The length counts
//! the three header bytes too. Bit 7 is set in the id and nowhere else, so a byte with bit 7 always
//! starts a message: whatever was collected before it is given up, and reading goes on from there.

use alloc::vec::Vec;

use crate::{
    fault::{Counts, Fault},
    message::Message,
};

/// The longest message two 7-bit length bytes can announce, header included.
pub const MAX_FRAME: usize = 0x3FFF;

/// Cuts the bytes of a board in single-board mode into messages.
///
/// Bytes go in through [`push`](Self::push) in pieces of any size; messages and faults come out
/// through the iterator, which ends when more bytes are needed and goes on after the next push.
/// At most 64 KiB wait unread; what is pushed beyond that is dropped and reported.
#[derive(Clone, Debug)]
pub struct Deframer {
    input: Input,
    assembler: Assembler,
    counts: Counts,
}

impl Deframer {
    /// A deframer that has seen nothing.
    pub const fn new() -> Self {
        Self {
            input: Input::new(),
            assembler: Assembler::new(Message::allows_length),
            counts: Counts::new(),
        }
    }

    /// Adds bytes as they came from the line.
    pub fn push(&mut self, bytes: &[u8]) {
        self.input.push(bytes);
    }

    /// What was seen so far, good and bad.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }
}

impl Default for Deframer {
    fn default() -> Self {
        Self::new()
    }
}

/// Never finished for good: `None` means that the bytes pushed so far are used up.
impl Iterator for Deframer {
    type Item = Result<Message, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        let result = if let Some((id, payload)) = self.assembler.whole(self.input.waiting()) {
            let result = Message::decode(id, payload);
            self.input.read += HEADER + payload.len();
            result
        } else {
            match self.assembler.run(&mut self.input)? {
                Ok(frame) => Message::decode(frame.id, &frame.payload),
                Err(fault) => {
                    self.counts.add_fault(&fault);
                    return Some(Err(fault));
                }
            }
        };
        let result = result.map_err(Fault::Malformed);
        match &result {
            Ok(message) => self.counts.add_message(message),
            Err(fault) => self.counts.add_fault(fault),
        }
        Some(result)
    }
}

/// Writes a message: the id with bit 7 set, the length, and the payload cut to 7-bit bytes.
pub(crate) fn write_frame(id: u8, payload: &[u8], out: &mut Vec<u8>) {
    let payload = &payload[..payload.len().min(MAX_FRAME - HEADER)];
    let length = payload.len() + HEADER;
    out.push(id | 0x80);
    out.push((length >> 7) as u8);
    out.push((length & 0x7F) as u8);
    out.extend(payload.iter().map(|byte| byte & 0x7F));
}

/// Bytes that wait to be read, bounded.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    bytes: Vec<u8>,
    /// How many of them were read.
    read: usize,
    dropped: usize,
}

impl Input {
    pub(crate) const fn new() -> Self {
        Self { bytes: Vec::new(), read: 0, dropped: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        // What was read makes room, at once if it is all and later if it is much.
        if self.read == self.bytes.len() || self.read > MAX_WAITING {
            self.bytes.drain(..self.read);
            self.read = 0;
        }
        let room = MAX_WAITING - self.waiting().len();
        let (taken, dropped) = bytes.split_at(bytes.len().min(room));
        self.bytes.extend_from_slice(taken);
        self.dropped += dropped.len();
    }

    /// The next byte, or the note that bytes are missing at this place.
    pub(crate) fn next(&mut self) -> Option<Result<u8, Fault>> {
        if let Some(&byte) = self.bytes.get(self.read) {
            self.read += 1;
            return Some(Ok(byte));
        }
        let bytes = core::mem::take(&mut self.dropped);
        (bytes > 0).then_some(Err(Fault::Overrun { bytes }))
    }

    /// The bytes that were not read yet.
    fn waiting(&self) -> &[u8] {
        &self.bytes[self.read..]
    }
}

/// A whole message, not yet understood.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) id: u8,
    pub(crate) payload: Vec<u8>,
}

/// Collects the bytes of one message at a time.
#[derive(Clone, Debug)]
pub(crate) struct Assembler {
    collected: Vec<u8>,
    stray: usize,
    /// Whether a message of this id can have this length, header included.
    allows: fn(u8, usize) -> bool,
}

impl Assembler {
    pub(crate) const fn new(allows: fn(u8, usize) -> bool) -> Self {
        Self { collected: Vec::new(), stray: 0, allows }
    }

    /// Reads until there is a message or a fault, or the input is used up.
    pub(crate) fn run(&mut self, input: &mut Input) -> Option<Result<Frame, Fault>> {
        loop {
            match input.next()? {
                Ok(byte) => {
                    if let Some(result) = self.step(byte) {
                        return Some(result);
                    }
                }
                Err(fault) => {
                    self.collected.clear();
                    return Some(Err(fault));
                }
            }
        }
    }

    /// Id and payload of the message that begins with the next byte, if it is all there and nothing
    /// waits before it: what [`run`](Self::run) comes to byte after byte.
    fn whole<'a>(&self, waiting: &'a [u8]) -> Option<(u8, &'a [u8])> {
        let &[id, high, low, ref rest @ ..] = waiting else { return None };
        let length = usize::from(high) << 7 | usize::from(low);
        if id & 0x80 == 0 || !self.collected.is_empty() || self.stray > 0 || length < HEADER {
            return None;
        }
        let payload = rest.get(..length - HEADER)?;
        let all = payload.iter().fold(high | low, |all, byte| all | byte);
        (all & 0x80 == 0 && (self.allows)(id, length)).then_some((id, payload))
    }

    fn step(&mut self, byte: u8) -> Option<Result<Frame, Fault>> {
        if byte & 0x80 != 0 {
            let fault = self.give_up();
            self.collected.push(byte);
            return fault.map(Err);
        }
        let &[id, ..] = self.collected.as_slice() else {
            self.stray += 1;
            return if self.stray >= STRAY_RUN { self.give_up().map(Err) } else { None };
        };
        self.collected.push(byte);
        let &[_, high, low, ref payload @ ..] = self.collected.as_slice() else { return None };
        let length = usize::from(high) << 7 | usize::from(low);
        if payload.is_empty() && (length < HEADER || !(self.allows)(id, length)) {
            self.collected.clear();
            return Some(Err(Fault::Length { id, length }));
        }
        if self.collected.len() < length {
            return None;
        }
        let frame = Frame { id, payload: payload.to_vec() };
        self.collected.clear();
        Some(Ok(frame))
    }

    fn give_up(&mut self) -> Option<Fault> {
        if let &[id, ..] = self.collected.as_slice() {
            let bytes = self.collected.len();
            self.collected.clear();
            return Some(Fault::Cut { id, bytes });
        }
        let bytes = core::mem::take(&mut self.stray);
        (bytes > 0).then_some(Fault::Skipped { bytes })
    }
}

/// Id and two length bytes.
pub(crate) const HEADER: usize = 3;
const MAX_WAITING: usize = 64 * 1024;
const STRAY_RUN: usize = 256;

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::*;
    use crate::{Field, PieceCode};

    fn read(bytes: &[u8]) -> Vec<Result<Message, Fault>> {
        let mut deframer = Deframer::new();
        deframer.push(bytes);
        deframer.collect()
    }

    fn e4() -> Message {
        Message::FieldUpdate { field: Field::new(36).unwrap(), code: PieceCode::WhitePawn }
    }

    #[test]
    fn a_message_arrives_in_any_pieces() {
        let bytes = [0x8E, 0x00, 0x05, 0x24, 0x01];
        let mut deframer = Deframer::new();
        for byte in bytes {
            assert_eq!(deframer.next(), None);
            deframer.push(&[byte]);
        }
        assert_eq!(deframer.next(), Some(Ok(e4())));
        assert_eq!(deframer.next(), None);
    }

    #[test]
    fn a_start_inside_a_message_wins() {
        let seen = read(&[0x8E, 0x00, 0x05, 0x34, 0x8E, 0x00, 0x05, 0x24, 0x01]);
        assert_eq!(seen, [Err(Fault::Cut { id: 0x8E, bytes: 4 }), Ok(e4())]);
    }

    #[test]
    fn stray_bytes_are_counted_and_reported_once() {
        let mut deframer = Deframer::new();
        deframer.push(&[1, 2, 3, 0x8E, 0x00, 0x05, 0x24, 0x01]);
        assert_eq!(deframer.next(), Some(Err(Fault::Skipped { bytes: 3 })));
        assert_eq!(deframer.next(), Some(Ok(e4())));
        assert_eq!(deframer.counts().skipped_bytes, 3);
        assert_eq!(deframer.counts().messages, 1);
    }

    #[test]
    fn a_long_run_of_stray_bytes_does_not_wait_for_its_end() {
        let seen = read(&[0; 300]);
        assert_eq!(seen, [Err(Fault::Skipped { bytes: 256 })]);
    }

    #[test]
    fn impossible_lengths_end_at_the_header() {
        let seen = read(&[0x8E, 0x00, 0x02, 0x8E, 0x10, 0x05, 0x8E, 0x00, 0x05, 0x24, 0x01]);
        let expected = [
            Err(Fault::Length { id: 0x8E, length: 2 }),
            Err(Fault::Length { id: 0x8E, length: 0x805 }),
            Ok(e4()),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn an_unknown_id_is_handed_on() {
        let mut deframer = Deframer::new();
        deframer.push(&[0xC1, 0x00, 0x04, 0x07]);
        let unknown = Message::Unknown { id: 0xC1, payload: vec![7] };
        assert_eq!(deframer.next(), Some(Ok(unknown)));
        assert_eq!(deframer.counts().unknown, 1);
    }

    #[test]
    fn unread_bytes_are_bounded_and_the_loss_is_told() {
        let mut deframer = Deframer::new();
        deframer.push(&vec![0; MAX_WAITING]);
        deframer.push(&[0x8E, 0x00, 0x05, 0x24, 0x01]);
        let last = deframer.by_ref().last();
        assert_eq!(last, Some(Err(Fault::Overrun { bytes: 5 })));
        assert_eq!(deframer.counts().overrun_bytes, 5);
    }
}
