//! One line for each thing that happens at a table, for a person who watches a terminal.

use shakmaty::{Bitboard, Position};

use crate::{
    game::{self, Alert, Event, Phase, alert::Status},
    hall::{Recorded, State},
};

/// Turns events into lines.
#[derive(Debug, Default)]
pub(super) struct Ticker {
    state: State,
}

impl Ticker {
    /// A ticker that starts from a state already reached.
    pub(super) fn new(state: State) -> Self {
        Self { state }
    }

    /// Takes one event; the line to print, if it is worth one.
    pub(super) fn line(&mut self, recorded: &Recorded) -> Option<String> {
        let before = self.state.table(recorded.table).map_or(0, |table| table.game.plies().len());
        self.state.apply(recorded);
        let table = self.state.table(recorded.table)?;
        let game = &table.game;
        let text = match &recorded.event {
            Event::Phase(Phase::Ready) => "ready: the pieces stand in their places".to_owned(),
            Event::GameStarted { .. } => {
                let (white, black) = (&table.players.white.name, &table.players.black.name);
                match (white.as_str(), black.as_str()) {
                    ("", "") => format!("game {} begins", game.game()),
                    (white, black) => format!("game {}: {white} - {black}", game.game()),
                }
            }
            Event::Plies { from, plies, .. } => {
                let withdrawn = before.saturating_sub(from + plies.len());
                let moves = moves(game, *from);
                match (moves.is_empty(), withdrawn) {
                    (false, _) => moves,
                    (true, 0) => return None,
                    (true, plies) => format!("{plies} half-moves withdrawn"),
                }
            }
            Event::GameEnded { result, reason } => {
                format!("{}, {}", result.as_str(), reason.as_str().replace('_', " "))
            }
            Event::Alert { status, alert } => words(game, *status, alert)?,
            Event::Link { up: true } => "the board answers".to_owned(),
            Event::Link { up: false } => "the board does not answer".to_owned(),
            _ => return None,
        };
        Some(format!("table {:<3} {text}", recorded.table))
    }
}

/// The plies from index `from` on as people write them, an open one with an ellipsis after it, and
/// the clocks as they are.
fn moves(game: &game::State, from: usize) -> String {
    let mut words = Vec::new();
    for (i, ply) in game.plies().iter().enumerate().skip(from) {
        let Some(position) = game.position(i) else {
            break;
        };
        let number = position.fullmoves();
        let dots = position.turn().fold_wb(".", "...");
        let san = game.san(i).unwrap_or_else(|| "(irregular)".to_owned());
        let open = if ply.completed { "" } else { " (not pressed yet)" };
        words.push(format!("{number}{dots} {san}{open}"));
    }
    let line = words.join(" ");
    match game.clock() {
        Some(clock) if !line.is_empty() => {
            format!("{line:<28} {} - {}", time(clock.white_ms), time(clock.black_ms))
        }
        _ => line,
    }
}

/// An alert in a sentence for a person in the hall.
pub(super) fn words(game: &game::State, status: Status, alert: &Alert) -> Option<String> {
    if status == Status::Cleared {
        return Some(format!("settled: {}", alert.code().as_str().replace('_', " ")));
    }
    Some(match alert {
        Alert::MoveOrderUncertain { from, orders } => {
            let position = game.position(*from)?;
            let number = position.fullmoves();
            let length = orders.first().map_or(0, Vec::len);
            format!(
                "from move {number} on {length} half-moves were not seen one by one; the position is \
                 certain, {} orders are possible: ask for the score sheet",
                orders.len()
            )
        }
        Alert::GapUnresolved { wrong } => {
            let squares = squares(*wrong);
            format!(
                "reports were missing and no moves explain the board; it differs from the record on {squares}"
            )
        }
        Alert::StartPositionWrong { wrong } => {
            format!("the start position is wrong on {}", squares(*wrong))
        }
        Alert::Resynchronised { plies: 0 } => return None,
        Alert::Resynchronised { plies } => {
            format!("{plies} half-moves were played while the board was away")
        }
    })
}

fn squares(squares: Bitboard) -> String {
    squares.into_iter().map(|square| square.to_string()).collect::<Vec<_>>().join(", ")
}

fn time(ms: u32) -> String {
    let s = ms / 1000;
    format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
}
