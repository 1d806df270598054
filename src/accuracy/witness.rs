//! Whoever reads what is published and knows what was played.

use std::time::Duration;

use shakmaty::{Board, Move, Position};

use super::{
    Verdict,
    alerts::{self, Raised},
    latency::Latencies,
};
use crate::{
    game::{Cause, Event, Ply, State, Timestamp, alert::Status},
    hall::Recorded,
    sim::{
        hand::script::{Deed, GameTruth, PlyTruth},
        score::Score,
    },
};

/// Folds the events of one board as a reader of the published stream would, and compares them with
/// the games that were played on it.
pub(super) struct Witness<'a> {
    games: Vec<Played<'a>>,
    state: State,
    /// The game that the mainline is taken for.
    current: usize,
}

/// A mainline: its moves up to the first irregular ply, and how many plies it has.
#[derive(Clone, Debug, Default)]
struct Told {
    moves: Vec<Move>,
    plies: usize,
}

/// A game that was played, and what was told of it.
struct Played<'a> {
    truth: &'a GameTruth,
    /// What stood on the board after each ply.
    boards: Vec<Board>,
    /// When the stream showed each of them.
    shown: Vec<Option<u64>>,
    /// When the mainline first had each ply, and all before it.
    published: Vec<Option<u64>>,
    /// The first ply that the stream has not shown.
    next: usize,
    /// The mainlines that were told for it. More than one, and it was taken for several games.
    lines: Vec<Told>,
    wrong_completed: usize,
    /// Why the mainline last became, or remained, another one than was played.
    led_astray: Option<Cause>,
    raised: Vec<Raised>,
}

impl<'a> Witness<'a> {
    /// A witness of these games, of which `scores` are the records.
    pub(super) fn new(scores: &[Score], truths: &'a [GameTruth]) -> Self {
        let games = scores.iter().zip(truths).map(|(score, truth)| Played::new(score, truth));
        Self { games: games.collect(), state: State::default(), current: 0 }
    }

    /// Takes in one event.
    pub(super) fn see(&mut self, recorded: &Recorded) {
        let at = recorded.at;
        match &recorded.event {
            Event::Clock(_) => return,
            Event::GameStarted { .. } => {
                self.current = self.at_hand(at);
                if let Some(game) = self.games.get_mut(self.current) {
                    game.lines.push(Told::default());
                }
            }
            Event::Placement(placement) => {
                let current = self.at_hand(at);
                if let Some(game) = self.games.get_mut(current) {
                    game.show(at, placement.board());
                }
            }
            Event::Alert { status: Status::Raised | Status::Momentary, alert } => {
                let current = self.at_hand(at);
                if let Some(game) = self.games.get_mut(current) {
                    game.raised.push(Raised { at: since_start(at), code: alert.code().as_str() });
                }
            }
            _ => {}
        }
        self.state.apply(&recorded.event);
        if let Event::Plies { from, cause, .. } = recorded.event
            && let Some(game) = self.games.get_mut(self.current)
        {
            game.publish(at, from, cause, &self.state);
        }
    }

    /// The game that was being played, or set up, or analysed.
    fn at_hand(&self, at: Timestamp) -> usize {
        let at = since_start(at);
        let begun = |game: &&Played<'_>| game.truth.ready.saturating_sub(SETTLING) <= at;
        self.games.iter().take_while(begun).count().saturating_sub(1)
    }

    /// What became of each game.
    pub(super) fn verdicts(self, line_is_bad: bool) -> Vec<Verdict> {
        self.games.into_iter().map(|game| game.verdict(line_is_bad)).collect()
    }
}

impl<'a> Played<'a> {
    fn new(score: &Score, truth: &'a GameTruth) -> Self {
        let mut pos = score.start().clone();
        let boards = truth.plies.iter().map(|ply| {
            pos.play_unchecked(ply.m);
            pos.board().clone()
        });
        let plies = truth.plies.len();
        Self {
            truth,
            boards: boards.collect(),
            shown: vec![None; plies],
            published: vec![None; plies],
            next: 0,
            lines: Vec::new(),
            wrong_completed: 0,
            led_astray: None,
            raised: Vec::new(),
        }
    }

    fn show(&mut self, at: Timestamp, board: &Board) {
        let near = self.next..self.boards.len().min(self.next + MOST_UNSEEN);
        let played = |i: &usize| self.truth.plies[*i].touched <= since_start(at);
        let found = near.take_while(played).find(|&i| self.boards[i] == *board);
        if let Some(i) = found {
            self.shown[i] = Some(at.as_millis());
            self.next = i + 1;
        }
    }

    fn publish(&mut self, at: Timestamp, from: usize, cause: Cause, state: &State) {
        let played = |i: usize| self.truth.plies.get(i).map(|ply| ply.m);
        let line = state.plies();
        let agrees = |i: usize, ply: &Ply| ply.legal().is_some() && ply.legal() == played(i);
        let wrong = line.iter().enumerate().skip(from);
        self.wrong_completed += wrong.filter(|&(i, ply)| ply.completed && !agrees(i, ply)).count();
        let right = line.iter().enumerate().take_while(|&(i, ply)| agrees(i, ply)).count();
        for published in &mut self.published[..right] {
            published.get_or_insert(at.as_millis());
        }
        if right < line.len() {
            self.led_astray = Some(cause);
        }
        if let Some(last) = self.lines.last_mut() {
            last.moves.clear();
            last.moves.extend(state.moves(0));
            last.plies = line.len();
        }
    }

    fn verdict(self, line_is_bad: bool) -> Verdict {
        let played: Vec<Move> = self.truth.plies.iter().map(|ply| ply.m).collect();
        let mut lines = self.lines.iter().filter(|line| line.plies > 0);
        // What is taken for the game is its last line; one before it is a mistake of its own.
        let Told { moves: read, plies: told } = lines.next_back().cloned().unwrap_or_default();
        let torn = lines.next().is_some();
        let right = read.iter().zip(&played).take_while(|(read, played)| read == played).count();
        let mut latencies = Latencies::default();
        for (shown, published) in self.shown.iter().zip(&self.published) {
            if let (Some(shown), Some(published)) = (shown, published) {
                latencies.note(published.saturating_sub(*shown));
            }
        }
        let exact = read == played && told == played.len() && !torn;
        let why = if exact { String::new() } else { self.why(right, torn) };
        Verdict {
            exact,
            plies: played.len(),
            right,
            wrong_completed: self.wrong_completed,
            alerts: alerts::judge(self.truth, &self.raised, line_is_bad),
            latencies,
            why,
            read,
            played,
        }
    }

    /// What happened where the mainline leaves the game, for people.
    fn why(&self, right: usize, torn: bool) -> String {
        let mut reasons = Vec::new();
        if torn {
            reasons.push("it was taken for more than one game".to_owned());
        }
        let plies = &self.truth.plies;
        let (from, until) = if let Some(ply) = plies.get(right) {
            if self.shown[right].is_none() {
                reasons.push(format!("the stream never showed the board after {}", ply.san));
            }
            let before = right.checked_sub(1).map_or(self.truth.ready, |i| plies[i].touched);
            let after = plies.get(right + 1).map_or(self.truth.over, |ply| ply.complete);
            (before, after.min(ply.complete + AROUND))
        } else {
            reasons.push("more was read than was played".to_owned());
            (plies.last().map_or(self.truth.ready, PlyTruth::end), Duration::MAX)
        };
        let around = |deed: &&Deed| deed.from <= until && deed.until >= from;
        let mut deeds: Vec<String> = Vec::new();
        for deed in self.truth.deeds.iter().filter(around) {
            let name = deed.habit.name();
            if !deeds.contains(&name) {
                deeds.push(name);
            }
        }
        if !deeds.is_empty() {
            reasons.push(format!("hands: {}", deeds.join(", ")));
        }
        if let Some(cause) = self.led_astray {
            reasons.push(format!("read by: {}", cause.as_str().replace('_', " ")));
        }
        reasons.join("; ")
    }
}

fn since_start(at: Timestamp) -> Duration {
    Duration::from_millis(at.as_millis())
}

/// The board may be read as ready, and begun upon, a little before the script says so.
const SETTLING: Duration = Duration::from_secs(1);
/// How many plies in a row may never stand on the board as the stream shows it.
const MOST_UNSEEN: usize = 12;
/// What happens this long after a ply may still be the reason why it was misread.
const AROUND: Duration = Duration::from_secs(30);
