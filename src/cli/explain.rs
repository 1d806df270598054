//! Why the mainline changed, in a line a person understands.

use shakmaty::{Color, Position};

use super::ticker;
use crate::{
    game::{Cause, Event, State, Timestamp},
    hall::Recorded,
};

/// One line for each ply that `recorded` added, completed or withdrew; `before` and `after` are the
/// states of its table around it.
pub(super) fn lines(recorded: &Recorded, before: &State, after: &State) -> Vec<String> {
    let at = seconds(recorded.at);
    match &recorded.event {
        Event::Plies { cause, .. } => changes(at.as_str(), *cause, before, after),
        Event::GameStarted { .. } => vec![format!("{at}  game {} begins", after.game())],
        Event::GameEnded { result, reason } => {
            vec![format!("{at}  {}: {}", result.as_str(), reason.as_str().replace('_', " "))]
        }
        Event::Alert { status, alert } => {
            let words = ticker::words(after, *status, alert);
            words.map(|words| format!("{at}  {words}")).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn changes(at: &str, cause: Cause, before: &State, after: &State) -> Vec<String> {
    let (old, new) = (before.plies(), after.plies());
    let same = old.iter().zip(new).take_while(|(old, new)| old.step == new.step).count();
    let mut lines = Vec::new();
    for i in same..old.len() {
        lines.push(format!("{at}  {} withdrawn: {}", named(before, i), withdrawn(cause)));
    }
    for (i, ply) in new.iter().enumerate() {
        let was_completed = i < same && old[i].completed;
        if i < same && (was_completed || !ply.completed) {
            continue;
        }
        let name = named(after, i);
        let stood = seconds(ply.made_at);
        let line = match (ply.completed, ply.pressed_at) {
            _ if ply.legal().is_none() => {
                format!("{name} stays in the record: no legal move, but play went on from it")
            }
            (true, Some(pressed)) => {
                let side = side_of(after, i);
                let late = match cause {
                    Cause::Correction => ", the move came on the board after the press",
                    Cause::ClockStarted => ", the clock was started for the opponent",
                    _ => "",
                };
                format!(
                    "{name} completed: it stood on the board at {stood}, {side} pressed at {}{late}",
                    seconds(pressed)
                )
            }
            (true, None) => format!("{name} completed: its player has made his next move"),
            (false, _) => format!("{name} made: {}", made(cause, &stood)),
        };
        lines.push(format!("{at}  {line}"));
    }
    lines
}

fn made(cause: Cause, stood: &str) -> String {
    match cause {
        Cause::Settled => format!("the board has shown it since {stood} and stands still"),
        Cause::Pressed(_) => format!("the board has shown it since {stood}, under a press"),
        Cause::Answered => {
            format!("it stood at {stood}, and two more moves were seen on top of it")
        }
        Cause::Reread => {
            "what followed made no sense; this explains best all that was seen".to_owned()
        }
        Cause::Gap => "reports were missing; the shortest line to what stands now".to_owned(),
        Cause::Arbiter => "an arbiter said so".to_owned(),
        Cause::Signalled => "the king's step that replaced it was a signal".to_owned(),
        other => format!("{}, it stood at {stood}", other.as_str().replace('_', " ")),
    }
}

fn withdrawn(cause: Cause) -> &'static str {
    match cause {
        Cause::TakenBack => "the position before it stands again",
        Cause::Signalled => "it was half of the kings' signal",
        Cause::Analysis => "more was moved while the clock stands: this is an analysis",
        Cause::Restored => "the clock was stopped and the position before it set up again",
        Cause::Arbiter => "an arbiter said so",
        Cause::SetUpAgain => "the array stands again and the clock never ran",
        _ => "another move stands in its place, and it was not completed",
    }
}

/// Ply `i` with its number, as people write it.
fn named(state: &State, i: usize) -> String {
    let Some(position) = state.position(i) else {
        return "?".to_owned();
    };
    let dots = position.turn().fold_wb(".", "...");
    let san = state.san(i).unwrap_or_else(|| "(irregular)".to_owned());
    format!("{}{dots} {san}", position.fullmoves())
}

fn side_of(state: &State, i: usize) -> &'static str {
    state.position(i).map_or(Color::White, Position::turn).fold_wb("White", "Black")
}

fn seconds(at: Timestamp) -> String {
    format!("+{}.{} s", at.as_millis() / 1000, at.as_millis() % 1000 / 100)
}
