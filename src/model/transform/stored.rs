//! What else changes when stored tensors do: those that no operator reads, and live channels.
//!
//! A pass of a mixture of experts reads some of the experts; the others are stored beside them, and
//! are changed as they are. Which channels are live was found in the weights of a file: where filters
//! become others, it no longer holds, for their operators and for all behind them.

use super::Transform;
use super::draft::{At, Draft};
use super::parse::is_format;
use super::record::{Done, Fallback};
use crate::model::{ElementType, Shape, Sparsity};
use std::collections::{BTreeMap, BTreeSet};

/// A stored tensor that an operator reads.
struct Read {
    at: At,
    form: Form,
}

/// How a tensor is stored.
#[derive(Debug, Clone, PartialEq)]
struct Form {
    shape: Option<Shape>,
    element: ElementType,
    sparsity: Option<Sparsity>,
}

impl Form {
    fn of(draft: &Draft, at: At) -> Self {
        let tensor = draft.tensor(at);
        Self { shape: tensor.shape.clone(), element: tensor.element, sparsity: tensor.sparsity }
    }

    /// The same without how many experts it is of, which lead where there are more than two axes.
    fn of_one(mut self) -> Self {
        if let Some(shape) = self.shape.as_mut().filter(|shape| shape.rank() > 2) {
            shape.0.drain(..1);
        }
        self
    }
}

/// Stored tensors as they were before an edit, by operator and port.
pub(super) struct Stored(BTreeMap<(String, usize), Read>);

/// What became of stored tensors that were alike.
#[derive(PartialEq)]
enum Fate {
    /// They are stored so.
    Is(Form),
    /// They are no longer needed.
    Gone,
}

impl Stored {
    pub fn of(draft: &Draft) -> Self {
        let mut read = BTreeMap::new();
        for step in &draft.steps {
            for (port, at) in step.inputs.iter().enumerate() {
                if let Some(at) = at.filter(|at| draft.is_constant(*at)) {
                    let form = Form::of(draft, at);
                    read.insert((step.name().to_owned(), port), Read { at, form });
                }
            }
        }
        Self(read)
    }

    /// What follows from an edit.
    pub fn follow(&self, draft: &mut Draft, transform: &Transform, done: &mut Done) {
        match transform {
            Transform::Precision { to, weights_only, layers } => {
                let whole = layers.is_none() && !weights_only;
                self.idle(draft, whole.then_some(*to), done);
            }
            Transform::Sparsity { .. } | Transform::Width(_) => {
                self.idle(draft, None, done);
                self.forget_live(draft);
            }
            Transform::Separable(_) => self.forget_live(draft),
            Transform::Fuse | Transform::Batch(_) | Transform::Resolution(_) => {}
        }
    }

    /// Changes what no operator reads like what is read and was stored alike; where nothing was,
    /// `whole` says which format all numbers of the network take.
    fn idle(&self, draft: &mut Draft, whole: Option<ElementType>, done: &mut Done) {
        if draft.idle.is_empty() {
            return;
        }
        let fates = self.fates(draft);
        let mut count = 0;
        for at in draft.idle.clone() {
            let form = Form::of(draft, at).of_one();
            let alike = fates.iter().find(|(before, _)| *before == form).map(|(_, fates)| fates);
            match alike.map(|fates| &fates[..]) {
                Some([Fate::Gone]) => {
                    draft.idle.remove(&at);
                    count += 1;
                }
                Some([Fate::Is(made)]) => count += usize::from(become_like(draft, at, made)),
                Some(_) => {
                    let reason =
                        "no operator reads it, and those stored like it change differently";
                    done.kept.push(Fallback::new(&draft.tensor(at).name, reason));
                }
                None => {
                    let Some(to) = whole.filter(|_| is_format(form.element)) else { continue };
                    let made = Form { element: to, ..form };
                    count += usize::from(become_like(draft, at, &made));
                }
            }
        }
        let one = "stored tensor that no operator reads follows";
        done.count(count, one, "stored tensors that no operator reads follow");
    }

    /// How stored tensors were, and what became of all that were so.
    fn fates(&self, draft: &Draft) -> Vec<(Form, Vec<Fate>)> {
        let steps: BTreeMap<&str, _> = draft.steps.iter().map(|s| (s.name(), s)).collect();
        let mut fates: Vec<(Form, Vec<Fate>)> = Vec::new();
        for ((name, port), read) in &self.0 {
            let now = steps.get(name.as_str()).and_then(|step| step.input(*port));
            let fate = now.map_or(Fate::Gone, |at| Fate::Is(Form::of(draft, at).of_one()));
            let before = read.form.clone().of_one();
            match fates.iter_mut().find(|(form, _)| *form == before) {
                Some((_, known)) if known.contains(&fate) => {}
                Some((_, known)) => known.push(fate),
                None => fates.push((before, vec![fate])),
            }
        }
        fates
    }

    /// Drops live channels that were found in filters which are no longer there.
    fn forget_live(&self, draft: &mut Draft) {
        let mut changed: BTreeSet<At> = BTreeSet::new();
        let mut forgotten = Vec::new();
        for (i, step) in draft.steps.iter().enumerate() {
            let filter = step.input(1).filter(|at| draft.is_constant(*at));
            let same = filter.is_none_or(|at| {
                let before = self.0.get(&(step.name().to_owned(), 1));
                before.is_some_and(|read| read.at == at && read.form == Form::of(draft, at))
            });
            if !same || step.inputs.iter().flatten().any(|at| changed.contains(at)) {
                changed.extend(step.outputs.iter().copied());
                forgotten.push(i);
            }
        }
        for i in forgotten {
            if let Some(step) = draft.steps.get_mut(i) {
                step.operator.live = None;
                // They were measured behind other filters.
                step.operator.input_zeros = None;
            }
        }
    }
}

/// Stores a tensor as another is, with as many experts as it has.
fn become_like(draft: &mut Draft, at: At, made: &Form) -> bool {
    let before = Form::of(draft, at);
    let experts = before.shape.as_ref().filter(|shape| shape.rank() > 2).and_then(|s| s.0.first());
    let shape = made
        .shape
        .clone()
        .map(|shape| Shape(experts.copied().into_iter().chain(shape.0).collect()));
    let after = Form { shape, ..made.clone() };
    if after == before {
        return false;
    }
    let tensor = draft.tensor_mut(at);
    (tensor.shape, tensor.element, tensor.sparsity) = (after.shape, after.element, after.sparsity);
    tensor.statistics = None;
    tensor.encoded_bytes = None;
    true
}
