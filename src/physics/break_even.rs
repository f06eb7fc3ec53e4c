//! The idle time from which resting pays.
//!
//! `T = t_entry + E / (P_on - P_rest)`
//!
//! Symbols: `t_entry` \[s\], the time to go to rest, at `P_on`; `E` \[J\], what going to rest and coming
//! back cost beyond that, the power of the time to wake included where that time comes on top of the idle
//! one (work that comes starts the waking); `P_on` and `P_rest` \[W\], drawn while idle and at rest. It
//! follows from `P_on T = P_on t_entry + P_rest (T - t_entry) + E`. A waking that is done within the idle
//! time costs `P_rest t_wake` less. Neglected: loss that changes with the load.

use crate::units::{Joules, Seconds, Watts};

/// The idle time from which resting pays; nothing where rest draws no less.
pub fn break_even(cost: Joules, entry: Seconds, on: Watts, rest: Watts) -> Option<Seconds> {
    let saved = on - rest;
    (saved.0 > 0.0).then(|| entry + cost / saved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_break_even_time_both_cost_the_same() {
        let (cost, on, rest) = (Joules(60e-6), Watts(0.030), Watts(0.001));
        let time = break_even(cost, Seconds::ZERO, on, rest).unwrap();
        assert!(((on * time).0 - (rest * time + cost).0).abs() < 1e-15);
        assert!((time.0 - 60e-6 / 0.029).abs() < 1e-12);
    }

    #[test]
    fn the_time_to_go_to_rest_saves_nothing() {
        let (cost, on, rest) = (Joules(60e-6), Watts(0.030), Watts(0.001));
        let entry = Seconds(400e-6);
        let time = break_even(cost, entry, on, rest).unwrap();
        let resting = on * entry + rest * (time - entry) + cost;
        assert!(((on * time).0 - resting.0).abs() < 1e-15);
        assert!((time.0 - 400e-6 - 60e-6 / 0.029).abs() < 1e-12);
    }

    #[test]
    fn a_rest_that_draws_as_much_never_pays_and_one_for_nothing_always_does() {
        assert_eq!(break_even(Joules(1e-6), Seconds::ZERO, Watts(1e-3), Watts(1e-3)), None);
        assert_eq!(break_even(Joules(1e-6), Seconds::ZERO, Watts(1e-3), Watts(2e-3)), None);
        let free = break_even(Joules::ZERO, Seconds::ZERO, Watts(1e-3), Watts::ZERO);
        assert_eq!(free, Some(Seconds::ZERO));
    }
}
