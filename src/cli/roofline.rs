//! `roofline`: which roof each layer stands under.

use super::inspect::picture;
use super::target::{Prepared, Target};
use super::{Answer, CliError};
use crate::diagnostic::nearest;
use crate::estimate::estimate;
use crate::estimate::roofline::{Roofline, roofline};
use crate::mapping::import::Imported;
use crate::report::plot::{self, PlotError};
use crate::report::{Prediction, Roofs, json, roofline_text, write_file_with};
use crate::sim::SimError;
use crate::uncertainty::{linearised_of, roof_bands};
use clap::Args;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Arguments of `roofline`.
#[derive(Debug, Args)]
pub(super) struct RooflineArguments {
    #[command(flatten)]
    target: Target,
    /// One memory, cache or link alone; all that bytes pass when left out
    #[arg(long, value_name = "NAME")]
    level: Option<String>,
    /// Operations a joule instead of operations a second
    #[arg(long)]
    energy: bool,
    /// Draw it, as a .png or .svg file
    #[arg(long, value_name = "FILE", value_parser = picture)]
    out: Option<PathBuf>,
    /// The same figures as JSON
    #[arg(long)]
    json: bool,
}

impl RooflineArguments {
    pub(super) fn run(&self) -> Result<Answer, CliError> {
        let prepared = self.target.prepare()?;
        let (network, setting) = (&prepared.network, prepared.setting());
        let plan = prepared.plan(setting);
        if plan.steps.iter().all(|s| s.phases.is_empty()) {
            return Err(SimError::nothing(&plan).into());
        }
        let estimate = estimate(&plan, setting);
        SimError::unless_finite(&plan, estimate.latency, estimate.energy)?;
        let mut roofline = roofline(&plan, &estimate, setting);
        let level = self.channel(&roofline, &prepared)?;
        if let Some(channel) = level {
            roofline = roofline.at_level(channel);
        }
        let bands = roof_bands(network, &roofline, setting);
        let uncertainty = linearised_of(setting, |setting| prepared.plan(setting));
        let evidence = &estimate.energy_coverage;
        let mut prediction =
            Prediction::new(network, setting, &plan, &estimate, &uncertainty, evidence)
                .with_software(self.target.software.as_deref());
        prediction.caveats.splice(0..0, prepared.imported.as_ref().map(Imported::caveat));
        let roofs = Roofs {
            prediction: &prediction,
            roofline: &roofline,
            bands: &bands,
            energy: self.energy,
            level,
        };
        let mut written = String::new();
        if let Some(path) = &self.out {
            draw(&roofs, path)?;
            written = format!("the roofline is drawn in {}\n", path.display());
        }
        Ok(if self.json {
            Answer::json(&json::roofline(&roofs), true)
        } else {
            Answer::yes(roofline_text(&roofs) + &written)
        })
    }

    /// The channel that `--level` names.
    fn channel(&self, roofline: &Roofline, on: &Prepared) -> Result<Option<usize>, CliError> {
        let Some(wanted) = &self.level else { return Ok(None) };
        let levels = roofline.engines.iter().flat_map(|engine| &engine.levels);
        let channels: BTreeSet<usize> = levels.map(|level| level.channel).collect();
        let name = |channel: &usize| on.profile.channel_name(*channel);
        if let Some(found) = channels.iter().find(|channel| name(channel) == wanted) {
            return Ok(Some(*found));
        }
        let known: Vec<&str> = channels.iter().map(name).collect();
        Err(CliError::NoLevel {
            name: wanted.clone(),
            network: on.network.name.clone(),
            nearest: nearest(wanted, known.iter().copied()).map(str::to_owned),
            known: known.join(", "),
        })
    }
}

fn draw(roofs: &Roofs<'_>, path: &Path) -> Result<(), CliError> {
    let at_path = |error: PlotError| CliError::from(error.at(path));
    write_file_with(path, |staged| plot::roofline(roofs, staged).map_err(at_path))
}
