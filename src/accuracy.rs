//! How often a simulated game is reconstructed exactly: simulate, replay, compare.

use std::{ops::AddAssign, thread};

use shakmaty::{Move, Position};

use crate::{
    game::{Event, State},
    replay::Replay,
    sim::{
        capture::{self, BusSimulation, CaptureEntry, CaptureLine, Simulation},
        hand::{preset::Preset, script::GameTruth},
        random::Random,
        score::Score,
    },
    view::capture::{Header, Line, LinkKind, Record, TableHeader},
};

/// What became of one simulated game.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The mainline at the end is the game that was played, ply for ply.
    pub exact: bool,
    /// How many plies were played.
    pub plies: usize,
    /// How many plies from the first on agree.
    pub right: usize,
    /// How many plies were published as completed and were not, or not at that place, played.
    pub wrong_completed: usize,
    /// The mainline at the end, for a report.
    pub read: Vec<Move>,
    /// The moves that were played.
    pub played: Vec<Move>,
}

/// Verdicts added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
}

impl AddAssign<&Verdict> for Tally {
    fn add_assign(&mut self, verdict: &Verdict) {
        self.games += 1;
        self.exact += usize::from(verdict.exact);
        self.plies += verdict.plies;
        self.right += verdict.right;
        self.wrong_completed += verdict.wrong_completed;
    }
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

/// Simulates one game, replays it and compares.
pub fn judge(score: &Score, preset: &Preset, seed: u64) -> Verdict {
    let scores = std::slice::from_ref(score);
    let simulation = capture::simulate(scores, preset, seed);
    let (header, lines) = capture_of(scores, &simulation);
    let played = simulation.games.first().map(moves_of).unwrap_or_default();
    let mut witness = Witness { state: State::default(), played: &played, wrong_completed: 0 };
    if let Ok(mut replay) = Replay::new(&header) {
        for line in &lines {
            replay.line(line, &mut |recorded| witness.see(&recorded.event));
        }
        replay.finish(&mut |recorded| witness.see(&recorded.event));
    }
    let read: Vec<Move> = witness.state.moves(0).collect();
    let right = read.iter().zip(&played).take_while(|(read, played)| read == played).count();
    Verdict {
        exact: read == played,
        plies: played.len(),
        right,
        wrong_completed: witness.wrong_completed,
        read,
        played,
    }
}

fn moves_of(truth: &GameTruth) -> Vec<Move> {
    truth.plies.iter().map(|ply| ply.m).collect()
}

/// Folds events as a reader of the published stream would, and counts what he was told wrongly.
struct Witness<'a> {
    state: State,
    played: &'a [Move],
    wrong_completed: usize,
}

impl Witness<'_> {
    fn see(&mut self, event: &Event) {
        self.state.apply(event);
        if let Event::Plies { from, plies, .. } = event {
            let wrong = |(i, m): (usize, Option<Move>)| self.played.get(i) != m.as_ref();
            let completed = plies.iter().enumerate().filter(|(_, ply)| ply.completed);
            self.wrong_completed +=
                completed.map(|(i, ply)| (from + i, ply.legal())).filter(|&ply| wrong(ply)).count();
        }
    }
}

/// Judges every game, each with its own seed derived from `seed`, on as many threads as there are
/// cores, and hands each verdict with the game's index to `done` in the order of the games.
pub fn judge_all(
    scores: &[Score],
    preset: &Preset,
    seed: u64,
    mut done: impl FnMut(usize, &Verdict),
) -> Tally {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let mut tally = Tally::default();
    for (chunk, part) in scores.chunks(GAMES_AT_A_TIME).enumerate() {
        let first = chunk * GAMES_AT_A_TIME;
        let verdicts = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|worker| {
                    scope.spawn(move || {
                        let mine = part.iter().enumerate().skip(worker).step_by(threads);
                        mine.map(|(i, score)| (i, judge(score, preset, seed_of(seed, first + i))))
                            .collect::<Vec<_>>()
                    })
                })
                .collect();
            let mut verdicts: Vec<(usize, Verdict)> =
                workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect();
            verdicts.sort_by_key(|(i, _)| *i);
            verdicts
        });
        for (i, verdict) in &verdicts {
            tally += verdict;
            done(first + i, verdict);
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
const GAMES_AT_A_TIME: usize = 64;
