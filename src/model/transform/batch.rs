//! Another number of samples at once.

use super::Refusal;
use super::draft::Draft;
use super::propagate::{Before, Change, propagate};
use super::record::{Done, Fallback};
use crate::model::{Shape, TensorRole};

pub(super) fn set_batch(draft: &mut Draft, samples: u64) -> Result<Done, Refusal> {
    if samples == 0 {
        return Err(Refusal::Value("a batch has at least 1 sample".to_owned()));
    }
    let read = draft.steps.iter().flat_map(|step| step.inputs.iter().flatten().copied());
    let mut inputs: Vec<_> =
        read.filter(|at| draft.tensor(*at).role == TensorRole::Input).collect();
    let leading = |draft: &Draft, at| draft.shape(at).and_then(|s: &Shape| s.0.first().copied());
    let Some(present) = inputs.iter().find_map(|at| leading(draft, *at)) else {
        return Err(Refusal::Value("no input of the network has a leading axis".to_owned()));
    };
    inputs.sort_unstable();
    inputs.dedup();
    let before = Before::of(draft);
    let mut done = Done::default();
    for at in inputs {
        let tensor = draft.tensor_mut(at);
        match tensor.shape.as_mut().and_then(|shape| shape.0.first_mut()) {
            Some(extent) if *extent == present => *extent = samples,
            _ => {
                let reason = format!("an input that does not begin with {present} samples");
                done.kept.push(Fallback::new(&tensor.name.clone(), reason));
            }
        }
    }
    propagate(draft, &before, Change::Batch, |_, _| Ok(()))?;
    if present != samples {
        done.changed.push(format!("samples {present} -> {samples}"));
    }
    Ok(done)
}
