//! `estimate`: time and energy by layer, analytically.

use super::target::Target;
use super::{Answer, CliError};
use crate::cost::Setting;
use crate::estimate::{estimate, junction, rail_peaks};
use crate::mapping::import::Imported;
use crate::report::{Prediction, estimate_text, json};
use crate::sim::SimError;
use crate::uncertainty::{linearised_of, sampled_of};
use clap::Args;

/// Arguments of `estimate`.
#[derive(Debug, Args)]
pub(super) struct EstimateArguments {
    #[command(flatten)]
    target: Target,
    /// Draw this many profiles from the spreads and print the sampled interval too
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(20..=1_000_000))]
    samples: Option<u32>,
    /// Seed of the draws
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

impl EstimateArguments {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        let prepared = self.target.prepare()?;
        let (network, setting) = (&prepared.network, prepared.setting());
        let plan = prepared.plan(setting);
        if plan.steps.iter().all(|s| s.phases.is_empty()) {
            return Err(SimError::nothing(&plan).into());
        }
        let estimate = estimate(&plan, setting);
        SimError::unless_finite(&plan, estimate.latency, estimate.energy)?;
        let uncertainty = linearised_of(setting, |setting| prepared.plan(setting));
        let planned = |setting: Setting<'_>| prepared.plan(setting);
        let sampled = self.samples.and_then(|n| sampled_of(planned, setting, n, self.seed));
        let evidence = &estimate.energy_coverage;
        let mut prediction =
            Prediction::new(network, setting, &plan, &estimate, &uncertainty, evidence)
                .with_software(self.target.software.as_deref())
                .with_limits(rail_peaks(&plan, setting), junction(&estimate, setting));
        prediction.caveats.splice(0..0, prepared.imported.as_ref().map(Imported::caveat));
        Ok(if self.json {
            Answer::json(&json::estimate(&prediction, sampled.as_ref()), true)
        } else {
            Answer::yes(estimate_text(&prediction, sampled.as_ref()))
        })
    }
}
