//! A board on a pseudo-terminal, and hands that play as far as the test tells them.

use std::{
    collections::VecDeque,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use boardcast::sim::{
    board::{BoardSettings, VirtualBoard},
    device::{Cable, Device},
    hand::{
        self,
        preset::{Name, Preset},
        script::{Action, Script, Step},
    },
    pgn,
    pty::{PtySettings, perform},
};
use shakmaty::Position;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::now;

/// Hands at a board.
pub(crate) struct Player {
    /// The moves of the game, as people write them.
    pub(crate) moves: Vec<String>,
    orders: mpsc::UnboundedSender<(Order, oneshot::Sender<()>)>,
    stop: CancellationToken,
    task: JoinHandle<io::Result<u64>>,
}

/// What the hands are told.
enum Order {
    /// To play this many plies.
    Play(usize),
    /// To do what is done after the last one.
    ShowResult,
    /// To pull the cable, or to put it back.
    Cable(Cable),
    /// To pull the adapter out of the computer and put it back; the board keeps its power.
    Reseat,
}

impl Player {
    /// Sits down at a board behind `link` to play the only game of `movetext`, and does nothing.
    pub(crate) async fn sit(link: &Path, movetext: &str, settings: BoardSettings) -> Self {
        let score = pgn::read(movetext.as_bytes()).remove(0).unwrap();
        let script = hand::play(std::slice::from_ref(&score), &Preset::new(Name::Clean), 7);
        let mut board = VirtualBoard::new(settings, Duration::ZERO);
        board.set_up(Duration::ZERO, score.start().board());
        let moves = script.games[0].plies.iter().map(|ply| ply.san.clone()).collect();
        let (orders, heard) = mpsc::unbounded_channel();
        let mut hands = Hands::new(board, &script, heard);
        let settings = PtySettings { link: Some(PathBuf::from(link)), speed: SPEED, until: None };
        let stop = CancellationToken::new();
        let cancel = stop.clone();
        let (opened, is_open) = oneshot::channel();
        let mut opened = Some(opened);
        let task = tokio::spawn(async move {
            let start = now();
            let opened = move |_: &Path| {
                if let Some(opened) = opened.take() {
                    opened.send(()).expect("somebody waits for the board");
                }
            };
            perform(&mut hands, &settings, || now() - start, opened, &cancel).await
        });
        is_open.await.unwrap();
        Self { moves, orders, stop, task }
    }

    /// Plays this many plies more; comes back after the last press.
    pub(crate) async fn play(&self, plies: usize) {
        self.tell(Order::Play(plies)).await;
    }

    /// Stops the clock and puts the kings where they tell the result.
    pub(crate) async fn show_result(&self) {
        self.tell(Order::ShowResult).await;
    }

    pub(crate) async fn pull_cable(&self) {
        self.tell(Order::Cable(Cable::Pulled)).await;
    }

    pub(crate) async fn put_cable_back(&self) {
        self.tell(Order::Cable(Cable::Back)).await;
    }

    /// Frees the terminal from a program that was killed. A serial port that was claimed is free
    /// when the last program is gone; a pseudo-terminal stays claimed as long as it is there.
    pub(crate) async fn reseat_adapter(&self) {
        self.tell(Order::Reseat).await;
    }

    async fn tell(&self, order: Order) {
        let (done, is_done) = oneshot::channel();
        assert!(self.orders.send((order, done)).is_ok(), "the board has failed");
        is_done.await.expect("the hands do what they are told");
    }

    pub(crate) async fn leave(self) {
        self.stop.cancel();
        self.task.await.unwrap().unwrap();
    }
}

struct Hands {
    board: VirtualBoard,
    /// The acts of each ply that is not played yet, and at last those after the game.
    plies: VecDeque<Vec<Step>>,
    /// What is being done, in the time of the board.
    steps: VecDeque<Step>,
    orders: mpsc::UnboundedReceiver<(Order, oneshot::Sender<()>)>,
    done: Option<oneshot::Sender<()>>,
    cable: VecDeque<Cable>,
    now: Duration,
}

impl Hands {
    fn new(
        mut board: VirtualBoard,
        script: &Script,
        orders: mpsc::UnboundedReceiver<(Order, oneshot::Sender<()>)>,
    ) -> Self {
        let mut steps = script.steps.clone();
        if let Some(set) = steps.iter().position(|step| matches!(step.action, Action::SetClock(_)))
        {
            board.perform(Duration::ZERO, &steps.remove(set).action);
        }
        let mut rest = steps.into_iter().peekable();
        let ends = script.games[0].plies.iter().map(|ply| ply.pressed.unwrap_or(ply.complete));
        let mut plies: VecDeque<Vec<Step>> = ends
            .map(|end| std::iter::from_fn(|| rest.next_if(|step| step.at <= end)).collect())
            .collect();
        plies.push_back(rest.collect());
        let (steps, cable) = (VecDeque::new(), VecDeque::new());
        Self { board, plies, steps, orders, done: None, cable, now: Duration::ZERO }
    }

    /// Does what is due by now, and then what it is told to do next.
    fn work(&mut self) {
        loop {
            while let Some(step) = self.steps.pop_front_if(|step| step.at <= self.now) {
                self.board.perform(step.at, &step.action);
            }
            if !self.steps.is_empty() {
                return;
            }
            if let Some(done) = self.done.take() {
                // A test that has failed does not wait any more.
                let _ = done.send(());
            }
            let Ok((order, done)) = self.orders.try_recv() else { return };
            self.done = Some(done);
            match order {
                Order::Play(plies) => self.take_up(plies),
                Order::ShowResult => self.take_up(self.plies.len()),
                Order::Reseat => self.cable.extend([Cable::Pulled, Cable::Back]),
                Order::Cable(cable) => {
                    let action = match cable {
                        Cable::Pulled => Action::Unplug,
                        Cable::Back => Action::Replug,
                    };
                    self.board.perform(self.now, &action);
                    self.cable.push_back(cable);
                }
            }
        }
    }

    /// Does the acts of the next plies from now on, as far from each other as planned.
    fn take_up(&mut self, plies: usize) {
        let steps: Vec<_> = self.plies.drain(..plies).flatten().collect();
        let Some(first) = steps.first().map(|step| step.at) else { return };
        let begin = self.now + BREATH;
        self.steps = steps
            .into_iter()
            .map(|step| Step { at: step.at.saturating_sub(first) + begin, ..step })
            .collect();
    }
}

impl Device for Hands {
    fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        self.handle_timeout(now);
        self.board.handle_bytes(now, bytes);
    }

    fn handle_timeout(&mut self, now: Duration) {
        self.now = now;
        self.work();
        self.board.handle_timeout(now);
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.board.poll_transmit()
    }

    fn poll_cable(&mut self) -> Option<Cable> {
        self.cable.pop_front()
    }

    fn poll_timeout(&self) -> Option<Duration> {
        let act = self.steps.front().map_or(self.now + BREATH, |step| step.at);
        Some(self.board.poll_timeout().map_or(act, |board| board.min(act)))
    }

    fn handle_cable(&mut self, _: Duration, _: Cable) {
        unreachable!("the hands pull the cable themselves");
    }

    fn handle_plug(&mut self, _: Duration, _: usize, _: Cable) {
        unreachable!("the hands pull the cable themselves");
    }

    fn set_silent(&mut self, _: Duration, _: usize, _: bool) {
        unreachable!("the board is never silent");
    }
}

/// How many times faster than life the hands are.
const SPEED: f64 = 20.0;

/// Between an order and the first act; how often idle hands listen.
const BREATH: Duration = Duration::from_millis(250);
