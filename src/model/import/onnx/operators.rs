//! What the operators of the format compute, and in which order the graph wants their inputs.

use super::blocks::MATRIX;
use super::composite;
use super::node::{Node, Setting};
use super::shapes::window::{Sliding, groups, kernel};
use crate::model::{
    Convolution, ElementFunction, Movement, Op, Padding, Pool, PoolFunction, Reduction,
};

/// What is known of an operator.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meaning {
    /// Its work can be counted, once shapes are known.
    Known(Op),
    /// Its work hangs on a shape that is not known.
    Unresolved,
    /// Its work is in bodies of its own.
    ControlFlow,
    /// It handles lists of tensors or tensors that may be missing.
    Container,
    /// Its work is not known.
    Opaque,
}

/// What a node computes. An error names settings that make no sense.
pub(super) fn meaning(node: &Node<'_>) -> Result<Meaning, String> {
    Ok(Meaning::Known(match node.native {
        "Conv" | "ConvInteger" | "DeformConv" | "com.microsoft::FusedConv" => {
            return convolution(node, 1, false);
        }
        "QLinearConv" => return convolution(node, 3, false),
        "ConvTranspose" => return convolution(node, 1, true),
        "Gemm"
        | "MatMul"
        | "MatMulInteger"
        | "com.microsoft::DynamicQuantizeMatMul"
        | "com.microsoft::FusedGemm"
        | "com.microsoft::FusedMatMul"
        | "com.microsoft::MatMulIntegerToFloat" => product(node, 1),
        "QLinearMatMul" | "com.microsoft::QGemm" => product(node, 3),
        MATRIX if !matches!(node.int("bits", 4), 4 | 8) => return Ok(Meaning::Opaque),
        MATRIX if !is_unpacked(node) => return Ok(Meaning::Unresolved),
        MATRIX => Op::FullyConnected,
        "CausalConvWithState" => causal(node),
        // A table made once; where its size is open, its work is.
        "HannWindow" | "HammingWindow" | "BlackmanWindow" | "MelWeightMatrix"
            if node.inputs.iter().flatten().all(|value| value.constant) =>
        {
            Op::Movement(Movement::Broadcast)
        }
        "MaxPool" => pool(node, PoolFunction::Maximum)?,
        "AveragePool" | "com.microsoft::QLinearAveragePool" => pool(node, PoolFunction::Average)?,
        "LpPool" => pool(node, PoolFunction::Norm)?,
        "GlobalMaxPool" => plane(PoolFunction::Maximum),
        "GlobalAveragePool" | "com.microsoft::QLinearGlobalAveragePool" => {
            plane(PoolFunction::Average)
        }
        "GlobalLpPool" => plane(PoolFunction::Norm),
        "Resize" | "Upsample" => resize(node),
        "LRN" => {
            let size = u64::try_from(node.int("size", 0)).ok().filter(|size| *size > 0);
            Op::LocalResponseNormalisation { size: size.ok_or("its size is missing")? }
        }
        "BatchNormalization" => Op::BatchNormalisation,
        // Elements are taken away as well, so that channels may shift.
        "Pad" if crops(node) => Op::Movement(Movement::Slice),
        "Einsum" if node.inputs.len() <= 2 => Op::Einsum(node.text("equation").to_owned()),
        name if composite::is_composite(name) => return Ok(Meaning::Unresolved),
        "If" | "Loop" | "Scan" | "SequenceMap" => return Ok(Meaning::ControlFlow),
        name if is_container(name) => return Ok(Meaning::Container),
        name => match by_name(name) {
            Some(op) => op,
            None => return Ok(Meaning::Opaque),
        },
    }))
}

fn is_container(name: &str) -> bool {
    name == "ConcatFromSequence"
        || name == "SplitToSequence"
        || name.starts_with("Sequence")
        || name.starts_with("Optional")
}

fn convolution(node: &Node<'_>, port: usize, transposed: bool) -> Result<Meaning, String> {
    let Some(weights) = node.shape(port) else { return Ok(Meaning::Unresolved) };
    let Sliding { strides, dilations, padding, .. } = Sliding::new(node, kernel(weights))?;
    let groups = groups(node)?;
    let convolution = Convolution { strides, dilations, padding, groups, transposed };
    Ok(Meaning::Known(Op::Convolution(convolution)))
}

/// Whether a `Pad` takes elements away.
fn crops(node: &Node<'_>) -> bool {
    let old = if node.attribute("paddings").is_some() { "paddings" } else { "pads" };
    matches!(node.ints_of(old, 1), Setting::Known(pads) if pads.iter().any(|pad| *pad < 0))
}

/// A product with a stored matrix is a fully connected layer, whatever the batch: its weights are
/// shared by all rows. Data that stand on their side make it a plain product.
fn product(node: &Node<'_>, port: usize) -> Op {
    let stored = node.input(port).filter(|value| value.constant);
    let flag = |name| node.flag(name, false);
    let matrix = stored.and_then(|value| value.shape.as_ref()).is_some_and(|s| s.rank() == 2);
    if matrix && !flag("transA") {
        return Op::FullyConnected;
    }
    Op::MatMul { transpose_a: flag("transA"), transpose_b: flag("transB") }
}

/// Whether packed weights are known as the matrix that they stand for.
fn is_unpacked(node: &Node<'_>) -> bool {
    let matrix = [node.int("N", 0), node.int("K", 0)].map(|n| u64::try_from(n).unwrap_or(0));
    let stored = node.input(1).filter(|value| value.constant);
    stored.and_then(|value| value.shape.as_ref()).is_some_and(|shape| shape.0[..] == matrix)
}

fn pool(node: &Node<'_>, function: PoolFunction) -> Result<Op, String> {
    let Sliding { kernel, strides, dilations, padding } = Sliding::of_pool(node)?;
    let dense = dilations.iter().all(|dilation| *dilation == 1);
    let dilations = if dense { Vec::new() } else { dilations };
    Ok(Op::Pool(Pool { function, kernel, strides, padding, dilations }))
}

/// The nearest element is repeated; in all other modes several are weighted and added up.
fn resize(node: &Node<'_>) -> Op {
    Op::Movement(match node.text("mode") {
        "" | "nearest" => Movement::Broadcast,
        _ => Movement::Resize,
    })
}

/// One filter a channel, along one dimension that the past or zeros precede.
fn causal(node: &Node<'_>) -> Op {
    let taps = node.shape(1).map_or(1, |weights| weights.last());
    let before = taps.saturating_sub(1);
    let padding = match before {
        0 => Padding::Valid,
        _ => Padding::Explicit { before: vec![before], after: vec![0] },
    };
    let groups = node.shape(1).map_or(1, |weights| weights.extent(0)).max(1);
    let (strides, dilations) = (vec![1], vec![1]);
    Op::Convolution(Convolution { strides, dilations, padding, groups, transposed: false })
}

fn plane(function: PoolFunction) -> Op {
    Op::Pool(Pool::whole_plane(function))
}

fn by_name(name: &str) -> Option<Op> {
    Some(match name {
        "Softmax" | "LogSoftmax" | "com.microsoft::QLinearSoftmax" => Op::Softmax,
        "InstanceNormalization"
        | "LayerNormalization"
        | "GroupNormalization"
        | "RMSNormalization"
        | "SimplifiedLayerNormalization"
        | "LpNormalization"
        | "MeanVarianceNormalization" => Op::Normalisation,
        "Cast"
        | "CastLike"
        | "QuantizeLinear"
        | "DequantizeLinear"
        | "DynamicQuantizeLinear"
        | "com.microsoft::QuantizeLinear"
        | "com.microsoft::DequantizeLinear" => Op::Convert,
        "ReduceSum" | "ReduceL1" | "ReduceLogSum" | "CumSum" | "Multinomial" => {
            Op::Reduce(Reduction::Sum)
        }
        "ReduceMean" => Op::Reduce(Reduction::Mean),
        "ReduceMax" | "ReduceMin" | "ArgMax" | "ArgMin" | "TopK" | "Hardmax" | "NonZero"
        | "Unique" => Op::Reduce(Reduction::Extremum),
        "ReduceProd" | "CumProd" => Op::Reduce(Reduction::Product),
        "ReduceL2" | "ReduceSumSquare" => Op::Reduce(Reduction::Norm),
        "ReduceLogSumExp" => Op::Reduce(Reduction::LogSum),
        // Columns are added up into the image; picked terms are added up into the loss.
        "Col2Im" | "NegativeLogLikelihoodLoss" => Op::Reduce(Reduction::Sum),
        _ => return movement(name).map(Op::Movement).or(function(name).map(Op::Elementwise)),
    })
}

fn movement(name: &str) -> Option<Movement> {
    Some(match name {
        "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "Identity" | "Dropout" | "Shape"
        | "Size" | "BitCast" => Movement::View,
        "Transpose" | "DepthToSpace" | "SpaceToDepth" | "ReverseSequence" => Movement::Transpose,
        "Concat" => Movement::Concatenate,
        "Slice" | "Split" | "Trilu" | "CenterCropPad" => Movement::Slice,
        "Gather" | "GatherElements" | "GatherND" | "Compress" => Movement::Gather,
        "Scatter" | "ScatterElements" | "ScatterND" | "TensorScatter" | "OneHot" | "MaxUnpool" => {
            Movement::Scatter
        }
        "Pad" => Movement::Pad,
        "Expand" | "Tile" | "Constant" | "ConstantOfShape" | "Range" | "EyeLike" => {
            Movement::Broadcast
        }
        // Each result is a sum of few weighted elements, as in an image that is resized.
        "GridSample" | "RoiAlign" | "AffineGrid" => Movement::Resize,
        _ => return None,
    })
}

fn function(name: &str) -> Option<ElementFunction> {
    use ElementFunction as F;
    Some(match name {
        "Add" | "Sum" | "com.microsoft::QLinearAdd" => F::Add,
        "Sub" => F::Subtract,
        "Mul" | "com.microsoft::QLinearMul" => F::Multiply,
        "Div" | "Mod" | "Reciprocal" | "Mean" => F::Divide,
        "Max" | "Min" => F::Extremum,
        "Equal" | "Less" | "Greater" | "LessOrEqual" | "GreaterOrEqual" | "And" | "Or" | "Xor"
        | "Not" | "BitShift" | "BitwiseAnd" | "BitwiseOr" | "BitwiseXor" | "BitwiseNot"
        | "IsNaN" | "IsInf" => F::Compare,
        "Where" => F::Select,
        "Relu"
        | "LeakyRelu"
        | "PRelu"
        | "ThresholdedRelu"
        | "Clip"
        | "Shrink"
        | "com.microsoft::QLinearLeakyRelu" => F::Clip,
        "Exp" | "Log" | "Sqrt" | "Pow" | "Erf" | "Sin" | "Cos" | "Tan" | "Asin" | "Acos"
        | "Atan" | "Sinh" | "Cosh" | "Asinh" | "Acosh" | "Atanh" => F::Transcendental,
        // The few steps of a generator are taken for those of a polynomial.
        "RandomNormalLike" | "RandomUniformLike" | "Bernoulli" => F::Transcendental,
        "Sigmoid"
        | "Tanh"
        | "HardSigmoid"
        | "HardSwish"
        | "Softplus"
        | "Softsign"
        | "Elu"
        | "Selu"
        | "Celu"
        | "Gelu"
        | "Mish"
        | "Swish"
        | "com.microsoft::Gelu"
        | "com.microsoft::FastGelu"
        | "com.microsoft::QLinearSigmoid"
        | "com.microsoft::QuickGelu" => F::SmoothActivation,
        "RotaryEmbedding" | "com.microsoft::RotaryEmbedding" => F::Rotate,
        "Abs" | "Neg" | "Ceil" | "Floor" | "Round" | "Sign" => F::Unary,
        _ => return None,
    })
}

/// Makes other numbers each time.
pub(super) fn is_random(name: &str) -> bool {
    name.starts_with("Random") || matches!(name, "Bernoulli" | "Multinomial")
}

/// The input ports in the order the graph wants them, data, weights, bias first; `None` for a gap.
/// Ports that are not named follow.
pub(super) fn port_order(native: &str) -> &'static [Option<usize>] {
    match native {
        "QLinearConv" => &[Some(0), Some(3), Some(8)],
        "QLinearMatMul" => &[Some(0), Some(3), None],
        "ConvInteger" | "MatMulInteger" => &[Some(0), Some(1), None],
        "DeformConv" => &[Some(0), Some(1), Some(3)],
        "com.microsoft::QGemm" => &[Some(0), Some(3), Some(6)],
        "com.microsoft::DynamicQuantizeMatMul" => &[Some(0), Some(1), Some(4)],
        "com.microsoft::MatMulIntegerToFloat" => &[Some(0), Some(1), Some(6)],
        MATRIX => &[Some(0), Some(1), Some(5)],
        "com.microsoft::QLinearAdd" | "com.microsoft::QLinearMul" => &[Some(0), Some(3)],
        // Scales, zero points and limits are no operands of the function.
        "Clip"
        | "com.microsoft::QLinearSigmoid"
        | "com.microsoft::QLinearLeakyRelu"
        | "com.microsoft::QLinearSoftmax" => &[Some(0), None],
        _ => &[],
    }
}

/// The activation that a fused operator of a vendor does on the way out.
pub(super) fn fused_activation(node: &Node<'_>) -> Option<String> {
    let fused = matches!(
        node.native,
        "CausalConvWithState" | "com.microsoft::FusedConv" | "com.microsoft::FusedGemm"
    );
    let name = if fused { node.text("activation") } else { "" };
    (!matches!(name, "" | "none")).then(|| name.to_owned())
}
