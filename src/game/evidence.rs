//! What was seen of a game lately, kept so that it can be read again when what follows makes no
//! sense of it.

use std::collections::VecDeque;

use shakmaty::{Board, Color};

use super::{placement::Placement, time::Timestamp};

/// A press of the lever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Press {
    /// Whose.
    pub by: Color,
    /// When it was reported.
    pub at: Timestamp,
    /// The presser's time left afterwards, in milliseconds.
    pub clock_ms: u32,
}

/// What stood on the board from one change to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// Since when.
    pub at: Timestamp,
    /// What.
    pub placement: Placement,
    /// A dump told it: reports are missing before it.
    pub told_by_dump: bool,
    /// A later dump confirmed it.
    pub confirmed: bool,
}

/// The last scenes and presses of a game, oldest first. Bounded: the oldest are forgotten.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    scenes: VecDeque<Scene>,
    presses: VecDeque<Press>,
    /// How many scenes were ever noted.
    noted: usize,
}

impl Evidence {
    /// Forgets everything: another game begins.
    pub fn clear(&mut self) {
        self.scenes.clear();
        self.presses.clear();
    }

    /// Notes what stands from now on.
    pub fn note_scene(&mut self, scene: Scene) {
        if self.scenes.len() == MAX_SCENES {
            self.scenes.pop_front();
        }
        self.scenes.push_back(scene);
        self.noted += 1;
    }

    /// Notes that a dump shows the last scene as it was known.
    pub fn confirm(&mut self) {
        if let Some(scene) = self.scenes.back_mut() {
            scene.confirmed = true;
        }
    }

    /// Notes a press.
    pub fn note_press(&mut self, press: Press) {
        if self.presses.len() == MAX_PRESSES {
            self.presses.pop_front();
        }
        self.presses.push_back(press);
    }

    /// How many scenes were ever noted, forgotten ones included.
    pub fn noted(&self) -> usize {
        self.noted
    }

    /// The scenes that are remembered.
    pub fn scenes(&self) -> impl ExactSizeIterator<Item = &Scene> + DoubleEndedIterator {
        self.scenes.iter()
    }

    /// The scenes from index `from` on.
    pub fn scenes_from(&self, from: usize) -> impl Iterator<Item = &Scene> {
        self.scenes.iter().skip(from)
    }

    /// The presses after `at`.
    pub fn presses_after(&self, at: Timestamp) -> impl Iterator<Item = Press> {
        let first = self.presses.partition_point(|press| press.at <= at);
        self.presses.iter().skip(first).copied()
    }

    /// The index of the last scene before `before` that shows exactly `board`.
    pub fn last_of(&self, board: &Board, before: Timestamp) -> Option<usize> {
        self.scenes.iter().rposition(|scene| scene.at <= before && scene.placement.board() == board)
    }
}

/// Far more than the plies that may still change leave behind, and little memory.
const MAX_SCENES: usize = 512;

/// Not more presses than scenes.
const MAX_PRESSES: usize = 256;
