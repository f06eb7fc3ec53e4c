//! `stats`: energy, mean, peak, gaps and windows of any trace.

use super::measurement::{CaptureArgument, WindowArguments};
use super::{Answer, CliError};
use crate::report::{json, measured_text};
use clap::Args;

/// Arguments of `stats`.
#[derive(Debug, Args)]
pub(super) struct StatsArguments {
    #[command(flatten)]
    capture: CaptureArgument,
    #[command(flatten)]
    windows: WindowArguments,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

impl StatsArguments {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        let measured = self.capture.measure(&self.windows)?;
        Ok(if self.json {
            Answer::json(&json::measured(&measured), true)
        } else {
            Answer::yes(measured_text(&measured))
        })
    }
}
