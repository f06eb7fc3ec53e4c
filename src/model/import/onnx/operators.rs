//! What the operators of the format compute, and in which order the graph wants their inputs.

use super::node::Node;
use super::shapes::window::{Sliding, groups, kernel};
use crate::model::{Convolution, ElementFunction, Movement, Op, Pool, PoolFunction};

/// What is known of an operator.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meaning {
    /// Its work can be counted, once shapes are known.
    Known(Op),
    /// Its work hangs on a shape that is not known.
    Unresolved,
    /// Its work is in bodies of its own.
    ControlFlow,
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
        | "com.microsoft::FusedGemm"
        | "com.microsoft::FusedMatMul" => product(node, 1),
        "QLinearMatMul" => product(node, 3),
        "MaxPool" => pool(node, PoolFunction::Maximum)?,
        "AveragePool" | "com.microsoft::QLinearAveragePool" => pool(node, PoolFunction::Average)?,
        "LpPool" => pool(node, PoolFunction::Norm)?,
        "GlobalMaxPool" => plane(PoolFunction::Maximum),
        "GlobalAveragePool" | "com.microsoft::QLinearGlobalAveragePool" => {
            plane(PoolFunction::Average)
        }
        "GlobalLpPool" => plane(PoolFunction::Norm),
        "LRN" => {
            let size = u64::try_from(node.int("size", 0)).ok().filter(|size| *size > 0);
            Op::LocalResponseNormalisation { size: size.ok_or("its size is missing")? }
        }
        "BatchNormalization" => Op::BatchNormalisation,
        "If" | "Loop" | "Scan" | "SequenceMap" => return Ok(Meaning::ControlFlow),
        name => match by_name(name) {
            Some(op) => op,
            None => return Ok(Meaning::Opaque),
        },
    }))
}

fn convolution(node: &Node<'_>, port: usize, transposed: bool) -> Result<Meaning, String> {
    let Some(weights) = node.shape(port) else { return Ok(Meaning::Unresolved) };
    let Sliding { strides, dilations, padding, .. } = Sliding::new(node, kernel(weights))?;
    let groups = groups(node)?;
    let convolution = Convolution { strides, dilations, padding, groups, transposed };
    Ok(Meaning::Known(Op::Convolution(convolution)))
}

/// A product with a stored matrix is a fully connected layer, whatever the batch: its weights are
/// shared by all rows.
fn product(node: &Node<'_>, port: usize) -> Op {
    let stored = node.input(port).filter(|value| value.constant);
    if stored.and_then(|value| value.shape.as_ref()).is_some_and(|shape| shape.rank() == 2) {
        return Op::FullyConnected;
    }
    let flag = |name| node.flag(name, false);
    Op::MatMul { transpose_a: flag("transA"), transpose_b: flag("transB") }
}

fn pool(node: &Node<'_>, function: PoolFunction) -> Result<Op, String> {
    let Sliding { kernel, strides, dilations, padding } = Sliding::of_pool(node)?;
    let dense = dilations.iter().all(|dilation| *dilation == 1);
    let dilations = if dense { Vec::new() } else { dilations };
    Ok(Op::Pool(Pool { function, kernel, strides, padding, dilations }))
}

fn plane(function: PoolFunction) -> Op {
    Op::Pool(Pool::whole_plane(function))
}

fn by_name(name: &str) -> Option<Op> {
    Some(match name {
        "Softmax" | "LogSoftmax" | "Hardmax" => Op::Softmax,
        "InstanceNormalization"
        | "LayerNormalization"
        | "GroupNormalization"
        | "RMSNormalization"
        | "SimplifiedLayerNormalization"
        | "LpNormalization"
        | "MeanVarianceNormalization"
        | "com.microsoft::SkipLayerNormalization"
        | "com.microsoft::SkipSimplifiedLayerNormalization" => Op::Normalisation,
        "Cast"
        | "CastLike"
        | "QuantizeLinear"
        | "DequantizeLinear"
        | "DynamicQuantizeLinear"
        | "com.microsoft::QuantizeLinear"
        | "com.microsoft::DequantizeLinear" => Op::Convert,
        "ReduceSum" | "ReduceMean" | "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceL1"
        | "ReduceL2" | "ReduceLogSum" | "ReduceLogSumExp" | "ReduceSumSquare" | "ArgMax"
        | "ArgMin" | "CumSum" | "TopK" => Op::Reduce,
        _ => return movement(name).map(Op::Movement).or(function(name).map(Op::Elementwise)),
    })
}

fn movement(name: &str) -> Option<Movement> {
    Some(match name {
        "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "Identity" | "Dropout" | "Shape"
        | "Size" | "BitCast" => Movement::View,
        "Transpose" | "DepthToSpace" | "SpaceToDepth" | "ReverseSequence" => Movement::Transpose,
        "Concat" => Movement::Concatenate,
        "Slice" | "Split" | "Trilu" => Movement::Slice,
        "Gather" | "GatherElements" | "GatherND" => Movement::Gather,
        "Scatter" | "ScatterElements" | "ScatterND" | "TensorScatter" | "OneHot" => {
            Movement::Scatter
        }
        "Pad" => Movement::Pad,
        "Expand" | "Tile" | "Constant" | "ConstantOfShape" | "Range" | "EyeLike" => {
            Movement::Broadcast
        }
        "Resize" | "Upsample" | "GridSample" => Movement::Resize,
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
        "Relu" | "LeakyRelu" | "PRelu" | "ThresholdedRelu" | "Clip" | "Shrink" => F::Clip,
        "Exp" | "Log" | "Sqrt" | "Pow" | "Erf" | "Sin" | "Cos" | "Tan" | "Asin" | "Acos"
        | "Atan" | "Sinh" | "Cosh" | "Asinh" | "Acosh" | "Atanh" => F::Transcendental,
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
        | "com.microsoft::BiasGelu"
        | "com.microsoft::QuickGelu" => F::SmoothActivation,
        "Abs" | "Neg" | "Ceil" | "Floor" | "Round" | "Sign" => F::Unary,
        _ => return None,
    })
}

/// The input ports in the order the graph wants them, data, weights, bias first; `None` for a gap.
/// Ports that are not named follow.
pub(super) fn port_order(native: &str) -> &'static [Option<usize>] {
    match native {
        "QLinearConv" => &[Some(0), Some(3), Some(8)],
        "QLinearMatMul" => &[Some(0), Some(3), None],
        "ConvInteger" | "MatMulInteger" => &[Some(0), Some(1), None],
        "DeformConv" => &[Some(0), Some(1), Some(3)],
        _ => &[],
    }
}

/// The activation that a fused operator of a vendor does on the way out.
pub(super) fn fused_activation(node: &Node<'_>) -> Option<String> {
    let fused = matches!(node.native, "com.microsoft::FusedConv" | "com.microsoft::FusedGemm");
    let name = if fused { node.text("activation") } else { "" };
    (!name.is_empty()).then(|| name.to_owned())
}
