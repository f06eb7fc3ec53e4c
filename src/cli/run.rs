//! `run`: simulate, print, and leave a folder of trace and pictures.

mod interrupt;
mod network;
mod progress;
mod scenario;
mod subject;

use super::target::Target;
use super::{Answer, CliError};
use crate::sim::scenario::Fidelity;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, ValueEnum};
use std::path::PathBuf;
use subject::Subject;

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(mut_arg("model", |arg| arg
    .value_name("SCENARIO|MODEL")
    .help("A scenario: the name of a shipped one, or a .ron file. With --on, a model: a .ron, .tflite or .onnx file, a transformer's .json configuration, or the name of a shipped one")))]
#[command(mut_arg("on", |arg| arg
    .required(false)
    .help("Hardware that a model runs on: a shipped name or a .ron file. A scenario names its own")))]
pub(super) struct RunArguments {
    #[command(flatten)]
    target: Target,
    /// Folder for trace, pictures and metrics; appears complete or not at all
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Of a model: how many inferences
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    inferences: u64,
    /// Of a model: one inference each period, such as "250 ms"; back to back when left out
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    period: Option<String>,
    /// Of a model: state that domains wait in between inferences: one of the profile's, or `on`; each
    /// domain's first state when left out. A run starts in it
    #[arg(long, value_name = "STATE")]
    idle: Option<String>,
    /// Of a model: inferences to keep in the trace; totals are always of all
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    trace_inferences: u64,
    /// Of a scenario: what makes all that is random, instead of the file's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Of a scenario: how finely inferences are simulated, instead of the file's
    #[arg(long, value_enum, value_name = "HOW")]
    fidelity: Option<Finely>,
    /// Of a scenario: stop after so many events with what is known so far; exit code 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_events: Option<u64>,
    /// Of a scenario: how much of the run, from its start, the trace holds, such as "10 s"; about 10 MB when
    /// left out. Totals are always of all
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    trace_time: Option<String>,
    /// Of a scenario: write the whole state of the run at this moment, such as "2 h", to snapshot.json in
    /// the folder of --out
    #[arg(long, value_name = "TIME", requires = "out", allow_hyphen_values = true)]
    snapshot_at: Option<String>,
    /// Of a scenario: go on from a snapshot instead of from the start. Policies (when domains rest,
    /// priorities, deadlines, batches, queues, the end) may differ from those of the run that wrote it
    #[arg(long, value_name = "FILE", conflicts_with = "seed")]
    resume: Option<PathBuf>,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

/// How finely inferences are simulated.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Finely {
    /// Each layer is one segment
    Layer,
    /// Filling, steady work and draining are apart
    Phase,
    /// Each group of tiles has its own events
    Tile,
}

impl From<Finely> for Fidelity {
    fn from(finely: Finely) -> Self {
        match finely {
            Finely::Layer => Self::Layer,
            Finely::Phase => Self::Phase,
            Finely::Tile => Self::Tile,
        }
    }
}

impl RunArguments {
    /// `matches` tell which options were given.
    pub(super) fn run(&self, matches: Option<&ArgMatches>) -> Result<Answer, CliError> {
        let given = matches.map(given).unwrap_or_default();
        let name = &self.target.model.model;
        match subject::of(name, self.target.on.as_deref())? {
            Subject::Scenario => {
                subject::refuse(&given, subject::of_models_alone)?;
                self.run_scenario(name)
            }
            Subject::Model => {
                subject::refuse(&given, subject::of_scenarios_alone)?;
                self.run_network()
            }
        }
    }
}

/// Options that stand on the command line: each with its id, and as it is written.
fn given(matches: &ArgMatches) -> Vec<(String, String)> {
    let command = super::Arguments::command();
    let Some(run) = command.find_subcommand("run") else { return Vec::new() };
    let on_the_line = |id: &str| {
        matches.try_contains_id(id).is_ok()
            && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    let named = run.get_arguments().filter(|own| on_the_line(own.get_id().as_str()));
    named.filter_map(|own| Some((own.get_id().to_string(), own.get_long()?.to_owned()))).collect()
}
