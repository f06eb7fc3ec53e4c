//! Another number of samples at once.

use super::Refusal;
use super::draft::{At, Draft, Step};
use super::propagate::{Before, Change, propagate};
use super::record::{Done, Fallback};
use crate::model::{Movement, Op, Operator, Shape, Tensor, TensorRole};
use std::collections::BTreeSet;

pub(super) fn set_batch(draft: &mut Draft, samples: u64) -> Result<Done, Refusal> {
    if samples == 0 {
        return Err(Refusal::Value("a batch has at least 1 sample".to_owned()));
    }
    let read = draft.steps.iter().flat_map(|step| step.inputs.iter().flatten().copied());
    let mut inputs: Vec<_> = read.filter(|at| draft.tensor(*at).role.is_handed_in()).collect();
    let leading = |draft: &Draft, at| draft.shape(at).and_then(|s: &Shape| s.0.first().copied());
    let Some(present) = inputs.iter().find_map(|at| leading(draft, *at)) else {
        return Err(Refusal::Value("no input of the network has a leading axis".to_owned()));
    };
    inputs.sort_unstable();
    inputs.dedup();
    let mut done = Done::default();
    if present == samples {
        return Ok(done);
    }
    let mut repeated = repeated_already(draft, present);
    let new = repeat_stored(draft, present);
    done.count(new.len(), "stored operand repeated", "stored operands repeated");
    repeated.extend(new);
    let before = Before::of(draft);
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
    propagate(draft, &before, Change::Batch, |draft, i| {
        let made = draft.steps.get(i).and_then(Step::output).filter(|at| repeated.contains(at));
        let shape = made.and_then(|at| draft.tensor_mut(at).shape.as_mut());
        if let Some(extent) = shape.and_then(|shape| shape.0.first_mut()) {
            *extent = samples;
        }
        Ok(())
    })?;
    done.changed.insert(0, format!("samples {present} -> {samples}"));
    Ok(done)
}

/// Repetitions of stored operands that are joined to samples.
fn repeated_already(draft: &Draft, present: u64) -> BTreeSet<At> {
    let makers = draft.makers();
    let joins = draft.steps.iter().filter(|step| joins_samples(draft, step));
    let joined = joins.flat_map(|step| step.inputs.iter().flatten().copied());
    let repeats = |at: &At| {
        let maker = makers.get(at).and_then(|i| draft.steps.get(*i));
        maker.is_some_and(|step| {
            step.operator.op == Op::Movement(Movement::Broadcast)
                && step.inputs.iter().flatten().all(|at| draft.is_constant(*at))
        })
    };
    joined.filter(|at| leads(draft, *at, present) && repeats(at)).collect()
}

fn joins_samples(draft: &Draft, step: &Step) -> bool {
    step.operator.op == Op::Movement(Movement::Concatenate)
        && step.inputs.iter().flatten().any(|at| !draft.is_constant(*at))
}

fn leads(draft: &Draft, at: At, samples: u64) -> bool {
    draft.shape(at).is_some_and(|shape| shape.0.first() == Some(&samples))
}

/// Puts a repetition behind each stored operand that is joined to samples (a class token): each
/// sample gets its own.
fn repeat_stored(draft: &mut Draft, present: u64) -> BTreeSet<At> {
    let mut repeated = BTreeSet::new();
    let steps = std::mem::take(&mut draft.steps);
    let mut made = Vec::with_capacity(steps.len());
    for mut step in steps {
        let joins = joins_samples(draft, &step);
        for input in step.inputs.iter_mut().flatten().filter(|_| joins) {
            if !draft.is_constant(*input) || !leads(draft, *input, present) {
                continue;
            }
            let stored = draft.tensor(*input).clone();
            let name = format!("{}/repeated", stored.name);
            let operator = draft.operator_name(name.clone());
            let copy = Tensor::new(name, stored.shape, stored.element, TensorRole::Activation);
            let copy = draft.add(copy);
            repeated.insert(copy);
            let operator = Operator::new(operator, "Repeat", Op::Movement(Movement::Broadcast));
            made.push(Step { operator, inputs: vec![Some(*input)], outputs: vec![copy] });
            *input = copy;
        }
        made.push(step);
    }
    draft.steps = made;
    repeated
}
