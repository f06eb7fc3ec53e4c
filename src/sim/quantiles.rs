//! Quantiles of durations, exact for short runs and within 0.1 % for any.
//!
//! Up to 16 384 durations are kept as they are and every quantile is exact. From there on only
//! buckets are counted, and memory does not grow with the run (at most 28 672 counts, 224 KiB). A
//! bucket spans 1/512 of the power of two below it, and a quantile is told as the middle of its
//! bucket: off by at most 1/1024 = 0.098 % of itself. Below 1024 ps a bucket holds one picosecond
//! and nothing is lost. Buckets are found by shifts of integers, so they are the same on every
//! machine, and what was collected in parts gives the same answers when merged, in whatever order.

use crate::units::SimTime;
use serde::{Deserialize, Serialize};

/// Durations kept as they are: no more than the buckets would take.
const KEPT: usize = 16_384;
/// Bits of a duration below its leading one that tell buckets apart.
const BITS: u32 = 9;
const PER_OCTAVE: usize = 1 << BITS;
/// The last bucket is that of 2^64 - 1 ps.
const BUCKETS: usize = (64 - BITS as usize) * PER_OCTAVE + PER_OCTAVE;

/// What quantiles need of the durations seen so far.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Quantiles {
    /// All durations, as long as they are few; then empty.
    kept: Vec<u64>,
    /// Durations by bucket, once they are many; up to the last bucket that holds any.
    buckets: Vec<u64>,
    count: u64,
    shortest: u64,
    longest: u64,
}

fn bucket(duration: u64) -> usize {
    let octave = (u64::BITS - duration.leading_zeros()).saturating_sub(BITS + 1);
    (octave as usize) * PER_OCTAVE + (duration >> octave) as usize
}

/// The first duration of a bucket, and how many it spans.
fn span(bucket: usize) -> (u64, u64) {
    let octave = (bucket / PER_OCTAVE).saturating_sub(1) as u32;
    let first = (bucket - octave as usize * PER_OCTAVE) as u64;
    (first << octave, 1 << octave)
}

impl Quantiles {
    /// A quantile is off by at most this share of itself.
    pub const RELATIVE_ERROR: f64 = 1.0 / (2 * PER_OCTAVE) as f64;

    /// Adds a duration.
    pub fn add(&mut self, duration: SimTime) {
        let duration = duration.0;
        self.shortest = if self.count == 0 { duration } else { self.shortest.min(duration) };
        self.longest = self.longest.max(duration);
        self.count = self.count.saturating_add(1);
        if self.is_exact() {
            self.kept.push(duration);
        } else {
            self.spill();
            self.put(bucket(duration), 1);
        }
    }

    /// Adds all that `other` has seen.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.shortest =
            if self.count == 0 { other.shortest } else { self.shortest.min(other.shortest) };
        self.longest = self.longest.max(other.longest);
        self.count = self.count.saturating_add(other.count);
        if self.is_exact() {
            self.kept.extend(&other.kept);
            return;
        }
        self.spill();
        for duration in &other.kept {
            self.put(bucket(*duration), 1);
        }
        for (bucket, count) in other.buckets.iter().enumerate().filter(|(_, c)| **c > 0) {
            self.put(bucket, *count);
        }
    }

    /// Durations seen.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The longest; none of none.
    pub fn longest(&self) -> Option<SimTime> {
        (self.count > 0).then_some(SimTime(self.longest))
    }

    /// True as long as quantiles are exact.
    pub fn is_exact(&self) -> bool {
        self.count <= KEPT as u64
    }

    /// The shortest duration of which at least this share (0 to 1, to a billionth) is no longer, by
    /// nearest rank; none of no durations, or for a share that is none.
    pub fn quantile(&self, share: f64) -> Option<SimTime> {
        if self.count == 0 || !(0.0..=1.0).contains(&share) {
            return None;
        }
        // In integers, or 0.07 of 100 would be the eighth.
        let billionths = (share * 1e9).round() as u128;
        let rank = (billionths * u128::from(self.count)).div_ceil(1_000_000_000).max(1);
        Some(SimTime(if self.is_exact() {
            let mut sorted = self.kept.clone();
            let at = (rank as usize - 1).min(sorted.len().saturating_sub(1));
            *sorted.select_nth_unstable(at).1
        } else {
            self.in_buckets(rank)
        }))
    }

    fn in_buckets(&self, rank: u128) -> u64 {
        // The two ends are known.
        if rank <= 1 {
            return self.shortest;
        }
        if rank >= u128::from(self.count) {
            return self.longest;
        }
        let mut seen = 0;
        let found = self.buckets.iter().position(|count| {
            seen += u128::from(*count);
            seen >= rank
        });
        let (first, width) = span(found.unwrap_or(0));
        (first + width / 2).clamp(self.shortest, self.longest)
    }

    /// From durations to buckets.
    fn spill(&mut self) {
        for duration in std::mem::take(&mut self.kept) {
            self.put(bucket(duration), 1);
        }
    }

    fn put(&mut self, bucket: usize, count: u64) {
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        if let Some(at) = self.buckets.get_mut(bucket) {
            *at = at.saturating_add(count);
        }
    }
}

/// As it is written down: buckets that hold any, with their counts.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    kept_ps: Vec<u64>,
    buckets: Vec<(u32, u64)>,
    shortest_ps: u64,
    longest_ps: u64,
}

impl From<Quantiles> for Written {
    fn from(of: Quantiles) -> Self {
        let held = of.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        Self {
            buckets: held.map(|(bucket, count)| (bucket as u32, *count)).collect(),
            kept_ps: of.kept,
            shortest_ps: of.shortest,
            longest_ps: of.longest,
        }
    }
}

/// Why written quantiles are none.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("{0} durations are kept and others counted")]
    Both(usize),
    #[error("bucket {0} is none, or comes twice, or out of order")]
    Bucket(u32),
    #[error("{0} durations counted are too few or too many for buckets")]
    Count(u128),
    #[error("durations from {0} ps to {1} ps do not fit what was counted")]
    Range(u64, u64),
}

impl TryFrom<Written> for Quantiles {
    type Error = Broken;

    fn try_from(written: Written) -> Result<Self, Broken> {
        let Written { kept_ps: kept, buckets: held, shortest_ps, longest_ps } = written;
        let range = Broken::Range(shortest_ps, longest_ps);
        if held.is_empty() {
            let mut all = Self::default();
            kept.into_iter().for_each(|duration| all.add(SimTime(duration)));
            let same = (all.shortest, all.longest) == (shortest_ps, longest_ps);
            return if same { Ok(all) } else { Err(range) };
        }
        if !kept.is_empty() {
            return Err(Broken::Both(kept.len()));
        }
        let mut all = Self { shortest: shortest_ps, longest: longest_ps, ..Self::default() };
        let mut total: u128 = 0;
        for (number, count) in &held {
            let bucket = *number as usize;
            if bucket >= BUCKETS || bucket < all.buckets.len() || *count == 0 {
                return Err(Broken::Bucket(*number));
            }
            all.put(bucket, *count);
            total += u128::from(*count);
        }
        all.count = u64::try_from(total).map_err(|_| Broken::Count(total))?;
        if all.is_exact() {
            return Err(Broken::Count(total));
        }
        let ends = (held.first().map(|h| h.0 as usize), held.last().map(|h| h.0 as usize));
        if ends != (Some(bucket(shortest_ps)), Some(bucket(longest_ps))) {
            return Err(range);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By the definition: sort all and count.
    fn exactly(durations: &[u64], billionths: u128) -> u64 {
        let mut sorted = durations.to_vec();
        sorted.sort_unstable();
        let rank = (billionths * sorted.len() as u128).div_ceil(1_000_000_000).max(1);
        sorted[rank as usize - 1]
    }

    fn of(durations: &[u64]) -> Quantiles {
        let mut all = Quantiles::default();
        durations.iter().for_each(|d| all.add(SimTime(*d)));
        all
    }

    /// The same, as if too many had been seen to keep them.
    fn bucketed(durations: &[u64]) -> Quantiles {
        let mut all = of(durations);
        all.spill();
        all
    }

    #[test]
    fn the_nearest_rank_is_counted_in_whole_durations() {
        let all = of(&(1..=100).rev().collect::<Vec<_>>());
        for (share, rank) in [(0.0, 1), (0.07, 7), (0.5, 50), (0.95, 95), (0.951, 96), (1.0, 100)] {
            assert_eq!(all.quantile(share), Some(SimTime(rank)), "{share}");
        }
        assert_eq!(all.quantile(1.1), None);
        assert_eq!(all.quantile(f64::NAN), None);
        assert_eq!(Quantiles::default().quantile(0.5), None);
    }

    #[test]
    fn every_duration_lies_in_its_bucket_and_buckets_leave_no_gap() {
        let mut next = 0u64;
        for bucket in 0..BUCKETS {
            let (first, width) = span(bucket);
            assert_eq!((first, super::bucket(first)), (next, bucket));
            let last = first + (width - 1);
            assert_eq!(super::bucket(last), bucket);
            next = last.wrapping_add(1);
        }
        assert_eq!(next, 0, "the last bucket ends with the last duration");
    }

    #[test]
    fn memory_does_not_grow_with_the_run() {
        let mut all = Quantiles::default();
        for number in 0..200_000u64 {
            // From picoseconds to months.
            all.add(SimTime((1 << (number % 64)) + number));
        }
        assert_eq!(all.kept.capacity(), 0);
        assert!(all.buckets.len() <= BUCKETS && BUCKETS == 28_672, "{BUCKETS}");
    }

    #[test]
    fn one_more_than_can_be_kept_is_counted() {
        let mut durations: Vec<_> = (0..KEPT as u64).map(|d| 1_000_000 + d * 977).collect();
        let exact = of(&durations);
        assert!(exact.is_exact());
        assert_eq!(exact.quantile(0.5), Some(SimTime(exactly(&durations, 500_000_000))));
        durations.push(5_000_000);
        let counted = of(&durations);
        assert!(!counted.is_exact() && counted.kept.is_empty());
        let (got, truth) = (counted.quantile(0.5).unwrap().0, exactly(&durations, 500_000_000));
        assert!(got.abs_diff(truth) as f64 <= truth as f64 * Quantiles::RELATIVE_ERROR);
        assert_eq!(counted.quantile(1.0), Some(SimTime(exactly(&durations, 1_000_000_000))));
    }

    #[test]
    fn written_quantiles_that_cannot_be_are_refused() {
        let refused = |text: &str| serde_json::from_str::<Quantiles>(text).unwrap_err().to_string();
        let with = |kept: &str, buckets: &str, range: (u64, u64)| {
            let (from, to) = range;
            refused(&format!(
                r#"{{"kept_ps":[{kept}],"buckets":[{buckets}],"shortest_ps":{from},"longest_ps":{to}}}"#
            ))
        };
        assert!(with("1", "[1,20000]", (1, 1)).contains("kept and others"));
        assert!(with("", "[28672,20000]", (1, 1)).contains("bucket 28672"));
        assert!(with("", "[2,20000],[1,20000]", (1, 2)).contains("bucket 1"));
        assert!(with("", "[1,20]", (1, 1)).contains("too few"));
        assert!(with("", "[1,18446744073709551615],[2,2]", (1, 2)).contains("too many"));
        assert!(with("", "[1,20000]", (1, 2)).contains("do not fit"));
        assert!(with("7", "", (1, 7)).contains("do not fit"));
    }

    /// From a picosecond to months, about as many in every octave.
    fn durations(most: usize) -> impl Strategy<Value = Vec<u64>> {
        let any_size = (any::<u64>(), 0..64u32).prop_map(|(d, shift)| d >> shift);
        proptest::collection::vec(any_size, 1..most)
    }

    proptest! {
        #[test]
        fn a_counted_quantile_is_off_by_no_more_than_stated(all in durations(300), billionths in 0..=1_000_000_000u64) {
            let truth = exactly(&all, u128::from(billionths));
            // `spill` leaves the count, by which answers are chosen: ask the buckets.
            let counted = bucketed(&all);
            let rank = (u128::from(billionths) * all.len() as u128).div_ceil(1_000_000_000).max(1);
            let got = counted.in_buckets(rank);
            let off = u128::from(got.abs_diff(truth)) * 2 * PER_OCTAVE as u128;
            prop_assert!(off <= u128::from(truth), "{got} for {truth}");
            prop_assert_eq!(of(&all).quantile(billionths as f64 / 1e9), Some(SimTime(truth)));
        }

        #[test]
        fn parts_merged_in_any_order_answer_as_the_whole(parts in proptest::collection::vec(durations(40), 1..5), many in any::<bool>()) {
            let repeat = if many { KEPT / 8 } else { 1 };
            let parts: Vec<Vec<u64>> = parts.iter().map(|p| p.repeat(repeat.div_ceil(p.len()))).collect();
            let whole = of(&parts.concat());
            let mut forth = Quantiles::default();
            parts.iter().for_each(|p| forth.merge(&of(p)));
            let mut back = Quantiles::default();
            parts.iter().rev().for_each(|p| back.merge(&of(p)));
            for billionths in (0..=20).map(|v| v as f64 / 20.0) {
                prop_assert_eq!(forth.quantile(billionths), whole.quantile(billionths));
                prop_assert_eq!(back.quantile(billionths), whole.quantile(billionths));
            }
            prop_assert_eq!(back.count(), whole.count());
        }

        #[test]
        fn quantiles_read_back_are_those_written(all in durations(300), many in any::<bool>()) {
            let one = of(&all.repeat(if many { KEPT / all.len() + 1 } else { 1 }));
            let text = serde_json::to_string(&one).unwrap();
            let read: Quantiles = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&read, &one);
            prop_assert_eq!(serde_json::to_string(&read).unwrap(), text);
        }
    }
}
