//! `validate`: predicted against measured.

use super::{Answer, CliError};
use crate::calibrate::{Case, shipped_cases, validate};
use crate::report::{comparison_table, json};
use clap::Args;

/// Arguments of `validate`.
#[derive(Debug, Args)]
pub(super) struct Validate {
    /// Case files; all shipped cases when left out
    cases: Vec<String>,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

impl Validate {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        let cases: Vec<Case> = if self.cases.is_empty() {
            let shipped = shipped_cases().iter().map(|c| Case::parse(c.path, c.text));
            shipped.collect::<Result<_, _>>()?
        } else {
            self.cases.iter().map(|path| Case::load(path)).collect::<Result<_, _>>()?
        };
        let mut comparisons = Vec::new();
        for case in &cases {
            comparisons.extend(validate(case)?);
        }
        let worse: Vec<_> = comparisons.iter().filter(|c| c.worse).collect();
        let good = worse.is_empty();
        if self.json {
            return Ok(Answer::json(&json::validate(&comparisons), good));
        }
        let mut text = comparison_table(&comparisons);
        for c in &worse {
            let recorded = c.recorded_error.unwrap_or(0.0) * 100.0;
            let now = c.relative_error * 100.0;
            text.push_str(&format!(
                "WORSE: {} {}: error {now:+.1} %, recorded {recorded:+.1} %\n",
                c.id, c.quantity
            ));
        }
        Ok(Answer { text, good })
    }
}
