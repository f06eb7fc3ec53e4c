//! Requests in bursts: a Poisson process whose rate jumps between two levels.

use super::LoadError;
use super::dice::{exponential, uniform};
use super::process::positive;
use crate::units::{Hertz, Seconds, SimTime};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// One of the two levels of [`Bursts`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Rate of requests while it lasts; zero is silence.
    pub rate: Hertz,
    /// How long it lasts, in the mean.
    pub stay: Seconds,
}

/// A Markov-modulated Poisson process of two states: stays are exponential, and while one lasts,
/// requests come at its rate. It starts in the middle of things, in a state drawn by how long each
/// lasts.
///
/// W. Fischer and K. Meier-Hellstern, "The Markov-modulated Poisson process (MMPP) cookbook",
/// Performance Evaluation 18, 1993.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bursts {
    quiet: Level,
    burst: Level,
}

/// With fewer requests in a round of both levels than this, finding the next one takes too long.
const FEWEST_A_ROUND: f64 = 1e-6;

impl Bursts {
    /// By the two levels, in any order.
    ///
    /// # Errors
    /// A stay of nothing, rates that are none, or less than one request in a million rounds.
    pub fn new(quiet: Level, burst: Level) -> Result<Self, LoadError> {
        for (what, level) in [("a quiet level", quiet), ("a burst", burst)] {
            positive(what, level.stay)?;
            if !(0.0..=1e12).contains(&level.rate.0) {
                let problem = format!("has a rate from zero to 1 THz, not {}", level.rate);
                return Err(LoadError::parameter(what, problem));
            }
        }
        let process = Self { quiet, burst };
        let round = quiet.stay + burst.stay;
        if process.mean_rate().0 * round.0 < FEWEST_A_ROUND {
            let problem = "brings less than one request in a million rounds";
            return Err(LoadError::parameter("a round of quiet and burst", problem));
        }
        Ok(process)
    }

    /// Share of time in the burst.
    pub fn burst_share(&self) -> f64 {
        self.burst.stay / (self.quiet.stay + self.burst.stay)
    }

    /// Rates by the share of time in each.
    pub fn mean_rate(&self) -> Hertz {
        let share = self.burst_share();
        self.quiet.rate * (1.0 - share) + self.burst.rate * share
    }

    /// Index of dispersion in the long run, 1 + 2 (λ₁-λ₂)² r₁r₂ / ((r₁+r₂)² (λ₁r₂ + λ₂r₁)), r one over
    /// the stay: [`Bursts::dispersion_over`] of all time.
    pub fn dispersion(&self) -> f64 {
        1.0 + self.excess()
    }

    /// Variance over mean of the number of requests in a stretch of time, 1 + D (1 - (1-exp(-rt))/(rt))
    /// with r = r₁+r₂.
    pub fn dispersion_over(&self, stretch: Seconds) -> f64 {
        let turns = stretch.0 * (1.0 / self.quiet.stay.0 + 1.0 / self.burst.stay.0);
        if turns <= 0.0 { 1.0 } else { 1.0 + self.excess() * (1.0 + (-turns).exp_m1() / turns) }
    }

    fn excess(&self) -> f64 {
        let (leave_quiet, leave_burst) = (1.0 / self.quiet.stay.0, 1.0 / self.burst.stay.0);
        let turns = leave_quiet + leave_burst;
        let apart = self.burst.rate.0 - self.quiet.rate.0;
        // The covariance of the rate is apart² π₁π₂ exp(-turns t).
        2.0 * apart * apart * (leave_quiet / turns) * (leave_burst / turns)
            / (turns * self.mean_rate().0)
    }

    /// Probability of no request in a stretch of time laid down at random: π exp((Q-Λ)L) 1, by the two
    /// eigenvalues of Q-Λ.
    pub fn silence(&self, stretch: Seconds) -> f64 {
        let (leave_quiet, leave_burst) = (1.0 / self.quiet.stay.0, 1.0 / self.burst.stay.0);
        let (a, d) = (-leave_quiet - self.quiet.rate.0, -leave_burst - self.burst.rate.0);
        let (middle, half) = ((a + d) / 2.0, (a - d) / 2.0);
        let root = (half * half + leave_quiet * leave_burst).sqrt();
        let (slow, fast) = (middle + root, middle - root);
        // π (A - middle) 1 with π Q = 0: what is left of A 1 are the rates.
        let lean = -self.mean_rate().0 - middle;
        let (e_slow, e_fast) = ((slow * stretch.0).exp(), (fast * stretch.0).exp());
        ((e_slow + e_fast) / 2.0 + lean * (e_slow - e_fast) / (2.0 * root)).clamp(0.0, 1.0)
    }

    /// One run of it.
    pub fn times<R: Rng>(&self, mut generator: R) -> BurstyTimes<R> {
        let bursting = uniform(&mut generator) < self.burst_share();
        let mut times = BurstyTimes {
            process: *self,
            bursting,
            at: Some(SimTime::ZERO),
            until: SimTime::ZERO,
            generator,
        };
        times.stay(SimTime::ZERO);
        times
    }
}

/// The times of a [`Bursts`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BurstyTimes<R> {
    process: Bursts,
    bursting: bool,
    /// The latest request or jump; nothing once time has ended.
    at: Option<SimTime>,
    /// When the level ends.
    until: SimTime,
    generator: R,
}

impl<R: Rng> BurstyTimes<R> {
    fn level(&self) -> Level {
        if self.bursting { self.process.burst } else { self.process.quiet }
    }

    /// Draws how long the level lasts from `now`; one that outlasts all time lasts to its end.
    fn stay(&mut self, now: SimTime) {
        let stay = exponential(self.level().stay, &mut self.generator);
        let until = SimTime::from_seconds(stay).and_then(|stay| now.after(stay));
        self.until = until.unwrap_or(SimTime(u64::MAX));
    }

    /// The next request of this level, or none before it ends.
    fn within(&mut self, now: SimTime) -> Result<Option<SimTime>, LoadError> {
        let rate = self.level().rate;
        let last = self.until == SimTime(u64::MAX);
        if rate.0 <= 0.0 {
            return if last { Err(crate::units::TimeError::PastEnd.into()) } else { Ok(None) };
        }
        let gap = exponential(Seconds(1.0 / rate.0), &mut self.generator);
        let at = SimTime::from_seconds(gap).and_then(|gap| now.after(gap));
        match at {
            Ok(at) if at < self.until => Ok(Some(at)),
            Err(error) if last => Err(error.into()),
            _ => Ok(None),
        }
    }
}

impl<R: Rng> Iterator for BurstyTimes<R> {
    type Item = Result<SimTime, LoadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut now = self.at?;
        loop {
            match self.within(now) {
                Ok(Some(at)) => {
                    self.at = Some(at);
                    return Some(Ok(at));
                }
                Ok(None) => {
                    // Exponential times have no memory: what is left of a gap is drawn anew.
                    now = self.until;
                    self.bursting = !self.bursting;
                    self.stay(now);
                }
                Err(error) => {
                    self.at = None;
                    return Some(Err(error));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::statistics::{counts, mean, variance};
    use super::super::stream;
    use super::*;
    use crate::units::TimeError;

    fn process() -> Bursts {
        // Nine tenths quiet at 2/s, one tenth at 100/s.
        let quiet = Level { rate: Hertz(2.0), stay: Seconds(0.9) };
        Bursts::new(quiet, Level { rate: Hertz(100.0), stay: Seconds(0.1) }).unwrap()
    }

    #[test]
    fn mean_and_dispersion_are_those_of_the_closed_forms() {
        let process = process();
        assert!((process.mean_rate().0 - 11.8).abs() < 1e-12);
        // 2 x 98² x 0.9 x 0.1 / (11.11 x 11.8) by hand.
        assert!((process.dispersion() - 14.185_159).abs() < 1e-5, "{}", process.dispersion());
        assert!((process.dispersion_over(Seconds(1e6)) / process.dispersion() - 1.0).abs() < 1e-6);
        assert!((process.dispersion_over(Seconds(1e-9)) - 1.0).abs() < 1e-6);
        let window = Seconds(5.0);
        let counts = counts(process.times(stream(21, "test")), window, 4000);
        // Standard errors: of the mean sqrt(14 x 59 / 4000) = 0.45, of the variance about 3 %.
        assert!((mean(&counts) - 59.0).abs() < 1.5, "{}", mean(&counts));
        let ratio = variance(&counts) / mean(&counts) / process.dispersion_over(window);
        assert!((ratio - 1.0).abs() < 0.12, "{ratio}");
    }

    #[test]
    fn two_levels_of_one_rate_are_poisson() {
        let level = |stay| Level { rate: Hertz(7.0), stay: Seconds(stay) };
        let process = Bursts::new(level(1.0), level(3.0)).unwrap();
        assert_eq!(process.dispersion(), 1.0);
        assert!((process.silence(Seconds(0.3)) - (-2.1f64).exp()).abs() < 1e-12);
    }

    #[test]
    fn silence_is_as_likely_as_its_closed_form_says() {
        let process = process();
        assert!((process.silence(Seconds::ZERO) - 1.0).abs() < 1e-12);
        let window = Seconds(0.25);
        let counts = counts(process.times(stream(2, "test")), window, 20_000);
        let silent = counts.iter().filter(|n| **n == 0.0).count() as f64 / 20_000.0;
        // Neighbours are alike, which makes the standard error of 0.35 % about twice as large.
        let expected = process.silence(window);
        assert!((silent - expected).abs() < 0.025, "{silent} {expected}");
        let poisson = (-11.8f64 * 0.25).exp();
        assert!(expected > 5.0 * poisson, "bursts leave more silence than {poisson}");
    }

    #[test]
    fn what_never_comes_is_refused_or_ends_with_time() {
        let level = |rate, stay| Level { rate: Hertz(rate), stay: Seconds(stay) };
        let new = |quiet, burst| Bursts::new(quiet, burst);
        assert!(new(level(0.0, 1.0), level(0.0, 1.0)).is_err());
        assert!(new(level(0.0, 1e-12), level(1e-3, 1e-12)).is_err(), "a request in 1e15 rounds");
        assert!(new(level(1.0, 0.0), level(1.0, 1.0)).is_err());
        assert!(new(level(f64::NAN, 1.0), level(1.0, 1.0)).is_err());
        let long = new(level(0.0, 1.8e7), level(1e-6, 1.8e7)).unwrap();
        let mut times = long.times(stream(4, "test"));
        let end = times.find(|at| at.is_err());
        assert_eq!(end, Some(Err(TimeError::PastEnd.into())));
        assert_eq!(times.next(), None);
    }
}
