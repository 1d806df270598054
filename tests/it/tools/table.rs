//! A virtual board with hands that play, behind a path.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use boardcast::sim::{
    board::{BoardSettings, VirtualBoard},
    device::Device,
    hand::{self, preset},
    performance::Performance,
    pgn,
    pty::{PtySettings, perform},
};
use shakmaty::Position;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::now;

/// A virtual board with hands that play, behind a path.
pub(crate) struct Table {
    pub(crate) path: PathBuf,
    stop: CancellationToken,
    task: JoinHandle<std::io::Result<u64>>,
    _folder: Option<tempfile::TempDir>,
}

impl Table {
    /// Plays these moves at the given speed.
    pub(crate) async fn start(movetext: &str, speed: f64) -> Self {
        Self::start_with(movetext, speed, &preset::Preset::new(preset::Name::Clean)).await
    }

    /// Plays these moves with hands and a cable like these.
    pub(crate) async fn start_with(movetext: &str, speed: f64, preset: &preset::Preset) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("board");
        let device = performance(BoardSettings::new(30_001), movetext, preset);
        Self { _folder: Some(folder), ..Self::of(device, &path, speed).await }
    }

    /// Puts any device behind this path.
    pub(crate) async fn of(
        mut device: impl Device + Send + 'static,
        path: &Path,
        speed: f64,
    ) -> Self {
        let settings = PtySettings { link: Some(path.to_owned()), speed, until: None };
        let stop = CancellationToken::new();
        let (opened, mut is_open) = tokio::sync::mpsc::channel(1);
        let cancel = stop.clone();
        let task = tokio::spawn(async move {
            let start = now();
            let opened = move |_: &Path| {
                let _ = opened.try_send(());
            };
            perform(&mut device, &settings, || now() - start, opened, &cancel).await
        });
        is_open.recv().await.unwrap();
        Self { path: path.to_owned(), stop, task, _folder: None }
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap().unwrap();
    }
}

/// Hands that play these moves on such a board.
pub(crate) fn performance(
    board: BoardSettings,
    movetext: &str,
    preset: &preset::Preset,
) -> Performance {
    let scores: Vec<_> = pgn::read(movetext.as_bytes()).into_iter().map(Result::unwrap).collect();
    let script = hand::play(&scores, preset, 7);
    let board = VirtualBoard::new(board, Duration::ZERO);
    Performance::new(board, scores[0].start().board(), &script)
}
