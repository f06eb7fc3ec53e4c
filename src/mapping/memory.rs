//! Where weights and activations live between layers.

use super::network::Network;
use crate::hardware::{Profile, TensorClass};
use crate::units::{Bytes, Quantity};

/// Homes of weights and activations.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryPlan {
    /// Memory that holds the weights, by index.
    pub weights: Option<usize>,
    /// Memory that holds activations, by index.
    pub activations: Option<usize>,
    /// Bytes of all weights.
    pub weight_bytes: Bytes,
    /// Most bytes of activations alive at once, in the order of the file.
    pub peak_activation_bytes: Bytes,
    /// What does not fit.
    pub notes: Vec<String>,
}

/// Puts each class into the first memory in the engine's order that may hold it and is large
/// enough; into the largest that may hold it, with a note, when none is.
pub fn memory_plan(network: &Network, engine: usize, profile: &Profile) -> MemoryPlan {
    let mut notes = Vec::new();
    let weight_bytes = Bytes(network.weight_bytes as f64);
    let peak = Bytes(network.peak_activation_bytes as f64);
    let mut home = |class: TensorClass, needed: Bytes, what: &str| {
        let memories = &profile.spec().memories;
        let candidates = profile.links().engine_memories.get(engine).into_iter().flatten().copied();
        let may_hold: Vec<usize> =
            candidates.filter(|m| memories[*m].holds.contains(&class)).collect();
        let capacity = |m: &usize| memories[*m].capacity.get();
        if let Some(fits) = may_hold.iter().copied().find(|m| capacity(m) >= needed) {
            return Some(fits);
        }
        let largest =
            may_hold.into_iter().max_by(|a, b| capacity(a).si().total_cmp(&capacity(b).si()));
        notes.push(match largest {
            Some(m) => format!(
                "{what} need {needed}, more than the {} of {}: costed as if they fitted",
                capacity(&m),
                memories[m].name
            ),
            None => format!("no memory of the engine holds {what}: their traffic is not costed"),
        });
        largest
    };
    let weights = home(TensorClass::Weights, weight_bytes, "weights");
    let activations = home(TensorClass::Activations, peak, "activations");
    MemoryPlan { weights, activations, weight_bytes, peak_activation_bytes: peak, notes }
}
