//! The board's side of the line: commands out of bytes.

use alloc::vec::Vec;

use super::{ClockCommand, Command, LEDS, Leds, TO_CLOCK};
use crate::{
    bus::BusCommand,
    fault::{Counts, Fault},
    frame::Input,
    message::malformed::{Defect, Malformed},
};

/// A command of either mode, as a board hears it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostCommand {
    /// Of single-board mode.
    Single(Command),
    /// Of bus mode.
    Bus(BusCommand),
}

/// Reads everything that a host may send to a board, whose mode decides what it obeys.
///
/// Used like a [`Deframer`](crate::Deframer): push bytes, take results until there are none.
#[derive(Clone, Debug)]
pub struct HostReader {
    input: Input,
    collected: Vec<u8>,
    counts: Counts,
}

impl HostReader {
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

    fn step(&mut self, byte: u8) -> Option<Result<HostCommand, Fault>> {
        if byte & 0x80 != 0 {
            let cut =
                self.collected.first().map(|&id| Fault::Cut { id, bytes: self.collected.len() });
            self.collected.clear();
            self.collected.push(byte);
            return cut.map(Err);
        }
        let result = match *self.collected.as_slice() {
            [] => match Command::from_byte(byte) {
                Some(command) => Ok(HostCommand::Single(command)),
                None if matches!(byte, LEDS | TO_CLOCK) => {
                    self.collected.push(byte);
                    return None;
                }
                None => Err(Fault::UnknownCommand { byte }),
            },
            [order @ 0x80..=0xFF, high, low] => {
                BusCommand::decode([order, high, low, byte]).map(HostCommand::Bus)
            }
            [id @ 0..=0x7F] if usize::from(byte) > MAX_BODY || byte == 0 => {
                Err(Fault::Length { id, length: usize::from(byte) })
            }
            [id @ 0..=0x7F, size, ref body @ ..] if body.len() + 1 == usize::from(size) => {
                let mut body = body.to_vec();
                body.push(byte);
                let defect = Defect::Length(body.len());
                let malformed = Fault::Malformed(Malformed { id, defect });
                decode_long(id, &body).map(HostCommand::Single).ok_or(malformed)
            }
            _ => {
                self.collected.push(byte);
                return None;
            }
        };
        self.collected.clear();
        Some(result)
    }
}

impl Default for HostReader {
    fn default() -> Self {
        Self::new()
    }
}

/// Never finished for good: `None` means that the bytes pushed so far are used up.
impl Iterator for HostReader {
    type Item = Result<HostCommand, Fault>;

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

/// Reads the commands that a host sends to a board in single-board mode.
///
/// Commands of a bus are unknown to it; a board that serves both uses a [`HostReader`].
#[derive(Clone, Debug, Default)]
pub struct CommandReader(HostReader);

impl CommandReader {
    /// A reader that has seen nothing.
    pub const fn new() -> Self {
        Self(HostReader::new())
    }

    /// Adds bytes as they came from the host.
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.push(bytes);
    }

    /// What was seen so far, good and bad; a command of either mode counts as a message.
    pub const fn counts(&self) -> &Counts {
        self.0.counts()
    }
}

/// Never finished for good: `None` means that the bytes pushed so far are used up.
impl Iterator for CommandReader {
    type Item = Result<Command, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(match self.0.next()? {
            Ok(HostCommand::Single(command)) => Ok(command),
            Ok(HostCommand::Bus(BusCommand { order, .. })) => {
                Err(Fault::UnknownCommand { byte: order.to_byte() })
            }
            Err(fault) => Err(fault),
        })
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
    use crate::bus::Order;

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

    #[test]
    fn both_modes_come_out_of_one_line() {
        let mut reader = HostReader::new();
        reader.push(&[0x4A, 0x2B, 0x8B, 0x00, 0x00, 0x0B, 0x87, 0x00, 0x00, 0x08, 0x42]);
        let seen: Vec<_> = reader.by_ref().collect();
        let expected = [
            Ok(HostCommand::Single(Command::ToBusMode)),
            Err(Fault::Cut { id: 0x2B, bytes: 1 }),
            Ok(HostCommand::Bus(BusCommand::to_all(Order::ReadVersion))),
            Err(Fault::Checksum { id: 0x87, received: 0x08, computed: 0x07 }),
            Ok(HostCommand::Single(Command::ReadBoard)),
        ];
        assert_eq!(seen, expected);
        assert_eq!(reader.counts().messages, 3);
    }

    #[test]
    fn a_bus_command_is_unknown_in_single_board_mode() {
        let seen = read(&[0x87, 0x00, 0x00, 0x07]);
        assert_eq!(seen, [Err(Fault::UnknownCommand { byte: 0x87 })]);
    }
}
