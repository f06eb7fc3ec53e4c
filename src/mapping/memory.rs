//! Where weights and activations live between layers.

use super::flows::operand_bytes;
use super::network::Network;
use crate::cost::runs_in;
use crate::hardware::{Profile, TensorClass};
use crate::units::{Bytes, Quantity};

/// Homes of weights and activations.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryPlan {
    /// Memory that holds the weights, by index.
    pub weights: Option<usize>,
    /// Memory that holds activations, by index.
    pub activations: Option<usize>,
    /// Bytes of all weights, in the engine's number format.
    pub weight_bytes: Bytes,
    /// Most bytes of activations alive at once, in the order of the file and in the engine's format.
    pub peak_activation_bytes: Bytes,
    /// True when everything fits where it lives.
    pub fits: bool,
    /// What does not fit, or has no home.
    pub notes: Vec<String>,
}

/// Puts each class into the first memory in the engine's order that may hold it and has room; into
/// the largest that may hold it, with a note, when none has.
pub fn memory_plan(network: &Network, engine: usize, profile: &Profile) -> MemoryPlan {
    let (weights, activations) = growth(network, engine, profile);
    let weight_bytes = Bytes(network.weight_bytes as f64 * weights);
    let peak_activation_bytes = Bytes(network.peak_activation_bytes as f64 * activations);
    let mut plan = MemoryPlan {
        weights: None,
        activations: None,
        weight_bytes,
        peak_activation_bytes,
        fits: true,
        notes: Vec::new(),
    };
    plan.weights = plan.home(TensorClass::Weights, weight_bytes, engine, profile);
    plan.activations = plan.home(TensorClass::Activations, peak_activation_bytes, engine, profile);
    plan
}

/// Factors by which weights and activations grow when the engine runs them in another format.
fn growth(network: &Network, engine: usize, profile: &Profile) -> (f64, f64) {
    let Some(unit) = profile.spec().engines.get(engine) else { return (1.0, 1.0) };
    let (mut stored, mut converted) = ([0.0; 2], [0.0; 2]);
    for work in network.layers.iter().map(|l| &l.work) {
        let Some(precision) = runs_in(unit, work.element) else { continue };
        for operand in &work.operands {
            let class = usize::from(!operand.constant);
            stored[class] += operand.stored_bytes();
            converted[class] += operand_bytes(operand, work, precision, unit).0.si();
        }
    }
    let factor = |class: usize| {
        if stored[class] > 0.0 { converted[class] / stored[class] } else { 1.0 }
    };
    (factor(0), factor(1))
}

impl MemoryPlan {
    fn home(
        &mut self,
        class: TensorClass,
        needed: Bytes,
        engine: usize,
        profile: &Profile,
    ) -> Option<usize> {
        let what = match class {
            TensorClass::Weights => "weights",
            TensorClass::Activations => "activations",
        };
        let memories = &profile.spec().memories;
        let reached = profile.links().engine_memories.get(engine).into_iter().flatten().copied();
        let may_hold: Vec<usize> =
            reached.filter(|m| memories[*m].holds.contains(&class)).collect();
        let room = |m: usize| {
            let taken = if self.weights == Some(m) { self.weight_bytes } else { Bytes::ZERO };
            memories[m].capacity.get() - taken
        };
        if let Some(fits) = may_hold.iter().copied().find(|m| room(*m) >= needed) {
            return Some(fits);
        }
        let largest =
            may_hold.iter().copied().max_by(|a, b| room(*a).si().total_cmp(&room(*b).si()));
        let note = match largest {
            Some(m) => format!(
                "{what} need {needed} and {} has {} left: costed as if they fitted",
                memories[m].name,
                room(m).max(Bytes::ZERO)
            ),
            None if needed.0 == 0.0 => return None,
            None => format!("no memory of the engine holds {what}: their traffic is not costed"),
        };
        self.notes.push(note);
        self.fits = false;
        largest
    }
}
