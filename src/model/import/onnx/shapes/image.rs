//! Images taken apart and put together: regions, columns, unpooling, sampling grids.

use super::{Inferred, extents};
use crate::model::Shape;
use crate::model::import::onnx::node::{Node, Setting};

/// `RoiAlign`: one image of given extents for each region.
pub(super) fn region(node: &Node<'_>, height: &str, width: &str) -> Inferred {
    let plane = extents(&[node.int(height, 1), node.int(width, 1)], "output extents")?;
    Ok(regions(node, &plane))
}

/// `MaxRoiPool`: the same by a maximum.
pub(super) fn pooled_region(node: &Node<'_>) -> Inferred {
    let plane = extents(node.ints("pooled_shape").unwrap_or(&[]), "pooled_shape")?;
    if plane.len() != 2 {
        return Err("pooled_shape is missing".into());
    }
    Ok(regions(node, &plane))
}

fn regions(node: &Node<'_>, plane: &[u64]) -> Option<Shape> {
    let (input, regions) = (node.shape(0)?, node.shape(1)?);
    Some(Shape([&[regions.extent(0), input.extent(1)], plane].concat()))
}

/// `MaxUnpool`: the extents that pooling started from, given or as small as they can have been.
pub(super) fn unpooled(node: &Node<'_>) -> Inferred {
    match node.ints_of("output_shape", 2) {
        Setting::Known(given) => return Ok(Some(Shape(extents(given, "output_shape")?))),
        Setting::Unknown => return Ok(None),
        Setting::Absent => {}
    }
    let Some(input) = node.shape(0) else { return Ok(None) };
    let kernel = extents(node.ints("kernel_shape").unwrap_or(&[]), "kernel_shape")?;
    let strides = extents(node.ints("strides").unwrap_or(&[]), "strides")?;
    let pads = extents(node.ints("pads").unwrap_or(&[]), "pads")?;
    let (outer, plane) = input.0.split_at(input.rank().min(2));
    if plane.len() != kernel.len() {
        return Err(format!("a window over {} dimensions does not fit {input}", kernel.len()));
    }
    let at = |list: &[u64], axis: usize, default| list.get(axis).copied().unwrap_or(default);
    let mut result = outer.to_vec();
    for (axis, (extent, window)) in plane.iter().zip(&kernel).enumerate() {
        let span = extent.saturating_sub(1).checked_mul(at(&strides, axis, 1));
        let pad = at(&pads, axis, 0).checked_add(at(&pads, axis + kernel.len(), 0));
        let whole = span.and_then(|span| span.checked_add(*window)?.checked_sub(pad?));
        result.push(whole.ok_or_else(|| format!("padding leaves nothing of dimension {axis}"))?);
    }
    Ok(Some(Shape(result)))
}

/// `Col2Im`: columns of blocks, `[N, C * block, places]`, added up into an image.
pub(super) fn columns(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let (Setting::Known(image), Setting::Known(block)) =
        (node.ints_of("image_shape", 1), node.ints_of("block_shape", 2))
    else {
        return Ok(None);
    };
    let misfit = || format!("blocks of {block:?} do not fit columns of {input}");
    let area = Shape(extents(block, "block_shape")?).elements().filter(|area| *area > 0);
    let [batch, deep, _] = input.0[..] else { return Err(misfit()) };
    let channels = area.filter(|area| deep.is_multiple_of(*area)).map(|area| deep / area);
    let channels = channels.ok_or_else(misfit)?;
    Ok(Some(Shape([&[batch, channels], &extents(image, "image_shape")?[..]].concat())))
}

/// `AffineGrid`: a place in two or three coordinates for each point of an image.
pub(super) fn grid(node: &Node<'_>) -> Inferred {
    let Setting::Known(size) = node.ints_of("size", 1) else { return Ok(None) };
    let size = extents(size, "size")?;
    let (Some(batch), Some(plane)) = (size.first(), size.get(2..)) else {
        return Err(format!("an image of {} dimensions", size.len()));
    };
    Ok(Some(Shape([&[*batch], plane, &[plane.len() as u64]].concat())))
}
