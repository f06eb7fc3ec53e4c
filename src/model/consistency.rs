//! Whether the shapes of an operator agree with each other and with its settings.
//!
//! [`ModelGraph::layers`] counts work from what the file states, and refuses only what cannot be
//! counted. Here the statements are held against each other. In a graph written by hand, two that
//! disagree are a fault; a file of another tool is read all the same, and a note says what does
//! not fit in it: the tool may mean something that these rules do not know.

mod product;
mod window;

pub(super) use product::product_of_shapes;
pub(super) use window::positions;

use super::arithmetic::Operands;
use super::misfit::{Misfit, Part};
use super::{
    ElementFunction, Layout, ModelGraph, Movement, Op, Operator, OperatorId, Shape, Tensor,
    TensorRole,
};

/// Operators that importers file under a view or a transposition, though the number of elements
/// changes: they read only extents, or trim and fill borders on the way.
const CHANGE_THE_COUNT: [&str; 9] = [
    "SHAPE",
    "RANK",
    "BROADCAST_ARGS",
    "VAR_HANDLE",
    "READ_VARIABLE",
    "SPACE_TO_BATCH_ND",
    "BATCH_TO_SPACE_ND",
    "Shape",
    "Size",
];

/// The one element-wise operator whose mask is aligned to the front.
const MASK_IN_FRONT: &str = "SELECT";

/// The one normalisation that may have a scale for each group of channels.
const SCALE_OF_GROUPS: &str = "GroupNormalization";

impl ModelGraph {
    /// What does not fit in an operator.
    pub(super) fn misfits(&self, id: OperatorId) -> Vec<Misfit> {
        let operands = Operands::of(self, id);
        let mut check = Check { o: &operands, found: Vec::new() };
        check.roles();
        check.operator(self.operator(id));
        check.found
    }

    /// What does not fit in the whole graph, one line each, for the reader of an imported file.
    pub(super) fn misfit_notes(&self) -> Vec<String> {
        let empty = self.tensors().map(|id| self.tensor(id)).filter_map(empty_note);
        let misfits = self.operators().flat_map(|id| {
            let name = &self.operator(id).name;
            self.misfits(id).into_iter().map(move |misfit| misfit_note(name, &misfit))
        });
        empty.chain(misfits).collect()
    }
}

/// The note on something that does not fit in an operator.
pub(super) fn misfit_note(operator: &str, misfit: &Misfit) -> String {
    format!("operator `{operator}` is counted as the file states it, but: {}", misfit.reason)
}

/// The note on a tensor without elements.
pub(super) fn empty_note(tensor: &Tensor) -> Option<String> {
    let shape = tensor.shape.as_ref()?;
    empty_axis(tensor)?;
    Some(format!("tensor `{}` of {shape} has no elements; work on it counts as 0", tensor.name))
}

/// The first axis of no extent. A stored empty list (no axes, no paddings) is none of them.
pub(super) fn empty_axis(tensor: &Tensor) -> Option<usize> {
    let shape = tensor.shape.as_ref()?;
    let empty_list = tensor.role == TensorRole::Constant && shape.rank() == 1;
    shape.0.iter().position(|extent| *extent == 0).filter(|_| !empty_list)
}

struct Check<'a> {
    o: &'a Operands<'a>,
    found: Vec<Misfit>,
}

impl<'a> Check<'a> {
    fn input(&self, port: usize) -> Option<&'a Shape> {
        self.o.input(port)?.shape.as_ref()
    }

    fn output(&self) -> Option<&'a Shape> {
        self.o.output()?.shape.as_ref()
    }

    /// Input and first output, where both are known.
    fn through(&self) -> Option<(&'a Shape, &'a Shape)> {
        self.input(0).zip(self.output())
    }

    fn layout(&self) -> Layout {
        self.o.layout
    }

    fn at_input(&mut self, port: usize, reason: String) {
        self.found.push(Misfit::input(port, reason));
    }

    fn at_output(&mut self, reason: String) {
        self.found.push(Misfit::output(reason));
    }

    fn at_setting(&mut self, field: String, reason: impl Into<String>) {
        self.found.push(Misfit::new(Part::Setting(field), reason));
    }

    fn roles(&mut self) {
        let o = self.o;
        for (port, tensor) in o.outputs.iter().enumerate() {
            if tensor.role != TensorRole::Activation {
                let reason =
                    format!("`{}` has role {:?}, but is made here", tensor.name, tensor.role);
                self.found.push(Misfit::new(Part::Output(port), reason));
            }
        }
    }

    /// What is added to a result on its way out has the extents of the result.
    fn residual(&mut self) {
        let Some(port) = self.o.inputs.len().checked_sub(1) else { return };
        let (Some(added), Some(output)) = (self.input(port), self.output()) else { return };
        if port == 0 || added != output {
            self.at_input(
                port,
                format!("a residual of {added} does not fit an output of {output}"),
            );
        }
    }

    fn operator(&mut self, operator: &Operator) {
        if operator.op == Op::Opaque || !self.countable(&operator.op) {
            return;
        }
        let product =
            matches!(operator.op, Op::Convolution(_) | Op::FullyConnected | Op::MatMul { .. });
        if operator.residual && product {
            self.residual();
        } else if operator.residual {
            self.at_output("only a convolution or a product adds a residual".into());
        }
        let counts = !CHANGE_THE_COUNT.contains(&operator.native.as_str());
        match &operator.op {
            Op::Convolution(convolution) => self.convolution(convolution),
            Op::Pool(pool) => self.pool(pool),
            Op::FullyConnected => self.fully_connected(),
            Op::MatMul { transpose_a, transpose_b } => {
                self.matrix_product(*transpose_a, *transpose_b);
            }
            Op::Einsum(equation) => self.contraction(equation),
            Op::Recurrence(recurrence) => self.recurrence(recurrence),
            // Tables of sines and cosines stand beside what is turned.
            Op::Elementwise(ElementFunction::Rotate) => self.kept(),
            Op::Elementwise(_) if operator.native != MASK_IN_FRONT => self.element_wise(),
            Op::Movement(Movement::View | Movement::Transpose) if counts => self.kept(),
            Op::Movement(Movement::Concatenate) => self.joined(),
            Op::BatchNormalisation | Op::Normalisation => {
                self.kept();
                if operator.native != SCALE_OF_GROUPS {
                    self.statistics();
                }
            }
            Op::Softmax | Op::LocalResponseNormalisation { .. } | Op::Convert => self.kept(),
            Op::Elementwise(_) | Op::Movement(_) | Op::Reduce(_) | Op::Opaque => {}
        }
    }

    /// Whether all shapes are there to count by. What moves data may have no input (a range) or no
    /// output (a variable that is set).
    fn countable(&mut self, op: &Op) -> bool {
        let before = self.found.len();
        let o = self.o;
        let unknown = |tensor: &Tensor| {
            tensor.shape.is_none().then(|| {
                format!(
                    "the shape of `{}` is not given, so that the work cannot be counted; an \
                     operator of unknown work is Opaque",
                    tensor.name
                )
            })
        };
        for (port, tensor) in o.inputs.iter().enumerate() {
            if let Some(reason) = tensor.and_then(unknown) {
                self.at_input(port, reason);
            }
        }
        if let Some(reason) = o.output().and_then(unknown) {
            self.at_output(reason);
        }
        if !matches!(op, Op::Movement(_)) {
            if o.input(0).is_none() {
                self.at_input(0, "its first input is missing".into());
            }
            if o.output().is_none() {
                self.at_output("its output is missing".into());
            }
        }
        self.found.len() == before
    }

    /// As many elements behind as before; a reinterpretation may keep the bytes instead.
    fn kept(&mut self) {
        let Some((input, output)) = self.o.input(0).zip(self.o.output()) else { return };
        let same = input.elements() == output.elements() || input.bytes() == output.bytes();
        if let Some((before, after)) = input.shape.as_ref().zip(output.shape.as_ref())
            && !same
        {
            self.at_output(format!(
                "an output of {after} has {} elements, its input of {before} has {}",
                count(after),
                count(before)
            ));
        }
    }

    /// Stored scales, shifts and statistics: one number, one for each channel, or one for each
    /// element of some innermost axes.
    fn statistics(&mut self) {
        let Some(data) = self.input(0) else { return };
        let channels = match (self.layout(), data.rank()) {
            (Layout::ChannelsFirst, 2..) => data.extent(1),
            _ => data.last(),
        };
        let mut inner = 1u64;
        let innermost = data.0.iter().rev().map_while(|extent| {
            inner = inner.checked_mul(*extent)?;
            Some(inner)
        });
        let sizes: Vec<_> = [1, channels].into_iter().chain(innermost).collect();
        for (port, tensor) in self.o.inputs.iter().enumerate().skip(1) {
            let stored = tensor.filter(|tensor| tensor.role == TensorRole::Constant);
            let Some(shape) = stored.and_then(|tensor| tensor.shape.as_ref()) else { continue };
            let fits = shape.elements().is_some_and(|n| n == 0 || sizes.contains(&n))
                || broadcast(&data.0, &shape.0).as_deref() == Some(&data.0);
            if !fits {
                self.at_input(
                    port,
                    format!("{shape} stored numbers do not fit an input of {data}"),
                );
            }
        }
    }

    fn joined(&mut self) {
        let Some(output) = self.output() else { return };
        let mut inputs = self.o.inputs.iter().flatten().map(|t| t.elements());
        let sum = inputs.try_fold(0u64, |sum, n| sum.checked_add(n?));
        if sum.is_some() && sum != output.elements() {
            self.at_output(format!(
                "an output of {output} has {} elements, its inputs have {} together",
                count(output),
                sum.unwrap_or(0)
            ));
        }
    }

    fn element_wise(&mut self) {
        let Some(output) = self.output() else { return };
        let mut all: Option<Shape> = None;
        for (port, tensor) in self.o.inputs.iter().enumerate() {
            let Some(shape) = tensor.and_then(|t| t.shape.as_ref()) else { continue };
            let so_far = all.take().unwrap_or_default();
            match broadcast(&so_far.0, &shape.0) {
                Some(joined) => all = Some(Shape(joined)),
                None => {
                    let reason = format!("an operand of {shape} does not broadcast with {so_far}");
                    return self.at_input(port, reason);
                }
            }
        }
        if let Some(made) = all.filter(|made| made.elements() != output.elements()) {
            self.at_output(format!("an output of {output}, where its inputs make {made}"));
        }
    }
}

/// The elements of a shape, for a message.
fn count(shape: &Shape) -> String {
    shape.elements().map_or_else(|| "too many".to_owned(), |n| n.to_string())
}

/// The shape that two make together: aligned at the end, an extent of 1 stretches.
pub(super) fn broadcast(a: &[u64], b: &[u64]) -> Option<Vec<u64>> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut joined = long.to_vec();
    for (at, other) in joined[long.len() - short.len()..].iter_mut().zip(short) {
        *at = match (*at, *other) {
            (a, b) if a == b => a,
            (1, b) => b,
            (a, 1) => a,
            _ => return None,
        };
    }
    Some(joined)
}

#[cfg(test)]
mod tests;
