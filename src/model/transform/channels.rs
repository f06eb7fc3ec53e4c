//! Inner channels times a factor.
//!
//! `c` channels become the multiple of 8 nearest to `c w`, at least 8 and at least 90 % of `c w`; for
//! a factor below 1 never more than `c`. A factor of 1 changes nothing, and a single channel (a gate
//! over positions) stays one. The inputs of the network keep their channels, and so do the layers that
//! a result of the network comes from. Filters, biases and stored statistics follow; what was known
//! of their numbers is dropped.
//!
//! Of MobileNetV1 this is the width multiplier. MobileNetV2 defines its own otherwise: it scales an
//! expansion from the bottleneck in front of it, and keeps the 1280 channels of its last convolution
//! for factors below 1.

use super::Refusal;
use super::draft::{At, Draft, Step};
use super::gates::states_in_front;
use super::propagate::{Before, Change, inner_product, propagate, suffix_of};
use super::record::Done;
use super::sparsity;
use crate::model::arithmetic::image_axes;
use crate::model::{Convolution, Layout, Op, Shape};
use std::collections::BTreeSet;

/// Channels are multiples of this.
const MULTIPLE: u64 = 8;
/// A wider network is a slip.
const WIDEST: f64 = 1000.0;
/// Of the wanted channels at least this share is there.
const LEAST_SHARE: f64 = 0.9;

pub(super) fn scale(draft: &mut Draft, factor: f64) -> Result<Done, Refusal> {
    if !(factor > 0.0 && factor <= WIDEST) {
        let reason = format!("a width is a factor above 0 and at most {WIDEST}");
        return Err(Refusal::Value(reason));
    }
    let mut done = Done::default();
    if factor == 1.0 {
        return Ok(done);
    }
    let before = Before::of(draft);
    let fixed = layers_of_results(draft);
    let states = states_in_front(draft);
    let mut scaled = 0;
    propagate(draft, &before, Change::Extents, |draft, i| {
        let Some(step) = draft.steps.get(i).cloned() else { return Ok(()) };
        let state = states.get(&i);
        let stays =
            fixed.contains(&i) || state.is_some_and(|state| fixed.contains(&state.recurrence));
        let wanted = |columns: u64| match state {
            _ if stays => columns,
            Some(state) => state.of_gates(columns, factor),
            None => times(columns, factor),
        };
        let following = Following { before: &before, step: &step };
        let changed = following.adjust(draft, i, &wanted);
        let changed = changed.map_err(|reason| Refusal::operator(step.name(), reason))?;
        scaled += usize::from(changed);
        Ok(())
    })?;
    done.count(scaled, "layer has other channels", "layers have other channels");
    sparsity::keep_what_fits(draft, &mut done);
    Ok(done)
}

pub(super) fn times(channels: u64, factor: f64) -> u64 {
    if channels <= 1 {
        return channels;
    }
    let wanted = channels as f64 * factor;
    let nearest = ((wanted / MULTIPLE as f64).round() as u64).saturating_mul(MULTIPLE);
    let mut made = nearest.max(MULTIPLE);
    if (made as f64) < LEAST_SHARE * wanted {
        made = made.saturating_add(MULTIPLE);
    }
    if factor < 1.0 { made.min(channels) } else { made.max(channels) }
}

/// Layers whose channels are those of a result of the network.
fn layers_of_results(draft: &Draft) -> BTreeSet<usize> {
    let makers = draft.makers();
    let (mut seen, mut fixed) = (BTreeSet::new(), BTreeSet::new());
    let mut open = draft.outputs.clone();
    while let Some(at) = open.pop() {
        let Some(i) = makers.get(&at).filter(|_| seen.insert(at)) else { continue };
        let Some(step) = draft.steps.get(*i) else { continue };
        let mixes = mixes_channels(draft, step);
        if mixes {
            fixed.insert(*i);
        }
        let residual = step.inputs.last().copied().flatten().filter(|_| step.operator.residual);
        if mixes {
            open.extend(residual);
        } else {
            let data = step.inputs.iter().flatten();
            open.extend(data.copied().filter(|at| !draft.is_constant(*at)));
        }
    }
    fixed
}

/// Whether stored filters say how many channels come out.
pub(super) fn mixes_channels(draft: &Draft, step: &Step) -> bool {
    let stored = step.input(1).is_some_and(|at| draft.is_constant(at));
    match &step.operator.op {
        Op::Convolution(c) => !is_depthwise(draft, step, c),
        Op::FullyConnected | Op::Recurrence(_) => true,
        Op::MatMul { .. } => stored,
        _ => false,
    }
}

fn is_depthwise(draft: &Draft, step: &Step, c: &Convolution) -> bool {
    let data = step.input(0).and_then(|at| draft.shape(at));
    let channels = data.filter(|s| s.rank() >= 3);
    let channels = channels.map(|s| s.extent(image_axes(draft.layout, s.rank()).0));
    c.groups > 1 && channels == Some(c.groups)
}

/// A step whose constants follow the channels in front of it.
pub(super) struct Following<'a> {
    before: &'a Before,
    pub step: &'a Step,
}

impl Following<'_> {
    /// Changes constants and groups; true when the layer has other channels.
    fn adjust(
        &self,
        draft: &mut Draft,
        i: usize,
        wanted: &dyn Fn(u64) -> u64,
    ) -> Result<bool, String> {
        match &self.step.operator.op {
            Op::Convolution(c) => self.convolution(draft, i, c, wanted),
            Op::FullyConnected => self.fully_connected(draft, wanted),
            Op::MatMul { transpose_a, transpose_b } => {
                self.product(draft, (*transpose_a, *transpose_b), wanted)
            }
            Op::Recurrence(r) => self.recurrence(draft, i, r, wanted),
            Op::BatchNormalisation | Op::Normalisation => self.statistics(draft),
            Op::Elementwise(_) => self.operands(draft),
            _ => Ok(false),
        }
    }

    pub fn was(&self, port: usize) -> Option<&Shape> {
        self.before.shape(self.step.input(port)?)
    }

    pub fn now(&self, draft: &Draft, port: usize) -> Option<Shape> {
        draft.shape(self.step.input(port)?).cloned()
    }

    fn made(&self) -> Option<&Shape> {
        self.before.shape(self.step.output()?)
    }

    fn convolution(
        &self,
        draft: &mut Draft,
        i: usize,
        c: &Convolution,
        wanted: &dyn Fn(u64) -> u64,
    ) -> Result<bool, String> {
        let (Some(old), Some(new), Some(made), Some(weights)) =
            (self.was(0), self.now(draft, 0), self.made(), self.was(1))
        else {
            return Ok(false);
        };
        let rank = made.rank();
        if rank < 3 || weights.rank() != rank || old.rank() != rank || new.rank() != rank {
            return Ok(false);
        }
        let (axis, _) = image_axes(draft.layout, rank);
        let (read, reads, makes) = (old.extent(axis), new.extent(axis), made.extent(axis));
        let depthwise = is_depthwise_of(c, read);
        let (groups, columns) = if depthwise {
            (reads, (makes / read.max(1)).checked_mul(reads).ok_or("its channels are too many")?)
        } else {
            (c.groups, wanted(makes))
        };
        if (read, makes) == (reads, columns) {
            return Ok(false);
        }
        if !reads.is_multiple_of(groups.max(1)) || !columns.is_multiple_of(groups.max(1)) {
            let reason = format!("{reads} and {columns} channels do not make {groups} groups");
            return Err(reason);
        }
        let inner = |channels: u64| channels / groups.max(1);
        let ends = match (c.transposed, draft.layout) {
            (false, Layout::ChannelsLast) if depthwise && weights.extent(0) == 1 => (1, columns),
            (false, _) => (columns, inner(reads)),
            (true, Layout::ChannelsFirst) => (reads, inner(columns)),
            (true, Layout::ChannelsLast) => (inner(columns), reads),
        };
        let mut filters = weights.clone();
        for (at, extent) in [(0, ends.0), (axis, ends.1)] {
            if let Some(old) = filters.0.get_mut(at) {
                *old = extent;
            }
        }
        self.constant(draft, 1, filters)?;
        self.bias(draft, makes, columns)?;
        self.scales(draft, (read, reads), (makes, columns))?;
        if let Some(Op::Convolution(c)) = draft.steps.get_mut(i).map(|s| &mut s.operator.op) {
            c.groups = groups;
        }
        Ok(true)
    }

    fn fully_connected(
        &self,
        draft: &mut Draft,
        wanted: &dyn Fn(u64) -> u64,
    ) -> Result<bool, String> {
        let (Some(old), Some(new), Some(made), Some(weights)) =
            (self.was(0), self.now(draft, 0), self.made(), self.was(1))
        else {
            return Ok(false);
        };
        let columns = made.last();
        let depth = weights.elements().and_then(|all| all.checked_div(columns));
        let axes = depth.and_then(|depth| suffix_of(old, depth));
        let reads = axes.and_then(|axes| inner_product(&new, axes));
        let (Some(depth), Some(reads)) = (depth, reads) else {
            return Err(format!("its weights {weights} and its input {old} do not show a depth"));
        };
        let makes = wanted(columns);
        if (depth, columns) == (reads, makes) {
            return Ok(false);
        }
        // `[N, K]`, or turned.
        let turned = weights.0 == [depth, columns] && depth != columns;
        let filters = if turned { vec![reads, makes] } else { vec![makes, reads] };
        self.constant(draft, 1, Shape(filters))?;
        self.bias(draft, columns, makes)?;
        self.scales(draft, (depth, reads), (columns, makes))?;
        Ok(true)
    }

    /// A product with stored columns.
    fn product(
        &self,
        draft: &mut Draft,
        (transpose_a, transpose_b): (bool, bool),
        wanted: &dyn Fn(u64) -> u64,
    ) -> Result<bool, String> {
        let (Some(new), Some(weights)) = (self.now(draft, 0), self.was(1)) else {
            return Ok(false);
        };
        let stored = self.step.input(1).is_some_and(|at| draft.is_constant(at));
        let (Some(last), true) = (weights.rank().checked_sub(1).filter(|axis| *axis > 0), stored)
        else {
            return Ok(false);
        };
        let back = if transpose_a { 2 } else { 1 };
        let reads = new.rank().checked_sub(back).map_or(1, |axis| new.extent(axis));
        let (depth, columns) = if transpose_b { (last, last - 1) } else { (last - 1, last) };
        let (reads_before, makes_before) = (weights.extent(depth), weights.extent(columns));
        let makes = wanted(makes_before);
        if (reads_before, makes_before) == (reads, makes) {
            return Ok(false);
        }
        let mut filters = weights.clone();
        for (at, extent) in [(depth, reads), (columns, makes)] {
            if let Some(old) = filters.0.get_mut(at) {
                *old = extent;
            }
        }
        self.constant(draft, 1, filters)?;
        self.bias(draft, makes_before, makes)?;
        self.scales(draft, (reads_before, reads), (makes_before, makes))?;
        Ok(true)
    }

    /// One stored number for each channel, or for each innermost element; or for each element of
    /// several innermost axes.
    fn statistics(&self, draft: &mut Draft) -> Result<bool, String> {
        let (Some(old), Some(new)) = (self.was(0).cloned(), self.now(draft, 0)) else {
            return Ok(false);
        };
        let channels = match (draft.layout, old.rank()) {
            (Layout::ChannelsFirst, 2..) => 1,
            (_, rank) => rank.saturating_sub(1),
        };
        for port in 1..self.step.inputs.len() {
            let Some(shape) = self.was(port) else { continue };
            let of = |axis: usize| (shape.elements() == Some(old.extent(axis))).then_some(axis);
            let last = old.rank().saturating_sub(1);
            let Some(axis) = of(channels).or_else(|| of(last)) else {
                self.aligned(draft, port, &[0])?;
                continue;
            };
            let by_channel = self.step.operator.op == Op::BatchNormalisation;
            let other = of(last).filter(|_| !by_channel);
            if other.is_some_and(|last| new.extent(last) != new.extent(axis)) {
                return Err(format!("{shape} may belong to either of two axes of {old}"));
            }
            let mut follows = shape.clone();
            for extent in follows.0.iter_mut().filter(|extent| **extent == old.extent(axis)) {
                *extent = new.extent(axis);
            }
            self.constant(draft, port, follows)?;
        }
        Ok(false)
    }

    /// Stored operands stretch with the others, aligned at the end.
    fn operands(&self, draft: &mut Draft) -> Result<bool, String> {
        let ports = 0..self.step.inputs.len();
        let (stored, computed): (Vec<_>, Vec<_>) =
            ports.partition(|port| self.step.input(*port).is_some_and(|at| draft.is_constant(at)));
        for port in stored {
            self.aligned(draft, port, &computed)?;
        }
        Ok(false)
    }

    /// Gives a stored operand the extents of others where it had them, aligned at the end.
    fn aligned(&self, draft: &mut Draft, port: usize, others: &[usize]) -> Result<(), String> {
        let Some(shape) = self.was(port) else { return Ok(()) };
        let mut follows = shape.clone();
        for other in others {
            let (Some(old), Some(new)) = (self.was(*other), self.now(draft, *other)) else {
                continue;
            };
            let axes = shape.0.iter().zip(&mut follows.0).rev();
            let others = old.0.iter().zip(&new.0).rev();
            for ((stored, follows), (old, new)) in axes.zip(others) {
                if *stored != 1 && stored == old {
                    *follows = *new;
                }
            }
        }
        self.constant(draft, port, follows)
    }

    fn bias(&self, draft: &mut Draft, old: u64, new: u64) -> Result<(), String> {
        let Some(shape) = self.was(2).filter(|shape| shape.elements() == Some(old)) else {
            return Ok(());
        };
        let stored = self.step.input(2).is_some_and(|at| draft.is_constant(at));
        let mut follows = shape.clone();
        for extent in follows.0.iter_mut().filter(|extent| **extent == old && stored) {
            *extent = new;
        }
        self.constant(draft, 2, follows)
    }

    /// Scales and zero points of the filters, which stand behind the bias: one for each column, or one
    /// for each block along the depth of each.
    fn scales(
        &self,
        draft: &mut Draft,
        (depth, reads): (u64, u64),
        (columns, makes): (u64, u64),
    ) -> Result<(), String> {
        for port in 3..self.step.inputs.len() {
            let stored = self.step.input(port).is_some_and(|at| draft.is_constant(at));
            let Some(shape) = self.was(port).filter(|_| stored) else { continue };
            let each = shape.elements().filter(|n| columns > 0 && n.is_multiple_of(columns));
            let Some(blocks) = each.map(|n| n / columns).filter(|blocks| *blocks > 0) else {
                continue;
            };
            let kept = match blocks {
                1 => 1,
                _ => blocks
                    .checked_mul(reads)
                    .ok_or("its blocks are too many")?
                    .div_ceil(depth.max(1)),
            };
            let flat = makes.checked_mul(kept).ok_or("its blocks are too many")?;
            let follows = match shape.0[..] {
                [_] => vec![flat],
                [first, _] if first == columns => vec![makes, kept],
                _ => {
                    return Err(format!("its scales of {shape} do not show its {columns} columns"));
                }
            };
            self.constant(draft, port, Shape(follows))?;
        }
        Ok(())
    }

    /// Gives a constant other extents.
    pub fn constant(&self, draft: &mut Draft, port: usize, shape: Shape) -> Result<(), String> {
        let Some(at) = self.step.input(port) else { return Ok(()) };
        if draft.shape(at) == Some(&shape) {
            return Ok(());
        }
        let name = &draft.tensor(at).name;
        if !draft.is_constant(at) {
            return Err(format!("`{name}` is computed, and would have to be {shape}"));
        }
        if self.before.is_changed(draft, at) {
            return Err(format!("it shares `{name}` with a layer of other channels"));
        }
        resize(draft, at, shape);
        Ok(())
    }
}

fn resize(draft: &mut Draft, at: At, shape: Shape) {
    let tensor = draft.tensor_mut(at);
    tensor.shape = Some(shape);
    tensor.statistics = None;
    tensor.encoded_bytes = None;
}

fn is_depthwise_of(c: &Convolution, channels: u64) -> bool {
    c.groups > 1 && c.groups == channels
}

#[cfg(test)]
mod tests {
    use super::times;

    #[test]
    fn channels_are_multiples_of_eight_near_the_wanted() {
        for (channels, factor, made) in [
            (32, 0.5, 16),
            (64, 0.75, 48),
            (24, 0.35, 8),
            (40, 0.3, 16),
            (4, 0.5, 4),
            (10, 2.0, 24),
            (1, 2.0, 1),
        ] {
            assert_eq!(times(channels, factor), made, "{channels} x {factor}");
        }
    }
}
