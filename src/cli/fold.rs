//! `capture fold`: the profile of one inference, and its layers.

use super::measurement::{CaptureArgument, WindowArguments, is_run};
use super::target::Prepared;
use super::{Answer, CliError};
use crate::capture::{AssignOptions, Assigned, Expected, Folded, PowerSeries, Rails, assign, fold};
use crate::estimate::estimate;
use crate::formats::csv;
use crate::report::{fold_csv, fold_text, json, write_file};
use clap::Args;
use std::path::PathBuf;

/// Arguments of `capture fold`.
#[derive(Debug, Args)]
pub(super) struct Fold {
    #[command(flatten)]
    capture: CaptureArgument,
    #[command(flatten)]
    windows: WindowArguments,
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
    /// Write the profile by phase as a .csv file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

impl Fold {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        let measured = self.capture.measure(&self.windows)?;
        let mut series = PowerSeries::default();
        if is_run(&self.capture.capture) {
            csv::read_folder(&self.capture.capture)?.replay(&mut series);
        } else {
            let options = self.capture.options()?;
            let mut rails = Rails::power(&mut series, options.voltage);
            self.capture.open()?.read(&options, &mut rails)?;
        }
        let windows: Vec<_> = measured.measured.iter().map(|m| m.window.clone()).collect();
        let folded = fold(&series.power, &windows, measured.inferences_per_window)?;
        let layers = self.layers(&folded)?;
        if let Some(out) = &self.out {
            write_file(out, &fold_csv(&folded))?;
        }
        let layers = layers.as_deref();
        Ok(if self.json {
            Answer::json(&json::fold(&measured, &folded, layers), true)
        } else {
            Answer::yes(fold_text(&measured, &folded, layers))
        })
    }

    fn layers(&self, folded: &Folded) -> Result<Option<Vec<Assigned>>, CliError> {
        let (Some(model), Some(on)) = (&self.model, &self.on) else { return Ok(None) };
        let prepared = Prepared::named(model, on, self.opp.as_deref(), self.software.as_deref())?;
        let setting = prepared.setting();
        let estimate = estimate(&prepared.plan(setting), setting);
        let expected: Vec<Expected> = estimate
            .layers
            .iter()
            .map(|layer| Expected { name: layer.name.clone(), duration: layer.time })
            .collect();
        let options = AssignOptions { spread: self.spread };
        Ok(Some(assign(folded, &expected, options)?))
    }
}
