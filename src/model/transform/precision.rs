//! Another number format, of the whole network or of layers.
//!
//! What an operator reads, makes and stores as numbers takes the format; its bias is Int32 where the
//! format is an integer, as accumulators are. Indices, extents and masks (Bool, 32- and 64-bit
//! integers) are no numbers and stay, and so do the scales of integer filters, which go where the
//! filter no longer needs them. Where an operator that takes the format meets one that does not, a
//! `Convert` operator stands between them, once for each tensor and format; where the tensor was
//! converted from the format to begin with, what it was converted from is read instead.
//!
//! Integer toolchains keep some operators in float, and so does this: statistics-based
//! normalisation, transcendental functions, products by an equation and opaque operators; below 8
//! bits also softmax and smooth activations, which are tables or polynomials of more bits. One that
//! is asked for by its own name, or that computes in integers already, is converted all the same.

use super::Refusal;
use super::draft::{At, Draft, Step};
use super::filters::{both_formats, convert_filters, drop_scales};
use super::parse::is_format;
use super::record::{Done, Fallback};
use super::select::{Meant, select};
use crate::model::operand::is_written_in_place;
use crate::model::{ElementFunction, ElementType, Op, Operator, Tensor, TensorRole};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn convert(
    draft: &mut Draft,
    to: ElementType,
    weights_only: bool,
    layers: Option<&str>,
) -> Result<Done, Refusal> {
    if !is_format(to) {
        return Err(Refusal::Value(format!("nothing is computed in {to}")));
    }
    let meant = select(draft, layers)?;
    if weights_only {
        return convert_filters(draft, to, &meant);
    }
    let mut conversion = Conversion {
        before: draft.all().map(|at| (at, draft.tensor(at).element)).collect(),
        to,
        whole: layers.is_none(),
        copies: BTreeMap::new(),
        stands_for: BTreeMap::new(),
        made_from: BTreeMap::new(),
        passed_over: BTreeSet::new(),
        steps: Vec::with_capacity(draft.steps.len()),
        converted: 0,
        added: 0,
        left_out: 0,
        done: Done::default(),
    };
    conversion.inputs(draft);
    let steps = std::mem::take(&mut draft.steps);
    for (step, meant) in steps.into_iter().zip(meant) {
        conversion.step(draft, step, meant);
    }
    conversion.outputs(draft);
    conversion.leave_out_unread(draft);
    draft.steps = conversion.steps;
    let mut done = conversion.done;
    let scales = drop_scales(draft);
    done.count(scales, "filter needs no scales any more", "filters need no scales any more");
    both_formats(draft, &conversion.copies, &mut done);
    done.count(conversion.converted, "operator converted", "operators converted");
    done.count(conversion.added, "conversion added", "conversions added");
    let (one, many) =
        ("conversion that changes nothing left out", "conversions that change nothing left out");
    done.count(conversion.left_out, one, many);
    Ok(done)
}

/// The constant in another format: a tensor of its own, since others may read the first.
pub(super) fn copy_as(
    draft: &mut Draft,
    copies: &mut BTreeMap<(At, ElementType), At>,
    constant: At,
    to: ElementType,
) -> At {
    if draft.tensor(constant).element == to {
        return constant;
    }
    if let Some(made) = copies.get(&(constant, to)) {
        return *made;
    }
    // The numbers change with the format, and with them what was known of them.
    let copy = Tensor {
        element: to,
        statistics: None,
        encoded_bytes: None,
        ..draft.tensor(constant).clone()
    };
    let made = draft.add(copy);
    draft.take_name(made, constant, "before");
    copies.insert((constant, to), made);
    made
}

struct Conversion {
    before: BTreeMap<At, ElementType>,
    to: ElementType,
    whole: bool,
    /// Tensors that are there in another format too.
    copies: BTreeMap<(At, ElementType), At>,
    /// Results of conversions that were left out.
    stands_for: BTreeMap<At, At>,
    /// What conversions of the file are made from.
    made_from: BTreeMap<At, At>,
    /// Results of such that were read past.
    passed_over: BTreeSet<At>,
    steps: Vec<Step>,
    converted: usize,
    added: usize,
    left_out: usize,
    done: Done,
}

impl Conversion {
    /// Inputs of the network take the format with the network.
    fn inputs(&self, draft: &mut Draft) {
        for at in draft.all().filter(|_| self.whole) {
            let tensor = draft.tensor_mut(at);
            if tensor.role.is_handed_in() && is_format(tensor.element) {
                tensor.element = self.to;
            }
        }
    }

    fn step(&mut self, draft: &mut Draft, mut step: Step, meant: Meant) {
        let read = step.inputs.clone();
        // What is written into a state that keeps its format takes that format.
        let meant = if self.writes_kept_state(draft, &step) { Meant::Not } else { meant };
        for input in step.inputs.iter_mut().flatten() {
            *input = self.stands_for.get(input).copied().unwrap_or(*input);
        }
        if step.operator.op == Op::Convert {
            let read = read.first().copied().flatten();
            return self.conversion(draft, step, read, meant);
        }
        let stays = if meant == Meant::Among { self.stays(draft, &step) } else { None };
        if let Some(reason) = stays {
            self.done.kept.push(Fallback::new(step.name(), reason));
        }
        if meant == Meant::Not || stays.is_some() {
            self.restore(draft, &mut step, &read);
        } else {
            self.convert(draft, &mut step);
        }
        self.steps.push(step);
    }

    fn writes_kept_state(&self, draft: &Draft, step: &Step) -> bool {
        step.inputs.iter().enumerate().any(|(port, input)| {
            let tensor = input.map(|at| draft.tensor(at)).filter(|t| t.element != self.to);
            tensor.is_some_and(|t| is_written_in_place(&step.operator.op, port, t.role))
        })
    }

    /// Why an operator stays in float, if it does.
    fn stays(&self, draft: &Draft, step: &Step) -> Option<&'static str> {
        let computed = step.inputs.iter().flatten().filter(|at| !draft.is_constant(**at));
        let mut formats = computed.chain(&step.outputs).filter_map(|at| self.before.get(at));
        if is_wide_float(self.to) || !formats.any(|format| is_wide_float(*format)) {
            return None;
        }
        let narrow = self.to.bits() < 8;
        match step.operator.op {
            Op::Normalisation | Op::LocalResponseNormalisation { .. } => {
                Some("normalisation by statistics of the data is computed in float")
            }
            Op::Elementwise(ElementFunction::Transcendental) => {
                Some("a transcendental function is computed in float")
            }
            Op::Einsum(_) => Some("a product by an equation is computed in float"),
            Op::Opaque => Some("what it computes is not known"),
            Op::Softmax | Op::Elementwise(ElementFunction::SmoothActivation) if narrow => {
                Some("it needs more than 4 bits")
            }
            _ => None,
        }
    }

    /// Hands an operator that does not change what it read before.
    fn restore(&mut self, draft: &mut Draft, step: &mut Step, read: &[Option<At>]) {
        for (input, read) in step.inputs.iter_mut().zip(read) {
            let (Some(at), Some(read)) = (*input, read) else { continue };
            let element = self.before.get(read).copied().unwrap_or(self.to);
            *input = Some(if draft.is_constant(at) {
                copy_as(draft, &mut self.copies, at, element)
            } else {
                self.as_format(draft, at, element)
            });
        }
    }

    fn convert(&mut self, draft: &mut Draft, step: &mut Step) {
        let mut changes = false;
        let op = step.operator.op.clone();
        for (port, input) in step.inputs.iter_mut().enumerate() {
            let Some(at) = *input else { continue };
            let element = draft.tensor(at).element;
            let wanted = if is_bias(&op, port) && draft.is_constant(at) {
                bias_format(element, self.to)
            } else if is_scale(&op, port) && draft.is_constant(at) {
                element
            } else if is_format(element) {
                self.to
            } else {
                element
            };
            changes |= self.before.get(&at).is_some_and(|before| *before != wanted);
            let converted = if draft.is_constant(at) {
                copy_as(draft, &mut self.copies, at, wanted)
            } else {
                self.as_format(draft, at, wanted)
            };
            *input = Some(converted);
        }
        for output in &step.outputs {
            changes |= self.made_in_format(draft, *output);
        }
        self.converted += usize::from(changes);
    }

    fn made_in_format(&self, draft: &mut Draft, output: At) -> bool {
        let tensor = draft.tensor_mut(output);
        let changes = is_format(tensor.element) && tensor.element != self.to;
        if changes {
            tensor.element = self.to;
        }
        changes
    }

    /// A conversion of the file makes the format too, and is left out where it then changes nothing:
    /// around a quantised operator it stood for the operator's own format.
    fn conversion(&mut self, draft: &mut Draft, step: Step, read: Option<At>, meant: Meant) {
        let (Some(from), Some(to)) = (step.input(0), step.output()) else {
            return self.steps.push(step);
        };
        if meant == Meant::Not {
            return self.unchanged_conversion(draft, step, read, (from, to));
        }
        let converted = read.and_then(|at| self.before.get(&at)) != self.before.get(&to);
        let is_number = is_format(draft.tensor(to).element);
        self.made_in_format(draft, to);
        let (stored, made) = (draft.tensor(from), draft.tensor(to).element);
        // What is stored is stored converted.
        let constant = draft.is_constant(from)
            && (is_format(stored.element) || stored.element == ElementType::Int32);
        let same = constant || stored.element == made;
        // Others than the numbers may read its scale.
        let alone = step.outputs.len() == 1 && !draft.outputs.contains(&to);
        if is_number && converted && same && alone {
            self.stands_for.insert(to, from);
            self.left_out += 1;
        } else {
            self.made_from.insert(to, from);
            self.steps.push(step);
        }
    }

    /// A conversion outside of the layers goes on making what it made. Where it is handed that
    /// already, it has nothing to do.
    fn unchanged_conversion(
        &mut self,
        draft: &mut Draft,
        mut step: Step,
        read: Option<At>,
        (from, to): (At, At),
    ) {
        let changed = read.and_then(|at| self.before.get(&at)) != Some(&draft.tensor(from).element);
        let same = draft.tensor(from).element == draft.tensor(to).element;
        let alone = step.outputs.len() == 1 && !draft.outputs.contains(&to);
        if changed && same && !draft.is_constant(from) && alone {
            self.stands_for.insert(to, from);
            self.left_out += 1;
            return;
        }
        self.restore(draft, &mut step, &[read]);
        if let Some(from) = step.input(0) {
            self.made_from.insert(to, from);
        }
        self.steps.push(step);
    }

    /// Conversions of the file whose result was read, and is no more.
    fn leave_out_unread(&mut self, draft: &Draft) {
        let mut read: BTreeSet<At> = draft.outputs.iter().copied().collect();
        let mut kept = Vec::with_capacity(self.steps.len());
        for step in std::mem::take(&mut self.steps).into_iter().rev() {
            let passed_over = step.operator.op == Op::Convert
                && step
                    .outputs
                    .iter()
                    .all(|at| self.passed_over.contains(at) && !read.contains(at));
            if passed_over {
                self.left_out += 1;
                continue;
            }
            read.extend(step.inputs.iter().flatten());
            kept.push(step);
        }
        kept.reverse();
        self.steps = kept;
    }

    /// The tensor in a format, behind a conversion where it is not in it.
    fn as_format(&mut self, draft: &mut Draft, at: At, format: ElementType) -> At {
        let tensor = draft.tensor(at);
        if tensor.element == format || !is_format(format) || !is_format(tensor.element) {
            return at;
        }
        if let Some(made) = self.copies.get(&(at, format)) {
            return *made;
        }
        if let Some(from) = self.made_from.get(&at)
            && draft.tensor(*from).element == format
        {
            self.passed_over.insert(at);
            return *from;
        }
        let name = format!("{}/to_{format}", tensor.name);
        let shape = tensor.shape.clone();
        let made = draft.add(Tensor::new(name.clone(), shape, format, TensorRole::Activation));
        let name = draft.operator_name(name);
        let operator = Operator::new(name, "Convert", Op::Convert);
        self.steps.push(Step { operator, inputs: vec![Some(at)], outputs: vec![made] });
        self.added += 1;
        self.copies.insert((at, format), made);
        made
    }

    /// Where only layers change, the network hands out what it did.
    fn outputs(&mut self, draft: &mut Draft) {
        let outputs = std::mem::take(&mut draft.outputs);
        draft.outputs = outputs
            .into_iter()
            .map(|at| {
                let before = self.before.get(&at).copied().unwrap_or(self.to);
                if self.whole || draft.tensor(at).element == before {
                    return at;
                }
                let converted = self.as_format(draft, at, before);
                let suffix = draft.tensor(at).element.to_string();
                draft.take_name(converted, at, &suffix);
                converted
            })
            .collect();
    }
}

/// Floats that hold what is computed without scales.
fn is_wide_float(element: ElementType) -> bool {
    use ElementType as E;
    matches!(element, E::Float16 | E::BFloat16 | E::Float32 | E::Float64)
}

fn is_bias(op: &Op, port: usize) -> bool {
    let product = matches!(
        op,
        Op::Convolution(_) | Op::FullyConnected | Op::MatMul { .. } | Op::Recurrence(_)
    );
    product && port == 2
}

/// Scales stand behind the bias, and are stored; a residual that stands there is computed.
pub(super) fn is_scale(op: &Op, port: usize) -> bool {
    matches!(op, Op::Convolution(_) | Op::FullyConnected | Op::MatMul { .. }) && port > 2
}

/// Biases are added to accumulators, which are wide where products are of integers.
pub(super) fn bias_format(element: ElementType, to: ElementType) -> ElementType {
    match element {
        ElementType::Bool | ElementType::Other | ElementType::UInt32 | ElementType::UInt64 => {
            element
        }
        _ if is_wide_float(to) => to,
        _ if to.is_float() => ElementType::Float32,
        _ => ElementType::Int32,
    }
}
