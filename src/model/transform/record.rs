//! What a transform did.

use super::Transform;
use crate::model::{
    Layer, ModelGraph, Tensor, TensorRole, stored_parameters, total_element_ops, total_macs,
    total_output_bytes,
};
use serde::{Deserialize, Serialize};

/// An operator that a transform left as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fallback {
    /// The operator.
    pub operator: String,
    /// Why it stays.
    pub reason: String,
}

impl Fallback {
    pub(super) fn new(operator: &str, reason: impl Into<String>) -> Self {
        Self { operator: operator.to_owned(), reason: reason.into() }
    }
}

/// What a transform did to a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransformRecord {
    /// What was asked.
    pub transform: Transform,
    /// What it changed, in words and numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Operators that stayed as they were: those that remain in float, and the like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Fallback>,
}

impl TransformRecord {
    /// The record as lines for a reader, the transform first.
    pub fn lines(&self) -> Vec<String> {
        let changed = if self.changed.is_empty() {
            "changes nothing".to_owned()
        } else {
            self.changed.join("; ")
        };
        let kept = self.kept.iter().map(|k| format!("`{}` stays: {}", k.operator, k.reason));
        std::iter::once(format!("{}: {changed}", self.transform)).chain(kept).collect()
    }
}

/// The same, before the figures are known.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub changed: Vec<String>,
    pub kept: Vec<Fallback>,
    /// Samples before and after, where their number changes.
    pub samples: Option<(u64, u64)>,
}

impl Done {
    /// Notes `count` of something, unless it is none.
    pub fn count(&mut self, count: usize, one: &str, many: &str) {
        match count {
            0 => {}
            1 => self.changed.push(format!("1 {one}")),
            n => self.changed.push(format!("{n} {many}")),
        }
    }
}

/// Totals that differ between two graphs.
pub(super) fn figures(
    from: &ModelGraph,
    before: &[Layer],
    made: &ModelGraph,
    after: &[Layer],
) -> Vec<String> {
    let totals = [
        ("MACs", total_macs(before), total_macs(after)),
        ("element operations", total_element_ops(before), total_element_ops(after)),
        ("parameters", stored_parameters(from), stored_parameters(made)),
        ("bytes of weights", stored(from), stored(made)),
        ("bytes written", total_output_bytes(before), total_output_bytes(after)),
    ];
    let differ = totals.into_iter().filter(|(_, before, after)| before != after);
    differ.map(|(what, before, after)| format!("{what} {before} -> {after}")).collect()
}

fn stored(graph: &ModelGraph) -> u64 {
    let constants = graph.tensors().map(|id| graph.tensor(id));
    let constants = constants.filter(|t| t.role == TensorRole::Constant);
    constants.filter_map(Tensor::bytes).fold(0, u64::saturating_add)
}
