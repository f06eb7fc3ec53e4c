//! The linear regulator (LDO): its input current is the load current and a little more.
//!
//! `I_in = I + I_q + k I`, `P_loss = V_in I_in - V_out I`, `V_out = min(V, V_in - R_do I)`
//!
//! Symbols: `I` \[A\] load current, `I_q` \[A\] quiescent current, `k` \[1\] share of the load
//! current that goes to ground, `V` \[V\] the voltage it is set to, `R_do` \[ohm\] the resistance
//! of the fully open pass device, which a data sheet gives as dropout voltage over current. So a core behind an LDO draws constant *current*: power at the
//! input goes with V_in, not with its square (STM32L4R5 at 3.0 V and 1.8 V: 1.64 to 1.68 measured,
//! 3.0/1.8 = 1.667). Below `V_in = V + R_do I` the
//! output tracks the input. Neglected: line and load regulation, the rise of the ground current in
//! dropout.

use crate::units::{Amperes, Ohms, Volts, Watts};

/// Parameters of an LDO.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearRegulator {
    /// Quiescent current \[A\].
    pub quiescent: Amperes,
    /// Share of the load current lost to ground \[1\].
    pub ground_share: f64,
    /// Resistance in dropout \[ohm\]; zero for a pass device without one.
    pub dropout: Ohms,
}

impl LinearRegulator {
    /// Input current at a load current.
    pub fn input_current(&self, load: Amperes) -> Amperes {
        load * (1.0 + self.ground_share) + self.quiescent
    }

    /// What the input stands above the lowest that keeps the output at its set voltage; negative
    /// in dropout.
    pub fn headroom(&self, input: Volts, output: Volts, load: Amperes) -> Volts {
        input - (output + self.dropout * load)
    }

    /// Output voltage of a regulator set to `set`: that, or in dropout what the input leaves.
    pub fn output(&self, input: Volts, set: Volts, load: Amperes) -> Volts {
        set.min((input - self.dropout * load).max(Volts::ZERO))
    }

    /// What the regulator burns at the voltage that it gives.
    pub fn loss(&self, input: Volts, output: Volts, load: Amperes) -> Watts {
        input * self.input_current(load) - output * load
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_power_goes_with_input_voltage_at_constant_current() {
        let ldo =
            LinearRegulator { quiescent: Amperes(0.0), ground_share: 0.0, dropout: Ohms::ZERO };
        let load = Amperes(0.02);
        let power = |v: f64| Volts(v) * ldo.input_current(load);
        assert!((power(3.0) / power(1.8) - 3.0 / 1.8).abs() < 1e-12);
        let loss = ldo.loss(Volts(3.0), Volts(1.28), load);
        assert!((loss.0 - 1.72 * 0.02).abs() < 1e-12);
    }

    #[test]
    fn the_output_holds_down_to_the_dropout_and_then_tracks_the_input() {
        // 100 mV at 50 mA.
        let ldo =
            LinearRegulator { quiescent: Amperes(1e-6), ground_share: 0.0, dropout: Ohms(2.0) };
        let (set, load) = (Volts(1.8), Amperes(0.05));
        assert!((ldo.headroom(Volts(3.0), set, load).0 - 1.1).abs() < 1e-12);
        assert_eq!(ldo.output(Volts(3.0), set, load), set);
        assert!(ldo.headroom(Volts(1.85), set, load).0 < 0.0);
        assert!((ldo.output(Volts(1.85), set, load).0 - 1.75).abs() < 1e-12);
        assert_eq!(ldo.output(Volts(0.05), set, load), Volts::ZERO);
        // In dropout the pass device is a resistor: R I^2 and the quiescent current.
        let given = ldo.output(Volts(1.85), set, load);
        let loss = ldo.loss(Volts(1.85), given, load);
        assert!((loss.0 - (2.0 * 0.05 * 0.05 + 1.85e-6)).abs() < 1e-12);
    }
}
