//! Boards as their hosts see them.

use dgt_protocol::{
    AckMeaning, Battery, ClockCommand, ClockMessage, Command, Deframer, LongSerialNumber, Message,
    Text,
};
use proptest::prelude::*;
use shakmaty::{Chess, Position, Role};

use super::*;
use crate::sim::time_control::TimeControl;

/// A board and everything it has said.
struct Seen {
    board: VirtualBoard,
    deframer: Deframer,
}

impl Seen {
    fn new(settings: BoardSettings) -> Self {
        Self { board: VirtualBoard::new(settings, Duration::ZERO), deframer: Deframer::new() }
    }

    fn ordinary() -> Self {
        Self::new(BoardSettings::new(1025))
    }

    fn with_clock(control: &str) -> Self {
        let mut seen = Self::ordinary();
        let clock = VirtualClock::new(control.parse().unwrap(), Side::Left, Duration::ZERO);
        seen.board.plug_clock(Duration::ZERO, Some(clock));
        seen
    }

    fn tell(&mut self, at: u64, command: &Command) {
        let mut bytes = Vec::new();
        command.encode(&mut bytes);
        self.board.handle_bytes(ms(at), &bytes);
    }

    fn act(&mut self, at: u64, action: &Action) {
        self.board.perform(ms(at), action);
    }

    /// Everything said up to this time; every byte of it must make sense.
    fn until(&mut self, at: u64) -> Vec<(u64, Message)> {
        let mut said = Vec::new();
        loop {
            let next = self.board.poll_timeout().filter(|&next| next <= ms(at));
            self.board.handle_timeout(next.unwrap_or(ms(at)));
            while let Some(bytes) = self.board.poll_transmit() {
                self.deframer.push(&bytes);
                for message in &mut self.deframer {
                    let time = next.unwrap_or(ms(at)).as_millis() as u64;
                    said.push((time, message.expect("a message without fault")));
                }
            }
            if next.is_none() {
                return said;
            }
        }
    }

    fn messages(&mut self, at: u64) -> Vec<Message> {
        self.until(at).into_iter().map(|(_, message)| message).collect()
    }
}

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

fn times(message: &Message) -> dgt_protocol::ClockTimes {
    match message {
        Message::Clock(ClockMessage::Times(times)) => *times,
        other => panic!("not a reading: {other:?}"),
    }
}

fn update(sq: Square, code: PieceCode) -> Message {
    Message::FieldUpdate { field: Connector::LeftOfWhite.field(sq), code }
}

const E4: Action = Action::Place(Square::E4, Piece { color: Color::White, role: Role::Pawn });

#[test]
fn fields_are_numbered_from_the_connector() {
    assert_eq!(Connector::LeftOfWhite.field(Square::A8).index(), 0);
    assert_eq!(Connector::LeftOfWhite.field(Square::E2).index(), 52);
    assert_eq!(Connector::RightOfWhite.field(Square::H1).index(), 0);
    assert_eq!(Connector::LeftOfWhite.clock_side(Color::White), Side::Left);
    assert_eq!(Connector::RightOfWhite.clock_side(Color::White), Side::Right);
}

#[test]
fn an_idle_board_keeps_silent_but_answers() {
    let mut seen = Seen::ordinary();
    seen.act(10, &E4);
    assert_eq!(seen.until(1000), []);
    seen.tell(1000, &Command::ReadBoard);
    let said = seen.until(2000);
    let [(at, Message::Dump(dump))] = said.as_slice() else { panic!("{said:?}") };
    assert!((1100..1110).contains(at), "{at}");
    assert_eq!(dump.code(Connector::LeftOfWhite.field(Square::E4)), PieceCode::WhitePawn);
}

#[test]
fn every_question_about_the_board_is_answered() {
    let mut settings = BoardSettings::new(1025);
    settings.long_serial = LongSerialNumber::new("3000001025");
    let battery = Battery {
        percent: 84,
        time_left: None,
        on_time: None,
        standby_days: 0,
        standby: None,
        charging: false,
        discharging: true,
    };
    settings.battery = Some(battery);
    let mut seen = Seen::new(settings);
    for command in [
        Command::ReadSerialNumber,
        Command::ReadLongSerialNumber,
        Command::ReadBusAddress,
        Command::ReadVersion,
        Command::ReadHardwareVersion,
        Command::ReadBattery,
        Command::ReadTrademark,
        Command::ReadClock,
    ] {
        seen.tell(0, &command);
    }
    let said = seen.messages(1000);
    let [serial, long, address, version, hardware, power, trademark, clock] = said.as_slice()
    else {
        panic!("{said:?}")
    };
    assert!(matches!(serial, Message::SerialNumber(serial) if serial.as_str() == "01025"));
    assert!(matches!(long, Message::LongSerialNumber(serial) if serial.as_str() == "3000001025"));
    assert_eq!(*address, Message::BusAddress(1025));
    assert_eq!(*version, Message::Version { major: 1, minor: 8 });
    assert_eq!(*hardware, Message::HardwareVersion { major: 1, minor: 0 });
    assert_eq!(*power, Message::Battery(battery));
    assert!(!times(clock).connected);
    let Message::Trademark(text) = trademark else { panic!("{trademark:?}") };
    assert_eq!(text.lines().next(), Some("boardcast virtual board"));
    assert_ne!(*text, Text::default());
}

#[test]
fn a_board_without_battery_or_long_number_does_not_answer_for_them() {
    let mut seen = Seen::ordinary();
    seen.tell(0, &Command::ReadBattery);
    seen.tell(0, &Command::ReadLongSerialNumber);
    seen.board.handle_bytes(ms(5), &[0x4E, 0x7F, 0xFF, 0x2B, 0x0F, 0x00]);
    assert_eq!(seen.until(2000), []);
}

#[test]
fn modes_decide_what_is_reported() {
    for (command, fields, clocks) in [
        (Command::UpdateNice, 1, 1),
        (Command::Update, 1, 4),
        (Command::UpdateBoard, 1, 0),
        (Command::Reset, 0, 0),
        (Command::ToBusMode, 0, 0),
    ] {
        let mut seen = Seen::with_clock("300");
        seen.tell(0, &Command::UpdateNice);
        seen.tell(50, &command);
        seen.act(500, &E4);
        let said = seen.messages(3900);
        let count = |test: fn(&Message) -> bool| said.iter().filter(|m| test(m)).count();
        assert_eq!(count(|m| matches!(m, Message::FieldUpdate { .. })), fields, "{command:?}");
        assert_eq!(count(|m| matches!(m, Message::Clock(_))), clocks, "{command:?}");
    }
}

#[test]
fn a_running_clock_is_told_once_a_second_and_at_each_press() {
    let mut seen = Seen::with_clock("180+2");
    seen.tell(0, &Command::UpdateNice);
    seen.act(100, &Action::StartClock);
    seen.act(3350, &Action::Press(Color::White));
    let said = seen.messages(5000);
    let left: Vec<u32> = said.iter().map(|m| times(m).left.total_seconds()).collect();
    let right: Vec<u32> = said.iter().map(|m| times(m).right.total_seconds()).collect();
    assert_eq!(left, [180, 180, 179, 178, 177, 179, 179]);
    assert_eq!(right, [180, 180, 180, 180, 180, 180, 179]);
    assert!(said.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn the_clock_sides_follow_connector_and_place_of_the_clock() {
    for (connector, clock_turned, white) in [
        (Connector::LeftOfWhite, false, Side::Left),
        (Connector::RightOfWhite, false, Side::Right),
        (Connector::LeftOfWhite, true, Side::Right),
        (Connector::RightOfWhite, true, Side::Left),
    ] {
        let mut settings = BoardSettings::new(1);
        settings.connector = connector;
        settings.clock_turned = clock_turned;
        let mut board = VirtualBoard::new(settings, Duration::ZERO);
        assert_eq!(board.clock_side(Color::White), white);
        board.perform(ms(1), &Action::SetClock("60".parse::<TimeControl>().unwrap()));
        assert_eq!(board.clock().unwrap().to_move(), white);
    }
}

#[test]
fn a_slow_reading_shows_the_clock_late_and_misses_a_bouncing_lever() {
    let mut seen = Seen::ordinary();
    seen.board.settings.clock_poll = ms(1000);
    seen.board.socket = Socket::new(ms(1000));
    seen.act(0, &Action::SetClock("300".parse::<TimeControl>().unwrap()));
    seen.act(0, &Action::StartClock);
    seen.tell(0, &Command::UpdateNice);
    assert_eq!(seen.messages(2500).len(), 2);
    seen.act(2600, &Action::Press(Color::White));
    seen.act(2700, &Action::Press(Color::Black));
    seen.act(2800, &Action::Press(Color::White));
    let said = seen.until(3500);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].0 >= 3000);
}

#[test]
fn commands_to_the_clock_are_acknowledged() {
    let mut seen = Seen::with_clock("300");
    seen.tell(0, &Command::ToClock(ClockCommand::Version));
    assert_eq!(seen.until(1000), [], "no answer in idle mode");
    seen.tell(1000, &Command::UpdateNice);
    seen.tell(1000, &Command::ToClock(ClockCommand::Version));
    seen.tell(1000, &Command::ToClock(ClockCommand::Beep(3)));
    let answers: Vec<AckMeaning> = seen
        .messages(2000)
        .iter()
        .filter_map(|message| match message {
            Message::Clock(ClockMessage::Ack(ack)) => Some(ack.meaning()),
            _ => None,
        })
        .collect();
    assert_eq!(answers, [AckMeaning::Version { major: 2, minor: 0 }, AckMeaning::Done(0x0B)]);
}

#[test]
fn a_flag_that_falls_is_told() {
    let mut seen = Seen::with_clock("2");
    seen.tell(0, &Command::UpdateNice);
    seen.act(0, &Action::StartClock);
    let said = seen.messages(10_000);
    let last = times(said.last().unwrap());
    assert!(last.left.flag && !last.running);
    assert_eq!(last.left.total_seconds(), 0);
}

#[test]
fn the_memory_is_read_out_whole() {
    let mut seen = Seen::with_clock("300");
    seen.act(100, &E4);
    seen.act(1000, &Action::Press(Color::White));
    seen.tell(2000, &Command::ReadMemory);
    let said = seen.until(20_000);
    let [(at, Message::Memory(bytes))] = said.as_slice() else { panic!("{}", said.len()) };
    assert!((10_200..10_300).contains(at), "{at}");
    assert!(bytes.ends_with(&[0x41, 0x24, 0x70, 0x05, 0x00, 0x6B]));
}

#[test]
fn a_pulled_cable_takes_the_mode_with_it() {
    let mut seen = Seen::ordinary();
    seen.tell(0, &Command::UpdateNice);
    seen.tell(0, &Command::ReadBoard);
    seen.act(40, &Action::Unplug);
    assert_eq!(seen.board.poll_timeout(), None);
    seen.tell(50, &Command::ReadBoard);
    seen.act(100, &E4);
    seen.act(2000, &Action::Replug);
    seen.deframer = Deframer::new();
    seen.act(2100, &Action::Lift(Square::E4));
    assert_eq!(seen.messages(5000), [], "idle after it came back");
    seen.tell(5000, &Command::UpdateNice);
    seen.act(5000, &E4);
    assert!(seen.messages(6000).contains(&update(Square::E4, PieceCode::WhitePawn)));
}

#[test]
fn lost_reports_are_in_the_dump_all_the_same() {
    let mut settings = BoardSettings::new(7);
    settings.lost_per_mille = 1000;
    let mut seen = Seen::new(settings);
    seen.tell(0, &Command::UpdateBoard);
    seen.act(10, &E4);
    assert_eq!(seen.until(1000), []);
    assert_eq!(seen.board.lost_reports(), 1);
    seen.tell(1000, &Command::ReadBoard);
    let said = seen.messages(2000);
    let [Message::Dump(dump)] = said.as_slice() else { panic!("{said:?}") };
    assert_eq!(dump.code(Connector::LeftOfWhite.field(Square::E4)), PieceCode::WhitePawn);
}

proptest! {
    #[test]
    fn reports_and_dumps_end_in_what_stands_there(
        turned: bool,
        acts in prop::collection::vec((0_u8..64, 0_u8..16, 0_u64..400), 0..60),
    ) {
        let mut settings = BoardSettings::new(12);
        if turned {
            settings.connector = Connector::RightOfWhite;
        }
        let mut seen = Seen::new(settings);
        seen.board.set_up(Duration::ZERO, Chess::new().board());
        let mut picture = seen.board.sensors.seen();
        seen.tell(0, &Command::UpdateNice);
        let mut at = 0;
        for (field, code, wait) in acts {
            at += wait;
            let (field, code) = (Field::new(field).unwrap(), PieceCode::from_byte(code).unwrap());
            seen.board.set_field(ms(at), field, code);
        }
        seen.tell(at + 500, &Command::ReadBoard);
        for message in seen.messages(at + 2000) {
            match message {
                Message::FieldUpdate { field, code } => {
                    let old = &mut picture[usize::from(field.index())];
                    prop_assert_ne!(*old, code, "a change that changes nothing");
                    *old = code;
                }
                Message::Dump(dump) => prop_assert_eq!(dump.codes(), &picture),
                other => prop_assert!(matches!(other, Message::Clock(_))),
            }
        }
        for field in Field::all() {
            prop_assert_eq!(picture[usize::from(field.index())], seen.board.code(field));
        }
    }

    #[test]
    fn any_bytes_from_a_host_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut seen = Seen::with_clock("300+3");
        seen.board.handle_bytes(Duration::ZERO, &bytes);
        seen.act(5, &E4);
        prop_assert!(seen.until(60_000).len() <= bytes.len() + 100);
    }
}
