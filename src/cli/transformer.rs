//! Arguments that only a transformer configuration understands.

use crate::model::{ElementType, Options, Pass, WeightFormat};
use clap::{Args, ValueEnum};

const HEADING: &str = "Transformer configurations";

/// Which pass of a transformer, and how its filters are stored.
#[derive(Debug, Args)]
pub(super) struct TransformerArguments {
    /// One pass of N tokens, none before them
    #[arg(long, help_heading = HEADING, value_name = "N", conflicts_with = "decode")]
    prefill: Option<u64>,
    /// One token that attends to C keys in the cache, its own among them
    #[arg(long, help_heading = HEADING, value_name = "C")]
    decode: Option<u64>,
    /// Store the filters inside of layers in fewer bits than are computed in
    #[arg(long, help_heading = HEADING, value_name = "TYPE")]
    weights: Option<Weights>,
    /// Weights that share a scale; all of an output when left out
    #[arg(long, help_heading = HEADING, value_name = "N", requires = "weights")]
    weight_group: Option<u64>,
}

/// Types that filters can be stored in.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "PascalCase")]
enum Weights {
    Int4,
    Int8,
}

impl TransformerArguments {
    /// Adds what was asked.
    pub(super) fn ask(&self, options: &mut Options) {
        let prefill = self.prefill.map(Pass::Prefill);
        options.pass = prefill.or(self.decode.map(Pass::Decode));
        options.weights = self.weights.map(|weights| WeightFormat {
            element: match weights {
                Weights::Int4 => ElementType::Int4,
                Weights::Int8 => ElementType::Int8,
            },
            group: self.weight_group,
        });
    }
}
