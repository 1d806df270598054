//! What can stand at the far end of a host's cable: one board, a bus of boards, and either of them
//! behind a bad cable.

use std::time::Duration;

/// Hardware as a host sees it: bytes and time go in, bytes come out.
///
/// Times are durations since an origin of the caller and must not run backwards. Every call first does
/// what was due before it, so that the bytes do not depend on how often a device is called.
pub trait Device {
    /// Takes bytes from the host.
    fn handle_bytes(&mut self, now: Duration, bytes: &[u8]);

    /// Does everything that is due.
    fn handle_timeout(&mut self, now: Duration);

    /// The next bytes that have come down the cable.
    fn poll_transmit(&mut self) -> Option<Vec<u8>>;

    /// What happened to the cable. Bytes still to be polled came before.
    fn poll_cable(&mut self) -> Option<Cable>;

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    fn poll_timeout(&self) -> Option<Duration>;

    /// Somebody pulls the cable out of the host, or puts it back.
    fn handle_cable(&mut self, now: Duration, cable: Cable);

    /// Somebody pulls the plug out of board `number`, counted from 1, or puts it back; the board has no
    /// power meanwhile. Nothing happens if there is no such board.
    fn handle_plug(&mut self, now: Duration, number: usize, cable: Cable);

    /// From now on board `number`, counted from 1, neither hears nor says anything, or does so again.
    /// What happens on it is remembered in it all the same. Nothing happens if there is no such board.
    fn set_silent(&mut self, now: Duration, number: usize, silent: bool);
}

/// What happened to the cable between board and host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cable {
    /// It was pulled out.
    Pulled,
    /// It was put back.
    Back,
}
