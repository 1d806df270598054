//! The inputs that a search begins with, written by our own encoders.
//!
//! `cargo run --example seeds` in this folder writes them; an ordinary test tells when they are no
//! longer what is written here.

use boardcast::view::capture::{Header, Line, LinkKind, Record, TableHeader, Writer};
use dgt_protocol::{
    Address, Battery, Beep, BusReply, ChangesForm, ClockAck, ClockCommand, ClockMessage, ClockSide,
    ClockTimes, Command, Content, Dump, Duty, Field, Leds, Lever, LongSerialNumber, Message, Order,
    PieceCode, Run, SegmentText, SerialNumber, SetAndRun, Side, Tag, Text,
};

/// One input.
#[derive(Debug)]
pub struct Seed {
    /// The target's name.
    pub target: &'static str,
    /// The name of its file below `corpus/<target>`.
    pub name: &'static str,
    /// What stands in it.
    pub bytes: Vec<u8>,
}

/// All seeds, in the order of their targets.
pub fn all() -> Vec<Seed> {
    let mut seeds = Vec::new();
    let mut add = |target, name, bytes| seeds.push(Seed { target, name, bytes });

    let stream = written(&messages(), Message::encode);
    let replies = written(&replies(), BusReply::encode);
    let commands = written(&commands(), Command::encode);
    add("deframer", "board", [&[0, 2, 1, 200], &stream[..]].concat());
    add("deframer", "board-unread", [&[0xF0, 1, 7], &stream[..100]].concat());
    add("deframer", "board-broken", [&[0, 3, 64, 1, 9], &broken(&stream)[..]].concat());
    add("deframer", "bus", [&[1, 1, 40], &replies[..]].concat());
    add("deframer", "bus-broken", [&[1, 0], &broken(&replies)[..]].concat());
    add("deframer", "host", [&[2, 1, 3], &commands[..]].concat());

    for (name, message) in MESSAGE_NAMES.into_iter().zip(messages()) {
        let bytes = written(&[message], Message::encode);
        add("decoders", name, [&[0, bytes[0]], &bytes[3..]].concat());
    }
    add("decoders", "commands", [&[1, 0], &commands[..]].concat());
    add("decoders", "bus-command", vec![2, Order::ReadChanges.to_byte(), 8, 1]);
    for (name, reply) in REPLY_NAMES.into_iter().zip(self::replies()) {
        let bytes = written(&[reply], BusReply::encode);
        add("decoders", name, [&[3, bytes[0], 1, 4], &bytes[5..bytes.len() - 1]].concat());
    }

    let log = written(&tags(), Tag::encode);
    add("memory_log", "begins-inside-a-tag", log[1..].to_vec());
    add("memory_log", "unknown-bytes", [&log[..], &[3, 0x3A, 0x7D], &log[..]].concat());
    add("memory_log", "whole", log);

    let contact = [2, 6, 8, 7, 0].repeat(12);
    add("link_single", "contact", [&[0], &contact[..], &[4]].concat());
    let silence = [1, 0, 0x40, 6].repeat(8);
    add(
        "link_single",
        "silence",
        [&[1], &contact[..20], &silence[..], &[4], &contact[..]].concat(),
    );
    let requests: Vec<_> = (0..5).flat_map(|request| [3, request, 6, 8, 9, 1, 2, 2]).collect();
    add("link_single", "requests", [&[0], &contact[..10], &requests[..], &[4]].concat());
    add("link_single", "unread", [&[2], &[9, 6, 2, 1, 7, 0xFF].repeat(60)[..], &[4]].concat());
    let spans: Vec<_> = (1..13).map(|span| span * 7).collect();
    add("link_single", "any-settings", [&[3], &spans[..], &contact[..]].concat());
    let noise = stream.chunks(60).flat_map(|chunk| [&[0, chunk.len() as u8], chunk].concat());
    add("link_single", "noise", [0].into_iter().chain(noise).chain([4]).collect());

    let polled = [2, 8, 0, 0].repeat(24);
    add("link_bus", "two-boards", [&[0, 2, 0, 1], &polled[..], &[5]].concat());
    let changes = [2, 8, 4, 0x40, 52, 0x41, 36, 0].repeat(12);
    add("link_bus", "changes", [&[0, 1, 0], &changes[..], &[5]].concat());
    let damaged = [2, 8, 2, 0x40, 52, 0xC5, 2, 2, 2, 8, 2, 0x40, 52, 0].repeat(8);
    add("link_bus", "damaged", [&[0, 1, 0], &polled[..20], &damaged[..], &[5]].concat());
    add(
        "link_bus",
        "silence",
        [&[0, 3, 0, 1, 2], &polled[..40], &[2; 60], &polled[..], &[5]].concat(),
    );
    let spans: Vec<_> = (1..14).map(|span| span * 5).collect();
    add("link_bus", "any-settings", [&[1], &spans[..], &[1, 0], &polled[..]].concat());
    let requests: Vec<_> = (0..5).flat_map(|request| [4, 0, request, 2, 8, 0, 0]).collect();
    add("link_bus", "requests", [&[0, 1, 0], &polled[..20], &requests[..], &[5]].concat());
    add(
        "link_bus",
        "unread",
        [
            &[2, 1, 0],
            &[10, 0, 0x86, 8, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F, 0x3F].repeat(40)[..],
            &[5],
        ]
        .concat(),
    );

    add("capture_lines", "every-record", capture());
    add("capture_lines", "broken-lines", BROKEN_CAPTURE.to_vec());

    let game = [0, 3, 0x0B, 2, 90].repeat(20);
    let begin = [9, 4, 2, 200, 5, 2, 60];
    add("tracker_operations", "classical", [&[0], &begin[..], &game[..]].concat());
    add("tracker_operations", "turned", [&[0, 9, 5, 2, 200, 5], &game[..]].concat());
    add("tracker_operations", "chess960", [&[2], &begin[..], &game[..]].concat());
    for (name, position) in POSITION_NAMES.into_iter().zip(0..) {
        add("tracker_operations", name, [&[3, position], &begin[..], &game[..50]].concat());
    }
    let lost = [7, 12, 12, 0, 9, 6, 7, 28, 0, 8, 3, 0, 9, 12].repeat(6);
    add("tracker_operations", "lost-reports", [&[8], &begin[..], &game[..25], &lost[..]].concat());
    let ended = [11, 3, 0, 3, 0, 0x20, 9, 4, 12];
    add(
        "tracker_operations",
        "signalled",
        [&[0], &begin[..], &game[..30], &ended[..], &game[..]].concat(),
    );

    add("pgn", "two-games", TWO_GAMES.as_bytes().to_vec());
    add("pgn", "chess960", CHESS960.as_bytes().to_vec());
    add("pgn", "position", POSITION.as_bytes().to_vec());
    add("pgn", "broken", BROKEN_GAMES.as_bytes().to_vec());
    seeds
}

fn messages() -> Vec<Message> {
    let side = |seconds| ClockSide { increment_sign: true, ..ClockSide::from_seconds(seconds) };
    let mut codes = [PieceCode::Empty; 64];
    codes.iter_mut().zip(PieceCode::ALL).for_each(|(code, any)| *code = any);
    vec![
        Message::Dump(Dump::new(codes)),
        Message::FieldUpdate { field: field(36), code: PieceCode::WhitePawn },
        Message::Clock(ClockMessage::Times(ClockTimes {
            right: side(182),
            left: side(5399),
            running: true,
            lever: Lever::LeftHigh,
            battery_low: false,
            connected: true,
            turn_bits: Lever::LeftHigh.turn_bits(),
        })),
        Message::Clock(ClockMessage::Ack(ClockAck { status: 0x10, kind: 0x88, detail: [0, 0x33] })),
        Message::Memory(written(&tags(), Tag::encode)),
        Message::BusAddress(1025),
        Message::SerialNumber(SerialNumber::from_number(1025).expect("five digits")),
        Message::LongSerialNumber(LongSerialNumber::new("3000001025").expect("ten characters")),
        Message::Trademark(Text::new("A board\r\nversion 1.7\r\n")),
        Message::Version { major: 1, minor: 7 },
        Message::HardwareVersion { major: 2, minor: 0 },
        Message::Battery(Battery {
            percent: 84,
            time_left: None,
            on_time: Some(Duty { hours: 1, minutes: 30 }),
            standby_days: 3,
            standby: Some(Duty { hours: 2, minutes: 15 }),
            charging: true,
            discharging: false,
        }),
        Message::Unknown { id: 0xA3, payload: vec![1, 2, 3] },
    ]
}

fn commands() -> Vec<Command> {
    let text = SegmentText { characters: [1, 2, 4, 8, 16, 32], dots: 0x12, beep: Beep::Sound };
    let times = SetAndRun { left: [0, 5, 0], right: [1, 30, 0], run: Run::Side(Side::Left) };
    let mut commands: Vec<_> = (0x40..=0x55).filter_map(Command::from_byte).collect();
    commands.push(Command::Leds(Leds::AllOff));
    commands.push(Command::Leds(Leds::Pair { lit: true, from: field(52), to: field(36) }));
    let to_clock = [
        ClockCommand::Display(text),
        ClockCommand::Icons([1, 2, 3, 4, 5]),
        ClockCommand::End,
        ClockCommand::Button,
        ClockCommand::Version,
        ClockCommand::SetAndRun(times),
        ClockCommand::Beep(4),
        ClockCommand::Ascii { text: *b"boardcst", beep: 0 },
        ClockCommand::LongAscii { text: *b"boardcast 1", beep: 2 },
    ];
    commands.extend(to_clock.map(Command::ToClock));
    commands
}

fn replies() -> Vec<BusReply> {
    let log = written(&tags(), Tag::encode);
    let contents = [
        Content::Dump(Dump::new([PieceCode::Empty; 64])),
        Content::Clock(ClockMessage::Null),
        Content::Changes { form: ChangesForm::Odd, log: log.clone() },
        Content::Changes { form: ChangesForm::Even, log: Vec::new() },
        Content::FromStart(log),
        Content::Pong,
        Content::GameStarted,
        Content::Version(Some((1, 6))),
        Content::Other { id: 0xB1, data: vec![5] },
    ];
    let address = Address::new(1025).expect("an address");
    contents.map(|content| BusReply { address, content }).into()
}

fn tags() -> Vec<Tag> {
    let change = |number, code, quick| Tag::FieldChange { field: field(number), code, quick };
    let halted = |side, time| Tag::Halted { side, time: ClockSide::from_seconds(time) };
    vec![
        halted(Side::Left, 5398),
        Tag::PowerUp,
        Tag::StartPosition,
        Tag::StartGame,
        change(52, PieceCode::Empty, false),
        change(36, PieceCode::WhitePawn, true),
        halted(Side::Right, 3607),
        Tag::EmptyBoard,
        Tag::FourRows,
        Tag::StartPositionTurned,
        Tag::Downloaded,
        Tag::Watchdog,
        Tag::Nop,
        Tag::NopZero,
        Tag::End,
    ]
}

fn capture() -> Vec<u8> {
    let table = TableHeader {
        number: Some(4),
        fen: Some("8/4P1k1/8/8/8/8/8/4K3 b - - 0 60".to_owned()),
        chess960: true,
        time_control: Some("5400+30".to_owned()),
        ruleset: Some("fide2023_standard".to_owned()),
    };
    let header = Header {
        capture: 1,
        link: LinkKind::Bus,
        created: Some("2026-01-01T00:00:00Z".to_owned()),
        port: Some("/dev/ttyUSB0".to_owned()),
        tool: Some("test".to_owned()),
        table: Some(table),
    };
    let records = [
        Record::Port(true),
        Record::Tx(vec![0x4B]),
        Record::Rx(vec![0x8E, 0, 5, 36, 1]),
        Record::Mark("game \"1\" begins \u{265f}".to_owned()),
        Record::Other,
        Record::Port(false),
    ];
    let mut writer = Writer::new(Vec::new(), &header).expect("memory can be written");
    for (t, record) in (0..).step_by(120).zip(records) {
        writer.write(&Line { t, record }).expect("memory can be written");
    }
    let mut capture = writer.finish().expect("memory can be written");
    capture.extend(b"\n{\"t\":900,\"command\":{\"result\":\"1-0\"},\"more\":[1,2]}\n");
    capture
}

/// The same with a bit flipped here and there.
fn broken(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().zip(1usize..).map(|(&byte, n)| byte ^ u8::from(n % 31 == 0) << (n % 8)).collect()
}

fn field(number: u8) -> Field {
    Field::new(number).expect("a field")
}

fn written<T>(values: &[T], encode: impl Fn(&T, &mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in values {
        encode(value, &mut bytes);
    }
    bytes
}

const MESSAGE_NAMES: [&str; 13] = [
    "dump",
    "field-update",
    "clock-times",
    "clock-ack",
    "memory",
    "bus-address",
    "serial-number",
    "long-serial-number",
    "trademark",
    "version",
    "hardware-version",
    "battery",
    "unknown",
];
const REPLY_NAMES: [&str; 9] = [
    "bus-dump",
    "bus-clock",
    "bus-changes",
    "bus-no-changes",
    "bus-from-start",
    "bus-pong",
    "bus-game-started",
    "bus-version",
    "bus-other",
];
const POSITION_NAMES: [&str; 6] =
    ["castling", "chess960-castling", "promotion", "fifty-moves", "back-rank", "dead-position"];

const BROKEN_CAPTURE: &[u8] = b"{\"capture\":1,\"link\":\"single\"}\n{\"t\":5,\"rx\":\"8e0\"}\n\
    {\"t\":9,\"rx\":\"zz\"}\nnonsense\n\n{\"t\":10,\"rx\":\"00\"}\r\n{\"t\":9,\"rx\":\"00\"}\n\
    {\"rx\":\"00\"}\n \t\n{\"t\":11,\"line\":\"sideways\"}\n\xFF\xFE\n{\"t\":12,\"tx\":null}";

const TWO_GAMES: &str = "[Event \"A \\\"B\\\"\"]\n[TimeControl \"180+2\"]\n\n\
    1. e4 {a comment} ({a line} 1. d4 d5) 1... e5 $1 { [%eval 0.3] [%clk 0:02:59.7] } \
    2. Nf3 {[%clk 02:58]} ; rest of the line\n2... Nc6 3. Bb5 a6 4. O-O 1-0\n\n\
    [Event \"2\"]\n[Result \"0-1\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n";
const CHESS960: &str = "[Variant \"Chess960\"]\n[SetUp \"1\"]\n\
    [FEN \"r1k1r3/8/8/8/8/8/8/1RK1R3 w EBea - 0 1\"]\n\n1. O-O-O Kc7 2. Rxe8 1/2-1/2\n";
const POSITION: &str = "[SetUp \"1\"]\n[FEN \"r3k2r/1P4p1/8/3pP3/4p3/8/1p3P2/R3K2R w KQkq d6 0 30\"]\n\n\
    30. exd6 {[%clk 1:00:00]} O-O 31. bxa8=Q bxa1=N+ 32. Ke2 *\n";
const BROKEN_GAMES: &str = "[Event \"1\"]\n\n1. e4 e5 2. Ke5 Nc6 1-0\n\n[FEN \"nonsense\"]\n\n1. e4 *\n\n\
    [FEN \"8/8/8/8/8/8/8/8 w - - 0 1\"]\n\n*\n\n[Variant \"Atomic\"]\n\n1. e4 *\n\n1. d4 {";
