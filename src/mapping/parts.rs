//! Batches that go through a network in parts.
//!
//! Layer by layer, the activations of all samples of a batch are alive at once, and what has no room in a
//! near memory goes out to a farther one and comes back. With the samples outermost, a part of the batch goes
//! through the whole network before the next part begins: it needs room for its own activations alone, and
//! operators are called and weights fetched once for each part. A batch of `N` samples in `N / d` parts takes
//! `N / d` times what a batch of `d` takes; all divisors `d` of `N` are tried.
//!
//! Of these ways the one is taken that makes least what the mapping makes small. A product of energy and
//! time is looked for among those ways alone that take no more of either than the samples one by one, so
//! that nobody is worse off in a batch.

use super::duration::slowest;
use super::network::Network;
use super::place::Price;
use super::plan::{Phase, Plan, Step, Transfer};
use super::planned::plan_at_once;
use super::{Directions, Objective};
use crate::cost::{Setting, standing_power};
use crate::model::{ModelError, ModelGraph, Transform, apply};
use crate::units::Watts;

/// A network for a part of its batch.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchPart {
    /// Samples of the part, which divide those of the batch.
    pub samples: u64,
    /// Such parts in the batch.
    pub parts: u64,
    /// The network of so many samples; its layers are those of the batch.
    pub network: Network,
}

impl BatchPart {
    /// The parts that the batch of a graph can be cut in, a single sample first; none of a graph that no
    /// batch was asked of.
    pub(super) fn all(
        graph: &ModelGraph,
        made: impl Fn(&ModelGraph) -> Result<Network, ModelError>,
        whole: &Network,
    ) -> Vec<Self> {
        let asked = graph.transforms.iter().rev().find_map(|record| record.transform.samples());
        let Some(batch) = asked.filter(|batch| (2..=MOST_SAMPLES).contains(batch)) else {
            return Vec::new();
        };
        let divisors = (1..batch).filter(|samples| batch.is_multiple_of(*samples));
        let parts = divisors.filter_map(|samples| {
            let fewer = apply(graph, &[Transform::Batch(samples)]).ok()?;
            let network = made(&fewer).ok().filter(|own| has_layers_of(own, whole))?;
            Some(Self { samples, parts: batch / samples, network })
        });
        parts.collect()
    }
}

/// Batches of more samples are not cut.
const MOST_SAMPLES: u64 = 1 << 16;

/// True where layers go by the same places and names, so that engines are tied to the same ones.
fn has_layers_of(one: &Network, other: &Network) -> bool {
    one.layers.len() == other.layers.len()
        && one.layers.iter().zip(&other.layers).all(|(a, b)| a.name == b.name)
}

/// Ratio of prices that are the same but for rounding.
const SAME: f64 = 1.0 + 1e-9;

/// The plan of a batch at once, or in the parts that cost less.
pub(super) fn least(at_once: Plan, network: &Network, setting: Setting<'_>) -> Plan {
    let objective = network.directions.objective;
    let one = |own: &BatchPart| in_parts(own, &network.directions, setting);
    let cut: Vec<Plan> = network.parts.iter().map(one).collect();
    let power = standing_power(setting).into_iter().sum::<Watts>().0;
    let price = |plan: &Plan| price(plan, power, setting);
    let singles = network.parts.first().filter(|own| own.samples == 1).and(cut.first());
    let most = singles.filter(|_| is_product(objective)).map(price);
    let no_worse = |own: Price| {
        most.is_none_or(|most| own.time <= most.time * SAME && own.energy <= most.energy * SAME)
    };
    // What is not costed costs nothing: it comes first to leave out as little as there is.
    let key = |plan: &Plan| {
        let own = price(plan);
        (plan.uncosted.len(), !no_worse(own), counts(objective, own))
    };
    let mut best = (key(&at_once), at_once);
    for plan in cut.into_iter().rev() {
        let own = key(&plan);
        let (lacks, worse, cost) = best.0;
        let first = (own.0, own.1).cmp(&(lacks, worse));
        if first.then(f64::total_cmp(&(own.2 * SAME), &cost)).is_lt() {
            best = (own, plan);
        }
    }
    best.1
}

fn is_product(objective: Objective) -> bool {
    matches!(objective, Objective::Edp | Objective::First)
}

/// What a mapping makes small. Where placement makes nothing small, tilings still do.
fn counts(objective: Objective, price: Price) -> f64 {
    match objective {
        Objective::Time => price.time,
        Objective::Energy => price.energy,
        Objective::Edp | Objective::First => price.time * price.energy,
    }
}

/// Time and energy of a plan where so many watts are drawn whatever runs.
fn price(plan: &Plan, power: f64, setting: Setting<'_>) -> Price {
    let phases = || plan.steps.iter().flat_map(|own| own.phases.iter().map(|p| (own.engine, p)));
    let time: f64 = phases().map(|(engine, p)| slowest(p, engine, setting, |_| {}).total.0).sum();
    let moved = |phase: &Phase| phase.transfers.iter().map(|own| own.energy.0).sum::<f64>();
    let energy: f64 = phases().map(|(_, phase)| phase.energy.0 + moved(phase)).sum();
    Price { time, energy: energy + power * time }
}

/// The plan of a batch whose parts go through one after the other.
fn in_parts(part: &BatchPart, directions: &Directions, setting: Setting<'_>) -> Plan {
    let mut plan = plan_at_once(&part.network, directions, setting);
    let parts = part.parts;
    plan.steps.iter_mut().for_each(|step| *step = step.times(parts, 1));
    for own in &mut plan.uncosted {
        own.operations = own.operations.saturating_mul(parts);
    }
    let samples = if part.samples == 1 { "sample" } else { "samples" };
    plan.notes.push(format!(
        "the batch goes through the network in {parts} parts of {} {samples}, one after the other: \
         all at once would cost more",
        part.samples
    ));
    Plan { passes: parts, ..plan }
}

impl Step {
    /// The step so many times, or a part of it.
    pub(super) fn times(&self, times: u64, of: u64) -> Self {
        let factor = times as f64 / of as f64;
        let whole = |count: u64| {
            let scaled = u128::from(count) * u128::from(times) / u128::from(of.max(1));
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        let moved = |own: &[Transfer]| -> Vec<Transfer> {
            own.iter().map(|own| own.part(factor, own.requests * factor)).collect()
        };
        let mut cost = self.cost.clone();
        cost.compute = cost.compute * factor;
        cost.dispatch = cost.dispatch * factor;
        (cost.macs, cost.array_macs) = (whole(cost.macs), whole(cost.array_macs));
        cost.energy = cost.energy * factor;
        cost.dispatch_energy = cost.dispatch_energy * factor;
        let phases = self.phases.iter().map(|phase| Phase {
            compute: phase.compute * factor,
            energy: phase.energy * factor,
            transfers: moved(&phase.transfers),
            pieces: whole(phase.pieces).max(1),
            ..*phase
        });
        Self {
            name: self.name.clone(),
            macs: whole(self.macs),
            element_ops: whole(self.element_ops),
            traffic: moved(&self.traffic),
            phases: phases.collect(),
            cost,
            ..*self
        }
    }
}
