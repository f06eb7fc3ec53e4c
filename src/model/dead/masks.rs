//! Which channels of a tensor are live, and what rearrangements make of it.

use crate::model::arithmetic::image_axes;
use crate::model::{Layout, Op, Shape};
use std::rc::Rc;

/// Elements of a flattened tensor that are followed one by one.
pub(super) const FOLLOWED: u64 = 1 << 22;

/// Which channels of a tensor are live, along an axis of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mask {
    pub axis: usize,
    pub live: Rc<Vec<bool>>,
}

impl Mask {
    pub fn on(&self, axis: usize) -> Self {
        Self { axis, live: self.live.clone() }
    }
}

/// The channels that go into a filter, in the order of its depth.
pub(super) fn at_input(mask: &Mask, op: &Op, layout: Layout, input: &Shape) -> Option<Vec<bool>> {
    let last = input.rank().checked_sub(1)?;
    match op {
        Op::Convolution(_) => {
            (mask.axis == image_axes(layout, input.rank()).0).then(|| mask.live.to_vec())
        }
        // A fully connected layer may flatten all axes but the first.
        _ if mask.axis == last => Some(mask.live.to_vec()),
        _ => None,
    }
}

/// A reduction over other axes keeps the channels.
pub(super) fn reduced(mask: &Mask, input: &Shape, output: &Shape) -> Option<Mask> {
    let extent = input.extent(mask.axis);
    if input.rank() == output.rank() {
        return (output.extent(mask.axis) == extent).then(|| mask.clone());
    }
    // Without the reduced axes the channels are known by their extent, if no other has it.
    let only = |shape: &Shape| shape.0.iter().filter(|e| **e == extent).count() == 1;
    let at = output.0.iter().position(|e| *e == extent)?;
    (extent > 1 && only(input) && only(output)).then(|| mask.on(at))
}

/// Axes in another order: the channels are known by their extent, if no other axis has it.
pub(super) fn turned(mask: &Mask, input: &Shape, output: &Shape) -> Option<Mask> {
    let extent = input.extent(mask.axis);
    let only = input.rank() == output.rank()
        && [input, output].iter().all(|s| s.0.iter().filter(|e| **e == extent).count() == 1);
    let at = output.0.iter().position(|e| *e == extent)?;
    only.then(|| mask.on(at))
}

/// The same elements under other extents: the channel axis stays an axis, or is merged with its
/// neighbours into one.
pub(super) fn viewed(mask: &Mask, input: &Shape, output: &Shape) -> Option<Mask> {
    let product = |extents: &[u64]| extents.iter().try_fold(1u64, |n, e| n.checked_mul(*e));
    let extent = input.extent(mask.axis);
    let behind = product(input.0.get(mask.axis + 1..)?)?;
    let reach = behind.checked_mul(extent)?;
    let mut inner = 1u64;
    for (at, own) in output.0.iter().enumerate().rev() {
        let outer = inner.checked_mul(*own)?;
        if inner == behind && outer == reach && *own == extent {
            return Some(mask.on(at));
        }
        if inner <= behind && outer >= reach && behind.is_multiple_of(inner.max(1)) {
            return merged(mask, at, *own, behind / inner.max(1));
        }
        inner = outer;
    }
    None
}

fn merged(mask: &Mask, axis: usize, extent: u64, inner: u64) -> Option<Mask> {
    let channels = mask.live.len() as u64;
    let each = channels.checked_mul(inner).filter(|n| *n > 0 && extent.is_multiple_of(*n))?;
    if extent > FOLLOWED || each > extent {
        return None;
    }
    let live = (0..extent).map(|i| mask.live.get((i / inner % channels) as usize).copied());
    let live = live.map(|live| live.unwrap_or(true)).collect();
    Some(Mask { axis, live: Rc::new(live) })
}
