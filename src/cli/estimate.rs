//! `estimate`: time and energy by layer, analytically.

use super::inspect::picture;
use super::target::{Prepared, Target};
use super::{Answer, CliError};
use crate::estimate::{Advice, By, Estimate, Subject, advise, estimate, junction, rail_peaks};
use crate::mapping::{MemoryInUse, plan};
use crate::report::plot::{self, MemoryPicture, PlotError};
use crate::report::{
    LayerView, Prediction, advice_text, estimate_text, json, memory_text, write_file_with,
};
use crate::sim::SimError;
use crate::uncertainty::{linearised, sampled};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

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
    /// Show where tensors live too
    #[arg(long)]
    memory: bool,
    /// Draw where tensors live while each layer runs, as a .png or .svg file
    #[arg(long, value_name = "FILE", value_parser = picture)]
    memory_plan: Option<PathBuf>,
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
        if let Some(path) = &self.memory_plan {
            draw_memory(&prediction, path)?;
        }
        Ok(if self.json {
            let mut document = json::estimate(&prediction, view, sampled.as_ref());
            json::add_advice(&mut document, &prediction, advice.as_deref());
            if self.memory {
                json::add_memory(&mut document, &prediction);
            }
            Answer::json(&document, true)
        } else {
            let mut text = estimate_text(&prediction, view, sampled.as_ref());
            if let Some(advice) = &advice {
                text.push_str(&advice_text(&prediction, advice));
            }
            Answer::yes(text + &self.more(&prediction))
        })
    }

    /// What stands below the estimate.
    fn more(&self, prediction: &Prediction<'_>) -> String {
        let mut more = if self.memory { memory_text(prediction) } else { String::new() };
        if let Some(path) = &self.memory_plan {
            more.push_str(&format!("where tensors live is drawn in {}\n", path.display()));
        }
        more
    }
}

/// Draws the memory plan that most layers go by.
fn draw_memory(p: &Prediction<'_>, path: &Path) -> Result<(), CliError> {
    let spec = p.setting.profile.spec();
    let layers = |own: &MemoryInUse| {
        p.plan.steps.iter().filter(|step| own.engines.contains(&step.engine)).count()
    };
    let Some(memory) = p.plan.memory.iter().rev().max_by_key(|own| layers(own)) else {
        return Ok(());
    };
    let engines = memory.engines.iter().filter_map(|e| spec.engines.get(*e));
    let engines: Vec<_> = engines.map(|engine| engine.name.as_str()).collect();
    let title = format!("{} on {}: where tensors live", p.network.name, spec.name);
    let subtitle = format!(
        "memory of {}: tensors from the first to the last layer that they are alive at",
        engines.join(", ")
    );
    let memories: Vec<_> = spec.memories.iter().map(|memory| memory.name.as_str()).collect();
    let picture = MemoryPicture {
        network: p.network,
        memory,
        memories: &memories,
        title: &title,
        subtitle: &[subtitle],
    };
    let at_path = |error: PlotError| CliError::from(error.at(path));
    write_file_with(path, |staged| plot::memory(&picture, staged).map_err(at_path))
}
