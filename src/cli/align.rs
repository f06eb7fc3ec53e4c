//! `capture align`: a host's log on the meter's clock.

use super::measurement::{CaptureArgument, WindowArguments};
use super::{Answer, CliError};
use crate::report::{align_text, json};
use clap::Args;

/// Arguments of `capture align`.
#[derive(Debug, Args)]
pub(super) struct Align {
    #[command(flatten)]
    capture: CaptureArgument,
    #[command(flatten)]
    windows: WindowArguments,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

impl Align {
    /// The answer is no where the two could not be brought together.
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        let measured = self.capture.measure(&self.windows)?;
        let found = measured.windows.matched.is_some();
        Ok(if self.json {
            Answer::json(&json::align(&measured), found)
        } else {
            Answer { text: align_text(&measured), good: found }
        })
    }
}
