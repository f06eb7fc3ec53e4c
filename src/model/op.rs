//! What an operator computes, apart from what a file calls it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Padding of a sliding window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Padding {
    /// The output has ceil(input / stride) positions; zeros are added as needed.
    Same,
    /// No padding.
    Valid,
    /// Zeros before and after each spatial axis.
    Explicit {
        /// Before each axis.
        before: Vec<u64>,
        /// After each axis.
        after: Vec<u64>,
    },
}

/// A convolution of any spatial rank, grouped, depthwise or transposed. Its extents come from the
/// weight tensor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Convolution {
    /// Step of the window along each spatial axis.
    pub strides: Vec<u64>,
    /// Spacing of the taps along each spatial axis.
    pub dilations: Vec<u64>,
    /// Padding.
    pub padding: Padding,
    /// Channel groups: 1 is dense, the number of input channels is depthwise.
    pub groups: u64,
    /// True for a transposed (fractionally strided) convolution.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transposed: bool,
}

/// A pooling window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// What is taken over the window.
    pub function: PoolFunction,
    /// Window extents along each spatial axis; empty means the whole plane.
    pub kernel: Vec<u64>,
    /// Step along each spatial axis; empty for the whole plane.
    pub strides: Vec<u64>,
    /// Padding; a window more than fits (rounding up) is padding behind the data.
    #[serde(default = "unpadded", skip_serializing_if = "is_unpadded")]
    pub padding: Padding,
    /// Spacing of the taps along each spatial axis; empty for 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dilations: Vec<u64>,
}

fn unpadded() -> Padding {
    Padding::Valid
}

fn is_unpadded(padding: &Padding) -> bool {
    *padding == Padding::Valid
}

impl Pool {
    /// One window over the whole plane.
    pub fn whole_plane(function: PoolFunction) -> Self {
        let (kernel, strides, dilations) = (Vec::new(), Vec::new(), Vec::new());
        Self { function, kernel, strides, padding: Padding::Valid, dilations }
    }
}

/// The cell of a recurrent layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cell {
    /// One gate: `h = tanh(W x + R h + b)`.
    Simple,
    /// Three gates: update, reset, hidden.
    Gru,
    /// Four gates: input, output, forget, cell.
    Lstm,
}

impl Cell {
    /// Gates, each as wide as the state.
    pub fn gates(self) -> u64 {
        match self {
            Self::Simple => 1,
            Self::Gru => 3,
            Self::Lstm => 4,
        }
    }
}

/// The sequential part of a recurrent layer: each step multiplies the state by the recurrent weights
/// and applies the gates. The product of the inputs, which needs no state, is a layer of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recurrence {
    /// The cell.
    pub cell: Cell,
    /// Extent of the state.
    pub hidden: u64,
    /// Steps that follow each other.
    pub steps: u64,
    /// 1, or 2 for a layer that also runs backwards.
    pub directions: u64,
}

/// What a pooling operator takes over its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PoolFunction {
    /// The mean.
    Average,
    /// The largest.
    Maximum,
    /// A power mean.
    Norm,
}

/// An element-wise function, by arity and cost class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ElementFunction {
    /// Addition.
    Add,
    /// Subtraction.
    Subtract,
    /// Multiplication.
    Multiply,
    /// Division.
    Divide,
    /// Minimum or maximum of two.
    Extremum,
    /// Comparison or logic.
    Compare,
    /// Selection between two by a mask.
    Select,
    /// Rectification and clipping.
    Clip,
    /// Exponential, logarithm, power, root, trigonometry, error function.
    Transcendental,
    /// Sigmoid, tanh, GELU, SiLU and other smooth activations.
    SmoothActivation,
    /// Pairs of elements turned by an angle, as rotary position embedding does.
    Rotate,
    /// Sign, absolute value, negation, rounding.
    Unary,
}

impl fmt::Display for ElementFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}"))
    }
}

impl ElementFunction {
    /// Arithmetic operations counted for each output element: one, and for functions that hardware
    /// evaluates by a table or a short polynomial, four (the count is a convention, as is one for
    /// an addition; energies per operation are stated for it). An element of a turned pair is the sum
    /// of two products: three.
    pub fn operations_per_element(self) -> u64 {
        match self {
            Self::Transcendental | Self::SmoothActivation => 4,
            Self::Rotate => 3,
            _ => 1,
        }
    }
}

/// What a reduction takes over its axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Reduction {
    /// The sum.
    Sum,
    /// The sum, divided.
    Mean,
    /// The smallest or largest, or its place.
    Extremum,
    /// The product.
    Product,
    /// The sum of squares, or its root.
    Norm,
    /// The logarithm of the sum of exponentials.
    LogSum,
}

/// A rearrangement of data without arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Movement {
    /// New extents over the same bytes: costs nothing but its dispatch.
    View,
    /// Axes permuted.
    Transpose,
    /// Tensors joined.
    Concatenate,
    /// A part taken, or a tensor split.
    Slice,
    /// Rows picked by index (embedding lookup).
    Gather,
    /// Values written by index.
    Scatter,
    /// Borders added.
    Pad,
    /// Repetition or broadcasting.
    Broadcast,
    /// Spatial resampling.
    Resize,
}

/// What an operator computes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Inputs: data, weights, optional bias.
    Convolution(Convolution),
    /// Inputs: data `[.., K]`, weights of `N*K` elements, optional bias; output `[.., N]`.
    FullyConnected,
    /// Inputs: `[.., M, K]` and `[.., K, N]`, optional bias; broadcast over the leading axes.
    MatMul {
        /// The first operand is stored `[.., K, M]`.
        transpose_a: bool,
        /// The second operand is stored `[.., N, K]`.
        transpose_b: bool,
    },
    /// A product of one or two operands by an equation of axis letters (`bhid,bhjd->bhij`).
    Einsum(String),
    /// Inputs: gate inputs of all steps, recurrent weights of `directions * gates * hidden * state`
    /// elements (the state is as wide as `hidden`, unless it is projected before it comes back), then
    /// bias and initial states; outputs: all states, and the last ones.
    Recurrence(Recurrence),
    /// A window reduced.
    Pool(Pool),
    /// One function of each element.
    Elementwise(ElementFunction),
    /// Exponentials divided by their sum.
    Softmax,
    /// Scale and shift by stored statistics: 2 operations an element.
    BatchNormalisation,
    /// Statistics taken from the data itself (layer, group, instance, RMS): 5 operations an element.
    Normalisation,
    /// Local response normalisation over a number of neighbouring channels.
    LocalResponseNormalisation {
        /// Channels in the window.
        size: u64,
    },
    /// A reduction over axes.
    Reduce(Reduction),
    /// Data moved without arithmetic.
    Movement(Movement),
    /// Change of number format: quantise, dequantise, cast.
    Convert,
    /// Not understood: it is listed, and never costed at zero in silence.
    Opaque,
}

/// The kind of an operator, which tables, efficiency factors and software rates go by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum OpKind {
    /// Convolution with a window larger than one point.
    Conv,
    /// The same on fewer than four input channels, where vector lanes run empty.
    StemConv,
    /// 1x1 convolution.
    PointwiseConv,
    /// One filter a channel.
    DepthwiseConv,
    /// Transposed convolution.
    TransposedConv,
    /// Matrix times stored weights, one row a sample.
    FullyConnected,
    /// Matrix product of two activations, or batched.
    MatMul,
    /// Pooling.
    Pool,
    /// Element-wise arithmetic.
    Elementwise,
    /// Softmax.
    Softmax,
    /// Any normalisation.
    Normalisation,
    /// Reduction over axes.
    Reduce,
    /// New extents over the same bytes.
    View,
    /// Data moved.
    Movement,
    /// Change of number format.
    Convert,
    /// Not understood.
    Opaque,
}

impl OpKind {
    /// Kinds whose work is multiply-accumulates.
    pub fn is_mac_work(self) -> bool {
        matches!(
            self,
            Self::Conv
                | Self::StemConv
                | Self::PointwiseConv
                | Self::DepthwiseConv
                | Self::TransposedConv
                | Self::FullyConnected
                | Self::MatMul
        )
    }
}

impl fmt::Display for OpKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}"))
    }
}
