//! Hands that play games on a board as people do.
//!
//! [`play`] makes a script of physical acts from a list of games: who lifts, places and presses what,
//! to the millisecond. What the hands do besides is a [`preset::Preset`]; the same games, preset and
//! seed give the same script. The truth about each game is told beside the acts.
//!
//! Hands keep to one promise whatever the preset: the men stand as the position asks when a move is
//! complete, and nobody presses before. With the presets `clean` and `orders` every move is pressed,
//! and the board stands still from then until the opponent touches it.

use std::time::Duration;

use shakmaty::Position;

use self::{
    plan::Plan,
    preset::Preset,
    script::{Action, Script, Step},
};
use crate::sim::{random::Random, score::Score};

pub mod habit;
pub mod preset;
pub mod script;

mod aftermath;
mod motion;
mod plan;

/// Plays these games one after the other on one board, the men being set up by hand in between. The
/// first game's men stand ready from the beginning.
///
/// A clock that would run out before its time is set more generously, in steps; only a record that
/// says so ends with a fallen flag.
pub fn play(scores: &[Score], preset: &Preset, seed: u64) -> Script {
    let random = Random::new(seed);
    let mut script = Script::default();
    let Some(first) = scores.first() else { return script };
    let mut men = first.start().board().clone();
    for (number, score) in scores.iter().enumerate() {
        let branch = random.branch(number as u64);
        let plan = Plan::of_game(score, preset, &branch, &men, script.end);
        men = plan.men;
        script.steps.extend(plan.steps);
        script.games.push(plan.truth);
        script.end = plan.now;
    }
    script.end += SILENCE;
    pull_cables(&mut script, preset, &mut random.branch(u64::MAX));
    // Two hands are planned one after the other and may be over the board together; the order of acts
    // at the same moment is kept.
    script.steps.sort_by_key(|step| step.at);
    script
}

/// Adds the outages of the line.
fn pull_cables(script: &mut Script, preset: &Preset, random: &mut Random) {
    let Some(every) = preset.wire.outage_every else { return };
    let mut at = every.even(random);
    while at + Duration::from_millis(preset.wire.outage.to.into()) < script.end {
        script.steps.push(Step { at, action: Action::Unplug });
        at += preset.wire.outage.even(random);
        script.steps.push(Step { at, action: Action::Replug });
        at += every.even(random);
    }
}

/// How long the board is watched after the last act.
const SILENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
