//! A layer on one engine: its cost, what it moves and the phases that makes.

use super::ahead::Early;
use super::duration::phase_time;
use super::flows::Kept;
use super::memory::MemoryPlan;
use super::place::Price;
use super::plan::{Phase, Transfer};
use super::traffic::{Traffic, phases};
use crate::cost::{Cost, Refusal, Setting, cost, executed_on};
use crate::model::Layer;
use crate::units::{Joules, Seconds};

/// A layer on an engine.
pub(super) struct Candidate {
    pub(super) engine: usize,
    pub(super) cost: Cost,
    pub(super) traffic: Vec<Transfer>,
    pub(super) phases: Vec<Phase>,
    /// True where not even the smallest tile fits the buffers.
    pub(super) overflows: bool,
    /// True where the result stays in a buffer for the next layer.
    pub(super) keeps: bool,
    /// Weights that may come ahead.
    pub(super) early: Option<Early>,
}

impl Candidate {
    pub(super) fn of(
        layer: &Layer,
        engine: usize,
        homes: &MemoryPlan,
        kept: Option<&Kept>,
        setting: Setting<'_>,
    ) -> Result<Self, Refusal> {
        let cost = cost(&layer.work, engine, setting)?;
        let work = executed_on(&layer.work, engine, setting);
        let traffic = Traffic::of(&work, &cost, engine, homes, kept, setting);
        let how = setting.profile.spec().engines[engine].transfers;
        let (phases, overflows) = (phases(&cost, &traffic, how), traffic.overflows);
        let keeps = kept.is_some_and(|kept| kept.output);
        let (early, traffic) = (traffic.early, traffic.total());
        Ok(Self { engine, cost, traffic, phases, overflows, keeps, early })
    }

    pub(super) fn price(&self, setting: Setting<'_>) -> Price {
        let times = self.phases.iter().map(|phase| phase_time(phase, self.engine, setting).total);
        let time: Seconds = times.sum();
        let moved: Joules = self.traffic.iter().map(|t| t.energy).sum();
        let energy = self.cost.energy + self.cost.dispatch_energy + moved;
        Price { time: time.0, energy: energy.0 }
    }
}
