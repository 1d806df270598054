use alloc::{vec, vec::Vec};

use super::*;
use crate::{
    Battery, ClockMessage, ClockSide, ClockTimes, CommandReader, Dump, Fault, Field, Lever,
    LongSerialNumber, PieceCode, SerialNumber, Text,
};

/// A board on virtual time. Answers take as long as their bytes need at 9600 baud.
struct Board {
    reader: CommandReader,
    serial: u32,
    on: bool,
    updating: bool,
    knows_long_serial: bool,
    codes: [PieceCode; 64],
    heard: Vec<(Duration, Command)>,
    answers: VecDeque<(Duration, Vec<u8>)>,
}

impl Board {
    fn new() -> Self {
        Self {
            reader: CommandReader::new(),
            serial: 1025,
            on: true,
            updating: false,
            knows_long_serial: true,
            codes: [PieceCode::Empty; 64],
            heard: Vec::new(),
            answers: VecDeque::new(),
        }
    }

    fn receive(&mut self, now: Duration, bytes: &[u8]) {
        self.reader.push(bytes);
        while let Some(command) = self.reader.next() {
            let command = command.expect("the link sends whole commands");
            self.heard.push((now, command.clone()));
            if self.on {
                self.obey(now, &command);
            }
        }
    }

    fn obey(&mut self, now: Duration, command: &Command) {
        let side = ClockSide::from_seconds(300);
        let message = match command {
            Command::UpdateNice => {
                self.updating = true;
                return;
            }
            Command::ReadBoard => Message::Dump(Dump::new(self.codes)),
            Command::ReadClock => Message::Clock(ClockMessage::Times(ClockTimes {
                right: side,
                left: side,
                running: false,
                lever: Lever::LeftHigh,
                battery_low: false,
                connected: true,
                turn_bits: 0x08,
            })),
            Command::ReadSerialNumber => {
                Message::SerialNumber(SerialNumber::from_number(self.serial).unwrap())
            }
            Command::ReadLongSerialNumber if self.knows_long_serial => {
                Message::LongSerialNumber(LongSerialNumber::new("3000147740").unwrap())
            }
            Command::ReadVersion => Message::Version { major: 1, minor: 7 },
            Command::ReadHardwareVersion => Message::HardwareVersion { major: 1, minor: 0 },
            Command::ReadBusAddress => Message::BusAddress(1025),
            Command::ReadTrademark => Message::Trademark(Text::new("Board of a test")),
            Command::ReadBattery => Message::Battery(Battery {
                percent: 84,
                time_left: None,
                on_time: None,
                standby_days: 0,
                standby: None,
                charging: false,
                discharging: true,
            }),
            Command::ReadMemory => Message::Memory(vec![0x7F; 0x1F00]),
            _ => return,
        };
        self.say(now, &message);
    }

    fn say(&mut self, now: Duration, message: &Message) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        let start = self.answers.back().map_or(now, |&(end, _)| end.max(now));
        self.answers.push_back((start + line_time(bytes.len()), bytes));
    }

    fn put(&mut self, now: Duration, field: u8, code: PieceCode) {
        self.codes[usize::from(field)] = code;
        if self.on && self.updating {
            let field = Field::new(field).unwrap();
            self.say(now, &Message::FieldUpdate { field, code });
        }
    }

    fn asked(&self, wanted: &Command) -> Vec<Duration> {
        let wanted = self.heard.iter().filter(|(_, command)| command == wanted);
        wanted.map(|&(at, _)| at).collect()
    }
}

/// A link and a board with one clock for both.
struct Pair {
    now: Duration,
    link: SingleLink,
    board: Board,
    events: Vec<(Duration, LinkEvent)>,
    /// Of a hundred answers, this many lose a byte on the way.
    lossy_percent: u64,
    random: u64,
}

impl Pair {
    fn new(board: Board) -> Self {
        let link = SingleLink::new(SingleSettings::cable(), Duration::ZERO);
        Self { now: Duration::ZERO, link, board, events: Vec::new(), lossy_percent: 0, random: 1 }
    }

    fn run_until(&mut self, end: Duration) {
        loop {
            while let Some(event) = self.link.poll_event() {
                self.events.push((self.now, event));
            }
            while let Some(bytes) = self.link.poll_transmit() {
                self.board.receive(self.now, &bytes);
            }
            let answer = self.board.answers.front().map(|&(at, _)| at);
            let deadline = self.link.poll_timeout();
            let Some(next) = answer.into_iter().chain(deadline).min().filter(|&at| at <= end)
            else {
                self.now = end;
                return;
            };
            assert!(next >= self.now, "time goes forward");
            self.now = next;
            if answer == Some(next) {
                let (_, mut bytes) = self.board.answers.pop_front().unwrap();
                if self.next_random() % 100 < self.lossy_percent {
                    bytes.remove(self.next_random() as usize % bytes.len());
                }
                self.link.handle_bytes(next, &bytes);
            } else {
                self.link.handle_timeout(next);
            }
        }
    }

    fn next_random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 8
    }

    /// The placement as a listener knows it.
    fn told(&self) -> [PieceCode; 64] {
        let mut codes = [PieceCode::Empty; 64];
        for (_, event) in &self.events {
            match event {
                LinkEvent::Message(Message::Dump(dump)) => codes = *dump.codes(),
                LinkEvent::Message(Message::FieldUpdate { field, code }) => {
                    codes[usize::from(field.index())] = *code;
                }
                _ => {}
            }
        }
        codes
    }

    fn run_for(&mut self, span: Duration) {
        self.run_until(self.now + span);
    }

    fn count(&self, wanted: impl Fn(&LinkEvent) -> bool) -> usize {
        self.events.iter().filter(|(_, event)| wanted(event)).count()
    }

    fn forget(&mut self) {
        self.events.clear();
        self.board.heard.clear();
    }
}

#[test]
fn a_board_is_identified_and_dumped_within_two_seconds() {
    let mut pair = Pair::new(Board::new());
    pair.run_until(secs(2));
    assert_eq!(pair.events[0].1, LinkEvent::Answering);
    assert_eq!(pair.count(is_dump), 1);
    assert_eq!(pair.count(is_identified), 1);
    let identity = pair.link.identity();
    assert_eq!(identity.serial_number, SerialNumber::from_number(1025));
    assert_eq!(identity.bus_address, Some(1025));
    assert_eq!(identity.missing().count(), 0);
    assert!(pair.board.updating);
}

#[test]
fn commands_keep_their_distance() {
    let mut pair = Pair::new(Board::new());
    pair.run_until(secs(60));
    for pair in pair.board.heard.windows(2) {
        assert!(pair[1].0 >= pair[0].0 + ms(100), "{pair:?}");
    }
}

#[test]
fn an_old_board_is_identified_without_its_long_serial_number() {
    let mut pair = Pair::new(Board { knows_long_serial: false, ..Board::new() });
    pair.run_until(secs(4));
    assert_eq!(pair.count(is_identified), 1);
    assert_eq!(pair.board.asked(&Command::ReadLongSerialNumber).len(), 2);
}

#[test]
fn a_dump_follows_field_changes_that_came_to_rest() {
    let mut pair = Pair::new(Board::new());
    pair.run_until(secs(5));
    pair.forget();
    pair.board.put(pair.now, 52, PieceCode::Empty);
    pair.run_for(ms(500));
    pair.board.put(pair.now, 36, PieceCode::WhitePawn);
    pair.run_for(secs(2));
    let placed = secs(5) + ms(500) + line_time(5);
    assert_eq!(pair.board.asked(&Command::ReadBoard), [placed + ms(800)]);
}

#[test]
fn a_piece_that_flickers_does_not_keep_dumps_away() {
    let mut pair = Pair::new(Board::new());
    pair.run_until(secs(5));
    pair.forget();
    for turn in 0..150 {
        let code = if turn % 2 == 0 { PieceCode::WhitePawn } else { PieceCode::Empty };
        pair.board.put(pair.now, 36, code);
        pair.run_for(ms(200));
    }
    assert!(pair.count(is_dump) >= 2);
}

#[test]
fn a_damaged_message_is_reported_and_a_dump_follows() {
    let mut pair = Pair::new(Board::new());
    pair.run_until(secs(5));
    pair.forget();
    pair.link.handle_bytes(secs(5), &[0x8E, 0x00, 0x05, 0x8E, 0x00, 0x05, 0x24, 0x55]);
    pair.run_for(ms(900));
    assert_eq!(pair.events[0].1, LinkEvent::Fault(Fault::Cut { id: 0x8E, bytes: 3 }));
    assert!(matches!(pair.events[1].1, LinkEvent::Fault(Fault::Malformed(_))));
    assert_eq!(pair.count(is_dump), 1);
}

#[test]
fn on_a_lossy_line_the_placement_is_right_soon_after_it_comes_to_rest() {
    for seed in 1..=20 {
        let mut pair = Pair::new(Board::new());
        pair.random = seed * 0x9E37_79B9;
        pair.run_until(secs(5));
        pair.lossy_percent = 20;
        for turn in 0..120u8 {
            let code = PieceCode::ALL[usize::from(turn % 13)];
            pair.board.put(pair.now, turn.wrapping_mul(7) % 64, code);
            pair.run_for(ms(300));
        }
        pair.lossy_percent = 0;
        pair.run_for(secs(12));
        assert!(pair.link.counts().cut + pair.link.counts().skipped_bytes > 0);
        assert_eq!(pair.told(), pair.board.codes, "seed {seed}");
    }
}

#[test]
fn an_absent_board_is_silent_once_and_dumped_when_it_comes() {
    let mut pair = Pair::new(Board { on: false, ..Board::new() });
    pair.run_until(secs(120));
    assert_eq!(pair.events, [(ms(6500), LinkEvent::Silent)]);
    let tries = pair.board.asked(&Command::UpdateNice).len();
    assert!((20..=28).contains(&tries), "{tries} attempts in two minutes");
    pair.board.on = true;
    pair.run_for(secs(8));
    assert_eq!(pair.count(|event| *event == LinkEvent::Answering), 1);
    assert!(pair.count(is_dump) >= 1);
    assert_eq!(pair.count(is_identified), 1);
}

#[test]
fn a_board_that_falls_silent_is_noticed_without_any_move() {
    let mut pair = Pair::new(Board::new());
    pair.run_until(secs(30));
    pair.forget();
    pair.board.on = false;
    pair.run_for(secs(60));
    assert_eq!(pair.count(|event| *event == LinkEvent::Silent), 1);
    assert!(pair.events.last().is_some_and(|&(at, _)| at < secs(40)));
}

#[test]
fn the_update_mode_is_set_again_after_a_loss_of_power() {
    let mut pair = Pair::new(Board::new());
    pair.run_until(secs(5));
    pair.board.updating = false;
    pair.run_for(secs(11));
    assert!(pair.board.updating);
}

#[test]
fn another_board_on_the_same_port_is_asked_who_it_is() {
    let mut pair = Pair::new(Board::new());
    pair.run_until(secs(5));
    pair.forget();
    pair.board.serial = 2054;
    pair.run_for(secs(12));
    assert_eq!(pair.count(is_identified), 1);
    assert_eq!(pair.link.identity().serial_number, SerialNumber::from_number(2054));
}

#[test]
fn nothing_is_sent_while_the_memory_is_read_and_a_dump_follows() {
    let mut pair = Pair::new(Board::new());
    pair.run_until(secs(5));
    pair.forget();
    pair.link.request(secs(5), Request::Memory);
    pair.run_for(secs(12));
    let is_memory = |event: &LinkEvent| matches!(event, LinkEvent::Message(Message::Memory(_)));
    assert_eq!(pair.count(is_memory), 1);
    assert_eq!(pair.count(|event| *event == LinkEvent::Silent), 0);
    let [memory, next, ..] = pair.board.heard.as_slice() else {
        panic!("the link goes on after the memory");
    };
    assert!(next.0 >= memory.0 + secs(8));
    assert!(pair.count(is_dump) >= 1);
}

#[test]
fn the_memory_of_a_silent_board_is_refused_at_once() {
    let mut link = SingleLink::new(SingleSettings::cable(), Duration::ZERO);
    link.request(Duration::ZERO, Request::Memory);
    assert_eq!(link.poll_event(), Some(LinkEvent::Unanswered(Request::Memory)));
    assert_eq!(link.poll_transmit(), None);
}

#[test]
fn a_board_that_never_dumps_is_reported_once() {
    let mut link = SingleLink::new(SingleSettings::cable(), Duration::ZERO);
    let mut unanswered = 0;
    for second in 0..60 {
        link.handle_bytes(secs(second), &[0x93, 0x00, 0x05, 0x01, 0x07]);
        while let Some(deadline) = link.poll_timeout().filter(|&at| at < secs(second + 1)) {
            link.handle_timeout(deadline);
            while link.poll_transmit().is_some() {}
        }
        while let Some(event) = link.poll_event() {
            unanswered += usize::from(event == LinkEvent::Unanswered(Request::Dump));
        }
    }
    assert_eq!(unanswered, 1);
}

#[test]
fn a_recording_passes_without_answers() {
    let mut link = SingleLink::new(SingleSettings::replay(), Duration::ZERO);
    let mut events = Vec::new();
    for minute in 0..60 {
        let now = secs(60 * minute);
        while let Some(deadline) = link.poll_timeout().filter(|&at| at < now) {
            link.handle_timeout(deadline);
            while link.poll_transmit().is_some() {}
        }
        link.handle_bytes(now, &[0x8E, 0x00, 0x05, 0x24, 0x01]);
        events.extend(core::iter::from_fn(|| link.poll_event()));
    }
    assert_eq!(events.remove(0), LinkEvent::Answering);
    assert_eq!(events.len(), 60);
    assert!(events.iter().all(|event| matches!(event, LinkEvent::Message(_))));
}

#[test]
fn a_flood_is_bounded_reported_and_followed_by_a_dump() {
    let mut pair = Pair::new(Board::new());
    pair.run_until(secs(5));
    pair.forget();
    let flood: Vec<u8> = [0x8E, 0x00, 0x05, 0x24, 0x01].repeat(100_000);
    pair.link.handle_bytes(secs(5), &flood);
    pair.run_for(secs(2));
    assert_eq!(pair.count(|event| matches!(event, LinkEvent::Overrun { .. })), 1);
    assert!(pair.events.len() < 10_000);
    assert_eq!(pair.count(is_dump), 1);
}

#[test]
fn a_caller_that_takes_nothing_is_not_made_to_spin() {
    let mut link = SingleLink::new(SingleSettings::cable(), Duration::ZERO);
    let mut wakings = 0;
    while let Some(deadline) = link.poll_timeout().filter(|&at| at < secs(60)) {
        link.handle_timeout(deadline);
        wakings += 1;
    }
    assert!(wakings < 100, "{wakings} in a minute");
}

fn is_dump(event: &LinkEvent) -> bool {
    matches!(event, LinkEvent::Message(Message::Dump(_)))
}

fn is_identified(event: &LinkEvent) -> bool {
    matches!(event, LinkEvent::Identified(_))
}

fn line_time(bytes: usize) -> Duration {
    Duration::from_micros(bytes as u64 * 10_000_000 / 9600)
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}
