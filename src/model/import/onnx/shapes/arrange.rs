//! The same elements under other extents, joined, or dealt out.

use super::{Inferred, extents, known, marked};
use crate::model::Shape;
use crate::model::import::onnx::node::{Node, Setting, axis};

/// `Reshape`: 0 keeps an extent, -1 takes what is left.
pub(super) fn reshape(node: &Node<'_>) -> Inferred {
    let Setting::Known(wanted) = node.ints_of("shape", 1) else { return Ok(None) };
    let Some(input) = node.shape(0) else { return without_input(node, wanted) };
    let zero_is_zero = node.flag("allowzero", false);
    let mut product = 1u64;
    let mut open = None;
    let mut result = Vec::with_capacity(wanted.len());
    let misfit = || format!("{input} cannot become {wanted:?}");
    for (at, extent) in wanted.iter().enumerate() {
        let extent = match extent {
            -1 if open.is_none() => {
                open = Some(at);
                1
            }
            0 if !zero_is_zero => *input.0.get(at).ok_or_else(misfit)?,
            extent => u64::try_from(*extent).map_err(|_| misfit())?,
        };
        product = product.checked_mul(extent).ok_or_else(misfit)?;
        result.push(extent);
    }
    let total = input.elements().ok_or_else(misfit)?;
    if let Some(entry) = open.and_then(|at| result.get_mut(at)) {
        *entry = total.checked_div(product).unwrap_or(0);
        product = product.checked_mul(*entry).ok_or_else(misfit)?;
    }
    if product == total { Ok(Some(Shape(result))) } else { Err(misfit()) }
}

/// A target that leaves nothing open gives the shape of an input that is not known.
fn without_input(node: &Node<'_>, wanted: &[i64]) -> Inferred {
    let zero_is_zero = node.flag("allowzero", false);
    if wanted.iter().any(|extent| *extent < 0 || (*extent == 0 && !zero_is_zero)) {
        return Ok(None);
    }
    Ok(Some(Shape(extents(wanted, "shape")?)))
}

/// `Flatten`: two extents, before and from an axis on.
pub(super) fn flatten(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let given = node.int("axis", 1);
    // The axis behind the last one is allowed here.
    let cut = if given == input.rank() as i64 { input.rank() } else { axis(given, input.rank())? };
    let product = |extents: &[u64]| {
        Shape(extents.to_vec()).elements().ok_or_else(|| format!("{input} is too large"))
    };
    let (outer, inner) = input.0.split_at(cut.min(input.rank()));
    Ok(Some(Shape(vec![product(outer)?, product(inner)?])))
}

/// `Squeeze`: extents of 1 dropped.
pub(super) fn squeeze(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let dropped = match node.ints_of("axes", 1) {
        Setting::Unknown => return Ok(None),
        Setting::Absent => input.0.iter().map(|extent| *extent == 1).collect(),
        Setting::Known(axes) => marked(axes, input.rank())?,
    };
    let pairs = || input.0.iter().zip(&dropped);
    if pairs().any(|(extent, drop)| *drop && *extent != 1) {
        return Err(format!("an extent of {input} that is not 1 is squeezed away"));
    }
    Ok(Some(Shape(pairs().filter(|(_, drop)| !**drop).map(|(extent, _)| *extent).collect())))
}

/// `Unsqueeze`: extents of 1 put in.
pub(super) fn unsqueeze(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let Setting::Known(axes) = node.ints_of("axes", 1) else { return Ok(None) };
    let added = marked(axes, input.rank().saturating_add(axes.len()))?;
    let mut rest = input.0.iter();
    let result: Vec<_> =
        added.iter().filter_map(|new| if *new { Some(1) } else { rest.next().copied() }).collect();
    if result.len() < added.len() {
        return Err(format!("axes {axes:?} name an axis twice"));
    }
    Ok(Some(Shape(result)))
}

/// `Transpose`: axes in another order, reversed unless it is given.
pub(super) fn transpose(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let Some(order) = node.ints("perm").filter(|order| !order.is_empty()) else {
        return Ok(Some(Shape(input.0.iter().rev().copied().collect())));
    };
    let every_axis = marked(order, input.rank())?.iter().all(|mark| *mark);
    if !every_axis || order.len() != input.rank() {
        return Err(format!("{order:?} is no order of the axes of {input}"));
    }
    let extents = order.iter().map(|given| Ok(input.extent(axis(*given, input.rank())?)));
    Ok(Some(Shape(extents.collect::<Result<_, String>>()?)))
}

/// `Concat`: joined along an axis, all other extents alike.
pub(super) fn concat(node: &Node<'_>) -> Inferred {
    joined(node, 0, 1)
}

/// `QLinearConcat`: behind the scale and zero point of the result, each part has its own two.
pub(super) fn concat_quantised(node: &Node<'_>) -> Inferred {
    joined(node, 2, 3)
}

fn joined(node: &Node<'_>, from: usize, step: usize) -> Inferred {
    let Some(first) = node.shape(from) else { return Ok(None) };
    let at = axis(node.int("axis", 1), first.rank())?;
    let mut total = 0u64;
    for port in (from..node.inputs.len()).step_by(step) {
        let Some(part) = node.shape(port) else { return Ok(None) };
        let mut alike = part.0.iter().zip(&first.0).enumerate();
        if part.rank() != first.rank() || alike.any(|(i, (a, b))| i != at && a != b) {
            return Err(format!("{first} and {part} do not join along axis {at}"));
        }
        total = total.checked_add(part.extent(at)).ok_or("the joined tensor is too large")?;
    }
    Ok(Some(with_extent(first, at, total)))
}

/// A shape with one extent changed.
pub(super) fn with_extent(shape: &Shape, axis: usize, extent: u64) -> Shape {
    let mut changed = shape.clone();
    if let Some(entry) = changed.0.get_mut(axis) {
        *entry = extent;
    }
    changed
}

/// `Split`: parts along an axis, given or as equal as can be.
pub(super) fn split(node: &Node<'_>) -> Result<Vec<Option<Shape>>, String> {
    let Some(input) = node.shape(0) else { return Ok(Vec::new()) };
    let at = axis(node.int("axis", 0), input.rank())?;
    let Some(given) = known(node.ints_of("split", 1), &[]) else { return Ok(Vec::new()) };
    let whole = input.extent(at);
    let parts =
        if given.is_empty() { even_parts(whole, node.outputs) } else { extents(given, "split")? };
    let sum = parts.iter().try_fold(0u64, |sum, part| sum.checked_add(*part));
    if sum != Some(whole) {
        return Err(format!("parts {parts:?} do not make up axis {at} of {input}"));
    }
    Ok(parts.into_iter().map(|part| Some(with_extent(input, at, part))).collect())
}

/// The last part is the smaller one when it does not come out even.
fn even_parts(whole: u64, parts: usize) -> Vec<u64> {
    let each = whole.div_ceil((parts as u64).max(1));
    let mut left = whole;
    let mut take = || {
        let part = each.min(left);
        left -= part;
        part
    };
    (0..parts).map(|_| take()).collect()
}

/// `DepthToSpace` and `SpaceToDepth`.
pub(super) fn blocks(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let size = node.int("blocksize", 0);
    let misfit = || format!("blocks of {size} do not fit {input}");
    let [batch, channels, height, width] = input.0[..] else { return Err(misfit()) };
    let side = u64::try_from(size).ok().filter(|s| *s > 0).ok_or_else(misfit)?;
    let area = side.checked_mul(side).ok_or_else(misfit)?;
    let extents = if node.native == "DepthToSpace" {
        let exact = channels.is_multiple_of(area);
        let grown = height.checked_mul(side).zip(width.checked_mul(side)).filter(|_| exact);
        grown.map(|(height, width)| vec![batch, channels / area, height, width])
    } else {
        let exact = height.is_multiple_of(side) && width.is_multiple_of(side);
        let deep = channels.checked_mul(area).filter(|_| exact);
        deep.map(|deep| vec![batch, deep, height / side, width / side])
    };
    extents.map(|e| Some(Shape(e))).ok_or_else(misfit)
}
