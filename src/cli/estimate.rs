//! `estimate`: time and energy by layer, analytically.

use super::target::{Prepared, Target};
use super::{Answer, CliError};
use crate::estimate::{Advice, By, Estimate, Subject, advise, estimate, junction, rail_peaks};
use crate::mapping::plan;
use crate::report::{LayerView, Prediction, advice_text, estimate_text, json};
use crate::sim::SimError;
use crate::uncertainty::{linearised, sampled};
use clap::{Args, ValueEnum};

/// Arguments of `estimate`.
#[derive(Debug, Args)]
pub(super) struct EstimateArguments {
    #[command(flatten)]
    target: Target,
    /// Draw this many profiles from the spreads and print the sampled interval too
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(20..=1_000_000))]
    samples: Option<u32>,
    /// Take layers together by kind, by engine or by what they wait for
    #[arg(long, value_name = "WHAT")]
    by: Option<Together>,
    /// Only the N layers (or groups) of most energy
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// Print the N changes that save most energy, each estimated anew
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "10", value_parser = clap::value_parser!(u32).range(1..))]
    advice: Option<u32>,
    /// Seed of the draws
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

/// What layers are taken together by.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Together {
    /// Kind of operator
    Kind,
    /// Engine
    Engine,
    /// What they wait for
    Bound,
}

impl From<Together> for By {
    fn from(together: Together) -> Self {
        match together {
            Together::Kind => Self::Kind,
            Together::Engine => Self::Engine,
            Together::Bound => Self::Bound,
        }
    }
}

impl EstimateArguments {
    /// The advice that is asked for.
    fn advice(&self, prepared: &Prepared, estimate: &Estimate) -> Option<Vec<Advice>> {
        let count = usize::try_from(self.advice?).unwrap_or(usize::MAX);
        let (graph, network, setting) = (&prepared.graph, &prepared.network, prepared.setting());
        let mut found = advise(&Subject { graph, network, setting, estimate });
        found.truncate(count);
        Some(found)
    }

    pub(super) fn run(&self) -> Result<Answer, CliError> {
        let prepared = self.target.prepare()?;
        let (network, setting) = (&prepared.network, prepared.setting());
        let plan = plan(network, setting);
        if plan.steps.iter().all(|s| s.phases.is_empty()) {
            return Err(SimError::nothing(&plan).into());
        }
        let estimate = estimate(&plan, setting);
        SimError::unless_finite(&plan, estimate.latency, estimate.energy)?;
        let uncertainty = linearised(network, setting);
        let sampled = self.samples.and_then(|n| sampled(network, setting, n, self.seed));
        let evidence = &estimate.energy_coverage;
        let prediction =
            Prediction::new(network, setting, &plan, &estimate, &uncertainty, evidence)
                .with_software(self.target.software.as_deref())
                .with_limits(rail_peaks(&plan, setting), junction(&estimate, setting));
        let advice = self.advice(&prepared, &estimate);
        let view = LayerView {
            by: self.by.map(By::from),
            top: self.top.and_then(|count| usize::try_from(count).ok()),
        };
        Ok(if self.json {
            let mut document = json::estimate(&prediction, view, sampled.as_ref());
            json::add_advice(&mut document, &prediction, advice.as_deref());
            Answer::json(&document, true)
        } else {
            let text = estimate_text(&prediction, view, sampled.as_ref());
            Answer::yes(text + &advice.map_or_else(String::new, |a| advice_text(&prediction, &a)))
        })
    }
}
