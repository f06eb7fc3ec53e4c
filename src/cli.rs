//! The command line: arguments in, text or JSON out, exit codes.
//!
//! Exit code 0 is done, 1 the answer is no (a check failed), 2 bad input or usage, 3 a fault of the
//! program. Errors go to stderr.

mod align;
mod calibrate;
mod capture;
mod convert;
mod error;
mod estimate;
mod fold;
mod hardware;
mod inspect;
mod measurement;
mod model;
mod pictures;
mod plot;
mod record;
mod repeat;
mod roofline;
mod run;
mod scenario;
mod stats;
mod table;
mod target;
mod transformer;
mod transforms;
mod validate;

pub use error::CliError;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::io::Write;
use std::process::ExitCode;

/// Predicts the energy trace of a neural network on hardware that may not exist yet, and says how
/// sure it is.
#[derive(Debug, Parser)]
#[command(name = "joulecast", version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// What is in this network: layers, work, memory
    Inspect(inspect::Inspect),
    /// Analytical: time, energy, utilisation and what binds, by layer
    Estimate(estimate::EstimateArguments),
    /// Which roof each layer stands under, in time or in energy
    Roofline(roofline::RooflineArguments),
    /// Simulate a scenario, or a model on hardware: trace, metrics, pictures
    Run(Box<run::RunArguments>),
    /// Energy, mean, peak, gaps and windows of any trace, simulated or captured
    Stats(stats::StatsArguments),
    /// Any capture, or the trace of a run, as CSV, Parquet or Perfetto
    Convert(convert::ConvertArguments),
    /// What did I measure?
    #[command(subcommand)]
    Capture(capture::Capture),
    /// Pictures of a capture or a trace
    #[command(subcommand)]
    Plot(plot::Plot),
    /// Fit profiles to measurements, and say how sure the result is
    Calibrate(calibrate::Calibrate),
    /// Predicted against measured
    Validate(validate::Validate),
    /// What hardware ships, how well founded it is, and whether yours is sound
    #[command(subcommand)]
    Hardware(hardware::Hardware),
    /// Which scenarios ship, and what can be said of one before it runs
    #[command(subcommand)]
    Scenario(scenario::Scenario),
    /// Which models ship, and how to bring yours
    #[command(subcommand)]
    Model(model::Model),
}

/// What a verb has to say.
pub(crate) struct Answer {
    text: String,
    /// False when the answer is no.
    good: bool,
}

impl Answer {
    fn yes(text: String) -> Self {
        Self { text, good: true }
    }

    /// A document as JSON.
    fn json(document: &impl serde::Serialize, good: bool) -> Self {
        // Only maps whose keys are no text fail, and no document has one.
        let text = serde_json::to_string_pretty(document).unwrap_or_default();
        Self { text: text + "\n", good }
    }
}

/// Parses the arguments of the process, runs the verb, prints.
pub fn main() -> ExitCode {
    let matches = Arguments::command().get_matches();
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let answer = match arguments.verb {
        Verb::Inspect(a) => a.run(),
        Verb::Estimate(a) => a.run(),
        Verb::Roofline(a) => a.run(),
        Verb::Run(a) => a.run(matches.subcommand_matches("run")),
        Verb::Stats(a) => a.run(),
        Verb::Convert(a) => a.run(),
        Verb::Capture(a) => a.run(),
        Verb::Plot(a) => a.run(),
        Verb::Calibrate(a) => a.run(),
        Verb::Validate(a) => a.run(),
        Verb::Hardware(a) => a.run(),
        Verb::Scenario(a) => a.run(),
        Verb::Model(a) => a.run(),
    };
    match answer {
        Ok(answer) => {
            // A reader that has seen enough (`| head`) is no failure.
            match std::io::stdout().lock().write_all(answer.text.as_bytes()) {
                Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => ExitCode::from(3),
                _ => ExitCode::from(u8::from(!answer.good)),
            }
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr().lock(), "{}", error.shown());
            ExitCode::from(error.code())
        }
    }
}
