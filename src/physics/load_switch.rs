//! The load switch: a transistor between two rails that is on.
//!
//! `V = V_in - R I`, `I_in = I + I_q`, `P_loss = R I^2 + V_in I_q`
//!
//! Symbols: `I` \[A\] load current, `R` \[ohm\] resistance when on, `I_q` \[A\] what the switch draws
//! itself. Neglected: the rise of `R` with temperature and with a falling gate voltage, inrush.

use crate::units::{Amperes, Ohms, Volts, Watts};

/// Parameters of a load switch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadSwitch {
    /// Resistance when on \[ohm\].
    pub resistance: Ohms,
    /// What it draws itself \[A\].
    pub quiescent: Amperes,
}

impl LoadSwitch {
    /// Output voltage at a load current.
    pub fn output(&self, input: Volts, load: Amperes) -> Volts {
        input - self.resistance * load
    }

    /// Input current at a load current.
    pub fn input_current(&self, load: Amperes) -> Amperes {
        load + self.quiescent
    }

    /// What the switch burns.
    pub fn loss(&self, input: Volts, load: Amperes) -> Watts {
        self.resistance * load * load + input * self.quiescent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_burns_what_its_resistance_and_its_own_current_take() {
        let switch = LoadSwitch { resistance: Ohms(0.05), quiescent: Amperes(20e-6) };
        let (input, load) = (Volts(3.3), Amperes(0.4));
        let output = switch.output(input, load);
        assert!((output.0 - 3.28).abs() < 1e-15);
        // 0.05 Ohm (0.4 A)^2 + 3.3 V 20 uA
        assert!((switch.loss(input, load).0 - 8.066e-3).abs() < 1e-15);
        let balance = input * switch.input_current(load) - output * load;
        assert!((balance.0 - 8.066e-3).abs() < 1e-15);
    }
}
