//! `scenario`: which scenarios ship, and what closed forms say of one.

use super::{Answer, CliError};
use crate::report::{json, scenario_check_text, scenario_list_table};
use crate::sim::scenario::{check, list};
use clap::Subcommand;

/// Verbs on scenarios.
#[derive(Debug, Subcommand)]
pub(super) enum Scenario {
    /// Scenarios that ship
    List {
        /// The same as JSON
        #[arg(long)]
        json: bool,
    },
    /// All faults of a scenario together; of a sound one how long inferences take, how busy engines will
    /// be, from when on rest pays, and what will not go as it is asked
    Check {
        /// A shipped name or a .ron file
        scenario: String,
        /// The same figures as JSON
        #[arg(long)]
        json: bool,
    },
}

impl Scenario {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        match self {
            Self::List { json: true } => Ok(Answer::json(&json::scenario_list(&list()), true)),
            Self::List { json: false } => Ok(Answer::yes(scenario_list_table(&list()))),
            Self::Check { scenario, json } => {
                let (scenario, outlook) = check(scenario)?;
                // A warning is no fault: a run shows what happens.
                Ok(if *json {
                    Answer::json(&json::scenario_check(&scenario, &outlook), true)
                } else {
                    Answer::yes(scenario_check_text(&scenario, &outlook))
                })
            }
        }
    }
}
