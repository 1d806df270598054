//! A board that is alone on a bus.

use dgt_protocol::{BusDeframer, ClockMessage, Deframer, Fault, Field, Log, PieceCode, Side};
use proptest::prelude::*;
use shakmaty::{Board, Chess, Position, Square};

use super::*;
use crate::sim::{clock::VirtualClock, hand::script::Action};

struct Bus {
    board: VirtualBoard,
    deframer: BusDeframer,
}

impl Bus {
    fn new(settings: BoardSettings) -> Self {
        Self { board: VirtualBoard::new(settings, Duration::ZERO), deframer: BusDeframer::new() }
    }

    fn of(generation: Generation) -> Self {
        let mut settings = BoardSettings::new(1025);
        settings.generation = generation;
        Self::new(settings)
    }

    fn tell(&mut self, at: u64, order: Order) {
        self.command(at, BusCommand::to(ADDRESS, order));
    }

    fn command(&mut self, at: u64, command: BusCommand) {
        let mut bytes = Vec::new();
        command.encode(&mut bytes);
        self.board.handle_bytes(ms(at), &bytes);
    }

    fn bytes_until(&mut self, at: u64) -> Vec<(u64, Vec<u8>)> {
        let mut said = Vec::new();
        loop {
            let next = self.board.poll_timeout().filter(|&next| next <= ms(at));
            let now = next.unwrap_or(ms(at));
            self.board.handle_timeout(now);
            while let Some(bytes) = self.board.poll_transmit() {
                said.push((now.as_millis() as u64, bytes));
            }
            if next.is_none() {
                return said;
            }
        }
    }

    /// The answers up to this time, each with the time of its last byte.
    fn until(&mut self, at: u64) -> Vec<(u64, Content)> {
        let mut said = Vec::new();
        for (time, bytes) in self.bytes_until(at) {
            self.deframer.push(&bytes);
            for reply in &mut self.deframer {
                let reply = reply.expect("an answer without fault");
                assert_eq!(reply.address, ADDRESS);
                said.push((time, reply.content));
            }
        }
        said
    }

    /// The one answer to this order.
    fn ask(&mut self, at: u64, order: Order) -> Content {
        self.tell(at, order);
        let mut said = self.until(at + 500);
        assert_eq!(said.len(), 1, "{order:?}: {said:?}");
        said.remove(0).1
    }

    fn changes(&mut self, at: u64) -> Vec<u8> {
        match self.ask(at, Order::ReadChanges) {
            Content::Changes { log, .. } => log,
            other => panic!("not changes: {other:?}"),
        }
    }
}

const ADDRESS: Address = Address::new(1025).unwrap();

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

fn set(bus: &mut Bus, at: u64, field: u8, code: PieceCode) {
    bus.board.set_field(ms(at), Field::new(field).unwrap(), code);
}

#[test]
fn every_order_of_a_bus_is_answered() {
    let mut bus = Bus::of(Generation::Usual);
    bus.board.plug_clock(
        Duration::ZERO,
        Some(VirtualClock::new("300+2".parse().unwrap(), Side::Left, Duration::ZERO)),
    );
    let answer = bus.ask(1000, Order::ReadClock);
    let Content::Clock(ClockMessage::Times(times)) = answer else { panic!("{answer:?}") };
    assert_eq!(times.left.total_seconds(), 300);
    assert_eq!(bus.ask(2000, Order::ReadBoard), Content::Dump(Dump::new([PieceCode::Empty; 64])));
    assert_eq!(bus.changes(3000), [0x7F, 0x7F, 0x7F, 0x6A, 0x6D]);
    assert_eq!(bus.ask(4000, Order::StartGame), Content::GameStarted);
    assert_eq!(bus.changes(5000), [0x7B]);
    assert_eq!(bus.ask(6000, Order::ReadFromStart), Content::FromStart(vec![0x7B]));
    assert_eq!(bus.ask(7000, Order::Ping), Content::Pong);
    assert_eq!(bus.ask(8000, Order::ReadVersion), Content::Version(Some((1, 8))));
    assert!(bus.board.settings().bus_answer(Order::ReadTrademark).is_none());
    assert_eq!(Bus::of(Generation::First).ask(0, Order::ReadVersion), Content::Version(None));
}

#[test]
fn answers_come_within_the_time_of_the_line_and_a_little() {
    let mut bus = Bus::of(Generation::Usual);
    for (at, order, least, most) in [
        (1000, Order::Ping, 7, 11),
        (2000, Order::ReadBoard, 73, 78),
        (3000, Order::StartGame, 76, 77),
    ] {
        bus.tell(at, order);
        let said = bus.until(at + 500);
        assert!((at + least..=at + most).contains(&said[0].0), "{order:?}: {said:?}");
    }
}

#[test]
fn changes_are_given_once_and_repeated_on_demand() {
    let mut bus = Bus::of(Generation::Usual);
    bus.changes(0);
    set(&mut bus, 1000, 52, PieceCode::WhitePawn);
    bus.until(2000);
    let first = bus.changes(2000);
    assert_eq!(first, [0x41, 0x34]);
    for at in [3000, 4000] {
        let again = bus.ask(at, Order::RepeatChanges);
        assert_eq!(again, Content::Changes { form: ChangesForm::Odd, log: first.clone() });
    }
    assert_eq!(bus.changes(5000), [0; 0]);
}

#[test]
fn newer_boards_alternate_their_ids_and_tell_who_they_are() {
    let mut bus = Bus::of(Generation::Newer);
    bus.changes(0);
    let odd = |log| Content::Changes { form: ChangesForm::Odd, log };
    let even = |log| Content::Changes { form: ChangesForm::Even, log };
    set(&mut bus, 500, 52, PieceCode::WhitePawn);
    bus.until(1000);
    assert_eq!(bus.ask(1000, Order::ReadChanges), even(vec![0x41, 0x34, 0x6B]));
    assert_eq!(bus.ask(2000, Order::RepeatChanges), even(vec![0x41, 0x34, 0x6B]));
    assert_eq!(bus.ask(3000, Order::ReadChanges), odd(vec![]));
    for (at, order, id, data) in [
        (4000, Order::ReadSerialNumber, 0xB0, b"01025".as_slice()),
        (5000, Order::ReadHardwareVersion, 0x8C, &[1, 0]),
        (6000, Order::ReadButton, 0xB1, &[]),
    ] {
        assert_eq!(bus.ask(at, order), Content::Other { id, data: data.to_vec() });
    }
}

#[test]
fn all_three_readings_come_one_after_the_other() {
    let mut bus = Bus::of(Generation::Usual);
    bus.tell(0, Order::ReadAll);
    let said: Vec<_> = bus.until(1000).into_iter().map(|(_, content)| content.id()).collect();
    assert_eq!(said, [0x85, 0x84, 0x83]);
}

#[test]
fn a_ping_to_all_is_answered_at_a_random_time_unless_it_is_to_be_ignored() {
    let mut times = Vec::new();
    for serial in 1..40 {
        let mut bus = Bus::new(BoardSettings::new(1025));
        bus.board.bus.random = Random::new(serial);
        bus.command(0, BusCommand::to_all(Order::Ping));
        let said = bus.until(2000);
        assert!(matches!(said.as_slice(), [(7..=1107, Content::Pong)]), "{said:?}");
        times.push(said[0].0);
    }
    assert!(times.iter().any(|&time| time < 200) && times.iter().any(|&time| time > 900));
    let mut bus = Bus::of(Generation::Usual);
    assert_eq!(bus.ask(0, Order::IgnoreNextPing), Content::Pong);
    bus.command(1000, BusCommand::to_all(Order::Ping));
    assert_eq!(bus.until(3000), []);
    assert_eq!(bus.ask(3000, Order::Ping), Content::Pong);
    bus.command(4000, BusCommand::to_all(Order::Ping));
    assert_eq!(bus.until(6000).len(), 1, "only one ping is ignored");
}

#[test]
fn commands_for_others_and_broken_ones_are_nothing() {
    let mut bus = Bus::of(Generation::Usual);
    bus.command(0, BusCommand::to(Address::new(1026).unwrap(), Order::Ping));
    bus.board.handle_bytes(ms(10), &[0x87, 0x08, 0x01, 0x11]);
    assert_eq!(bus.until(1000), []);
    let mut nobody = Bus::new(BoardSettings::new(30_000));
    nobody.command(0, BusCommand::to_all(Order::Ping));
    assert_eq!(nobody.until(2000), [], "a number too large for an address");
}

#[test]
fn one_command_waits_while_the_board_speaks() {
    let mut bus = Bus::of(Generation::Usual);
    bus.tell(0, Order::ReadBoard);
    bus.tell(20, Order::Ping);
    bus.tell(30, Order::ReadVersion);
    let said: Vec<_> = bus.until(1000).into_iter().map(|(_, content)| content.id()).collect();
    assert_eq!(said, [0x83, 0x87]);
}

#[test]
fn a_byte_of_single_board_mode_ends_bus_mode() {
    let mut bus = Bus::of(Generation::Usual);
    bus.board.handle_bytes(ms(0), &[0x4B, 0x46]);
    let mut deframer = Deframer::new();
    for (_, bytes) in bus.bytes_until(1000) {
        deframer.push(&bytes);
    }
    assert_eq!(deframer.flatten().count(), 2, "a reading and the address");
    bus.tell(1000, Order::Ping);
    assert_eq!(bus.until(2000), [], "the first command only leads back");
    assert_eq!(bus.ask(2000, Order::Ping), Content::Pong);
    set(&mut bus, 3000, 1, PieceCode::WhitePawn);
    assert_eq!(bus.until(4000), [], "nothing unasked");
    bus.tell(4000, Order::EndBusMode);
    bus.board.handle_bytes(ms(4100), &[0x4A]);
    assert_eq!(bus.ask(4200, Order::Ping), Content::Pong, "back at once");
}

#[test]
fn a_restart_takes_seconds_and_is_in_the_log() {
    let mut bus = Bus::of(Generation::Usual);
    set(&mut bus, 100, 60, PieceCode::WhiteKing);
    bus.tell(1000, Order::Reset);
    for at in [1500, 2900] {
        bus.tell(at, Order::Ping);
        assert_eq!(bus.until(at), []);
    }
    set(&mut bus, 2950, 4, PieceCode::BlackKing);
    bus.until(4500);
    assert_eq!(bus.changes(4500), [0x7F, 0x7F, 0x7F, 0x6A, 0x4B, 0x04, 0x45, 0x3C]);
}

#[test]
fn the_log_of_a_game_has_moves_and_times() {
    let mut bus = Bus::of(Generation::Usual);
    bus.board.set_up(Duration::ZERO, Chess::new().board());
    bus.board.perform(Duration::ZERO, &Action::SetClock("300".parse().unwrap()));
    assert!(bus.changes(0).ends_with(&[0x43, 0x3E, 0x42, 0x3F, 0x6F]));
    bus.ask(1000, Order::StartGame);
    assert_eq!(bus.changes(2000).len(), 1 + 64);
    bus.board.perform(ms(3000), &Action::StartClock);
    bus.board.perform(ms(4000), &Action::Lift(Square::E2));
    let pawn = Chess::new().board().piece_at(Square::E2).unwrap();
    bus.board.perform(ms(4500), &Action::Place(Square::E4, pawn));
    bus.board.perform(ms(5100), &Action::Press(shakmaty::Color::White));
    bus.until(6000);
    assert_eq!(bus.changes(6000), [0x40, 0x34, 0x41, 0x24, 0x70, 0x04, 0x58]);
    let Content::FromStart(log) = bus.ask(7000, Order::ReadFromStart) else { panic!("no log") };
    assert_eq!((log[0], log.len()), (0x7B, 1 + 64 + 7));
}

proptest! {
    #[test]
    fn every_answer_has_a_right_sum(
        generation in prop::sample::select(
            vec![Generation::First, Generation::Usual, Generation::Newer],
        ),
        acts in prop::collection::vec((0_u8..64, 0_u8..16, 0_usize..17, any::<bool>()), 0..60),
    ) {
        let mut bus = Bus::of(generation);
        let (mut at, mut bytes) = (0, Vec::new());
        for (field, code, order, all) in acts {
            at += 150;
            set(&mut bus, at, field, PieceCode::from_byte(code).unwrap());
            let order = Order::ALL[order];
            bus.command(at, if all { BusCommand::to_all(order) } else { BusCommand::to(ADDRESS, order) });
            bytes.extend(bus.bytes_until(at).into_iter().flat_map(|(_, bytes)| bytes));
        }
        bytes.extend(bus.bytes_until(at + 10_000).into_iter().flat_map(|(_, bytes)| bytes));
        bus.deframer.push(&bytes);
        let faults: Vec<Fault> = bus.deframer.filter_map(Result::err).collect();
        prop_assert_eq!(faults, []);
    }

    #[test]
    fn changes_packets_rebuild_the_placement(
        acts in prop::collection::vec((0_u8..64, 0_u8..13, 0_u64..700, any::<bool>()), 1..80),
    ) {
        let mut bus = Bus::of(Generation::Newer);
        bus.board.set_up(Duration::ZERO, &Board::new());
        let mut picture = [PieceCode::Empty; 64];
        let mut at = 0;
        let mut read = |bus: &mut Bus, at| {
            for tag in Log::new(&bus.changes(at)) {
                if let Tag::FieldChange { field, code, .. } = tag {
                    picture[usize::from(field.index())] = code;
                }
            }
            picture
        };
        for (field, code, wait, fetch) in acts {
            at += wait;
            set(&mut bus, at, field, PieceCode::from_byte(code).unwrap());
            if fetch {
                read(&mut bus, at);
                at += 500;
            }
        }
        bus.until(at + 1000);
        let picture = read(&mut bus, at + 1000);
        for field in Field::all() {
            prop_assert_eq!(picture[usize::from(field.index())], bus.board.code(field));
        }
    }
}
