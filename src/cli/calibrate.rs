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
        let Gathered { calibration, cases } = Gathered::load(&self.calibration)?;
        let joint = Joint::of(&cases, &calibration)?;
        let outcome = FitReport::of(&calibration, &joint)?;
        if self.json {
            return Ok(Answer::json(&json::calibration(&outcome), true));
        }
        Ok(Answer::yes(calibration_text(&outcome)))
    }
}
