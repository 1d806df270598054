//! What a host sees of a game: the bytes of both directions with their times.

use std::time::Duration;

use dgt_protocol::Command;
use shakmaty::Position;

use crate::sim::{
    board::{BoardSettings, VirtualBoard},
    device::{Cable, Device},
    hand::{
        self,
        preset::Preset,
        script::{GameTruth, Script},
    },
    performance::Performance,
    random::Random,
    score::Score,
};

/// One line of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureLine {
    /// Milliseconds since the beginning; never decreasing.
    pub t_ms: u64,
    /// What happened.
    pub entry: CaptureEntry,
}

/// What one line of a capture tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureEntry {
    /// Bytes from the board, cut anywhere.
    Received(Vec<u8>),
    /// Bytes to the board.
    Sent(Vec<u8>),
    /// The line broke off.
    LineDown,
    /// The line is back.
    LineUp,
    /// A remark for people: where a game begins and ends.
    Mark(String),
}

/// A simulated session at one board.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// What the host saw and said.
    pub lines: Vec<CaptureLine>,
    /// What really happened.
    pub games: Vec<GameTruth>,
}

/// Plays these games on an ordinary board, White with the connector at the left hand.
pub fn simulate(scores: &[Score], preset: &Preset, seed: u64) -> Simulation {
    simulate_on(BoardSettings::new(SERIAL), scores, preset, seed)
}

/// Plays these games on this board. Which reports get lost follows from the preset and the seed.
pub fn simulate_on(
    mut settings: BoardSettings,
    scores: &[Score],
    preset: &Preset,
    seed: u64,
) -> Simulation {
    let script = hand::play(scores, preset, seed);
    let Some(first) = scores.first() else {
        return Simulation { lines: Vec::new(), games: Vec::new() };
    };
    settings.lost_per_mille = preset.wire.lost_per_mille;
    settings.seed = Random::new(seed).branch(LOSSES).word();
    let board = VirtualBoard::new(settings, Duration::ZERO);
    let performance = Performance::new(board, first.start().board(), &script);
    let mut lines = record(performance, script.end, preset.wire.dump_every);
    lines.extend(marks(&script));
    lines.sort_by_key(|line| line.t_ms);
    Simulation { lines, games: script.games }
}

/// Lets a script run to its end in front of a host that writes down everything.
fn record(
    mut performance: Performance,
    end: Duration,
    dump_every: Option<Duration>,
) -> Vec<CaptureLine> {
    let mut lines = Vec::new();
    let mut host = Host { due: Vec::new(), dump_every, connected: true };
    host.greet(Duration::ZERO);
    loop {
        let next = [performance.poll_timeout(), host.next()].into_iter().flatten().min();
        let Some(now) = next.filter(|&next| next <= end) else { return lines };
        let line = |entry| CaptureLine { t_ms: now.as_millis() as u64, entry };
        performance.handle_timeout(now);
        while let Some(bytes) = performance.poll_transmit() {
            lines.push(line(CaptureEntry::Received(bytes)));
        }
        while let Some(cable) = performance.poll_cable() {
            lines.push(line(match cable {
                Cable::Pulled => CaptureEntry::LineDown,
                Cable::Back => CaptureEntry::LineUp,
            }));
            host.handle_cable(now, cable);
        }
        while let Some(bytes) = host.say(now) {
            performance.handle_bytes(now, &bytes);
            lines.push(line(CaptureEntry::Sent(bytes)));
        }
    }
}

/// A host that wants updates, asks for the board when it begins, and again from time to time.
struct Host {
    /// What to say next; at most two things at a time.
    due: Vec<(Duration, Command)>,
    dump_every: Option<Duration>,
    connected: bool,
}

impl Host {
    fn greet(&mut self, now: Duration) {
        self.due = vec![(now, Command::UpdateNice), (now + BETWEEN_COMMANDS, Command::ReadBoard)];
    }

    fn handle_cable(&mut self, now: Duration, cable: Cable) {
        self.connected = cable == Cable::Back;
        self.due.clear();
        if self.connected {
            self.greet(now + BEFORE_GREETING);
        }
    }

    fn next(&self) -> Option<Duration> {
        self.due.first().map(|&(at, _)| at)
    }

    fn say(&mut self, now: Duration) -> Option<Vec<u8>> {
        let due = self.due.first().is_some_and(|&(at, _)| at <= now);
        let (_, command) = due.then(|| self.due.remove(0))?;
        if let Some(every) = self.dump_every.filter(|_| command == Command::ReadBoard) {
            self.due.push((now + every, Command::ReadBoard));
        }
        let mut bytes = Vec::new();
        command.encode(&mut bytes);
        Some(bytes)
    }
}

fn marks(script: &Script) -> Vec<CaptureLine> {
    let mut marks = Vec::new();
    for (game, number) in script.games.iter().zip(1..) {
        let mut mark = |at: Duration, text: String| {
            let entry = CaptureEntry::Mark(text);
            marks.push(CaptureLine { t_ms: at.as_millis() as u64, entry });
        };
        mark(game.ready, format!("game {number}: the men are set up"));
        if let Some(started) = game.started {
            mark(started, format!("game {number}: the clock is started"));
        }
        mark(game.over, format!("game {number}: the players are done"));
    }
    marks
}

/// The serial number of the ordinary board.
const SERIAL: u32 = 1025;
/// Sets the losses of reports apart from what the hands do.
const LOSSES: u64 = 0x1055;
/// Hosts leave the board this long between two commands.
const BETWEEN_COMMANDS: Duration = Duration::from_millis(100);
/// A device that came back is left alone for a moment.
const BEFORE_GREETING: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests;
