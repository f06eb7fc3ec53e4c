//! Layers of an estimate taken together, and the ones that cost most.

use super::{Bound, Estimate, LayerEstimate};
use crate::model::OpKind;
use crate::units::{Joules, Seconds};

/// What layers are taken together by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The kind of operator.
    Kind,
    /// The engine.
    Engine,
    /// What they wait for.
    Bound,
}

/// What the layers of a group have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// Their kind.
    Kind(OpKind),
    /// Their engine, by index.
    Engine(usize),
    /// What they wait for.
    Bound(Bound),
}

/// Layers taken together.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What they have in common.
    pub key: Key,
    /// How many.
    pub layers: usize,
    /// Multiply-accumulates of the graph.
    pub macs: u64,
    /// Element operations.
    pub element_ops: u64,
    /// Their time.
    pub time: Seconds,
    /// Their energy at the sources.
    pub energy: Joules,
}

/// Layers taken together, the group of most energy first.
pub fn groups(estimate: &Estimate, by: By) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for layer in &estimate.layers {
        let key = match by {
            By::Kind => Key::Kind(layer.kind),
            By::Engine => Key::Engine(layer.engine),
            By::Bound => Key::Bound(layer.bound),
        };
        let place = groups.iter().position(|g| g.key == key).unwrap_or_else(|| {
            let (time, energy) = (Seconds::ZERO, Joules::ZERO);
            groups.push(Group { key, layers: 0, macs: 0, element_ops: 0, time, energy });
            groups.len() - 1
        });
        let Some(group) = groups.get_mut(place) else { continue };
        group.layers += 1;
        group.macs = group.macs.saturating_add(layer.macs);
        group.element_ops = group.element_ops.saturating_add(layer.element_ops);
        group.time += layer.time;
        group.energy += layer.energy;
    }
    groups.sort_by(|a, b| b.energy.0.total_cmp(&a.energy.0));
    groups
}

/// The `count` layers of most energy, the largest first.
pub fn top(estimate: &Estimate, count: usize) -> Vec<&LayerEstimate> {
    let mut layers: Vec<_> = estimate.layers.iter().collect();
    layers.sort_by(|a, b| b.energy.0.total_cmp(&a.energy.0));
    layers.truncate(count);
    layers
}
