//! A layer on one engine: its cost, what it moves and the phases that makes.

use super::ahead::Early;
use super::duration::slowest;
use super::flows::Kept;
use super::memory::MemoryPlan;
use super::place::Price;
use super::plan::{Phase, Transfer};
use super::traffic::{Traffic, phases};
use crate::cost::{Cost, Setting, executed_on};
use crate::model::Layer;
use crate::units::{Joules, Seconds};
use std::cell::Cell;

/// A layer on an engine.
#[derive(Clone)]
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
    price: Cell<Option<Price>>,
}

impl Candidate {
    /// The layer at a known cost.
    pub(super) fn costed(
        layer: &Layer,
        engine: usize,
        cost: Cost,
        homes: &MemoryPlan,
        kept: Option<&Kept>,
        setting: Setting<'_>,
    ) -> Self {
        let work = executed_on(&layer.work, engine, setting);
        let traffic = Traffic::of(&work, &cost, engine, homes, kept, setting);
        let how = setting.profile.spec().engines[engine].transfers;
        let (phases, overflows) = (phases(&cost, &traffic, how), traffic.overflows);
        let keeps = kept.is_some_and(|kept| kept.output);
        let (early, traffic) = (traffic.early, traffic.total());
        let price = Cell::new(None);
        Self { engine, cost, traffic, phases, overflows, keeps, early, price }
    }

    /// Its time and energy, worked out once.
    pub(super) fn price(&self, setting: Setting<'_>) -> Price {
        if let Some(known) = self.price.get() {
            return known;
        }
        let alone = |phase: &Phase| {
            let hidden = self.early.map(|early| early.come(phase, setting));
            slowest(hidden.as_ref().unwrap_or(phase), self.engine, setting, |_| {}).total
        };
        let time: Seconds = self.phases.iter().map(alone).sum();
        let moved: Joules = self.traffic.iter().map(|t| t.energy).sum();
        let energy = self.cost.energy + self.cost.dispatch_energy + moved;
        let price = Price { time: time.0, energy: energy.0 };
        self.price.set(Some(price));
        price
    }
}
