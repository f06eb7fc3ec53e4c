//! Throttling by a power budget that a controller sets from the temperature.
//!
//! `budget = clamp(P_s + k e + I + k_d (e - e_before) / dt, 0, P_max)`, `e = T_target - T`
//!
//! Symbols: `P_s` \[W\] the power that the target can be held at, `k` \[W/K\] one gain above the target
//! (`e < 0`) and one below, `I = k_i sum e` \[W\] summed only while `e` is below the cut-off and `|I|` would
//! stay below `P_max`, `P_max` \[W\] the most that the actors can take, `dt` \[s\] the polling period. Below
//! `T_on` nothing is capped and the sum starts anew. Gains left to it: `k_over = P_s / (T_target - T_on)`,
//! `k_under = 2 k_over`, `k_i = k_under / 10`, `k_d = 0`. Source: the power allocator of Linux
//! (drivers/thermal/gov_power_allocator.c), which counts in fixed point of ten bits. It chatters between
//! two points where neither holds the target, as the original does.

use crate::units::{Celsius, Kelvins, Seconds, Watts};
use serde::{Deserialize, Serialize};

/// Gains of the controller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AllocatorGains {
    /// Above the target \[W/K\].
    pub over: f64,
    /// Below the target \[W/K\].
    pub under: f64,
    /// Of the sum, a poll \[W/K\].
    pub integral: f64,
    /// Of the change \[W s/K\].
    pub derivative: f64,
}

/// The controller.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerAllocator {
    /// Temperature below which nothing is capped \[degC\].
    pub switch_on: Celsius,
    /// Temperature that is held \[degC\].
    pub target: Celsius,
    /// Power that it can be held at \[W\].
    pub sustainable: Watts,
    /// Gains.
    pub gains: AllocatorGains,
    /// Error below which it is summed \[K\]; zero in the original.
    pub cutoff: Kelvins,
    /// Polling period \[s\].
    pub period: Seconds,
}

/// What the controller remembers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct AllocatorState {
    /// Sum of the errors of all polls that counted \[K\].
    sum: f64,
    /// Error of the poll before \[K\].
    before: f64,
}

impl AllocatorGains {
    /// The gains that the original estimates.
    pub fn estimated(sustainable: Watts, switch_on: Celsius, target: Celsius) -> Self {
        let over = sustainable.0 / (target - switch_on).0;
        let under = 2.0 * over;
        Self { over, under, integral: under / 10.0, derivative: 0.0 }
    }
}

impl PowerAllocator {
    /// A controller with the gains that the original estimates.
    pub fn new(switch_on: Celsius, target: Celsius, sustainable: Watts, period: Seconds) -> Self {
        let gains = AllocatorGains::estimated(sustainable, switch_on, target);
        Self { switch_on, target, sustainable, gains, cutoff: Kelvins(0.0), period }
    }

    /// Polls: takes a reading and the most that the actors can take together. Returns the budget, or
    /// nothing where none is set.
    pub fn poll(&self, state: &mut AllocatorState, reading: Celsius, most: Watts) -> Option<Watts> {
        if reading < self.switch_on {
            *state = AllocatorState::default();
            return None;
        }
        let gains = self.gains;
        let error = (self.target - reading).0;
        let proportional = if error < 0.0 { gains.over } else { gains.under } * error;
        let mut summed = gains.integral * state.sum;
        if error < self.cutoff.0 {
            let next = summed + gains.integral * error;
            if next.abs() < most.0 {
                summed = next;
                state.sum += error;
            }
        }
        // The original knows no error before the first one.
        let change = gains.derivative * (error - state.before) / self.period.0;
        let changed = if gains.derivative == 0.0 { 0.0 } else { change };
        state.before = error;
        let budget = self.sustainable.0 + proportional + summed + changed;
        Some(Watts(budget.min(most.0).max(0.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn controller() -> PowerAllocator {
        PowerAllocator::new(Celsius(65.0), Celsius(75.0), Watts(2.0), Seconds(0.1))
    }

    #[test]
    fn below_its_switch_nothing_is_capped_and_it_forgets() {
        let (law, mut state) = (controller(), AllocatorState::default());
        assert_eq!(law.poll(&mut state, Celsius(64.9), Watts(9.0)), None);
        assert!(law.poll(&mut state, Celsius(80.0), Watts(9.0)).is_some());
        assert_ne!(state, AllocatorState::default());
        assert_eq!(law.poll(&mut state, Celsius(64.9), Watts(9.0)), None);
        assert_eq!(state, AllocatorState::default());
    }

    #[test]
    fn the_budget_follows_the_error_with_the_gains_of_its_side() {
        let (law, mut state) = (controller(), AllocatorState::default());
        // k_over = 0.2, k_under = 0.4, k_i = 0.04 W/K.
        assert_eq!(law.poll(&mut state, Celsius(70.0), Watts(9.0)), Some(Watts(4.0)));
        assert_eq!(law.poll(&mut state, Celsius(75.0), Watts(9.0)), Some(Watts(2.0)));
        let hot = law.poll(&mut state, Celsius(77.0), Watts(9.0)).unwrap();
        assert!((hot.0 - (2.0 - 0.4 - 0.08)).abs() < 1e-15);
        let still = law.poll(&mut state, Celsius(77.0), Watts(9.0)).unwrap();
        assert!((still.0 - (2.0 - 0.4 - 0.16)).abs() < 1e-15, "the sum grows");
        assert_eq!(law.poll(&mut state, Celsius(65.0), Watts(3.0)), Some(Watts(3.0)), "no more");
        assert_eq!(law.poll(&mut state, Celsius(200.0), Watts(3.0)), Some(Watts(0.0)));
    }

    #[test]
    fn the_sum_stays_below_the_most_there_is() {
        let (law, mut state) = (controller(), AllocatorState::default());
        for _ in 0..10_000 {
            law.poll(&mut state, Celsius(85.0), Watts(3.0));
        }
        assert!((law.gains.integral * state.sum).abs() < 3.0);
        let back = law.poll(&mut state, Celsius(75.0), Watts(3.0)).unwrap();
        assert!(back.0 < 0.1, "what has been summed counts at the target: {back}");
    }

    #[test]
    fn a_derivative_looks_at_the_change_of_a_poll() {
        let gains = AllocatorGains { derivative: 0.01, ..controller().gains };
        let (law, mut state) =
            (PowerAllocator { gains, ..controller() }, AllocatorState::default());
        law.poll(&mut state, Celsius(74.0), Watts(9.0));
        let falling = law.poll(&mut state, Celsius(73.0), Watts(9.0)).unwrap();
        assert!((falling.0 - (2.0 + 0.8 + 0.1)).abs() < 1e-14, "{falling}");
    }
}
