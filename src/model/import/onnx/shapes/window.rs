//! Convolutions and pooling.

use super::{Inferred, extents};
use crate::model::import::onnx::node::Node;
use crate::model::{Padding, Shape};

/// What becomes of room at the end that takes only part of a stride.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rounding {
    /// It is left.
    Down,
    /// It takes a window more.
    Up,
    /// It takes a window more, if that starts before the padding behind the data.
    UpWithinData,
}

/// How a window slides over the spatial axes.
#[derive(Debug, Clone)]
pub(in super::super) struct Sliding {
    pub kernel: Vec<u64>,
    pub strides: Vec<u64>,
    pub dilations: Vec<u64>,
    pub padding: Padding,
}

impl Sliding {
    pub fn new(node: &Node<'_>, kernel: Vec<u64>) -> Result<Self, String> {
        let rank = kernel.len();
        let list = |name: &str, length: usize, default: u64| match node.ints(name) {
            None | Some([]) => Ok(vec![default; length]),
            Some(ints) if ints.len() == length => extents(ints, name),
            Some(ints) => Err(format!("{name} {ints:?} does not fit {rank} spatial dimensions")),
        };
        let strides = list("strides", rank, 1)?;
        let dilations = list("dilations", rank, 1)?;
        if strides.iter().chain(&dilations).chain(&kernel).any(|extent| *extent == 0) {
            return Err("a window, stride or dilation of 0".into());
        }
        let padding = match node.text("auto_pad") {
            "SAME_UPPER" | "SAME_LOWER" => Padding::Same,
            "VALID" => Padding::Valid,
            _ => {
                let mut before = list("pads", 2 * rank, 0)?;
                let after = before.split_off(rank);
                if before.iter().chain(&after).all(|pad| *pad == 0) {
                    Padding::Valid
                } else {
                    Padding::Explicit { before, after }
                }
            }
        };
        Ok(Self { kernel, strides, dilations, padding })
    }

    /// The window of a pooling operator, which names its extents itself. A window more than fits, by
    /// rounding up, is padding behind the data.
    pub fn of_pool(node: &Node<'_>) -> Result<Self, String> {
        let kernel = extents(node.ints("kernel_shape").unwrap_or(&[]), "kernel_shape")?;
        if kernel.is_empty() {
            return Err("kernel_shape is missing".into());
        }
        let mut sliding = Self::new(node, kernel)?;
        let rounding = rounding(node);
        if let (Some(input), true) = (node.shape(0), rounding != Rounding::Down) {
            sliding.round_up(input, rounding)?;
        }
        Ok(sliding)
    }

    fn round_up(&mut self, input: &Shape, rounding: Rounding) -> Result<(), String> {
        let rank = self.kernel.len();
        if self.padding == Padding::Same || input.rank() != rank + 2 {
            return Ok(());
        }
        let pads: Vec<_> = (0..rank).map(|axis| self.pads(axis)).collect();
        let before: Vec<_> = pads.iter().map(|(before, _)| *before).collect();
        let mut after = Vec::with_capacity(rank);
        for (axis, (front, behind)) in pads.iter().enumerate() {
            let extent = input.extent(axis + 2);
            let made = self.positions(axis, extent, rounding)?;
            let (_, stride, _) = self.at(axis);
            let span = made.checked_sub(1).and_then(|n| n.checked_mul(stride));
            let covered =
                span.zip(self.reach(axis)).and_then(|(span, reach)| span.checked_add(reach));
            let given = extent.checked_add(*front).and_then(|n| n.checked_add(*behind));
            let more = covered.zip(given).map(|(covered, given)| covered.saturating_sub(given));
            let too_large = || format!("a window over {extent} is too large");
            after.push(more.and_then(|m| behind.checked_add(m)).ok_or_else(too_large)?);
        }
        if before.iter().chain(&after).any(|pad| *pad > 0) {
            self.padding = Padding::Explicit { before, after };
        }
        Ok(())
    }

    fn at(&self, axis: usize) -> (u64, u64, u64) {
        let get = |list: &[u64]| list.get(axis).copied().unwrap_or(1);
        (get(&self.kernel), get(&self.strides), get(&self.dilations))
    }

    fn pads(&self, axis: usize) -> (u64, u64) {
        let get = |list: &[u64]| list.get(axis).copied().unwrap_or(0);
        match &self.padding {
            Padding::Explicit { before, after } => (get(before), get(after)),
            Padding::Same | Padding::Valid => (0, 0),
        }
    }

    /// Taps and the gaps between them.
    fn reach(&self, axis: usize) -> Option<u64> {
        let (kernel, _, dilation) = self.at(axis);
        kernel.checked_sub(1)?.checked_mul(dilation)?.checked_add(1)
    }

    fn positions(&self, axis: usize, input: u64, rounding: Rounding) -> Result<u64, String> {
        let (kernel, stride, _) = self.at(axis);
        if self.padding == Padding::Same {
            return Ok(input.div_ceil(stride));
        }
        let (before, after) = self.pads(axis);
        let room = input
            .checked_add(before)
            .and_then(|n| n.checked_add(after))
            .zip(self.reach(axis))
            .and_then(|(padded, reach)| padded.checked_sub(reach))
            .ok_or_else(|| format!("a window of {kernel} does not fit an extent of {input}"))?;
        let (whole, started) = (room / stride, room.div_ceil(stride));
        Ok(match rounding {
            Rounding::Down => whole + 1,
            Rounding::Up => started + 1,
            Rounding::UpWithinData => {
                let start = started.saturating_mul(stride);
                if start >= input.saturating_add(before) { started } else { started + 1 }
            }
        })
    }
}

fn slide(
    input: &Shape,
    channels: u64,
    rank: usize,
    position: impl Fn(usize, u64) -> Result<u64, String>,
) -> Inferred {
    let spatial = input.0.get(2..).unwrap_or(&[]);
    if spatial.len() != rank || rank == 0 {
        return Err(format!("a window over {rank} dimensions does not fit an input of {input}"));
    }
    let mut extents = vec![input.extent(0), channels];
    for (axis, extent) in spatial.iter().enumerate() {
        extents.push(position(axis, *extent)?);
    }
    Ok(Some(Shape(extents)))
}

/// The spatial extents of weights `[O, I, spatial..]`.
pub(in super::super) fn kernel(weights: &Shape) -> Vec<u64> {
    weights.0.get(2..).unwrap_or(&[]).to_vec()
}

/// A convolution whose weights stand at `port`.
pub(super) fn convolution(node: &Node<'_>, port: usize) -> Inferred {
    let (Some(input), Some(weights)) = (node.shape(0), node.shape(port)) else { return Ok(None) };
    let groups = groups(node)?;
    if input.rank() < 3 || weights.extent(1).checked_mul(groups) != Some(input.extent(1)) {
        return Err(format!("weights {weights} in {groups} groups do not fit an input of {input}"));
    }
    let sliding = Sliding::new(node, kernel(weights))?;
    slide(input, weights.extent(0), sliding.kernel.len(), |axis, extent| {
        sliding.positions(axis, extent, Rounding::Down)
    })
}

/// Channel groups, at least one.
pub(in super::super) fn groups(node: &Node<'_>) -> Result<u64, String> {
    let groups = node.int("group", 1);
    u64::try_from(groups).ok().filter(|g| *g > 0).ok_or_else(|| format!("{groups} channel groups"))
}

/// A transposed convolution.
pub(super) fn transposed(node: &Node<'_>) -> Inferred {
    let (Some(input), Some(weights)) = (node.shape(0), node.shape(1)) else { return Ok(None) };
    let groups = groups(node)?;
    let channels = weights.extent(1).checked_mul(groups);
    let Some(channels) = channels.filter(|_| weights.extent(0) == input.extent(1)) else {
        return Err(format!("weights {weights} do not fit an input of {input}"));
    };
    let sliding = Sliding::new(node, kernel(weights))?;
    let given = extents(node.ints("output_shape").unwrap_or(&[]), "output_shape")?;
    let extra = extents(node.ints("output_padding").unwrap_or(&[]), "output_padding")?;
    let rank = sliding.kernel.len();
    slide(input, channels, rank, |axis, extent| {
        // Some writers give all dimensions, some the spatial ones only.
        let skipped = given.len().saturating_sub(rank);
        if let Some(wanted) = given.get(skipped + axis) {
            return Ok(*wanted);
        }
        let (_, stride, _) = sliding.at(axis);
        let (before, after) = sliding.pads(axis);
        let grown = if sliding.padding == Padding::Same {
            extent.checked_mul(stride)
        } else {
            let span = extent.saturating_sub(1).checked_mul(stride);
            span.zip(sliding.reach(axis)).and_then(|(span, reach)| span.checked_add(reach))
        };
        grown
            .and_then(|n| n.checked_add(extra.get(axis).copied().unwrap_or(0)))
            .and_then(|n| n.checked_sub(before)?.checked_sub(after))
            .ok_or_else(|| format!("padding leaves nothing of dimension {axis}"))
    })
}

/// A pooling window.
pub(super) fn pool(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    let sliding = Sliding::of_pool(node)?;
    slide(input, input.extent(1), sliding.kernel.len(), |axis, extent| {
        sliding.positions(axis, extent, Rounding::Down)
    })
}

fn rounding(node: &Node<'_>) -> Rounding {
    match node.flag("ceil_mode", false) {
        false => Rounding::Down,
        true if node.opset < 22 => Rounding::Up,
        true => Rounding::UpWithinData,
    }
}

/// Pooling over the whole plane.
pub(super) fn whole_plane(node: &Node<'_>) -> Inferred {
    let Some(input) = node.shape(0) else { return Ok(None) };
    slide(input, input.extent(1), input.rank().saturating_sub(2), |_, _| Ok(1))
}
