//! Measurements of several boards, runtimes and networks, predicted together.
//!
//! The logarithm of each fitted number of a profile is that of its file plus a sum of unknowns, which it may
//! have in common with numbers of other profiles; the logarithm of each prediction is what the estimate of the
//! profile so changed says, plus unknowns for what the model itself is off by. Residuals are
//! `(ln predicted - ln measured) / σ`: weights from measured values would bias the fit.

mod configuration;
mod factors;
mod forecast;
mod keys;
mod local;
mod model;
mod number;
mod observation;
mod prior;
mod profiles;
mod scales;
mod start;
mod unknowns;

pub use forecast::Forecast;
pub use keys::Keys;
pub use model::{Given, JointFit};
pub use number::JointNumber;
pub use observation::Sight;
pub use profiles::FittedProfile;
pub use scales::Scales;
pub use start::Start;

use super::calibration::{Calibration, Off, StatedLoss};
use super::case::Case;
use super::fit::{FitError, Limits, Unknown};
use super::validation::ValidationError;
use configuration::Configuration;
use observation::{Gathering, Run};
use prior::PriorOfNumbers;
use std::collections::BTreeSet;
use std::sync::OnceLock;
use unknowns::Unknowns;

/// All that is measured of some cases, and the unknowns that predict it.
#[derive(Debug)]
pub struct Joint {
    configurations: Vec<Configuration>,
    runs: Vec<Run>,
    sights: Vec<Sight>,
    unknowns: Vec<Unknown>,
    /// What those are off that are a discrepancy.
    off: Vec<Option<Off>>,
    /// Those that are what a meter is off by.
    meters: BTreeSet<usize>,
    /// How many measurements the stated noise and discrepancy are worth.
    worth: Option<f64>,
    /// Made when it is first asked for.
    prior: OnceLock<PriorOfNumbers>,
}

impl Joint {
    /// That of cases under a calibration.
    ///
    /// # Errors
    /// A case names what does not exist.
    pub fn of(cases: &[Case], calibration: &Calibration) -> Result<Self, ValidationError> {
        let (unknowns, runs, sights) = (Unknowns::default(), Vec::new(), Vec::new());
        let mut all = Gathering { calibration, unknowns, runs, sights };
        let mut configurations = Vec::new();
        for case in cases {
            let configuration = Configuration::of(case, calibration, &mut all.unknowns)?;
            all.add(case, (configurations.len(), &configuration))?;
            configurations.push(configuration);
        }
        let (unknowns, off, meters) = all.unknowns.into_parts();
        let (runs, sights) = (all.runs, all.sights);
        let (worth, prior) = (calibration.stated_worth, OnceLock::new());
        Ok(Self { configurations, runs, sights, unknowns, off, meters, worth, prior })
    }

    /// The fit to all measurements whose sources have no fault, each once.
    ///
    /// # Errors
    /// There is nothing to fit to, or something cannot be predicted.
    pub fn fitted_to_all(
        &self,
        loss: StatedLoss,
        limits: Limits,
    ) -> Result<JointFit<'_>, FitError> {
        self.given(|at| self.sights.get(at).is_some_and(Sight::tells)).fitted(loss.into(), limits)
    }

    /// The measurements.
    pub fn sights(&self) -> &[Sight] {
        &self.sights
    }

    /// The unknowns that are what a meter is off by, by index.
    pub fn meters(&self) -> impl Iterator<Item = usize> + '_ {
        self.meters.iter().copied()
    }

    /// The unknowns.
    pub fn unknowns(&self) -> &[Unknown] {
        &self.unknowns
    }
}

#[cfg(test)]
mod tests;
