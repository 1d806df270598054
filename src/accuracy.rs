//! How often a simulated game is reconstructed exactly: simulate, replay, compare.

pub mod alerts;
pub mod latency;

mod live;
mod witness;

use std::{ops::AddAssign, thread, time::Duration};

use shakmaty::{Move, Position};

use self::{alerts::AlertTally, latency::Latencies, live::LiveHost, witness::Witness};
use crate::{
    game::Event,
    hall::Recorded,
    replay::{self, Replay},
    sim::{
        board::BoardSettings,
        capture::{self, BusSimulation, CaptureEntry, CaptureLine, Simulation},
        faults::FaultSpec,
        hand::{preset::Preset, script::GameTruth},
        random::Random,
        score::Score,
    },
    view::capture::{Header, Line, LinkKind, Record, TableHeader},
};

/// What became of one simulated game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The mainline at the end is the game that was played, ply for ply, and no other game was seen.
    pub exact: bool,
    /// How many plies were played.
    pub plies: usize,
    /// How many plies from the first on agree.
    pub right: usize,
    /// How many plies were published as completed and were not, or not at that place, played.
    pub wrong_completed: usize,
    /// The alerts, judged by what the hands did.
    pub alerts: AlertTally,
    /// From the moment the stream shows a position to the publication of its ply.
    pub latencies: Latencies,
    /// If it is not exact: what happened where the mainline leaves the game.
    pub why: String,
    /// The mainline at the end, for a report.
    pub read: Vec<Move>,
    /// The moves that were played.
    pub played: Vec<Move>,
}

/// Verdicts added up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games played.
    pub games: usize,
    /// Games exactly right at the end.
    pub exact: usize,
    /// Plies played.
    pub plies: usize,
    /// Plies right, counted to the first difference of each game.
    pub right: usize,
    /// Plies ever published as completed that were not played at that place.
    pub wrong_completed: usize,
    /// The alerts, judged by what the hands did.
    pub alerts: AlertTally,
    /// From the moment the stream shows a position to the publication of its ply.
    pub latencies: Latencies,
    /// Time spent on reading, of all threads together.
    pub reading: Duration,
}

impl AddAssign<&Verdict> for Tally {
    fn add_assign(&mut self, verdict: &Verdict) {
        self.games += 1;
        self.exact += usize::from(verdict.exact);
        self.plies += verdict.plies;
        self.right += verdict.right;
        self.wrong_completed += verdict.wrong_completed;
        self.alerts += verdict.alerts;
        self.latencies += &verdict.latencies;
    }
}

/// How games are read back.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// Over the live link, which asks for the board after each quiet time, instead of from a capture,
    /// which cannot be asked.
    pub live: bool,
    /// Tells the time spent, from any origin; only the speed is taken from it.
    pub clock: &'a (dyn Fn() -> Duration + Sync),
}

/// Games that are played one after the other on one board.
#[derive(Clone, Debug)]
pub struct Session {
    /// What is played; all games start from the same kind of array.
    pub scores: Vec<Score>,
    /// How the hands play and the line behaves.
    pub preset: Preset,
}

/// The capture that hands playing `scores` would give, as header and lines. All games must start
/// from the same kind of array.
pub fn capture_of(scores: &[Score], simulation: &Simulation) -> (Header, Vec<Line>) {
    (header_for(scores), simulation.lines.iter().map(line_of).collect())
}

/// The same for a bus on whose boards all of these games were played.
pub fn bus_capture_of(scores: &[Score], simulation: &BusSimulation) -> (Header, Vec<Line>) {
    let header = Header { link: LinkKind::Bus, ..header_for(scores) };
    (header, simulation.lines.iter().map(line_of).collect())
}

/// The header of a capture of these games.
pub fn header_for(scores: &[Score]) -> Header {
    let mut table = TableHeader::default();
    if let Some(first) = scores.first() {
        table.chess960 = first.castling_mode() == shakmaty::CastlingMode::Chess960;
        let classical = *first.start() == shakmaty::Chess::default();
        let same = scores.iter().all(|score| score.start() == first.start());
        if !classical && same {
            let fen =
                shakmaty::fen::Fen::from_position(first.start(), shakmaty::EnPassantMode::Legal);
            table.fen = Some(fen.to_string());
        }
    }
    let table = (table != TableHeader::default()).then_some(table);
    Header { table, ..Header::single() }
}

fn line_of(line: &CaptureLine) -> Line {
    let record = match &line.entry {
        CaptureEntry::Received(bytes) => Record::Rx(bytes.clone()),
        CaptureEntry::Sent(bytes) => Record::Tx(bytes.clone()),
        CaptureEntry::LineDown => Record::Port(false),
        CaptureEntry::LineUp => Record::Port(true),
        CaptureEntry::Mark(text) => Record::Mark(text.clone()),
    };
    Line { t: line.t_ms, record }
}

/// Plays a session, reads it back and compares. Gives a verdict on each game, and how long the reading
/// took.
pub fn judge(session: &Session, seed: u64, reading: Reading<'_>) -> (Vec<Verdict>, Duration) {
    let Session { scores, preset } = session;
    let (truths, events, took) = if reading.live {
        read_live(session, seed, reading.clock)
    } else {
        let simulation = capture::simulate(scores, preset, seed);
        let (header, lines) = capture_of(scores, &simulation);
        let started = (reading.clock)();
        let mut events = Vec::new();
        if let Ok(mut replay) = Replay::new(&header) {
            let mut keep = |recorded: &Recorded| {
                if !matches!(recorded.event, Event::Clock(_)) {
                    events.push(recorded.clone());
                }
            };
            for line in &lines {
                replay.line(line, &mut keep);
            }
            replay.finish(&mut keep);
        }
        (simulation.games, events, (reading.clock)().saturating_sub(started))
    };
    let mut witness = Witness::new(scores, &truths);
    for recorded in &events {
        witness.see(recorded);
    }
    let bad = preset.wire.lost_per_mille > 0 || preset.wire.outage_every.is_some();
    (witness.verdicts(bad), took)
}

fn read_live(
    session: &Session,
    seed: u64,
    clock: &dyn Fn() -> Duration,
) -> (Vec<GameTruth>, Vec<Recorded>, Duration) {
    let Session { scores, preset } = session;
    let table = header_for(scores).table.unwrap_or_default();
    let started = clock();
    let mut host = LiveHost::new(replay::settings(&table).unwrap_or_default());
    let board = BoardSettings::new(capture::SERIAL);
    let faults = FaultSpec::default();
    let simulation = capture::simulate_for(&mut host, board, &faults, scores, preset, seed);
    host.finish(simulation.end + Duration::from_millis(replay::AFTERWARDS_MS));
    (simulation.games, host.events, clock().saturating_sub(started))
}

/// Judges every session, each with its own seed derived from `seed`, on as many threads as there are
/// cores, and hands each verdict with the indices of its session and game to `done`, in their order.
pub fn judge_all(
    sessions: &[Session],
    seed: u64,
    reading: Reading<'_>,
    mut done: impl FnMut(usize, usize, &Verdict),
) -> Tally {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut tally = Tally::default();
    for (chunk, part) in sessions.chunks(SESSIONS_AT_A_TIME).enumerate() {
        let first = chunk * SESSIONS_AT_A_TIME;
        let verdicts = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|worker| {
                    scope.spawn(move || {
                        let mine = part.iter().enumerate().skip(worker).step_by(threads);
                        mine.map(|(i, session)| {
                            (i, judge(session, seed_of(seed, first + i), reading))
                        })
                        .collect::<Vec<_>>()
                    })
                })
                .collect();
            let mut verdicts: Vec<_> =
                workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect();
            verdicts.sort_by_key(|(i, _)| *i);
            verdicts
        });
        for (i, (verdicts, took)) in &verdicts {
            tally.reading += *took;
            for (game, verdict) in verdicts.iter().enumerate() {
                tally += verdict;
                done(first + i, game, verdict);
            }
        }
    }
    tally
}

/// The seed of game `index` of a run: the same game of the same run is always played the same way.
pub fn seed_of(seed: u64, index: usize) -> u64 {
    Random::new(seed).branch(index as u64).word()
}

/// The moves of `line` in SAN, played from the start of `score`; it ends where a move is illegal.
pub fn san_line(score: &Score, line: &[Move]) -> Vec<String> {
    let mut position = score.start().clone();
    let mut sans = Vec::with_capacity(line.len());
    for &m in line {
        if !position.is_legal(m) {
            sans.push("?".to_owned());
            break;
        }
        sans.push(
            shakmaty::san::SanPlus::from_move_and_play_unchecked(&mut position, m).to_string(),
        );
    }
    sans
}

/// Enough that no core waits long for another at the end of a part.
const SESSIONS_AT_A_TIME: usize = 64;

#[cfg(test)]
mod tests;
