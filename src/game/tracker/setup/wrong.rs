//! An array that is set up wrongly: arbiters are told, and a game that is begun from it is followed
//! from what really stands there (7.2.1 leaves it to them whether it goes on).

use shakmaty::{Bitboard, CastlingMode, Color, Setup, Square};

use super::super::{
    super::{
        alert::{Alert, Code},
        event::Phase,
        orientation::Orientation,
        placement::Placement,
        start::Start,
    },
    Tracker,
};

impl Tracker {
    /// What is not the array may be meant to be: it is told when it stands still.
    pub(super) fn watch_wrong_array(&mut self) {
        if self.wrong_array().is_some() {
            self.timers.setup = Some(self.now.after(self.settings.setup_stable_ms));
        } else if self.placement.count() < FEW_MEN {
            self.clear(Code::StartPositionWrong);
        }
    }

    /// A wrong array has stood for its time. Where there is no clock to say when a game begins, one
    /// may begin from it now.
    pub(super) fn wrong_array_stood(&mut self) {
        let Some((start, orientation, wrong)) = self.wrong_array() else {
            return;
        };
        self.raise(Alert::StartPositionWrong { wrong });
        if self.state.clock().is_none() {
            self.arm(start, orientation);
        }
    }

    /// The clock was started, and what stands is meant to be the array: the game is played from it.
    pub(super) fn begin_from_wrong_array(&mut self) {
        let Some((start, orientation, wrong)) = self.wrong_array() else {
            return;
        };
        self.raise(Alert::StartPositionWrong { wrong });
        self.timers.setup = None;
        self.arm(start, orientation);
        self.begin(true);
    }

    /// The start that stands on the board, how the board lies, and which squares make it differ from
    /// the array that is meant; nothing if it is the array, or anything but one.
    fn wrong_array(&self) -> Option<(Start, Orientation, Bitboard)> {
        let named = self.named.as_ref()?;
        let (orientation, wrong) = self.arrays.nearest(named)?;
        let over = !self.state.plies().is_empty()
            && self.placement.difference(shakmaty::Position::board(self.state.tip())).is_empty();
        // After a game only pieces at home show that the next one is set up.
        let home =
            self.state.phase() == Phase::WaitingSetup || (wrong & !Bitboard::BACKRANKS).is_empty();
        if named.count() < MANY_MEN || over || !home || !(1..=MAX_WRONG).contains(&wrong.count()) {
            return None;
        }
        let (placement, wrong) = match orientation {
            Orientation::Normal => (named.clone(), wrong),
            Orientation::Turned => (named.turned(), wrong.rotate_180()),
        };
        Some((start_of(&placement)?, orientation, wrong))
    }
}

/// The start with these men, White to move, and castling where king and rook stand at home; nothing
/// if no game can be played from it.
fn start_of(placement: &Placement) -> Option<Start> {
    let board = placement.board();
    let mut setup = Setup::empty();
    setup.board = board.clone();
    for (king, corners) in
        [(Square::E1, [Square::A1, Square::H1]), (Square::E8, [Square::A8, Square::H8])]
    {
        let side = Color::from_white(king == Square::E1);
        let at_home = |square, piece| board.piece_at(square) == Some(piece);
        if at_home(king, side.king()) {
            let rooks = corners.into_iter().filter(|&corner| at_home(corner, side.rook()));
            setup.castling_rights.extend(rooks);
        }
    }
    Start::from_setup(setup, CastlingMode::Standard).ok()
}

/// So many men on the board are meant to be an array.
const MANY_MEN: usize = 30;

/// With fewer men the array is being put away, or has hardly been begun.
const FEW_MEN: usize = 28;

/// How many squares may differ: the kings and queens and two more pieces of both sides exchanged.
const MAX_WRONG: usize = 8;
