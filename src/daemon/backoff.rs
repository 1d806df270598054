//! Waiting longer after each failure.

use std::time::Duration;

/// Delays that double from a first value to a cap, each shortened by up to a quarter at random, so
/// that many ports which lost their hub at once do not all come back in the same instant.
///
/// The randomness comes from a seed: the same seed gives the same delays.
#[derive(Clone, Debug)]
pub struct Backoff {
    first: Duration,
    cap: Duration,
    next: Duration,
    state: u64,
}

impl Backoff {
    /// Delays from `first` to `cap`.
    pub fn new(first: Duration, cap: Duration, seed: u64) -> Self {
        Self { first, cap, next: first.min(cap), state: seed }
    }

    /// A seed from a name, so that ports and connections differ from each other but not from one
    /// run to the next.
    pub fn seed(name: &str) -> u64 {
        name.bytes().fold(FNV_OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
    }

    /// The delay before the next attempt.
    pub fn delay(&mut self) -> Duration {
        let delay = self.next;
        self.next = self.next.saturating_mul(2).min(self.cap);
        let quarter = u64::try_from(delay.as_micros() / 4).unwrap_or(u64::MAX - 1);
        delay.saturating_sub(Duration::from_micros(self.random() % (quarter + 1)))
    }

    /// Starts again from the first delay, after a success.
    pub fn reset(&mut self) {
        self.next = self.first.min(self.cap);
    }

    /// `SplitMix64`: spread is all that is asked of it.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

const FNV_OFFSET: u64 = 0xCBF2_9CE4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01B3;

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_millis(100);
    const CAP: Duration = Duration::from_secs(5);

    #[test]
    fn delays_double_up_to_the_cap_and_start_again_after_a_success() {
        let mut backoff = Backoff::new(FIRST, CAP, 1);
        let mut full = FIRST;
        for _ in 0..40 {
            let delay = backoff.delay();
            assert!(delay <= full && delay >= full * 3 / 4, "{delay:?} of {full:?}");
            full = (full * 2).min(CAP);
        }
        backoff.reset();
        assert!(backoff.delay() <= FIRST);
    }

    #[test]
    fn the_seed_decides() {
        let delays = |name| {
            let mut backoff = Backoff::new(FIRST, CAP, Backoff::seed(name));
            (0..8).map(|_| backoff.delay()).collect::<Vec<_>>()
        };
        assert_eq!(delays("/dev/ttyUSB0"), delays("/dev/ttyUSB0"));
        assert_ne!(delays("/dev/ttyUSB0"), delays("/dev/ttyUSB1"));
    }
}
