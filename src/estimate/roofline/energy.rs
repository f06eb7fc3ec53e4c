//! The energy roofline of one level.

use super::{ComputeRoof, Counted, Level};
use crate::units::{BytesPerSecond, JoulesPerByte, Quantity, Watts};

/// The most operations a joule can do at an intensity `I` at one level, at the loads:
///
/// `1 / η(I) = e_op + e_byte / I + P_0 max(1 / P_peak, 1 / (I BW))`
///
/// - `e_op` \[J\] an operation with the engine full, `e_byte` \[J/B\] a byte at the level
/// - `P_0` \[W\] what is drawn whatever the engines do, for as long as the roofline of time asks
///
/// (J. Choi, D. Bedard, R. Fowler and R. Vuduc, "A roofline model of energy", IEEE IPDPS 2013.) To the left
/// `η` rises with `I` towards `I / (e_byte + P_0 / BW)`, to the right it ends at `1 / (e_op + P_0 / P_peak)`;
/// there is no kink, since energies add where times overlap. Neglected: other levels, and the losses of
/// regulators.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnergyRoof<C: Counted> {
    /// Energy of an operation.
    pub operation: C::Energy,
    /// Energy of a byte.
    pub byte: JoulesPerByte,
    /// Power that goes with time.
    pub constant: Watts,
    /// Peak of the engine.
    pub peak: C::PerSecond,
    /// Bandwidth of the level.
    pub bandwidth: BytesPerSecond,
}

impl<C: Counted> EnergyRoof<C> {
    /// The roof of a level below a compute roof.
    pub fn of(compute: &ComputeRoof<C>, level: &Level, constant: Watts) -> Self {
        Self {
            operation: compute.energy,
            byte: level.energy,
            constant,
            peak: compute.peak,
            bandwidth: level.bandwidth,
        }
    }

    /// Operations a joule at an intensity.
    pub fn at(&self, intensity: C::PerByte) -> C::PerJoule {
        per(self.operation.si() + self.byte.0 / intensity.si() + self.constant_energy(intensity))
    }

    /// The same without constant power.
    pub fn switching_alone(&self, intensity: C::PerByte) -> C::PerJoule {
        per(self.operation.si() + self.byte.0 / intensity.si())
    }

    /// The same with constant power alone: the race-to-idle line. Where it lies below
    /// [`EnergyRoof::switching_alone`], time takes more energy than work does, and finishing early so as to
    /// switch off saves more than working gently.
    pub fn constant_alone(&self, intensity: C::PerByte) -> C::PerJoule {
        per(self.constant_energy(intensity))
    }

    /// Constant energy \[J\] of an operation.
    fn constant_energy(&self, intensity: C::PerByte) -> f64 {
        self.constant.0 * (1.0 / self.peak.si()).max(1.0 / (intensity.si() * self.bandwidth.0))
    }

    /// The end of the roof to the right: `1 / (e_op + P_0 / P_peak)`.
    pub fn best(&self) -> C::PerJoule {
        per(self.operation.si() + self.constant.0 / self.peak.si())
    }

    /// The line that the roof is near to the left: `I / (e_byte + P_0 / BW)`.
    pub fn steep(&self, intensity: C::PerByte) -> C::PerJoule {
        per((self.byte.0 + self.constant.0 / self.bandwidth.0) / intensity.si())
    }

    /// The energy balance point `B_e = e_byte / e_op`: there, bytes take as much as operations.
    pub fn balance(&self) -> C::PerByte {
        C::PerByte::from_si(self.byte.0 / self.operation.si())
    }

    /// The same with constant power: the intensity of half of [`EnergyRoof::best`]. With `η = e_op / (e_op +
    /// P_0 / P_peak)` and `B_t` the ridge of time it solves `I = η B_e + (1 - η) max(0, B_t - I)`.
    pub fn effective_balance(&self) -> C::PerByte {
        let constant = self.constant.0 / self.peak.si();
        let (operation, byte) = (self.operation.si(), self.byte.0);
        let ridge = self.peak.si() / self.bandwidth.0;
        let beyond = byte / (operation + constant);
        let before = (byte + constant * ridge) / (operation + 2.0 * constant);
        C::PerByte::from_si(if beyond >= ridge { beyond } else { before })
    }

    /// Share of the energy at the right end that goes with time, 0 to 1.
    pub fn constant_share(&self) -> f64 {
        let constant = self.constant.0 / self.peak.si();
        let all = self.operation.si() + constant;
        if all > 0.0 { constant / all } else { 0.0 }
    }
}

fn per<Q: Quantity>(joules: f64) -> Q {
    Q::from_si(1.0 / joules)
}

#[cfg(test)]
mod tests {
    use super::super::Macs;
    use super::*;
    use crate::units::{JoulesPerMac, MacsPerByte, MacsPerSecond};
    use proptest::prelude::*;

    fn roof(
        operation: f64,
        byte: f64,
        constant: f64,
        peak: f64,
        bandwidth: f64,
    ) -> EnergyRoof<Macs> {
        EnergyRoof {
            operation: JoulesPerMac(operation),
            byte: JoulesPerByte(byte),
            constant: Watts(constant),
            peak: MacsPerSecond(peak),
            bandwidth: BytesPerSecond(bandwidth),
        }
    }

    #[test]
    fn a_roof_by_hand() {
        // 2 pJ a MAC, 40 pJ a byte, 3 mW, 1 GMAC/s, 100 MB/s: ridge at 10 MAC/B, balance at 20 MAC/B.
        let roof = roof(2e-12, 40e-12, 3e-3, 1e9, 1e8);
        assert!((roof.balance().0 - 20.0).abs() < 1e-9);
        // At the balance: 2 + 40/20 + 3 pJ.
        assert!((roof.at(MacsPerByte(20.0)).0 * 7e-12 - 1.0).abs() < 1e-12);
        // At 5 MAC/B bytes take twice the time of MACs: 2 + 8 + 6 pJ.
        assert!((roof.at(MacsPerByte(5.0)).0 * 16e-12 - 1.0).abs() < 1e-12);
        assert!((roof.best().0 * 5e-12 - 1.0).abs() < 1e-12);
        assert!((roof.constant_share() - 0.6).abs() < 1e-12);
        // Half of the best takes 10 pJ: 2 + 40/I + 3 max(1, 10/I), so 70/I = 8 where 10/I > 1.
        assert!((roof.effective_balance().0 - 8.75).abs() < 1e-12);
    }

    #[test]
    fn without_constant_power_balance_is_half_of_the_best() {
        let roof = roof(2e-12, 40e-12, 0.0, 1e9, 1e8);
        assert_eq!(roof.effective_balance(), roof.balance());
        assert!((roof.at(roof.balance()).0 / roof.best().0 - 0.5).abs() < 1e-12);
        assert_eq!(roof.constant_share(), 0.0);
    }

    #[test]
    fn a_level_whose_bytes_cost_nothing_is_a_roof_of_time_alone() {
        let roof = roof(2e-12, 0.0, 3e-3, 1e9, 1e8);
        assert_eq!(roof.balance(), MacsPerByte(0.0));
        assert_eq!(roof.at(MacsPerByte(10.0)), roof.best());
        assert!(roof.at(MacsPerByte(1.0)).0 < roof.best().0);
    }

    proptest! {
        #[test]
        fn a_roof_lies_between_its_asymptotes(
            operation in -13.0..-9.0f64,
            byte in -13.0..-8.0f64,
            constant in -6.0..1.0f64,
            peak in 6.0..13.0f64,
            bandwidth in 6.0..12.0f64,
            at in -4.0..5.0f64,
        ) {
            let ten = |exponent: f64| 10f64.powf(exponent);
            let roof = roof(ten(operation), ten(byte), ten(constant), ten(peak), ten(bandwidth));
            let intensity = MacsPerByte(ten(at));
            let here = roof.at(intensity).0;
            prop_assert!(here <= roof.best().0 * (1.0 + 1e-12));
            prop_assert!(here <= roof.steep(intensity).0 * (1.0 + 1e-12));
            prop_assert!(here <= roof.switching_alone(intensity).0.min(roof.constant_alone(intensity).0));
            // Energies of work and of time add up.
            let parts = 1.0 / roof.switching_alone(intensity).0 + 1.0 / roof.constant_alone(intensity).0;
            prop_assert!((here * parts - 1.0).abs() < 1e-9);
            // Far to the right it ends, far to the left it is steep.
            prop_assert!((roof.at(MacsPerByte(1e30)).0 / roof.best().0 - 1.0).abs() < 1e-6);
            let far = MacsPerByte(1e-30);
            prop_assert!((roof.at(far).0 / roof.steep(far).0 - 1.0).abs() < 1e-6);
            let half = roof.at(roof.effective_balance()).0 / roof.best().0;
            prop_assert!((half - 0.5).abs() < 1e-9, "{}", half);
        }
    }
}
