//! Which alerts are due for what hands did, and which were raised without a reason.
//!
//! The simulator knows what it did. Each habit makes some alerts due and excuses others; an alert
//! about irregular play, displaced men or a doubtful record that nothing makes due or excuses is
//! false. Alerts that follow from the game and its clock alone (repetitions, time trouble, the
//! clock's stop) are not judged here.

use std::{ops::AddAssign, time::Duration};

use crate::sim::hand::{
    habit::Habit,
    script::{Deed, GameTruth},
};

/// Alerts as an arbiter counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlertTally {
    /// Raised, and the hands had given reason to.
    pub right: usize,
    /// Due and not raised.
    pub missed: usize,
    /// Raised without a reason.
    pub false_alarms: usize,
}

impl AddAssign for AlertTally {
    fn add_assign(&mut self, other: Self) {
        self.right += other.right;
        self.missed += other.missed;
        self.false_alarms += other.false_alarms;
    }
}

/// An alert that was raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raised {
    /// When.
    pub at: Duration,
    /// Its code as events have it.
    pub code: &'static str,
}

/// What a habit asks of whoever watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Duty {
    /// One of these is due; nothing if none is.
    due: &'static [&'static str],
    /// These are no mistake either.
    excused: &'static [&'static str],
}

/// Counts the alerts raised during a game against what its hands did. `line_is_bad` if reports were
/// lost or the line broke off: then a doubt about the record is never without a reason.
pub fn judge(truth: &GameTruth, raised: &[Raised], line_is_bad: bool) -> AlertTally {
    let mut tally = AlertTally::default();
    let at_hand = |deed: &Deed, raised: &Raised| {
        deed.from.saturating_sub(EARLY) <= raised.at && raised.at <= deed.until + LATE
    };
    for raised in raised.iter().filter(|raised| JUDGED.contains(&raised.code)) {
        let reason = |deed: &&Deed| {
            let duty = duty(deed);
            at_hand(deed, raised)
                && (duty.due.contains(&raised.code) || duty.excused.contains(&raised.code))
        };
        let doubted = line_is_bad && DOUBTS.contains(&raised.code);
        if doubted || truth.deeds.iter().any(|deed| reason(&deed)) {
            tally.right += 1;
        } else {
            tally.false_alarms += 1;
        }
    }
    tally.missed = truth
        .deeds
        .iter()
        .filter(|deed| {
            let due = duty(deed).due;
            let told = |raised: &Raised| due.contains(&raised.code) && at_hand(deed, raised);
            !due.is_empty() && !raised.iter().any(told)
        })
        .count();
    tally
}

fn duty(deed: &Deed) -> Duty {
    let (due, excused): (&[_], &[_]) = match deed.habit {
        Habit::Bumped => (&[], &["pieces_displaced"]),
        Habit::MoveChanged | Habit::Rested => (&[], &["illegal_move"]),
        Habit::ReplyBeforePress | Habit::HandsOverlap | Habit::PressForgotten => {
            (&[], &["press_back", "move_order_uncertain", "clock_running_wrong_side"])
        }
        _ => (&[], &[]),
    };
    Duty { due, excused }
}

/// The alerts that are judged: those that say that something is wrong with the play, the men or the
/// record.
const JUDGED: [&str; 17] = [
    "illegal_move",
    "promotion_incomplete",
    "king_captured",
    "clock_pressed_without_move",
    "both_kings_in_check",
    "illegal_position_persists",
    "play_continued_after_illegal",
    "press_back",
    "move_out_of_turn",
    "pieces_displaced",
    "position_mismatch",
    "clock_running_wrong_side",
    "start_position_wrong",
    "board_rotated",
    "move_order_uncertain",
    "gap_unresolved",
    "resynchronised",
];

/// Doubts about the record that missing reports excuse.
const DOUBTS: [&str; 8] = [
    "move_order_uncertain",
    "gap_unresolved",
    "resynchronised",
    "position_mismatch",
    "pieces_displaced",
    "illegal_move",
    "clock_pressed_without_move",
    "press_back",
];

/// An alert cannot come before its reason, but what is wrong may be seen before the deed counts as
/// begun.
const EARLY: Duration = Duration::from_secs(1);

/// A mismatch is told after twenty seconds, a missing man after a minute.
const LATE: Duration = Duration::from_secs(65);

#[cfg(test)]
mod tests {
    use super::*;

    fn truth(deeds: Vec<Deed>) -> GameTruth {
        let zero = Duration::ZERO;
        GameTruth { ready: zero, started: None, plies: Vec::new(), deeds, signal: None, over: zero }
    }

    fn deed(habit: Habit, from: u64) -> Deed {
        Deed { habit, from: Duration::from_secs(from), until: Duration::from_secs(from + 1) }
    }

    fn raised(code: &'static str, at: u64) -> Raised {
        Raised { at: Duration::from_secs(at), code }
    }

    #[test]
    fn an_alert_needs_a_reason_at_its_time() {
        let bumped = truth(vec![deed(Habit::Bumped, 100)]);
        let tally = |at| judge(&bumped, &[raised("pieces_displaced", at)], false);
        assert_eq!(tally(101), AlertTally { right: 1, ..AlertTally::default() });
        assert_eq!(tally(50), AlertTally { false_alarms: 1, ..AlertTally::default() });
        assert_eq!(tally(500), AlertTally { false_alarms: 1, ..AlertTally::default() });
    }

    #[test]
    fn a_bad_line_excuses_doubts() {
        let quiet = truth(Vec::new());
        let alert = [raised("gap_unresolved", 10)];
        assert_eq!(judge(&quiet, &alert, true).right, 1);
        assert_eq!(judge(&quiet, &alert, false).false_alarms, 1);
        assert_eq!(judge(&quiet, &[raised("start_position_wrong", 1)], true).false_alarms, 1);
    }

    #[test]
    fn what_follows_from_the_game_is_not_judged() {
        let alert = [raised("threefold_available", 10)];
        assert_eq!(judge(&truth(Vec::new()), &alert, false), AlertTally::default());
    }
}
