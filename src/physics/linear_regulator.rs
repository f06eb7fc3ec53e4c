//! The linear regulator (LDO): its input current is the load current and a little more.
//!
//! `I_in = I + I_q + k I`, `P_loss = V_in I_in - V_out I`
//!
//! Symbols: `I` \[A\] load current, `I_q` \[A\] quiescent current, `k` \[1\] share of the load
//! current that goes to ground. So a core behind an LDO draws constant *current*: power at the
//! input goes with V_in, not with its square (STM32L4R5 at 3.0 V and 1.8 V: 1.64 to 1.68 measured,
//! 3.0/1.8 = 1.667). Valid while the input stands
//! above the output by the dropout, which is neglected.

use crate::units::{Amperes, Volts, Watts};

/// Parameters of an LDO.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearRegulator {
    /// Quiescent current \[A\].
    pub quiescent: Amperes,
    /// Share of the load current lost to ground \[1\].
    pub ground_share: f64,
}

impl LinearRegulator {
    /// Input current at a load current.
    pub fn input_current(&self, load: Amperes) -> Amperes {
        load * (1.0 + self.ground_share) + self.quiescent
    }

    /// What the regulator burns.
    pub fn loss(&self, input: Volts, output: Volts, load: Amperes) -> Watts {
        input * self.input_current(load) - output * load
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_power_goes_with_input_voltage_at_constant_current() {
        let ldo = LinearRegulator { quiescent: Amperes(0.0), ground_share: 0.0 };
        let load = Amperes(0.02);
        let power = |v: f64| Volts(v) * ldo.input_current(load);
        assert!((power(3.0) / power(1.8) - 3.0 / 1.8).abs() < 1e-12);
        let loss = ldo.loss(Volts(3.0), Volts(1.28), load);
        assert!((loss.0 - 1.72 * 0.02).abs() < 1e-12);
    }
}
