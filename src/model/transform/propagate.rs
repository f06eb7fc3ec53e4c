//! New extents carried from the inputs of the network to its outputs, operator by operator.
//!
//! Where an operator determines its output, that is inferred; where it only moves data, the change
//! is read off the shapes that its file states ([`super::carry`]).

use super::Refusal;
use super::carry::{Moved, carried};
use super::draft::{At, Draft, Step};
use crate::model::infer::infer;
use crate::model::{Layout, Movement, Op, Shape};
use std::collections::BTreeMap;

/// What changes, which tells what an extent of 1 means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// The leading axis. Samples are independent: it stays in front, and no operator sums over it.
    Batch,
    /// Any other.
    Extents,
}

/// Axes of a tensor that are looked at; more are no network's.
const AXES: usize = 32;

/// A draft as it was.
pub(super) struct Before {
    shapes: BTreeMap<At, Option<Shape>>,
    steps: Vec<Step>,
    readers: BTreeMap<At, Vec<usize>>,
}

impl Before {
    pub fn of(draft: &Draft) -> Self {
        let shapes = draft.all().map(|at| (at, draft.shape(at).cloned())).collect();
        Self { shapes, steps: draft.steps.clone(), readers: draft.readers() }
    }

    pub fn shape(&self, at: At) -> Option<&Shape> {
        self.shapes.get(&at)?.as_ref()
    }

    pub fn is_changed(&self, draft: &Draft, at: At) -> bool {
        self.shape(at) != draft.shape(at)
    }
}

/// Carries changed inputs and constants through. `adjust` changes a step and its constants when
/// the shapes in front of it are known.
pub(super) fn propagate(
    draft: &mut Draft,
    before: &Before,
    change: Change,
    mut adjust: impl FnMut(&mut Draft, usize) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    for i in 0..draft.steps.len() {
        adjust(draft, i)?;
        let Some((step, was)) = draft.steps.get(i).zip(before.steps.get(i)) else { continue };
        if !step.inputs.iter().flatten().any(|at| before.is_changed(draft, *at)) {
            continue;
        }
        let refused = |reason: String| Refusal::operator(step.name(), reason);
        let touched = step.inputs.iter().flatten().chain(&step.outputs);
        let most = touched.filter_map(|at| draft.shape(*at)).map(Shape::rank).max();
        if most.is_some_and(|axes| axes > AXES) {
            return Err(refused(format!("a tensor of more than {AXES} axes")));
        }
        let view = View { draft, before, step, was, change };
        view.stored_weights_fit().map_err(refused)?;
        view.steps_stay().map_err(refused)?;
        let made: Result<Vec<_>, _> =
            (0..step.outputs.len()).map(|port| view.output(port)).collect();
        let made = made.map_err(refused)?;
        for (at, shape) in was.outputs.iter().zip(made) {
            draft.tensor_mut(*at).shape = shape;
        }
    }
    Ok(())
}

/// One step before and after.
struct View<'a> {
    draft: &'a Draft,
    before: &'a Before,
    step: &'a Step,
    was: &'a Step,
    change: Change,
}

impl<'a> View<'a> {
    fn old_inputs(&self) -> Vec<Option<&'a Shape>> {
        self.was.inputs.iter().map(|at| at.and_then(|at| self.before.shape(at))).collect()
    }

    fn new_inputs(&self) -> Vec<Option<&'a Shape>> {
        self.step.inputs.iter().map(|at| at.and_then(|at| self.draft.shape(at))).collect()
    }

    fn output(&self, port: usize) -> Result<Option<Shape>, String> {
        let old = |port: usize| self.was.outputs.get(port).and_then(|at| self.before.shape(*at));
        let Some(was) = old(port) else { return Ok(None) };
        let (old_inputs, new_inputs) = (self.old_inputs(), self.new_inputs());
        let layout = self.draft.layout;
        if port > 0 && old(0) == Some(was) {
            return self.output(0);
        }
        if port == 0
            && inferred(&self.was.operator.op, layout, &old_inputs).as_ref() == Some(was)
            && let Some(made) = infer(&self.step.operator.op, layout, &new_inputs)?
        {
            return Ok(Some(made));
        }
        let parts = self.parts();
        let moved = Moved {
            op: &self.step.operator.op,
            native: &self.step.operator.native,
            before: &old_inputs,
            after: &new_inputs,
            made: was,
            parts: &parts,
            change: self.change,
        };
        carried(&moved).map(Some)
    }

    /// What this step makes; or, of one that slices, what all make that slice the same tensor.
    fn parts(&self) -> Vec<&'a Shape> {
        let slices = |step: &Step| step.operator.op == Op::Movement(Movement::Slice);
        let made = |step: &'a Step| step.outputs.iter().filter_map(|at| self.before.shape(*at));
        let read = self.was.input(0).and_then(|at| self.before.readers.get(&at));
        let Some(readers) = read.filter(|_| slices(self.was) && self.was.outputs.len() == 1) else {
            return made(self.was).collect();
        };
        let steps = readers.iter().filter_map(|i| self.before.steps.get(*i));
        steps.filter(|step| slices(step)).flat_map(made).collect()
    }

    /// States follow each other along an axis that is not the one of the samples.
    fn steps_stay(&self) -> Result<(), String> {
        let (Op::Recurrence(r), Change::Batch) = (&self.was.operator.op, self.change) else {
            return Ok(());
        };
        let Some(old) = self.was.input(0).and_then(|at| self.before.shape(at)) else {
            return Ok(());
        };
        let in_front = r.steps > 1 && old.extent(0) == r.steps && old.extent(1) != r.steps;
        if in_front {
            return Err(format!("the leading axis of {old} is its {} steps, not samples", r.steps));
        }
        Ok(())
    }

    /// Stored weights multiply so many numbers of each sample, whatever the extents in front.
    fn stored_weights_fit(&self) -> Result<(), String> {
        if self.step.operator.op != Op::FullyConnected {
            return Ok(());
        }
        let data = self.step.input(0).and_then(|at| Some((self.before.shape(at)?, at)));
        let weights = self.step.input(1);
        let (Some((old, data)), Some(weights)) = (data, weights) else { return Ok(()) };
        if self.before.is_changed(self.draft, weights) {
            return Ok(());
        }
        let (Some(new), Some(weights)) = (self.draft.shape(data), self.draft.shape(weights)) else {
            return Ok(());
        };
        let columns = self.was.output().and_then(|at| self.before.shape(at)).map(Shape::last);
        let depth = weights.elements().zip(columns).and_then(|(all, n)| all.checked_div(n));
        let Some((depth, suffix)) = depth.and_then(|k| Some((k, suffix_of(old, k)?))) else {
            return Ok(());
        };
        let now = inner_product(new, suffix);
        if now == Some(depth) {
            return Ok(());
        }
        let now = now.map_or_else(|| "too many".to_owned(), |n| n.to_string());
        Err(format!(
            "its stored weights {weights} take {depth} numbers a sample, and {new} has {now}: it \
             would be another network"
        ))
    }
}

/// The inferred shape, where an operator's rules give one.
fn inferred(op: &Op, layout: Layout, inputs: &[Option<&Shape>]) -> Option<Shape> {
    infer(op, layout, inputs).ok().flatten()
}

/// The fewest innermost axes that hold `elements` together.
pub(super) fn suffix_of(shape: &Shape, elements: u64) -> Option<usize> {
    (1..=shape.rank()).find(|axes| inner_product(shape, *axes) == Some(elements))
}

/// Elements of the innermost axes.
pub(super) fn inner_product(shape: &Shape, axes: usize) -> Option<u64> {
    let inner = shape.0.iter().rev().take(axes);
    inner.copied().try_fold(1u64, u64::checked_mul)
}
