//! How much work an operator is: multiply-accumulates, element operations, bytes.
//!
//! MAC means multiply-accumulate of convolution, fully connected and matrix product, counted from
//! shapes. Other arithmetic is counted apart, as element operations. FLOP would be 2 x MAC and is
//! never used for it.

use super::{
    Convolution, Layout, ModelError, ModelGraph, Movement, Op, OpKind, Operand, OperatorId, Shape,
    Tensor, TensorRole,
};
use crate::model::ElementType;
use serde::Serialize;

/// The matrix product an operator amounts to: `groups` times `[m, k] x [k, n]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Gemm {
    /// Independent products (channel groups, batch of a batched product).
    pub groups: u64,
    /// Rows: output positions.
    pub m: u64,
    /// Columns: output channels of a group.
    pub n: u64,
    /// Depth of the sum: window points times input channels of a group.
    pub k: u64,
}

/// The sliding window of a convolution, for dataflows that map its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Window {
    /// Window rows.
    pub kernel_height: u64,
    /// Window columns (all further spatial axes together).
    pub kernel_width: u64,
    /// Output rows.
    pub output_height: u64,
    /// Output columns (all further spatial axes together).
    pub output_width: u64,
    /// Input channels of a group.
    pub input_channels: u64,
    /// Output channels in total.
    pub output_channels: u64,
    /// Channel groups.
    pub groups: u64,
    /// Samples.
    pub batch: u64,
}

/// The work of one operator.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Work {
    /// Its kind.
    pub kind: OpKind,
    /// Multiply-accumulates.
    pub macs: u64,
    /// Other arithmetic, by element.
    pub element_ops: u64,
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
    /// Type of the activations computed on.
    pub element: ElementType,
    /// The matrix product it amounts to, for MAC work.
    pub gemm: Option<Gemm>,
    /// The sliding window, for convolutions.
    pub window: Option<Window>,
}

/// An operator with its work: what tables, mapping and cost go by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Layer {
    /// The operator's name.
    pub name: String,
    /// What the file calls its type.
    pub native: String,
    /// Shape of the first output, if known.
    pub output_shape: Option<Shape>,
    /// Its work.
    #[serde(flatten)]
    pub work: Work,
}

struct Operands<'a> {
    graph: &'a ModelGraph,
    name: &'a str,
    inputs: Vec<Option<&'a Tensor>>,
    output: Option<&'a Tensor>,
}

impl Operands<'_> {
    fn error(&self, reason: impl Into<String>) -> ModelError {
        ModelError::Graph { operator: self.name.to_owned(), reason: reason.into() }
    }

    fn shape(&self, tensor: Option<&Tensor>, what: &str) -> Result<Shape, ModelError> {
        let tensor = tensor.ok_or_else(|| self.error(format!("{what} is missing")))?;
        tensor
            .shape
            .clone()
            .ok_or_else(|| self.error(format!("the shape of {what} `{}` is unknown", tensor.name)))
    }

    fn input(&self, port: usize, what: &str) -> Result<Shape, ModelError> {
        self.shape(self.inputs.get(port).copied().flatten(), what)
    }

    fn elements(&self, shape: &Shape) -> Result<u64, ModelError> {
        shape.elements().ok_or_else(|| self.error(format!("a tensor of {shape} is too large")))
    }

    fn product(&self, a: u64, b: u64) -> Result<u64, ModelError> {
        a.checked_mul(b).ok_or_else(|| self.error("its work does not fit 64 bits"))
    }
}

/// The arithmetic part of [`Work`].
struct Arithmetic {
    kind: OpKind,
    macs: u64,
    element_ops: u64,
    gemm: Option<Gemm>,
    window: Option<Window>,
}

impl Arithmetic {
    fn elementwise(kind: OpKind, element_ops: u64) -> Self {
        Self { kind, macs: 0, element_ops, gemm: None, window: None }
    }
}

impl ModelGraph {
    /// Every operator with its work, in order. Errors name the operator whose shapes do not fit.
    pub fn layers(&self) -> Result<Vec<Layer>, ModelError> {
        self.operators().map(|id| self.layer(id)).collect()
    }

    fn layer(&self, id: OperatorId) -> Result<Layer, ModelError> {
        let operator = self.operator(id);
        let inputs: Vec<_> =
            self.inputs(id).into_iter().map(|t| t.map(|t| self.tensor(t))).collect();
        let outputs = self.op_outputs(id);
        let output = outputs.first().map(|t| self.tensor(*t));
        let operands = Operands { graph: self, name: &operator.name, inputs, output };
        let arithmetic = arithmetic(&operands, &operator.op)?;
        let fused = match (&operator.fused_activation, output) {
            (Some(_), Some(t)) => t.elements().unwrap_or(0),
            _ => 0,
        };
        let (mut weight_bytes, mut input_bytes, mut parameters) = (0u64, 0u64, 0u64);
        let written = output.and_then(Tensor::elements).unwrap_or(0);
        let mut read = Vec::with_capacity(operands.inputs.len());
        for (port, tensor) in operands.inputs.iter().enumerate() {
            let Some(tensor) = tensor else { continue };
            let bytes = known(&operands, tensor, tensor.bytes())?;
            let elements = known(&operands, tensor, tensor.elements())?;
            read.push(Operand::of(&operator.op, port, tensor, elements, written));
            let sum = if tensor.role == TensorRole::Constant {
                if is_parameter(&operator.op, port) {
                    parameters = parameters.saturating_add(elements);
                }
                &mut weight_bytes
            } else {
                &mut input_bytes
            };
            *sum = sum
                .checked_add(bytes)
                .ok_or_else(|| operands.error("its operands do not fit 64 bits"))?;
        }
        let mut output_bytes = 0u64;
        let mut output_elements = 0u64;
        for tensor in outputs.iter().map(|t| self.tensor(*t)) {
            output_bytes = output_bytes.saturating_add(known(&operands, tensor, tensor.bytes())?);
            output_elements = output_elements.saturating_add(tensor.elements().unwrap_or(0));
        }
        let element = operands
            .inputs
            .iter()
            .flatten()
            .find(|t| t.role != TensorRole::Constant)
            .or(operands.output.as_ref())
            .map_or(ElementType::Other, |t| t.element);
        let work = Work {
            kind: arithmetic.kind,
            macs: arithmetic.macs,
            element_ops: arithmetic.element_ops.saturating_add(fused),
            parameters,
            weight_bytes,
            input_bytes,
            output_bytes,
            output_elements,
            operands: read,
            element,
            gemm: arithmetic.gemm,
            window: arithmetic.window,
        };
        let output_shape = output.and_then(|t| t.shape.clone());
        Ok(Layer {
            name: operator.name.clone(),
            native: operator.native.clone(),
            output_shape,
            work,
        })
    }
}

/// False for constants that say where data goes (a target shape, axes, paddings): they are stored,
/// and are no parameters of the network.
fn is_parameter(op: &Op, port: usize) -> bool {
    match op {
        Op::Movement(Movement::Gather) => port == 0,
        Op::Movement(Movement::Concatenate) => true,
        Op::Movement(_) | Op::Reduce => port == 0,
        _ => true,
    }
}

/// A size that is known, counted as 0 for a tensor of unknown shape (its operator is opaque and
/// listed as such), and an error when it does not fit 64 bits.
fn known(operands: &Operands<'_>, tensor: &Tensor, size: Option<u64>) -> Result<u64, ModelError> {
    match (&tensor.shape, size) {
        (_, Some(size)) => Ok(size),
        (None, None) => Ok(0),
        (Some(shape), None) => {
            Err(operands.error(format!("tensor `{}` of {shape} is too large", tensor.name)))
        }
    }
}

fn arithmetic(o: &Operands<'_>, op: &Op) -> Result<Arithmetic, ModelError> {
    let out = |what: &str| o.shape(o.output, what);
    let outputs = || o.output.and_then(Tensor::elements).unwrap_or(0);
    let inputs = || o.inputs.first().copied().flatten().and_then(Tensor::elements).unwrap_or(0);
    Ok(match op {
        Op::Convolution(convolution) => return conv_arithmetic(o, convolution),
        Op::FullyConnected => {
            let (weights, output) = (o.input(1, "the weight")?, out("the output")?);
            let n = output.last();
            let elements = o.elements(&weights)?;
            if n == 0 || elements % n != 0 {
                return Err(o.error(format!("weights {weights} do not give an output of {output}")));
            }
            let (k, m) = (elements / n, o.elements(&output)? / n);
            mac_arithmetic(o, OpKind::FullyConnected, Gemm { groups: 1, m, n, k })?
        }
        Op::MatMul { transpose_a, .. } => {
            let (a, output) = (o.input(0, "the first operand")?, out("the output")?);
            let axis = a.rank().saturating_sub(if *transpose_a { 2 } else { 1 });
            let (k, n) = (a.extent(axis), output.last());
            let total = o.elements(&output)?;
            // A vector operand has no row axis: then the product is a single row.
            let m = if output.rank() >= 2 { output.extent(output.rank() - 2) } else { 1 };
            let groups = total.checked_div(m.saturating_mul(n)).unwrap_or(0);
            let constant = o.inputs.get(1).copied().flatten();
            let stored = constant.is_some_and(|t| t.role == TensorRole::Constant);
            let kind = if stored && groups == 1 { OpKind::FullyConnected } else { OpKind::MatMul };
            mac_arithmetic(o, kind, Gemm { groups, m, n, k })?
        }
        Op::Pool(pool) => {
            let (input, output) = (o.input(0, "the input")?, out("the output")?);
            let window = if pool.kernel.is_empty() {
                o.elements(&input)?.checked_div(o.elements(&output)?).unwrap_or(0)
            } else {
                pool.kernel.iter().try_fold(1, |n, &d| o.product(n, d))?
            };
            Arithmetic::elementwise(OpKind::Pool, o.product(outputs(), window)?)
        }
        Op::Elementwise(function) => Arithmetic::elementwise(
            OpKind::Elementwise,
            o.product(outputs(), function.operations_per_element())?,
        ),
        // Subtract the maximum, exponentiate (4), add up, divide.
        Op::Softmax => Arithmetic::elementwise(OpKind::Softmax, o.product(outputs(), 7)?),
        Op::BatchNormalisation => {
            Arithmetic::elementwise(OpKind::Normalisation, o.product(outputs(), 2)?)
        }
        Op::Normalisation => {
            Arithmetic::elementwise(OpKind::Normalisation, o.product(outputs(), 5)?)
        }
        // Square and add over the window, then scale, power (4) and divide.
        Op::LocalResponseNormalisation { size } => {
            let each = o.product(2, *size)?.saturating_add(6);
            Arithmetic::elementwise(OpKind::Normalisation, o.product(outputs(), each)?)
        }
        Op::Reduce => Arithmetic::elementwise(OpKind::Reduce, inputs()),
        Op::Movement(Movement::View) => Arithmetic::elementwise(OpKind::View, 0),
        Op::Movement(Movement::Resize) => {
            Arithmetic::elementwise(OpKind::Movement, o.product(outputs(), 4)?)
        }
        Op::Movement(_) => Arithmetic::elementwise(OpKind::Movement, 0),
        Op::Convert => Arithmetic::elementwise(OpKind::Convert, outputs()),
        Op::Opaque => Arithmetic::elementwise(OpKind::Opaque, 0),
    })
}

fn mac_arithmetic(o: &Operands<'_>, kind: OpKind, gemm: Gemm) -> Result<Arithmetic, ModelError> {
    let macs = [gemm.groups, gemm.m, gemm.n, gemm.k]
        .into_iter()
        .try_fold(1, |product, factor| o.product(product, factor))?;
    Ok(Arithmetic { kind, macs, element_ops: 0, gemm: Some(gemm), window: None })
}

/// MACs of a convolution: output elements times weights of one output channel; of a transposed
/// one: input elements times weights of one input channel.
fn conv_arithmetic(o: &Operands<'_>, c: &Convolution) -> Result<Arithmetic, ModelError> {
    let input = o.input(0, "the input")?;
    let weights = o.input(1, "the weight")?;
    let output = o.shape(o.output, "the output")?;
    let rank = output.rank();
    if rank < 3 || weights.rank() != rank || input.rank() != rank {
        return Err(o.error(format!(
            "input {input}, weights {weights} and output {output} do not make a convolution"
        )));
    }
    let last = o.graph.layout == Layout::ChannelsLast;
    let (channel_axis, spatial) = if last { (rank - 1, 1..rank - 1) } else { (1, 2..rank) };
    let (inner, outer) = if c.transposed { (&output, &input) } else { (&input, &output) };
    let channels = outer.extent(channel_axis);
    let elements = o.elements(&weights)?;
    let groups = c.groups.max(1);
    if channels == 0 || elements % channels != 0 || !channels.is_multiple_of(groups) {
        let reason = format!("weights {weights} in {groups} groups do not fit {channels} channels");
        return Err(o.error(reason));
    }
    let k = elements / channels;
    let taps = weights.0[spatial.clone()].iter().try_fold(1, |n, &d| o.product(n, d))?;
    if taps == 0 || k % taps != 0 {
        return Err(o.error(format!("weights {weights} do not make a window")));
    }
    let positions = o.elements(outer)? / channels;
    let gemm = Gemm { groups, m: positions, n: channels / groups, k };
    let kernel = &weights.0[spatial.clone()];
    let plane = &outer.0[spatial];
    let window = Window {
        kernel_height: kernel.first().copied().unwrap_or(1),
        kernel_width: kernel.iter().skip(1).product(),
        output_height: plane.first().copied().unwrap_or(1),
        output_width: plane.iter().skip(1).product(),
        input_channels: k / taps,
        output_channels: channels,
        groups,
        batch: outer.extent(0),
    };
    let input_channels = inner.extent(channel_axis);
    let kind = if c.transposed {
        OpKind::TransposedConv
    } else if groups > 1 && groups == input_channels {
        OpKind::DepthwiseConv
    } else if taps == 1 {
        OpKind::PointwiseConv
    } else if input_channels < 4 {
        OpKind::StemConv
    } else {
        OpKind::Conv
    };
    Ok(Arithmetic { window: Some(window), ..mac_arithmetic(o, kind, gemm)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Operator, Padding, TensorId};

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
        let operator =
            Operator { name: "l".into(), native: "OP".into(), op, fused_activation: None };
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
    fn shapes_that_do_not_fit_or_overflow_are_errors() {
        let bad = [&[1u64, 8, 8, 3][..], &[16, 3, 3, 5], &[1, 8, 8, 7]];
        assert!(one(Layout::ChannelsLast, conv(1), &bad).is_err());
        let huge = [&[1u64, 1 << 31, 1 << 31, 4][..], &[16, 3, 3, 4], &[1, 1 << 31, 1 << 31, 16]];
        assert!(one(Layout::ChannelsLast, conv(1), &huge).is_err());
        assert!(one(Layout::ChannelsLast, conv(1), &[&[1], &[2], &[3]]).is_err());
    }
}
