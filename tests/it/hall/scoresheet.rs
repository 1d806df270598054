//! What a reader of the public topics writes down.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::tools::Heard;

/// The moves of a message.
pub(super) fn sans(message: &Value) -> Vec<String> {
    let plies = message["plies"].as_array().expect("plies");
    plies.iter().map(|ply| ply["san"].as_str().expect("a move").to_owned()).collect()
}

/// Reads retained games once, and then nothing but events: each must come once and in order, and
/// take back nothing.
#[derive(Debug, Default)]
pub(super) struct Scoresheets {
    tables: BTreeMap<u64, Sheet>,
}

#[derive(Debug, Default)]
struct Sheet {
    moves: Vec<String>,
    result: Option<String>,
    last_event: u64,
    /// The game was read from the broker, which may have had it before its last event.
    just_joined: bool,
}

impl Scoresheets {
    /// Takes a message; those that are neither public games nor public events are passed over.
    pub(super) fn write(&mut self, heard: &Heard) {
        if !heard.topic.contains("/public/") {
            return;
        }
        let message = heard.json();
        let table = message["table"].as_u64().expect("a table");
        let sheet = self.tables.entry(table).or_default();
        if heard.topic.ends_with("/game") && heard.retained {
            sheet.join(&message);
        } else if heard.topic.ends_with("/event") {
            sheet.follow(&message);
        }
    }

    /// Takes all of these in turn.
    pub(super) fn write_all(&mut self, heard: &[Heard]) {
        for heard in heard {
            self.write(heard);
        }
    }

    /// The moves of all tables, in the order of their numbers.
    pub(super) fn all(&self) -> Vec<String> {
        self.tables.values().map(|sheet| sheet.moves.join(" ")).collect()
    }

    pub(super) fn moves(&self, table: u64) -> &[String] {
        self.tables.get(&table).map_or(&[], |sheet| &sheet.moves)
    }

    pub(super) fn result(&self, table: u64) -> Option<&str> {
        self.tables.get(&table)?.result.as_deref()
    }
}

impl Sheet {
    fn join(&mut self, game: &Value) {
        self.moves = sans(game);
        self.result = game["result"].as_str().map(str::to_owned);
        self.just_joined = true;
    }

    fn follow(&mut self, event: &Value) {
        let id = event["id"].as_u64().expect("an id");
        assert!(id > self.last_event, "event {id} after event {}", self.last_event);
        self.last_event = id;
        match event["event"].as_str().expect("a word") {
            "game_started" => {
                self.moves.clear();
                self.result = None;
            }
            "plies" => {
                let from = event["from"].as_u64().expect("an index") as usize;
                let known = self.moves.len();
                assert!(
                    from == known || (self.just_joined && from < known),
                    "{event} does not follow on {:?}",
                    self.moves
                );
                self.moves.truncate(from);
                self.moves.extend(sans(event));
            }
            "game_ended" => self.result = event["result"].as_str().map(str::to_owned),
            _ => return,
        }
        self.just_joined = false;
    }
}
