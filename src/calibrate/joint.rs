//! Measurements of several boards, runtimes and networks, predicted together.
//!
//! The logarithm of each fitted number of a profile is that of its file plus a sum of unknowns, which it may
//! have in common with numbers of other profiles; the logarithm of each prediction is what the estimate of the
//! profile so changed says, plus unknowns for what the model itself is off by. Residuals are
//! `(ln predicted - ln measured) / σ`: weights from measured values would bias the fit.

mod configuration;
mod keys;
mod model;
mod number;
mod observation;
mod unknowns;

pub use keys::Keys;
pub use model::{Forecast, Given, JointFit, Start};
pub use number::JointNumber;
pub use observation::Sight;

use super::calibration::Calibration;
use super::case::Case;
use super::fit::Unknown;
use super::validation::ValidationError;
use configuration::Configuration;
use observation::{Run, runs_of};
use unknowns::Unknowns;

/// All that is measured of some cases, and the unknowns that predict it.
#[derive(Debug)]
pub struct Joint {
    configurations: Vec<Configuration>,
    runs: Vec<Run>,
    sights: Vec<Sight>,
    unknowns: Vec<Unknown>,
}

impl Joint {
    /// That of cases under a calibration.
    ///
    /// # Errors
    /// A case names what does not exist.
    pub fn of(cases: &[Case], calibration: &Calibration) -> Result<Self, ValidationError> {
        let mut unknowns = Unknowns::default();
        let (mut configurations, mut runs, mut sights) = (Vec::new(), Vec::new(), Vec::new());
        for case in cases {
            let configuration = Configuration::of(case, calibration, &mut unknowns)?;
            let at = configurations.len();
            runs_of(
                case,
                calibration,
                (at, &configuration),
                &mut unknowns,
                &mut runs,
                &mut sights,
            )?;
            configurations.push(configuration);
        }
        let unknowns = unknowns.list().to_vec();
        Ok(Self { configurations, runs, sights, unknowns })
    }

    /// The measurements.
    pub fn sights(&self) -> &[Sight] {
        &self.sights
    }

    /// The unknowns.
    pub fn unknowns(&self) -> &[Unknown] {
        &self.unknowns
    }
}
