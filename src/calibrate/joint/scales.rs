//! How much wider noise and discrepancy are than stated, estimated with the fit.
//!
//! One factor `s` on the deviations of times, one on those of powers. With `e` the noise residuals and
//! discrepancies over their stated deviations, `E[e²]` under the posterior, and a prior that the stated values
//! are worth `w` of them, `s² = (w + Σ E[e²]) / (w + n)`: expectation and maximisation in turn, until it stands.

use super::{Joint, JointFit, Sight};
use crate::calibrate::calibration::Off;
use crate::calibrate::case::Quantity;
use crate::calibrate::fit::{Row, Unknown};

/// Factors on stated deviations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scales {
    /// Of times.
    pub time: f64,
    /// Of energies and powers.
    pub power: f64,
}

impl Scales {
    /// As stated.
    pub const STATED: Self = Self { time: 1.0, power: 1.0 };

    /// The factor on a discrepancy.
    fn of(self, off: Off) -> f64 {
        match off {
            Off::Time => self.time,
            Off::Power => self.power,
        }
    }

    /// Deviation of a measurement.
    pub fn sigma_of(self, sight: &Sight) -> f64 {
        sight.sigma * self.of(noise(sight))
    }

    /// True when both are nearly those of another.
    pub(super) fn are_near(self, other: Self) -> bool {
        let near = |one: f64, other: f64| (one / other).ln().abs() < 0.005;
        near(self.time, other.time) && near(self.power, other.power)
    }

    /// The unknowns with discrepancies that wide.
    pub(super) fn applied(self, joint: &Joint) -> Vec<Unknown> {
        let mut unknowns = joint.unknowns.clone();
        let factor = self.applied_to(joint);
        for (at, unknown) in unknowns.iter_mut().enumerate() {
            if let Some(prior) = unknown.prior.as_mut() {
                prior.deviation *= factor(at);
            }
        }
        unknowns
    }

    /// By unknown, the factor on its deviation.
    pub(super) fn applied_to(self, joint: &Joint) -> impl Fn(usize) -> f64 {
        move |unknown| joint.off.get(unknown).copied().flatten().map_or(1.0, |off| self.of(off))
    }

    /// What a fit says of them; `worth` measurements speak for the stated ones.
    pub(super) fn told_by(fit: &JointFit<'_>, worth: f64) -> Self {
        let mut sums = [(worth, worth); 2];
        let mut add = |off: Off, square: f64| {
            let (sum, count) = &mut sums[usize::from(off == Off::Power)];
            *sum += square;
            *count += 1.0;
        };
        let joint = fit.joint;
        let mut touched = vec![false; joint.unknowns.len()];
        for ((at, residual), row) in fit.given.iter().zip(&fit.fit.residuals).zip(&fit.fit.rows.0) {
            let Some(sight) = joint.sights.get(*at) else { continue };
            let scale = fit.scales.of(noise(sight));
            add(noise(sight), (residual.powi(2) + fit.posterior.variance(row)) * scale.powi(2));
            for (off, _) in &sight.off {
                if let Some(touched) = touched.get_mut(*off) {
                    *touched = true;
                }
            }
        }
        for (at, off) in joint.off.iter().enumerate() {
            let prior = joint.unknowns.get(at).and_then(|unknown| unknown.prior);
            if let (Some(off), Some(prior), Some(true)) = (off, prior, touched.get(at)) {
                let mean = fit.fit.x.get(at).copied().unwrap_or(0.0);
                let variance = fit.posterior.variance(&Row::of([(at, 1.0)]));
                add(*off, (mean.powi(2) + variance) / prior.deviation.powi(2));
            }
        }
        let [time, power] = sums.map(|(sum, count)| (sum / count).sqrt());
        Self { time, power }
    }
}

/// What the noise of a measurement is counted with.
fn noise(sight: &Sight) -> Off {
    match sight.quantity {
        Quantity::Latency => Off::Time,
        Quantity::Energy | Quantity::IdlePower | Quantity::MeanPower => Off::Power,
    }
}
