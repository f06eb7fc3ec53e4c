//! Steps that a plan has again: what one adds to a sum is added once more, number by number, so that sums are
//! those of working each out.

use super::total::LayerEstimate;
use crate::cost::Mixing;
use crate::evidence::{Coverage, Kind};
use crate::mapping::Step;
use crate::units::{Coulombs, Joules, Seconds};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// What a step adds to the sums.
#[derive(Debug, Default)]
pub(super) struct Added {
    /// Time of each phase, and what it rests on.
    pub(super) phases: Vec<(Kind, f64)>,
    /// Charge of each rail in each phase that takes time.
    pub(super) charges: Vec<Coulombs>,
    /// Energy by what it rests on.
    pub(super) evidence: Coverage,
    /// Time and energy.
    pub(super) totals: (Seconds, Joules),
}

/// Steps so far that differ, with what they add.
#[derive(Debug, Default)]
pub(super) struct Repeats<'a> {
    steps: Vec<(&'a Step, Added)>,
    places: HashMap<[u64; 4], Vec<usize>, BuildHasherDefault<Mixing>>,
}

impl<'a> Repeats<'a> {
    /// What a step like this one added, and its place among those that differ.
    pub(super) fn find(&self, step: &Step) -> Option<(&Added, usize)> {
        let places = self.places.get(&key(step))?;
        let mut known = places.iter().filter_map(|at| Some((self.steps.get(*at)?, *at)));
        let ((_, added), place) = known.find(|((own, _), _)| are_alike(own, step))?;
        Some((added, place))
    }

    /// Remembers a step.
    pub(super) fn keep(&mut self, step: &'a Step, added: Added) {
        self.places.entry(key(step)).or_default().push(self.steps.len());
        self.steps.push((step, added));
    }
}

fn key(step: &Step) -> [u64; 4] {
    let moved = step.traffic.first().map_or(0, |own| own.energy.0.to_bits());
    let (compute, energy) = (step.cost.compute.0.to_bits(), step.cost.energy.0.to_bits());
    [step.engine as u64, compute, energy, moved]
}

/// True where steps cost and move the same.
fn are_alike(one: &Step, other: &Step) -> bool {
    one.engine == other.engine
        && one.cost == other.cost
        && one.traffic == other.traffic
        && one.phases == other.phases
}

/// The estimate of a step from that of one alike.
pub(super) fn again(step: &Step, known: &LayerEstimate) -> LayerEstimate {
    LayerEstimate {
        layer: step.layer,
        name: step.name.clone(),
        kind: step.kind,
        macs: step.macs,
        element_ops: step.element_ops,
        keeps_result: step.keeps_result,
        traffic: known.traffic.clone(),
        by_component: known.by_component.clone(),
        ..*known
    }
}
