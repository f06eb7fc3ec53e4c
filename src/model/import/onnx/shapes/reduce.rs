//! Reductions over axes.

use super::{Inferred, marked};
use crate::model::Shape;
use crate::model::import::onnx::node::{Node, Setting};

/// `Reduce…`: over some axes, or over all when none is named.
pub(super) fn reduce(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let reduced = match node.ints_of("axes", 1) {
        Setting::Unknown => return Ok(None),
        Setting::Absent | Setting::Known([]) => {
            let none = node.flag("noop_with_empty_axes", false);
            vec![!none; input.rank()]
        }
        Setting::Known(axes) => marked(axes, input.rank())?,
    };
    Ok(Some(without(input, &reduced, node.flag("keepdims", true))))
}

/// `ArgMax` and `ArgMin`: over one axis.
pub(super) fn position(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let reduced = marked(&[node.int("axis", 0)], input.rank())?;
    Ok(Some(without(input, &reduced, node.flag("keepdims", true))))
}

fn without(input: &Shape, reduced: &[bool], keep: bool) -> Shape {
    let extents = input.0.iter().zip(reduced).filter_map(|(extent, reduced)| match reduced {
        true if keep => Some(1),
        true => None,
        false => Some(*extent),
    });
    Shape(extents.collect())
}
