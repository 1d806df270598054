//! Captures read back as a host would read them.

use std::collections::BTreeMap;

use dgt_protocol::{
    BusDeframer, ClockMessage, Content, Deframer, Lever, Log, Message, PieceCode, Tag,
};
use proptest::prelude::*;
use shakmaty::{Board, Chess, Position, Square};

use super::*;
use crate::sim::{
    board::{Connector, code_of},
    hand::preset::Name,
};

fn game(seed: u64, plies: usize) -> Score {
    let mut random = Random::new(seed);
    let mut pos = Chess::new();
    let mut moves = Vec::new();
    for _ in 0..plies {
        let legal = pos.legal_moves();
        let Some(&m) = random.pick(&legal) else { break };
        pos.play_unchecked(m);
        moves.push(m);
    }
    Score::from_moves(Chess::new(), moves)
}

fn codes(men: &Board, connector: Connector) -> [PieceCode; 64] {
    let mut codes = [PieceCode::Empty; 64];
    for sq in Square::ALL {
        if let Some(piece) = men.piece_at(sq) {
            codes[usize::from(connector.field(sq).index())] = code_of(piece);
        }
    }
    codes
}

/// What a host knows of the board, brought up to date message by message.
struct Host<'a> {
    lines: std::slice::Iter<'a, CaptureLine>,
    deframer: Deframer,
    picture: Option<[PieceCode; 64]>,
    /// Every lever change with its time, by the side that was pressed.
    levers: Vec<(u64, Lever)>,
    differing_dumps: usize,
}

impl<'a> Host<'a> {
    fn new(simulation: &'a Simulation) -> Self {
        Self {
            lines: simulation.lines.iter(),
            deframer: Deframer::new(),
            picture: None,
            levers: Vec::new(),
            differing_dumps: 0,
        }
    }

    fn until(&mut self, time: Duration) -> Option<[PieceCode; 64]> {
        let time = time.as_millis() as u64;
        while let Some(line) = self.lines.as_slice().first().filter(|line| line.t_ms <= time) {
            self.lines.next();
            match &line.entry {
                CaptureEntry::Received(bytes) => {
                    self.deframer.push(bytes);
                    while let Some(message) = self.deframer.next() {
                        self.take(line.t_ms, message.expect("a message without fault"));
                    }
                }
                CaptureEntry::LineDown => self.picture = None,
                CaptureEntry::LineUp => self.deframer = Deframer::new(),
                CaptureEntry::Sent(_) | CaptureEntry::Mark(_) => {}
            }
        }
        self.picture
    }

    fn take(&mut self, at: u64, message: Message) {
        match message {
            Message::Dump(dump) => {
                let known = self.picture.replace(*dump.codes());
                self.differing_dumps += usize::from(known.is_some_and(|old| old != *dump.codes()));
            }
            Message::FieldUpdate { field, code } => {
                if let Some(picture) = &mut self.picture {
                    picture[usize::from(field.index())] = code;
                }
            }
            Message::Clock(ClockMessage::Times(times)) => {
                if self.levers.last().is_none_or(|&(_, lever)| lever != times.lever) {
                    self.levers.push((at, times.lever));
                }
            }
            other => panic!("nobody asked for {other:?}"),
        }
    }
}

/// A change is told within a scan, a line that is busy with a dump, and the 16 ms of a run.
const TOLD: Duration = Duration::from_millis(400);

#[test]
fn clean_and_orders_show_every_position_before_the_next_touch() {
    for connector in [Connector::LeftOfWhite, Connector::RightOfWhite] {
        for name in [Name::Clean, Name::Orders] {
            let scores = [game(1, 120), game(2, 80)];
            let mut settings = BoardSettings::new(99);
            settings.connector = connector;
            let simulation =
                simulate_on(settings, &FaultSpec::default(), &scores, &Preset::new(name), 5);
            let mut host = Host::new(&simulation);
            for (score, truth) in scores.iter().zip(&simulation.games) {
                let mut pos = score.start().clone();
                host.until(truth.started.unwrap());
                let before = host.levers.len();
                for ply in &truth.plies {
                    pos.play_unchecked(ply.m);
                    let told = ply.pressed.unwrap().max(ply.complete + TOLD);
                    assert_eq!(host.until(told), Some(codes(pos.board(), connector)), "{ply:?}");
                }
                host.until(truth.over);
                assert_eq!(host.levers.len() - before, truth.plies.len(), "a lever for each press");
            }
        }
    }
}

#[test]
fn the_host_greets_and_asks() {
    let simulation = simulate(&[game(1, 4)], &Preset::new(Name::Clean), 1);
    let said: Vec<(u64, &[u8])> = simulation
        .lines
        .iter()
        .filter_map(|line| match &line.entry {
            CaptureEntry::Sent(bytes) => Some((line.t_ms, bytes.as_slice())),
            _ => None,
        })
        .collect();
    assert_eq!(said, [(0, &[0x4B][..]), (100, &[0x42][..])]);
}

#[test]
fn a_lossy_line_loses_and_dumps_repair() {
    let scores = [game(1, 200)];
    let mut preset = Preset::new(Name::Lossy);
    preset.wire.lost_per_mille = 50;
    let simulation = simulate(&scores, &preset, 2);
    let down = |entry: &CaptureEntry| *entry == CaptureEntry::LineDown;
    assert!(simulation.lines.iter().filter(|line| down(&line.entry)).count() >= 3);
    let mut host = Host::new(&simulation);
    let mut pos = scores[0].start().clone();
    let mut checked = 0;
    for pair in simulation.games[0].plies.windows(2) {
        pos.play_unchecked(pair[0].m);
        // Long enough for an outage, the greeting after it, and a dump.
        if pair[1].touched > pair[0].complete + Duration::from_secs(16) {
            let shown = host.until(pair[1].touched).expect("a board that is known");
            assert_eq!(shown, codes(pos.board(), Connector::LeftOfWhite));
            checked += 1;
        }
    }
    assert!(checked > 20);
    assert!(host.differing_dumps > 0);
}

#[test]
fn nothing_passes_while_the_line_is_down() {
    let simulation = simulate(&[game(3, 300)], &Preset::new(Name::Hell), 2);
    let mut up = true;
    let mut outages = 0;
    for line in &simulation.lines {
        match line.entry {
            CaptureEntry::LineDown => {
                assert!(up);
                up = false;
                outages += 1;
            }
            CaptureEntry::LineUp => {
                assert!(!up);
                up = true;
            }
            CaptureEntry::Received(_) | CaptureEntry::Sent(_) => assert!(up, "{line:?}"),
            CaptureEntry::Mark(_) => {}
        }
    }
    assert!(outages > 0);
}

#[test]
fn without_games_nothing_happens() {
    let simulation = simulate(&[], &Preset::new(Name::Clean), 1);
    assert!(simulation.lines.is_empty() && simulation.games.is_empty());
}

/// What the log of each board of a bus tells, change by change.
fn logs(simulation: &BusSimulation) -> BTreeMap<Address, Vec<Tag>> {
    let mut deframer = BusDeframer::new();
    let mut logs: BTreeMap<_, Vec<Tag>> = BTreeMap::new();
    for line in &simulation.lines {
        if let CaptureEntry::Received(bytes) = &line.entry {
            deframer.push(bytes);
        }
        for reply in deframer.by_ref().flatten() {
            if let Content::Changes { log, .. } = reply.content {
                logs.entry(reply.address).or_default().extend(Log::new(&log));
            }
        }
    }
    logs
}

/// Whether the changes of a log led to this placement at some time.
fn shows(log: &[Tag], wanted: [PieceCode; 64]) -> bool {
    let mut picture = [PieceCode::Empty; 64];
    log.iter().any(|tag| {
        if let Tag::FieldChange { field, code, .. } = tag {
            picture[usize::from(field.index())] = *code;
        }
        picture == wanted
    })
}

#[test]
fn the_logs_of_a_bus_tell_all_its_games() {
    let games: Vec<Vec<Score>> = (0..8).map(|i| vec![game(i, 60 + i as usize)]).collect();
    let mut preset = Preset::new(Name::Orders);
    preset.rates = preset.rates.with(hand::habit::Habit::Signalled, 0);
    let simulation = simulate_bus(&games, &FaultSpec::default(), &preset, 3);
    let logs = logs(&simulation);
    assert_eq!(logs.len(), 8);
    for (board, scores) in simulation.boards.iter().zip(&games) {
        assert_eq!(board.games[0].plies.len(), scores[0].plies().len());
        let log = &logs[&board.address];
        assert_eq!(log.iter().filter(|&&tag| tag == Tag::StartGame).count(), 1);
        let presses = log.iter().filter(|tag| matches!(tag, Tag::Halted { .. })).count();
        assert!(presses >= scores[0].plies().len(), "{presses}");
    }
}

#[test]
fn a_bus_with_faults_is_recorded_as_a_host_sees_it() {
    let faults = "loss=1e-3,pull=60s+4s,silence=2@90s".parse().unwrap();
    let games = [vec![game(1, 20)], vec![game(2, 20)]];
    let simulation = simulate_bus(&games, &faults, &Preset::new(Name::Blitz), 3);
    let at = |wanted: CaptureEntry| {
        simulation.lines.iter().find(|line| line.entry == wanted).map(|line| line.t_ms)
    };
    assert_eq!(at(CaptureEntry::LineDown), Some(60_000));
    assert_eq!(at(CaptureEntry::LineUp), Some(64_000));
    let quiet = simulation.lines.iter().filter(|line| (60_001..64_000).contains(&line.t_ms));
    assert!(quiet.into_iter().all(|line| matches!(line.entry, CaptureEntry::Mark(_))));
}

#[test]
fn a_bus_without_games_is_silent() {
    let simulation = simulate_bus(&[], &FaultSpec::default(), &Preset::new(Name::Clean), 1);
    assert!(simulation.lines.is_empty() && simulation.boards.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn the_changes_of_a_bus_lead_to_the_end_of_every_game(seed: u64, plies in 1_usize..40) {
        let games: Vec<Vec<Score>> = (0..4).map(|i| vec![game(seed ^ i, plies)]).collect();
        let mut preset = Preset::new(Name::Blitz);
        preset.rates = preset.rates.with(hand::habit::Habit::Signalled, 0);
        let simulation = simulate_bus(&games, &FaultSpec::default(), &preset, seed);
        let again = simulate_bus(&games, &FaultSpec::default(), &preset, seed);
        prop_assert_eq!(&simulation.lines, &again.lines);
        prop_assert!(simulation.lines.is_sorted_by_key(|line| line.t_ms));
        let logs = logs(&simulation);
        for (board, scores) in simulation.boards.iter().zip(&games) {
            let end = codes(scores[0].end().board(), Connector::LeftOfWhite);
            prop_assert!(shows(&logs[&board.address], end));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn the_same_seed_gives_the_same_bytes_and_all_of_them_make_sense(
        name in prop::sample::select(Name::ALL.to_vec()),
        seed: u64,
        plies in 0_usize..60,
    ) {
        let scores = [game(seed, plies), game(seed / 2, plies / 2)];
        let preset = Preset::new(name);
        let simulation = simulate(&scores, &preset, seed);
        prop_assert_eq!(&simulation.lines, &simulate(&scores, &preset, seed).lines);
        prop_assert!(simulation.lines.is_sorted_by_key(|line| line.t_ms));
        let mut host = Host::new(&simulation);
        host.until(Duration::MAX / 2);
        prop_assert_eq!(host.deframer.counts().skipped_bytes, 0);
    }

    #[test]
    fn every_game_is_told_to_its_end(
        name in prop::sample::select(vec![
            Name::Clean, Name::Orders, Name::Classical, Name::Blitz, Name::Scramble,
            Name::Noclock, Name::Casual,
        ]),
        seed: u64,
        plies in 1_usize..60,
    ) {
        let score = game(seed, plies);
        let mut preset = Preset::new(name);
        preset.rates = preset.rates.with(hand::habit::Habit::Signalled, 0);
        let simulation = simulate(std::slice::from_ref(&score), &preset, seed);
        let last = simulation.games[0].plies.last().unwrap();
        let shown = Host::new(&simulation).until(last.complete + TOLD);
        prop_assert_eq!(shown, Some(codes(score.end().board(), Connector::LeftOfWhite)));
    }
}
