//! `convert`: any capture, or the trace of a run, as CSV, Parquet or Perfetto.

use super::measurement::{CaptureArgument, WindowArguments};
use super::{Answer, CliError};
use crate::formats::csv;
use crate::report::{Source, Target, Told, convert, converted_text, json};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Arguments of `convert`.
#[derive(Debug, Args)]
pub(super) struct ConvertArguments {
    #[command(flatten)]
    capture: CaptureArgument,
    /// What to write; told by the ending of PATH when left out
    #[arg(long, value_name = "KIND")]
    to: Option<To>,
    /// Where: a folder for csv, X.parquet (and X.spans.parquet, X.marks.parquet, X.edges.parquet
    /// beside it), or X.perfetto-trace; appears complete or not at all
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    #[command(flatten)]
    windows: WindowArguments,
    /// What was written, as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum To {
    /// A folder of tables, which every verb reads as the folder of a run
    Csv,
    /// A file for polars, DuckDB and pandas
    Parquet,
    /// A file for ui.perfetto.dev
    Perfetto,
}

impl ConvertArguments {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        let path = &self.capture.capture;
        let source = if self.capture.is_run() {
            Source::Run(Box::new(csv::read_folder(path)?))
        } else {
            Source::Capture { opened: self.capture.open()?, options: self.capture.options()? }
        };
        let target = self.to.map(|to| match to {
            To::Csv => Target::Csv,
            To::Parquet => Target::Parquet,
            To::Perfetto => Target::Perfetto,
        });
        let told = Told {
            windows: self.windows.options(),
            inferences: self.windows.inferences,
            log: self.windows.log()?,
        };
        let converted = convert(&source, path, &told, target, &self.out)?;
        Ok(if self.json {
            Answer::json(&json::converted(&converted), true)
        } else {
            Answer::yes(converted_text(&converted))
        })
    }
}
