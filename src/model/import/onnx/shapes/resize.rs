//! Tensors whose extents come from numbers: stretched, repeated, scaled, counted out, stored.

use super::arrange::with_extent;
use super::{Inferred, broadcast, extents};
use crate::model::import::onnx::node::{Node, Setting, axis};
use crate::model::import::onnx::value::{Value, element, shape};
use crate::model::{ElementType, Shape};

/// `Expand`: broadcast against given extents.
pub(super) fn expand(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let Setting::Known(wanted) = node.ints_of("shape", 1) else { return Ok(None) };
    broadcast(input, &Shape(extents(wanted, "shape")?)).map(Some)
}

/// `Tile`: repeated along each axis.
pub(super) fn tile(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let Setting::Known(repeats) = node.ints_of("repeats", 1) else { return Ok(None) };
    let repeats = extents(repeats, "repeats")?;
    let misfit = || format!("repeats {repeats:?} do not fit {input}");
    if repeats.len() != input.rank() {
        return Err(misfit());
    }
    let product = |(extent, times): (&u64, &u64)| extent.checked_mul(*times).ok_or_else(misfit);
    Ok(Some(Shape(input.0.iter().zip(&repeats).map(product).collect::<Result<_, _>>()?)))
}

/// `Resize` and `Upsample`: by given extents or by factors.
pub(super) fn resize(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let every: Vec<i64> = (0..input.rank() as i64).collect();
    let axes = node.ints("axes").unwrap_or(&every);
    // An empty list stands for one that is not given.
    if let Setting::Known(sizes @ [_, ..]) = node.ints_of("sizes", 3) {
        // Any policy but stretching fits the data into the sizes.
        if !matches!(node.text("keep_aspect_ratio_policy"), "" | "stretch") {
            return fitted(node, input, axes, &extents(sizes, "sizes")?);
        }
        return placed(input, axes, &extents(sizes, "sizes")?);
    }
    let Some(factors) = factors(node) else { return Ok(None) };
    let mut sizes = Vec::new();
    for (given, factor) in axes.iter().zip(&factors) {
        // The format computes in single precision, which can matter at the rounding.
        let extent = input.extent(axis(*given, input.rank())?) as f32;
        sizes.push((extent * *factor).floor() as u64);
    }
    placed(input, axes, &sizes)
}

fn factors(node: &Node<'_>) -> Option<Vec<f32>> {
    if let Some(floats) = node.floats("scales") {
        return Some(floats.to_vec());
    }
    // Factors stand behind the region of interest from version 11 on.
    let port = if node.native == "Resize" && node.opset >= 11 { 2 } else { 1 };
    let factors: Vec<_> = node.numbers(port)?.floats().iter().map(|f| *f as f32).collect();
    (!factors.is_empty()).then_some(factors)
}

fn placed(input: &Shape, axes: &[i64], sizes: &[u64]) -> Inferred {
    if axes.len() != sizes.len() {
        return Err(format!("sizes or factors for {} axes do not fit {input}", sizes.len()));
    }
    let mut result = input.clone();
    for (given, size) in axes.iter().zip(sizes) {
        result = with_extent(&result, axis(*given, input.rank())?, *size);
    }
    Ok(Some(result))
}

fn fitted(node: &Node<'_>, input: &Shape, axes: &[i64], sizes: &[u64]) -> Inferred {
    let largest = node.text("keep_aspect_ratio_policy") == "not_larger";
    let mut factor: Option<f32> = None;
    for (given, size) in axes.iter().zip(sizes) {
        let this = *size as f32 / input.extent(axis(*given, input.rank())?) as f32;
        let next = factor.map_or(this, |f| if largest { f.min(this) } else { f.max(this) });
        factor = Some(next);
    }
    let mut scaled = Vec::new();
    for given in axes {
        let extent = input.extent(axis(*given, input.rank())?) as f32;
        scaled.push((extent * factor.unwrap_or(1.0)).round() as u64);
    }
    placed(input, axes, &scaled)
}

/// `Range`: as many as there are steps.
pub(super) fn range(node: &Node<'_>) -> Inferred {
    let one = |port| node.numbers(port).and_then(|n| n.floats().first().copied());
    let (Some(start), Some(limit), Some(step)) = (one(0), one(1), one(2)) else { return Ok(None) };
    if step == 0.0 {
        return Err("a step of 0".into());
    }
    Ok(Some(Shape(vec![((limit - start) / step).ceil().max(0.0) as u64])))
}

/// `Constant`, in any of its forms.
pub(super) fn constant(node: &Node<'_>) -> Inferred {
    if let Some(tensor) = node.attribute("value").and_then(|a| a.tensor.as_ref()) {
        return shape(&tensor.dims).map(Some);
    }
    if let Some(sparse) = node.attribute("sparse_value").and_then(|a| a.sparse_tensor.as_ref()) {
        return Value::sparse(sparse).map(|value| value.shape);
    }
    let list = |name| node.attribute(name).map(|a| a.ints.len().max(a.floats.len()));
    if let Some(length) = list("value_ints").or_else(|| list("value_floats")) {
        return Ok(Some(Shape(vec![length as u64])));
    }
    let single = ["value_int", "value_float", "value_string"];
    Ok(single.iter().any(|name| node.attribute(name).is_some()).then(Shape::default))
}

/// The type of `Constant` and `ConstantOfShape`.
pub(super) fn constant_element(node: &Node<'_>) -> ElementType {
    if let Some(attribute) = node.attribute("value") {
        return attribute.tensor.as_ref().map_or(ElementType::Float32, |t| element(t.data_type));
    }
    if let Some(sparse) = node.attribute("sparse_value").and_then(|a| a.sparse_tensor.as_ref()) {
        return sparse.values.as_ref().map_or(ElementType::Other, |t| element(t.data_type));
    }
    let has = |name| node.attribute(name).is_some();
    if has("value_int") || has("value_ints") {
        ElementType::Int64
    } else if has("value_string") || has("value_strings") {
        ElementType::Other
    } else {
        ElementType::Float32
    }
}

/// `ConstantOfShape`: one number in extents given as numbers.
pub(super) fn of_shape(node: &Node<'_>) -> Inferred {
    node.numbers(0).and_then(|n| n.ints()).map(shape).transpose()
}

/// What `Shape` answers: extents, from `start` to before `end`.
pub(in super::super) fn shape_of_shape(node: &Node<'_>) -> Option<Vec<i64>> {
    let input = node.shape(0)?;
    let rank = input.rank() as i64;
    let place = |given: i64| {
        let counted = if given < 0 { given.saturating_add(rank) } else { given };
        counted.clamp(0, rank) as usize
    };
    let (start, end) = (place(node.int("start", 0)), place(node.int("end", i64::MAX)));
    input.0.get(start..end.max(start))?.iter().map(|e| i64::try_from(*e).ok()).collect()
}
