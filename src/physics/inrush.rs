//! What charging a capacitance takes.
//!
//! `Q = C (V2 - V1)`, `E_source = V2 Q`, `W = C (V2^2 - V1^2) / 2`, `I = Q / t`
//!
//! Symbols: `C` \[F\], the capacitance of a domain behind its power switch, or of a rail behind its
//! regulator; `V1`, `V2` \[V\] before and after; `t` \[s\] of a ramp at constant current. A domain that is
//! switched on from nothing takes `C V^2` from its rail: half is stored and half is burnt in the switch,
//! however the switch is controlled (A. P. Chandrakasan and R. W. Brodersen, Proc. IEEE 83, 1995, for a
//! CMOS node). A rail that its regulator raises takes the change of `W`, and what the regulator loses on
//! it. Neglected: what the domain leaks meanwhile, ringing of the rail.

use crate::units::{Amperes, Farads, Joules, Seconds, Volts};

/// Energy from the rail to charge a capacitance through a switch, from nothing to the rail's voltage.
pub fn switched_on(capacitance: Farads, voltage: Volts) -> Joules {
    voltage * (capacitance * voltage)
}

/// Current of a ramp at constant current.
pub fn current(capacitance: Farads, voltage: Volts, time: Seconds) -> Amperes {
    capacitance * voltage / time
}

/// Change of the energy that a capacitance stores.
pub fn raised(capacitance: Farads, from: Volts, to: Volts) -> Joules {
    (to + from) * (capacitance * (to - from)) * 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_is_switched_on_is_stored() {
        let (capacitance, voltage) = (Farads(10e-9), Volts(0.8));
        let taken = switched_on(capacitance, voltage);
        assert!((taken.0 - 6.4e-9).abs() < 1e-21);
        assert!((raised(capacitance, Volts::ZERO, voltage).0 - 3.2e-9).abs() < 1e-21);
        // The charge at the rail's voltage, however long it takes.
        for time in [1e-6, 20e-6].map(Seconds) {
            let power = voltage * current(capacitance, voltage, time);
            assert!(((power * time).0 - taken.0).abs() < 1e-21);
        }
    }

    #[test]
    fn a_rail_that_is_raised_in_two_steps_stores_the_same() {
        let capacitance = Farads(22e-6);
        let whole = raised(capacitance, Volts(0.55), Volts(0.8)).0;
        let steps = raised(capacitance, Volts(0.55), Volts(0.6))
            + raised(capacitance, Volts(0.6), Volts(0.8));
        // 11 uF (0.64 - 0.3025) V^2.
        assert!((whole - 3.7125e-6).abs() < 1e-18 && (steps.0 - whole).abs() < 1e-18);
        assert!(raised(capacitance, Volts(0.8), Volts(0.55)).0 < 0.0);
    }
}
