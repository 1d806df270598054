//! Links under any sequence of bytes, times and requests.

use std::time::Duration;

use dgt_protocol::{
    Address, BusEvent, BusLink, BusRequest, BusSettings, LinkEvent, Request, SingleLink,
    SingleSettings,
};
use proptest::{collection::vec, prelude::*, sample::select};

use super::strategy::noisy_bytes;

#[derive(Clone, Debug)]
enum Step<R> {
    Bytes(Vec<u8>),
    /// Wait for some milliseconds and serve every deadline on the way.
    Wait(u64),
    Request(R),
    TakeEvents,
    TakeBytes,
    /// A time that lies before the last one.
    GoBack(u64),
}

proptest! {
    #[test]
    fn a_single_board_link_neither_panics_nor_spins(steps in vec(steps(requests()), 0..60)) {
        let mut link = SingleLink::new(SingleSettings::cable(), Duration::ZERO);
        let mut now = Duration::ZERO;
        for step in steps {
            match step {
                Step::Bytes(bytes) => link.handle_bytes(now, &bytes),
                Step::Request(request) => link.request(now, request),
                Step::TakeEvents => while link.poll_event().is_some() {},
                Step::TakeBytes => while link.poll_transmit().is_some() {},
                Step::GoBack(ms) => link.handle_timeout(now.saturating_sub(Duration::from_millis(ms))),
                Step::Wait(ms) => {
                    let end = now + Duration::from_millis(ms);
                    while let Some(deadline) = link.poll_timeout().filter(|&at| at <= end) {
                        now = now.max(deadline);
                        link.handle_timeout(now);
                        prop_assert!(link.poll_timeout().is_none_or(|next| next > now));
                    }
                    now = end;
                }
            }
        }
    }

    #[test]
    fn a_bus_link_neither_panics_nor_spins(steps in vec(steps(bus_requests()), 0..60)) {
        let expected = Address::new(1025).into_iter().collect();
        let settings = BusSettings { expected, ..BusSettings::default() };
        let mut link = BusLink::new(settings, Duration::ZERO);
        let mut now = Duration::ZERO;
        for step in steps {
            match step {
                Step::Bytes(bytes) => link.handle_bytes(now, &bytes),
                Step::Request((address, request)) => link.request(now, address, request),
                Step::TakeEvents => while link.poll_event().is_some() {},
                Step::TakeBytes => while link.poll_transmit().is_some() {},
                Step::GoBack(ms) => link.handle_timeout(now.saturating_sub(Duration::from_millis(ms))),
                Step::Wait(ms) => {
                    let end = now + Duration::from_millis(ms);
                    while let Some(deadline) = link.poll_timeout().filter(|&at| at <= end) {
                        now = now.max(deadline);
                        link.handle_timeout(now);
                        prop_assert!(link.poll_timeout().is_none_or(|next| next > now));
                        // One command is on its way at a time.
                        prop_assert!(link.poll_transmit().is_none() || link.poll_transmit().is_none());
                    }
                    now = end;
                }
            }
        }
    }

    #[test]
    fn any_settings_are_survived(ms in vec(select(vec![0, 1, 50, 1000, u64::MAX]), 12)) {
        let span = |index: usize| match ms[index] {
            u64::MAX => Duration::MAX,
            ms => Duration::from_millis(ms),
        };
        let settings = SingleSettings {
            opening_pause: span(0),
            command_gap: span(1),
            handshake_retry: span(2),
            identify_within: span(3),
            settle: span(4),
            dump_period: span(5),
            answer_timeout: span(6),
            keep_alive: span(7),
            silent_after: span(8),
            slow_retry: span(9),
            battery_period: span(10),
            memory_timeout: span(11),
        };
        let mut link = SingleLink::new(settings, Duration::ZERO);
        link.handle_bytes(Duration::from_secs(1), &[0x93, 0x00, 0x05, 0x01, 0x07]);
        for _ in 0..300 {
            let Some(deadline) = link.poll_timeout() else { break };
            link.handle_timeout(deadline);
            prop_assert!(link.poll_timeout().is_none_or(|next| next > deadline));
            while link.poll_transmit().is_some() {}
        }
        let settings = BusSettings {
            expected: Address::new(9).into_iter().collect(),
            opening_pause: span(0),
            command_gap: span(1),
            reply_timeout: span(2),
            changes_period: span(3),
            live_within: span(4),
            clock_period: span(5),
            dump_period: span(6),
            settle: span(7),
            attempts: ms[8].min(255) as u8,
            slow_retry: span(9),
            discovery_window: span(10),
            discovery_period: span(11),
            deserted_retry: span(0),
        };
        let mut link = BusLink::new(settings, Duration::ZERO);
        link.handle_bytes(Duration::from_secs(1), &[0x87, 0x00, 0x06, 0x00, 0x09, 0x16]);
        for _ in 0..300 {
            let Some(deadline) = link.poll_timeout() else { break };
            link.handle_timeout(deadline);
            prop_assert!(link.poll_timeout().is_none_or(|next| next > deadline));
            while link.poll_transmit().is_some() {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn events_that_nobody_takes_are_bounded(noise in vec(noisy_bytes(), 1..20)) {
        let mut single = SingleLink::new(SingleSettings::cable(), Duration::ZERO);
        let mut bus = BusLink::new(BusSettings::default(), Duration::ZERO);
        let noise = noise.concat();
        if !noise.is_empty() {
            for turn in 0..300_000 / noise.len() as u64 {
                single.handle_bytes(Duration::from_millis(turn), &noise);
                bus.handle_bytes(Duration::from_millis(turn), &noise);
            }
        }
        let events: Vec<_> = std::iter::from_fn(|| single.poll_event()).collect();
        prop_assert!(events.len() <= MOST_EVENTS);
        let overrun = |event: &LinkEvent| matches!(event, LinkEvent::Overrun { .. });
        prop_assert!(events.iter().filter(|event| overrun(event)).count() <= 1);
        let events: Vec<_> = std::iter::from_fn(|| bus.poll_event()).collect();
        prop_assert!(events.len() <= MOST_EVENTS);
        let overrun = |event: &BusEvent| matches!(event, BusEvent::Overrun { .. });
        prop_assert!(events.iter().filter(|event| overrun(event)).count() <= 1);
    }
}

fn steps<R: Clone + std::fmt::Debug>(
    requests: impl Strategy<Value = R>,
) -> impl Strategy<Value = Step<R>> {
    prop_oneof![
        4 => noisy_bytes().prop_map(Step::Bytes),
        4 => (0..20_000u64).prop_map(Step::Wait),
        1 => requests.prop_map(Step::Request),
        1 => Just(Step::TakeEvents),
        2 => Just(Step::TakeBytes),
        1 => (0..5000u64).prop_map(Step::GoBack),
    ]
}

fn requests() -> impl Strategy<Value = Request> {
    select(vec![
        Request::Dump,
        Request::Clock,
        Request::Battery,
        Request::Identity,
        Request::Memory,
    ])
}

fn bus_requests() -> impl Strategy<Value = (Address, BusRequest)> {
    let requests = select(vec![
        BusRequest::Dump,
        BusRequest::Clock,
        BusRequest::Version,
        BusRequest::StartGame,
        BusRequest::FromStart,
    ]);
    (select(vec![1025, 1026]), requests)
        .prop_map(|(number, request)| (Address::new(number).expect("an address"), request))
}

/// 256 KiB of the smallest events.
const MOST_EVENTS: usize = 256 * 1024 / 16;
