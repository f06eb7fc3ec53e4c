//! `run`: simulate, print, and leave a folder of trace and pictures.

use super::target::{Predicted, Target};
use super::{Answer, CliError};
use crate::report::{OutputFolder, Prediction, json, run_text, write_run};
use crate::sim::{Arrivals, Workload, run};
use crate::trace::Recorder;
use crate::units::{Literal, Seconds};
use clap::Args;
use std::path::PathBuf;

/// Arguments of `run`.
#[derive(Debug, Args)]
pub(super) struct RunArguments {
    #[command(flatten)]
    target: Target,
    /// Folder for trace, pictures and metrics; appears complete or not at all
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// How many inferences
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    inferences: u64,
    /// One inference each period, such as "250 ms"; back to back when left out
    #[arg(long, value_name = "TIME")]
    period: Option<String>,
    /// State that domains wait in: one of the profile's, or `on`
    #[arg(long, value_name = "STATE")]
    idle: Option<String>,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

impl RunArguments {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        let workload = self.workload()?;
        let prepared = self.target.prepare()?;
        if let Some(out) = &self.out {
            // A target that cannot be written is told before the work, not after.
            drop(OutputFolder::begin(out)?);
        }
        let Predicted { plan, estimate, uncertainty } = prepared.predict(Some(&workload));
        let setting = prepared.setting();
        let mut recorder = Recorder::default();
        let outcome = run(&plan, &workload, setting, &mut recorder)?;
        let prediction = Prediction {
            network: &prepared.network,
            setting,
            plan: &plan,
            estimate: &estimate,
            uncertainty: &uncertainty,
        };
        let mut written = String::new();
        if let Some(out) = &self.out {
            write_run(&prediction, &outcome, &recorder.into_trace(), out)?;
            written = format!("trace, pictures and metrics are in {}\n", out.display());
        }
        Ok(if self.json {
            Answer::json(&json::run(&prediction, &outcome), true)
        } else {
            Answer::yes(run_text(&prediction, &outcome) + &written)
        })
    }

    fn workload(&self) -> Result<Workload, CliError> {
        let arrivals = match &self.period {
            None => Arrivals::BackToBack,
            Some(text) => {
                let literal = Literal::parse_as::<Seconds>(text)
                    .map_err(|error| CliError::Argument { argument: "--period", error })?;
                Arrivals::Periodic(Seconds(literal.value))
            }
        };
        Ok(Workload { inferences: self.inferences, arrivals, rest: self.idle.clone() })
    }
}
