//! Utilisation as the Linux scheduler tracks it: a geometric average of running and not running.
//!
//! `u(t + h) = u_inf + (u(t) - u_inf) 2^(-h / T)`
//!
//! Symbols: `u` \[1\] utilisation, `u_inf` \[1\] what it would come to if things stayed as they are: the
//! share of time a unit runs times what it gets done then, zero while it does not run; `T` \[s\] the half
//! life, 32 periods of 1.024 ms unless a kernel is started with another. Exact for any `h` over which the
//! input is constant. Source: per-entity load tracking (PELT), `kernel/sched/pelt.c`. Neglected: the
//! kernel weighs the time within a period evenly and decays by whole periods; at the bounds of periods
//! both agree, within one they differ by at most `1 - 2^(-1/32)`, 2.1 %.

use crate::units::{Hertz, Ratio, Seconds};
use serde::{Deserialize, Serialize};

/// Half life of the average: 32 periods of 1.024 ms.
pub const HALF_LIFE: Seconds = Seconds(32.768e-3);

/// A utilisation as it is tracked.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pelt {
    utilisation: Ratio,
}

impl Pelt {
    /// One that stands at a utilisation.
    pub fn at(utilisation: Ratio) -> Self {
        Self { utilisation }
    }

    /// The utilisation now.
    #[inline]
    pub fn utilisation(self) -> Ratio {
        self.utilisation
    }

    /// Lets time pass over which the input is constant.
    #[inline]
    pub fn advance(&mut self, input: Ratio, time: Seconds, half_life: Seconds) {
        let gone = -f64::exp_m1(-std::f64::consts::LN_2 * (time / half_life));
        self.utilisation.0 += (input.0 - self.utilisation.0) * gone;
    }

    /// The time until the utilisation comes to a threshold, if the input stays as it is; nothing where it
    /// never does.
    pub fn time_to(self, threshold: Ratio, input: Ratio, half_life: Seconds) -> Option<Seconds> {
        let (now, left) = (self.utilisation.0 - input.0, threshold.0 - input.0);
        if now == left {
            return Some(Seconds::ZERO);
        }
        let ratio = now / left;
        (ratio.is_finite() && ratio > 1.0).then(|| half_life * ratio.log2())
    }
}

/// The input of a unit that runs this share of the time: what it gets done at its frequency, as a share of
/// what the ablest unit of the system gets done. So utilisation does not depend on the frequency at which
/// it was seen (frequency and capacity invariance of the scheduler).
#[inline]
pub fn invariant(running: Ratio, frequency: Hertz, fastest: Hertz, capacity: Ratio) -> Ratio {
    Ratio(running.0 * (frequency / fastest) * capacity.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn after(start: f64, input: f64, time: f64) -> f64 {
        let mut pelt = Pelt::at(Ratio(start));
        pelt.advance(Ratio(input), Seconds(time), HALF_LIFE);
        pelt.utilisation().0
    }

    #[test]
    fn what_never_ran_is_half_way_after_the_half_life() {
        assert!((after(0.0, 1.0, 0.032768) - 0.5).abs() < 1e-15);
        assert!((after(1.0, 0.0, 3.0 * 0.032768) - 0.125).abs() < 1e-15);
        assert_eq!(after(0.3, 1.0, 0.0), 0.3);
        assert!((after(0.3, 0.7, 1e9) - 0.7).abs() < 1e-15);
    }

    /// The kernel's own sum at the bounds of its periods: y^32 = 1/2, a period that ran adds its weight.
    #[test]
    fn at_the_bounds_of_periods_it_is_the_kernels_geometric_series() {
        let y = 0.5f64.powf(1.0 / 32.0);
        let ran = [true, true, false, true, false, false, true, true, true, false];
        let (mut sum, mut pelt) = (0.0, Pelt::default());
        for runs in ran.into_iter().cycle().take(300) {
            let input = if runs { 1.0 } else { 0.0 };
            sum = sum * y + input * (1.0 - y);
            pelt.advance(Ratio(input), Seconds(1.024e-3), HALF_LIFE);
            assert!((pelt.utilisation().0 - sum).abs() < 1e-13, "{} {sum}", pelt.utilisation().0);
        }
    }

    /// A step against 100 000 sums of small parts, each weighed by the age of its middle.
    #[test]
    fn it_is_the_integral_of_the_input_weighed_by_its_age() {
        let pieces = [(0.9, 0.004), (0.0, 0.013), (0.4, 0.0217), (1.0, 0.0008), (0.1, 0.05)];
        let mut pelt = Pelt::default();
        for (input, time) in pieces {
            pelt.advance(Ratio(input), Seconds(time), HALF_LIFE);
        }
        let end: f64 = pieces.iter().map(|(_, time)| time).sum();
        let rate = 2f64.ln() / HALF_LIFE.0;
        let (mut sum, mut from) = (0.0, 0.0);
        for (input, time) in pieces {
            let part = time / 20_000.0;
            for index in 0..20_000 {
                let middle = from + part * (f64::from(index) + 0.5);
                sum += input * rate * (-rate * (end - middle)).exp() * part;
            }
            from += time;
        }
        assert!((pelt.utilisation().0 - sum).abs() < 1e-9, "{} {sum}", pelt.utilisation().0);
    }

    #[test]
    fn utilisation_does_not_depend_on_the_frequency_it_was_seen_at() {
        // The same work in half the time at twice the frequency.
        let seen = |share, hertz| invariant(Ratio(share), Hertz(hertz), Hertz(2e9), Ratio(0.5)).0;
        assert_eq!(seen(0.8, 1e9), seen(0.4, 2e9));
        assert_eq!(seen(1.0, 2e9), 0.5);
    }

    #[test]
    fn a_threshold_beyond_the_input_is_never_reached() {
        let pelt = Pelt::at(Ratio(0.2));
        let time = |threshold, input| pelt.time_to(Ratio(threshold), Ratio(input), HALF_LIFE);
        assert_eq!(time(0.5, 0.5), None);
        assert_eq!(time(0.6, 0.5), None);
        assert_eq!(time(0.1, 0.5), None);
        assert_eq!(time(0.2, 0.5), Some(Seconds::ZERO));
        assert_eq!(time(0.1, 0.0), Some(HALF_LIFE));
    }

    proptest! {
        #[test]
        fn a_step_may_be_cut_anywhere(
            start in 0.0f64..1.0, input in 0.0f64..1.0, time in 0.0f64..0.5, cut in 0.0f64..1.0,
        ) {
            let whole = after(start, input, time);
            let parts = after(after(start, input, time * cut), input, time * (1.0 - cut));
            prop_assert!((whole - parts).abs() < 1e-13, "{whole} {parts}");
            prop_assert!(whole <= start.max(input) + 1e-15 && whole >= start.min(input) - 1e-15);
        }

        #[test]
        fn it_stands_at_the_threshold_when_it_was_said_to(
            start in 0.0f64..1.0, input in 0.0f64..1.0, share in 0.0f64..0.999,
        ) {
            let threshold = start + (input - start) * share;
            let pelt = Pelt::at(Ratio(start));
            let time = pelt.time_to(Ratio(threshold), Ratio(input), HALF_LIFE);
            if let Some(time) = time {
                prop_assert!((after(start, input, time.0) - threshold).abs() < 1e-12);
            } else {
                prop_assert!((start - input).abs() < 1e-12 || share == 0.0);
            }
        }
    }
}
