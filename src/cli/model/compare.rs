//! `model compare`: variants side by side, against the first, under a demand on quality.

use crate::cli::{Answer, CliError};
use crate::model::{Bindings, Demand, Variant, load};
use crate::report::{json, variants_table};
use clap::Args;

/// Arguments of `model compare`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Compare {
    /// Shipped names or files; the first is what the others are held against
    #[arg(required = true, num_args = 1.., value_name = "MODEL")]
    models: Vec<String>,
    /// Least quality, of a metric or of a slice of it (`accuracy/night=0.75`); a model without the
    /// figure does not meet it
    #[arg(long, value_name = "METRIC[/SLICE]=VALUE", value_parser = Demand::parse)]
    at_least: Vec<Demand>,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

impl Compare {
    /// The answer is no when a demand is made and no model meets all of them.
    pub(in crate::cli) fn run(&self) -> Result<Answer, CliError> {
        let none = Bindings::default();
        let mut variants = Vec::with_capacity(self.models.len());
        for model in &self.models {
            variants.push(Variant::of(model, &load(model, &none)?, &self.at_least)?);
        }
        let good = variants.iter().any(Variant::is_good_enough);
        Ok(if self.json {
            Answer::json(&json::variants(&variants, &self.at_least), good)
        } else {
            Answer { text: variants_table(&variants, &self.at_least), good }
        })
    }
}
