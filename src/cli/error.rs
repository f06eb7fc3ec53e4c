//! Errors of all rooms, as a user sees them.

use crate::calibrate::fit::FitError;
use crate::calibrate::{AgainstError, CalibrationError, CaseError, FittedError, ValidationError};
use crate::capture::{AssignFault, FoldFault};
use crate::formats::FormatError;
use crate::hardware::HardwareError;
use crate::mapping::MappingError;
use crate::mapping::import::ImportError;
use crate::model::ModelError;
use crate::report::plot::PlotError;
use crate::report::{ConvertError, FolderError, PicturesError, RunFolderError};
use crate::sim::kernel::KernelError;
use crate::sim::scenario::ScenarioError;
use crate::sim::{SimError, SnapshotError};
use crate::trace::InstrumentFault;
use crate::units::LiteralError;
use std::path::PathBuf;

/// Why a verb gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The profile.
    #[error(transparent)]
    Hardware(#[from] HardwareError),
    /// The mapping.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// A table of another tool.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The simulation.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// A scenario.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A model without hardware.
    #[error(
        "`{name}` is no scenario, and a model runs on something\nhelp: --on HARDWARE names it (`joulecast hardware list`); scenarios name theirs (`joulecast scenario list`)"
    )]
    NoHardware {
        /// The name as given.
        name: String,
    },
    /// A file that is not there.
    #[error(
        "cannot read {name}: no such file\nhelp: a scenario is a .ron file, or one of `joulecast scenario list`; a model also takes --on HARDWARE"
    )]
    NoFileToRun {
        /// The path as given.
        name: String,
    },
    /// Neither a scenario nor a model.
    #[error("no scenario and no model is called `{name}`{}\nhelp: `joulecast scenario list` and `joulecast model list` name those that ship; a model also takes --on HARDWARE", nearest_of_both(.scenario, .model))]
    NothingToRun {
        /// The name as given.
        name: String,
        /// The nearest scenario.
        scenario: Option<String>,
        /// The nearest model.
        model: Option<String>,
    },
    /// A name of two things.
    #[error(
        "`{name}` is a scenario and a model\nhelp: --on HARDWARE runs the model, the path of its file the scenario"
    )]
    BothKinds {
        /// The name as given.
        name: String,
    },
    /// Hardware for a scenario.
    #[error(
        "`{name}` is a scenario, which names its own hardware: --on {on} has no place\nhelp: leave --on out, or change `hardware` in a copy of the scenario"
    )]
    ScenarioOn {
        /// The scenario as given.
        name: String,
        /// The hardware as given.
        on: String,
    },
    /// An option that means nothing here.
    #[error("--{option} means nothing to {kind}\nhelp: {instead}")]
    OtherKind {
        /// The option.
        option: String,
        /// What is run.
        kind: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// A time that is none.
    #[error("{argument} {text}: a time above zero is expected, up to 213 days")]
    NoTime {
        /// The flag.
        argument: &'static str,
        /// The time as given.
        text: String,
    },
    /// A snapshot that cannot be read.
    #[error("cannot read the snapshot {file}: {reason}")]
    ReadSnapshot {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
    /// A snapshot that is none.
    #[error("{file}: {error}")]
    Snapshot {
        /// The file.
        file: String,
        /// What is wrong with it.
        error: SnapshotError,
    },
    /// A validation case.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// A calibration.
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    /// A fit.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A prediction of a case.
    #[error(transparent)]
    Validation(#[from] ValidationError),
    /// A comparison with the estimates of a compiler.
    #[error(transparent)]
    Against(#[from] AgainstError),
    /// The output folder of a run.
    #[error(transparent)]
    RunFolder(#[from] RunFolderError),
    /// An output file.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A capture that could not be converted.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// Windows that cannot be folded.
    #[error(transparent)]
    Fold(#[from] FoldFault),
    /// Layers that cannot be assigned to a profile.
    #[error(transparent)]
    Assign(#[from] AssignFault),
    /// A table as CSV, or a capture.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A meter that reads nothing.
    #[error(transparent)]
    Instrument(#[from] InstrumentFault),
    /// A picture.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// A model or a profile would be written over a file of another kind.
    #[error("--out {}: a {what} is written as a `.ron` file", path.display())]
    NotRon {
        /// What was to be written.
        what: &'static str,
        /// The path asked for.
        path: PathBuf,
    },
    /// What a fit says of a profile.
    #[error(transparent)]
    Fitted(#[from] FittedError),
    /// Several profiles for one file.
    #[error(
        "--out {}: {count} profiles were fitted\nhelp: a folder takes one file of each (`--out fitted`)",
        path.display()
    )]
    SeveralProfiles {
        /// The path asked for.
        path: PathBuf,
        /// How many there are.
        count: usize,
    },
    /// A file would be written over.
    #[error("{} is there already\nhelp: --force replaces it; --out FILE writes to another place", path.display())]
    There {
        /// The file.
        path: PathBuf,
    },
    /// A name that a file is not called by.
    #[error(
        "`{name}` cannot be the name of a file in this folder\nhelp: give the name of the profile alone, and its place as --out FILE"
    )]
    NoFile {
        /// The name.
        name: String,
    },
    /// A table that could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Table {
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// A level of a roofline that no byte of the network passes.
    #[error(
        "--level {name}: no byte of {network} passes a level called so{}\nhelp: bytes pass {known}",
        nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
    )]
    NoLevel {
        /// The name as given.
        name: String,
        /// The network.
        network: String,
        /// The nearest level that there is.
        nearest: Option<String>,
        /// All that there are.
        known: String,
    },
    /// A supply line that a capture does not have.
    #[error(
        "--rail {name}: no supply line is called so{}\nhelp: there are {known}",
        nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
    )]
    NoRail {
        /// The name as given.
        name: String,
        /// The nearest line that there is.
        nearest: Option<String>,
        /// All that there are.
        known: String,
    },
    /// A case whose errors have no place.
    #[error(
        "{path} has no place to record errors in: it needs a source called `recorded` with a citation, and measurements written in the file itself"
    )]
    NotRecorded {
        /// The file.
        path: String,
    },
    /// A page without the line that its tables follow.
    #[error("{path} has no line that its tables follow")]
    NoMark {
        /// The file.
        path: String,
    },
    /// An argument.
    #[error("{argument}: {error}")]
    Argument {
        /// The flag.
        argument: &'static str,
        /// What is wrong with its value.
        error: LiteralError,
    },
}

/// `; did you mean the scenario `a` or the model `b`?`
fn nearest_of_both(scenario: &Option<String>, model: &Option<String>) -> String {
    let named =
        |kind: &str, name: &Option<String>| name.as_ref().map(|n| format!("the {kind} `{n}`"));
    let near: Vec<_> =
        named("scenario", scenario).into_iter().chain(named("model", model)).collect();
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) }
}

impl From<PicturesError> for CliError {
    fn from(error: PicturesError) -> Self {
        match error {
            PicturesError::Folder(error) => error.into(),
            PicturesError::Plot(error) => error.into(),
        }
    }
}

impl CliError {
    /// The exit code: 2 for what the user can mend, 3 for what only we can.
    pub fn code(&self) -> u8 {
        match self {
            Self::Sim(SimError::Kernel(KernelError::Time(_))) => 2,
            Self::Sim(SimError::Identity(_) | SimError::Kernel(_)) => 3,
            // A full disk is the user's to mend.
            Self::RunFolder(
                RunFolderError::Plot(PlotError::Write { .. })
                | RunFolderError::Format(FormatError::Write { .. }),
            )
            | Self::Plot(
                PlotError::Write { .. }
                | PlotError::Extension { .. }
                | PlotError::Range { .. }
                | PlotError::Nothing,
            )
            | Self::Format(
                FormatError::Write { .. }
                | FormatError::Read { .. }
                | FormatError::Malformed { .. }
                | FormatError::Unreadable { .. }
                | FormatError::Unrecognised { .. }
                | FormatError::NoFormat { .. },
            ) => 2,
            Self::RunFolder(RunFolderError::Plot(_) | RunFolderError::Format(_))
            | Self::Plot(_)
            | Self::Format(_) => 3,
            _ => 2,
        }
    }

    /// The text for stderr. A report renders its own heading.
    pub(super) fn shown(&self) -> String {
        let text = self.to_string();
        if text.starts_with("error:") { text } else { format!("error: {text}") }
    }
}
