//! Buses as their hosts see them.

use std::collections::BTreeSet;

use dgt_protocol::{
    Address, BoardEvent, BusCommand, BusDeframer, BusEvent, BusLink, BusReply, BusSettings,
    Command, Content, Field, Order, PieceCode, Tag,
};
use proptest::prelude::*;

use super::*;
use crate::sim::board::{BoardSettings, Generation};

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

fn address(number: u32) -> Address {
    Address::new(number as u16).unwrap()
}

fn board(serial: u32, seed: u64) -> VirtualBoard {
    let mut settings = BoardSettings::new(serial);
    settings.seed = seed;
    if serial.is_multiple_of(2) {
        settings.generation = Generation::Newer;
    }
    VirtualBoard::new(settings, Duration::ZERO)
}

fn bus_of(boards: u32, seed: u64) -> VirtualBus {
    VirtualBus::new((0..boards).map(|i| board(1001 + i, seed).into()))
}

fn tell(bus: &mut VirtualBus, at: u64, command: BusCommand) {
    let mut bytes = Vec::new();
    command.encode(&mut bytes);
    bus.handle_bytes(ms(at), &bytes);
}

/// Everything said up to this time.
fn bytes_until(bus: &mut VirtualBus, at: u64) -> Vec<u8> {
    bus.handle_timeout(ms(at));
    std::iter::from_fn(|| bus.poll_transmit()).flatten().collect()
}

fn replies(bytes: &[u8]) -> Vec<BusReply> {
    let mut deframer = BusDeframer::new();
    deframer.push(bytes);
    deframer.filter_map(Result::ok).collect()
}

fn replies_until(bus: &mut VirtualBus, at: u64) -> Vec<BusReply> {
    replies(&bytes_until(bus, at))
}

#[test]
fn every_board_answers_to_its_own_address() {
    let mut bus = bus_of(5, 1);
    for serial in 1001..1006 {
        let at = u64::from(serial) * 100;
        tell(&mut bus, at, BusCommand::to(address(serial), Order::Ping));
        let pong = BusReply { address: address(serial), content: Content::Pong };
        assert_eq!(replies_until(&mut bus, at + 50), [pong]);
    }
    assert_eq!(bus.garbled(), 0);
}

#[test]
fn boards_that_answer_at_once_garble_each_other() {
    let mut bus = bus_of(3, 1);
    tell(&mut bus, 0, BusCommand::to_all(Order::ReadBoard));
    let bytes = bytes_until(&mut bus, 1000);
    assert!((70..=210).contains(&bytes.len()), "{}", bytes.len());
    assert!(replies(&bytes).len() < 3);
    assert!(bus.garbled() > 100);
}

#[test]
fn a_ping_to_all_finds_most_boards_of_a_small_bus() {
    let mut found = BTreeSet::new();
    let mut bus = bus_of(4, 1);
    for round in 0..5 {
        tell(&mut bus, round * 1500, BusCommand::to_all(Order::Ping));
        let pongs = replies_until(&mut bus, (round + 1) * 1500 - 1);
        assert!(!pongs.is_empty());
        found.extend(pongs.into_iter().map(|pong| pong.address.number()));
    }
    assert_eq!(found, BTreeSet::from([1001, 1002, 1003, 1004]));
}

#[test]
fn a_byte_of_single_board_mode_is_heard_by_all() {
    let mut bus = bus_of(2, 1);
    let mut bytes = Vec::new();
    Command::Reset.encode(&mut bytes);
    bus.handle_bytes(ms(0), &bytes);
    for serial in [1001, 1002] {
        for (at, answers) in [(100, 0), (200, 1)] {
            let at = u64::from(serial - 1000) * 1000 + at;
            tell(&mut bus, at, BusCommand::to(address(serial), Order::Ping));
            assert_eq!(replies_until(&mut bus, at + 50).len(), answers, "{serial}");
        }
    }
}

#[test]
fn a_silent_board_remembers_what_happened_on_it() {
    let mut bus = bus_of(2, 1);
    let changes = BusCommand::to(address(1002), Order::ReadChanges);
    tell(&mut bus, 0, changes);
    bytes_until(&mut bus, 1000);
    bus.set_silent(ms(1000), 2, true);
    bus.set_silent(ms(1000), 7, true);
    tell(&mut bus, 1000, changes);
    bus.members[1].performance = {
        let mut board = bus.members[1].performance.board().clone();
        board.set_field(ms(1500), Field::new(52).unwrap(), PieceCode::WhitePawn);
        board.into()
    };
    assert_eq!(bytes_until(&mut bus, 3000), [0; 0]);
    bus.set_silent(ms(3000), 2, false);
    tell(&mut bus, 3000, changes);
    let said = replies_until(&mut bus, 4000);
    let [BusReply { content: Content::Changes { log, .. }, .. }] = said.as_slice() else {
        panic!("{said:?}")
    };
    assert_eq!(*log, [0x41, 0x34, 0x6B]);
}

#[test]
fn a_pulled_cable_loses_what_is_on_it_and_nothing_else() {
    let mut bus = bus_of(1, 1);
    tell(&mut bus, 0, BusCommand::to(address(1001), Order::ReadBoard));
    bus.handle_cable(ms(30), Cable::Pulled);
    assert_eq!(bytes_until(&mut bus, 500).len(), 16, "one run had arrived");
    bus.handle_cable(ms(500), Cable::Back);
    tell(&mut bus, 500, BusCommand::to(address(1001), Order::Ping));
    assert_eq!(replies_until(&mut bus, 600).len(), 1, "still in bus mode");
}

/// A host that finds and polls boards, and what it heard of each.
#[test]
fn a_link_finds_all_boards_and_reads_what_happens_on_them() {
    let count = 10;
    let mut bus = bus_of(count, 5);
    let mut link = BusLink::new(BusSettings::default(), Duration::ZERO);
    let mut seen = BTreeSet::new();
    let mut placed = BTreeSet::new();
    let end = Duration::from_mins(5);
    for (i, member) in bus.members.iter_mut().enumerate() {
        let mut board = member.performance.board().clone();
        board.set_field(ms(0), Field::new(i as u8).unwrap(), PieceCode::WhiteKing);
        member.performance = board.into();
        member.due = member.performance.poll_timeout();
    }
    while seen.len() < count as usize || placed.len() < count as usize {
        let next = [bus.poll_timeout(), link.poll_timeout()].into_iter().flatten().min().unwrap();
        assert!(next < end, "{seen:?} {placed:?}");
        bus.handle_timeout(next);
        while let Some(bytes) = bus.poll_transmit() {
            link.handle_bytes(next, &bytes);
        }
        link.handle_timeout(next);
        while let Some(bytes) = link.poll_transmit() {
            bus.handle_bytes(next, &bytes);
        }
        while let Some(event) = link.poll_event() {
            let BusEvent::Board { address, event } = event else { continue };
            match event {
                BoardEvent::Answering => drop(seen.insert(address.number())),
                BoardEvent::Changes(changes) => {
                    assert_eq!(changes.skipped, 0);
                    let king = |tag: &Tag| {
                        matches!(tag, Tag::FieldChange { code: PieceCode::WhiteKing, .. })
                    };
                    if changes.tags.iter().any(king) {
                        placed.insert(address.number());
                    }
                }
                _ => {}
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn the_same_seed_gives_the_same_bytes_however_often_it_is_looked_at(
        seed: u64,
        orders in prop::collection::vec((0_usize..17, 0_u32..4, 0_u64..300), 1..30),
        looks in prop::collection::vec(1_u64..900, 1..20),
    ) {
        let run = |looks: &[u64]| {
            let mut bus = bus_of(3, seed);
            let mut runs = Vec::new();
            let mut looks = looks.iter().cycle();
            let mut at = 0;
            for &(order, board, wait) in &orders {
                if let Some(look) = looks.next() {
                    bus.handle_timeout(ms(at + look % (wait + 1)));
                    runs.extend(std::iter::from_fn(|| bus.poll_transmit()));
                }
                at += wait;
                let order = Order::ALL[order];
                let command = match board {
                    0 => BusCommand::to_all(order),
                    number => BusCommand::to(address(1000 + number), order),
                };
                tell(&mut bus, at, command);
            }
            bus.handle_timeout(ms(at + 20_000));
            runs.extend(std::iter::from_fn(|| bus.poll_transmit()));
            runs
        };
        prop_assert_eq!(run(&looks), run(&[]));
    }

    #[test]
    fn any_bytes_from_a_host_are_survived(pieces in prop::collection::vec(any::<Vec<u8>>(), 0..20)) {
        let mut bus = bus_of(3, 7);
        for (piece, at) in pieces.iter().zip((0..).step_by(77)) {
            bus.handle_bytes(ms(at), piece);
        }
        // Some boards may tell the time for ever now; the line carries 960 bytes a second.
        let answered = bytes_until(&mut bus, 60_000).len();
        prop_assert!(answered <= 60 * 960, "{answered} bytes in a minute");
    }
}
