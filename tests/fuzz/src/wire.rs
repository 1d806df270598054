//! Bytes of a line, read without any conversation.

use std::{fmt::Debug, iter};

use dgt_protocol::{
    Address, BusCommand, BusDeframer, BusReply, ClockMessage, Command, CommandReader, Content,
    Counts, Deframer, Fault, HostCommand, HostReader, Log, MAX_FRAME, Message, Tag,
};

use super::source::Source;

/// Pieces make no difference, every byte is accounted for, and what waits unread is bounded.
pub fn deframer(bytes: &[u8]) {
    let mut source = Source::new(bytes);
    let choice = source.byte();
    let cuts = source.below(16);
    let cuts = source.take(cuts);
    let stream = source.rest();
    match choice % 3 {
        0 => read_in_all_ways::<Deframer>(stream, cuts, choice >= 0xF0),
        1 => read_in_all_ways::<BusDeframer>(stream, cuts, choice >= 0xF0),
        _ => read_in_all_ways::<HostReader>(stream, cuts, choice >= 0xF0),
    }
}

/// What was read is written to the same value again.
pub fn decoders(bytes: &[u8]) {
    let mut source = Source::new(bytes);
    let choice = source.byte();
    let id = source.byte();
    let payload = source.rest();
    match choice % 4 {
        0 => decode_message(id, payload),
        1 => decode_commands(payload),
        2 => decode_bus_command(id, payload),
        _ => decode_reply(id, payload),
    }
}

/// A log accounts for every byte, and its tags are written as they were read.
pub fn memory_log(bytes: &[u8]) {
    let (tags, skipped) = read_log(Log::new(bytes));
    let written = written(&tags, Tag::encode);
    assert_eq!(written.len() + skipped, bytes.len(), "bytes of the log");
    assert_eq!(read_log(Log::new(&written)), (tags.clone(), 0));

    // One that may begin inside a tag only knows less, and only at its beginning.
    let (certain, doubtful) = read_log(Log::cyclic(bytes));
    assert!(tags.ends_with(&certain), "{certain:?} is not the end of {tags:?}");
    assert!(doubtful >= skipped);
    assert_eq!(self::written(&certain, Tag::encode).len() + doubtful, bytes.len());
}

/// A reader of a stream as all three of them are.
trait Reader: Iterator<Item = Result<Self::Value, Fault>> + Default {
    type Value: Debug + PartialEq;

    fn push(&mut self, bytes: &[u8]);
    fn counts(&self) -> &Counts;
    fn encode(value: &Self::Value, out: &mut Vec<u8>);
}

macro_rules! reader {
    ($reader:ty, $value:ty, $encode:expr) => {
        impl Reader for $reader {
            type Value = $value;

            fn push(&mut self, bytes: &[u8]) {
                self.push(bytes);
            }

            fn counts(&self) -> &Counts {
                self.counts()
            }

            fn encode(value: &$value, out: &mut Vec<u8>) {
                $encode(value, out);
            }
        }
    };
}

reader!(Deframer, Message, Message::encode);
reader!(BusDeframer, BusReply, BusReply::encode);
reader!(HostReader, HostCommand, |command: &HostCommand, out: &mut Vec<u8>| match command {
    HostCommand::Single(command) => command.encode(out),
    HostCommand::Bus(command) => command.encode(out),
});

fn read_in_all_ways<R: Reader>(stream: &[u8], cuts: &[u8], flood: bool) {
    let mut whole = R::default();
    whole.push(stream);
    let expected: Vec<_> = whole.by_ref().collect();
    assert_eq!(whole.next(), None, "it ends once");

    let (one_by_one, counts) = read_each_byte::<R>(stream);
    assert_eq!(expected, one_by_one);
    assert_eq!(*whole.counts(), counts);

    let mut pieces = R::default();
    let mut seen = Vec::new();
    for piece in cut(stream, cuts) {
        pieces.push(piece);
        seen.extend(pieces.by_ref());
    }
    assert_eq!(expected, seen);
    assert_eq!(whole.counts(), pieces.counts());

    if flood && !stream.is_empty() {
        flood_with::<R>(stream);
    }
}

/// Reads a byte at a time, which tells where each result ends.
fn read_each_byte<R: Reader>(stream: &[u8]) -> (Vec<Result<R::Value, Fault>>, Counts) {
    let mut reader = R::default();
    let mut seen = Vec::new();
    let mut used = 0;
    let mut skipped = 0;
    for (place, &byte) in stream.iter().enumerate() {
        reader.push(&[byte]);
        let Some(result) = reader.next() else { continue };
        assert_eq!(reader.next(), None, "one byte ends one thing");
        let end = match result {
            // A new beginning is not part of what it cuts.
            Err(Fault::Cut { .. } | Fault::Skipped { .. }) if byte & 0x80 != 0 => place,
            _ => place + 1,
        };
        let length = end - used;
        match &result {
            Ok(value) => assert_eq!(length, written(&[value], |v, out| R::encode(v, out)).len()),
            Err(Fault::Cut { bytes, .. } | Fault::Skipped { bytes }) => {
                skipped += bytes;
                assert_eq!(*bytes, length);
            }
            Err(Fault::Overrun { .. }) => panic!("one byte is no overrun"),
            Err(_) => assert!(0 < length && length <= MAX_FRAME),
        }
        used = end;
        seen.push(result);
    }
    assert!(stream.len() - used <= MAX_FRAME, "more bytes wait than a message can have");
    let counts = reader.counts();
    assert_eq!(counts.messages, seen.iter().filter(|result| result.is_ok()).count() as u64);
    assert_eq!(counts.skipped_bytes, skipped as u64);
    (seen, counts.clone())
}

fn cut<'a>(mut stream: &'a [u8], lengths: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut lengths = lengths.iter().cycle();
    iter::from_fn(move || {
        if stream.is_empty() {
            return None;
        }
        let length = lengths.next().map_or(usize::MAX, |&length| usize::from(length));
        let (piece, rest) = stream.split_at(length.clamp(1, stream.len()));
        stream = rest;
        Some(piece)
    })
}

/// Nobody reads: what is too much is dropped, told, and the reader is as good as before.
fn flood_with<R: Reader>(stream: &[u8]) {
    let mut reader = R::default();
    let rounds = MAX_WAITING / stream.len() + 2;
    for _ in 0..rounds {
        reader.push(stream);
    }
    let dropped = rounds * stream.len() - MAX_WAITING;
    assert_eq!(reader.by_ref().last(), Some(Err(Fault::Overrun { bytes: dropped })));
    assert_eq!(reader.counts().overrun_bytes, dropped as u64);
    assert_eq!(reader.next(), None);
    // What was begun before the gap is over at the next byte that begins something.
    let mut fresh = R::default();
    for reader in [&mut fresh, &mut reader] {
        reader.push(&[0xB0]);
        reader.for_each(drop);
        reader.push(stream);
    }
    assert!(fresh.eq(reader), "it reads as if nothing had been before");
}

fn decode_message(id: u8, payload: &[u8]) {
    // Bytes that no line can carry are refused or read, but never a panic.
    if let Ok(message) = Message::decode(id, payload) {
        message.encode(&mut Vec::new());
        look_at(&message);
    }
    let payload: Vec<_> = payload.iter().map(|byte| byte & 0x7F).take(MAX_FRAME - 3).collect();
    match Message::decode(id | 0x80, &payload) {
        Ok(message) => {
            look_at(&message);
            let again = written(slice(&message), Message::encode);
            assert_eq!(again.len(), payload.len() + 3);
            if let Message::Clock(clock) = &message
                && says_nothing(clock, &again[3..])
            {
                return;
            }
            assert_eq!(Message::decode(again[0], &again[3..]).as_ref(), Ok(&message));
            assert!(read::<Deframer>(&again).eq([Ok(message)]));
        }
        Err(malformed) => assert!(!malformed.to_string().is_empty()),
    }
}

/// Everything a message can be asked.
fn look_at(message: &Message) {
    assert!(!format!("{message:?}").is_empty());
    match message {
        Message::Clock(ClockMessage::Ack(ack)) => {
            assert!(!format!("{:?}", ack.meaning()).is_empty());
        }
        Message::Clock(ClockMessage::Times(times)) => {
            assert!(times.to_move().total_seconds() < 10 * 3600);
        }
        Message::SerialNumber(serial) => {
            assert_eq!(serial.as_str().len(), 5);
            assert!(serial.bus_address().is_none_or(|address| address < 1 << 14));
        }
        Message::Trademark(text) => assert!(text.lines().all(|line| !line.is_empty())),
        _ => {}
    }
}

/// Bit 6 of the status is known to nobody and not kept. A message that has no other bit is
/// times when it comes, and no times at all when it is written again.
fn says_nothing(clock: &ClockMessage, written: &[u8]) -> bool {
    matches!(clock, ClockMessage::Times(_)) && written == [0; 7]
}

fn decode_commands(bytes: &[u8]) {
    for command in read::<HostReader>(bytes).flatten() {
        let again = written(slice(&command), <HostReader as Reader>::encode);
        assert!(read::<HostReader>(&again).eq([Ok(command)]));
    }
    let mut reader = CommandReader::new();
    reader.push(bytes);
    let commands: Vec<_> = reader.flatten().collect();
    let again = written(&commands, Command::encode);
    let mut reader = CommandReader::new();
    reader.push(&again);
    assert!(reader.eq(commands.into_iter().map(Ok)));
}

fn decode_bus_command(id: u8, bytes: &[u8]) {
    let mut command = [id | 0x80, 0, 0, 0];
    command[1..].iter_mut().zip(bytes).for_each(|(to, from)| *to = from & 0x7F);
    // A right sum is rare, so a wrong one is put right.
    if let Err(Fault::Checksum { computed, .. }) = BusCommand::decode(command) {
        command[3] = computed;
    }
    match BusCommand::decode(command) {
        Ok(read) => assert_eq!(written(&[read], BusCommand::encode), command),
        Err(fault) => assert!(matches!(fault, Fault::UnknownCommand { .. })),
    }
}

fn decode_reply(id: u8, payload: &[u8]) {
    // As it came, then in a frame whose sum is right.
    if let Ok(reply) = BusReply::decode(id, payload) {
        reply.encode(&mut Vec::new());
    }
    let mut source = Source::new(payload);
    let Some(address) = Address::new(source.number() & 0x3FFF) else { return };
    let data: Vec<_> = source.take(MAX_FRAME - 6).iter().map(|byte| byte & 0x7F).collect();
    let framed = BusReply { address, content: Content::Other { id: id | 0x80, data } };
    let framed = written(&[framed], BusReply::encode);
    match BusReply::decode(framed[0], &framed[3..]) {
        Ok(reply) => {
            assert_eq!(reply.address, address);
            let again = written(slice(&reply), BusReply::encode);
            assert_eq!(again.len(), framed.len());
            if let Content::Clock(clock) = &reply.content
                && says_nothing(clock, &again[5..12])
            {
                return;
            }
            assert_eq!(BusReply::decode(again[0], &again[3..]).as_ref(), Ok(&reply));
            assert!(read::<BusDeframer>(&again).eq([Ok(reply)]));
        }
        Err(fault) => assert!(matches!(fault, Fault::Malformed(_)), "{fault}"),
    }
}

fn read_log(mut log: Log<'_>) -> (Vec<Tag>, usize) {
    let tags = log.by_ref().collect();
    (tags, log.skipped())
}

fn read<R: Reader>(bytes: &[u8]) -> R {
    let mut reader = R::default();
    reader.push(bytes);
    reader
}

fn slice<T>(value: &T) -> &[T] {
    std::slice::from_ref(value)
}

/// The bytes of values one after the other.
fn written<T>(values: &[T], encode: impl Fn(&T, &mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in values {
        encode(value, &mut bytes);
    }
    bytes
}

/// What a reader holds for somebody who does not read.
const MAX_WAITING: usize = 64 * 1024;
