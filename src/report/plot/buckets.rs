//! A step function cut into buckets of equal width, each with minimum, maximum and mean.
//!
//! A bucket's mean times its width is the energy in it, exactly, so that a picture of any width
//! shows all of it. One pass over the segments, whatever the number of buckets.

use crate::trace::Waveform;
use crate::units::SimTime;

/// Less of a bucket than this is a rounding error of its edges and no part of a segment.
const SLIVER: f64 = 1e-12;

/// What is kept of one bucket.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bucket {
    pub least: f64,
    pub most: f64,
    pub mean: f64,
    /// The value that holds for most of it.
    pub level: f64,
    /// Pieces of constant value that reach into it.
    pub pieces: u32,
}

impl Bucket {
    const NOTHING: Self = Self { least: 0.0, most: 0.0, mean: 0.0, level: 0.0, pieces: 0 };

    /// True when nothing but one edge lies in it: drawn at the nearer end, that edge stays sharp.
    pub(super) fn is_plain(&self) -> bool {
        self.pieces <= 2
    }

    fn take_in(&mut self, value: f64) {
        let first = self.pieces == 0;
        self.least = if first { value } else { self.least.min(value) };
        self.most = if first { value } else { self.most.max(value) };
        self.pieces = self.pieces.saturating_add(1);
    }
}

/// A stretch of time cut into equal buckets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Grid {
    pub from: SimTime,
    pub to: SimTime,
    pub count: usize,
}

impl Grid {
    /// Position of an instant in buckets from the start.
    pub(super) fn place(&self, at: SimTime) -> f64 {
        let span = self.to.since(self.from).0 as f64;
        if span > 0.0 { at.since(self.from).0 as f64 / span * self.count as f64 } else { 0.0 }
    }

    /// The buckets of a waveform.
    pub(super) fn buckets(&self, wave: &Waveform) -> Vec<Bucket> {
        // Each with the widest piece so far.
        let mut buckets = vec![(Bucket::NOTHING, 0.0); self.count];
        for (start, end, value) in pieces(wave, self.from, self.to) {
            let (start, end) = (self.place(start), self.place(end));
            let first = (start as usize).min(self.count.saturating_sub(1));
            for (at, (bucket, widest)) in buckets.iter_mut().enumerate().skip(first) {
                let covered = end.min(at as f64 + 1.0) - start.max(at as f64);
                if covered > SLIVER {
                    bucket.mean += value * covered;
                    bucket.take_in(value);
                }
                if covered > *widest {
                    (bucket.level, *widest) = (value, covered);
                }
                if end <= at as f64 + 1.0 {
                    break;
                }
            }
        }
        buckets.into_iter().map(|(bucket, _)| bucket).collect()
    }
}

/// The pieces of a waveform within a range that are known: zero before its first point.
pub(super) fn pieces(
    wave: &Waveform,
    from: SimTime,
    to: SimTime,
) -> impl Iterator<Item = (SimTime, SimTime, f64)> + '_ {
    let points = wave.points();
    let first = points.partition_point(|point| point.0 <= from);
    let held = first.checked_sub(1).and_then(|at| points.get(at)).map_or(0.0, |point| point.1);
    let inside = points.get(first..).unwrap_or_default().iter().take_while(move |p| p.0 < to);
    let starts = std::iter::once((from, held)).chain(inside.copied());
    let ends = points.get(first..).unwrap_or_default().iter().map(|p| p.0);
    let ends = ends.chain(std::iter::repeat(to)).map(move |end| end.min(to));
    let pieces = starts.zip(ends).map(|((start, value), end)| (start, end, value));
    pieces.filter(|(_, _, value)| !value.is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_energy_of_a_range_is_kept(
            steps in proptest::collection::vec((1u64..50, -2.0..5.0f64), 0..40),
            from in 0u64..200,
            length in 1u64..500,
            count in 1usize..60,
        ) {
            let mut wave = Waveform::default();
            let mut now = 3;
            for (duration, value) in steps {
                wave.set(SimTime(now), value);
                now += duration;
            }
            let grid = Grid { from: SimTime(from), to: SimTime(from + length), count };
            let buckets = grid.buckets(&wave);
            let width = length as f64 / count as f64;
            let sum: f64 = buckets.iter().map(|b| b.mean * width).sum();
            let exact = (wave.integral(grid.to) - wave.integral(grid.from)) * 1e12;
            prop_assert!((sum - exact).abs() < 1e-9 * (1.0 + length as f64), "{sum} {exact}");
            for b in buckets {
                prop_assert!(b.least <= b.mean + 1e-9 && b.mean <= b.most + 1e-9);
            }
        }
    }

    #[test]
    fn what_is_unknown_is_not_drawn_and_adds_nothing() {
        let mut wave = Waveform::default();
        wave.set(SimTime(0), f64::NAN);
        wave.set(SimTime(550), 2.0);
        let grid = Grid { from: SimTime(0), to: SimTime(1000), count: 10 };
        let means: Vec<f64> = grid.buckets(&wave).iter().map(|bucket| bucket.mean).collect();
        let expected = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 2.0, 2.0];
        assert!(means.iter().zip(expected).all(|(m, e)| (m - e).abs() < 1e-9), "{means:?}");
    }

    #[test]
    fn a_spike_narrower_than_a_bucket_keeps_its_height() {
        let mut wave = Waveform::default();
        wave.set(SimTime(0), 1.0);
        wave.set(SimTime(550), 9.0);
        wave.set(SimTime(551), 1.0);
        let grid = Grid { from: SimTime(0), to: SimTime(1000), count: 10 };
        let bucket = grid.buckets(&wave)[5];
        assert_eq!((bucket.least, bucket.most, bucket.pieces), (1.0, 9.0, 3));
        assert!((bucket.mean - 1.08).abs() < 1e-12);
    }
}
