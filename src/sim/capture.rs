//! What a host sees of a game: the bytes of both directions with their times.

mod host;

use std::time::Duration;

use dgt_protocol::{Address, BusSettings};
use shakmaty::Position;

pub use self::host::Host;
use self::host::{BusHost, SingleHost};

use crate::sim::{
    board::{BoardSettings, VirtualBoard},
    bus::VirtualBus,
    device::{Cable, Device},
    faults::{FaultSpec, Faulty},
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
    /// When nothing happens any more.
    pub end: Duration,
}

/// A simulated session at a bus.
#[derive(Clone, Debug)]
pub struct BusSimulation {
    /// What the host saw and said.
    pub lines: Vec<CaptureLine>,
    /// What really happened, board by board.
    pub boards: Vec<BoardTruth>,
}

/// What really happened on one board of a bus.
#[derive(Clone, Debug)]
pub struct BoardTruth {
    /// The board.
    pub address: Address,
    /// The games that were played on it.
    pub games: Vec<GameTruth>,
}

/// Plays these games on an ordinary board, White with the connector at the left hand.
pub fn simulate(scores: &[Score], preset: &Preset, seed: u64) -> Simulation {
    simulate_on(BoardSettings::new(SERIAL), &FaultSpec::default(), scores, preset, seed)
}

/// Plays these games on this board behind a cable with these faults. Which reports get lost follows
/// from the preset and the seed.
pub fn simulate_on(
    settings: BoardSettings,
    faults: &FaultSpec,
    scores: &[Score],
    preset: &Preset,
    seed: u64,
) -> Simulation {
    let mut host = SingleHost::new(preset.wire.dump_every);
    simulate_for(&mut host, settings, faults, scores, preset, seed)
}

/// The same in front of another host.
pub fn simulate_for(
    host: &mut impl Host,
    settings: BoardSettings,
    faults: &FaultSpec,
    scores: &[Score],
    preset: &Preset,
    seed: u64,
) -> Simulation {
    let Some((performance, script)) = perform(settings, scores, preset, seed) else {
        return Simulation { lines: Vec::new(), games: Vec::new(), end: Duration::ZERO };
    };
    let mut lines = record(&mut Faulty::new(performance, faults, seed), host, script.end);
    lines.extend(marks(&script, ""));
    lines.sort_by_key(|line| line.t_ms);
    Simulation { lines, games: script.games, end: script.end }
}

/// Plays on as many boards of a bus as there are lists of games, all at once, with these faults of the
/// cable to the host and of the boards. Boards that have nothing to play are not there; more than
/// [`MOST_BOARDS`] are not put on one line.
pub fn simulate_bus(
    games: &[Vec<Score>],
    faults: &FaultSpec,
    preset: &Preset,
    seed: u64,
) -> BusSimulation {
    let mut performances = Vec::new();
    let mut boards = Vec::new();
    let mut remarks = Vec::new();
    let mut end = Duration::ZERO;
    for (number, scores) in (0_u16..).zip(games.iter().take(MOST_BOARDS)) {
        let settings = BoardSettings::new(u32::from(FIRST_ON_BUS + number));
        let seed = Random::new(seed).branch(u64::from(number)).word();
        let Some(address) = Address::new(FIRST_ON_BUS + number) else { continue };
        let Some((performance, script)) = perform(settings, scores, preset, seed) else { continue };
        remarks.extend(marks(&script, &format!("board {address}, ")));
        end = end.max(script.end);
        performances.push(performance);
        boards.push(BoardTruth { address, games: script.games });
    }
    if boards.is_empty() {
        return BusSimulation { lines: Vec::new(), boards };
    }
    let expected = boards.iter().map(|board| board.address).collect();
    let mut settings = BusSettings { expected, ..BusSettings::default() };
    if let Some(every) = preset.wire.dump_every {
        settings.dump_period = every;
    }
    let mut bus = Faulty::new(VirtualBus::new(performances), faults, seed);
    let mut lines = record(&mut bus, &mut BusHost::new(settings), end);
    lines.extend(remarks);
    lines.sort_by_key(|line| line.t_ms);
    BusSimulation { lines, boards }
}

/// A board on which these games are about to be played, if there are any.
fn perform(
    mut settings: BoardSettings,
    scores: &[Score],
    preset: &Preset,
    seed: u64,
) -> Option<(Performance, Script)> {
    let first = scores.first()?;
    let script = hand::play(scores, preset, seed);
    settings.lost_per_mille = preset.wire.lost_per_mille;
    settings.seed = Random::new(seed).branch(LOSSES).word();
    let board = VirtualBoard::new(settings, Duration::ZERO);
    Some((Performance::new(board, first.start().board(), &script), script))
}

/// Lets a device run up to this time in front of a host, and writes down everything.
fn record(device: &mut impl Device, host: &mut impl Host, end: Duration) -> Vec<CaptureLine> {
    let mut lines = Vec::new();
    loop {
        let next = [device.poll_timeout(), host.next()].into_iter().flatten().min();
        let Some(now) = next.filter(|&next| next <= end) else { return lines };
        let line = |entry| CaptureLine { t_ms: now.as_millis() as u64, entry };
        device.handle_timeout(now);
        while let Some(bytes) = device.poll_transmit() {
            host.handle_bytes(now, &bytes);
            lines.push(line(CaptureEntry::Received(bytes)));
        }
        while let Some(cable) = device.poll_cable() {
            lines.push(line(match cable {
                Cable::Pulled => CaptureEntry::LineDown,
                Cable::Back => CaptureEntry::LineUp,
            }));
            host.handle_cable(now, cable);
        }
        while let Some(bytes) = host.say(now) {
            device.handle_bytes(now, &bytes);
            lines.push(line(CaptureEntry::Sent(bytes)));
        }
    }
}

fn marks(script: &Script, board: &str) -> Vec<CaptureLine> {
    let mut marks = Vec::new();
    for (game, number) in script.games.iter().zip(1..) {
        let mut mark = |at: Duration, text: String| {
            let entry = CaptureEntry::Mark(text);
            marks.push(CaptureLine { t_ms: at.as_millis() as u64, entry });
        };
        mark(game.ready, format!("{board}game {number}: the men are set up"));
        if let Some(started) = game.started {
            mark(started, format!("{board}game {number}: the clock is started"));
        }
        mark(game.over, format!("{board}game {number}: the players are done"));
    }
    marks
}

/// As many boards as a host can be expected to serve on one line.
pub const MOST_BOARDS: usize = 64;
/// The serial number of an ordinary board.
pub const SERIAL: u32 = 1025;
/// The first board of a bus; the others follow.
pub const FIRST_ON_BUS: u16 = 1001;
/// Sets the losses of reports apart from what the hands do.
const LOSSES: u64 = 0x1055;

#[cfg(test)]
mod tests;
