//! Numbered facts.

use super::table::TableNumber;
use crate::game::{Event, Timestamp};

/// One event of one table, numbered over all tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Rises by one with each event of the hall; never used twice.
    pub id: u64,
    /// When it was decided.
    pub at: Timestamp,
    /// At which table.
    pub table: TableNumber,
    /// What.
    pub event: Event,
}
