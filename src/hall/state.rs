//! The projection of everything published. The daemon, each delayed reader and every test fold
//! the same events into it with the same `apply`.

use std::collections::BTreeMap;

use super::{
    event::Recorded,
    table::{Player, Sides, TableNumber, TableSetup},
};
use crate::game;

/// All tables as of some event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    tables: BTreeMap<TableNumber, TableState>,
    last_event: u64,
}

/// One table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableState {
    /// Who plays.
    pub players: Sides<Player>,
    /// The game.
    pub game: game::State,
}

impl State {
    /// Puts a table into the hall before anything happened at it.
    pub fn seat(&mut self, setup: &TableSetup) {
        self.tables.entry(setup.number).or_default().players = setup.players.clone();
    }

    /// Applies one event.
    pub fn apply(&mut self, recorded: &Recorded) {
        self.last_event = self.last_event.max(recorded.id);
        self.tables.entry(recorded.table).or_default().game.apply(&recorded.event);
    }

    /// The tables in order of their numbers.
    pub fn tables(&self) -> impl Iterator<Item = (TableNumber, &TableState)> {
        self.tables.iter().map(|(&number, table)| (number, table))
    }

    /// The table with this number.
    pub fn table(&self, number: TableNumber) -> Option<&TableState> {
        self.tables.get(&number)
    }

    /// The number of the last event in it; 0 before the first.
    pub fn last_event(&self) -> u64 {
        self.last_event
    }
}
