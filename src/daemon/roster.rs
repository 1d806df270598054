//! Which boards are waited for by their serial numbers, and which have come.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use dgt_protocol::{BoardEvent, BusEvent, LinkEvent};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::{
    config::Table,
    hall::{PortName, Source, TableNumber, adapt},
};

/// The boards that tables wait for, for the log of whoever sets up the hall.
#[derive(Debug, Default)]
pub struct Roster {
    expected: Vec<(TableNumber, String)>,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// Where the board of each table was seen last.
    seated: BTreeMap<TableNumber, PortName>,
    /// Boards that no table waits for, and where they were seen last.
    strangers: BTreeMap<String, PortName>,
    /// Tables whose board was told to be missing.
    missed: BTreeSet<TableNumber>,
}

/// Something worth a line in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
enum News {
    Seated(String),
    Stranger(String),
}

impl Roster {
    /// The boards of these tables.
    pub fn new(tables: &[Table]) -> Self {
        let expected = tables.iter().filter_map(|table| match &table.source {
            Source::Board(serial) => Some((table.number, serial.clone())),
            Source::Port(_) => None,
        });
        Self { expected: expected.collect(), seen: Mutex::default() }
    }

    /// Takes what a single board says of itself.
    pub fn hear(&self, port: &PortName, event: &LinkEvent) {
        if let LinkEvent::Identified(identity) = event {
            let serial = identity.serial_number.as_ref().map(ToString::to_string);
            let serial = serial.or(identity.long_serial_number.as_ref().map(ToString::to_string));
            let found = |expected: &str| adapt::names_board(event, expected);
            tell(self.note(port, serial.as_deref(), found));
        }
    }

    /// Takes what a board on a bus says of itself.
    pub fn hear_bus(&self, port: &PortName, event: &BusEvent) {
        if let BusEvent::Board { address, event: BoardEvent::Answering } = event {
            let serial = format!("{:05}", address.number());
            let found = |expected: &str| adapt::has_address(expected, *address);
            tell(self.note(port, Some(&serial), found));
        }
    }

    /// What is still waited for, a sentence for each table, each told once.
    fn missing(&self) -> Vec<String> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let strangers: Vec<_> =
            seen.strangers.iter().map(|(serial, port)| format!("{serial} at {port}")).collect();
        let mut missing = Vec::new();
        for (number, serial) in &self.expected {
            if !seen.seated.contains_key(number) && seen.missed.insert(*number) {
                let others = match strangers.as_slice() {
                    [] => String::new(),
                    some => format!("; boards that belong to no table: {}", some.join(", ")),
                };
                missing.push(format!(
                    "table {number} waits for board {serial}, which no port has shown: is that the \
                     number on its label, is it switched on, and does `[serial]` or `[[bus]]` name \
                     its port?{others}"
                ));
            }
        }
        missing
    }

    fn note(
        &self,
        port: &PortName,
        serial: Option<&str>,
        found: impl Fn(&str) -> bool,
    ) -> Option<News> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let name = serial.map_or_else(|| "without a number".to_owned(), str::to_owned);
        let Some((table, serial)) = self.expected.iter().find(|(_, serial)| found(serial)) else {
            let before = seen.strangers.insert(name.clone(), port.clone());
            return (before.as_ref() != Some(port)).then(|| {
                News::Stranger(format!(
                    "board {name} at {port} belongs to no table: write `board = \"{name}\"` into one"
                ))
            });
        };
        let before = seen.seated.insert(*table, port.clone());
        match before {
            Some(before) if before == *port => None,
            Some(before) => Some(News::Seated(format!(
                "board {serial} of table {table} is at {port} now; it was at {before}"
            ))),
            None => Some(News::Seated(format!("board {serial} of table {table} is at {port}"))),
        }
    }
}

/// Tells which boards are still missing a while after the start.
pub async fn watch(roster: std::sync::Arc<Roster>, stop: CancellationToken) {
    while stop.run_until_cancelled(sleep(PATIENCE)).await.is_some() {
        for missing in roster.missing() {
            warn!("{missing}");
        }
    }
}

fn tell(news: Option<News>) {
    match news {
        Some(News::Seated(text)) => info!("{text}"),
        Some(News::Stranger(text)) => warn!("{text}"),
        None => {}
    }
}

/// A board on any port has told who it is in this time, also over Bluetooth.
const PATIENCE: Duration = Duration::from_secs(12);

#[cfg(test)]
mod tests {
    use dgt_protocol::{Address, Identity, SerialNumber};

    use super::*;

    fn roster(serials: &[&str]) -> Roster {
        let table = |(number, serial): (u32, &&str)| {
            Table::new(number, Source::Board((*serial).to_owned()))
        };
        Roster::new(&(1..).zip(serials).map(table).collect::<Vec<_>>())
    }

    fn note(roster: &Roster, port: &str, serial: &str) -> Option<News> {
        roster.note(&PortName::new(port), Some(serial), |expected| expected == serial)
    }

    #[test]
    fn a_board_is_told_when_it_comes_and_when_it_moves() {
        let roster = roster(&["30001", "30002"]);
        let seated = |text: &str| Some(News::Seated(text.to_owned()));
        assert_eq!(note(&roster, "/dev/a", "30002"), seated("board 30002 of table 2 is at /dev/a"));
        assert_eq!(note(&roster, "/dev/a", "30002"), None);
        let moved = "board 30002 of table 2 is at /dev/b now; it was at /dev/a";
        assert_eq!(note(&roster, "/dev/b", "30002"), seated(moved));
    }

    #[test]
    fn a_number_that_no_board_has_is_told_once_with_the_boards_that_nobody_waits_for() {
        let roster = roster(&["30147"]);
        let Some(News::Stranger(text)) = note(&roster, "/dev/a", "30174") else { panic!() };
        assert!(text.contains("write `board = \"30174\"`"), "{text}");
        let missing = roster.missing();
        assert_eq!(missing.len(), 1);
        assert!(missing[0].contains("table 1 waits for board 30147"), "{missing:?}");
        assert!(missing[0].ends_with("belong to no table: 30174 at /dev/a"), "{missing:?}");
        assert_eq!(roster.missing(), [""; 0]);
    }

    #[test]
    fn leading_zeros_and_the_kind_of_cable_make_no_difference() {
        for serial in ["1025", "01025"] {
            let roster = roster(&[serial]);
            let identity =
                Identity { serial_number: SerialNumber::from_number(1025), ..Identity::default() };
            roster.hear(&PortName::new("/dev/a"), &LinkEvent::Identified(identity));
            assert_eq!(roster.missing(), [""; 0], "{serial}");
            let roster = self::roster(&[serial]);
            let address = Address::new(1025).unwrap();
            let event = BusEvent::Board { address, event: BoardEvent::Answering };
            roster.hear_bus(&PortName::new("/dev/a"), &event);
            assert_eq!(roster.missing(), [""; 0], "{serial}");
        }
    }
}
