//! `inspect`: what is in this network?

use super::target::ModelArgument;
use super::{Answer, CliError};
use crate::formats::csv;
use crate::model::ModelProfile;
use crate::report::plot::{PlotError, live};
use crate::report::{inspect_text, json, kinds_text, write_file, write_file_with};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// Arguments of `inspect`.
#[derive(Debug, Args)]
pub(super) struct Inspect {
    #[command(flatten)]
    model: ModelArgument,
    /// Sum layers up instead of listing them
    #[arg(long, value_enum, value_name = "WHAT")]
    by: Option<By>,
    /// Write the rows to a .csv file too, with a column for each figure of the JSON
    #[arg(long, value_name = "FILE", value_parser = table)]
    csv: Option<PathBuf>,
    /// Draw live memory over the layers, as a .png or .svg file
    #[arg(long, value_name = "FILE", value_parser = picture)]
    plot: Option<PathBuf>,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

/// What layers are summed up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// By kind of operator
    Kind,
}

fn table(text: &str) -> Result<PathBuf, String> {
    with_extension(text, &["csv"]).ok_or_else(|| "a table is a .csv file".to_owned())
}

pub(super) fn picture(text: &str) -> Result<PathBuf, String> {
    with_extension(text, &["png", "svg"])
        .ok_or_else(|| "a picture is a .png or .svg file".to_owned())
}

fn with_extension(text: &str, extensions: &[&str]) -> Option<PathBuf> {
    let path = PathBuf::from(text);
    let extension = path.extension()?.to_string_lossy().to_lowercase();
    extensions.contains(&extension.as_str()).then_some(path)
}

impl Inspect {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        let profile = self.model.load()?.profile()?;
        let mut written = String::new();
        if let Some(path) = &self.csv {
            self.write_rows(&profile, path)?;
            let what = if self.by.is_some() { "kinds" } else { "layers" };
            written.push_str(&format!("{what} are in {}\n", path.display()));
        }
        if let Some(path) = &self.plot {
            draw(&profile, path)?;
            written.push_str(&format!("live memory is drawn in {}\n", path.display()));
        }
        Ok(match (self.json, self.by) {
            (true, None) => Answer::json(&json::inspect(&profile), true),
            (true, Some(By::Kind)) => Answer::json(&json::inspect_by_kind(&profile), true),
            (false, None) => Answer::yes(inspect_text(&profile) + &written),
            (false, Some(By::Kind)) => Answer::yes(kinds_text(&profile) + &written),
        })
    }

    fn write_rows(&self, profile: &ModelProfile, path: &Path) -> Result<(), CliError> {
        let mut rows = Vec::new();
        match self.by {
            None => csv::write_layers(profile, &mut rows)?,
            Some(By::Kind) => csv::write_kinds(profile, &mut rows)?,
        }
        Ok(write_file(path, rows)?)
    }
}

fn draw(profile: &ModelProfile, path: &Path) -> Result<(), CliError> {
    let at_path = |error: PlotError| CliError::from(error.at(path));
    write_file_with(path, |staged| live(profile, staged).map_err(at_path))
}
