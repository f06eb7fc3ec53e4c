//! Leakage power against voltage and temperature.
//!
//! `P(V, T) = P0 (V / V0) exp(k_V (V - V0)) exp(b_T (T - T0))`
//!
//! Symbols: `P0` \[W\] at `V0` \[V\] and `T0` \[degC\]; `k_V` \[1/V\], 2 to 6 for bulk logic and
//! 1.3 to 2.0 on the STM32U575 between 0.9 and 1.2 V; `b_T` \[1/K\], 0.032 to 0.040 from 25 to
//! 125 degC on that part (STM32U585 data sheet rev 10, tables 38, 45, 59 to 63).
//! Out of range below 0.5 V. Below 55 degC fixed currents flatten the slope. Neglected: gate
//! tunnelling apart from what the two exponents take up.

use crate::units::{Celsius, PerKelvin, PerVolt, Volts, Watts};

/// Leakage known at one voltage and temperature, with its growth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leakage {
    /// Power at the reference point \[W\].
    pub power: Watts,
    /// Reference voltage \[V\].
    pub voltage: Volts,
    /// Reference temperature \[degC\].
    pub temperature: Celsius,
    /// Growth with voltage \[1/V\].
    pub per_volt: PerVolt,
    /// Growth with temperature \[1/K\].
    pub per_kelvin: PerKelvin,
}

impl Leakage {
    /// Power at `voltage` and `temperature`; zero on a rail that is off.
    pub fn at(&self, voltage: Volts, temperature: Celsius) -> Watts {
        if voltage.0 <= 0.0 {
            return Watts::ZERO;
        }
        let rise = self.per_volt.0 * (voltage - self.voltage).0
            + self.per_kelvin.0 * (temperature - self.temperature).0;
        self.power * (voltage / self.voltage) * rise.exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: Leakage = Leakage {
        power: Watts(1e-3),
        voltage: Volts(1.0),
        temperature: Celsius(25.0),
        per_volt: PerVolt(4.0),
        per_kelvin: PerKelvin(0.035),
    };

    #[test]
    fn the_reference_point_is_returned_and_growth_is_exponential() {
        assert_eq!(CELL.at(Volts(1.0), Celsius(25.0)), Watts(1e-3));
        let doubled = CELL.at(Volts(1.0), Celsius(25.0 + 2f64.ln() / 0.035));
        assert!((doubled.0 - 2e-3).abs() < 1e-15);
        let raised = CELL.at(Volts(1.1), Celsius(25.0)).0;
        assert!((raised - 1e-3 * 1.1 * 0.4f64.exp()).abs() < 1e-15);
    }

    #[test]
    fn a_rail_that_is_off_leaks_nothing() {
        assert_eq!(CELL.at(Volts(0.0), Celsius(85.0)), Watts(0.0));
    }
}
