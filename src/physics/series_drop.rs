//! The voltage behind a resistance, of loads that draw constant power and constant current.
//!
//! `V = E - R (P / V + I)`, so `V = (e + sqrt(e^2 - 4 P R)) / 2` with `e = E - R I`
//!
//! Symbols: `E` \[V\] the voltage before the resistance (the open-circuit voltage of a battery, a rail
//! before the grid of a domain), `R` \[ohm\], `P` \[W\] drawn whatever the voltage, `I` \[A\] drawn
//! whatever the voltage. Of the two roots the higher one is where such a load stands; the lower one is
//! not stable. The most that `R` lets through beside `I` is `e^2 / 4R`, at half of `e`: a load that asks
//! for more pulls the voltage down for good. Neglected: inductance and capacitance, so everything that
//! happens before it settles.

use crate::units::{Amperes, Ohms, Volts, Watts};

/// The voltage behind a resistance; nothing where no voltage gives the load its power.
pub fn behind(source: Volts, resistance: Ohms, power: Watts, current: Amperes) -> Option<Volts> {
    let left = source.0 - resistance.0 * current.0;
    let square = left * left - 4.0 * power.0 * resistance.0;
    let voltage = 0.5 * (left + square.sqrt());
    // Not a number where the square is negative.
    (voltage > 0.0).then_some(Volts(voltage))
}

/// The most power that passes a resistance.
pub fn most(source: Volts, resistance: Ohms) -> Watts {
    Watts(source.0 * source.0 / (4.0 * resistance.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_of_constant_power_draws_more_current_behind_a_resistance() {
        // 1 V, 0.1 ohm, 0.9 W: V^2 - V + 0.09 = 0 has the roots 0.9 and 0.1.
        let voltage = behind(Volts(1.0), Ohms(0.1), Watts(0.9), Amperes::ZERO).unwrap();
        assert!((voltage.0 - 0.9).abs() < 1e-15);
        // 0.9 W at 0.9 V is 1 A, which falls by 0.1 V.
        assert!((1.0 - 0.1 * 0.9 / voltage.0 - voltage.0).abs() < 1e-15);
    }

    #[test]
    fn a_constant_current_falls_by_its_share_alone() {
        let voltage = behind(Volts(3.0), Ohms(2.0), Watts::ZERO, Amperes(0.25)).unwrap();
        assert!((voltage.0 - 2.5).abs() < 1e-15);
        let none = behind(Volts(3.0), Ohms::ZERO, Watts(7.0), Amperes(0.25)).unwrap();
        assert_eq!(none, Volts(3.0), "no resistance, no drop");
    }

    #[test]
    fn beyond_the_most_that_passes_there_is_no_voltage() {
        let most = most(Volts(1.0), Ohms(0.1));
        assert!((most.0 - 2.5).abs() < 1e-15);
        let at = |power| behind(Volts(1.0), Ohms(0.1), power, Amperes::ZERO);
        assert!((at(most).unwrap().0 - 0.5).abs() < 1e-7);
        assert_eq!(at(most * 1.001), None);
        assert_eq!(behind(Volts(1.0), Ohms(1.0), Watts::ZERO, Amperes(2.0)), None);
    }
}
