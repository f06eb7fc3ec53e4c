//! The switching regulator at a stated efficiency.
//!
//! `P_in = V_out I / eta + V_in I_q`
//!
//! Symbols: `eta` \[1\] conversion efficiency, `I_q` \[A\] quiescent current. One efficiency holds
//! for one load and input voltage; the current-dependent loss is a later, finer law. Neglected:
//! ripple, mode changes.

use crate::units::{Amperes, Volts, Watts};

/// Parameters of a switching regulator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SwitchingRegulator {
    /// Conversion efficiency \[1\], above 0 and at most 1.
    pub efficiency: f64,
    /// Quiescent current \[A\].
    pub quiescent: Amperes,
}

impl SwitchingRegulator {
    /// Input current at a load current.
    pub fn input_current(&self, input: Volts, output: Volts, load: Amperes) -> Amperes {
        (output * load) / self.efficiency / input + self.quiescent
    }

    /// What the regulator burns.
    pub fn loss(&self, input: Volts, output: Volts, load: Amperes) -> Watts {
        input * self.input_current(input, output, load) - output * load
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_power_is_output_power_over_efficiency() {
        let buck = SwitchingRegulator { efficiency: 0.88, quiescent: Amperes(0.0) };
        let input = Volts(3.0) * buck.input_current(Volts(3.0), Volts(1.2), Amperes(0.02));
        assert!((input.0 - 0.024 / 0.88).abs() < 1e-12);
        let loss = buck.loss(Volts(3.0), Volts(1.2), Amperes(0.02));
        assert!((loss.0 - 0.024 * (1.0 / 0.88 - 1.0)).abs() < 1e-12);
    }
}
