//! Topics: what is published where, retained or once.
//!
//! Names are below the base `boardcast/<site>`. Everything below `public/` may be shown to
//! players; everything below `arbiter/` must not be.

use serde::Serialize;

use super::{
    SCHEMA,
    alert::AlertsView,
    event::{ArbiterEvent, Epoch, PublicEvent},
    table::{ClockState, GameView, LiveView},
};
use crate::{
    game::{Event, Timestamp},
    hall::{Recorded, State, TableNumber, TableState},
};

/// One message to a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    /// The topic below the base.
    pub topic: String,
    /// Whether the broker keeps it for those who come later.
    pub retained: bool,
    /// JSON.
    pub payload: String,
}

impl Publication {
    fn retained(topic: String, payload: &impl Serialize) -> Self {
        Self { topic, retained: true, payload: json(payload) }
    }

    fn once(topic: String, payload: &impl Serialize) -> Self {
        Self { topic, retained: false, payload: json(payload) }
    }
}

/// Applies one event to `state` and says what it makes public, in the order of publication.
pub fn publications(state: &mut State, recorded: &Recorded) -> Vec<Publication> {
    let n = recorded.table;
    let before = state.table(n).cloned().unwrap_or_default();
    state.apply(recorded);
    let Some(after) = state.table(n) else {
        return Vec::new();
    };
    let mut publications = Vec::new();
    match &recorded.event {
        Event::GameStarted { .. } | Event::GameEnded { .. } => {
            publications.extend([game(n, after), live(n, after), alerts(n, after)]);
        }
        Event::Plies { .. } => publications.extend([game(n, after), live(n, after)]),
        Event::Alert { .. } => publications.push(alerts(n, after)),
        Event::Clock(_) | Event::ClockLost | Event::Link { .. } => {
            publications.push(clock(n, after));
        }
        Event::Phase(_) | Event::Placement(_) => publications.push(live(n, after)),
    }
    let public = PublicEvent::new(recorded, &before.game, &after.game, Epoch::Unix);
    publications
        .extend(public.map(|event| Publication::once(format!("public/table/{n}/event"), &event)));
    let arbiter = ArbiterEvent::new(recorded, &after.game, Epoch::Unix);
    publications
        .extend(arbiter.map(|event| Publication::once(format!("arbiter/table/{n}/event"), &event)));
    publications
}

/// All retained topics of all tables, for a broker that may have forgotten them.
pub fn snapshot(state: &State) -> Vec<Publication> {
    state
        .tables()
        .flat_map(|(n, table)| [game(n, table), clock(n, table), live(n, table), alerts(n, table)])
        .collect()
}

/// Whether the daemon is there: topic `status`, retained, and the last will.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Online {
    /// It is.
    Online,
    /// It has stopped, or is gone without having said so.
    Offline,
}

/// The status of the daemon, which started at `started`.
pub fn status(online: Online, started: Timestamp) -> Publication {
    #[derive(Serialize)]
    struct Status {
        schema: u32,
        state: Online,
        version: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        started: Option<String>,
    }
    let status = Status {
        schema: SCHEMA,
        state: online,
        version: env!("CARGO_PKG_VERSION"),
        started: Epoch::Unix.format(started),
    };
    Publication::retained("status".to_owned(), &status)
}

fn game(n: TableNumber, table: &TableState) -> Publication {
    Publication::retained(format!("public/table/{n}/game"), &GameView::new(n, table))
}

fn clock(n: TableNumber, table: &TableState) -> Publication {
    Publication::retained(format!("public/table/{n}/clock"), &ClockState::new(n, table))
}

fn live(n: TableNumber, table: &TableState) -> Publication {
    Publication::retained(format!("arbiter/table/{n}/live"), &LiveView::new(n, table))
}

fn alerts(n: TableNumber, table: &TableState) -> Publication {
    Publication::retained(format!("arbiter/table/{n}/alerts"), &AlertsView::new(n, table))
}

/// `value` as JSON. The published types have string keys only, and nothing else could fail.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("types with string keys")
}
