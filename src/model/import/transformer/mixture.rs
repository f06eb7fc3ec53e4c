//! Mixtures of experts.

use super::fields::Fields;
use super::limits;
use crate::model::transformer::Experts;
use std::collections::BTreeSet;

pub(super) const COUNT: [&str; 3] = ["num_local_experts", "num_experts", "n_routed_experts"];
/// Extent inside of an expert.
pub(super) const WIDTH: [&str; 1] = ["moe_intermediate_size"];
const SHARED: [&str; 1] = ["n_shared_experts"];
/// Counts every so many layers from 1: of 2, the second is the first with a mixture.
const STEP: [&str; 2] = ["decoder_sparse_step", "interleave_moe_layer_step"];
/// Counts every so many layers from 0: of 2, the first one has a mixture.
const FREQUENCY: [&str; 1] = ["moe_layer_freq"];
const PICKED: [&str; 2] = ["num_experts_per_tok", "num_experts_per_token"];

/// The mixture, if there is one; `width` is that of a feed-forward layer.
pub(super) fn experts(fields: &mut Fields<'_>, layers: u64, width: Option<u64>) -> Option<Experts> {
    let count = fields.number(&COUNT, 0).filter(|count| *count > 1)?;
    let picked = fields.required(&PICKED);
    if let (Some(k), Some((path, _))) = (picked.filter(|k| *k > count), fields.value(&PICKED)) {
        fields.fault(path, format!("each token picks {k} of only {count} experts"));
    }
    let own = fields.size(&WIDTH).or(width)?;
    let shared = fields.number(&["shared_expert_intermediate_size"], 0).filter(|n| *n > 0);
    let shared_gate = shared.is_some();
    let more = fields.number(&SHARED, 0).filter(|n| *n > 0);
    let more = more.and_then(|n| limits::extent(fields, &[n, own], &[&SHARED, &WIDTH]));
    let shared = shared.or(more);
    let dense = dense(fields, layers);
    Some(Experts { count, picked: picked?, width: own, shared, shared_gate, dense })
}

/// Layers without a mixture.
fn dense(fields: &mut Fields<'_>, layers: u64) -> BTreeSet<u64> {
    let first = fields.number(&["first_k_dense_replace"], 0).unwrap_or(0);
    let step = fields.size(&STEP).unwrap_or(1);
    let frequency = fields.size(&FREQUENCY).unwrap_or(1);
    let named = fields.layers(&["mlp_only_layers"]);
    let is_mixture = |layer: u64| {
        layer >= first
            && (layer + 1).is_multiple_of(step)
            && layer.is_multiple_of(frequency)
            && !named.contains(&layer)
    };
    (0..layers).filter(|layer| !is_mixture(*layer)).collect()
}
