//! The virtual boards of a demonstration, each behind a pseudo-terminal of its own, or all of them on
//! a bus behind one.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, bail};
use shakmaty::{CastlingMode, Chess};
use tokio::{sync::mpsc, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::Demo;
use crate::{
    accuracy::seed_of,
    config::Table,
    daemon::clock::Clock,
    game::{Settings, Start, StartRule},
    hall::{Player, PortName, Source},
    sim::{
        board::{BoardSettings, VirtualBoard},
        bus::VirtualBus,
        capture,
        device::Device,
        faults::{FaultSpec, Faulty},
        hand::{
            self,
            preset::{Name, Preset},
        },
        performance::Performance,
        pty::{self, PtySettings},
        score::Score,
    },
};

/// All boards, set up and not yet played on.
pub(super) struct Stage {
    folder: Folder,
    boards: Vec<Board>,
    /// Where the bus is, if the boards are on one.
    bus: Option<PathBuf>,
    faults: FaultSpec,
    speed: f64,
    seed: u64,
}

struct Board {
    number: u32,
    serial: u32,
    /// The board's own port, if it is not on a bus.
    link: Option<PathBuf>,
    scores: Vec<Score>,
}

impl Stage {
    /// Deals the games to the tables: table 1 gets the first one, table 2 the second one, and so on
    /// around.
    pub(super) fn set(command: &Demo, scores: &[Score]) -> anyhow::Result<Self> {
        let folder = Folder::new()?;
        let tables = command.tables as usize;
        let mut boards = Vec::with_capacity(tables);
        for (i, number) in (0..tables).zip(1..) {
            let mine: Vec<Score> = if command.pgn.is_some() && scores.len() > tables {
                scores.iter().skip(i).step_by(tables).cloned().collect()
            } else {
                vec![scores[i % scores.len()].clone()]
            };
            let first = &mine[0];
            if mine.iter().any(|score| score.start() != first.start()) {
                bail!(
                    "table {number} would play games from different starting positions; use as \
                     many tables as there are games, or other games"
                );
            }
            let rounds = if command.once { 1 } else { ROUNDS };
            let scores = mine.iter().cycle().take(mine.len() * rounds).cloned().collect();
            let link = (!command.bus).then(|| folder.0.join(format!("board-{number}")));
            // Only small serial numbers are addresses on a bus.
            let before = if command.bus { SERIAL_ON_BUS } else { SERIAL };
            boards.push(Board { number, serial: before + number, link, scores });
        }
        let bus = command.bus.then(|| folder.0.join("bus"));
        let faults = command.faults.clone().unwrap_or_default();
        Ok(Self { folder, boards, bus, faults, speed: command.speed, seed: command.seed })
    }

    /// The port of the bus, if the boards are on one.
    pub(super) fn bus_port(&self) -> Option<PortName> {
        self.bus.as_ref().map(|link| PortName::new(&link.display().to_string()))
    }

    /// The tables at which the boards stand.
    pub(super) fn tables(&self) -> Vec<Table> {
        self.boards.iter().map(|board| board.table(self.speed)).collect()
    }

    /// Opens the pseudo-terminals and begins to play on the boards behind them.
    ///
    /// # Errors
    ///
    /// If there are no pseudo-terminals to be had.
    pub(super) async fn begin(
        self,
        clock: Clock,
        end: &CancellationToken,
    ) -> anyhow::Result<Players> {
        let Self { folder, boards, bus, faults, speed, seed } = self;
        let preset = Preset::new(Name::Orders);
        let (opened, mut open) = mpsc::channel(boards.len());
        let mut players = Players { folder, players: JoinSet::new() };
        let common = Common { clock, began: clock.elapsed(), speed, opened, end: end.clone() };
        let mut on_bus = Vec::new();
        let mut over = Duration::ZERO;
        for (i, board) in boards.into_iter().enumerate() {
            let seed = seed_of(seed, i);
            let script = hand::play(&board.scores, &preset, seed);
            let mut facts = BoardSettings::new(board.serial);
            facts.seed = seed;
            let men = shakmaty::Position::board(board.scores[0].start());
            let performance =
                Performance::new(VirtualBoard::new(facts, Duration::ZERO), men, &script);
            let Some(link) = board.link else {
                over = over.max(script.end);
                on_bus.push(performance);
                continue;
            };
            let device = Faulty::new(performance, &faults.for_board(i + 1), seed);
            players.players.spawn(common.clone().play(device, link, script.end));
        }
        if let Some(link) = bus {
            let device = Faulty::new(VirtualBus::new(on_bus), &faults, seed);
            players.players.spawn(common.clone().play(device, link, over));
        }
        drop(common);
        for _ in 0..players.players.len() {
            if open.recv().await.is_none() {
                players.join_one().await?;
            }
        }
        Ok(players)
    }
}

/// What all devices of a demonstration have in common.
#[derive(Clone)]
struct Common {
    clock: Clock,
    began: Duration,
    speed: f64,
    /// Told whenever a port is there.
    opened: mpsc::Sender<()>,
    end: CancellationToken,
}

impl Common {
    /// Runs a device at this link until everything was played on it.
    async fn play(self, mut device: impl Device, link: PathBuf, over: Duration) -> io::Result<()> {
        let settings = PtySettings { link: Some(link), speed: self.speed, until: Some(over) };
        let now = || in_slow_beginning(self.clock.elapsed().saturating_sub(self.began), self.speed);
        let tell = |_: &Path| {
            // After the first time nobody listens; that is right.
            let _ = self.opened.try_send(());
        };
        pty::perform(&mut device, &settings, now, tell, &self.end).await.map(drop)
    }
}

/// Boards that are being played on.
pub(super) struct Players {
    folder: Folder,
    players: JoinSet<io::Result<()>>,
}

impl Players {
    /// Completes when all games have been played, or with the first board that fails.
    pub(super) async fn finish(mut self) -> anyhow::Result<()> {
        while self.join_one().await? {}
        drop(self.folder);
        Ok(())
    }

    async fn join_one(&mut self) -> anyhow::Result<bool> {
        let Some(player) = self.players.join_next().await else {
            return Ok(false);
        };
        player.context("a virtual board failed")?.context("a virtual board failed")?;
        Ok(true)
    }
}

impl Board {
    fn table(&self, speed: f64) -> Table {
        let source = match &self.link {
            Some(link) => Source::Port(PortName::new(&link.display().to_string())),
            None => Source::Board(format!("{:05}", self.serial)),
        };
        let mut table = Table::new(self.number, source);
        let first = &self.scores[0];
        if self.scores.iter().all(|score| score.tags() == first.tags()) {
            let player = |tag| Player {
                name: first.tag(tag).unwrap_or_default().to_owned(),
                ..Player::default()
            };
            table.players.white = player("White");
            table.players.black = player("Black");
        }
        table.settings = faster(&Settings { start: start_of(first), ..Settings::default() }, speed);
        table
    }
}

fn start_of(score: &Score) -> StartRule {
    if *score.start() == Chess::default() {
        return StartRule::Classical;
    }
    let mode = score.castling_mode();
    let setup = shakmaty::Position::to_setup(score.start(), shakmaty::EnPassantMode::Legal);
    match Start::from_setup(setup, mode) {
        Ok(start) => StartRule::Position(Box::new(start)),
        Err(_) if mode == CastlingMode::Chess960 => StartRule::AnyChess960,
        Err(_) => StartRule::Classical,
    }
}

/// The constants of the reading rules for hands that are `speed` times as fast as people's.
fn faster(settings: &Settings, speed: f64) -> Settings {
    let scaled = |ms: u64| ((ms as f64 / speed) as u64).max(10);
    Settings {
        settle_ms: scaled(settings.settle_ms),
        scan_ms: scaled(settings.scan_ms),
        press_grace_ms: scaled(settings.press_grace_ms),
        signal_hold_ms: scaled(settings.signal_hold_ms),
        setup_stable_ms: scaled(settings.setup_stable_ms),
        ..settings.clone()
    }
}

/// Time as the hands see it, before it is made faster: the beginning, while the daemon opens the
/// ports and asks the boards who they are, goes at the pace of life.
fn in_slow_beginning(elapsed: Duration, speed: f64) -> Duration {
    let slow = elapsed.min(BEGINNING);
    slow.div_f64(speed) + elapsed.saturating_sub(slow)
}

/// A folder that is gone when the demonstration is.
struct Folder(PathBuf);

impl Folder {
    fn new() -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("boardcast-demo-{}", std::process::id()));
        fs::create_dir_all(&path)
            .with_context(|| format!("cannot make the folder {}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let path: &Path = &self.0;
        if let Err(error) = fs::remove_dir_all(path) {
            tracing::debug!("{}: {error}", path.display());
        }
    }
}

/// Enough for a long evening.
const ROUNDS: usize = 20;

/// The serial number of table 1 follows this one.
const SERIAL: u32 = 30_000;
/// The same on a bus.
const SERIAL_ON_BUS: u32 = capture::FIRST_ON_BUS as u32 - 1;

const BEGINNING: Duration = Duration::from_millis(2500);
