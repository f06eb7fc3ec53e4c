//! What a cache keeps of data that is streamed through it again and again.
//!
//! LRU: `h = 1` for `W <= C`, else `0`. Random: `h = exp(-(1 - h) W / C)`, solved by
//! `h = -W0(-r exp(-r)) / r`, `r = W / C`
//!
//! Symbols: `W` \[B\] working set in whole lines, `C` \[B\] capacity, `h` \[1\] share of lines found
//! from the second pass on, `W0` the principal branch of the Lambert function. Between two uses of a
//! line every other line is used once.
//!
//! Least recently used: the line that goes is the one that will be wanted soonest. A set one line
//! larger than the capacity so finds nothing.
//!
//! Random replacement: of the uses in between, `(1 - h) W` lines' worth miss, and each miss takes
//! the place of one of `C` lines with equal chance. A line survives them all with probability
//! `(1 - 1/C)^((1 - h) W)`, in the limit of many lines `exp(-(1 - h) r)`, and that is `h`. With
//! `u = r h` it reads `u exp(-u) = r exp(-r)`, so `-u` is a branch of the Lambert function at
//! `-r exp(-r)`. One root is `h = 1`, which for `r > 1` cannot be, since `C` lines do not hold `W`; the
//! other, the smaller, is the principal branch. It also keeps the mean share of resident lines,
//! `(1 - h) / ((1 - h) r)`, at `C / W`.
//!
//! Derived here; compared below with a simulation. Valid for full associativity and cyclic passes in
//! one order. Neglected: conflicts of a set-associative cache, other traffic, prefetch, and under
//! random replacement the approach to the steady share over the first passes.

use super::lambert::lambert_w0;
use crate::units::Bytes;

/// Which line makes way for a missing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replacement {
    /// The one that was not used for longest.
    LeastRecentlyUsed,
    /// Any, with equal chance.
    Random,
}

/// A fully associative cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cache {
    /// Capacity \[B\].
    pub capacity: Bytes,
    /// Bytes that one miss fetches \[B\], above 0.
    pub line: Bytes,
    /// Which line makes way.
    pub replacement: Replacement,
}

impl Cache {
    /// Bytes of the lines that a working set touches when it is read in runs of `run` contiguous
    /// bytes, each from the start of a line. A run that is the working set itself is a dense array.
    pub fn footprint(&self, working_set: Bytes, run: Bytes) -> Bytes {
        let run = run.min(working_set);
        if run.0 <= 0.0 {
            return Bytes::ZERO;
        }
        let runs = (working_set / run).ceil();
        self.line * ((run / self.line).ceil() * runs)
    }

    /// Share of lines found from the second pass on, for a footprint in whole lines \[1\].
    pub fn hit_share(&self, footprint: Bytes) -> f64 {
        if footprint <= self.capacity {
            return 1.0;
        }
        match self.replacement {
            Replacement::LeastRecentlyUsed => 0.0,
            Replacement::Random => random_hit_share(footprint / self.capacity),
        }
    }

    /// Bytes fetched by `passes` over a working set read in runs of `run` bytes: all of its lines
    /// once, and in each later pass those that went.
    pub fn bytes_missed(&self, working_set: Bytes, passes: u64, run: Bytes) -> Bytes {
        if passes == 0 {
            return Bytes::ZERO;
        }
        let footprint = self.footprint(working_set, run);
        let again = (passes - 1) as f64 * (1.0 - self.hit_share(footprint));
        footprint * (1.0 + again)
    }
}

/// The steady share under random replacement at a working set `ratio` times the capacity.
fn random_hit_share(ratio: f64) -> f64 {
    let argument = -ratio * (-ratio).exp();
    // At a ratio beyond 745 the exponential is zero, and so is the share.
    if argument.is_nan() || argument == 0.0 {
        return 0.0;
    }
    lambert_w0(argument).map_or(1.0, |w| (-w / ratio).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn cache(replacement: Replacement) -> Cache {
        Cache { capacity: Bytes(32768.0), line: Bytes(32.0), replacement }
    }

    #[test]
    fn a_set_that_fits_is_fetched_once() {
        for replacement in [Replacement::LeastRecentlyUsed, Replacement::Random] {
            let missed = |bytes, passes| {
                cache(replacement).bytes_missed(Bytes(bytes), passes, Bytes(bytes)).0
            };
            assert_eq!(missed(32768.0, 10), 32768.0);
            assert_eq!(missed(1000.0, 10), 1024.0, "whole lines");
            assert_eq!(missed(1000.0, 0), 0.0);
            assert_eq!(missed(0.0, 3), 0.0);
        }
    }

    #[test]
    fn under_lru_one_line_too_many_loses_all_reuse() {
        let missed = |bytes| {
            cache(Replacement::LeastRecentlyUsed).bytes_missed(Bytes(bytes), 10, Bytes(bytes)).0
        };
        assert_eq!(missed(32768.0), 32768.0);
        assert_eq!(missed(32800.0), 328_000.0);
    }

    #[test]
    fn scattered_runs_take_whole_lines_each() {
        let law = cache(Replacement::LeastRecentlyUsed);
        assert_eq!(law.footprint(Bytes(1024.0), Bytes(4.0)).0, 256.0 * 32.0);
        assert_eq!(law.footprint(Bytes(1024.0), Bytes(48.0)).0, 22.0 * 64.0);
        assert_eq!(law.footprint(Bytes(1024.0), Bytes(4096.0)).0, 1024.0);
    }

    #[test]
    fn the_random_share_is_the_smaller_root_of_its_equation() {
        for (ratio, known) in [(1.5, None), (2.0, Some(0.203_187_869_979_98)), (5.0, None)] {
            let share = random_hit_share(ratio);
            assert!(share < 1.0 / ratio, "below the other root's side");
            assert!((share - (-(1.0 - share) * ratio).exp()).abs() < 1e-14);
            if let Some(known) = known {
                assert!((share - known).abs() < 1e-13, "{share}");
            }
        }
        assert_eq!(random_hit_share(1e4), 0.0);
        assert_eq!(random_hit_share(f64::INFINITY), 0.0);
        assert!(random_hit_share(1.0 + 1e-12) > 0.999);
    }

    /// Hit shares of each pass but the first ten over `lines` lines through `ways` places.
    fn simulated(lines: usize, ways: usize, passes: usize) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut places: Vec<Option<usize>> = vec![None; ways];
        let mut place_of: Vec<Option<usize>> = vec![None; lines];
        let (mut filled, mut shares) = (0, Vec::new());
        for pass in 0..passes {
            let mut hits = 0;
            for line in 0..lines {
                if place_of[line].is_some() {
                    hits += 1;
                    continue;
                }
                let place = if filled < ways { filled } else { random.random_range(0..ways) };
                filled = (filled + 1).min(ways);
                if let Some(old) = places[place].replace(line) {
                    place_of[old] = None;
                }
                place_of[line] = Some(place);
            }
            if pass >= 10 {
                shares.push(hits as f64 / lines as f64);
            }
        }
        shares
    }

    #[test]
    fn random_replacement_agrees_with_a_simulation() {
        for (lines, ways) in [(2500, 2000), (4000, 2000), (6000, 2000)] {
            let shares = simulated(lines, ways, 210);
            // Means of ten passes each, which are nearly independent.
            let means: Vec<f64> =
                shares.chunks(10).map(|c| c.iter().sum::<f64>() / c.len() as f64).collect();
            let count = means.len() as f64;
            let mean = means.iter().sum::<f64>() / count;
            let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (count - 1.0);
            let error = (variance / count).sqrt();
            let expected = random_hit_share(lines as f64 / ways as f64);
            // The limit of many lines leaves a bias of the order of one line in the capacity.
            let limit = 4.0 * error + 2.0 / ways as f64;
            assert!(limit < 0.01, "the simulation resolves the share: {limit}");
            assert!((mean - expected).abs() < limit, "{lines}: {mean} against {expected}");
        }
    }
}
