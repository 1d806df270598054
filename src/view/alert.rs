//! Alerts as JSON objects, for arbiters only.

use serde::Serialize;
use shakmaty::{Move, Position, san::SanPlus};

use super::SCHEMA;
use crate::{
    game::{self, Alert, alert::Status},
    hall::{TableNumber, TableState},
};

/// The alerts that stand at a table: topic `arbiter/table/<n>/alerts`, retained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AlertsView {
    schema: u32,
    table: TableNumber,
    /// The oldest first; empty if none stands.
    alerts: Vec<AlertView>,
}

impl AlertsView {
    /// The standing alerts of `table`.
    pub fn new(number: TableNumber, table: &TableState) -> Self {
        let state = &table.game;
        let alerts = state.alerts().iter().map(|alert| AlertView::new(alert, state)).collect();
        Self { schema: SCHEMA, table: number, alerts }
    }
}

/// One alert: its place in the catalogue and what it tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AlertView {
    /// The catalogue's word.
    code: &'static str,
    /// `critical`: go there now; `warning`: look soon; `notice`: a decision may be needed; `info`: for the log.
    severity: &'static str,
    #[serde(flatten)]
    payload: Payload,
}

/// What became of an alert; the key `status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AlertChange {
    /// `raised`, `updated`, `cleared` or `momentary`.
    status: &'static str,
    #[serde(flatten)]
    alert: AlertView,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum Payload {
    Orders {
        /// Index of the first ply in question; 0 is the first half-move.
        from: usize,
        /// Every possible order, in SAN; the first one is in the record.
        orders: Vec<Vec<String>>,
    },
    Wrong {
        /// The squares that stand otherwise than the record says.
        wrong: Vec<String>,
    },
    Plies {
        /// How many were played meanwhile.
        plies: usize,
    },
}

impl AlertView {
    /// The JSON form of `alert`, which stands at a table in `state`.
    pub fn new(alert: &Alert, state: &game::State) -> Self {
        let payload = match alert {
            Alert::MoveOrderUncertain { from, orders } => Payload::Orders {
                from: *from,
                orders: orders.iter().map(|order| sans(state, *from, order)).collect(),
            },
            Alert::GapUnresolved { wrong } | Alert::StartPositionWrong { wrong } => {
                Payload::Wrong { wrong: wrong.into_iter().map(|s| s.to_string()).collect() }
            }
            Alert::Resynchronised { plies } => Payload::Plies { plies: *plies },
        };
        let code = alert.code();
        Self { code: code.as_str(), severity: code.severity().as_str(), payload }
    }
}

impl AlertChange {
    /// The JSON form of what became of `alert` at a table in `state`.
    pub fn new(status: Status, alert: &Alert, state: &game::State) -> Self {
        Self { status: status.as_str(), alert: AlertView::new(alert, state) }
    }
}

/// `order`, played from before ply `from`, in SAN; as far as it is legal there.
fn sans(state: &game::State, from: usize, order: &[Move]) -> Vec<String> {
    let Some(mut position) = state.position(from).cloned() else {
        return Vec::new();
    };
    let mut sans = Vec::with_capacity(order.len());
    for &m in order {
        if !position.is_legal(m) {
            break;
        }
        sans.push(SanPlus::from_move_and_play_unchecked(&mut position, m).to_string());
    }
    sans
}
