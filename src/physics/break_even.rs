//! The idle time from which resting pays.
//!
//! `T = E / (P_on - P_rest)`
//!
//! Symbols: `E` \[J\], what going to rest and coming back cost, the power of the time to wake included
//! where that time comes on top of the idle one (work that comes starts the waking); `P_on` and `P_rest`
//! \[W\], drawn while idle and at rest. A waking that is done within the idle time costs
//! `P_rest t_wake` less. Neglected: the time to go to rest, and loss that changes with the load.

use crate::units::{Joules, Seconds, Watts};

/// The idle time from which resting pays; nothing where rest draws no less.
pub fn break_even(cost: Joules, on: Watts, rest: Watts) -> Option<Seconds> {
    let saved = on - rest;
    (saved.0 > 0.0).then(|| cost / saved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_break_even_time_both_cost_the_same() {
        let (cost, on, rest) = (Joules(60e-6), Watts(0.030), Watts(0.001));
        let time = break_even(cost, on, rest).unwrap();
        assert!(((on * time).0 - (rest * time + cost).0).abs() < 1e-15);
        assert!((time.0 - 60e-6 / 0.029).abs() < 1e-12);
    }

    #[test]
    fn a_rest_that_draws_as_much_never_pays_and_one_for_nothing_always_does() {
        assert_eq!(break_even(Joules(1e-6), Watts(1e-3), Watts(1e-3)), None);
        assert_eq!(break_even(Joules(1e-6), Watts(1e-3), Watts(2e-3)), None);
        assert_eq!(break_even(Joules::ZERO, Watts(1e-3), Watts::ZERO), Some(Seconds::ZERO));
    }
}
