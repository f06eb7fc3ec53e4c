//! One request each period, late by a bounded jitter.

use super::LoadError;
use super::dice::uniform;
use super::process::positive;
use crate::units::{Hertz, Seconds, SimTime, TimeError};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Requests at n periods from the start, each later by a jitter that is uniform from zero to its bound.
/// The bound is at most a period, so that none overtakes another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Periodic {
    period: Seconds,
    jitter: Seconds,
    offset: SimTime,
}

impl Periodic {
    /// `offset` is when the first one is due.
    ///
    /// # Errors
    /// A period of nothing, a jitter beyond a period, or a time past the end of time.
    pub fn new(period: Seconds, jitter: Seconds, offset: Seconds) -> Result<Self, LoadError> {
        positive("a period", period)?;
        SimTime::from_seconds(jitter)?;
        if jitter > period {
            let problem = format!("must be at most the period of {period}, not {jitter}");
            return Err(LoadError::parameter("a jitter", problem));
        }
        Ok(Self { period, jitter, offset: SimTime::from_seconds(offset)? })
    }

    /// One over the period: jitter does not add up.
    pub fn mean_rate(&self) -> Hertz {
        Hertz(1.0 / self.period.0)
    }

    /// Zero: the number in a long time is known to within two.
    pub fn dispersion(&self) -> f64 {
        0.0
    }

    /// Variance of the time between two requests \[s²\]: that of the difference of two jitters, J²/6.
    pub fn gap_variance(&self) -> f64 {
        self.jitter.0 * self.jitter.0 / 6.0
    }

    /// Probability of no request in a stretch of time laid down at random: 1 - L/P. None where jitter
    /// shares in it.
    pub fn silence(&self, stretch: Seconds) -> Option<f64> {
        let covered = (stretch / self.period).min(1.0);
        (self.jitter.0 == 0.0 || covered == 0.0).then_some(1.0 - covered)
    }

    /// One run of it.
    pub fn times<R: Rng>(&self, generator: R) -> PeriodicTimes<R> {
        PeriodicTimes { process: *self, number: 0, latest: SimTime::ZERO, generator }
    }

    /// When request `number` is due: rounded once, so that rounded periods do not add up.
    fn due(&self, number: u64) -> Result<SimTime, TimeError> {
        let ticks = self.period.0 * 1e12;
        let rest = (ticks.fract() * number as f64).round();
        let product = i128::from(ticks as u64) * i128::from(number) + rest as i128;
        let due = u64::try_from(product).map_err(|_| TimeError::PastEnd)?;
        self.offset.after(SimTime(due))
    }
}

/// The times of a [`Periodic`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PeriodicTimes<R> {
    process: Periodic,
    number: u64,
    latest: SimTime,
    generator: R,
}

impl<R: Rng> Iterator for PeriodicTimes<R> {
    type Item = Result<SimTime, LoadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let number = self.number;
        self.number = number.checked_add(1)?;
        let late = match self.process.jitter {
            Seconds(jitter) if jitter > 0.0 => Seconds(jitter * uniform(&mut self.generator)),
            _ => Seconds::ZERO,
        };
        let late = SimTime::from_seconds(late);
        let at = late.and_then(|late| self.process.due(number)?.after(late));
        match at {
            // A jitter of a whole period may round to a picosecond more than the next one's.
            Ok(at) => self.latest = self.latest.max(at),
            Err(_) => self.number = u64::MAX,
        }
        Some(at.map(|_| self.latest).map_err(LoadError::from))
    }
}

#[cfg(test)]
mod tests {
    use super::super::statistics::{gaps, mean, variance};
    use super::super::stream;
    use super::*;

    fn times(process: Periodic, count: usize, seed: u64) -> Vec<SimTime> {
        process.times(stream(seed, "test")).take(count).map(Result::unwrap).collect()
    }

    #[test]
    fn a_period_that_is_no_number_of_picoseconds_does_not_drift() {
        let process = Periodic::new(Seconds(1.0 / 30.0), Seconds::ZERO, Seconds(1.0)).unwrap();
        let times = times(process, 30_000_001, 1);
        // Rounded periods would be 10 µs early after thirty million of them; 1/30 s is known to 1e-16.
        let early = times[30_000_000].0.abs_diff(1_000_001_000_000_000_000);
        assert!(early < 200, "{early} ps");
        assert_eq!(times[0], SimTime(1_000_000_000_000));
        assert_eq!(process.mean_rate(), Hertz(30.0));
    }

    #[test]
    fn jitter_is_bounded_keeps_the_order_and_has_its_variance() {
        let (period, jitter) = (Seconds(1e-3), Seconds(1e-3));
        let process = Periodic::new(period, jitter, Seconds::ZERO).unwrap();
        let times = times(process, 20_000, 3);
        for (number, at) in times.iter().enumerate() {
            let late = at.seconds().0 - number as f64 * 1e-3;
            assert!((-1e-12..=1e-3 + 1e-12).contains(&late), "{number}: {late}");
        }
        assert!(times.is_sorted());
        let gaps = gaps(&times);
        assert!((mean(&gaps) - 1e-3).abs() < 1e-7, "{}", mean(&gaps));
        // The variance of 20 000 gaps is known to about 1 %.
        let ratio = variance(&gaps) / process.gap_variance();
        assert!((ratio - 1.0).abs() < 0.04, "{ratio}");
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        let new = |period, jitter, offset| {
            Periodic::new(Seconds(period), Seconds(jitter), Seconds(offset))
                .unwrap_err()
                .to_string()
        };
        assert!(new(0.0, 0.0, 0.0).contains("a period must be at least a picosecond"));
        assert!(new(1.0, 1.5, 0.0).contains("a jitter must be at most the period of 1.000 s"));
        assert!(new(1.0, 0.0, 1e9).contains("past") || new(1.0, 0.0, 1e9).contains("pass"));
        assert!(new(f64::NAN, 0.0, 0.0).contains("not a duration"));
    }

    #[test]
    fn the_end_of_time_is_an_error_and_then_silence() {
        let process = Periodic::new(Seconds(1e7), Seconds::ZERO, Seconds::ZERO).unwrap();
        let mut times = process.times(stream(1, "test"));
        assert_eq!(times.next(), Some(Ok(SimTime::ZERO)));
        assert!(matches!(times.next(), Some(Ok(_))));
        assert_eq!(times.next(), Some(Err(TimeError::PastEnd.into())));
        assert_eq!(times.next(), None);
    }
}
