//! The board's side of the line: commands out of bytes.

use alloc::vec::Vec;

use super::{ClockCommand, Command, LEDS, Leds, TO_CLOCK};
use crate::{
    frame::{Counts, Fault, Input},
    message::malformed::{Defect, Malformed},
};

/// Reads the commands that a host sends to a board in single-board mode.
///
/// Used like a [`Deframer`](crate::Deframer): push bytes, take results until there are none.
#[derive(Clone, Debug)]
pub struct CommandReader {
    input: Input,
    collected: Vec<u8>,
    counts: Counts,
}

impl CommandReader {
    /// A reader that has seen nothing.
    pub const fn new() -> Self {
        Self { input: Input::new(), collected: Vec::new(), counts: Counts::new() }
    }

    /// Adds bytes as they came from the host.
    pub fn push(&mut self, bytes: &[u8]) {
        self.input.push(bytes);
    }

    /// What was seen so far, good and bad; a command counts as a message.
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    fn step(&mut self, byte: u8) -> Option<Result<Command, Fault>> {
        match *self.collected.as_slice() {
            [] => match Command::from_byte(byte) {
                Some(command) => return Some(Ok(command)),
                None if matches!(byte, LEDS | TO_CLOCK) => self.collected.push(byte),
                None => return Some(Err(Fault::UnknownCommand { byte })),
            },
            [id] if usize::from(byte) > MAX_BODY || byte == 0 => {
                self.collected.clear();
                return Some(Err(Fault::Length { id, length: usize::from(byte) }));
            }
            [_] => self.collected.push(byte),
            [id, size, ..] => {
                self.collected.push(byte);
                if self.collected.len() == usize::from(size) + 2 {
                    let command = decode_long(id, &self.collected[2..]);
                    self.collected.clear();
                    return Some(command.ok_or(Fault::Malformed(Malformed {
                        id,
                        defect: Defect::Length(usize::from(size)),
                    })));
                }
            }
        }
        None
    }
}

impl Default for CommandReader {
    fn default() -> Self {
        Self::new()
    }
}

/// Never finished for good: `None` means that the bytes pushed so far are used up.
impl Iterator for CommandReader {
    type Item = Result<Command, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let result = match self.input.next()? {
                Ok(byte) => self.step(byte),
                Err(fault) => Some(Err(fault)),
            };
            match &result {
                Some(Ok(_)) => self.counts.messages += 1,
                Some(Err(fault)) => self.counts.add_fault(fault),
                None => continue,
            }
            return result;
        }
    }
}

fn decode_long(id: u8, body: &[u8]) -> Option<Command> {
    match id {
        LEDS => body.try_into().ok().and_then(Leds::decode).map(Command::Leds),
        _ => ClockCommand::decode(body).map(Command::ToClock),
    }
}

/// The longest command is a text of eleven characters.
const MAX_BODY: usize = 0x0F;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<Result<Command, Fault>> {
        let mut reader = CommandReader::new();
        reader.push(bytes);
        reader.collect()
    }

    #[test]
    fn commands_follow_each_other_without_a_gap() {
        let seen = read(&[0x40, 0x2B, 0x03, 0x03, 0x09, 0x00, 0x60, 4, 0, 0x40, 0x40, 0, 0x42]);
        let expected = [
            Ok(Command::Reset),
            Ok(Command::ToClock(ClockCommand::Version)),
            Ok(Command::Leds(Leds::AllOff)),
            Ok(Command::ReadBoard),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn unknown_and_broken_commands_are_reported() {
        let seen = read(&[0x4E, 0x2B, 0x40, 0x2B, 0x03, 0x03, 0x77, 0x00, 0x4B]);
        let malformed = Malformed { id: 0x2B, defect: Defect::Length(3) };
        let expected = [
            Err(Fault::UnknownCommand { byte: 0x4E }),
            Err(Fault::Length { id: 0x2B, length: 0x40 }),
            Err(Fault::Malformed(malformed)),
            Ok(Command::UpdateNice),
        ];
        assert_eq!(seen, expected);
    }
}
