//! Before the first move: the array, which way round it stands, and when a game begins from it.

mod wrong;

use shakmaty::{Bitboard, Color, Position};

use super::{
    super::{
        alert::Code,
        ending::EndReason,
        event::{Cause, Event, Phase},
        evidence::Press,
        orientation::Orientation,
        placement::Placement,
        settings::StartRule,
        start::Start,
        window::{Standing, Window},
    },
    Timers, Tracker,
};

impl Tracker {
    /// Looks whether a starting array stands on the board since the last change.
    pub(super) fn watch_array(&mut self) {
        self.timers.setup = None;
        let playing = self.state.phase().is_playing();
        let Some((start, orientation)) = self.array_on_board() else {
            if !playing && self.armed.is_none() {
                self.watch_wrong_array();
            }
            return;
        };
        if playing && self.is_explained() {
            return; // The game itself came back to the array: knights can do that.
        }
        if !playing {
            self.arm(start, orientation);
        }
        self.timers.setup = Some(self.now.after(self.settings.setup_stable_ms));
    }

    fn is_explained(&self) -> bool {
        let mut window = self.window.clone();
        window.see(&self.sight());
        window.standing(&self.placement) != Standing::Off
    }

    /// The array has stood for its time.
    pub(super) fn array_stood(&mut self) {
        let Some((start, orientation)) = self.array_on_board() else {
            self.wrong_array_stood();
            return;
        };
        self.clear(Code::StartPositionWrong);
        match self.state.phase() {
            Phase::WaitingSetup | Phase::Finished | Phase::Ready => {
                self.arm(start, orientation);
                self.set_phase(Phase::Ready);
            }
            Phase::Running | Phase::Paused if !self.clock_ran && self.state.clock().is_some() => {
                self.withdraw_to(0, Cause::SetUpAgain);
                self.arm(start, orientation);
                self.set_phase(Phase::Ready);
            }
            // A game without a result: it stays as it is until the next one really begins.
            Phase::Running | Phase::Paused => self.arm(start, orientation),
        }
    }

    pub(super) fn arm(&mut self, start: Start, orientation: Orientation) {
        self.turn_board(orientation);
        self.window = Window::new(start.position().clone(), 0);
        self.evidence.clear();
        self.note_scene(false);
        self.armed = Some(start);
        self.pending = None;
        self.gap = false;
    }

    /// Begins the game for which the array stood, if it has not begun; `running` is whether its
    /// clock runs, which it also does if there is none.
    pub(super) fn begin(&mut self, running: bool) {
        let Some(start) = self.armed.take() else {
            return;
        };
        self.emit(Event::GameStarted { start, orientation: self.orientation });
        self.stopped_at = None;
        self.analysing = false;
        let clock = self.state.clock().copied();
        self.clock_ran = clock.is_some_and(|clock| clock.running.is_some());
        self.set_phase(if running { Phase::Running } else { Phase::Paused });
    }

    /// A standing clock was started and runs for `side`.
    pub(super) fn clock_started(&mut self, side: Color) {
        let array_stands = self.window.standing(&self.placement) == Standing::On(0);
        if self.armed.is_some() && !(array_stands || self.state.phase().is_playing()) {
            return;
        }
        if self.armed.is_some() && array_stands {
            self.begin(true);
        } else if self.armed.is_none() && !self.state.phase().is_playing() {
            self.begin_from_wrong_array();
        }
        if self.state.phase().is_playing() {
            self.clock_ran = true;
            self.set_phase(Phase::Running);
            self.stopped_at = None;
            self.analysing = false;
            let clock_ms = self.state.clock().map_or(0, |clock| clock.ms(!side));
            self.completed_by_start(Press { by: !side, at: self.now, clock_ms });
        }
    }

    /// Ends the game.
    pub(super) fn end(&mut self, result: super::super::GameResult, reason: EndReason) {
        self.emit(Event::GameEnded { result, reason });
        self.set_phase(Phase::Finished);
        self.armed = None;
        self.pending = None;
        self.timers = Timers::default();
    }

    /// The array is being put away: more men are off it than any first moves could explain.
    pub(super) fn disarm_if_cleared(&mut self) {
        let Some(start) = &self.armed else {
            return;
        };
        let squares = self.placement.difference(start.position().board()).count();
        if squares > MAX_SQUARES_OF_FIRST_MOVES && !self.state.phase().is_playing() {
            self.armed = None;
            self.timers.settle = None;
            if self.state.phase() == Phase::Ready {
                self.set_phase(Phase::WaitingSetup);
            }
        }
    }

    fn array_on_board(&self) -> Option<(Start, Orientation)> {
        self.arrays.find(self.named.as_ref()?)
    }
}

/// The placements from which a game starts, in the board's own frame.
#[derive(Clone, Debug)]
pub(super) enum Arrays {
    /// One position, with the board in normal use and turned.
    One { start: Box<Start>, normal: Placement, turned: Placement },
    /// Any Chess960 array.
    AnyChess960,
}

impl Arrays {
    /// The arrays that `rule` allows.
    pub(super) fn new(rule: &StartRule) -> Self {
        let start = match rule {
            StartRule::Classical => Start::classical(),
            StartRule::Position(start) => Start::clone(start),
            StartRule::AnyChess960 => return Self::AnyChess960,
        };
        let normal = start.placement();
        Self::One { start: Box::new(start), turned: normal.turned(), normal }
    }

    /// How the board lies under the array that `named` is meant to be, and what stands otherwise.
    /// Nothing where any array may be meant.
    pub(super) fn nearest(&self, named: &Placement) -> Option<(Orientation, Bitboard)> {
        let Self::One { normal, turned, .. } = self else {
            return None;
        };
        let wrong = |array: &Placement| named.difference(array.board());
        let (as_is, around) = (wrong(normal), wrong(turned));
        Some(if as_is.count() <= around.count() {
            (Orientation::Normal, as_is)
        } else {
            (Orientation::Turned, around)
        })
    }

    /// The start whose array `named` is, and how the board lies under it.
    fn find(&self, named: &Placement) -> Option<(Start, Orientation)> {
        match self {
            Self::One { start, normal, .. } if normal == named => {
                Some((Start::clone(start), Orientation::Normal))
            }
            Self::One { start, turned, .. } if turned == named => {
                Some((Start::clone(start), Orientation::Turned))
            }
            Self::AnyChess960 if named.count() == 32 => Start::chess960_array(named)
                .map(|start| (start, Orientation::Normal))
                .or_else(|| {
                    let start = Start::chess960_array(&named.turned())?;
                    Some((start, Orientation::Turned))
                }),
            Self::One { .. } | Self::AnyChess960 => None,
        }
    }
}

/// Both players' first moves touch four squares, and a man in each hand two more.
const MAX_SQUARES_OF_FIRST_MOVES: usize = 6;
