//! The written record of a game that shall be played.

use std::time::Duration;

use shakmaty::{CastlingMode, Chess, Color, Move, Outcome, Position};

use crate::sim::time_control::TimeControl;

/// One ply of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoredPly {
    /// The move, legal in the position before it.
    pub m: Move,
    /// What the mover's clock showed after the press, if the record says so.
    pub clock: Option<Duration>,
}

/// A game as a score sheet has it: every move is legal where it stands.
#[derive(Clone, Debug)]
pub struct Score {
    tags: Vec<(String, String)>,
    start: Chess,
    plies: Vec<ScoredPly>,
    outcome: Outcome,
    time_control: Option<TimeControl>,
    lost_on_time: bool,
}

impl Score {
    /// An empty record of a game that begins from this position.
    pub fn new(start: Chess) -> Self {
        Self {
            tags: Vec::new(),
            start,
            plies: Vec::new(),
            outcome: Outcome::Unknown,
            time_control: None,
            lost_on_time: false,
        }
    }

    /// Plays these moves from this position, as far as they are legal, and takes the outcome from the
    /// final position.
    pub fn from_moves(start: Chess, moves: impl IntoIterator<Item = Move>) -> Self {
        let mut score = Self::new(start);
        let mut pos = score.start.clone();
        for m in moves {
            let Ok(next) = pos.clone().play(m) else { break };
            score.plies.push(ScoredPly { m, clock: None });
            pos = next;
        }
        score.outcome = pos.outcome();
        score
    }

    /// The same record with this result.
    pub fn with_outcome(mut self, outcome: Outcome) -> Self {
        self.outcome = outcome;
        self
    }

    /// The same record with this time control.
    pub fn with_time_control(mut self, control: TimeControl) -> Self {
        self.time_control = Some(control);
        self
    }

    /// The tags of the record in the order they were written.
    pub fn tags(&self) -> &[(String, String)] {
        &self.tags
    }

    /// The value of the first tag of this name.
    pub fn tag(&self, name: &str) -> Option<&str> {
        self.tags.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Where the game begins.
    pub fn start(&self) -> &Chess {
        &self.start
    }

    /// Whether castling follows the rules of Chess960.
    pub fn castling_mode(&self) -> CastlingMode {
        self.start.castles().mode()
    }

    /// The plies in order.
    pub fn plies(&self) -> &[ScoredPly] {
        &self.plies
    }

    /// The position after the last ply.
    pub fn end(&self) -> Chess {
        let mut pos = self.start.clone();
        for ply in &self.plies {
            pos.play_unchecked(ply.m);
        }
        pos
    }

    /// The result on the score sheet.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Whether the record says that the loser overstepped the time.
    pub fn lost_on_time(&self) -> bool {
        self.lost_on_time
    }

    /// The time control: the one of the record or, failing that, one under which its clock readings are
    /// possible. Nothing if it has no readings either.
    pub fn time_control(&self) -> Option<TimeControl> {
        self.time_control.clone().or_else(|| self.guessed_time_control())
    }

    /// The least full minute that explains the first readings, with the usual increment that explains
    /// the largest rise.
    fn guessed_time_control(&self) -> Option<TimeControl> {
        let readings = |color: Color| {
            let parity = usize::from(color != self.start.turn());
            self.plies.iter().skip(parity).step_by(2).map(|ply| ply.clock)
        };
        let first = Color::ALL
            .into_iter()
            .filter_map(|color| readings(color).flatten().next())
            .max()
            .filter(|first| !first.is_zero())?;
        let mut rise = Duration::ZERO;
        for color in Color::ALL {
            let all: Vec<_> = readings(color).collect();
            for pair in all.windows(2) {
                let [Some(before), Some(after)] = *pair else { continue };
                // A larger rise is a new period or the arbiter's doing.
                let by = after.saturating_sub(before);
                if by <= LARGEST_INCREMENT {
                    rise = rise.max(by);
                }
            }
        }
        let increment =
            USUAL_INCREMENTS.into_iter().map(Duration::from_secs).find(|&usual| usual >= rise)?;
        let minutes = first.saturating_sub(increment).as_secs() / 60 + 1;
        Some(TimeControl::single(Duration::from_secs(minutes * 60), increment))
    }

    pub(super) fn set_facts(
        &mut self,
        tags: Vec<(String, String)>,
        control: Option<TimeControl>,
        lost_on_time: bool,
    ) {
        self.tags = tags;
        self.time_control = control;
        self.lost_on_time = lost_on_time;
    }

    pub(super) fn set_outcome(&mut self, outcome: Outcome) {
        self.outcome = outcome;
    }

    pub(super) fn push(&mut self, m: Move) {
        self.plies.push(ScoredPly { m, clock: None });
    }

    pub(super) fn set_last_clock(&mut self, clock: Duration) {
        if let Some(ply) = self.plies.last_mut() {
            ply.clock = Some(clock);
        }
    }
}

const LARGEST_INCREMENT: Duration = Duration::from_mins(1);
const USUAL_INCREMENTS: [u64; 10] = [0, 1, 2, 3, 5, 10, 15, 20, 30, 60];

#[cfg(test)]
mod tests {
    use shakmaty::{KnownOutcome, san::San};

    use super::*;

    fn score(moves: &str) -> Score {
        let mut pos = Chess::new();
        let mut list = Vec::new();
        for san in moves.split_whitespace() {
            let m = san.parse::<San>().unwrap().to_move(&pos).unwrap();
            pos.play_unchecked(m);
            list.push(m);
        }
        Score::from_moves(Chess::new(), list)
    }

    #[test]
    fn takes_the_outcome_from_the_final_position() {
        assert_eq!(
            score("f3 e5 g4 Qh4").outcome(),
            Outcome::Known(KnownOutcome::Decisive { winner: Color::Black })
        );
        assert_eq!(score("e4 e5").outcome(), Outcome::Unknown);
    }

    #[test]
    fn stops_before_an_illegal_move() {
        let m = score("e4").plies()[0].m;
        assert_eq!(Score::from_moves(Chess::new(), [m, m]).plies().len(), 1);
    }

    #[test]
    fn guesses_a_time_control_from_readings() {
        let mut record = Score::new(Chess::new());
        assert_eq!(record.time_control(), None);
        for (ply, seconds) in score("e4 e5 Nf3 Nc6 Bb5 a6")
            .plies()
            .iter()
            .zip([5_449_u64, 5_433, 5_469, 5_448, 5_491, 7_466])
        {
            record.push(ply.m);
            record.set_last_clock(Duration::from_secs(seconds));
        }
        assert_eq!(record.time_control().unwrap().to_string(), "5460+30");
    }
}
