//! The identity of joules: several independent sums of one run that must be one number.

use crate::units::{Coulombs, Joules};
use std::collections::BTreeMap;

/// Why energy was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A layer of a network.
    Layer {
        /// The workload, by its place in the run.
        workload: usize,
        /// The layer, by its place in the network.
        layer: usize,
    },
    /// Waiting for work.
    Idle,
    /// Changing a power state.
    Transition,
}

/// Sums of one run, each accumulated on its own.
///
/// `by_cause` is built from what the plan says a job costs (counts times energies) plus what stands
/// still for it; `by_component` integrates each component's power as it changes; `by_rail`
/// integrates voltage times current of each rail at its loads; `integral` is taken from the sink.
/// A change that is lost in one of them opens a gap to the others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ledger {
    /// Load energy by cause.
    pub by_cause: BTreeMap<Cause, Joules>,
    /// Regulator losses by cause.
    pub loss_by_cause: BTreeMap<Cause, Joules>,
    /// Load energy by component.
    pub by_component: BTreeMap<String, Joules>,
    /// Load energy by rail, at the loads.
    pub by_rail: BTreeMap<String, Joules>,
    /// Losses by regulator.
    pub losses: BTreeMap<String, Joules>,
    /// Energy that the sources gave.
    pub source: Joules,
    /// Gain of stored energy (capacitors, batteries).
    pub stored: Joules,
    /// What loads asked for while a source, a switch or a regulator on the way could not give it: more
    /// than nothing means that the chip browns out as it is asked.
    pub unmet: Joules,
    /// Integral of the loads' power, from the trace.
    pub integral: Joules,
    /// Charge taken out of each rail, by its number: its loads and the regulators that draw from it.
    pub rail_charge: Vec<Coulombs>,
}

/// Relative gaps of a [`Ledger`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Residuals {
    /// Sum over causes against the integral of the trace.
    pub cause: f64,
    /// Sum over components against the integral.
    pub component: f64,
    /// Sum over rails at the load against the integral.
    pub rail: f64,
    /// Source energy against load, losses and stored energy.
    pub source: f64,
}

impl Residuals {
    /// The bound that a run must keep.
    pub const LIMIT: f64 = 1e-9;

    /// The largest gap.
    pub fn largest(&self) -> f64 {
        [self.cause, self.component, self.rail, self.source].into_iter().fold(0.0, f64::max)
    }

    /// True when every gap is below the bound; a gap that is not a number is not.
    pub fn hold(&self) -> bool {
        [self.cause, self.component, self.rail, self.source].iter().all(|r| *r < Self::LIMIT)
    }
}

impl Ledger {
    /// Load and loss of a cause.
    pub fn of(&self, cause: &Cause) -> Joules {
        let part = |map: &BTreeMap<Cause, Joules>| map.get(cause).copied().unwrap_or_default();
        part(&self.by_cause) + part(&self.loss_by_cause)
    }

    /// All losses.
    pub fn loss(&self) -> Joules {
        self.losses.values().copied().sum()
    }

    /// The relative gaps between the sums.
    pub fn residuals(&self) -> Residuals {
        let scale = self.integral.0.abs().max(self.source.0.abs());
        let gap = |a: Joules, b: Joules| {
            if scale > 0.0 { (a - b).0.abs() / scale } else { (a - b).0.abs() }
        };
        let losses_by_cause: Joules = self.loss_by_cause.values().copied().sum();
        let cause = gap(self.by_cause.values().copied().sum(), self.integral)
            .max(gap(losses_by_cause, self.loss()));
        Residuals {
            cause,
            component: gap(self.by_component.values().copied().sum(), self.integral),
            rail: gap(self.by_rail.values().copied().sum(), self.integral),
            source: gap(self.source + self.unmet, self.integral + self.loss() + self.stored),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_joule_shows_and_a_nan_does_not_hold() {
        let mut ledger = Ledger { integral: Joules(1.0), source: Joules(1.2), ..Ledger::default() };
        ledger.by_cause.insert(Cause::Layer { workload: 0, layer: 0 }, Joules(0.7));
        ledger.by_cause.insert(Cause::Idle, Joules(0.3));
        ledger.loss_by_cause.insert(Cause::Idle, Joules(0.2));
        ledger.losses.insert("ldo".into(), Joules(0.2));
        ledger.by_component.insert("engine".into(), Joules(1.0));
        ledger.by_rail.insert("core".into(), Joules(1.0));
        assert!(ledger.residuals().hold());
        ledger.by_rail.insert("core".into(), Joules(1.0 - 2e-9));
        assert!(!ledger.residuals().hold());
        ledger.by_rail.insert("core".into(), Joules(f64::NAN));
        assert!(!ledger.residuals().hold());
    }
}
