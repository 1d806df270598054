//! Known bytes and what they mean, checked in both directions.

use dgt_protocol::{
    AckMeaning, Address, Battery, BusCommand, BusDeframer, BusReply, Button, ChangesForm,
    ClockCommand, ClockMessage, ClockSide, ClockTimes, Command, CommandReader, Content, Deframer,
    Dump, Duty, Field, HostCommand, HostReader, Leds, Lever, Log, LongSerialNumber, Message, Order,
    PieceCode, Run, SerialNumber, SetAndRun, Side, Tag,
};

#[test]
fn dumps_of_the_classical_start() {
    let upright = start_position();
    let mut turned = upright;
    turned.reverse();
    for (back_row, codes) in [
        ([0x08, 0x09, 0x0A, 0x0C, 0x0B, 0x0A, 0x09, 0x08], upright),
        ([0x02, 0x03, 0x04, 0x05, 0x06, 0x04, 0x03, 0x02], turned),
    ] {
        let message = Message::Dump(Dump::new(codes));
        let bytes = written(&message);
        assert_eq!(bytes[..3], [0x86, 0x00, 0x43]);
        assert_eq!(bytes[3..11], back_row);
        assert_eq!(read(&bytes), [message]);
    }
}

#[test]
fn moves_as_field_updates() {
    let table: [([u8; 5], u8, PieceCode); 11] = [
        ([0x8E, 0x00, 0x05, 0x34, 0x00], 52, PieceCode::Empty),
        ([0x8E, 0x00, 0x05, 0x24, 0x01], 36, PieceCode::WhitePawn),
        // A bishop takes: the victim leaves first.
        ([0x8E, 0x00, 0x05, 0x12, 0x00], 18, PieceCode::Empty),
        ([0x8E, 0x00, 0x05, 0x19, 0x00], 25, PieceCode::Empty),
        ([0x8E, 0x00, 0x05, 0x12, 0x04], 18, PieceCode::WhiteBishop),
        // A pawn takes back: the field goes from one piece to the other.
        ([0x8E, 0x00, 0x05, 0x0B, 0x00], 11, PieceCode::Empty),
        ([0x8E, 0x00, 0x05, 0x12, 0x07], 18, PieceCode::BlackPawn),
        // Black castles.
        ([0x8E, 0x00, 0x05, 0x04, 0x00], 4, PieceCode::Empty),
        ([0x8E, 0x00, 0x05, 0x06, 0x0B], 6, PieceCode::BlackKing),
        ([0x8E, 0x00, 0x05, 0x07, 0x00], 7, PieceCode::Empty),
        ([0x8E, 0x00, 0x05, 0x05, 0x08], 5, PieceCode::BlackRook),
    ];
    for (bytes, number, code) in table {
        both_ways(&bytes, Message::FieldUpdate { field: field(number), code });
    }
}

#[test]
fn clock_times() {
    let fischer = |seconds| ClockSide { increment_sign: true, ..ClockSide::from_seconds(seconds) };
    let fallen = ClockSide { flag: true, ..fischer(0) };
    let table = [
        ([0x20, 0x03, 0x02, 0x20, 0x03, 0x02, 0x08], fischer(182), fischer(182), stopped_left()),
        ([0x20, 0x03, 0x02, 0x20, 0x02, 0x59, 0x09], fischer(182), fischer(179), running_left()),
        ([0x20, 0x03, 0x02, 0x20, 0x03, 0x01, 0x13], fischer(182), fischer(181), running_right()),
        ([0x20, 0x03, 0x02, 0x20, 0x03, 0x02, 0x12], fischer(182), fischer(182), stopped_right()),
        ([0x30, 0x00, 0x00, 0x20, 0x00, 0x16, 0x12], fallen, fischer(16), stopped_right()),
        (
            [0x01, 0x30, 0x00, 0x01, 0x29, 0x58, 0x09],
            ClockSide::from_seconds(5400),
            ClockSide::from_seconds(5398),
            running_left(),
        ),
        (
            [0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20],
            ClockSide::default(),
            ClockSide::default(),
            ClockTimes { connected: false, turn_bits: 0, ..stopped_left() },
        ),
    ];
    for (payload, right, left, status) in table {
        let times = ClockTimes { right, left, ..status };
        both_ways(&clock_frame(payload), Message::Clock(ClockMessage::Times(times)));
    }
    both_ways(&clock_frame([0; 7]), Message::Clock(ClockMessage::Null));
}

#[test]
fn answers_of_the_clock() {
    let table = [
        (
            [0x0A, 0x10, 0x09, 0x0A, 0x20, 0x00, 0x00],
            [0x10, 0x09, 0x20, 0x00],
            AckMeaning::Version { major: 2, minor: 0 },
        ),
        (
            [0x0A, 0x10, 0x09, 0x0A, 0x1E, 0x00, 0x00],
            [0x10, 0x09, 0x1E, 0x00],
            AckMeaning::Version { major: 1, minor: 14 },
        ),
        (
            [0x0A, 0x10, 0x08, 0x2A, 0x05, 0x31, 0x00],
            [0x10, 0x88, 0x05, 0x31],
            AckMeaning::Button(Button::Back),
        ),
        (
            [0x0A, 0x10, 0x08, 0x2A, 0x41, 0x35, 0x00],
            [0x10, 0x88, 0x41, 0x35],
            AckMeaning::Button(Button::Ok),
        ),
        (
            [0x0A, 0x40, 0x0A, 0x0A, 0x00, 0x00, 0x00],
            [0x40, 0x0A, 0x00, 0x00],
            AckMeaning::Refused(0x0A),
        ),
        (
            [0x0A, 0x20, 0x00, 0x0A, 0x00, 0x00, 0x00],
            [0x20, 0x00, 0x00, 0x00],
            AckMeaning::Refused(0x00),
        ),
    ];
    for (payload, [status, kind, first, second], meaning) in table {
        let bytes = clock_frame(payload);
        let messages = read(&bytes);
        let [Message::Clock(ClockMessage::Ack(ack))] = messages.as_slice() else {
            panic!("{messages:?} should be an answer of the clock");
        };
        assert_eq!((ack.status, ack.kind, ack.detail), (status, kind, [first, second]));
        assert_eq!(ack.meaning(), meaning);
        assert_eq!(written(&messages[0]), bytes);
    }
}

#[test]
fn identity_and_battery() {
    let serial = SerialNumber::from_number(1025).expect("five digits");
    let long = LongSerialNumber::new("3000147740").expect("ten characters");
    let battery = Battery {
        percent: 84,
        time_left: None,
        on_time: Some(Duty { hours: 1, minutes: 30 }),
        standby_days: 0,
        standby: Some(Duty { hours: 2, minutes: 15 }),
        charging: false,
        discharging: true,
    };
    let table: [(&[u8], Message); 5] = [
        (b"\x91\x00\x0801025", Message::SerialNumber(serial)),
        (b"\x90\x00\x05\x08\x01", Message::BusAddress(1025)),
        (b"\x93\x00\x05\x01\x07", Message::Version { major: 1, minor: 7 }),
        (b"\xA2\x00\x0D3000147740", Message::LongSerialNumber(long)),
        (b"\xA0\x00\x0C\x54\x7F\x7F\x01\x1E\x00\x02\x0F\x02", Message::Battery(battery)),
    ];
    for (bytes, message) in table {
        both_ways(bytes, message);
    }
    assert_eq!(serial.bus_address(), Some(1025));
}

#[test]
fn commands_of_single_board_mode() {
    let five_minutes = SetAndRun { left: [0, 5, 0], right: [0, 5, 0], run: Run::Paused };
    let table: [(&[u8], Command); 3] = [
        (&[0x2B, 0x03, 0x03, 0x09, 0x00], Command::ToClock(ClockCommand::Version)),
        (
            &[0x2B, 0x0A, 0x03, 0x0A, 0x00, 0x05, 0x00, 0x00, 0x05, 0x00, 0x04, 0x00],
            Command::ToClock(ClockCommand::SetAndRun(five_minutes)),
        ),
        (&[0x60, 0x04, 0x00, 0x40, 0x40, 0x00], Command::Leds(Leds::AllOff)),
    ];
    for (bytes, command) in table {
        let mut out = Vec::new();
        command.encode(&mut out);
        assert_eq!(out, bytes);
        let mut reader = CommandReader::new();
        reader.push(bytes);
        assert!(reader.eq([Ok(command)]));
    }
}

#[test]
fn commands_of_a_bus() {
    let table = [
        ([0x81, 0x10, 0x06, 0x17], BusCommand::to(address(2054), Order::ReadClock)),
        ([0x87, 0x00, 0x00, 0x07], BusCommand::to_all(Order::Ping)),
        ([0x8B, 0x00, 0x00, 0x0B], BusCommand::to_all(Order::ReadVersion)),
        ([0x83, 0x08, 0x01, 0x0C], BusCommand::to(address(1025), Order::ReadChanges)),
        ([0x83, 0x06, 0x50, 0x59], BusCommand::to(address(848), Order::ReadChanges)),
        ([0x94, 0x06, 0x50, 0x6A], BusCommand::to(address(848), Order::ReadButton)),
    ];
    for (bytes, command) in table {
        let mut out = Vec::new();
        command.encode(&mut out);
        assert_eq!(out, bytes);
        let mut reader = HostReader::new();
        reader.push(&bytes);
        assert!(reader.eq([Ok(HostCommand::Bus(command))]));
    }
}

#[test]
fn answers_on_a_bus() {
    let changes = |log: &[u8]| Content::Changes { form: ChangesForm::Odd, log: log.to_vec() };
    let clock = ClockMessage::Times(ClockTimes {
        right: ClockSide::from_seconds(5400),
        left: ClockSide::from_seconds(5398),
        ..running_left()
    });
    let table: [(&[u8], u16, Content); 7] = [
        (&[0x85, 0x00, 0x06, 0x06, 0x50, 0x61], 848, changes(&[])),
        (&[0x87, 0x00, 0x06, 0x08, 0x01, 0x16], 1025, Content::Pong),
        (&[0x89, 0x00, 0x08, 0x08, 0x01, 0x01, 0x06, 0x21], 1025, Content::Version(Some((1, 6)))),
        (&[0x88, 0x00, 0x06, 0x08, 0x01, 0x17], 1025, Content::GameStarted),
        (
            &[0x85, 0x00, 0x0A, 0x08, 0x01, 0x40, 0x34, 0x41, 0x24, 0x71],
            1025,
            changes(&[0x40, 0x34, 0x41, 0x24]),
        ),
        (
            &[0x85, 0x00, 0x0D, 0x08, 0x01, 0x40, 0x34, 0x41, 0x24, 0x71, 0x29, 0x58, 0x66],
            1025,
            changes(&[0x40, 0x34, 0x41, 0x24, 0x71, 0x29, 0x58]),
        ),
        (
            &[0x84, 0x00, 0x0D, 0x08, 0x01, 0x01, 0x30, 0x00, 0x01, 0x29, 0x58, 0x09, 0x56],
            1025,
            Content::Clock(clock),
        ),
    ];
    for (bytes, number, content) in table {
        both_ways_on_a_bus(bytes, BusReply { address: address(number), content });
    }
}

#[test]
fn a_dump_on_a_bus() {
    let dump = Dump::new(start_position());
    let mut bytes = vec![0x83, 0x00, 0x46, 0x08, 0x01];
    bytes.extend(dump.codes().map(PieceCode::to_byte));
    bytes.push(0x7C);
    both_ways_on_a_bus(&bytes, BusReply { address: address(1025), content: Content::Dump(dump) });
}

#[test]
fn the_log_of_a_move_and_of_a_power_up() {
    let time = ClockSide::from_seconds(5398);
    let change = |number, code| Tag::FieldChange { field: field(number), code, quick: false };
    let table: [(&[u8], &[Tag]); 2] = [
        (
            &[0x40, 0x34, 0x41, 0x24, 0x71, 0x29, 0x58],
            &[
                change(52, PieceCode::Empty),
                change(36, PieceCode::WhitePawn),
                Tag::Halted { side: Side::Left, time },
            ],
        ),
        (
            &[0x7F, 0x7F, 0x7F, 0x6A, 0x48, 0x00, 0x49, 0x01, 0x6F],
            &[
                Tag::Nop,
                Tag::Nop,
                Tag::Nop,
                Tag::PowerUp,
                change(0, PieceCode::BlackRook),
                change(1, PieceCode::BlackKnight),
                Tag::StartPosition,
            ],
        ),
    ];
    for (bytes, tags) in table {
        assert!(Log::new(bytes).eq(tags.iter().copied()));
        let mut out = Vec::new();
        for tag in tags {
            tag.encode(&mut out);
        }
        assert_eq!(out, bytes);
    }
}

#[test]
fn a_whole_memory() {
    let mut log = vec![0x7F; 0x1F00];
    log[0x1EFF] = 0x6B;
    let message = Message::Memory(log);
    let bytes = written(&message);
    assert_eq!(bytes.len(), 7939);
    assert_eq!(bytes[..3], [0x8F, 0x3E, 0x03]);
    assert_eq!(read(&bytes), [message]);
}

fn both_ways(bytes: &[u8], message: Message) {
    assert_eq!(written(&message), bytes);
    assert_eq!(read(bytes), [message]);
}

fn both_ways_on_a_bus(bytes: &[u8], reply: BusReply) {
    let mut out = Vec::new();
    reply.encode(&mut out);
    assert_eq!(out, bytes);
    let mut deframer = BusDeframer::new();
    deframer.push(bytes);
    assert!(deframer.eq([Ok(reply)]));
}

fn read(bytes: &[u8]) -> Vec<Message> {
    let mut deframer = Deframer::new();
    deframer.push(bytes);
    deframer.map(|result| result.expect("bytes without a fault")).collect()
}

fn written(message: &Message) -> Vec<u8> {
    let mut out = Vec::new();
    message.encode(&mut out);
    out
}

fn clock_frame(payload: [u8; 7]) -> Vec<u8> {
    let mut bytes = vec![0x8D, 0x00, 0x0A];
    bytes.extend(payload);
    bytes
}

fn stopped_left() -> ClockTimes {
    ClockTimes {
        right: ClockSide::default(),
        left: ClockSide::default(),
        running: false,
        lever: Lever::LeftHigh,
        battery_low: false,
        connected: true,
        turn_bits: 0x08,
    }
}

fn running_left() -> ClockTimes {
    ClockTimes { running: true, ..stopped_left() }
}

fn stopped_right() -> ClockTimes {
    ClockTimes { lever: Lever::RightHigh, turn_bits: 0x10, ..stopped_left() }
}

fn running_right() -> ClockTimes {
    ClockTimes { running: true, ..stopped_right() }
}

/// The classical start with the connector at White's left: field 0 is a8.
fn start_position() -> [PieceCode; 64] {
    let mut codes = [PieceCode::Empty; 64];
    for (file, black) in [8, 9, 10, 12, 11, 10, 9, 8].into_iter().enumerate() {
        let piece = |byte| PieceCode::from_byte(byte).expect("a piece");
        codes[file] = piece(black);
        codes[8 + file] = PieceCode::BlackPawn;
        codes[48 + file] = PieceCode::WhitePawn;
        codes[56 + file] = piece(black - 6);
    }
    codes
}

fn field(number: u8) -> Field {
    Field::new(number).expect("a field")
}

fn address(number: u16) -> Address {
    Address::new(number).expect("an address")
}
