//! Answers of the clock to commands, and pressed buttons.

/// Four bytes of a clock's answer, put together from seven wire bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockAck {
    /// Byte 4 with bit 7 from byte 6 bit 4: 0x10 is good, everything else is an error.
    pub status: u8,
    /// Byte 5 with bit 7 from byte 6 bit 5: the answered command, or with bit 7 what happened.
    pub kind: u8,
    /// Bytes 7 and 8, each with its bit 7 from byte 3 bits 4 and 5.
    pub detail: [u8; 2],
}

/// What a clock's answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckMeaning {
    /// The command of this number was not carried out.
    Refused(u8),
    /// The command of this number was carried out.
    Done(u8),
    /// Version of the clock's program; 1 is an XL, 2 a DGT 3000.
    Version {
        /// High half of the first detail byte.
        major: u8,
        /// Low half of the first detail byte.
        minor: u8,
    },
    /// The clock is ready.
    Ready,
    /// A button was pressed.
    Button(Button),
    /// The clock is in this mode.
    Mode(u8),
    /// The clock is not in the mode in which its times can be set from outside.
    NotSettable,
    /// Something else happened; the kind byte is given.
    Other(u8),
}

/// The five buttons of a clock from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    /// 0x31, the leftmost.
    Back,
    /// 0x34.
    Minus,
    /// 0x33.
    RunPause,
    /// 0x32.
    Plus,
    /// 0x35, the rightmost.
    Ok,
    /// Any other code.
    Other(u8),
}

impl ClockAck {
    /// What the answer says.
    pub const fn meaning(&self) -> AckMeaning {
        let [first, second] = self.detail;
        match self.kind {
            kind if self.status != GOOD => AckMeaning::Refused(kind),
            0x09 => AckMeaning::Version { major: first >> 4, minor: first & 0x0F },
            kind if kind & 0x80 == 0 => AckMeaning::Done(kind),
            0x81 => AckMeaning::Ready,
            0x88 => AckMeaning::Button(Button::from_byte(second)),
            0x8A => AckMeaning::Mode(second),
            0x90 => AckMeaning::NotSettable,
            kind => AckMeaning::Other(kind),
        }
    }

    /// The seven bytes after the header, if the impossible hour ten marks them as an answer.
    pub(super) fn decode([b3, b4, b5, b6, b7, b8, _]: [u8; 7]) -> Option<Self> {
        (b3 & 0x0F == MARK || b6 & 0x0F == MARK).then_some(Self {
            status: b4 & 0x7F | (b6 << 3) & 0x80,
            kind: b5 & 0x7F | (b6 << 2) & 0x80,
            detail: [b7 & 0x7F | (b3 << 3) & 0x80, b8 & 0x7F | (b3 << 2) & 0x80],
        })
    }

    pub(super) fn encode(self) -> [u8; 7] {
        let [first, second] = self.detail;
        let b3 = MARK | (first & 0x80) >> 3 | (second & 0x80) >> 2;
        let b6 = MARK | (self.status & 0x80) >> 3 | (self.kind & 0x80) >> 2;
        [b3, self.status & 0x7F, self.kind & 0x7F, b6, first & 0x7F, second & 0x7F, 0]
    }
}

impl Button {
    const fn from_byte(byte: u8) -> Self {
        match byte {
            0x31 => Self::Back,
            0x34 => Self::Minus,
            0x33 => Self::RunPause,
            0x32 => Self::Plus,
            0x35 => Self::Ok,
            other => Self::Other(other),
        }
    }
}

const MARK: u8 = 0x0A;
const GOOD: u8 = 0x10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_button_and_a_version_read_and_write_the_same_bytes() {
        let table = [
            ([0x0A, 0x10, 0x08, 0x2A, 0x05, 0x31, 0x00], AckMeaning::Button(Button::Back)),
            (
                [0x0A, 0x10, 0x09, 0x0A, 0x1E, 0x00, 0x00],
                AckMeaning::Version { major: 1, minor: 14 },
            ),
            ([0x0A, 0x40, 0x0A, 0x0A, 0x00, 0x00, 0x00], AckMeaning::Refused(0x0A)),
        ];
        for (bytes, meaning) in table {
            let ack = ClockAck::decode(bytes).expect("an answer");
            assert_eq!(ack.meaning(), meaning);
            assert_eq!(ack.encode(), bytes);
        }
    }
}
