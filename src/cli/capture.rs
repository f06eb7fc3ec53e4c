//! `capture`: what did I measure?

use super::align::Align;
use super::fold::Fold;
use super::measurement::{CaptureArgument, WindowArguments};
use super::record::Record;
use super::repeat::Repeat;
use super::{Answer, CliError};
use crate::formats::FORMATS;
use crate::report::{formats_table, info_text, json};
use clap::{Args, Subcommand};

/// Questions about captures.
#[derive(Debug, Subcommand)]
pub(super) enum Capture {
    /// What is in a capture: format, channels, lines, marks, windows
    Info(Info),
    /// The profile of one inference from windows of many, and its layers
    Fold(Fold),
    /// A host's log on the meter's clock, event by event
    Align(Align),
    /// Several captures of the same work: their mean, and what differs between them
    Repeat(Repeat),
    /// The trace of a run as a meter would have written it, to try a measurement before it is made
    Record(Record),
    /// Formats that can be read
    Formats(Formats),
}

/// Arguments of `capture info`.
#[derive(Debug, Args)]
pub(super) struct Info {
    #[command(flatten)]
    capture: CaptureArgument,
    #[command(flatten)]
    windows: WindowArguments,
    /// The same as JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `capture formats`.
#[derive(Debug, Args)]
pub(super) struct Formats {}

impl Capture {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        match self {
            Self::Info(info) => info.run(),
            Self::Fold(fold) => fold.run(),
            Self::Align(align) => align.run(),
            Self::Repeat(repeat) => repeat.run(),
            Self::Record(record) => record.run(),
            Self::Formats(_) => Ok(Answer::yes(formats_table(FORMATS))),
        }
    }
}

impl Info {
    fn run(&self) -> Result<Answer, CliError> {
        let measured = self.capture.measure(&self.windows)?;
        Ok(if self.json {
            Answer::json(&json::info(&measured), true)
        } else {
            Answer::yes(info_text(&measured))
        })
    }
}
