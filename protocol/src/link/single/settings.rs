//! How patient a single-board link is.

use core::time::Duration;

/// Timings of a [`SingleLink`](super::SingleLink).
///
/// Every span counts from the event it names. [`Duration::MAX`] means never; spans below one
/// millisecond count as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SingleSettings {
    /// From the start of the link to the first command. Some adapters reset the board when they
    /// are opened.
    pub opening_pause: Duration,
    /// Between two commands. The board's input buffer holds ten bytes.
    pub command_gap: Duration,
    /// Between two attempts to make a board answer for the first time.
    pub handshake_retry: Duration,
    /// From the first answer to [`Identified`](crate::LinkEvent::Identified), for boards that do
    /// not know every answer; with all answers it comes at once.
    pub identify_within: Duration,
    /// From the last field change, and from a damaged message, to the next dump.
    pub settle: Duration,
    /// From one dump to the next when nothing happens. The update mode is set again with it, in
    /// case the board lost its power for a moment.
    pub dump_period: Duration,
    /// From a request for a dump to its repetition.
    pub answer_timeout: Duration,
    /// From the last message to a question that makes the board say something.
    pub keep_alive: Duration,
    /// From the last message, or from the first command, to [`Silent`](crate::LinkEvent::Silent).
    pub silent_after: Duration,
    /// Between two attempts to make a silent board answer again.
    pub slow_retry: Duration,
    /// From one battery state to the next request. Boards without a battery are not asked again.
    pub battery_period: Duration,
    /// From a request for the memory to giving up. Reading takes about eight seconds.
    pub memory_timeout: Duration,
}

impl SingleSettings {
    /// For boards on a cable.
    pub const fn cable() -> Self {
        Self {
            opening_pause: Duration::from_millis(500),
            command_gap: Duration::from_millis(100),
            handshake_retry: Duration::from_secs(2),
            identify_within: Duration::from_secs(2),
            settle: Duration::from_millis(800),
            dump_period: Duration::from_secs(10),
            answer_timeout: Duration::from_secs(1),
            keep_alive: Duration::from_secs(3),
            silent_after: Duration::from_secs(6),
            slow_retry: Duration::from_secs(5),
            battery_period: Duration::from_mins(1),
            memory_timeout: Duration::from_secs(15),
        }
    }

    /// For Bluetooth boards, which scan at half the speed and whose radio pauses now and then.
    pub const fn bluetooth() -> Self {
        Self {
            opening_pause: Duration::from_secs(1),
            command_gap: Duration::from_millis(200),
            handshake_retry: Duration::from_secs(4),
            identify_within: Duration::from_secs(5),
            settle: Duration::from_millis(1200),
            answer_timeout: Duration::from_secs(2),
            keep_alive: Duration::from_secs(6),
            silent_after: Duration::from_secs(15),
            slow_retry: Duration::from_secs(10),
            ..Self::cable()
        }
    }

    /// For bytes recorded earlier: nobody answers, so nobody can be silent.
    pub const fn replay() -> Self {
        Self { silent_after: Duration::MAX, answer_timeout: Duration::MAX, ..Self::cable() }
    }
}

impl Default for SingleSettings {
    fn default() -> Self {
        Self::cable()
    }
}
