//! The words that leave the house: JSON, PGN, topics, capture lines. Serialisation exists here and
//! in the config, nowhere below.

pub mod alert;

pub mod capture;

pub mod event;

pub mod line;

pub mod pgn;

pub mod table;

pub mod topic;

pub use topic::Publication;

/// The version of everything published. It rises when a meaning changes; new fields do not raise
/// it, and a reader must ignore what it does not know.
pub const SCHEMA: u32 = 1;
