//! How much work an operator is: multiply-accumulates, element operations, bytes.
//!
//! MAC means multiply-accumulate of convolution, fully connected and matrix product, counted from
//! shapes. Other arithmetic is counted apart, as element operations. FLOP would be 2 x MAC and is
//! never used for it.

use super::arithmetic::{Operands, activation, arithmetic};
use super::misfit::{Misfit, Part};
use super::operand::is_written_in_place;
use super::{
    ElementFunction, ElementOps, ElementType, Function, Live, ModelError, ModelGraph, Movement, Op,
    OpKind, Operand, OperandRole, OperatorId, Shape, Sparsity, Tensor, TensorRole,
};
use serde::Serialize;

/// The matrix product an operator amounts to: `groups` times `[m, k] x [k, n]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Gemm {
    /// Independent products (channel groups, batch of a batched product).
    pub groups: u64,
    /// Rows: output positions; of a transposed convolution, input positions.
    pub m: u64,
    /// Columns: output channels of a group; of a transposed convolution, times its window points.
    pub n: u64,
    /// Depth of the sum: window points times input channels of a group; of a transposed
    /// convolution, input channels of a group alone.
    pub k: u64,
}

impl Gemm {
    /// Multiply-accumulates of all groups.
    pub fn macs(self) -> u128 {
        let extents = [self.groups, self.m, self.n, self.k];
        extents.into_iter().fold(1, |product, e| product.saturating_mul(u128::from(e)))
    }
}

/// The sliding window of a convolution or of a pool, for dataflows that map its rows. A pool has as many
/// groups as channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Window {
    /// Window rows.
    pub kernel_height: u64,
    /// Window columns (all further spatial axes together).
    pub kernel_width: u64,
    /// Input rows.
    pub input_height: u64,
    /// Input columns (all further spatial axes together).
    pub input_width: u64,
    /// Output rows.
    pub output_height: u64,
    /// Output columns (all further spatial axes together).
    pub output_width: u64,
    /// Step of the window over input rows.
    pub stride_height: u64,
    /// Step over input columns (all further spatial axes together).
    pub stride_width: u64,
    /// Input channels of a group.
    pub input_channels: u64,
    /// Output channels in total.
    pub output_channels: u64,
    /// Channel groups.
    pub groups: u64,
    /// Samples.
    pub batch: u64,
    /// Distance of the points of a window over input rows.
    #[serde(skip)]
    pub dilation_height: u64,
}

/// The work of one operator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Work {
    /// Its kind.
    pub kind: OpKind,
    /// Multiply-accumulates.
    pub macs: u64,
    /// Multiply-accumulates that depend on the input of the network: without dead channels.
    pub live_macs: u64,
    /// Channels that depend on the input of the network, where some do not.
    #[serde(skip)]
    pub live: Option<Live>,
    /// Multiply-accumulates whose weight is a zero that is not stored: an engine that can skip leaves
    /// them out, any other does them all.
    pub skippable_macs: u64,
    /// Share of zeros in the data, 0 to 1: their products change no sum. 0 where nobody measured it.
    #[serde(skip)]
    pub input_zeros: f64,
    /// Other arithmetic, by element.
    pub element_ops: u64,
    /// The same by function.
    pub element_ops_by_function: ElementOps,
    /// Elements of constants read, biases included.
    pub parameters: u64,
    /// Bytes of constants read.
    pub weight_bytes: u64,
    /// Bytes of activations read.
    pub input_bytes: u64,
    /// Bytes written.
    pub output_bytes: u64,
    /// Elements written.
    pub output_elements: u64,
    /// What it reads, operand by operand.
    pub operands: Vec<Operand>,
    /// Which of the network's [`Buffers`](super::Buffers) its result lies in (of several results, that of
    /// the largest), where these have been made out.
    #[serde(skip)]
    pub output_buffer: Option<usize>,
    /// True where that is what the network hands out.
    #[serde(skip)]
    pub handed_out: bool,
    /// Type of the activations computed on.
    pub element: ElementType,
    /// The matrix product it amounts to, for MAC work.
    pub gemm: Option<Gemm>,
    /// The sliding window, for convolutions and pools.
    pub window: Option<Window>,
}

/// An operator with its work: what tables, mapping and cost go by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Layer {
    /// The operator's name.
    pub name: String,
    /// What the file calls its type.
    pub native: String,
    /// What it does within its kind, if the kind has several functions.
    pub function: Option<Function>,
    /// Shape of the first output, if known.
    pub output_shape: Option<Shape>,
    /// Its work.
    #[serde(flatten)]
    pub work: Work,
}

impl ModelGraph {
    /// Every operator with its work, in order. Errors name the operator whose shapes do not fit.
    pub fn layers(&self) -> Result<Vec<Layer>, ModelError> {
        let layer = |id| self.layer(id).map_err(|e| e.into_error(&self.operator(id).name));
        self.operators().map(layer).collect()
    }

    pub(super) fn layer(&self, id: OperatorId) -> Result<Layer, Misfit> {
        let operator = self.operator(id);
        let operands = Operands::of(self, id);
        let output = operands.output();
        let arithmetic = arithmetic(&operands, &operator.op)?;
        let mut operations = arithmetic.operations;
        if let (Some(name), Some(t)) = (&operator.fused_activation, output) {
            let function = activation(name);
            let each = function.operations_per_element();
            operations.add(function, t.elements().unwrap_or(0).saturating_mul(each));
        }
        if operator.residual {
            let added = output.and_then(Tensor::elements).unwrap_or(0);
            operations.add(ElementFunction::Add, added);
        }
        let moved = Moved::of(&operands, &operator.op, arithmetic.repeats)?;
        let work = Work {
            kind: arithmetic.kind,
            macs: arithmetic.macs,
            live_macs: live_macs(operator.live, arithmetic.macs),
            live: operator.live,
            skippable_macs: skippable_macs(&moved.read, arithmetic.macs),
            input_zeros: operator.input_zeros.unwrap_or(0.0),
            element_ops: operations.total(),
            element_ops_by_function: operations,
            parameters: moved.parameters,
            weight_bytes: moved.weight_bytes,
            input_bytes: moved.input_bytes,
            output_bytes: moved.output_bytes,
            output_elements: moved.output_elements,
            operands: moved.read,
            output_buffer: None,
            handed_out: false,
            element: computed_on(&operands, &operator.op),
            gemm: arithmetic.gemm,
            window: arithmetic.window,
        };
        Ok(Layer {
            name: operator.name.clone(),
            native: operator.native.clone(),
            function: Function::of(&operator.op),
            output_shape: output.and_then(|t| t.shape.clone()),
            work,
        })
    }
}

/// The live part, which is whole: both counts are channel pairs times the same positions and taps.
fn live_macs(live: Option<Live>, macs: u64) -> u64 {
    let Some(live) = live else { return macs };
    let part = u128::from(macs) * u128::from(live.products.min(live.of));
    u64::try_from(part / u128::from(live.of.max(1))).unwrap_or(macs)
}

/// The share of zeros in what the filters leave out.
fn skippable_macs(operands: &[Operand], macs: u64) -> u64 {
    let filters = operands.iter().find(|o| o.role == OperandRole::Filter);
    let density = filters.and_then(|o| o.sparsity).map_or(1.0, Sparsity::density);
    ((macs as f64 * (1.0 - density)).round() as u64).min(macs)
}

/// The type of the first computed operand that holds numbers, or of the output; of a table, that of
/// its rows. Masks and indices stand for an operator only where nothing in it holds numbers.
fn computed_on(operands: &Operands<'_>, op: &Op) -> ElementType {
    let computed = operands.inputs.iter().flatten().filter(|t| t.role != TensorRole::Constant);
    let table = operands.input(0).filter(|_| *op == Op::Movement(Movement::Gather));
    let read = table.into_iter().chain(computed.copied());
    let like = |wanted: Holds| read.clone().find(|t| holds(t.element) == wanted);
    let output = operands.output();
    let numbers = like(Holds::Numbers).or_else(|| like(Holds::Either));
    let numbers = numbers.or_else(|| output.filter(|t| holds(t.element) != Holds::Places));
    let shown = numbers.or_else(|| read.clone().next()).or(output);
    shown.map_or(ElementType::Other, |t| t.element)
}

/// What a type is used for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// What is computed on.
    Numbers,
    /// Accumulators, or indices.
    Either,
    /// Masks, indices, extents.
    Places,
}

fn holds(element: ElementType) -> Holds {
    use ElementType as E;
    match element {
        E::Int2 | E::Int4 | E::Int8 | E::UInt8 | E::Int16 | E::UInt16 => Holds::Numbers,
        _ if element.is_float() => Holds::Numbers,
        E::Int32 | E::UInt32 => Holds::Either,
        _ => Holds::Places,
    }
}

/// The data part of [`Work`].
#[derive(Default)]
struct Moved {
    parameters: u64,
    weight_bytes: u64,
    input_bytes: u64,
    output_bytes: u64,
    output_elements: u64,
    read: Vec<Operand>,
}

impl Moved {
    fn of(operands: &Operands<'_>, op: &Op, repeats: u64) -> Result<Self, Misfit> {
        let mut moved = Self::default();
        let written = operands.outputs.iter().filter_map(|t| t.elements());
        let written = written.fold(0, u64::saturating_add);
        for (port, tensor) in operands.inputs.iter().enumerate() {
            let Some(tensor) = tensor else { continue };
            let bytes = known(Part::Input(port), tensor, tensor.bytes())?;
            let elements = known(Part::Input(port), tensor, tensor.elements())?;
            if is_written_in_place(op, port, tensor.role) {
                continue;
            }
            let operand = Operand::of(op, port, tensor, elements, written, repeats);
            // Of a table, the picked rows.
            let bytes = if operand.elements < elements {
                operand.stored_bytes().ceil() as u64
            } else {
                bytes
            };
            moved.read.push(operand);
            let constant = tensor.role == TensorRole::Constant;
            if constant && is_parameter(op, port) {
                moved.parameters = moved.parameters.saturating_add(elements);
            }
            let sum = if constant { &mut moved.weight_bytes } else { &mut moved.input_bytes };
            *sum = added(*sum, bytes)?;
        }
        for (port, tensor) in operands.outputs.iter().enumerate() {
            let bytes = known(Part::Output(port), tensor, tensor.bytes())?;
            moved.output_bytes = added(moved.output_bytes, bytes)?;
            let elements = tensor.elements().unwrap_or(0);
            moved.output_elements = moved.output_elements.saturating_add(elements);
        }
        Ok(moved)
    }
}

fn added(sum: u64, bytes: u64) -> Result<u64, Misfit> {
    sum.checked_add(bytes)
        .ok_or_else(|| Misfit::new(Part::Whole, "its operands do not fit 64 bits"))
}

/// The first of the two ports at which a recurrence has its initial states.
pub(super) const INITIAL_STATES: usize = 9;

/// False for constants that say where data goes (a target shape, axes, paddings), and for scales and
/// zero points of quantised tensors, limits, tables of angles and initial states: they are stored, and
/// are no parameters of the network.
pub(super) fn is_parameter(op: &Op, port: usize) -> bool {
    match op {
        Op::Convolution(_) | Op::FullyConnected | Op::MatMul { .. } => port < 3,
        Op::Recurrence(_) => !(INITIAL_STATES..INITIAL_STATES + 2).contains(&port),
        Op::Elementwise(ElementFunction::Select) => port < 3,
        Op::Elementwise(ElementFunction::Rotate) => port == 0,
        Op::Elementwise(_) | Op::Softmax => port < 2,
        Op::Movement(Movement::Concatenate) => true,
        Op::Movement(_) | Op::Reduce(_) | Op::Convert | Op::Pool(_) => port == 0,
        _ => true,
    }
}

/// A size that is known, counted as 0 for a tensor of unknown shape (its operator is opaque and
/// listed as such), and an error when it does not fit 64 bits.
fn known(part: Part, tensor: &Tensor, size: Option<u64>) -> Result<u64, Misfit> {
    match (&tensor.shape, size) {
        (_, Some(size)) => Ok(size),
        (None, None) => Ok(0),
        (Some(shape), None) => {
            Err(Misfit::new(part, format!("tensor `{}` of {shape} is too large", tensor.name)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Convolution, Layout, Operator, Padding, TensorId};

    fn conv(groups: u64) -> Op {
        Op::Convolution(Convolution {
            strides: vec![1, 1],
            dilations: vec![1, 1],
            padding: Padding::Same,
            groups,
            transposed: false,
        })
    }

    fn one(layout: Layout, op: Op, shapes: &[&[u64]]) -> Result<Layer, ModelError> {
        let mut g = ModelGraph::new("g", layout);
        let roles = [TensorRole::Input, TensorRole::Constant, TensorRole::Activation];
        let ids: Vec<TensorId> = ["x", "w", "y"]
            .iter()
            .zip(shapes)
            .zip(roles)
            .map(|((n, s), r)| g.add(n, s, ElementType::Int8, r).unwrap())
            .collect();
        let operator = Operator::new("l", "OP", op);
        g.add_operator(operator, &[Some(ids[0]), Some(ids[1])], &[ids[2]]).unwrap();
        Ok(g.layers()?.remove(0))
    }

    #[test]
    fn a_convolution_counts_alike_in_both_layouts() {
        let last = one(
            Layout::ChannelsLast,
            conv(1),
            &[&[1, 32, 32, 3], &[16, 3, 3, 3], &[1, 32, 32, 16]],
        );
        let first = one(
            Layout::ChannelsFirst,
            conv(1),
            &[&[1, 3, 32, 32], &[16, 3, 3, 3], &[1, 16, 32, 32]],
        );
        let (last, first) = (last.unwrap().work, first.unwrap().work);
        assert_eq!(last.macs, 442_368);
        assert_eq!(last.macs, first.macs);
        assert_eq!(last.kind, OpKind::StemConv);
        assert_eq!(last.gemm, Some(Gemm { groups: 1, m: 1024, n: 16, k: 27 }));
        assert_eq!(last.window, first.window);
    }

    #[test]
    fn a_depthwise_convolution_is_one_product_a_channel() {
        let w = one(
            Layout::ChannelsLast,
            conv(64),
            &[&[1, 25, 5, 64], &[1, 3, 3, 64], &[1, 25, 5, 64]],
        );
        let w = w.unwrap().work;
        assert_eq!((w.kind, w.macs), (OpKind::DepthwiseConv, 72_000));
        assert_eq!(w.gemm, Some(Gemm { groups: 64, m: 125, n: 1, k: 9 }));
    }

    #[test]
    fn batched_and_vector_products_count_their_depth() {
        let op = Op::MatMul { transpose_a: false, transpose_b: false };
        let w = one(
            Layout::ChannelsFirst,
            op.clone(),
            &[&[2, 8, 16, 32], &[2, 8, 32, 16], &[2, 8, 16, 16]],
        );
        let w = w.unwrap().work;
        assert_eq!((w.kind, w.macs), (OpKind::MatMul, 2 * 8 * 16 * 16 * 32));
        let w = one(Layout::ChannelsFirst, op, &[&[5], &[5, 7], &[7]]).unwrap().work;
        assert_eq!((w.kind, w.macs), (OpKind::FullyConnected, 35));
    }

    #[test]
    fn a_layer_is_of_the_type_of_its_numbers_whatever_mask_or_index_comes_first() {
        use ElementType as E;
        let select = Op::Elementwise(ElementFunction::Select);
        let scatter = Op::Movement(Movement::Scatter);
        for (op, inputs, output, expected) in [
            (&select, vec![E::Bool, E::Float32, E::Float32], E::Float32, E::Float32),
            (&select, vec![E::Bool], E::Int8, E::Int8),
            (&scatter, vec![E::Int64], E::Float32, E::Float32),
            (&Op::Movement(Movement::Gather), vec![E::Int64, E::Int64], E::Int64, E::Int64),
            (&Op::Elementwise(ElementFunction::Compare), vec![E::Float16], E::Bool, E::Float16),
            (&Op::Convert, vec![E::Int32], E::Int8, E::Int32),
            (&Op::Convert, vec![E::Int8], E::Float32, E::Int8),
            (&Op::Convert, vec![E::Int64], E::Float32, E::Float32),
            (&Op::Elementwise(ElementFunction::Compare), vec![E::Bool, E::Bool], E::Bool, E::Bool),
        ] {
            let mut g = ModelGraph::new("g", Layout::ChannelsLast);
            let mut add = |n: String, e, role| g.add(&n, &[4], e, role).unwrap();
            let y = add("y".into(), output, TensorRole::Activation);
            let named = inputs.iter().enumerate();
            let read = named.map(|(i, e)| Some(add(format!("x{i}"), *e, TensorRole::Input)));
            let read: Vec<_> = read.collect();
            g.add_operator(Operator::new("l", "OP", op.clone()), &read, &[y]).unwrap();
            assert_eq!(g.layers().unwrap()[0].work.element, expected, "{op:?} {inputs:?}");
        }
    }

    #[test]
    fn shapes_that_do_not_fit_or_overflow_are_errors() {
        let bad = [&[1u64, 8, 8, 3][..], &[16, 3, 3, 5], &[1, 8, 8, 7]];
        assert!(one(Layout::ChannelsLast, conv(1), &bad).is_err());
        let huge = [&[1u64, 1 << 31, 1 << 31, 4][..], &[16, 3, 3, 4], &[1, 1 << 31, 1 << 31, 16]];
        assert!(one(Layout::ChannelsLast, conv(1), &huge).is_err());
        assert!(one(Layout::ChannelsLast, conv(1), &[&[1], &[2], &[3]]).is_err());
    }
}
