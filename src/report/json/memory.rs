//! Where tensors live.

use crate::mapping::{MemoryInUse, MemoryPlan, MemoryUse, Placed};
use crate::report::Prediction;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The memory plans of the engines in use.
pub(super) fn plans(p: &Prediction<'_>) -> Value {
    Value::Array(p.plan.memory.iter().map(|own| plan(p, own)).collect())
}

fn memory_name<'a>(p: &'a Prediction<'_>, memory: usize) -> Option<&'a str> {
    p.setting.profile.spec().memories.get(memory).map(|memory| memory.name.as_str())
}

fn plan(p: &Prediction<'_>, own: &MemoryInUse) -> Value {
    let spec = p.setting.profile.spec();
    let engines = own.engines.iter().filter_map(|e| spec.engines.get(*e)).map(|e| &e.name);
    let memories: Vec<Value> = own.plan.memories.iter().map(|m| memory(p, own, m)).collect();
    json!({
        "engines": engines.collect::<Vec<_>>(),
        "fits": own.plan.fits,
        "weight_bytes": own.plan.weight_bytes,
        "peak_activation_bytes": own.plan.peak_activation_bytes,
        "memories": memories,
        "homeless": names(own, &own.plan.homeless),
    })
}

fn memory(p: &Prediction<'_>, own: &MemoryInUse, memory: &MemoryUse) -> Value {
    let plan = &own.plan;
    let layer = memory.peak_at.and_then(|at| p.network.layers.get(at));
    let overflow: BTreeSet<usize> = memory.overflow.iter().copied().collect();
    let spilled: Vec<Value> = memory
        .spilled
        .iter()
        .filter_map(|at| {
            let tensor = plan.buffers().tensors().get(*at)?;
            let to = plan.home(*at).filter(|_| !overflow.contains(at));
            let to = to.and_then(|home| memory_name(p, home));
            Some(json!({"name": tensor.name, "bytes": plan.bytes_of(*at), "to": to}))
        })
        .collect();
    let placed = |list: &[Placed]| list.iter().map(|own| tensor(p, plan, own)).collect::<Vec<_>>();
    json!({
        "name": memory_name(p, memory.memory),
        "capacity_bytes": memory.capacity_bytes,
        "weight_bytes": memory.weight_bytes,
        "peak_bytes": memory.peak_bytes,
        "alive_bytes": memory.alive_bytes,
        "peak_layer": layer.map(|layer| &layer.name),
        "free_bytes": memory.free_bytes(),
        "activations": placed(&memory.activations),
        "weights": placed(&memory.weights),
        "spilled": spilled,
        "overflow": names(own, &memory.overflow),
        "overflow_bytes": plan.sum(&memory.overflow),
    })
}

fn tensor(p: &Prediction<'_>, plan: &MemoryPlan, own: &Placed) -> Value {
    let name = plan.buffers().tensors().get(own.buffer).map(|tensor| &tensor.name);
    let layer = |at: usize| p.network.layers.get(at).map(|layer| &layer.name);
    json!({
        "name": name, "offset": own.offset, "bytes": own.bytes,
        "first_layer": own.lifetime.and_then(|(first, _)| layer(first)),
        "last_layer": own.lifetime.and_then(|(_, last)| layer(last)),
        "first_step": own.lifetime.map(|(first, _)| first),
        "last_step": own.lifetime.map(|(_, last)| last),
    })
}

fn names(own: &MemoryInUse, buffers: &[usize]) -> Vec<String> {
    let tensors = own.plan.buffers().tensors();
    buffers.iter().filter_map(|at| tensors.get(*at)).map(|tensor| tensor.name.clone()).collect()
}
