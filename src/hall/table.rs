//! A numbered place in the hall. The game belongs to it, not to the board that happens to stand
//! there.

use super::input::PortName;
use crate::game::Settings;

/// The number that players see on the table. From 1.
pub type TableNumber = u32;

/// How a table is set up.
#[derive(Clone, Debug)]
pub struct TableSetup {
    /// The table's number.
    pub number: TableNumber,
    /// Where its board is.
    pub source: Source,
    /// Who plays.
    pub players: Sides<Player>,
    /// The constants and conditions of its games.
    pub settings: Settings,
}

impl TableSetup {
    /// A table with classical settings and nobody named.
    pub fn new(number: TableNumber, source: Source) -> Self {
        Self { number, source, players: Sides::default(), settings: Settings::default() }
    }
}

/// Where a table's board is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Whatever board answers on this port.
    Port(PortName),
    /// The board with this serial number, on whatever port it is.
    Board(String),
}

/// One thing for White and one for Black.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sides<T> {
    /// White's.
    pub white: T,
    /// Black's.
    pub black: T,
}

/// A player as displays name him. Empty and `None` mean not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Player {
    /// Family name first, as pairings print it.
    pub name: String,
    /// FIDE title, such as `GM`.
    pub title: Option<String>,
    /// Three-letter federation, such as `NOR`.
    pub federation: Option<String>,
    /// Rating.
    pub rating: Option<u16>,
    /// FIDE identity number.
    pub fide_id: Option<u32>,
}
