//! `calibrate`: profiles fitted to measurements.

use super::{Answer, CliError};
use crate::calibrate::joint::Joint;
use crate::calibrate::{FitReport, Gathered};
use crate::report::{calibration_text, json};
use clap::Args;

/// Arguments of `calibrate`.
#[derive(Debug, Args)]
pub(super) struct Calibrate {
    /// The calibration file: which numbers of profiles are fitted to which cases
    calibration: String,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

impl Calibrate {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        let gathered = Gathered::load(&self.calibration)?;
        let calibration = &gathered.calibration;
        let mut reports = Vec::new();
        for cases in gathered.parts() {
            reports.push(FitReport::of(calibration, &Joint::of(cases, calibration)?)?);
        }
        Ok(match reports.as_slice() {
            [report] if self.json => Answer::json(&json::calibration(report), true),
            reports if self.json => {
                let parts: Vec<_> = reports.iter().map(json::calibration).collect();
                Answer::json(&parts, true)
            }
            reports => {
                Answer::yes(reports.iter().map(calibration_text).collect::<Vec<_>>().join("\n"))
            }
        })
    }
}
