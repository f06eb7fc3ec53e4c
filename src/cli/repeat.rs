//! `capture repeat`: several captures of one thing.

use super::measurement::{ReadingArguments, WindowArguments};
use super::{Answer, CliError};
use crate::capture::Measured;
use crate::report::{json, repeat_text};
use clap::Args;
use std::path::PathBuf;

/// Arguments of `capture repeat`.
#[derive(Debug, Args)]
pub(super) struct Repeat {
    /// Captures of the same work
    #[arg(required = true, num_args = 2..)]
    captures: Vec<PathBuf>,
    #[command(flatten)]
    reading: ReadingArguments,
    #[command(flatten)]
    windows: WindowArguments,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

impl Repeat {
    /// The answer is no where fewer than two captures have windows to compare.
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        let measure = |path: &PathBuf| {
            let measured = self.reading.measure(path, &self.windows)?;
            Ok((path.display().to_string(), measured))
        };
        let runs: Vec<(String, Measured)> =
            self.captures.iter().map(measure).collect::<Result<_, CliError>>()?;
        let (text, compared) = repeat_text(&runs);
        Ok(if self.json {
            Answer::json(&json::repeat(&runs), compared)
        } else {
            Answer { text, good: compared }
        })
    }
}
