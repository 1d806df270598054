//! The virtual boards of a demonstration, each behind a pseudo-terminal of its own.

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
    speed: f64,
    seed: u64,
}

struct Board {
    number: u32,
    link: PathBuf,
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
            boards.push(Board { number, link: folder.0.join(format!("board-{number}")), scores });
        }
        Ok(Self { folder, boards, speed: command.speed, seed: command.seed })
    }

    /// The tables at which the boards stand.
    pub(super) fn tables(&self) -> Vec<Table> {
        self.boards.iter().map(|board| board.table(self.speed)).collect()
    }

    /// Opens a pseudo-terminal for every board and begins to play on it.
    ///
    /// # Errors
    ///
    /// If there are no pseudo-terminals to be had.
    pub(super) async fn begin(
        self,
        clock: Clock,
        end: &CancellationToken,
    ) -> anyhow::Result<Players> {
        let Self { folder, boards, speed, seed } = self;
        let preset = Preset::new(Name::Orders);
        let mut players = JoinSet::new();
        let (opened, mut open) = mpsc::channel(boards.len());
        let expected = boards.len();
        for (i, board) in boards.into_iter().enumerate() {
            let script = hand::play(&board.scores, &preset, seed_of(seed, i));
            let men = shakmaty::Position::board(board.scores[0].start()).clone();
            let virtual_board =
                VirtualBoard::new(BoardSettings::new(SERIAL + board.number), Duration::ZERO);
            let settings =
                PtySettings { link: Some(board.link.clone()), speed, until: Some(script.end) };
            let (end, opened) = (end.clone(), opened.clone());
            let began = clock.elapsed();
            players.spawn(async move {
                let mut performance = Performance::new(virtual_board, &men, &script);
                let now = || in_slow_beginning(clock.elapsed().saturating_sub(began), speed);
                let tell = |_: &Path| {
                    // After the first time nobody listens; that is right.
                    let _ = opened.try_send(());
                };
                pty::perform(&mut performance, &settings, now, tell, &end).await.map(drop)
            });
        }
        drop(opened);
        let mut players = Players { folder, players };
        for _ in 0..expected {
            if open.recv().await.is_none() {
                players.join_one().await?;
            }
        }
        Ok(players)
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
        let port = PortName::new(&self.link.display().to_string());
        let mut table = Table::new(self.number, Source::Port(port));
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

const BEGINNING: Duration = Duration::from_millis(2500);
