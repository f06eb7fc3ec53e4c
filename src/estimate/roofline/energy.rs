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

    /// The intensity that the roof is proportional to, to the left: `I / (e_byte + P_0 / BW)`.
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
