//! `capture fold`: the profile of one inference, and its layers.

use super::measurement::{CaptureArgument, WindowArguments};
use super::target::Prepared;
use super::{Answer, CliError};
use crate::capture::{AssignOptions, Assigned, Expected, Folded, Measured, assign, fold_measured};
use crate::estimate::estimate;
use crate::report::{fold_csv, fold_text, json, write_file};
use crate::units::Seconds;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `capture fold`.
#[derive(Debug, Args)]
pub(super) struct Fold {
    #[command(flatten)]
    capture: CaptureArgument,
    #[command(flatten)]
    windows: WindowArguments,
    #[command(flatten)]
    target: FoldTarget,
    /// Write the profile by phase as a .csv file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

/// What ran, to find its layers in the profile.
#[derive(Debug, Args)]
pub(super) struct FoldTarget {
    /// The network that ran, to assign its layers to the profile
    #[arg(long, value_name = "MODEL", requires = "on")]
    model: Option<String>,
    /// Hardware profile that predicts how long each layer takes, up to a common factor
    #[arg(long, value_name = "HARDWARE", requires = "model")]
    on: Option<String>,
    /// Operating point of that profile; its first when left out
    #[arg(long, value_name = "NAME", requires = "on")]
    opp: Option<String>,
    /// Software stack of that profile; its first when left out
    #[arg(long, value_name = "NAME", requires = "on")]
    software: Option<String>,
    /// Standard deviation of the logarithm of a predicted duration
    #[arg(long, value_name = "SIGMA", default_value_t = AssignOptions::default().spread)]
    spread: f64,
}

impl Fold {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        let measured = self.capture.measure(&self.windows)?;
        let folded = fold_windows(&self.capture, &measured)?;
        let layers = self.target.layers(&folded)?;
        if let Some(out) = &self.out {
            write_file(out, fold_csv(&folded))?;
        }
        let layers = layers.as_deref();
        Ok(if self.json {
            Answer::json(&json::fold(&measured, &folded, layers), true)
        } else {
            Answer::yes(fold_text(&measured, &folded, layers))
        })
    }
}

/// The profile of one inference from the windows of a capture.
pub(super) fn fold_windows(
    capture: &CaptureArgument,
    measured: &Measured,
) -> Result<Folded, CliError> {
    Ok(fold_measured(&capture.series()?, measured, Seconds::ZERO)?)
}

impl FoldTarget {
    /// The model and the profile, where they are given.
    pub(super) fn names(&self) -> Option<(&str, &str)> {
        self.model.as_deref().zip(self.on.as_deref())
    }

    /// The layers in the profile, where a model is given.
    pub(super) fn layers(&self, folded: &Folded) -> Result<Option<Vec<Assigned>>, CliError> {
        let Some((model, on)) = self.names() else { return Ok(None) };
        let prepared = Prepared::named(model, on, self.opp.as_deref(), self.software.as_deref())?;
        let setting = prepared.setting();
        let estimate = estimate(&prepared.plan(setting), setting);
        let expected = Expected::all(&estimate);
        let options = AssignOptions { spread: self.spread };
        Ok(Some(assign(folded, &expected, options)?))
    }
}
