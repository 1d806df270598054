//! Bad cables as the hosts at their end see them.

use dgt_protocol::{Address, BusCommand, Command, Deframer, Message, Order};
use proptest::prelude::*;
use shakmaty::{Chess, Position};

use super::*;
use crate::sim::{
    board::{BoardSettings, VirtualBoard},
    bus::VirtualBus,
    hand::script::Script,
    performance::Performance,
};

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

fn board(serial: u32) -> Performance {
    let board = VirtualBoard::new(BoardSettings::new(serial), Duration::ZERO);
    Performance::new(board, Chess::new().board(), &Script::default())
}

fn single(spec: &str, seed: u64) -> Faulty<Performance> {
    Faulty::new(board(1001), &spec.parse().unwrap(), seed)
}

fn bus(spec: &str, seed: u64) -> Faulty<VirtualBus> {
    Faulty::new(VirtualBus::new((1001..1004).map(board)), &spec.parse().unwrap(), seed)
}

fn tell<D: Device>(device: &mut D, at: u64, command: &Command) {
    let mut bytes = Vec::new();
    command.encode(&mut bytes);
    device.handle_bytes(ms(at), &bytes);
}

fn ask<D: Device>(device: &mut D, at: u64, board: u16, order: Order) -> Vec<u8> {
    let mut bytes = Vec::new();
    BusCommand::to(Address::new(1000 + board).unwrap(), order).encode(&mut bytes);
    device.handle_bytes(ms(at), &bytes);
    bytes_until(device, at + 400)
}

fn bytes_until<D: Device>(device: &mut D, at: u64) -> Vec<u8> {
    device.handle_timeout(ms(at));
    std::iter::from_fn(|| device.poll_transmit()).flatten().collect()
}

fn cables<D: Device>(device: &mut D) -> Vec<Cable> {
    std::iter::from_fn(|| device.poll_cable()).collect()
}

#[test]
fn a_good_cable_changes_nothing() {
    let (mut plain, mut behind) = (board(1001), single("", 1));
    for at in (0..5000).step_by(500) {
        tell(&mut plain, at, &Command::ReadBoard);
        tell(&mut behind, at, &Command::ReadBoard);
        assert_eq!(bytes_until(&mut plain, at + 400), bytes_until(&mut behind, at + 400));
    }
    assert_eq!(behind.harm(), Harm::default());
}

#[test]
fn bytes_are_lost_and_spoilt_at_the_given_rates() {
    let mut device = single("loss=0.01,flip=0.02", 3);
    let mut arrived = 0;
    for at in (0..1000).map(|round| round * 500) {
        // The host's byte may be lost too, so the board is asked past the cable.
        let mut bytes = Vec::new();
        Command::ReadBoard.encode(&mut bytes);
        device.device.handle_bytes(ms(at), &bytes);
        arrived += bytes_until(&mut device, at + 400).len() as u64;
    }
    let harm = device.harm();
    assert_eq!(arrived + harm.lost, 67_000);
    assert!((500..850).contains(&harm.lost), "{harm:?}");
    assert!((1100..1600).contains(&harm.flipped), "{harm:?}");
}

#[test]
fn what_the_host_says_suffers_too() {
    let mut device = single("loss=1", 1);
    tell(&mut device, 0, &Command::ReadBoard);
    assert_eq!(bytes_until(&mut device, 1000), [0; 0]);
    assert_eq!(device.harm().lost, 1);
}

#[test]
fn noise_comes_in_its_time_and_the_board_is_heard_after_it() {
    let mut device = single("noise=100k@1s", 1);
    assert_eq!(bytes_until(&mut device, 999), [0; 0]);
    let noise = bytes_until(&mut device, 4000);
    assert_eq!(noise.len(), 100 << 10);
    assert_eq!(device.harm().noise, 100 << 10);
    tell(&mut device, 5000, &Command::ReadBoard);
    let mut deframer = Deframer::new();
    deframer.push(&bytes_until(&mut device, 6000));
    assert!(deframer.flatten().any(|message| matches!(message, Message::Dump(_))));
}

#[test]
fn a_pulled_cable_is_noticed_and_comes_back() {
    let mut device = single("pull=60s+4s", 1);
    tell(&mut device, 0, &Command::UpdateNice);
    bytes_until(&mut device, 59_999);
    assert_eq!(cables(&mut device), []);
    assert_eq!(device.poll_timeout(), Some(ms(60_000)));
    bytes_until(&mut device, 60_000);
    assert_eq!(cables(&mut device), [Cable::Pulled]);
    tell(&mut device, 62_000, &Command::ReadBoard);
    assert_eq!(bytes_until(&mut device, 64_000), [0; 0]);
    assert_eq!(cables(&mut device), [Cable::Back]);
    tell(&mut device, 65_000, &Command::ReadBoard);
    assert_eq!(bytes_until(&mut device, 66_000).len(), 67);
}

#[test]
fn boards_of_a_bus_keep_their_power_when_the_host_goes() {
    let mut device = bus("pull=10s+1s", 1);
    ask(&mut device, 0, 1, Order::ReadChanges);
    bytes_until(&mut device, 11_000);
    assert_eq!(cables(&mut device), [Cable::Pulled, Cable::Back]);
    let answer = ask(&mut device, 12_000, 1, Order::ReadChanges);
    assert_eq!(answer.len(), 6, "nothing happened");
}

#[test]
fn a_board_off_its_power_tells_of_it_and_the_others_do_not() {
    let mut device = bus("pull=2@10s+1s", 1);
    for board in 1..=3 {
        ask(&mut device, u64::from(board) * 1000, board, Order::ReadChanges);
    }
    assert_eq!(ask(&mut device, 10_200, 2, Order::Ping), [0; 0]);
    assert_eq!(ask(&mut device, 12_000, 1, Order::ReadChanges).len(), 6);
    assert!(ask(&mut device, 13_000, 2, Order::ReadChanges).len() > 70);
    assert_eq!(cables(&mut device), [], "the cable of the host is where it was");
}

#[test]
fn a_silent_board_is_silent_for_its_time() {
    let mut device = bus("silence=3@10s+5s,silence=1@10s", 1);
    for (at, answering) in [(8000, [1, 2, 3].as_slice()), (11_000, &[2]), (15_000, &[2, 3])] {
        for board in 1..=3 {
            let answer = ask(&mut device, at + u64::from(board) * 500, board, Order::Ping);
            assert_eq!(!answer.is_empty(), answering.contains(&board), "{board} at {at}");
        }
    }
    let mut one = single("silence=1@1s", 1);
    tell(&mut one, 2000, &Command::ReadBoard);
    assert_eq!(bytes_until(&mut one, 3000), [0; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn the_same_seed_gives_the_same_bytes_however_often_it_is_looked_at(
        seed: u64,
        looks in prop::collection::vec(1_u64..3000, 0..40),
    ) {
        let spec = "loss=0.05,flip=0.05,noise=3000@700ms,pull=4s+2s,pull=2@8s+1s,silence=1@9s+3s";
        let run = |looks: &[u64]| {
            let mut device = bus(spec, seed);
            let mut bytes = Vec::new();
            let mut looks = looks.iter();
            for at in (0..20_000).step_by(400) {
                if let Some(look) = looks.next() {
                    bytes.extend(bytes_until(&mut device, at - at.min(look % 400)));
                }
                let board = 1 + (at / 400 % 3) as u16;
                bytes.extend(ask(&mut device, at, board, Order::ReadBoard));
            }
            (bytes, device.harm())
        };
        let (bytes, harm) = run(&looks);
        prop_assert!(harm.lost > 0 && harm.flipped > 0 && harm.noise > 0);
        prop_assert_eq!((bytes, harm), run(&[]));
    }
}
