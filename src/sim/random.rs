//! A small seeded generator, so that one seed is one series of bytes on every machine.

use std::time::Duration;

/// A `SplitMix64` generator: one word of state, every seed equally good.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Starts the series of this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Starts another series that depends on this one's seed and on `label`, and leaves this one where
    /// it is.
    pub fn branch(&self, label: u64) -> Self {
        Self { state: mix(self.state ^ mix(label.wrapping_add(STEP))) }
    }

    /// The next 64 bits.
    pub fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// A number from 0 up to, not including, `limit`; 0 if the limit is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        // The high half of the product: free of the low bits' weakness, and the bias of one part in
        // 2^64 / limit is of no interest here.
        ((u128::from(self.word()) * u128::from(limit)) >> 64) as u64
    }

    /// True in `per_mille` of a thousand cases.
    pub fn chance(&mut self, per_mille: u16) -> bool {
        self.below(1000) < u64::from(per_mille)
    }

    /// One of the items, or nothing if there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len() as u64) as usize)
    }

    /// The index of one of these weights, each as likely as it is heavy; 0 if all are 0.
    pub fn weighted(&mut self, weights: &[u16]) -> usize {
        let mut left = self.below(weights.iter().copied().map(u64::from).sum());
        for (index, &weight) in weights.iter().enumerate() {
            match left.checked_sub(u64::from(weight)) {
                Some(rest) => left = rest,
                None => return index,
            }
        }
        0
    }

    /// Brings the items into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for index in (1..items.len()).rev() {
            items.swap(index, self.below(index as u64 + 1) as usize);
        }
    }
}

/// A range of times in milliseconds, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The shortest.
    pub from: u32,
    /// The longest.
    pub to: u32,
}

impl Span {
    /// From `from` to `to` milliseconds.
    pub const fn ms(from: u32, to: u32) -> Self {
        Self { from, to }
    }

    /// A time of the range, all equally likely.
    pub fn even(self, random: &mut Random) -> Duration {
        let width = u64::from(self.to.saturating_sub(self.from));
        Duration::from_millis(u64::from(self.from) + random.below(width + 1))
    }

    /// A time of the range, most of them short and a few long; the mean is a quarter of the way up.
    pub fn mostly_short(self, random: &mut Random) -> Duration {
        let width = u64::from(self.to.saturating_sub(self.from));
        let part = random.below(1001);
        Duration::from_millis(u64::from(self.from) + width * part.pow(3) / 1_000_000_000)
    }
}

fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn gives_the_series_of_the_published_algorithm() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.word(), 6_457_827_717_110_365_317);
        assert_eq!(random.word(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn branches_differ_and_leave_the_trunk_alone() {
        let trunk = Random::new(7);
        let (mut one, mut two) = (trunk.branch(1), trunk.branch(2));
        assert_ne!(one.word(), two.word());
        assert_eq!(trunk.branch(1).word(), Random::new(7).branch(1).word());
    }

    #[test]
    fn heavier_weights_come_more_often() {
        let mut random = Random::new(3);
        let mut count = [0; 3];
        for _ in 0..1000 {
            count[random.weighted(&[0, 900, 100])] += 1;
        }
        assert_eq!(count[0], 0);
        assert!(count[1] > 850 && count[2] > 50, "{count:?}");
        assert_eq!(random.weighted(&[0, 0]), 0);
    }

    proptest! {
        #[test]
        fn keeps_within_its_limits(seed: u64, limit in 1_u64.., from in 0_u32..5000, width in 0_u32..5000) {
            let mut random = Random::new(seed);
            prop_assert!(random.below(limit) < limit);
            prop_assert!(!random.chance(0));
            prop_assert!(random.chance(1000));
            let span = Span::ms(from, from + width);
            for time in [span.even(&mut random), span.mostly_short(&mut random)] {
                prop_assert!(time.as_millis() >= u128::from(from));
                prop_assert!(time.as_millis() <= u128::from(from + width));
            }
        }

        #[test]
        fn shuffling_keeps_every_item(seed: u64, size in 0_usize..50) {
            let mut items: Vec<usize> = (0..size).collect();
            Random::new(seed).shuffle(&mut items);
            items.sort_unstable();
            prop_assert_eq!(items, (0..size).collect::<Vec<_>>());
        }
    }
}
