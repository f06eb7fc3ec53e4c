//! `validate`: predicted against measured.

use super::pictures::PicturesArguments;
use super::{Answer, CliError};
use crate::calibrate::{
    Case, CaseError, Comparison, Gathered, HELD_OUT_FILE, Protocol, Scored, ShippedCalibration,
    Worsened, against_vela, as_they_stand, held_out, held_out_csv, parsed_hold_outs, recorded,
    recorded_hold_outs, shipped_calibrations, shipped_cases, validate, validate_all, worsened,
};
use crate::report::{
    Rows, against_markdown, comparison_markdown, comparison_table, json, notes_text,
    protocols_text, with_tables, write_file, write_held_out,
};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// What the tables of all shipped cases stand in.
const README: &str = "validation/README.md";

/// A tool whose estimates predictions are held against.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Peer {
    /// Arm's compiler for Ethos-U
    Vela,
}

/// Arguments of `validate`.
#[derive(Debug, Args)]
pub(super) struct Validate {
    /// Case files; all shipped cases when left out
    cases: Vec<String>,
    /// Only what predictions had: the profile as it stands, or a fit that held measurements out
    #[arg(long, value_name = "PROTOCOL", value_delimiter = ',', conflicts_with_all = ["cases", "record"])]
    protocol: Vec<Named>,
    /// Only the cases of a calibration file, under the protocols that hold some of its measurements out
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cases", "record", "markdown"])]
    calibration: Option<String>,
    /// Predict with this profile instead of those that the cases name: one that was fitted
    #[arg(long, value_name = "HARDWARE", requires = "cases", conflicts_with = "record")]
    on: Option<String>,
    /// A row for each network and layer; so it is for cases that are named
    #[arg(long)]
    each: bool,
    #[command(flatten)]
    pictures: PicturesArguments,
    /// The same figures as JSON
    #[arg(long, conflicts_with_all = ["markdown", "record"])]
    json: bool,
    /// The same figures as the tables of validation/README.md
    #[arg(long, conflicts_with = "record")]
    markdown: bool,
    /// Write the errors into the case files, as what later runs are held against; without case files
    /// into the shipped ones under ./validation, and their tables into its README.md
    #[arg(long, conflicts_with = "pictures")]
    record: bool,
    /// Hold predictions against saved estimates of a compiler instead, which are no measurements
    #[arg(
        long,
        value_name = "TOOL",
        requires_all = ["runs", "models"],
        conflicts_with_all = ["cases", "each", "markdown", "pictures", "record"]
    )]
    against: Option<Peer>,
    /// The folder of its runs, each a folder with per-layer.csv, summary.csv and, of one run of a network
    /// at least, the schedule as schedule.csv
    #[arg(long, value_name = "FOLDER", requires = "against")]
    runs: Option<PathBuf>,
    /// The folder of the models that the runs are of, as `.tflite` files
    #[arg(long, value_name = "FOLDER", requires = "against")]
    models: Option<PathBuf>,
}

/// A protocol by its name.
#[derive(Debug, Clone, Copy)]
struct Named(Protocol);

impl ValueEnum for Named {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [Named; 7] = {
            let mut named = [Named(Protocol::Uncalibrated); 7];
            let mut at = 0;
            while at < named.len() {
                named[at] = Named(Protocol::ALL[at]);
                at += 1;
            }
            named
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.had()))
    }
}

impl Validate {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        if let (Some(Peer::Vela), Some(runs), Some(models)) =
            (self.against, &self.runs, &self.models)
        {
            let against = against_vela(runs, models)?;
            return Ok(match self.json {
                true => Answer::json(&json::against(&against), true),
                false => Answer::yes(against_markdown(&against)),
            });
        }
        if self.record {
            return self.record();
        }
        self.pictures.check()?;
        let own = self.calibration.as_deref().map(Gathered::load).transpose()?;
        let cases: Vec<Case> = if let Some(own) = &own {
            own.cases.clone()
        } else if self.cases.is_empty() {
            let shipped = shipped_cases().iter().map(|c| Case::parse(c.path, c.text));
            shipped.collect::<Result<_, _>>()?
        } else {
            let on = self.on.as_deref();
            self.cases.iter().map(|path| Case::load_on(path, on)).collect::<Result<_, _>>()?
        };
        let notes: Vec<&str> = cases.iter().flat_map(Case::notes).collect();
        let comparisons = validate_all(&cases)?;
        let scored = self.scored(&comparisons, own)?;
        let said = self.pictures.write(|dark, folder| write_held_out(&scored, dark, folder))?;
        let worse = self.worse(&comparisons, &scored);
        let good = worse.is_empty();
        if self.json {
            return Ok(Answer::json(&json::validate(&comparisons, &scored, &notes), good));
        }
        if self.markdown {
            return Ok(Answer { text: comparison_markdown(&cases, &comparisons, &scored), good });
        }
        let every = self.each || !self.cases.is_empty();
        let mut text = match every {
            true => comparison_table(&comparisons, Rows::Each),
            false => comparison_table(&comparisons, Rows::None),
        };
        if !scored.is_empty() {
            text.push_str(&protocols_text(&scored));
        }
        for own in &worse {
            text.push_str(&format!(
                "WORSE: {}: {:+.1} %, recorded {:+.1} %\n",
                own.what,
                own.now * 100.0,
                own.recorded * 100.0
            ));
        }
        text.push_str(&notes_text(&notes));
        Ok(Answer { text: text + &said, good })
    }

    /// Predictions under the protocols asked for; of named cases only as their profiles stand.
    fn scored(
        &self,
        comparisons: &[Comparison],
        own: Option<Gathered>,
    ) -> Result<Vec<Scored>, CliError> {
        if !self.cases.is_empty() {
            // Tables of named cases show each prediction; only pictures need them again.
            let stand = |c: &Comparison| Scored::uncalibrated(c, &c.hardware);
            return Ok(match self.pictures.wanted() {
                true => comparisons.iter().map(stand).collect(),
                false => Vec::new(),
            });
        }
        let wanted: Vec<Protocol> = match self.protocol.as_slice() {
            [] => Protocol::ALL.to_vec(),
            named => named.iter().map(|named| named.0).collect(),
        };
        let all = match own {
            Some(own) => vec![own],
            None => shipped_gathered()?,
        };
        predicted(&all, &wanted, comparisons)
    }

    /// What is worse than recorded. Of a calibration of one's own nothing is.
    fn worse(&self, comparisons: &[Comparison], scored: &[Scored]) -> Vec<Worsened> {
        let own = comparisons.iter().filter(|c| c.worse).map(|c| Worsened {
            what: format!("{} {}", c.id, c.quantity),
            recorded: c.recorded_error.unwrap_or(0.0),
            now: c.relative_error,
        });
        let mut worse: Vec<Worsened> = own.collect();
        if self.calibration.is_none() {
            worse.extend(worsened(scored, &recorded_hold_outs()));
        }
        worse
    }

    fn record(&self) -> Result<Answer, CliError> {
        let shipped = shipped_cases().iter().map(|c| c.path.to_owned());
        let paths = if self.cases.is_empty() { shipped.collect() } else { self.cases.clone() };
        let (mut cases, mut comparisons, mut said) = (Vec::new(), Vec::new(), String::new());
        for path in &paths {
            let (case, made, changed) = record(path)?;
            if changed {
                said.push_str(&format!("{path}: recorded anew\n"));
            }
            cases.push(case);
            comparisons.extend(made);
        }
        if self.cases.is_empty() {
            let all = predicted(&shipped_gathered()?, &Protocol::ALL, &comparisons)?;
            said.push_str(&record_hold_outs(&cases, &comparisons, all)?);
        }
        said.push_str(&format!("{} figures of {} cases\n", comparisons.len(), paths.len()));
        Ok(Answer::yes(said))
    }
}

fn shipped_gathered() -> Result<Vec<Gathered>, CliError> {
    let gathered = shipped_calibrations().iter().map(ShippedCalibration::gathered);
    Ok(gathered.collect::<Result<_, _>>()?)
}

/// Predictions under some protocols; those of profiles as they stand from comparisons.
fn predicted(
    all: &[Gathered],
    wanted: &[Protocol],
    comparisons: &[Comparison],
) -> Result<Vec<Scored>, CliError> {
    let mut scored = Vec::new();
    for gathered in all {
        scored.extend(held_out(gathered, wanted)?);
    }
    if wanted.contains(&Protocol::Uncalibrated) {
        scored.extend(as_they_stand(all, comparisons));
    }
    Ok(scored)
}

/// Writes hold-outs, and the tables of all predictions.
fn record_hold_outs(
    cases: &[Case],
    comparisons: &[Comparison],
    predictions: Vec<Scored>,
) -> Result<String, CliError> {
    // Tables are of what is written, digit by digit.
    let mut written = parsed_hold_outs(&held_out_csv(&predictions));
    write_file(Path::new(HELD_OUT_FILE), held_out_csv(&written))?;
    written.extend(predictions.into_iter().filter(|p| p.protocol == Protocol::Uncalibrated));
    let tables = comparison_markdown(cases, comparisons, &written);
    let readme = read(README)?;
    let text = with_tables(&readme, &tables)
        .ok_or_else(|| CliError::NoMark { path: README.to_owned() })?;
    write_file(Path::new(README), &text)?;
    Ok(format!("{HELD_OUT_FILE}: written\n{README}: tables written\n"))
}

fn read(path: &str) -> Result<String, CaseError> {
    std::fs::read_to_string(path)
        .map_err(|source| CaseError::Read { path: path.to_owned(), source })
}

/// Records the errors of one case file, and says whether that changed it.
fn record(path: &str) -> Result<(Case, Vec<Comparison>, bool), CliError> {
    let text = read(path)?;
    let case = Case::read(path, &text)?;
    let comparisons = validate(&case)?;
    let made = recorded(&text, &comparisons)
        .ok_or_else(|| CliError::NotRecorded { path: path.to_owned() })?;
    if made != text {
        write_file(Path::new(path), &made)?;
    }
    Ok((case, comparisons, made != text))
}
