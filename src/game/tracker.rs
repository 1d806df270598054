//! From observations to events: settling, presses, the life of a game.
//!
//! Placement first: what stands on the board decides, the way it came there only helps to choose.
//! The tracker is driven from outside: [`handle`](Tracker::handle) takes a fact,
//! [`deadline`](Tracker::deadline) says when it wants to be woken,
//! [`handle_timeout`](Tracker::handle_timeout) wakes it (early or twice is harmless), and
//! [`poll_event`](Tracker::poll_event) hands out what was decided, to be drained after each call.
//! Time must not go backwards; if it does, it counts as standing still.

mod doubt;

mod irregular;

mod play;

mod press;

mod reread;

mod setup;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use shakmaty::{Color, Square};

use super::{
    clock::{self, ClockReading, ClockSignal, ClockView},
    ending::{self, EndReason},
    event::{Event, Phase},
    evidence::{Evidence, Press, Scene},
    observation::{Observation, Seat},
    orientation::Orientation,
    placement::{Key, Placement},
    ply::Ply,
    settings::Settings,
    start::Start,
    state::State,
    time::Timestamp,
    window::{Sight, Standing, Window},
};
use doubt::Orders;
use irregular::Frozen;
use setup::Arrays;

/// The tracker of one table.
#[derive(Clone, Debug)]
pub struct Tracker {
    settings: Settings,
    arrays: Arrays,
    state: State,
    events: VecDeque<Event>,
    now: Timestamp,
    /// What stands on the board in the board's own frame, once a dump told it.
    named: Option<Placement>,
    /// The same as White sees it.
    placement: Placement,
    /// The key of what stood there before the last change.
    key: Key,
    orientation: Orientation,
    window: Window,
    /// The array that stands, or stood when the pieces began to move, if no game has begun from it.
    armed: Option<Start>,
    /// Whether the clock ran during this game.
    clock_ran: bool,
    /// While the clock stands: how many plies the game had when it was stopped or was last pressed.
    stopped_at: Option<usize>,
    /// The players move the men about while the clock stands: this is no game.
    analysing: bool,
    /// A press whose move is not on the board yet, or not for certain.
    pending: Option<Press>,
    /// When each square was last emptied.
    emptied_at: [Timestamp; 64],
    /// When men of White and of Black were last lifted or put down.
    moved_at: (Timestamp, Timestamp),
    /// A king's made move that its step to the centre replaced, and its index.
    before_step: Option<(usize, Ply)>,
    /// Presses in a row for which no move was found.
    missed: usize,
    /// The board was away: its next reading, and the clock's, tell of a time that nobody saw.
    away: Away,
    /// Reports may be missing: longer lines may explain the placement.
    gap: bool,
    /// Several orders of plies lead to what was just read from the board.
    orders: Option<Orders>,
    /// A press for which no legal move stood there: the record waits before it.
    frozen: Option<Frozen>,
    /// What was seen lately, to be read again when it makes no sense.
    evidence: Evidence,
    /// Presses in a row that completed a ply without the board standing exactly.
    inexact: usize,
    /// How many scenes must have been noted before it is worth reading again.
    reread_at: usize,
    /// How many scenes must have been noted before a doubtful decision is looked at again.
    review_at: Option<usize>,
    timers: Timers,
}

/// What has not been read again since the board was away.
#[derive(Clone, Copy, Debug)]
struct Away {
    board: bool,
    clock: bool,
}

/// When the tracker wants to be woken, by reason.
#[derive(Clone, Copy, Debug, Default)]
struct Timers {
    settle: Option<Timestamp>,
    press: Option<Timestamp>,
    signal: Option<Timestamp>,
    setup: Option<Timestamp>,
}

impl Tracker {
    /// A tracker that has seen nothing yet.
    pub fn new(settings: Settings) -> Self {
        let start = Start::classical();
        Self {
            arrays: Arrays::new(&settings.start),
            settings,
            state: State::default(),
            events: VecDeque::new(),
            now: Timestamp::ZERO,
            named: None,
            placement: Placement::empty(),
            key: Key::default(),
            orientation: Orientation::Normal,
            window: Window::new(start.position().clone(), 0),
            armed: None,
            clock_ran: false,
            stopped_at: None,
            analysing: false,
            pending: None,
            emptied_at: [Timestamp::ZERO; 64],
            moved_at: (Timestamp::ZERO, Timestamp::ZERO),
            before_step: None,
            missed: 0,
            away: Away { board: true, clock: true },
            gap: false,
            orders: None,
            frozen: None,
            evidence: Evidence::default(),
            inexact: 0,
            reread_at: 0,
            review_at: None,
            timers: Timers::default(),
        }
    }

    /// What is decided so far.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Takes one fact, observed at `at`.
    pub fn handle(&mut self, at: Timestamp, observation: &Observation) {
        self.handle_timeout(at);
        match observation {
            Observation::Dump(named) => self.dumped(named),
            Observation::Change { square, piece } => {
                let Some(named) = &mut self.named else {
                    return; // The first dump will tell.
                };
                if named.set(*square, *piece) != *piece {
                    let square: Square = self.orientation.square(*square);
                    self.placement.set(square, *piece);
                    if piece.is_none() {
                        self.emptied_at[usize::from(square)] = self.now;
                    }
                    self.changed(false);
                }
            }
            Observation::Clock(reading) => self.clock_read(reading),
            Observation::ClockAbsent => {
                if self.state.clock().is_some() {
                    self.emit(Event::ClockLost);
                }
            }
            Observation::Link { up } => {
                // What was missed is told by the next dump. Until then what stood last still stands, and
                // a man in the air there is no reason to think up moves.
                if !up || self.state.link_up() {
                    self.away = Away { board: true, clock: true };
                }
                if self.state.link_up() != *up {
                    self.emit(Event::Link { up: *up });
                }
            }
        }
    }

    /// Lets everything happen whose time has come by `at`.
    pub fn handle_timeout(&mut self, at: Timestamp) {
        while let Some(due) = self.deadline().filter(|&due| due <= at) {
            self.now = self.now.max(due);
            let timers = &mut self.timers;
            let reached = |timer: &mut Option<Timestamp>| timer.take_if(|t| *t <= due).is_some();
            let (setup, press, settle, signal) = (
                reached(&mut timers.setup),
                reached(&mut timers.press),
                reached(&mut timers.settle),
                reached(&mut timers.signal),
            );
            if setup {
                self.array_stood();
            }
            if press {
                self.press_reported();
            }
            if settle {
                self.settled();
            }
            if signal {
                self.signal_stood();
            }
        }
        self.now = self.now.max(at);
    }

    /// When to call [`handle_timeout`](Self::handle_timeout), if nothing else happens before.
    pub fn deadline(&self) -> Option<Timestamp> {
        let Timers { settle, press, signal, setup } = self.timers;
        earlier(earlier(settle, press), earlier(signal, setup))
    }

    /// The next decision that has not been handed out.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn emit(&mut self, event: Event) {
        self.state.apply(&event);
        self.events.push_back(event);
    }

    fn set_phase(&mut self, phase: Phase) {
        if self.state.phase() != phase {
            self.emit(Event::Phase(phase));
        }
    }

    fn dumped(&mut self, named: &Placement) {
        let first = self.named.is_none();
        let returned = std::mem::take(&mut self.away.board);
        if self.named.as_ref() == Some(named) {
            self.evidence.confirm();
            if returned {
                self.back_as_before();
            }
            return;
        }
        // Had every report come through, the dump would have told nothing new.
        self.gap = true;
        self.named = Some(named.clone());
        self.placement = self.oriented(named);
        self.changed(true);
        if returned {
            self.returned();
        }
        if self.window.standing(&self.placement) == Standing::On(self.window.made()) {
            self.gap = false; // Nothing is missing: the game stands.
        }
        if first && self.armed.is_some() {
            // Nobody was seen setting it up: it stood there before the board was read.
            self.timers.setup = None;
            self.array_stood();
        }
    }

    fn oriented(&self, named: &Placement) -> Placement {
        match self.orientation {
            Orientation::Normal => named.clone(),
            Orientation::Turned => named.turned(),
        }
    }

    fn turn_board(&mut self, orientation: Orientation) {
        if self.orientation != orientation {
            self.orientation = orientation;
            if let Some(named) = &self.named {
                self.placement = self.oriented(named);
            }
        }
    }

    /// The placement on the board is another one than a moment ago.
    fn changed(&mut self, told_by_dump: bool) {
        self.note_sides();
        self.note_scene(told_by_dump);
        self.watch_array();
        self.emit(Event::Placement(self.placement.clone()));
        if self.is_following() {
            let (placement, emptied_at) = (&self.placement, &self.emptied_at);
            let had = self.window.base() + self.window.len();
            let press = self.pending.map(|press| (press.by, press.at));
            self.window.see(&Sight { placement, at: self.now, emptied_at, press });
            if let Some(stopped_at) = self.stopped_at {
                // While the clock stands a move that is put back was only tried.
                let has = self.window.base() + self.window.len();
                self.analysing |= had > stopped_at && has <= stopped_at;
            }
            self.disarm_if_cleared();
            self.timers.settle = Some(self.now.after(self.settings.settle_ms));
            self.expect_report();
            self.answered();
        }
        self.timers.signal = ending::signalled(&self.placement)
            .filter(|_| self.state.phase().is_playing())
            .map(|_| self.now.after(self.settings.signal_hold_ms));
    }

    fn note_scene(&mut self, told_by_dump: bool) {
        let placement = self.placement.clone();
        self.evidence.note_scene(Scene { at: self.now, placement, told_by_dump, confirmed: false });
    }

    fn sight(&self) -> Sight<'_> {
        let (placement, emptied_at) = (&self.placement, &self.emptied_at);
        let press = self.pending.map(|press| (press.by, press.at));
        Sight { placement, at: self.now, emptied_at, press }
    }

    /// Notices whose men are not where they were.
    fn note_sides(&mut self) {
        let key = self.placement.key();
        if key.of_side(Color::White) != self.key.of_side(Color::White) {
            self.moved_at.0 = self.now;
        }
        if key.of_side(Color::Black) != self.key.of_side(Color::Black) {
            self.moved_at.1 = self.now;
        }
        self.key = key;
    }

    /// Whether there is a game, or an array from which one may begin. A dead position ends the game
    /// (5.2.2), but players who have not noticed play on, and what they play is recorded.
    fn is_following(&self) -> bool {
        self.armed.is_some() || self.state.phase().is_playing() || self.plays_on()
    }

    fn plays_on(&self) -> bool {
        self.state.phase() == Phase::Finished
            && matches!(self.state.result(), Some((_, EndReason::DeadPosition)))
    }

    fn clock_read(&mut self, reading: &ClockReading) {
        let opposite = self.settings.seat == Seat::OppositeSide;
        let left = clock::left_side(self.orientation, opposite);
        let view = ClockView::new(reading, left, self.now);
        let before = self.state.clock().copied();
        // A clock that is read while the board is away has its own road, and was never away.
        let unseen = std::mem::take(&mut self.away.clock) && self.state.link_up();
        match clock::signal(before.as_ref(), &view) {
            // Who pressed last while nobody saw it, and when, cannot be known.
            Some(ClockSignal::Pressed(_)) if unseen => self.pending = None,
            Some(ClockSignal::Pressed(by)) => {
                self.pressed(Press { by, at: self.now, clock_ms: view.ms(by) });
            }
            // A clock that comes back while the game goes on tells nothing about the time between.
            Some(ClockSignal::Started(_))
                if before.is_none() && self.state.phase() == Phase::Running => {}
            Some(ClockSignal::Started(side)) => self.clock_started(side),
            Some(ClockSignal::PressedStanding(by)) => {
                self.pressed_standing(Press { by, at: self.now, clock_ms: view.ms(by) });
            }
            Some(ClockSignal::Stopped) => {
                // What stands by now was played while it ran.
                let standing = match self.window.standing(&self.placement) {
                    Standing::On(n) => self.window.base() + n,
                    Standing::Off => 0,
                };
                self.stopped_at = Some(self.state.plies().len().max(standing));
                if self.state.phase() == Phase::Running {
                    self.set_phase(Phase::Paused);
                }
            }
            None => {}
        }
        if before.is_none_or(|before| !before.same_as(&view)) {
            self.emit(Event::Clock(view));
        }
    }
}

fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        _ => one.or(other),
    }
}
