//! One line for each thing that happens at a table, for a person who watches a terminal.

use shakmaty::{Position, san::SanPlus};

use crate::{
    game::{self, Event, Phase},
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
        let san = SanPlus::from_move(position.clone(), ply.m);
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

fn time(ms: u32) -> String {
    let s = ms / 1000;
    format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
}
