//! Values as boards and hosts can send them, and bytes that are nearly such values.

use dgt_protocol::{
    Address, Battery, Beep, BusCommand, BusReply, ChangesForm, ClockAck, ClockCommand,
    ClockMessage, ClockSide, ClockTimes, Command, Content, Dump, Duty, Field, Leds, Lever,
    LongSerialNumber, Message, Order, PieceCode, Run, SegmentText, SerialNumber, SetAndRun, Side,
    Tag, Target, Text,
};
use proptest::{
    array::{uniform2, uniform3, uniform5, uniform6, uniform8},
    collection::vec,
    option,
    prelude::*,
    sample::{Index, select},
};

pub(super) fn messages() -> impl Strategy<Value = Message> {
    prop_oneof![
        dumps().prop_map(Message::Dump),
        (fields(), codes()).prop_map(|(field, code)| Message::FieldUpdate { field, code }),
        clock_messages().prop_map(Message::Clock),
        vec(0..0x80u8, 0..300).prop_map(Message::Memory),
        (0..0x4000u16).prop_map(Message::BusAddress),
        (0..100_000u32)
            .prop_map(|number| SerialNumber::from_number(number).expect("five digits"))
            .prop_map(Message::SerialNumber),
        "[A-Z0-9]{10}"
            .prop_map(|text| LongSerialNumber::new(&text).expect("ten characters"))
            .prop_map(Message::LongSerialNumber),
        "[ -~\r\n]{0,200}".prop_map(|text| Message::Trademark(Text::new(&text))),
        uniform2(0..0x80u8).prop_map(|[major, minor]| Message::Version { major, minor }),
        uniform2(0..0x80u8).prop_map(|[major, minor]| Message::HardwareVersion { major, minor }),
        batteries().prop_map(Message::Battery),
        (0xB0..=0xFFu8, vec(0..0x80u8, 0..40))
            .prop_map(|(id, payload)| Message::Unknown { id, payload }),
    ]
}

pub(super) fn commands() -> impl Strategy<Value = Command> {
    let plain = (0x40..=0x55u8).prop_filter_map("no command", Command::from_byte);
    let leds = prop_oneof![
        Just(Leds::AllOff),
        (any::<bool>(), fields(), fields()).prop_map(|(lit, from, to)| Leds::Pair {
            lit,
            from,
            to
        }),
    ];
    prop_oneof![plain, leds.prop_map(Command::Leds), clock_commands().prop_map(Command::ToClock)]
}

pub(super) fn bus_commands() -> impl Strategy<Value = BusCommand> {
    let target = option::of(addresses()).prop_map(|one| one.map_or(Target::All, Target::Board));
    (select(&Order::ALL[..]), target).prop_map(|(order, target)| BusCommand { order, target })
}

pub(super) fn bus_replies() -> impl Strategy<Value = BusReply> {
    let log = || vec(0..0x80u8, 0..200);
    let form = select(vec![ChangesForm::Odd, ChangesForm::Even]);
    let content = prop_oneof![
        dumps().prop_map(Content::Dump),
        clock_messages().prop_map(Content::Clock),
        (form, log()).prop_map(|(form, log)| Content::Changes { form, log }),
        log().prop_map(Content::FromStart),
        Just(Content::Pong),
        Just(Content::GameStarted),
        option::of((0..0x80u8, 0..0x80u8)).prop_map(Content::Version),
        (0xB0..=0xB5u8, log()).prop_map(|(id, data)| Content::Other { id, data }),
    ];
    (addresses(), content).prop_map(|(address, content)| BusReply { address, content })
}

pub(super) fn tags() -> impl Strategy<Value = Tag> {
    let notes = [
        Tag::PowerUp,
        Tag::End,
        Tag::FourRows,
        Tag::EmptyBoard,
        Tag::Downloaded,
        Tag::StartPosition,
        Tag::StartPositionTurned,
        Tag::StartGame,
        Tag::Watchdog,
        Tag::Nop,
        Tag::NopZero,
    ];
    prop_oneof![
        (fields(), codes(), any::<bool>()).prop_map(|(field, code, quick)| Tag::FieldChange {
            field,
            code,
            quick
        }),
        (sides(), 0..36_000u32)
            .prop_map(|(side, time)| Tag::Halted { side, time: ClockSide::from_seconds(time) }),
        select(notes.to_vec()),
    ]
}

/// Bytes of a damaged line: whole messages of both modes with some bytes changed, and plain noise.
pub(super) fn noisy_bytes() -> impl Strategy<Value = Vec<u8>> {
    let clean = prop_oneof![
        vec(messages(), 0..6).prop_map(|messages| written(&messages, Message::encode)),
        vec(bus_replies(), 0..6).prop_map(|replies| written(&replies, BusReply::encode)),
        vec(commands(), 0..6).prop_map(|commands| written(&commands, Command::encode)),
        vec(any::<u8>(), 0..200),
    ];
    (clean, vec((any::<Index>(), any::<u8>()), 0..6)).prop_map(|(mut bytes, damage)| {
        for (place, byte) in damage {
            if !bytes.is_empty() {
                *place.get_mut(&mut bytes) = byte;
            }
        }
        bytes
    })
}

/// The bytes of values one after the other.
pub(super) fn written<T>(values: &[T], encode: impl Fn(&T, &mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in values {
        encode(value, &mut bytes);
    }
    bytes
}

pub(super) fn addresses() -> impl Strategy<Value = Address> {
    (1..0x4000u16).prop_map(|number| Address::new(number).expect("fourteen bits"))
}

fn fields() -> impl Strategy<Value = Field> {
    (0..64u8).prop_map(|number| Field::new(number).expect("a field"))
}

fn codes() -> impl Strategy<Value = PieceCode> {
    select(&PieceCode::ALL[..])
}

fn dumps() -> impl Strategy<Value = Dump> {
    vec(codes(), 64).prop_map(|codes| Dump::new(codes.try_into().expect("64 codes")))
}

fn sides() -> impl Strategy<Value = Side> {
    select(vec![Side::Left, Side::Right])
}

fn clock_messages() -> impl Strategy<Value = ClockMessage> {
    let ack = (any::<[u8; 2]>(), any::<[u8; 2]>()).prop_map(|([status, kind], detail)| ClockAck {
        status,
        kind,
        detail,
    });
    prop_oneof![
        clock_times().prop_map(ClockMessage::Times),
        ack.prop_map(ClockMessage::Ack),
        Just(ClockMessage::Null),
    ]
}

fn clock_times() -> impl Strategy<Value = ClockTimes> {
    let lever = select(vec![Lever::LeftHigh, Lever::RightHigh]);
    // Without any bit the message would say nothing.
    let turn_bits = select(vec![0x08, 0x10, 0x18]);
    (clock_sides(), clock_sides(), lever, any::<[bool; 3]>(), turn_bits).prop_map(
        |(right, left, lever, [running, battery_low, connected], turn_bits)| ClockTimes {
            right,
            left,
            running,
            lever,
            battery_low,
            connected,
            turn_bits,
        },
    )
}

fn clock_sides() -> impl Strategy<Value = ClockSide> {
    (0..36_000u32, any::<[bool; 3]>()).prop_map(
        |(seconds, [flag, increment_sign, flag_running])| ClockSide {
            flag,
            increment_sign,
            flag_running,
            ..ClockSide::from_seconds(seconds)
        },
    )
}

fn batteries() -> impl Strategy<Value = Battery> {
    let duty =
        || option::of((0..0x7Fu8, 0..60u8).prop_map(|(hours, minutes)| Duty { hours, minutes }));
    (0..=100u8, duty(), duty(), 0..0x80u8, duty(), any::<[bool; 2]>()).prop_map(
        |(percent, time_left, on_time, standby_days, standby, [charging, discharging])| Battery {
            percent,
            time_left,
            on_time,
            standby_days,
            standby,
            charging,
            discharging,
        },
    )
}

fn clock_commands() -> impl Strategy<Value = ClockCommand> {
    let byte = || 0..0x80u8;
    let beep = select(vec![Beep::Silent, Beep::Sound]);
    let run = prop_oneof![sides().prop_map(Run::Side), Just(Run::Paused), Just(Run::ByLever)];
    prop_oneof![
        (uniform6(byte()), byte(), beep).prop_map(|(characters, dots, beep)| {
            ClockCommand::Display(SegmentText { characters, dots, beep })
        }),
        uniform5(byte()).prop_map(ClockCommand::Icons),
        select(vec![ClockCommand::End, ClockCommand::Button, ClockCommand::Version]),
        (uniform3(byte()), uniform3(byte()), run).prop_map(|(left, right, run)| {
            ClockCommand::SetAndRun(SetAndRun { left, right, run })
        }),
        byte().prop_map(ClockCommand::Beep),
        (uniform8(byte()), byte()).prop_map(|(text, beep)| ClockCommand::Ascii { text, beep }),
        (vec(byte(), 11), byte()).prop_map(|(text, beep)| ClockCommand::LongAscii {
            text: text.try_into().expect("eleven characters"),
            beep,
        }),
    ]
}
