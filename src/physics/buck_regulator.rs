//! The step-down (buck) regulator with its losses apart: fixed, switching, proportional, resistive.
//!
//! `P_in = V I + V_in I_q + p_sw min(1, I / I_pfm) + d I + R_eq I^2`
//!
//! Symbols: `V` \[V\] output, `V_in` \[V\] input, `I` \[A\] load current, `I_q` \[A\] quiescent
//! current, `p_sw` \[W\] gate and output-charge loss at the full switching frequency, `I_pfm` \[A\]
//! the load below which pulses are skipped, so that switching falls with the load, `d` \[V = W/A\]
//! overlap loss `f_sw V_in (t_r + t_f) / 2`, `R_eq` \[ohm\]
//! `D R_high + (1 - D) R_low + R_coil` at duty `D = V / V_in`. The terms are those of the usual
//! converter loss balance (Erickson and Maksimovic, Fundamentals of Power Electronics, switching
//! and conduction loss). Valid for `V < V_in` and `0 <= I` up to the current limit, at the input
//! voltage and temperature that the four coefficients were fitted at. Neglected: ripple conduction
//! loss, the rise of resistance with temperature, the jump and hysteresis between pulse skipping
//! and fixed frequency.

use crate::units::{Amperes, Ohms, Volts, Watts};

/// Parameters of a buck regulator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BuckRegulator {
    /// Quiescent current \[A\].
    pub quiescent: Amperes,
    /// Switching loss at the full frequency \[W\].
    pub switching: Watts,
    /// Load below which pulses are skipped \[A\]; none for a part that never skips.
    pub knee: Option<Amperes>,
    /// Loss in proportion to the load \[V = W/A\].
    pub proportional: Volts,
    /// Resistance of switches and coil \[ohm\].
    pub resistance: Ohms,
}

impl BuckRegulator {
    /// What the regulator burns.
    pub fn loss(&self, input: Volts, load: Amperes) -> Watts {
        // A knee of zero is passed at any load; `min` takes the 1 where 0/0 is not a number.
        let switching_share = self.knee.map_or(1.0, |knee| (load / knee).min(1.0));
        input * self.quiescent
            + self.switching * switching_share
            + self.proportional * load
            + self.resistance * load * load
    }

    /// Input current at a load current.
    pub fn input_current(&self, input: Volts, output: Volts, load: Amperes) -> Amperes {
        (output * load + self.loss(input, load)) / input
    }

    /// Output power over input power \[1\]; 0 without load.
    pub fn efficiency(&self, input: Volts, output: Volts, load: Amperes) -> f64 {
        let delivered = output * load;
        if delivered.0 <= 0.0 {
            return 0.0;
        }
        delivered / (delivered + self.loss(input, load))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUCK: BuckRegulator = BuckRegulator {
        quiescent: Amperes(2e-6),
        switching: Watts(1e-3),
        knee: Some(Amperes(0.02)),
        proportional: Volts(0.03),
        resistance: Ohms(0.2),
    };
    const INPUT: Volts = Volts(3.0);
    const OUTPUT: Volts = Volts(1.2);

    #[test]
    fn each_term_of_the_loss_comes_in_with_its_own_power_of_the_load() {
        // 6 uW + 1 mW + 0.03 V 0.1 A + 0.2 Ohm (0.1 A)^2
        assert!((BUCK.loss(INPUT, Amperes(0.1)).0 - 6.006e-3).abs() < 1e-15);
        // 6 uW + 1 mW 10/20 + 0.03 V 0.01 A + 0.2 Ohm (0.01 A)^2
        assert!((BUCK.loss(INPUT, Amperes(0.01)).0 - 0.826e-3).abs() < 1e-15);
        let current = BUCK.input_current(INPUT, OUTPUT, Amperes(0.1));
        assert!((current.0 - 0.126006 / 3.0).abs() < 1e-15);
        let efficiency = BUCK.efficiency(INPUT, OUTPUT, Amperes(0.1));
        assert!((efficiency - 0.12 / 0.126006).abs() < 1e-15);
    }

    #[test]
    fn without_load_only_the_quiescent_current_flows_where_pulses_are_skipped() {
        assert!((BUCK.input_current(INPUT, OUTPUT, Amperes(0.0)).0 - 2e-6).abs() < 1e-18);
        let forced = BuckRegulator { knee: None, ..BUCK };
        assert!((forced.loss(INPUT, Amperes(0.0)).0 - 1.006e-3).abs() < 1e-15);
        assert_eq!(BUCK.efficiency(INPUT, OUTPUT, Amperes(0.0)), 0.0);
        let at_zero = BuckRegulator { knee: Some(Amperes(0.0)), ..BUCK };
        assert_eq!(at_zero.loss(INPUT, Amperes(0.0)), forced.loss(INPUT, Amperes(0.0)));
    }

    #[test]
    fn efficiency_peaks_where_the_resistive_loss_equals_the_fixed_one() {
        let best = ((3.0 * 2e-6 + 1e-3) / 0.2f64).sqrt();
        let at = |scale: f64| BUCK.efficiency(INPUT, OUTPUT, Amperes(best * scale));
        assert!(best > 0.02, "above the knee");
        assert!(at(1.0) > at(0.9) && at(1.0) > at(1.1));
    }
}
