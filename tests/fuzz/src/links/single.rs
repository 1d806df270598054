//! The conversation with one board.

use std::time::Duration;

use dgt_protocol::{
    Battery, ClockMessage, ClockSide, ClockTimes, Command, CommandReader, Dump, Field, Lever,
    LinkEvent, LongSerialNumber, Message, PieceCode, Request, SerialNumber, SingleLink,
    SingleSettings, Text,
};

use super::{super::source::Source, Session, span};

/// A link to one board neither panics nor spins, holds no more events than promised, tells of
/// silence once, and sends nothing but commands that read.
pub fn link_single(bytes: &[u8]) {
    let mut source = Source::new(bytes);
    let settings = match source.below(4) {
        0 => SingleSettings::cable(),
        1 => SingleSettings::bluetooth(),
        2 => SingleSettings::replay(),
        _ => any_settings(&mut source),
    };
    let link = SingleLink::new(settings, Duration::ZERO);
    let mut talk =
        Talk { session: Session { link, now: Duration::ZERO }, asked: None, answers: None };
    while !source.is_empty() {
        talk.step(&mut source);
    }
    talk.take_events();
}

struct Talk {
    session: Session<SingleLink>,
    /// The command sent last.
    asked: Option<Command>,
    /// What was told last about the board; nothing while events may be missing.
    answers: Option<bool>,
}

impl Talk {
    fn step(&mut self, source: &mut Source<'_>) {
        let now = self.session.now;
        match source.below(11) {
            0 => {
                let count = source.byte().into();
                self.session.link.handle_bytes(now, source.take(count));
            }
            1 => self.session.wait(source.number()),
            2 => self.session.wait_for_deadline(),
            3 => self.session.link.request(now, request(source)),
            4 => self.take_events(),
            5 => {
                if let Some(event) = self.session.link.poll_event() {
                    self.note(&event);
                }
            }
            6 | 7 => self.take_command(),
            8 => {
                let asked = self.asked.take();
                let answer = asked.and_then(|command| answer(&command, source));
                if let Some(message) = answer {
                    self.hear(&message, 1);
                }
            }
            9 => {
                let id = 0x80 | source.byte();
                let count = source.byte().into();
                if let Ok(message) = Message::decode(id, source.take(count)) {
                    self.hear(&message, source.byte());
                }
            }
            _ => self.session.go_back(source.number()),
        }
    }

    fn hear(&mut self, message: &Message, times: u8) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.session.hear(&bytes, times);
    }

    fn take_events(&mut self) {
        for event in self.session.events() {
            self.note(&event);
        }
    }

    fn note(&mut self, event: &LinkEvent) {
        let answers = match event {
            LinkEvent::Answering => Some(true),
            LinkEvent::Silent => Some(false),
            LinkEvent::Overrun { events } => {
                assert!(*events > 0);
                self.answers = None;
                return;
            }
            _ => return,
        };
        assert_ne!(self.answers, answers, "told twice");
        self.answers = answers;
    }

    fn take_command(&mut self) {
        let Some(bytes) = self.session.transmit() else { return };
        let mut reader = CommandReader::new();
        reader.push(&bytes);
        let commands: Result<Vec<_>, _> = reader.collect();
        let Ok([command]) = commands.as_deref() else { panic!("{bytes:02X?} is no command") };
        assert!(is_harmless(command), "{command:?}");
        self.asked = Some(command.clone());
    }
}

/// Bytes of memory that an event holds beside itself.
pub(super) fn payload(event: &LinkEvent) -> Option<usize> {
    Some(match event {
        LinkEvent::Message(Message::Memory(bytes) | Message::Unknown { payload: bytes, .. }) => {
            bytes.len()
        }
        LinkEvent::Message(Message::Trademark(text)) => text.as_str().len(),
        LinkEvent::Identified(identity) => {
            identity.trademark.as_ref().map_or(0, |text| text.as_str().len())
        }
        LinkEvent::Overrun { .. } => return None,
        _ => 0,
    })
}

/// A link only reads, and never by itself leaves the mode it speaks.
fn is_harmless(command: &Command) -> bool {
    !matches!(command, Command::Reset | Command::ToBusMode | Command::Leds(_) | Command::ToClock(_))
}

/// What a board would say.
fn answer(command: &Command, source: &mut Source<'_>) -> Option<Message> {
    let number = source.number();
    Some(match command {
        Command::ReadBoard => {
            let mut codes = [PieceCode::Empty; 64];
            codes[usize::from(number) % 64] = PieceCode::WhiteKing;
            Message::Dump(Dump::new(codes))
        }
        Command::UpdateNice => Message::FieldUpdate {
            field: Field::new(number as u8 & 63).expect("a field"),
            code: PieceCode::BlackPawn,
        },
        Command::ReadClock => Message::Clock(ClockMessage::Times(ClockTimes {
            right: ClockSide::from_seconds(number.into()),
            left: ClockSide::default(),
            running: true,
            lever: Lever::LeftHigh,
            battery_low: false,
            connected: true,
            turn_bits: Lever::LeftHigh.turn_bits(),
        })),
        Command::ReadSerialNumber => {
            Message::SerialNumber(SerialNumber::from_number(number.into()).expect("five digits"))
        }
        Command::ReadLongSerialNumber => Message::LongSerialNumber(
            LongSerialNumber::new(&format!("{number:010}")).expect("ten digits"),
        ),
        Command::ReadVersion => Message::Version { major: 1, minor: number as u8 & 0x7F },
        Command::ReadHardwareVersion => {
            Message::HardwareVersion { major: 2, minor: number as u8 & 0x7F }
        }
        Command::ReadBusAddress => Message::BusAddress(number & 0x3FFF),
        Command::ReadTrademark => {
            Message::Trademark(Text::new(&"board ".repeat(number as u8 as usize)))
        }
        Command::ReadMemory => Message::Memory(vec![0x6B; usize::from(number & 0x3FF)]),
        Command::ReadBattery => Message::Battery(Battery {
            percent: number as u8 % 101,
            time_left: None,
            on_time: None,
            standby_days: 0,
            standby: None,
            charging: false,
            discharging: true,
        }),
        _ => return None,
    })
}

fn request(source: &mut Source<'_>) -> Request {
    match source.below(5) {
        0 => Request::Dump,
        1 => Request::Clock,
        2 => Request::Battery,
        3 => Request::Identity,
        _ => Request::Memory,
    }
}

fn any_settings(source: &mut Source<'_>) -> SingleSettings {
    SingleSettings {
        opening_pause: span(source),
        command_gap: span(source),
        handshake_retry: span(source),
        identify_within: span(source),
        settle: span(source),
        dump_period: span(source),
        answer_timeout: span(source),
        keep_alive: span(source),
        silent_after: span(source),
        slow_retry: span(source),
        battery_period: span(source),
        memory_timeout: span(source),
    }
}
