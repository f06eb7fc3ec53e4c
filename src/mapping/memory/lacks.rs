//! What has no room in the nearest memory, or in any.

use super::planned::{MemoryPlan, MemoryUse};
use crate::units::Bytes;
use std::collections::BTreeSet;

const CLASSES: [(&str, bool); 2] = [("activations", false), ("weights", true)];

/// Why something does not live in the nearest memory that may hold it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Lack {
    /// A memory holds some of a class and leaves the rest to others, which have room.
    Spills { what: &'static str, count: usize, bytes: Bytes, from: usize, to: Vec<usize> },
    /// No memory has room.
    Overflows { what: &'static str, count: usize, bytes: Bytes, counted_in: usize },
    /// No memory may hold it.
    Homeless { what: &'static str },
}

impl Lack {
    pub(super) fn note<'a>(&self, name: impl Fn(usize) -> &'a str) -> String {
        match self {
            Self::Spills { what, count, bytes, from, to } => {
                let spill = if *count == 1 { "spills" } else { "spill" };
                let to: Vec<_> = to.iter().map(|memory| name(*memory)).collect();
                let (count, from) = (tensors(*count), name(*from));
                format!("{what}: {count} ({bytes}) {spill} from {from} to {}", to.join(" and "))
            }
            Self::Overflows { what, count, bytes, counted_in } => {
                let (count, memory) = (tensors(*count), name(*counted_in));
                format!(
                    "{what}: no memory has room for {count} ({bytes}): costed as if {memory} held them"
                )
            }
            Self::Homeless { what } => {
                format!("no memory of the engine holds {what}: their traffic is not costed")
            }
        }
    }
}

fn tensors(count: usize) -> String {
    if count == 1 { "1 tensor".to_owned() } else { format!("{count} tensors") }
}

/// All that a plan lacks.
pub(super) fn lacks(plan: &MemoryPlan) -> Vec<Lack> {
    let overflow: BTreeSet<usize> =
        plan.memories.iter().flat_map(|memory| memory.overflow.iter().copied()).collect();
    let each = || plan.memories.iter().flat_map(|own| CLASSES.map(|class| (own, class)));
    let spills = each().filter_map(|(own, class)| spills(plan, own, class, &overflow));
    let overflows = each().filter_map(|(own, (what, constant))| {
        let left = plan.of_class(&own.overflow, constant);
        let (count, bytes) = (left.len(), plan.sum(&left));
        (count > 0).then_some(Lack::Overflows { what, count, bytes, counted_in: own.memory })
    });
    let homeless = CLASSES.into_iter().filter_map(|(what, constant)| {
        let left = plan.of_class(&plan.homeless, constant);
        (!left.is_empty()).then_some(Lack::Homeless { what })
    });
    spills.chain(overflows).chain(homeless).collect()
}

fn spills(
    plan: &MemoryPlan,
    own: &MemoryUse,
    (what, constant): (&'static str, bool),
    overflow: &BTreeSet<usize>,
) -> Option<Lack> {
    let held = if constant { &own.weights } else { &own.activations };
    let mut spilled = plan.of_class(&own.spilled, constant);
    spilled.retain(|at| !overflow.contains(at));
    let to: BTreeSet<usize> = spilled.iter().filter_map(|at| plan.home(*at)).collect();
    if held.is_empty() || to.is_empty() {
        return None;
    }
    let (count, bytes) = (spilled.len(), plan.sum(&spilled));
    Some(Lack::Spills { what, count, bytes, from: own.memory, to: to.into_iter().collect() })
}
