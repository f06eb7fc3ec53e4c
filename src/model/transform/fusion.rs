//! What is done to a result on its way out of the operator that makes it.
//!
//! Behind an operator of MAC work, and nowhere else read: a normalisation by stored statistics folds
//! into filters and bias, an addition of a constant for each channel becomes the bias, the addition
//! of another tensor that is there by then becomes a residual, and an activation is done on the way
//! out. Multiply-accumulates stay; tensors in between are neither written nor read.
//!
//! A fold multiplies each filter by a number of its own. Filters and biases that other operators read
//! too are copied for it, since those need them as they were.

use super::draft::{At, Draft, Step};
use super::precision::bias_format;
use super::record::{Done, Fallback};
use crate::model::arithmetic::{activation, image_axes};
use crate::model::{ElementFunction as F, Layout, Movement, Op, Shape, Tensor, TensorRole};
use std::collections::BTreeMap;

pub(super) fn fuse(draft: &mut Draft) -> Done {
    let mut fusion = Fusion {
        readers: draft.readers(),
        makers: draft.makers(),
        steps: std::mem::take(&mut draft.steps).into_iter().map(Some).collect(),
        draft,
        folded: 0,
        biases: 0,
        residuals: 0,
        activations: 0,
        copied: 0,
    };
    for i in 0..fusion.steps.len() {
        while fusion.absorb(i) {}
    }
    let mut done = Done::default();
    fusion.pads(&mut done);
    fusion.other_axes(&mut done);
    done.count(
        fusion.folded,
        "normalisation folded into filters",
        "normalisations folded into filters",
    );
    done.count(
        fusion.copied,
        "stored tensor copied, since others read it as it was",
        "stored tensors copied, since others read them as they were",
    );
    done.count(fusion.biases, "addition became a bias", "additions became biases");
    done.count(fusion.residuals, "residual addition fused", "residual additions fused");
    done.count(fusion.activations, "activation fused", "activations fused");
    draft.steps = std::mem::take(&mut fusion.steps).into_iter().flatten().collect();
    done
}

struct Fusion<'a> {
    draft: &'a mut Draft,
    /// A step is gone when another has absorbed it.
    steps: Vec<Option<Step>>,
    readers: BTreeMap<At, Vec<usize>>,
    makers: BTreeMap<At, usize>,
    folded: usize,
    biases: usize,
    residuals: usize,
    activations: usize,
    copied: usize,
}

/// What a step becomes for another.
enum Part {
    Normalisation,
    Bias(At),
    Residual(At),
    Activation,
}

impl Fusion<'_> {
    fn step(&self, i: usize) -> Option<&Step> {
        self.steps.get(i)?.as_ref()
    }

    /// Takes the one reader of a step's result into it; false when that cannot be.
    fn absorb(&mut self, i: usize) -> bool {
        let Some((reader, part)) = self.fusible(i) else { return false };
        if matches!(part, Part::Normalisation) {
            self.own(i, 1);
            self.own(i, 2);
        }
        let absorbed = self.steps.get_mut(reader).and_then(Option::take);
        let step = self.steps.get_mut(i).and_then(Option::as_mut);
        let (Some(absorbed), Some(step)) = (absorbed, step) else { return false };
        match part {
            Part::Normalisation => {
                self.folded += 1;
                if step.input(2).is_none()
                    && let Some(bias) = new_bias(self.draft, step, &absorbed)
                {
                    step.set_input(2, bias);
                }
            }
            Part::Bias(bias) => {
                self.biases += 1;
                step.set_input(2, bias);
            }
            Part::Residual(other) => {
                self.residuals += 1;
                let port = step.inputs.len().max(3);
                step.set_input(port, other);
                step.operator.residual = true;
                for readers in self.readers.get_mut(&other).into_iter().flatten() {
                    *readers = if *readers == reader { i } else { *readers };
                }
            }
            Part::Activation => {
                self.activations += 1;
                step.operator.fused_activation = Some(activation_name(&absorbed));
            }
        }
        if !matches!(part, Part::Activation) {
            step.operator.fused_activation = absorbed.operator.fused_activation.clone();
        }
        for output in &absorbed.outputs {
            self.makers.insert(*output, i);
        }
        step.outputs = absorbed.outputs;
        true
    }

    /// Gives a step numbers of its own to fold into, of which no more is known than before.
    fn own(&mut self, i: usize, port: usize) {
        let Some(at) = self.step(i).and_then(|step| step.input(port)) else { return };
        let read = self.readers.get(&at).map_or(&[][..], |readers| readers);
        let others = read.iter().any(|j| *j != i && self.step(*j).is_some());
        if !others {
            self.draft.tensor_mut(at).statistics = None;
            self.draft.tensor_mut(at).encoded_bytes = None;
            return;
        }
        let copy =
            Tensor { statistics: None, encoded_bytes: None, ..self.draft.tensor(at).clone() };
        let copy = self.draft.add(copy);
        self.copied += 1;
        self.readers.insert(copy, vec![i]);
        if let Some(readers) = self.readers.get_mut(&at) {
            readers.retain(|reader| *reader != i);
        }
        if let Some(step) = self.steps.get_mut(i).and_then(Option::as_mut) {
            step.set_input(port, copy);
        }
    }

    /// The one reader of a step's only result, and what it becomes.
    fn fusible(&self, i: usize) -> Option<(usize, Part)> {
        let step = self.step(i)?;
        let [made] = step.outputs[..] else { return None };
        let [reader] = self.readers.get(&made)?[..] else { return None };
        let next = self.step(reader)?;
        let [result] = next.outputs[..] else { return None };
        let same = self.draft.tensor(made).element == self.draft.tensor(result).element
            && self.draft.shape(made) == self.draft.shape(result);
        if !same || self.draft.outputs.contains(&made) || step.operator.fused_activation.is_some() {
            return None;
        }
        let part = match next.operator.op {
            Op::Elementwise(F::Clip | F::SmoothActivation) => self.as_activation(step, next, made),
            _ if step.operator.residual || !is_product(&step.operator.op) => None,
            Op::BatchNormalisation => self.as_normalisation(step, next, made),
            Op::Elementwise(F::Add) => self.as_addition(i, step, next, made),
            _ => None,
        };
        part.map(|part| (reader, part))
    }

    /// Of other operands only single limits are part of an activation.
    fn as_activation(&self, step: &Step, next: &Step, made: At) -> Option<Part> {
        let before = is_product(&step.operator.op) || step.operator.op == Op::Elementwise(F::Add);
        let limits = |at: &At| {
            self.draft.is_constant(*at) && self.draft.tensor(*at).elements().is_some_and(|n| n <= 1)
        };
        let only = next.inputs.iter().flatten().all(|at| *at == made || limits(at));
        let plain = next.operator.fused_activation.is_none() && next.input(0) == Some(made);
        (before && only && plain).then_some(Part::Activation)
    }

    fn as_normalisation(&self, step: &Step, next: &Step, made: At) -> Option<Part> {
        let mut statistics = next.inputs.iter().skip(1).flatten();
        let stored = statistics.all(|at| self.draft.is_constant(*at))
            && self.draft.is_constant(step.input(1)?)
            && step.input(2).is_none_or(|at| self.draft.is_constant(at));
        let fits = stored && next.input(0) == Some(made) && self.is_by_column(step, next, made);
        fits.then_some(Part::Normalisation)
    }

    /// Whether what a normalisation scales is the columns of the product in front of it.
    fn is_by_column(&self, step: &Step, normalisation: &Step, made: At) -> bool {
        let Some(shape) = self.draft.shape(made) else { return false };
        let rank = shape.rank();
        let channels = match self.draft.layout {
            Layout::ChannelsFirst if rank > 1 => 1,
            _ => rank.saturating_sub(1),
        };
        let mut statistics = normalisation.inputs.iter().skip(1).flatten();
        channel_axis(&step.operator.op, self.draft, shape) == Some(channels)
            && statistics
                .all(|at| self.draft.tensor(*at).elements() == Some(shape.extent(channels)))
    }

    /// Normalisations behind a product that scale something else than its columns.
    fn other_axes(&self, done: &mut Done) {
        let normalisations = self.steps.iter().flatten();
        for step in normalisations.filter(|step| step.operator.op == Op::BatchNormalisation) {
            let made = step.input(0).and_then(|at| Some((at, *self.makers.get(&at)?)));
            let Some((made, product)) = made.and_then(|(at, i)| Some((at, self.step(i)?))) else {
                continue;
            };
            if is_product(&product.operator.op) && !self.is_by_column(product, step, made) {
                let reason = format!("it does not scale the columns of `{}`", product.name());
                done.kept.push(Fallback::new(step.name(), reason));
            }
        }
    }

    fn as_addition(&self, i: usize, step: &Step, next: &Step, made: At) -> Option<Part> {
        let [Some(a), Some(b)] = next.inputs[..] else { return None };
        let other = if a == made { b } else { a };
        if self.draft.is_constant(other) {
            let fits = step.input(2).is_none() && self.is_bias(&step.operator.op, other, made);
            return fits.then_some(Part::Bias(other));
        }
        // A state may be written in between.
        let kept = self.draft.tensor(other).role == TensorRole::State;
        let ready = !kept && self.makers.get(&other).is_none_or(|maker| *maker < i);
        let fits = self.draft.shape(other) == self.draft.shape(made) && other != made;
        (ready && fits && !next.operator.residual).then_some(Part::Residual(other))
    }

    /// One constant for each channel of the result.
    fn is_bias(&self, op: &Op, constant: At, made: At) -> bool {
        let shapes = self.draft.shape(constant).zip(self.draft.shape(made));
        let Some((constant, made)) = shapes else { return false };
        let Some(axis) = channel_axis(op, self.draft, made) else { return false };
        let Some(missing) = made.rank().checked_sub(constant.rank()) else { return false };
        let Some(at) = axis.checked_sub(missing) else { return false };
        let channels = made.extent(axis);
        constant.0.get(at) == Some(&channels) && constant.elements() == Some(channels)
    }

    /// Borders in front of a convolution stay: how much is before and how much behind is not stated.
    fn pads(&self, done: &mut Done) {
        for step in self.steps.iter().flatten() {
            let Some(made) = step.output() else { continue };
            let mut readers = self.readers.get(&made).into_iter().flatten();
            let before = readers.any(|reader| {
                self.step(*reader).is_some_and(|s| matches!(s.operator.op, Op::Convolution(_)))
            });
            if step.operator.op == Op::Movement(Movement::Pad) && before {
                let reason = "its borders are stated in sum alone, not on each side";
                done.kept.push(Fallback::new(step.name(), reason));
            }
        }
    }
}

fn is_product(op: &Op) -> bool {
    matches!(op, Op::Convolution(_) | Op::FullyConnected | Op::MatMul { .. })
}

fn channel_axis(op: &Op, draft: &Draft, made: &Shape) -> Option<usize> {
    let rank = made.rank();
    match op {
        Op::Convolution(_) if rank >= 3 => Some(image_axes(draft.layout, rank).0),
        Op::Convolution(_) => None,
        _ => rank.checked_sub(1),
    }
}

/// The shift that a folded normalisation leaves, one for each channel.
fn new_bias(draft: &mut Draft, step: &Step, normalisation: &Step) -> Option<At> {
    let made = draft.shape(step.output()?)?;
    let channels = made.extent(channel_axis(&step.operator.op, draft, made)?);
    let statistics = normalisation.input(1).or(step.input(1))?;
    let element = draft.tensor(statistics).element;
    let element = bias_format(element, element);
    let name = format!("{}/bias", step.name());
    let shape = Some(Shape(vec![channels]));
    Some(draft.add(Tensor::new(name, shape, element, TensorRole::Constant)))
}

/// The file's own word for the activation, where that says what it is.
fn activation_name(step: &Step) -> String {
    let Op::Elementwise(function) = step.operator.op else { return String::new() };
    let native = &step.operator.native;
    if !native.is_empty() && activation(native) == function {
        return native.clone();
    }
    let word = if function == F::Clip { "CLIP" } else { "SMOOTH" };
    word.to_owned()
}
