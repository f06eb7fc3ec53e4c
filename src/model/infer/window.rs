//! Convolutions and pooling.

use crate::model::arithmetic::image_axes;
use crate::model::consistency::positions;
use crate::model::{Convolution, Layout, Padding, Pool, Shape};

/// Settings of a window, one a spatial axis.
struct Sliding<'a> {
    kernel: &'a [u64],
    strides: &'a [u64],
    dilations: &'a [u64],
    padding: &'a Padding,
}

pub(super) fn convolution(
    c: &Convolution,
    layout: Layout,
    input: &Shape,
    weights: &Shape,
) -> Result<Shape, String> {
    let rank = input.rank();
    let misfit = || format!("an input of {input} and weights {weights} do not make a convolution");
    if rank < 3 || weights.rank() != rank {
        return Err(misfit());
    }
    let (channel, spatial) = image_axes(layout, rank);
    let kernel = weights.0.get(spatial.clone()).ok_or_else(misfit)?;
    let sliding =
        Sliding { kernel, strides: &c.strides, dilations: &c.dilations, padding: &c.padding };
    let channels = channels(c, layout, input.extent(channel), weights, kernel);
    let mut made = input.clone();
    for (at, axis) in spatial.enumerate() {
        let extent = input.extent(axis);
        let places =
            if c.transposed { sliding.spread(at, extent) } else { sliding.places(at, extent) };
        set(&mut made, axis, places.ok_or_else(misfit)?);
    }
    set(&mut made, channel, channels.ok_or_else(misfit)?);
    Ok(made)
}

fn set(shape: &mut Shape, axis: usize, extent: u64) {
    if let Some(at) = shape.0.get_mut(axis) {
        *at = extent;
    }
}

/// Output channels, from weights that fit the input's.
fn channels(
    c: &Convolution,
    layout: Layout,
    inputs: u64,
    weights: &Shape,
    kernel: &[u64],
) -> Option<u64> {
    if c.groups == 0 {
        return None;
    }
    if c.transposed {
        // As many filters as input channels, in either order of storage.
        let taps = kernel.iter().try_fold(1u64, |n, d| n.checked_mul(*d))?;
        let each = inputs.checked_mul(taps).filter(|each| *each > 0)?;
        let stored = weights.elements().filter(|stored| stored.is_multiple_of(each))?;
        return (stored / each).checked_mul(c.groups);
    }
    let (filter_axis, _) = image_axes(layout, weights.rank());
    let (filters, filter) = (weights.extent(0), weights.extent(filter_axis));
    if filter.checked_mul(c.groups) == Some(inputs) && filters.is_multiple_of(c.groups) {
        return Some(filters);
    }
    // Depthwise filters stored `[1, spatial.., channels]`.
    let depthwise = layout == Layout::ChannelsLast
        && filters == 1
        && c.groups == inputs
        && filter.is_multiple_of(c.groups);
    depthwise.then_some(filter)
}

impl Sliding<'_> {
    /// Positions of the window along a spatial axis.
    fn places(&self, at: usize, extent: u64) -> Option<u64> {
        let (stride, dilation) = self.steps(at)?;
        positions(self.padding, at, extent, *self.kernel.get(at)?, (stride, dilation))
    }

    /// Extent that the windows of a transposed convolution cover together.
    fn spread(&self, at: usize, extent: u64) -> Option<u64> {
        let (stride, dilation) = self.steps(at)?;
        let covered = || {
            let steps = extent.checked_sub(1)?.checked_mul(stride)?;
            let reach = self.kernel.get(at)?.checked_sub(1)?.checked_mul(dilation)?;
            steps.checked_add(reach)?.checked_add(1)
        };
        match self.padding {
            Padding::Same => extent.checked_mul(stride),
            Padding::Valid => covered(),
            Padding::Explicit { before, after } => {
                let cut = before.get(at)?.checked_add(*after.get(at)?)?;
                covered()?.checked_sub(cut).filter(|left| *left > 0)
            }
        }
    }

    /// Stride and dilation, both at least 1; a dilation left out is 1.
    fn steps(&self, at: usize) -> Option<(u64, u64)> {
        let stride = self.strides.get(at).copied().filter(|stride| *stride > 0)?;
        let dilation = if self.dilations.is_empty() { 1 } else { *self.dilations.get(at)? };
        (dilation > 0).then_some((stride, dilation))
    }
}

pub(super) fn pool(pool: &Pool, layout: Layout, input: &Shape) -> Result<Shape, String> {
    let misfit = || format!("the window does not slide over {input}");
    if input.rank() < 3 {
        return Err(misfit());
    }
    let (_, spatial) = image_axes(layout, input.rank());
    let Pool { kernel, strides, dilations, padding, .. } = pool;
    let sliding = Sliding { kernel, strides, dilations, padding };
    let mut made = input.clone();
    for (at, axis) in spatial.enumerate() {
        let whole_plane = kernel.is_empty();
        let places = if whole_plane { Some(1) } else { sliding.places(at, input.extent(axis)) };
        set(&mut made, axis, places.ok_or_else(misfit)?);
    }
    Ok(made)
}
