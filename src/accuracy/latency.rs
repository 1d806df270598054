//! How long after the board showed it a move was published.

use std::ops::AddAssign;

/// Counts of delays, a millisecond apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    counts: Vec<u32>,
    total: usize,
}

impl Latencies {
    /// Counts one delay, in milliseconds; what takes longer than a minute counts as a minute.
    pub fn note(&mut self, ms: u64) {
        let ms = ms.min(LONGEST_MS) as usize;
        if self.counts.len() <= ms {
            self.counts.resize(ms + 1, 0);
        }
        self.counts[ms] += 1;
        self.total += 1;
    }

    /// The least delay in milliseconds that at least `percent` of a hundred do not exceed; nothing if
    /// none was counted.
    pub fn percentile(&self, percent: usize) -> Option<usize> {
        let wanted = (self.total * percent).div_ceil(100).max(1);
        let mut seen = 0;
        self.counts.iter().position(|&count| {
            seen += count as usize;
            seen >= wanted
        })
    }
}

impl AddAssign<&Self> for Latencies {
    fn add_assign(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum += count;
        }
        self.total += other.total;
    }
}

const LONGEST_MS: u64 = 60_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_them_and_nearly_all() {
        let mut all = Latencies::default();
        assert_eq!(all.percentile(50), None);
        for ms in 1..=100 {
            all.note(ms);
        }
        assert_eq!((all.percentile(50), all.percentile(99)), (Some(50), Some(99)));
        let mut one = Latencies::default();
        one.note(1_000_000);
        all += &one;
        assert_eq!(all.percentile(100), Some(60_000));
        assert_eq!(one.percentile(1), Some(60_000));
    }
}
