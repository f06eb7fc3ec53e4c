//! Requests at random, independent of each other.

use super::LoadError;
use super::dice::exponential;
use super::process::sound_rate;
use crate::units::{Hertz, Seconds, SimTime};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A Poisson process: times between requests are exponential.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Poisson {
    rate: Hertz,
}

impl Poisson {
    /// By mean rate.
    ///
    /// # Errors
    /// A rate of nothing, or above a picosecond's.
    pub fn new(rate: Hertz) -> Result<Self, LoadError> {
        sound_rate("a mean rate", rate)?;
        Ok(Self { rate })
    }

    /// The rate.
    pub fn mean_rate(&self) -> Hertz {
        self.rate
    }

    /// One.
    pub fn dispersion(&self) -> f64 {
        1.0
    }

    /// Probability of no request in a stretch of time: exp(-λL).
    pub fn silence(&self, stretch: Seconds) -> f64 {
        (-self.rate.0 * stretch.0).exp()
    }

    /// One run of it.
    pub fn times<R: Rng>(&self, generator: R) -> PoissonTimes<R> {
        PoissonTimes { gap: Seconds(1.0 / self.rate.0), at: Some(SimTime::ZERO), generator }
    }
}

/// The times of a [`Poisson`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PoissonTimes<R> {
    gap: Seconds,
    /// The latest; nothing once time has ended.
    at: Option<SimTime>,
    generator: R,
}

impl<R: Rng> Iterator for PoissonTimes<R> {
    type Item = Result<SimTime, LoadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let before = self.at?;
        let gap = exponential(self.gap, &mut self.generator);
        let at = SimTime::from_seconds(gap).and_then(|gap| before.after(gap));
        self.at = at.ok();
        Some(at.map_err(LoadError::from))
    }
}

#[cfg(test)]
mod tests {
    use super::super::statistics::{counts, gaps, mean, variance};
    use super::super::stream;
    use super::*;
    use crate::units::TimeError;

    fn times(rate: f64, count: usize, seed: u64) -> Vec<SimTime> {
        let process = Poisson::new(Hertz(rate)).unwrap();
        process.times(stream(seed, "test")).take(count).map(Result::unwrap).collect()
    }

    #[test]
    fn gaps_are_exponential() {
        let gaps = gaps(&times(50.0, 40_001, 11));
        // Standard errors over 40 000 gaps: mean 0.5 %, variance sqrt(8 / n) = 1.4 %, share 0.24 %.
        assert!((mean(&gaps) * 50.0 - 1.0).abs() < 0.02, "{}", mean(&gaps));
        assert!((variance(&gaps) * 2500.0 - 1.0).abs() < 0.06, "{}", variance(&gaps));
        let median = 2f64.ln() / 50.0;
        let below = gaps.iter().filter(|gap| **gap < median).count() as f64 / gaps.len() as f64;
        assert!((below - 0.5).abs() < 0.01, "{below}");
    }

    #[test]
    fn counts_have_the_variance_of_their_mean() {
        let process = Poisson::new(Hertz(20.0)).unwrap();
        let counts = counts(process.times(stream(5, "test")), Seconds(1.0), 4000);
        // sqrt(2 / 4000) is 2.2 %.
        let index = variance(&counts) / mean(&counts);
        assert!((index - process.dispersion()).abs() < 0.09, "{index}");
        assert!((mean(&counts) - 20.0).abs() < 0.3, "{}", mean(&counts));
        let silent = counts.iter().filter(|n| **n == 0.0).count();
        assert!(silent < 3, "exp(-20) of 4000 windows are silent, not {silent}");
    }

    #[test]
    fn the_same_stream_gives_the_same_times_and_a_faster_rate_squeezes_them() {
        assert_eq!(times(50.0, 100, 2), times(50.0, 100, 2));
        assert_ne!(times(50.0, 100, 2), times(50.0, 100, 3));
        for (slow, fast) in times(50.0, 100, 2).iter().zip(times(100.0, 100, 2)) {
            assert!(slow.0.abs_diff(2 * fast.0) <= 200, "{slow} {fast}");
        }
    }

    #[test]
    fn a_rate_of_nothing_is_refused_and_a_tiny_one_ends_with_time() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e12] {
            assert!(Poisson::new(Hertz(rate)).is_err(), "{rate}");
        }
        let mut times = Poisson::new(Hertz(1e-300)).unwrap().times(stream(1, "test"));
        assert_eq!(times.next(), Some(Err(TimeError::PastEnd.into())));
        assert_eq!(times.next(), None);
    }
}
