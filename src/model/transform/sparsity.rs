//! Filters stored without their zeros.
//!
//! The multiply-accumulates stay: whether any are left out is for an engine to say, and
//! [`crate::model::Work::skippable_macs`] tells how many could be. A structure needs a depth of the
//! sum that its groups divide, and more than one channel in it.

use super::Refusal;
use super::draft::{At, Draft};
use super::filters::stored_filter;
use super::record::{Done, Fallback};
use super::select::{Meant, select};
use crate::model::arithmetic::image_axes;
use crate::model::{Op, Sparsity};
use std::collections::BTreeSet;

pub(super) fn leave_out_zeros(
    draft: &mut Draft,
    stored: Sparsity,
    layers: Option<&str>,
) -> Result<Done, Refusal> {
    if !stored.is_sound() {
        let reason = "zeros are a share from 0 to 1, and a structure keeps 1 up to all of a group";
        return Err(Refusal::Value(reason.to_owned()));
    }
    let meant = select(draft, layers)?;
    let mut done = Done::default();
    let (mut sparse, mut dense) = (BTreeSet::new(), BTreeSet::new());
    let full = stored.density() >= 1.0;
    for (i, meant) in meant.iter().enumerate() {
        let Some(step) = draft.steps.get(i).filter(|_| *meant != Meant::Not) else { continue };
        let Some(filter) = stored_filter(draft, step) else {
            if *meant == Meant::ByName {
                return Err(Refusal::operator(step.name(), "it has no stored filters"));
            }
            continue;
        };
        match dense_because(draft, i, filter, stored) {
            Some(reason) => {
                done.kept.push(Fallback::new(step.name(), reason));
                dense.insert(filter);
            }
            None => {
                sparse.insert(filter);
            }
        }
    }
    // One that several operators read has to fit them all.
    sparse.retain(|filter| !dense.contains(filter));
    if full {
        sparse.retain(|filter| draft.tensor(*filter).sparsity.is_some());
    }
    for filter in &sparse {
        let tensor = draft.tensor_mut(*filter);
        tensor.sparsity = (!full).then_some(stored);
        // The numbers of the file are no longer those that are stored.
        tensor.statistics = None;
        tensor.encoded_bytes = None;
    }
    let (one, many) = if full {
        ("filter stored whole again", "filters stored whole again")
    } else {
        ("filter stored without zeros", "filters stored without zeros")
    };
    done.count(sparse.len(), one, many);
    Ok(done)
}

/// Stores filters whole that are there in other extents, which their structure does not divide.
pub(super) fn keep_what_fits(draft: &mut Draft, done: &mut Done) {
    let mut dense = BTreeSet::new();
    for (i, step) in draft.steps.iter().enumerate() {
        let Some(filter) = stored_filter(draft, step) else { continue };
        let Some(stored) = draft.tensor(filter).sparsity else { continue };
        if let Some(reason) = dense_because(draft, i, filter, stored) {
            done.kept.push(Fallback::new(step.name(), reason));
            dense.insert(filter);
        }
    }
    for filter in dense {
        draft.tensor_mut(filter).sparsity = None;
    }
}

/// Why a structure does not fit in a filter, if it does not.
fn dense_because(draft: &Draft, i: usize, filter: At, stored: Sparsity) -> Option<String> {
    let Sparsity::Structured { of, .. } = stored else { return None };
    let step = draft.steps.get(i)?;
    let shape = draft.shape(filter)?;
    let output = draft.shape(step.output()?)?;
    let depth = match &step.operator.op {
        Op::Convolution(c) => {
            let rank = output.rank();
            if rank < 3 {
                return None;
            }
            let (axis, spatial) = image_axes(draft.layout, rank);
            let channels =
                draft.shape(step.input(0)?)?.extent(axis).checked_div(c.groups.max(1))?;
            if c.groups > 1 && channels == 1 {
                return Some("a depthwise filter has one channel, and stays dense".to_owned());
            }
            let taps = shape.0.get(spatial)?.iter().try_fold(1u64, |n, d| n.checked_mul(*d))?;
            // A transposed one sums over the channels of a place alone.
            if c.transposed { channels } else { channels.checked_mul(taps)? }
        }
        Op::Recurrence(r) => r.hidden,
        Op::MatMul { transpose_b, .. } => {
            let back = if *transpose_b { 1 } else { 2 };
            shape.extent(shape.rank().saturating_sub(back))
        }
        _ => shape.elements()?.checked_div(output.last())?,
    };
    (!depth.is_multiple_of(u64::from(of)))
        .then(|| format!("groups of {of} do not divide a depth of {depth}, and it stays dense"))
}
