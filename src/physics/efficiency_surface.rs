//! A regulator known by efficiency curves at several input voltages.
//!
//! `P_in = V I / eta(I, V_in)`, `eta = (1 - w) eta_a(I) + w eta_b(I)`, `w = (V_in - V_a) / (V_b - V_a)`
//!
//! Symbols: `eta_a`, `eta_b` \[1\] the curves at the two input voltages `V_a < V_b` on both sides of
//! `V_in`, each a monotone cubic in `ln I` ([`super::efficiency_table`]). Linear in `V_in` at one load, so
//! nowhere outside of what the two curves say. Beyond the lowest and the highest input voltage the
//! nearest curve holds. Neglected: the output voltage.

use super::efficiency_table::EfficiencyTable;
use super::law_error::{LawError, positive};
use crate::units::{Amperes, Volts};

/// Efficiency against load current and input voltage.
#[derive(Debug, Clone, PartialEq)]
pub struct EfficiencySurface {
    first: (f64, EfficiencyTable),
    rest: Vec<(f64, EfficiencyTable)>,
}

impl EfficiencySurface {
    /// A surface through curves, each at an input voltage.
    ///
    /// # Errors
    ///
    /// No curve at all, an input voltage that is not above zero and above the one before it.
    pub fn new(curves: Vec<(Volts, EfficiencyTable)>) -> Result<Self, LawError> {
        let mut before = 0.0;
        for (index, (input, _)) in curves.iter().enumerate() {
            positive("input voltage", index + 1, input.0)?;
            if input.0 <= before {
                return Err(LawError::NotRising { what: "input voltage", entry: index + 1 });
            }
            before = input.0;
        }
        let mut curves = curves.into_iter().map(|(input, curve)| (input.0, curve));
        let first = curves.next().ok_or(LawError::Empty("curve of efficiency"))?;
        Ok(Self { first, rest: curves.collect() })
    }

    /// The surface of one curve, whatever the input voltage.
    pub fn flat(curve: EfficiencyTable) -> Self {
        Self { first: (0.0, curve), rest: Vec::new() }
    }

    /// True where the input voltage makes a difference.
    pub fn has_inputs(&self) -> bool {
        !self.rest.is_empty()
    }

    /// Efficiency at an input voltage and a load current \[1\], above 0 and at most 1.
    pub fn efficiency(&self, input: Volts, load: Amperes) -> f64 {
        let mut left = &self.first;
        if self.rest.is_empty() || input.0 <= left.0 || input.0.is_nan() {
            return left.1.efficiency(load);
        }
        for right in &self.rest {
            if input.0 < right.0 {
                let share = (input.0 - left.0) / (right.0 - left.0);
                let (low, high) = (left.1.efficiency(load), right.1.efficiency(load));
                return low + (high - low) * share;
            }
            left = right;
        }
        left.1.efficiency(load)
    }

    /// Input current at a load current.
    pub fn input_current(&self, input: Volts, output: Volts, load: Amperes) -> Amperes {
        output * load / self.efficiency(input, load) / input
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64)]) -> EfficiencyTable {
        let points: Vec<_> = points.iter().map(|(load, eta)| (Amperes(*load), *eta)).collect();
        EfficiencyTable::new(&points).unwrap()
    }

    fn surface() -> EfficiencySurface {
        let low = curve(&[(1e-3, 0.8), (0.1, 0.9)]);
        let high = curve(&[(1e-3, 0.6), (0.1, 0.86)]);
        EfficiencySurface::new(vec![(Volts(3.0), low), (Volts(5.0), high)]).unwrap()
    }

    #[test]
    fn between_two_curves_the_efficiency_goes_in_proportion_to_the_input_voltage() {
        let at = |input, load| surface().efficiency(Volts(input), Amperes(load));
        assert!((at(4.0, 1e-3) - 0.7).abs() < 1e-15);
        // A quarter of the way from 0.9 to 0.86.
        assert!((at(3.5, 0.1) - 0.89).abs() < 1e-15);
        // Halfway in ln(I): 0.85 and 0.73, and halfway between them.
        assert!((at(4.0, 1e-2) - 0.79).abs() < 1e-12);
        let current = surface().input_current(Volts(4.0), Volts(1.0), Amperes(1e-3));
        assert!((current.0 - 1e-3 / 0.7 / 4.0).abs() < 1e-15);
    }

    #[test]
    fn beyond_its_curves_the_nearest_holds() {
        let at = |input| surface().efficiency(Volts(input), Amperes(0.1));
        assert_eq!((at(2.0), at(3.0), at(5.0), at(12.0)), (0.9, 0.9, 0.86, 0.86));
        let flat = EfficiencySurface::flat(curve(&[(1.0, 0.5)]));
        assert!(!flat.has_inputs() && surface().has_inputs());
        assert_eq!(flat.efficiency(Volts(7.0), Amperes(2.0)), 0.5);
    }

    #[test]
    fn input_voltages_rise() {
        let one = || curve(&[(1.0, 0.5)]);
        assert_eq!(
            EfficiencySurface::new(vec![(Volts(3.0), one()), (Volts(3.0), one())]),
            Err(LawError::NotRising { what: "input voltage", entry: 2 })
        );
        assert!(EfficiencySurface::new(vec![(Volts(0.0), one())]).is_err());
        assert!(EfficiencySurface::new(Vec::new()).is_err());
    }
}
