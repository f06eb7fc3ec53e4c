//! Another number of samples at once.

use super::Refusal;
use super::draft::{At, Draft, Step};
use super::propagate::{Before, Change, propagate};
use super::record::{Done, Fallback};
use crate::model::{Layer, Movement, Op, Operator, Tensor, TensorRole};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn set_batch(draft: &mut Draft, samples: u64) -> Result<Done, Refusal> {
    if samples == 0 {
        return Err(Refusal::Value("a batch has at least 1 sample".to_owned()));
    }
    let (present, inputs) = samples_of(draft)?;
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
    done.samples = Some((present, samples));
    Ok(done)
}

/// How many samples there are, and the inputs that operators read.
///
/// Where inputs begin with different extents, samples are what all results begin with, too: a table
/// that is handed in is none.
fn samples_of(draft: &Draft) -> Result<(u64, Vec<At>), Refusal> {
    let read = draft.steps.iter().flat_map(|step| step.inputs.iter().flatten().copied());
    let inputs: BTreeSet<At> = read.filter(|at| draft.tensor(*at).role.is_handed_in()).collect();
    let leading = |at: &At| draft.shape(*at).and_then(|shape| shape.0.first().copied());
    let mut leads = inputs.iter().filter_map(|at| Some((*at, leading(at)?)));
    let Some((first, present)) = leads.next() else {
        return Err(Refusal::Value("no input of the network has a leading axis".to_owned()));
    };
    let inputs_read: Vec<_> = inputs.iter().copied().collect();
    let Some((other, _)) = leads.find(|(_, extent)| *extent != present) else {
        return Ok((present, inputs_read));
    };
    let results: BTreeSet<_> = draft.outputs.iter().map(leading).collect();
    let mut results = results.into_iter();
    if let (Some(Some(samples)), None) = (results.next(), results.next())
        && inputs.iter().any(|at| leading(at) == Some(samples))
    {
        return Ok((samples, inputs_read));
    }
    let shown = |at: At| {
        let shape = draft.shape(at).map_or_else(String::new, |shape| format!(" of {shape}"));
        format!("`{}`{shape}", draft.tensor(at).name)
    };
    let (first, other) = (shown(first), shown(other));
    Err(Refusal::Value(format!(
        "inputs {first} and {other} begin with different extents, and the results do not tell \
         which of them are samples"
    )))
}

/// Holds the work of each layer against the number of samples: it is as much as it was, or as many
/// times. Anything else comes of a shape that was read wrongly.
pub(super) fn work_follows(
    before: &[Layer],
    after: &[Layer],
    (present, samples): (u64, u64),
) -> Result<(), Refusal> {
    let was: BTreeMap<&str, &Layer> = before.iter().map(|l| (l.name.as_str(), l)).collect();
    for layer in after {
        let Some(one) = was.get(layer.name.as_str()) else { continue };
        for (what, old, new) in [
            ("multiply-accumulates", one.work.macs, layer.work.macs),
            ("element operations", one.work.element_ops, layer.work.element_ops),
        ] {
            let times = |n: u64, factor: u64| u128::from(n) * u128::from(factor);
            if old != new && times(new, present) != times(old, samples) {
                return Err(Refusal::operator(
                    &layer.name,
                    format!(
                        "{old} {what} of {present} samples would become {new} of {samples}, so that \
                         its samples are not the leading axis"
                    ),
                ));
            }
        }
    }
    Ok(())
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
