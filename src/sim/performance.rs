//! A script carried out on a virtual board.

use std::{collections::VecDeque, time::Duration};

use shakmaty::{Board, Color};

use crate::sim::{
    board::VirtualBoard,
    clock::VirtualClock,
    device::{Cable, Device},
    hand::script::{Action, Script, Step},
};

/// A board, and the hands that still have something to do on it.
///
/// Acts and deadlines of the board are carried out in the order of their times, however late the caller
/// comes, so that the same script gives the same bytes in a simulation and in front of a real host.
#[derive(Clone, Debug)]
pub struct Performance {
    board: VirtualBoard,
    steps: VecDeque<Step>,
    cable: VecDeque<Cable>,
    silent: bool,
}

impl Performance {
    /// Sets up a board for a script: the men of the first game, and a clock if the script uses one.
    pub fn new(mut board: VirtualBoard, men: &Board, script: &Script) -> Self {
        board.set_up(Duration::ZERO, men);
        let control = script.steps.iter().find_map(|step| match &step.action {
            Action::SetClock(control) => Some(control.clone()),
            _ => None,
        });
        if let Some(control) = control {
            let white = board.clock_side(Color::White);
            let clock = VirtualClock::new(control, white, Duration::ZERO);
            board.plug_clock(Duration::ZERO, Some(clock));
        }
        Self {
            board,
            steps: script.steps.iter().cloned().collect(),
            cable: VecDeque::new(),
            silent: false,
        }
    }

    /// The board.
    pub fn board(&self) -> &VirtualBoard {
        &self.board
    }

    /// Whether the hands have nothing left to do.
    pub fn is_over(&self) -> bool {
        self.steps.is_empty()
    }

    /// The next bytes that go out on a line that is shared, and when the first of them does.
    pub(in crate::sim) fn poll_speech(&mut self) -> Option<(Duration, Vec<u8>)> {
        self.board.poll_speech()
    }
}

/// A board that nobody touches.
impl From<VirtualBoard> for Performance {
    fn from(board: VirtualBoard) -> Self {
        Self { board, steps: VecDeque::new(), cable: VecDeque::new(), silent: false }
    }
}

impl Device for Performance {
    fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        self.handle_timeout(now);
        if !self.silent {
            self.board.handle_bytes(now, bytes);
        }
    }

    fn handle_timeout(&mut self, now: Duration) {
        while let Some(step) = self.steps.pop_front_if(|step| step.at <= now) {
            self.board.perform(step.at, &step.action);
            match step.action {
                Action::Unplug => self.cable.push_back(Cable::Pulled),
                Action::Replug => self.cable.push_back(Cable::Back),
                _ => {}
            }
        }
        self.board.handle_timeout(now);
        if self.silent {
            while self.board.poll_transmit().is_some() {}
        }
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.board.poll_transmit()
    }

    fn poll_cable(&mut self) -> Option<Cable> {
        self.cable.pop_front()
    }

    fn poll_timeout(&self) -> Option<Duration> {
        let act = self.steps.front().map(|step| step.at);
        [act, self.board.poll_timeout()].into_iter().flatten().min()
    }

    /// The board has its power from the cable.
    fn handle_cable(&mut self, now: Duration, cable: Cable) {
        self.handle_timeout(now);
        let action = match cable {
            Cable::Pulled => Action::Unplug,
            Cable::Back => Action::Replug,
        };
        self.board.perform(now, &action);
    }

    fn handle_plug(&mut self, now: Duration, number: usize, cable: Cable) {
        if number == 1 {
            self.handle_cable(now, cable);
            self.cable.push_back(cable);
        }
    }

    fn set_silent(&mut self, now: Duration, number: usize, silent: bool) {
        self.handle_timeout(now);
        if number == 1 {
            self.silent = silent;
        }
    }
}
