//! Dynamic (switching) energy against voltage.
//!
//! `E(V) = E_nom (V / V_nom)^m`, from `E = alpha C V^2` with m = 2; fitted exponents between 1.8 and
//! 2.3 are seen on silicon. Energy per operation does not depend on frequency.
//!
//! Symbols: `E_nom` \[J\] energy at the nominal voltage `V_nom` \[V\], `m` \[1\] exponent.
//! A cost given as current per clock (`uA/MHz`, a charge per cycle `Q` \[C\]) is `E_nom = Q V_nom`.
//! Valid where the circuit works at full swing; IO and DRAM at their own supply do not scale with
//! the core's voltage. Neglected: short-circuit current.

use crate::units::Volts;

/// Exponent of CMOS switching energy.
pub const SQUARE_LAW: f64 = 2.0;

/// Factor on an energy per operation at `voltage`, known at `nominal`.
pub fn scale(voltage: Volts, nominal: Volts, exponent: f64) -> f64 {
    (voltage / nominal).powf(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_goes_with_the_square_of_voltage() {
        assert!((scale(Volts(1.1), Volts(0.9), SQUARE_LAW) - 1.4938).abs() < 1e-4);
        assert_eq!(scale(Volts(1.0), Volts(1.0), 2.3), 1.0);
    }
}
