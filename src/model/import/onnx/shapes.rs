//! Shapes and types of what an operator makes.
//!
//! A shape is known in full or not at all: `Ok(None)` where an input is unknown or the data decide,
//! and an error where known inputs contradict each other.

mod arrange;
mod image;
mod loss;
pub(super) mod part;
mod product;
mod reduce;
pub(super) mod resize;
mod signal;
pub(super) mod window;

use super::blocks::MATRIX;
use super::node::{Node, Setting};
use super::operators::Meaning;
use super::value::{check, element, shape};
use crate::model::einsum::Equation;
use crate::model::{ElementType, Op, Shape};

/// A shape, if it can be told.
pub(super) type Inferred = Result<Option<Shape>, String>;

/// One output of an operator.
#[derive(Debug, Clone)]
pub(super) struct Output {
    pub element: ElementType,
    pub shape: Option<Shape>,
}

/// The outputs of a node, as many as it names.
pub(super) fn infer(node: &Node<'_>, meaning: &Meaning) -> Result<Vec<Output>, String> {
    let shapes = shapes(node, meaning)?;
    let mut outputs = Vec::with_capacity(node.outputs);
    let mut shapes = shapes.into_iter();
    for port in 0..node.outputs {
        let shape = shapes.next().flatten();
        shape.as_ref().map_or(Ok(()), check)?;
        outputs.push(Output { element: output_element(node, meaning, port), shape });
    }
    Ok(outputs)
}

fn shapes(node: &Node<'_>, meaning: &Meaning) -> Result<Vec<Option<Shape>>, String> {
    let same = || node.shape(0).cloned();
    let one = |inferred: Inferred| inferred.map(|shape| vec![shape]);
    if let Some(shapes) = super::composite::attention_shapes(node) {
        return shapes;
    }
    match node.native {
        "Split" => arrange::split(node),
        "TopK" => part::top(node).map(|shape| vec![shape.clone(), shape]),
        "Dropout" | "MaxPool" if node.outputs > 1 => {
            let shape = if node.native == "Dropout" { same() } else { window::pool(node)? };
            Ok(vec![shape.clone(), shape])
        }
        "DynamicQuantizeLinear" => {
            let scalar = Some(Shape::default());
            Ok(vec![same(), scalar.clone(), scalar])
        }
        "LSTM" | "GRU" | "RNN" => product::recurrent(node),
        "BatchNormalization" if node.outputs > 1 => Ok(batch_statistics(node)),
        "LayerNormalization" | "SimplifiedLayerNormalization" if node.outputs > 1 => {
            layer_statistics(node)
        }
        // What the state holds is as large after the step as before it.
        "CausalConvWithState" if node.outputs > 1 => Ok(vec![same(), causal_state(node)]),
        _ => one(single(node, meaning)),
    }
}

/// The first output's shape, for operators whose further ones are rarely used.
fn single(node: &Node<'_>, meaning: &Meaning) -> Inferred {
    let same = || Ok(node.shape(0).cloned());
    match node.native {
        "Conv" | "ConvInteger" | "DeformConv" | "com.microsoft::FusedConv" => {
            window::convolution(node, 1)
        }
        "QLinearConv" => window::convolution(node, 3),
        "ConvTranspose" => window::transposed(node),
        "MaxPool" | "AveragePool" | "LpPool" | "com.microsoft::QLinearAveragePool" => {
            window::pool(node)
        }
        "GlobalAveragePool"
        | "GlobalMaxPool"
        | "GlobalLpPool"
        | "com.microsoft::QLinearGlobalAveragePool" => window::whole_plane(node),
        "MatMul" | "MatMulInteger" => product::matrix(node, 1),
        "QLinearMatMul" => product::matrix(node, 3),
        // Batches turned into rows are not followed.
        "com.microsoft::FusedMatMul"
            if node.flag("transBatchA", false) || node.flag("transBatchB", false) =>
        {
            Ok(None)
        }
        "com.microsoft::FusedMatMul" => product::matrix(node, 1),
        "Gemm" | "com.microsoft::FusedGemm" => product::gemm(node, 1),
        "Einsum" => contraction(node),
        "Reshape" => arrange::reshape(node),
        "Flatten" => arrange::flatten(node),
        "Squeeze" => arrange::squeeze(node),
        "Unsqueeze" => arrange::unsqueeze(node),
        "Transpose" => arrange::transpose(node),
        "Concat" => arrange::concat(node),
        "DepthToSpace" | "SpaceToDepth" => arrange::blocks(node),
        "Slice" => part::slice(node),
        "Pad" => part::pad(node),
        "Gather" => part::gather(node),
        "GatherND" => part::gather_tuples(node),
        "GatherElements" => Ok(node.shape(1).cloned()),
        "Compress" => part::compress(node),
        "CenterCropPad" => part::fitted(node),
        "GridSample" => part::sampled(node),
        "OneHot" => part::one_hot(node),
        "Expand" => resize::expand(node),
        "Tile" => resize::tile(node),
        "Resize" | "Upsample" => resize::resize(node),
        "Range" => resize::range(node),
        "Constant" => resize::constant(node),
        "ConstantOfShape" => resize::of_shape(node),
        "RandomNormal" | "RandomUniform" => node.ints("shape").map(shape).transpose(),
        "RandomNormalLike" | "RandomUniformLike" | "Bernoulli" | "EyeLike" => same(),
        "Shape" => Ok(resize::shape_of_shape(node).map(|n| Shape(vec![n.len() as u64]))),
        "Size" => Ok(Some(Shape::default())),
        name if name.starts_with("Reduce") => reduce::reduce(node),
        "ArgMax" | "ArgMin" => reduce::position(node),
        "RoiAlign" => image::region(node, "output_height", "output_width"),
        "MaxRoiPool" => image::pooled_region(node),
        "MaxUnpool" => image::unpooled(node),
        "Col2Im" => image::columns(node),
        "AffineGrid" => image::grid(node),
        "DFT" => signal::transform(node),
        "STFT" => signal::short_time(node),
        "HannWindow" | "HammingWindow" | "BlackmanWindow" => signal::window(node),
        "MelWeightMatrix" => signal::mel_weights(node),
        "NegativeLogLikelihoodLoss" => Ok(loss::likelihood(node)),
        "Multinomial" => multinomial(node),
        "Det" => Ok(node.shape(0).map(|s| Shape(leading(s, s.rank().saturating_sub(2))))),
        // Their parameters do not take part in broadcasting.
        "PRelu"
        | "Clip"
        | "CumSum"
        | "CumProd"
        | "CastLike"
        | "Trilu"
        | "Hardmax"
        | "RotaryEmbedding"
        | "com.microsoft::RotaryEmbedding"
        | "CausalConvWithState" => same(),
        "RegexFullMatch" => same(),
        "StringConcat" => broadcast_ports(node, &[0, 1]),
        "com.microsoft::QLinearSigmoid" | "com.microsoft::QLinearLeakyRelu" => same(),
        "com.microsoft::QLinearConcat" => arrange::concat_quantised(node),
        "com.microsoft::DynamicQuantizeMatMul" | "com.microsoft::MatMulIntegerToFloat" => {
            product::matrix(node, 1)
        }
        "com.microsoft::QGemm" => product::gemm(node, 3),
        MATRIX if *meaning == Meaning::Known(Op::FullyConnected) => product::unpacked(node),
        "com.microsoft::QLinearAdd" | "com.microsoft::QLinearMul" => broadcast_ports(node, &[0, 3]),
        _ => match meaning {
            // Before version 7 the second operand is fitted to the first.
            Meaning::Known(Op::Elementwise(_)) if node.opset < 7 => same(),
            Meaning::Known(Op::Elementwise(_)) => {
                let ports: Vec<_> = (0..node.inputs.len()).collect();
                broadcast_ports(node, &ports)
            }
            Meaning::Known(
                Op::Softmax
                | Op::BatchNormalisation
                | Op::Normalisation
                | Op::LocalResponseNormalisation { .. }
                | Op::Convert
                | Op::Movement(_),
            ) => same(),
            _ => Ok(None),
        },
    }
}

/// Running statistics of a normalisation that is trained, one a channel.
fn batch_statistics(node: &Node<'_>) -> Vec<Option<Shape>> {
    let mut shapes = vec![node.shape(0).cloned()];
    shapes.resize(node.outputs, node.shape(1).cloned());
    shapes
}

/// Mean and deviation of each row that was normalised.
fn layer_statistics(node: &Node<'_>) -> Result<Vec<Option<Shape>>, String> {
    let Some(input) = node.shape(0) else { return Ok(Vec::new()) };
    let at = super::node::axis(node.int("axis", -1), input.rank())?;
    let mut row = leading(input, at);
    row.resize(input.rank(), 1);
    let mut shapes = vec![Some(input.clone())];
    shapes.resize(node.outputs, Some(Shape(row)));
    Ok(shapes)
}

fn causal_state(node: &Node<'_>) -> Option<Shape> {
    let (input, weights) = (node.shape(0)?, node.shape(1)?);
    Some(Shape(vec![input.extent(0), input.extent(1), weights.last().saturating_sub(1)]))
}

/// `Multinomial`: so many draws from each row.
fn multinomial(node: &Node<'_>) -> Inferred {
    let draws = extents(&[node.int("sample_size", 1)], "sample_size")?;
    Ok(node.shape(0).map(|input| Shape([&[input.extent(0)], &draws[..]].concat())))
}

/// The first extents of a shape.
fn leading(shape: &Shape, count: usize) -> Vec<u64> {
    shape.0.get(..count).unwrap_or(&[]).to_vec()
}

/// `Einsum`: the axes that its equation names.
fn contraction(node: &Node<'_>) -> Inferred {
    let shapes: Option<Vec<_>> = (0..node.inputs.len()).map(|port| node.shape(port)).collect();
    let Some(shapes) = shapes else { return Ok(None) };
    Equation::new(node.text("equation"), &shapes).map(|equation| Some(equation.shape()))
}

fn broadcast_ports(node: &Node<'_>, ports: &[usize]) -> Inferred {
    let mut result = Shape::default();
    for port in ports {
        let Some(shape) = node.shape(*port) else { return Ok(None) };
        result = broadcast(&result, shape)?;
    }
    Ok(Some(result))
}

/// The shape that two operands take together: aligned at the innermost axis, 1 stretches.
pub(super) fn broadcast(a: &Shape, b: &Shape) -> Result<Shape, String> {
    let rank = a.rank().max(b.rank());
    let extent =
        |s: &Shape, axis: usize| (axis + s.rank()).checked_sub(rank).map_or(1, |i| s.extent(i));
    let extents = (0..rank).map(|axis| match (extent(a, axis), extent(b, axis)) {
        (1, other) | (other, 1) => Ok(other),
        (one, other) if one == other => Ok(one),
        _ => Err(format!("{a} and {b} do not broadcast together")),
    });
    Ok(Shape(extents.collect::<Result<_, _>>()?))
}

fn output_element(node: &Node<'_>, meaning: &Meaning, port: usize) -> ElementType {
    let named = |name: &str, default| match node.int(name, 0) {
        0 => default,
        code => element(i32::try_from(code).unwrap_or(0)),
    };
    match (node.native, port) {
        ("Shape" | "Size" | "ArgMax" | "ArgMin" | "NonZero" | "NonMaxSuppression", _)
        | ("SequenceLength", _)
        | ("TopK" | "MaxPool", 1)
        | ("Unique", 1..) => ElementType::Int64,
        ("Dropout", 1) | ("IsNaN" | "IsInf", _) => ElementType::Bool,
        ("OptionalHasElement" | "RegexFullMatch", _) => ElementType::Bool,
        ("ImageDecoder", _) => ElementType::UInt8,
        ("SequenceEmpty" | "TfIdfVectorizer", _) => ElementType::Float32,
        ("HannWindow" | "HammingWindow" | "BlackmanWindow" | "MelWeightMatrix", _) => {
            named("output_datatype", ElementType::Float32)
        }
        ("Multinomial", _) => named("dtype", ElementType::Int32),
        ("Cast" | "BitCast", _) => named("to", ElementType::Other),
        ("CastLike" | "Where", _) => node.element(1),
        ("QuantizeLinear", _) => match node.input(2) {
            Some(zero) => zero.element,
            None => named("output_dtype", ElementType::UInt8),
        },
        ("DequantizeLinear", _) => node.element(1),
        ("DynamicQuantizeLinear", 1) => ElementType::Float32,
        ("DynamicQuantizeLinear", _) => ElementType::UInt8,
        ("ConvInteger" | "MatMulInteger", _) => ElementType::Int32,
        ("QLinearConv" | "QLinearMatMul", _) => node.element(7),
        ("com.microsoft::DynamicQuantizeMatMul" | "com.microsoft::MatMulIntegerToFloat", _) => {
            ElementType::Float32
        }
        // Without a scale of its own the result is not quantised again.
        ("com.microsoft::QGemm", _) if node.input(7).is_none() => ElementType::Float32,
        ("com.microsoft::QLinearConcat", _) => node.element(1),
        ("OneHot", _) => node.element(2),
        ("Constant" | "ConstantOfShape", _) => resize::constant_element(node),
        ("RandomNormal" | "RandomUniform", _) => named("dtype", ElementType::Float32),
        ("RandomNormalLike" | "RandomUniformLike" | "EyeLike" | "Bernoulli", _) => {
            named("dtype", node.element(0))
        }
        _ if is_comparison(node.native) => ElementType::Bool,
        // An operator that is not understood may make anything.
        _ if matches!(meaning, Meaning::Opaque) && !node.native.contains("::") => node.element(0),
        _ if matches!(meaning, Meaning::Opaque) => ElementType::Other,
        _ => node.element(0),
    }
}

fn is_comparison(native: &str) -> bool {
    matches!(native, "Equal" | "Less" | "Greater" | "LessOrEqual" | "GreaterOrEqual")
}

/// Which of `rank` axes a setting names.
fn marked(axes: &[i64], rank: usize) -> Result<Vec<bool>, String> {
    let mut marked = vec![false; rank];
    for given in axes {
        if let Some(mark) = marked.get_mut(super::node::axis(*given, rank)?) {
            *mark = true;
        }
    }
    Ok(marked)
}

/// Extents that must not be negative.
fn extents(ints: &[i64], what: &str) -> Result<Vec<u64>, String> {
    let extent =
        |i: &i64| u64::try_from(*i).map_err(|_| format!("{what} {ints:?} has a negative entry"));
    ints.iter().map(extent).collect()
}

/// The list of a setting, `None` where only the running network knows it.
fn known<'a>(setting: Setting<'a>, default: &'a [i64]) -> Option<&'a [i64]> {
    match setting {
        Setting::Absent => Some(default),
        Setting::Unknown => None,
        Setting::Known(list) => Some(list),
    }
}
