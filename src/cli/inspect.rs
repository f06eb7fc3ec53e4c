//! `inspect`: what is in this network?

use super::target::ModelArgument;
use super::{Answer, CliError};
use crate::mapping::Network;
use crate::report::{inspect_text, json};
use clap::Args;

/// Arguments of `inspect`.
#[derive(Debug, Args)]
pub(super) struct Inspect {
    #[command(flatten)]
    model: ModelArgument,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        let graph = self.model.load()?;
        let network = Network::of(&graph)?;
        let live = graph.live_activation_bytes();
        Ok(if self.json {
            Answer::json(&json::inspect(&graph, &network, &live), true)
        } else {
            Answer::yes(inspect_text(&graph, &network, &live))
        })
    }
}
