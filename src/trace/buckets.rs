//! A step function cut into buckets as it streams by: the least, the most and the mean of each, and
//! for how long it is known there.
//!
//! The bounds are given, and a piece that reaches over one is cut there, so that the mean of a bucket
//! times its known time is its integral. Memory follows the number of buckets alone.

mod sink;

pub use sink::{BucketSink, Bucketed};

use super::{Block, SampleClock, Times};
use crate::units::{CompensatedSum, SimTime};

/// A stretch of time cut into equal buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    from: SimTime,
    to: SimTime,
    count: usize,
}

impl Bounds {
    /// `count` buckets from `from` to `to`; none where there is no time or no bucket.
    pub fn new(from: SimTime, to: SimTime, count: usize) -> Option<Self> {
        (from < to && count > 0).then_some(Self { from, to, count })
    }

    /// Where the first bucket starts.
    pub fn from(&self) -> SimTime {
        self.from
    }

    /// Where the last bucket ends.
    pub fn to(&self) -> SimTime {
        self.to
    }

    /// How many buckets there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The start of bucket `k`, cut to a whole picosecond; the end of the last for any behind it.
    pub fn edge(&self, k: usize) -> SimTime {
        let span = u128::from(self.to.since(self.from).0);
        let part = span * k.min(self.count) as u128 / self.count as u128;
        // Never above the span, which is a u64.
        SimTime(self.from.0 + part as u64)
    }
}

/// What a step function does in one bucket, in its own unit. Where it is not known at all the three
/// values are not-a-number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bucket {
    /// The least value.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// The mean over the time that it is known.
    pub mean: f64,
    /// For how long it is known.
    pub known: SimTime,
}

impl Bucket {
    /// The integral over the time that it is known, over seconds.
    pub fn integral(&self) -> f64 {
        if self.known.0 == 0 { 0.0 } else { self.mean * self.known.seconds().0 }
    }
}

/// A bucket on its way.
#[derive(Debug, Clone, Copy)]
struct Filling {
    least: f64,
    most: f64,
    /// Value times picoseconds.
    integral: CompensatedSum,
    known: u64,
}

impl Filling {
    fn empty() -> Self {
        let integral = CompensatedSum::default();
        Self { least: f64::INFINITY, most: f64::NEG_INFINITY, integral, known: 0 }
    }

    fn add(&mut self, value: f64, picoseconds: u64) {
        self.least = if value < self.least { value } else { self.least };
        self.most = if value > self.most { value } else { self.most };
        self.integral.add(value * picoseconds as f64);
        self.known += picoseconds;
    }

    fn finish(self) -> Bucket {
        let known = SimTime(self.known);
        if self.known == 0 {
            return Bucket { least: f64::NAN, most: f64::NAN, mean: f64::NAN, known };
        }
        // A quotient of a product may leave the range by a rounding error.
        let mean = (self.integral.value() / self.known as f64).max(self.least).min(self.most);
        Bucket { least: self.least, most: self.most, mean, known }
    }
}

/// Cuts one step function into buckets. Pieces come in the order of time; what lies before the end of
/// an earlier one is passed over.
#[derive(Debug, Clone)]
pub struct Buckets {
    bounds: Bounds,
    filling: Vec<Filling>,
    /// The bucket that is being filled, and its end.
    at: usize,
    until: SimTime,
    reached: SimTime,
}

/// Values summed in one go; short enough that a plain sum keeps twelve digits.
const PIECE: usize = 4096;

impl Buckets {
    /// Nothing known yet.
    pub fn new(bounds: Bounds) -> Self {
        let filling = vec![Filling::empty(); bounds.count];
        Self { bounds, filling, at: 0, until: bounds.edge(1), reached: bounds.from }
    }

    /// `value` holds from `start` to `end`; not-a-number is a gap.
    pub fn hold(&mut self, start: SimTime, end: SimTime, value: f64) {
        let (mut start, end) = (start.max(self.reached), end.min(self.bounds.to));
        if start >= end || value.is_nan() {
            return;
        }
        self.reached = end;
        self.seek(start);
        while start < end {
            let stop = end.min(self.until);
            if let (Some(bucket), true) = (self.filling.get_mut(self.at), stop > start) {
                bucket.add(value, stop.0 - start.0);
                start = stop;
            }
            if start < end {
                self.next();
            }
        }
    }

    /// Samples that follow each other. On an even clock those that lie wholly in one bucket are summed
    /// at once.
    pub fn take(&mut self, block: &Block<'_>) {
        let Times::Even { clock, first } = block.times else {
            block.segments().for_each(|(start, end, value)| self.hold(start, end, value));
            return;
        };
        if block.end() <= self.reached {
            return;
        }
        let before = clock.first_from(self.reached).saturating_sub(first).saturating_sub(1);
        let mut next = before as usize;
        while next < block.values.len() && block.at(next) < self.bounds.to {
            self.seek(block.at(next).max(self.reached));
            next = self.take_bucket(block, clock, first, next);
        }
    }

    /// Takes the samples from number `next` on that start in the bucket at hand; tells the one behind
    /// them.
    fn take_bucket(
        &mut self,
        block: &Block<'_>,
        clock: SampleClock,
        first: u64,
        next: usize,
    ) -> usize {
        let behind = clock.first_from(self.until).saturating_sub(first) as usize;
        let behind = behind.clamp(next + 1, block.values.len());
        // The last may reach into the next bucket.
        let whole = if block.at(behind) <= self.until { behind } else { behind - 1 };
        let mut done = next;
        if block.at(next) >= self.reached
            && let Some(values) = block.values.get(next..whole)
        {
            for piece in values.chunks(PIECE) {
                if !self.take_piece(block.at(done), block.at(done + piece.len()), piece) {
                    break;
                }
                done += piece.len();
            }
        }
        for sample in done..behind {
            let value = block.values.get(sample).copied().unwrap_or(f64::NAN);
            self.hold(block.at(sample), block.at(sample + 1), value);
        }
        behind
    }

    /// Adds samples that lie wholly in the bucket at hand; false where one of them is a gap.
    fn take_piece(&mut self, start: SimTime, end: SimTime, values: &[f64]) -> bool {
        let (sum, least, most) = sum_and_range(values);
        let Some(bucket) = self.filling.get_mut(self.at).filter(|_| !sum.is_nan()) else {
            return false;
        };
        let picoseconds = end.since(start).0;
        bucket.least = bucket.least.min(least);
        bucket.most = bucket.most.max(most);
        bucket.integral.add(sum * (picoseconds as f64 / values.len().max(1) as f64));
        bucket.known += picoseconds;
        self.reached = end;
        true
    }

    /// Goes to the bucket that holds an instant.
    fn seek(&mut self, at: SimTime) {
        while self.until <= at && self.at + 1 < self.bounds.count {
            self.next();
        }
    }

    fn next(&mut self) {
        self.at += 1;
        self.until = self.bounds.edge(self.at + 1);
    }

    /// The buckets.
    pub fn finish(self) -> Vec<Bucket> {
        self.filling.into_iter().map(Filling::finish).collect()
    }
}

/// The sum of values, the least and the most, in eight lanes so that the compiler can use wide
/// registers; the order of the sum is the same on every machine. The sum of what holds a gap is one.
fn sum_and_range(values: &[f64]) -> (f64, f64, f64) {
    let (mut sums, mut least, mut most) = ([0.0; 8], [f64::INFINITY; 8], [f64::NEG_INFINITY; 8]);
    let mut take = |chunk: &[f64]| {
        for (lane, value) in chunk.iter().enumerate().take(8) {
            sums[lane] += value;
            least[lane] = if *value < least[lane] { *value } else { least[lane] };
            most[lane] = if *value > most[lane] { *value } else { most[lane] };
        }
    };
    let mut chunks = values.chunks_exact(8);
    for chunk in &mut chunks {
        take(chunk);
    }
    take(chunks.remainder());
    let range = |of: &[f64], far: f64, nearer: fn(f64, f64) -> f64| {
        of.iter().fold(far, |a, b| nearer(a, *b))
    };
    let sum = sums.iter().sum();
    (sum, range(&least, f64::INFINITY, f64::min), range(&most, f64::NEG_INFINITY, f64::max))
}

#[cfg(test)]
mod tests;
