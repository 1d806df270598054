//! The state of one table, which changes only by applying an event.

use shakmaty::{Chess, Color, Move, Position, san::SanPlus};

use super::{
    alert::{Alert, Code, Status},
    clock::ClockView,
    ending::{EndReason, GameResult},
    event::{Event, Phase},
    orientation::Orientation,
    placement::Placement,
    ply::{Ply, Step},
    start::Start,
};

/// Everything that is known and published about one table's game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    phase: Phase,
    start: Start,
    orientation: Orientation,
    plies: Vec<Ply>,
    /// `positions[i]` stands before ply `i`; one more than plies.
    positions: Vec<Chess>,
    result: Option<(GameResult, EndReason)>,
    alerts: Vec<Alert>,
    clock: Option<ClockView>,
    placement: Option<Placement>,
    link_up: bool,
    game: u32,
    revision: u32,
}

impl Default for State {
    fn default() -> Self {
        let start = Start::classical();
        Self {
            phase: Phase::default(),
            orientation: Orientation::default(),
            plies: Vec::new(),
            positions: vec![start.position().clone()],
            start,
            result: None,
            alerts: Vec::new(),
            clock: None,
            placement: None,
            link_up: false,
            game: 0,
            revision: 0,
        }
    }
}

impl State {
    /// Applies one event. Total: an event that does not fit this state (it came from another one)
    /// changes as much as is legal and no more.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::Phase(phase) => self.phase = *phase,
            Event::GameStarted { start, orientation } => {
                self.orientation = *orientation;
                self.positions = vec![start.position().clone()];
                self.start = start.clone();
                self.plies.clear();
                self.result = None;
                // A game that begins from a wrong array has it until the arbiter or its end.
                self.alerts.retain(|alert| alert.code() == Code::StartPositionWrong);
                self.game += 1;
                self.revision = 0;
            }
            Event::Plies { from, plies, .. } => self.replace(*from, plies),
            Event::GameEnded { result, reason } => {
                self.result = Some((*result, *reason));
                self.alerts.retain(|alert| alert.code().outlives_the_game());
            }
            Event::Alert { status, alert } => self.note(*status, alert),
            Event::Clock(view) => self.clock = Some(*view),
            Event::ClockLost => self.clock = None,
            Event::Placement(placement) => self.placement = Some(placement.clone()),
            Event::Link { up } => self.link_up = *up,
        }
    }

    fn note(&mut self, status: Status, alert: &Alert) {
        if status == Status::Momentary {
            return;
        }
        self.alerts.retain(|open| open.code() != alert.code());
        if status != Status::Cleared {
            self.alerts.push(alert.clone());
        }
    }

    fn replace(&mut self, from: usize, plies: &[Ply]) {
        if from > self.plies.len() {
            return;
        }
        let moved = |a: &Ply, b: &Ply| a.step == b.step;
        let published = &self.plies[from..];
        if published.len() > plies.len()
            || !published.iter().zip(plies).all(|(old, new)| moved(old, new))
        {
            self.revision += 1;
        }
        for (i, ply) in plies.iter().enumerate() {
            let n = from + i;
            if self.plies.get(n).is_some_and(|old| moved(old, ply)) {
                self.plies[n] = ply.clone();
                continue;
            }
            self.plies.truncate(n);
            self.positions.truncate(n + 1);
            let Some(position) = ply.step.after(&self.positions[n]) else {
                return;
            };
            self.plies.push(ply.clone());
            self.positions.push(position);
        }
        self.plies.truncate(from + plies.len());
        self.positions.truncate(from + plies.len() + 1);
    }

    /// Where in its life the table is.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The start of the present game, or of the last one.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// How the board lies.
    pub fn orientation(&self) -> Orientation {
        self.orientation
    }

    /// The mainline.
    pub fn plies(&self) -> &[Ply] {
        &self.plies
    }

    /// The position before ply `n`; the last one stands now. Out of range only above
    /// [`plies`](Self::plies)`.len()`.
    pub fn position(&self, n: usize) -> Option<&Chess> {
        self.positions.get(n)
    }

    /// The position that the mainline has reached.
    pub fn tip(&self) -> &Chess {
        &self.positions[self.positions.len() - 1]
    }

    /// Ply `n` in SAN with check and mate signs; nothing if there is none or it is irregular.
    pub fn san(&self, n: usize) -> Option<String> {
        let m = self.plies.get(n)?.legal()?;
        Some(SanPlus::from_move(self.positions.get(n)?.clone(), m).to_string())
    }

    /// The moves from ply `from` on, up to the first irregular ply or the end.
    pub fn moves(&self, from: usize) -> impl Iterator<Item = Move> {
        self.plies.iter().skip(from).map_while(Ply::legal)
    }

    /// How many plies there are up to the last irregular one, itself included; 0 without any.
    pub fn irregular_until(&self) -> usize {
        let regular = self.plies.iter().rev().take_while(|ply| ply.legal().is_some()).count();
        self.plies.len() - regular
    }

    /// The first irregular ply, if play went on after one (Article 7.5).
    pub fn first_irregular(&self) -> Option<usize> {
        self.plies.iter().position(|ply| matches!(ply.step, Step::Irregular(_)))
    }

    /// Who is to move there.
    pub fn turn(&self) -> Color {
        self.tip().turn()
    }

    /// The result, if there is one, and why.
    pub fn result(&self) -> Option<(GameResult, EndReason)> {
        self.result
    }

    /// The alerts that stand, the oldest first; at most one of each code.
    pub fn alerts(&self) -> &[Alert] {
        &self.alerts
    }

    /// The standing alert of this kind, if there is one.
    pub fn alert(&self, code: Code) -> Option<&Alert> {
        self.alerts.iter().find(|alert| alert.code() == code)
    }

    /// The last reading of the clock, if one is connected.
    pub fn clock(&self) -> Option<&ClockView> {
        self.clock.as_ref()
    }

    /// What stands on the board, once it was seen.
    pub fn placement(&self) -> Option<&Placement> {
        self.placement.as_ref()
    }

    /// Whether the board answers.
    pub fn link_up(&self) -> bool {
        self.link_up
    }

    /// Which game this is at the table since the first start: 1 for the first, 0 before it.
    pub fn game(&self) -> u32 {
        self.game
    }

    /// How often plies that had been published were replaced or withdrawn in this game. A reader
    /// that only appends notices by it that it must read again.
    pub fn revision(&self) -> u32 {
        self.revision
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{Move, san::San};

    use super::*;
    use crate::game::{event::Cause, time::Timestamp};

    fn plies(position: &Chess, sans: &[&str]) -> Vec<Ply> {
        let mut position = position.clone();
        let mut plies = Vec::new();
        for san in sans {
            let m: Move = san.parse::<San>().unwrap().to_move(&position).unwrap();
            plies.push(Ply::made(m, Timestamp::ZERO));
            position = position.play(m).unwrap();
        }
        plies
    }

    fn line(state: &State) -> String {
        let sans: Vec<_> = (0..).map_while(|i| state.san(i)).collect();
        sans.join(" ")
    }

    fn replace(state: &mut State, from: usize, sans: &[&str]) {
        let plies = plies(state.position(from).unwrap(), sans);
        state.apply(&Event::Plies { from, plies, cause: Cause::Settled });
    }

    #[test]
    fn the_mainline_changes_by_replacing_a_suffix() {
        let mut state = State::default();
        replace(&mut state, 0, &["e4", "e5", "Nf3"]);
        assert_eq!((line(&state).as_str(), state.revision()), ("e4 e5 Nf3", 0));
        replace(&mut state, 2, &["Nc3", "Nf6"]);
        assert_eq!((line(&state).as_str(), state.revision()), ("e4 e5 Nc3 Nf6", 1));
        replace(&mut state, 2, &[]);
        assert_eq!((line(&state).as_str(), state.revision()), ("e4 e5", 2));
        assert_eq!(state.turn(), Color::White);
    }

    #[test]
    fn completing_a_ply_is_no_revision() {
        let mut state = State::default();
        replace(&mut state, 0, &["e4", "e5"]);
        let mut again = state.plies().to_vec();
        again[0].completed = true;
        state.apply(&Event::Plies { from: 0, plies: again, cause: Cause::Pressed(Color::White) });
        assert!(state.plies()[0].completed);
        assert_eq!((line(&state).as_str(), state.revision()), ("e4 e5", 0));
    }

    #[test]
    fn an_event_from_elsewhere_cannot_break_the_mainline() {
        let mut state = State::default();
        replace(&mut state, 0, &["e4"]);
        let foreign = state.plies().to_vec();
        state.apply(&Event::Plies { from: 7, plies: foreign.clone(), cause: Cause::Settled });
        assert_eq!(line(&state), "e4");
        state.apply(&Event::Plies { from: 1, plies: foreign, cause: Cause::Settled });
        assert_eq!(line(&state), "e4");
    }
}
