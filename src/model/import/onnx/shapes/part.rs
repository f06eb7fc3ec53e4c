//! Parts taken, borders added, elements picked by index.

use super::arrange::with_extent;
use super::{Inferred, extents, known};
use crate::model::Shape;
use crate::model::import::onnx::node::{Node, Setting, axis};

/// One axis of a `Slice`: where it starts, its step, how many it takes.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Cut {
    pub axis: usize,
    pub start: i64,
    pub step: i64,
    pub count: u64,
}

/// The cuts of a `Slice`; `None` where only the running network knows them.
pub(in super::super) fn cuts(node: &Node<'_>, input: &Shape) -> Result<Option<Vec<Cut>>, String> {
    let (Setting::Known(starts), Setting::Known(ends)) =
        (node.ints_of("starts", 1), node.ints_of("ends", 2))
    else {
        return Ok(None);
    };
    let all: Vec<i64> = (0..starts.len() as i64).collect();
    let ones = vec![1; starts.len()];
    let Some(axes) = known(node.ints_of("axes", 3), &all) else { return Ok(None) };
    let Some(steps) = known(node.ints_of("steps", 4), &ones) else { return Ok(None) };
    if [ends.len(), axes.len(), steps.len()].iter().any(|length| *length != starts.len()) {
        return Err("starts, ends, axes and steps differ in length".into());
    }
    let cut = |(((given, start), end), step): (((&i64, &i64), &i64), &i64)| {
        let at = axis(*given, input.rank())?;
        one_cut(at, input.extent(at), *start, *end, *step)
    };
    axes.iter().zip(starts).zip(ends).zip(steps).map(cut).collect::<Result<_, _>>().map(Some)
}

fn one_cut(axis: usize, extent: u64, start: i64, end: i64, step: i64) -> Result<Cut, String> {
    let extent = i64::try_from(extent).map_err(|_| format!("an extent of {extent}"))?;
    if step == 0 {
        return Err("a step of 0".into());
    }
    // Backwards, one place before the first element is a valid end.
    let (low, high) = if step > 0 { (0, extent) } else { (-1, extent - 1) };
    let place = |given: i64| {
        let from_front = if given < 0 { given.saturating_add(extent) } else { given };
        from_front.clamp(low, high)
    };
    let (start, end) = (place(start).max(0), place(end));
    let distance = if step > 0 { end - start } else { start - end };
    let count = u64::try_from(distance).unwrap_or(0).div_ceil(step.unsigned_abs());
    Ok(Cut { axis, start, step, count })
}

/// `Slice`.
pub(super) fn slice(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let Some(cuts) = cuts(node, input)? else { return Ok(None) };
    let cut = |shape: Shape, cut: &Cut| with_extent(&shape, cut.axis, cut.count);
    Ok(Some(cuts.iter().fold(input.clone(), cut)))
}

/// `Pad`: elements before and after each axis, or taken away.
pub(super) fn pad(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let old = if node.attribute("paddings").is_some() { "paddings" } else { "pads" };
    let Setting::Known(pads) = node.ints_of(old, 1) else { return Ok(None) };
    let every: Vec<i64> = (0..input.rank() as i64).collect();
    // In the attribute form the third input is no list of axes.
    let axes = if node.opset < 11 { Setting::Absent } else { node.ints_of("axes", 3) };
    let Some(axes) = known(axes, &every) else { return Ok(None) };
    if pads.len() != axes.len() * 2 {
        return Err(format!("pads {pads:?} do not fit an input of {input}"));
    }
    let (before, after) = pads.split_at(axes.len());
    let mut result = input.clone();
    for ((given, before), after) in axes.iter().zip(before).zip(after) {
        let at = axis(*given, input.rank())?;
        let grown = i64::try_from(input.extent(at))
            .ok()
            .and_then(|extent| extent.checked_add(*before)?.checked_add(*after))
            .and_then(|extent| u64::try_from(extent).ok())
            .ok_or_else(|| format!("pads {pads:?} leave nothing of {input}"))?;
        result = with_extent(&result, at, grown);
    }
    Ok(Some(result))
}

/// `Gather`: the extents of the indices in the place of an axis.
pub(super) fn gather(node: &Node<'_>) -> Inferred {
    let (Some(data), Some(indices)) = (node.shape(0), node.shape(1)) else { return Ok(None) };
    let at = axis(node.int("axis", 0), data.rank())?;
    let (outer, inner) = data.0.split_at(at);
    Ok(Some(Shape([outer, &indices.0, inner.get(1..).unwrap_or(&[])].concat())))
}

/// `GatherND`: the innermost extent of the indices is how many axes each names.
pub(super) fn gather_tuples(node: &Node<'_>) -> Inferred {
    let (Some(data), Some(indices)) = (node.shape(0), node.shape(1)) else { return Ok(None) };
    let misfit = || format!("indices {indices} do not pick from {data}");
    let (named, outer) = indices.0.split_last().ok_or_else(misfit)?;
    let batch = usize::try_from(node.int("batch_dims", 0)).map_err(|_| misfit())?;
    let from = usize::try_from(*named).ok().and_then(|n| n.checked_add(batch));
    let slice = from.and_then(|from| data.0.get(from..)).ok_or_else(misfit)?;
    Ok(Some(Shape([outer, slice].concat())))
}

/// `Compress`: the places along an axis, or of all elements, where a condition holds.
pub(super) fn compress(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let Some(condition) = node.numbers(1).and_then(|n| n.ints()) else { return Ok(None) };
    let taken = condition.iter().filter(|holds| **holds != 0).count() as u64;
    Ok(Some(match node.attribute("axis") {
        Some(given) => with_extent(input, axis(given.int, input.rank())?, taken),
        None => Shape(vec![taken]),
    }))
}

/// `CenterCropPad`: given extents along some axes, whether that crops or pads.
pub(super) fn fitted(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let Setting::Known(wanted) = node.ints_of("shape", 1) else { return Ok(None) };
    let every: Vec<i64> = (0..input.rank() as i64).collect();
    let axes = node.ints("axes").unwrap_or(&every);
    if axes.len() != wanted.len() {
        return Err(format!("extents {wanted:?} for {} axes of {input}", axes.len()));
    }
    let mut result = input.clone();
    for (given, extent) in axes.iter().zip(extents(wanted, "shape")?) {
        result = with_extent(&result, axis(*given, input.rank())?, extent);
    }
    Ok(Some(result))
}

/// `GridSample`: the data's channels at the places of a grid, whose last axis is a place.
pub(super) fn sampled(node: &Node<'_>) -> Inferred {
    let (Some(data), Some(grid)) = (node.shape(0), node.shape(1)) else { return Ok(None) };
    if data.rank() < 3 || grid.rank() != data.rank() {
        return Err(format!("a grid of {grid} does not sample {data}"));
    }
    let plane = grid.0.get(1..grid.rank() - 1).unwrap_or(&[]);
    Ok(Some(Shape([&[data.extent(0), data.extent(1)], plane].concat())))
}

/// `OneHot`: a new axis as long as there are classes.
pub(super) fn one_hot(node: &Node<'_>) -> Inferred {
    let Some(indices) = node.shape(0) else { return Ok(None) };
    let Some(depth) = node.numbers(1).and_then(|n| n.floats().first().copied()) else {
        return Ok(None);
    };
    let depth = extents(&[depth as i64], "depth")?;
    let at = axis(node.int("axis", -1), indices.rank() + 1)?;
    let (outer, inner) = indices.0.split_at(at);
    Ok(Some(Shape([outer, &depth, inner].concat())))
}

/// `TopK`: the largest along an axis.
pub(super) fn top(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let count = match node.attribute("k") {
        Some(attribute) => Some(attribute.int),
        None => node.numbers(1).and_then(|n| n.ints()?.first().copied()),
    };
    let Some(count) = count else { return Ok(None) };
    let at = axis(node.int("axis", -1), input.rank())?;
    let count = extents(&[count], "k")?.first().copied().unwrap_or(0);
    Ok(Some(with_extent(input, at, count)))
}
