//! When a domain goes to rest.
//!
//! Resting pays where the idle time is longer than the break-even time. A timeout of the break-even time
//! costs at most twice what knowing the idle time would (A. Karlin and others, "Competitive randomized
//! algorithms for nonuniform problems", Algorithmica 11, 1994); a prediction by an exponential average of
//! past idle times does better where they are alike (C.-H. Hwang and A. Wu, "A predictive system shutdown
//! method", ICCAD 1997).

use crate::units::{Ratio, Seconds};
use std::fmt;

/// The rule of a domain. Each wants to know what it can: past idle times, or the one to come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RestRule {
    /// At once.
    Immediately,
    /// After this time without work.
    Timeout(Seconds),
    /// After the break-even time without work.
    BreakEven,
    /// At once where the average of past idle times is longer than the break-even time, else after it.
    /// The newest counts with this weight.
    Predictive(Ratio),
    /// At once where the idle time that begins is longer than the break-even time, else not at all: what
    /// no real policy can know, and none can beat.
    Oracle,
}

impl fmt::Display for RestRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Immediately => f.write_str("at once"),
            Self::Timeout(time) => write!(f, "after {time} without work"),
            Self::BreakEven => f.write_str("after the break-even time"),
            Self::Predictive(weight) => write!(f, "by prediction, weight {}", weight.0),
            Self::Oracle => f.write_str("by oracle"),
        }
    }
}

impl RestRule {
    /// How long to wait before resting; nothing means not to rest. `average` is the average of past idle
    /// times as [`RestRule::learn`] keeps it, `coming` the idle time that begins, where that is known.
    pub fn wait(
        self,
        break_even: Seconds,
        average: Option<Seconds>,
        coming: Option<Seconds>,
    ) -> Option<Seconds> {
        match self {
            Self::Immediately => Some(Seconds::ZERO),
            Self::Timeout(time) => Some(time),
            Self::BreakEven => Some(break_even),
            Self::Predictive(_) => match average {
                Some(average) if average > break_even => Some(Seconds::ZERO),
                _ => Some(break_even),
            },
            // Of no end known, it is the longest.
            Self::Oracle => {
                coming.is_none_or(|coming| coming > break_even).then_some(Seconds::ZERO)
            }
        }
    }

    /// The average once an idle time is over.
    pub fn learn(self, average: Option<Seconds>, idle: Seconds) -> Option<Seconds> {
        match (self, average) {
            (Self::Predictive(weight), Some(before)) => {
                Some(idle * weight.0 + before * (1.0 - weight.0))
            }
            (Self::Predictive(_), None) => Some(idle),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::dice::exponential;
    use super::super::stream;
    use super::*;

    /// Cost of idle times in units of staying on for a second: resting costs the break-even time once.
    fn cost(rule: RestRule, idle: &[f64], break_even: f64) -> f64 {
        let mut average = None;
        let mut sum = 0.0;
        for idle in idle.iter().copied().map(Seconds) {
            let wait = rule.wait(Seconds(break_even), average, Some(idle));
            sum += match wait {
                Some(wait) if wait < idle => wait.0 + break_even,
                _ => idle.0,
            };
            average = rule.learn(average, idle);
        }
        sum
    }

    #[test]
    fn the_break_even_timeout_costs_at_most_twice_what_the_oracle_does() {
        let mut generator = stream(6, "idle");
        for mean in [0.01, 0.1, 1.0, 10.0] {
            let mut draw = || exponential(Seconds(mean), &mut generator).0;
            let idle: Vec<f64> = std::iter::from_fn(|| Some(draw())).take(500).collect();
            let best = cost(RestRule::Oracle, &idle, 1.0);
            let worst = cost(RestRule::BreakEven, &idle, 1.0);
            assert!(worst <= 2.0 * best, "{mean}: {worst} {best}");
            for rule in [
                RestRule::Immediately,
                RestRule::Timeout(Seconds(0.3)),
                RestRule::BreakEven,
                RestRule::Predictive(Ratio(0.5)),
            ] {
                assert!(cost(rule, &idle, 1.0) >= best, "{rule:?} beats the oracle at {mean}");
            }
        }
        let just_over = [1.0 + 1e-9; 100];
        let ratio =
            cost(RestRule::BreakEven, &just_over, 1.0) / cost(RestRule::Oracle, &just_over, 1.0);
        assert!(ratio > 1.99, "the bound is reached: {ratio}");
    }

    #[test]
    fn a_prediction_learns_from_idle_times_that_are_alike() {
        let rule = RestRule::Predictive(Ratio(0.5));
        let alike = [5.0; 100];
        let (predicted, timed) = (cost(rule, &alike, 1.0), cost(RestRule::BreakEven, &alike, 1.0));
        // All but the first rest at once.
        assert!((predicted - 101.0).abs() < 1e-9 && (timed - 200.0).abs() < 1e-9);
        assert_eq!(rule.learn(Some(Seconds(4.0)), Seconds(2.0)), Some(Seconds(3.0)));
        assert_eq!(RestRule::BreakEven.learn(None, Seconds(2.0)), None);
    }
}
