//! The conversation with many boards on one line.

use std::{collections::BTreeMap, time::Duration};

use dgt_protocol::{
    Address, BoardEvent, BusCommand, BusDeframer, BusEvent, BusLink, BusReply, BusRequest,
    BusSettings, Changes, ChangesForm, ClockMessage, Content, Dump, Order, PieceCode, Tag, Target,
};

use super::{super::source::Source, Session, span};

/// A link to many boards neither panics nor spins, holds no more events than promised, tells of
/// silence once, and never makes a board forget changes that did not arrive.
pub fn link_bus(bytes: &[u8]) {
    let mut source = Source::new(bytes);
    let choice = source.byte();
    let mut settings =
        if choice & 1 == 0 { BusSettings::default() } else { any_settings(&mut source) };
    settings.expected = (0..source.below(5)).map(|_| address(&mut source)).collect();
    let link = BusLink::new(settings, Duration::ZERO);
    let mut talk = Talk {
        session: Session { link, now: Duration::ZERO },
        prompt: choice & 2 == 0,
        asked: None,
        line: BusDeframer::new(),
        owed: BTreeMap::new(),
        answers: Some(BTreeMap::new()),
    };
    while !source.is_empty() {
        talk.step(&mut source);
        if talk.prompt {
            talk.take_command();
        }
    }
    talk.take_events();
}

struct Talk {
    session: Session<BusLink>,
    /// The caller sends commands at once, as he should.
    prompt: bool,
    /// The command sent last.
    asked: Option<BusCommand>,
    /// Reads what the link reads.
    line: BusDeframer,
    /// Boards that were made to forget changes which have not arrived, with the repetitions asked
    /// for since.
    owed: BTreeMap<Address, usize>,
    /// What was told last about boards; nothing while events may be missing.
    answers: Option<BTreeMap<Address, bool>>,
}

impl Talk {
    fn step(&mut self, source: &mut Source<'_>) {
        let now = self.session.now;
        match source.below(12) {
            0 => {
                let count = source.byte().into();
                self.hear(source.take(count), 1);
            }
            1 => self.session.wait(source.number()),
            2 | 3 => self.session.wait_for_deadline(),
            4 => {
                let address = address(source);
                self.session.link.request(now, address, request(source));
            }
            5 => self.take_events(),
            6 => {
                if let Some(event) = self.session.link.poll_event() {
                    self.note(&event);
                }
            }
            7 => self.take_command(),
            8 | 9 => self.answer(source),
            10 => {
                let address = address(source);
                let content = content(source.byte(), source);
                let mut bytes = Vec::new();
                BusReply { address, content }.encode(&mut bytes);
                self.hear(&bytes, source.byte() & 0x3F);
            }
            _ => self.session.go_back(source.number()),
        }
    }

    /// Answers the last command as a board would, perhaps with a broken byte.
    fn answer(&mut self, source: &mut Source<'_>) {
        let Some(BusCommand { order, target }) = self.asked else { return };
        let address = match target {
            Target::Board(address) => address,
            Target::All => address(source),
        };
        let Some(id) = answer_id(order) else { return };
        let content = content(id, source);
        let mut bytes = Vec::new();
        BusReply { address, content }.encode(&mut bytes);
        let damage = source.byte();
        if damage >= 0xC0 {
            let place = usize::from(damage) % bytes.len();
            bytes[place] ^= 1;
        }
        self.hear(&bytes, 1);
    }

    fn hear(&mut self, bytes: &[u8], times: u8) {
        self.session.hear(bytes, times);
        for _ in 0..times {
            self.line.push(bytes);
            for reply in self.line.by_ref().flatten() {
                if matches!(reply.content, Content::Changes { .. }) {
                    self.owed.remove(&reply.address);
                }
            }
        }
    }

    fn take_events(&mut self) {
        for event in self.session.events() {
            self.note(&event);
        }
    }

    fn note(&mut self, event: &BusEvent) {
        match event {
            BusEvent::Overrun { events } => {
                assert!(*events > 0);
                self.answers = None;
            }
            BusEvent::Board { address, event: BoardEvent::Answering } => self.tell(*address, true),
            BusEvent::Board { address, event: BoardEvent::Silent } => self.tell(*address, false),
            _ => {}
        }
    }

    fn tell(&mut self, address: Address, answers: bool) {
        if let Some(told) = &mut self.answers {
            assert_ne!(told.insert(address, answers), Some(answers), "told twice of {address}");
        }
    }

    fn take_command(&mut self) {
        let Some(bytes) = self.session.transmit() else { return };
        let Ok(bytes) = <[u8; 4]>::try_from(bytes) else { panic!("a command has four bytes") };
        let command = BusCommand::decode(bytes).expect("a command that reads");
        assert!(!matches!(command.order, Order::EndBusMode | Order::Reset), "{command:?}");
        self.asked = Some(command);
        if let Target::Board(address) = command.target {
            match command.order {
                Order::ReadChanges => {
                    let repeats = self.owed.insert(address, 0);
                    assert!(repeats.is_none_or(|n| n >= MAX_REPEATS), "{address} forgets changes");
                }
                // Changes that came late are not owed any more.
                Order::RepeatChanges => {
                    self.owed.entry(address).and_modify(|repeats| *repeats += 1);
                }
                _ => {}
            }
        }
    }
}

/// Bytes of memory that an event holds beside itself.
pub(super) fn payload(event: &BusEvent) -> Option<usize> {
    let event = match event {
        BusEvent::Board { event, .. } => event,
        BusEvent::Overrun { .. } => return None,
        _ => return Some(0),
    };
    Some(match event {
        BoardEvent::Changes(Changes { tags, .. }) | BoardEvent::FromStart { tags, .. } => {
            tags.len() * size_of::<Tag>()
        }
        BoardEvent::Other { data, .. } => data.len(),
        _ => 0,
    })
}

fn answer_id(order: Order) -> Option<u8> {
    Some(match order {
        Order::ReadClock => 0x84,
        Order::ReadBoard => 0x83,
        Order::ReadChanges | Order::RepeatChanges => 0x85,
        Order::StartGame => 0x88,
        Order::ReadFromStart => 0x86,
        Order::Ping | Order::IgnoreNextPing => 0x87,
        Order::ReadVersion => 0x89,
        _ => return None,
    })
}

fn content(id: u8, source: &mut Source<'_>) -> Content {
    let mut log = || {
        let count = source.byte() & 0x1F;
        source.take(count.into()).iter().map(|byte| byte & 0x7F).collect()
    };
    match id {
        0x83 => Content::Dump(Dump::new([PieceCode::Empty; 64])),
        0x84 => Content::Clock(ClockMessage::Null),
        0x85 => Content::Changes { form: ChangesForm::Odd, log: log() },
        0x86 => Content::FromStart(log()),
        0x87 => Content::Pong,
        0x88 => Content::GameStarted,
        0x89 => Content::Version(Some((1, 6))),
        0x8B => Content::Changes { form: ChangesForm::Even, log: log() },
        id => Content::Other { id: id | 0x80, data: log() },
    }
}

/// One of four boards, mostly, and now and then any.
fn address(source: &mut Source<'_>) -> Address {
    let number = match source.byte() {
        byte @ 0xF0.. => u16::from(byte) << 6 | u16::from(source.byte()),
        byte => 1025 + u16::from(byte & 3),
    };
    Address::new(number & 0x3FFF).expect("not zero")
}

fn request(source: &mut Source<'_>) -> BusRequest {
    match source.below(5) {
        0 => BusRequest::Dump,
        1 => BusRequest::Clock,
        2 => BusRequest::Version,
        3 => BusRequest::StartGame,
        _ => BusRequest::FromStart,
    }
}

fn any_settings(source: &mut Source<'_>) -> BusSettings {
    BusSettings {
        expected: Vec::new(),
        opening_pause: span(source),
        command_gap: span(source),
        reply_timeout: span(source),
        changes_period: span(source),
        live_within: span(source),
        clock_period: span(source),
        dump_period: span(source),
        settle: span(source),
        attempts: source.byte(),
        slow_retry: span(source),
        discovery_window: span(source),
        discovery_period: span(source),
        deserted_retry: span(source),
    }
}

/// After so many vain repetitions a board is known to have lost its changes.
const MAX_REPEATS: usize = 5;
