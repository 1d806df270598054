//! What else is plugged into a computer: devices that speak, and are no boards.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use boardcast::sim::device::{Cable, Device};

/// A device that is no board.
pub(crate) struct Stranger {
    answer: fn(&[u8]) -> Vec<u8>,
    /// What it says by itself every second.
    says: &'static [u8],
    next: Duration,
    unsent: VecDeque<Vec<u8>>,
    heard: Arc<Mutex<Vec<u8>>>,
}

/// What was said to a device.
#[derive(Clone)]
pub(crate) struct Heard(Arc<Mutex<Vec<u8>>>);

impl Heard {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Stranger {
    /// Sends back whatever it gets, as a modem does that waits for a command.
    pub(crate) fn modem() -> (Self, Heard) {
        Self::new(<[u8]>::to_vec, b"")
    }

    /// Tells where it is, whatever it is asked.
    pub(crate) fn receiver() -> (Self, Heard) {
        let says = b"$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n";
        Self::new(|_| Vec::new(), says)
    }

    /// Prints what it gets and says nothing.
    pub(crate) fn printer() -> (Self, Heard) {
        Self::new(|_| Vec::new(), b"")
    }

    fn new(answer: fn(&[u8]) -> Vec<u8>, says: &'static [u8]) -> (Self, Heard) {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (next, unsent) = (Duration::ZERO, VecDeque::new());
        (Self { answer, says, next, unsent, heard: heard.clone() }, Heard(heard))
    }
}

impl Device for Stranger {
    fn handle_bytes(&mut self, now: Duration, bytes: &[u8]) {
        self.handle_timeout(now);
        self.heard.lock().unwrap().extend(bytes);
        self.unsent.push_back((self.answer)(bytes));
    }

    fn handle_timeout(&mut self, now: Duration) {
        while self.next <= now {
            self.unsent.push_back(self.says.to_vec());
            self.next += Duration::from_secs(1);
        }
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.unsent.pop_front()
    }

    fn poll_cable(&mut self) -> Option<Cable> {
        None
    }

    fn poll_timeout(&self) -> Option<Duration> {
        Some(self.next)
    }

    fn handle_cable(&mut self, _: Duration, _: Cable) {}

    fn handle_plug(&mut self, _: Duration, _: usize, _: Cable) {}

    fn set_silent(&mut self, _: Duration, _: usize, _: bool) {}
}
