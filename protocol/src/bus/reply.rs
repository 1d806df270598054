//! What boards on a bus answer.
//!
//! An answer is `id, length high, length low, address high, address low, data, sum`. The length
//! counts everything, the sum is that of all bytes before it. The ids overlap with those of
//! commands and of single-board mode, so a reader has to know what it listens to.

use alloc::vec::Vec;

use super::{Address, sum};
use crate::{
    fault::{Counts, Fault},
    frame::{Assembler, Frame, HEADER, Input, MAX_FRAME, write_frame},
    message::{
        board::Dump,
        clock::ClockMessage,
        malformed::{Defect, Malformed},
    },
};

/// An answer of one board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusReply {
    /// Bytes 3 and 4: who answers.
    pub address: Address,
    /// What is answered.
    pub content: Content,
}

/// The content of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// 0x83, 70 bytes: what stands on all 64 fields.
    Dump(Dump),
    /// 0x84, 13 bytes: the clock, as in single-board mode.
    Clock(ClockMessage),
    /// 0x85 or 0x8B: the log since the last time; see [`Log::new`](crate::Log::new). Empty when
    /// nothing happened.
    Changes {
        /// Which of the two ids was used.
        form: ChangesForm,
        /// The tags, 7-bit bytes.
        log: Vec<u8>,
    },
    /// 0x86: the log since the last start tag.
    FromStart(Vec<u8>),
    /// 0x87, 6 bytes: the answer to a ping.
    Pong,
    /// 0x88, 6 bytes: the start tag was written.
    GameStarted,
    /// 0x89, 8 bytes: major and minor version of the program; very old boards send neither.
    Version(Option<(u8, u8)>),
    /// Any other id, handed on unread.
    Other {
        /// The id, bit 7 set.
        id: u8,
        /// The data between address and sum; 7-bit bytes.
        data: Vec<u8>,
    },
}

/// The two ids of change answers. Newer boards seem to alternate between them, so that a repeated
/// answer can be told from a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangesForm {
    /// 0x85, the only one of older boards.
    Odd,
    /// 0x8B.
    Even,
}

impl BusReply {
    /// Appends the whole answer, header and sum included.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = self.address.to_bytes().to_vec();
        match &self.content {
            Content::Dump(dump) => body.extend(dump.encode()),
            Content::Clock(clock) => body.extend(clock.encode()),
            Content::Changes { log: data, .. }
            | Content::FromStart(data)
            | Content::Other { data, .. } => body.extend(data),
            Content::Version(Some((major, minor))) => body.extend([*major, *minor]),
            Content::Pong | Content::GameStarted | Content::Version(None) => {}
        }
        body.truncate(MAX_FRAME - HEADER - 1);
        let start = out.len();
        // The sum covers the length that counts it, so its place is reserved first.
        body.push(0);
        write_frame(self.content.id(), &body, out);
        out.pop();
        out.push(sum(&out[start..]));
    }

    /// Reads everything after the three header bytes.
    ///
    /// # Errors
    ///
    /// If the sum is wrong, or the length or a value cannot occur in an answer of this id.
    pub fn decode(id: u8, payload: &[u8]) -> Result<Self, Fault> {
        let malformed = |defect| Fault::Malformed(Malformed { id, defect });
        let &[high, low, ref data @ .., received] = payload else {
            return Err(malformed(Defect::Length(payload.len())));
        };
        let length = payload.len() + HEADER;
        let header = [id, (length >> 7) as u8, (length & 0x7F) as u8];
        let computed = sum(&[sum(&header), sum(&payload[..payload.len() - 1])]);
        if received != computed {
            return Err(Fault::Checksum { id, received, computed });
        }
        let address = Address::from_bytes([high, low]).ok_or(malformed(Defect::Address(0)))?;
        let content = Content::decode(id, data).map_err(Fault::Malformed)?;
        Ok(Self { address, content })
    }
}

impl Content {
    fn decode(id: u8, data: &[u8]) -> Result<Self, Malformed> {
        // Errors of shared content carry the id of single-board mode; name the frame that came.
        let rename = |malformed: Malformed| Malformed { id, ..malformed };
        let wrong_length = Malformed { id, defect: Defect::Length(data.len()) };
        match (id, data) {
            (DUMP, _) => Dump::decode(data).map(Self::Dump).map_err(rename),
            (CLOCK, _) => {
                let data = data.try_into().map_err(|_| wrong_length)?;
                ClockMessage::decode(data).map(Self::Clock).map_err(rename)
            }
            (CHANGES_ODD, _) => Ok(Self::Changes { form: ChangesForm::Odd, log: data.to_vec() }),
            (CHANGES_EVEN, _) => Ok(Self::Changes { form: ChangesForm::Even, log: data.to_vec() }),
            (FROM_START, _) => Ok(Self::FromStart(data.to_vec())),
            (PONG, []) => Ok(Self::Pong),
            (GAME_STARTED, []) => Ok(Self::GameStarted),
            (VERSION, []) => Ok(Self::Version(None)),
            (VERSION, &[major, minor]) => Ok(Self::Version(Some((major, minor)))),
            (PONG | GAME_STARTED | VERSION, _) => Err(wrong_length),
            _ => Ok(Self::Other { id, data: data.to_vec() }),
        }
    }

    /// The identifying first byte of the answer; bit 7 is set.
    pub const fn id(&self) -> u8 {
        match self {
            Self::Dump(_) => DUMP,
            Self::Clock(_) => CLOCK,
            Self::Changes { form: ChangesForm::Odd, .. } => CHANGES_ODD,
            Self::Changes { form: ChangesForm::Even, .. } => CHANGES_EVEN,
            Self::FromStart(_) => FROM_START,
            Self::Pong => PONG,
            Self::GameStarted => GAME_STARTED,
            Self::Version(_) => VERSION,
            Self::Other { id, .. } => *id | 0x80,
        }
    }

    /// Whether an answer of this id can have this length, header and sum included.
    fn allows_length(id: u8, length: usize) -> bool {
        let Some(data) = length.checked_sub(HEADER + 3) else { return false };
        match id {
            DUMP => data == 64,
            CLOCK => data == 7,
            PONG | GAME_STARTED => data == 0,
            VERSION => data == 0 || data == 2,
            _ => true,
        }
    }
}

/// Cuts the bytes of a bus into answers; used like a [`Deframer`](crate::Deframer).
#[derive(Clone, Debug)]
pub struct BusDeframer {
    input: Input,
    assembler: Assembler,
    counts: Counts,
}

impl BusDeframer {
    /// A deframer that has seen nothing.
    pub const fn new() -> Self {
        Self {
            input: Input::new(),
            assembler: Assembler::new(Content::allows_length),
            counts: Counts::new(),
        }
    }

    /// Adds bytes as they came from the line.
    pub fn push(&mut self, bytes: &[u8]) {
        self.input.push(bytes);
    }

    /// What was seen so far, good and bad; an answer counts as a message.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }
}

impl Default for BusDeframer {
    fn default() -> Self {
        Self::new()
    }
}

/// Never finished for good: `None` means that the bytes pushed so far are used up.
impl Iterator for BusDeframer {
    type Item = Result<BusReply, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        let frame = self.assembler.run(&mut self.input)?;
        let reply = frame.and_then(|Frame { id, payload }| BusReply::decode(id, &payload));
        match &reply {
            Ok(reply) => {
                self.counts.messages += 1;
                let unknown = matches!(reply.content, Content::Other { .. });
                self.counts.unknown += u64::from(unknown);
            }
            Err(fault) => self.counts.add_fault(fault),
        }
        Some(reply)
    }
}

const DUMP: u8 = 0x83;
const CLOCK: u8 = 0x84;
const CHANGES_ODD: u8 = 0x85;
const FROM_START: u8 = 0x86;
const PONG: u8 = 0x87;
const GAME_STARTED: u8 = 0x88;
const VERSION: u8 = 0x89;
const CHANGES_EVEN: u8 = 0x8B;

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn read(bytes: &[u8]) -> Vec<Result<BusReply, Fault>> {
        let mut deframer = BusDeframer::new();
        deframer.push(bytes);
        deframer.collect()
    }

    #[test]
    fn answers_read_and_write_the_same_bytes() {
        let changes = |form, log: &[u8]| Content::Changes { form, log: log.to_vec() };
        let e4 = [0x40, 0x34, 0x41, 0x24];
        let table: [(&[u8], u16, Content); 7] = [
            (&[0x85, 0, 6, 0x06, 0x50, 0x61], 848, changes(ChangesForm::Odd, &[])),
            (&[0x87, 0, 6, 0x08, 0x01, 0x16], 1025, Content::Pong),
            (&[0x89, 0, 8, 0x08, 0x01, 1, 6, 0x21], 1025, Content::Version(Some((1, 6)))),
            (&[0x88, 0, 6, 0x08, 0x01, 0x17], 1025, Content::GameStarted),
            (
                &[0x85, 0, 10, 0x08, 0x01, 0x40, 0x34, 0x41, 0x24, 0x71],
                1025,
                changes(ChangesForm::Odd, &e4),
            ),
            (
                &[0x8B, 0, 10, 0x08, 0x01, 0x40, 0x34, 0x41, 0x24, 0x77],
                1025,
                changes(ChangesForm::Even, &e4),
            ),
            (&[0xB1, 0, 7, 0x08, 0x01, 5, 0x46], 1025, Content::Other { id: 0xB1, data: vec![5] }),
        ];
        for (bytes, address, content) in table {
            let reply = BusReply { address: Address::new(address).unwrap(), content };
            assert_eq!(read(bytes), [Ok(reply.clone())]);
            let mut out = Vec::new();
            reply.encode(&mut out);
            assert_eq!(out, bytes);
        }
    }

    #[test]
    fn wrong_sums_lengths_and_addresses_are_faults() {
        let checksum = Fault::Checksum { id: 0x87, received: 0x15, computed: 0x16 };
        assert_eq!(read(&[0x87, 0, 6, 0x08, 0x01, 0x15]), [Err(checksum)]);
        let length = Fault::Length { id: 0x84, length: 10 };
        assert_eq!(read(&[0x84, 0, 10]), [Err(length)]);
        let defect = Defect::Address(0);
        let malformed = Fault::Malformed(Malformed { id: 0x87, defect });
        assert_eq!(read(&[0x87, 0, 6, 0, 0, 0x0D]), [Err(malformed)]);
    }
}
