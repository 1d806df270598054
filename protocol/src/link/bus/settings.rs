//! How patient and how busy a bus link is.

use alloc::vec::Vec;
use core::time::Duration;

use crate::bus::Address;

/// Timings of a [`BusLink`](super::BusLink).
///
/// [`Duration::MAX`] means never; spans below one millisecond count as one. Periods are kept while
/// the line has room for them; on a crowded line everything is served in the order it fell due, so
/// all periods stretch alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusSettings {
    /// Boards that must be there. They are asked for by address, and one that does not answer is
    /// reported as silent; of other boards nothing is known until they answer.
    pub expected: Vec<Address>,
    /// From the start of the link to the first command.
    pub opening_pause: Duration,
    /// From the end of an answer to the next command.
    pub command_gap: Duration,
    /// From a command, or from the last byte of an answer that is not whole, to giving up.
    pub reply_timeout: Duration,
    /// From one reading of the changes of a board to the next. Boards scan all fields four to five
    /// times a second.
    pub changes_period: Duration,
    /// How long changes may have waited in the board to count as live.
    pub live_within: Duration,
    /// From one reading of a clock to the next; changes make it due at once.
    pub clock_period: Duration,
    /// From one dump to the next when nothing happens.
    pub dump_period: Duration,
    /// From the last changes of a board to a dump.
    pub settle: Duration,
    /// Commands in a row without an answer until a board is silent.
    pub attempts: u8,
    /// From one attempt to reach a silent board to the next; longer when many are silent, so that
    /// not more than one attempt a second delays the others.
    pub slow_retry: Duration,
    /// How long answers to a ping to all are awaited. Boards wait up to 1100 ms.
    pub discovery_window: Duration,
    /// From the end of one search for boards to the next.
    pub discovery_period: Duration,
    /// The same while no board is known.
    pub deserted_retry: Duration,
}

impl Default for BusSettings {
    fn default() -> Self {
        Self {
            expected: Vec::new(),
            opening_pause: Duration::from_millis(500),
            command_gap: Duration::from_millis(2),
            reply_timeout: Duration::from_millis(120),
            changes_period: Duration::from_millis(300),
            live_within: Duration::from_secs(2),
            clock_period: Duration::from_secs(1),
            dump_period: Duration::from_secs(20),
            settle: Duration::from_millis(800),
            attempts: 3,
            slow_retry: Duration::from_secs(5),
            discovery_window: Duration::from_millis(1300),
            discovery_period: Duration::from_mins(1),
            deserted_retry: Duration::from_secs(3),
        }
    }
}
