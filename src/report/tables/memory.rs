//! Where tensors live: a line for each memory, and what has no room.

use super::{listed, shortened, table};
use crate::mapping::{MemoryInUse, MemoryUse};
use crate::report::Prediction;
use crate::units::Bytes;
use std::fmt::Write as _;

/// Tensors listed by name.
const LISTED: usize = 8;

/// The memory plans of the engines in use.
pub fn memory_text(p: &Prediction<'_>) -> String {
    let mut text = String::new();
    for own in &p.plan.memory {
        text.push_str(&plan_text(p, own));
    }
    text
}

fn size(bytes: u64) -> String {
    Bytes(bytes as f64).to_string()
}

fn plan_text(p: &Prediction<'_>, own: &MemoryInUse) -> String {
    let spec = p.setting.profile.spec();
    let engines = own.engines.iter().filter_map(|e| spec.engines.get(*e));
    let engines: Vec<_> = engines.map(|engine| engine.name.as_str()).collect();
    let plan = &own.plan;
    let mut text = format!(
        "\nmemory of {}: {} of weights, at most {} of activations alive at once\n",
        engines.join(", "),
        plan.weight_bytes,
        plan.peak_activation_bytes
    );
    let headers =
        ["memory", "at layer", "capacity", "weights", "activations", "alive", "free", "spilled"];
    let mut rows = table(&headers, 2);
    for memory in &plan.memories {
        let layer = memory.peak_at.and_then(|at| p.network.layers.get(at));
        rows.add_row(vec![
            memory_name(p, memory.memory).to_owned(),
            layer.map_or_else(String::new, |layer| shortened(&layer.name, 32)),
            size(memory.capacity_bytes),
            size(memory.weight_bytes),
            size(memory.peak_bytes),
            size(memory.alive_bytes),
            size(memory.free_bytes()),
            match memory.spilled.len() {
                0 => String::new(),
                count => format!("{count}: {}", plan.sum(&memory.spilled)),
            },
        ]);
    }
    let _ = writeln!(text, "{rows}");
    for memory in &plan.memories {
        text.push_str(&left_out(p, own, memory));
    }
    if !plan.homeless.is_empty() {
        let none = format!("no memory may hold {}", plan.sum(&plan.homeless));
        text.push_str(&listed(&none, &named(own, &plan.homeless, |_| String::new())));
    }
    text
}

fn memory_name<'a>(p: &'a Prediction<'_>, memory: usize) -> &'a str {
    p.setting.profile.spec().memories.get(memory).map_or("", |memory| memory.name.as_str())
}

/// What spills from a memory, the largest first, and what has no room anywhere.
fn left_out(p: &Prediction<'_>, own: &MemoryInUse, memory: &MemoryUse) -> String {
    let plan = &own.plan;
    let name = memory_name(p, memory.memory);
    let mut text = String::new();
    if !memory.spilled.is_empty() {
        let to = |at: usize| match plan.home(at) {
            Some(home) if home != memory.memory => format!(" to {}", memory_name(p, home)),
            _ => String::new(),
        };
        text.push_str(&listed(&format!("no room in {name}"), &named(own, &memory.spilled, to)));
    }
    if !memory.overflow.is_empty() {
        let _ = writeln!(
            text,
            "no room in any memory: {} of {}, costed as if {name} held them",
            plan.sum(&memory.overflow),
            if memory.overflow.len() == 1 {
                "1 tensor".to_owned()
            } else {
                format!("{} tensors", memory.overflow.len())
            }
        );
    }
    text
}

/// The largest tensors with their sizes, and how many there are beside them.
fn named(own: &MemoryInUse, buffers: &[usize], more: impl Fn(usize) -> String) -> Vec<String> {
    let plan = &own.plan;
    let mut buffers = buffers.to_vec();
    buffers.sort_by_key(|at| (std::cmp::Reverse(plan.bytes_of(*at)), *at));
    let shown = buffers.iter().take(LISTED).filter_map(|at| {
        let tensor = plan.buffers().tensors().get(*at)?;
        Some(format!("{} {}{}", shortened(&tensor.name, 32), size(plan.bytes_of(*at)), more(*at)))
    });
    let mut parts: Vec<String> = shown.collect();
    let rest = buffers.get(LISTED..).unwrap_or_default();
    if !rest.is_empty() {
        parts.push(format!("and {} more of {}", rest.len(), plan.sum(rest)));
    }
    parts
}
