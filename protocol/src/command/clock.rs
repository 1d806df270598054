//! Commands that the board hands on to the clock: `2B size 03 number data... 00`.
//!
//! The size counts the bytes after it. The clock answers with a [`ClockAck`](crate::ClockAck), and
//! the next command has to wait for it.

use alloc::vec::Vec;

use super::{Side, TO_CLOCK};

/// One command to the clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClockCommand {
    /// 0x01: six characters on a DGT XL.
    Display(SegmentText),
    /// 0x02: the signs of a DGT XL, five bytes as the clock defines them: left, right, periods
    /// left, periods right, special.
    Icons([u8; 5]),
    /// 0x03: back to the display of times.
    End,
    /// 0x08: asks which button is pressed.
    Button,
    /// 0x09: asks for the version.
    Version,
    /// 0x0A: sets times; obeyed in the clock's own mode for that only.
    SetAndRun(SetAndRun),
    /// 0x0B: sounds for this many times 64 ms.
    Beep(u8),
    /// 0x0C: eight characters on a DGT 3000; 7-bit ASCII.
    Ascii {
        /// The characters from left to right.
        text: [u8; 8],
        /// Length of the tone: 0 for none, else 62.5 ms and a sixteenth of a second for each.
        beep: u8,
    },
    /// 0x0D: eleven characters on a Revelation II; 7-bit ASCII.
    LongAscii {
        /// The characters from left to right.
        text: [u8; 11],
        /// As in [`Ascii`](Self::Ascii).
        beep: u8,
    },
}

/// Six characters of a seven-segment display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentText {
    /// Segments of each character from left to right: 0x01 top, 0x02 top right, 0x04 bottom right,
    /// 0x08 bottom, 0x10 bottom left, 0x20 top left, 0x40 middle.
    pub characters: [u8; 6],
    /// Dots, colons and leading ones: 0x01, 0x02, 0x04 right, 0x08, 0x10, 0x20 left.
    pub dots: u8,
    /// Whether the clock sounds.
    pub beep: Beep,
}

/// Whether a text comes with a sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beep {
    /// 0x01.
    Silent,
    /// 0x03.
    Sound,
}

/// Times to set, in plain binary, and what runs afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetAndRun {
    /// Hours, minutes, seconds of the left side; 0x10 added to the hours counts up.
    pub left: [u8; 3],
    /// The same of the right side.
    pub right: [u8; 3],
    /// What runs.
    pub run: Run,
}

/// What runs after times were set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// 0x01 or 0x02: this side runs.
    Side(Side),
    /// 0x04: both stand still.
    Paused,
    /// 0x08: the lever changes the running side.
    ByLever,
}

impl ClockCommand {
    /// Appends the whole command, wrapper included. Bytes are cut to 7 bits.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend([TO_CLOCK, 0, OPEN, self.number()]);
        match self {
            Self::Display(SegmentText { characters, dots, beep }) => {
                let beep = if *beep == Beep::Sound { 3 } else { 1 };
                out.extend(DISPLAY_ORDER.map(|position| characters[position]));
                out.extend([*dots, beep]);
            }
            Self::Icons(icons) => {
                out.extend(icons);
                out.extend([0; 3]);
            }
            Self::End | Self::Button | Self::Version => {}
            Self::SetAndRun(SetAndRun { left, right, run }) => {
                out.extend(left);
                out.extend(right);
                out.push(run.to_byte());
            }
            Self::Beep(length) => out.push(*length),
            Self::Ascii { text, beep } => {
                out.extend(text);
                out.push(*beep);
            }
            Self::LongAscii { text, beep } => {
                out.extend(text);
                out.push(*beep);
            }
        }
        out.push(CLOSE);
        out[start + 1] = (out.len() - start - 2) as u8;
        out[start + 2..].iter_mut().for_each(|byte| *byte &= 0x7F);
    }

    /// Reads what stands between the size and the end, `03` and `00` included.
    pub(super) fn decode(body: &[u8]) -> Option<Self> {
        let &[OPEN, number, ref data @ .., CLOSE] = body else { return None };
        Some(match (number, data) {
            (0x01, &[ref sent @ .., dots, beep]) if sent.len() == 6 => Self::Display(SegmentText {
                characters: DISPLAY_ORDER.map(|position| sent[position]),
                dots,
                beep: if beep == 3 { Beep::Sound } else { Beep::Silent },
            }),
            (0x02, &[i0, i1, i2, i3, special, 0, 0, 0]) => Self::Icons([i0, i1, i2, i3, special]),
            (0x03, []) => Self::End,
            (0x08, []) => Self::Button,
            (0x09, []) => Self::Version,
            (0x0A, &[lh, lm, ls, rh, rm, rs, run]) => Self::SetAndRun(SetAndRun {
                left: [lh, lm, ls],
                right: [rh, rm, rs],
                run: Run::from_byte(run)?,
            }),
            (0x0B, &[length]) => Self::Beep(length),
            (0x0C, &[ref text @ .., beep]) => Self::Ascii { text: text.try_into().ok()?, beep },
            (0x0D, &[ref text @ .., beep]) => Self::LongAscii { text: text.try_into().ok()?, beep },
            _ => return None,
        })
    }

    /// The number of the command, which the clock repeats in its answer.
    pub const fn number(&self) -> u8 {
        match self {
            Self::Display(_) => 0x01,
            Self::Icons(_) => 0x02,
            Self::End => 0x03,
            Self::Button => 0x08,
            Self::Version => 0x09,
            Self::SetAndRun(_) => 0x0A,
            Self::Beep(_) => 0x0B,
            Self::Ascii { .. } => 0x0C,
            Self::LongAscii { .. } => 0x0D,
        }
    }
}

impl Run {
    const fn to_byte(self) -> u8 {
        match self {
            Self::Side(Side::Left) => 0x01,
            Self::Side(Side::Right) => 0x02,
            Self::Paused => 0x04,
            Self::ByLever => 0x08,
        }
    }

    const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0x01 => Self::Side(Side::Left),
            0x02 => Self::Side(Side::Right),
            0x04 => Self::Paused,
            0x08 => Self::ByLever,
            _ => return None,
        })
    }
}

/// Each half of the display is sent from right to left; the order is its own reverse.
const DISPLAY_ORDER: [usize; 6] = [2, 1, 0, 5, 4, 3];
const OPEN: u8 = 0x03;
const CLOSE: u8 = 0x00;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_read_and_write_the_same_bytes() {
        let five_minutes = SetAndRun { left: [0, 5, 0], right: [0, 5, 0], run: Run::Paused };
        let text = SegmentText { characters: [1, 2, 3, 4, 5, 6], dots: 0x12, beep: Beep::Sound };
        let table: [(&[u8], ClockCommand); 5] = [
            (&[0x2B, 0x03, 0x03, 0x09, 0x00], ClockCommand::Version),
            (
                &[0x2B, 0x0A, 0x03, 0x0A, 0, 5, 0, 0, 5, 0, 0x04, 0x00],
                ClockCommand::SetAndRun(five_minutes),
            ),
            (
                &[0x2B, 0x0B, 0x03, 0x01, 3, 2, 1, 6, 5, 4, 0x12, 0x03, 0x00],
                ClockCommand::Display(text),
            ),
            (&[0x2B, 0x04, 0x03, 0x0B, 0x02, 0x00], ClockCommand::Beep(2)),
            (
                &[0x2B, 0x0C, 0x03, 0x0C, 97, 98, 99, 100, 101, 102, 103, 104, 1, 0],
                ClockCommand::Ascii { text: *b"abcdefgh", beep: 1 },
            ),
        ];
        for (bytes, command) in table {
            let mut out = Vec::new();
            command.encode(&mut out);
            assert_eq!(out, bytes);
            assert_eq!(ClockCommand::decode(&bytes[2..]), Some(command));
        }
    }
}
