//! Dead channels: channels that do not depend on the input of the network.
//!
//! A filter whose weights are all zero makes its bias everywhere, and so does one whose other weights
//! all meet dead channels. Activations, requantisation, pooling and element-wise functions of dead
//! channels are dead again, whatever their value: a runtime can compute them once, ahead of time.
//! (At the borders of a padded window a constant gives another constant, which is as dead.)
//!
//! Where an operator cannot be followed (it mixes channels, or its axes are not stated), its output
//! counts as live, so that live work is never counted too low. Neglected: channels that a saturating
//! activation holds at its limit, and channels that nothing reads.

use super::arithmetic::image_axes;
use super::weights::{Axis, FilterAxes, Findings, Weights, axis, joined};
use super::{
    Layout, Live, ModelGraph, Movement, Op, OperatorId, Shape, TensorId, TensorRole,
    WeightStatistics,
};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Elements of a flattened tensor that are followed one by one.
const FOLLOWED: u64 = 1 << 22;

/// The weights of the filters of a graph, as an importer found them.
#[derive(Debug, Default)]
pub(super) struct Filters {
    /// By the constant they are.
    pub weights: BTreeMap<TensorId, Weights>,
    /// Fully connected layers whose weights are stored `[K, N]` instead of `[N, K]`.
    pub turned: Vec<OperatorId>,
}

/// Which channels of a tensor are live, along an axis of it.
#[derive(Debug, Clone, PartialEq)]
struct Mask {
    axis: usize,
    live: Rc<Vec<bool>>,
}

impl Mask {
    fn on(&self, axis: usize) -> Self {
        Self { axis, live: self.live.clone() }
    }
}

impl ModelGraph {
    /// Enters the statistics of filters, and what is live of each operator.
    pub(super) fn follow_weights(&mut self, filters: &Filters) {
        if filters.weights.is_empty() {
            return;
        }
        let mut follow = Follow { masks: BTreeMap::new(), seen: BTreeMap::new(), filters };
        for id in self.operators().collect::<Vec<_>>() {
            let found = follow.operator(self, id);
            if let Some((tensor, statistics)) = found.statistics {
                self.tensor_mut(tensor).statistics = Some(statistics);
            }
            self.operator_mut(id).live = found.live;
            if let (Some(mask), Some(output)) = (found.mask, self.op_outputs(id).first()) {
                follow.masks.insert(*output, mask);
            }
        }
    }
}

#[derive(Default)]
struct Found {
    statistics: Option<(TensorId, WeightStatistics)>,
    live: Option<Live>,
    mask: Option<Mask>,
}

struct Follow<'a> {
    masks: BTreeMap<TensorId, Mask>,
    /// What was found in weights, which several operators may share.
    seen: BTreeMap<TensorId, (FilterAxes, Rc<Findings>)>,
    filters: &'a Filters,
}

impl Follow<'_> {
    fn operator(&mut self, graph: &ModelGraph, id: OperatorId) -> Found {
        let op = &graph.operator(id).op;
        if matches!(op, Op::Convolution(_) | Op::FullyConnected) {
            return self.filter(graph, id).unwrap_or_default();
        }
        if matches!(op, Op::Recurrence(_)) {
            let statistics = self.recurrent(graph, id);
            return Found { statistics, ..Found::default() };
        }
        let mask = self.passed_on(graph, id, op);
        Found { mask: mask.filter(|m| m.live.contains(&false)), ..Found::default() }
    }

    fn findings(&mut self, stored: TensorId, axes: FilterAxes) -> Option<Rc<Findings>> {
        if let Some((known, findings)) = self.seen.get(&stored)
            && *known == axes
        {
            return Some(findings.clone());
        }
        let findings = Rc::new(self.filters.weights.get(&stored)?.findings(&axes)?);
        self.seen.insert(stored, (axes, findings.clone()));
        Some(findings)
    }

    fn filter(&mut self, graph: &ModelGraph, id: OperatorId) -> Option<Found> {
        let inputs = graph.inputs(id);
        let data = inputs.first().copied().flatten()?;
        let stored = inputs.get(1).copied().flatten()?;
        let weights = self.filters.weights.get(&stored)?;
        let output = *graph.op_outputs(id).first()?;
        let (input_shape, output_shape) =
            (graph.tensor(data).shape.as_ref()?, graph.tensor(output).shape.as_ref()?);
        let op = &graph.operator(id).op;
        let turned = self.filters.turned.contains(&id);
        let axes = filter_axes(op, graph.layout, &weights.shape, input_shape, turned)?;
        let channel = channel_axis(op, graph.layout, output_shape);
        if axes.output_channels() != output_shape.extent(channel) {
            return None;
        }
        let findings = self.findings(stored, axes)?;
        let statistics = Some((stored, findings.statistics));
        let into = self.masks.get(&data).and_then(|m| at_input(m, op, graph.layout, input_shape));
        let into = into.filter(|live| live.len() as u64 == axes.input_channels());
        let live = match &into {
            Some(into) => weights.reached(&axes, into)?,
            None => findings.filters.clone(),
        };
        if !live.contains(&false) && into.is_none() {
            return Some(Found { statistics, ..Found::default() });
        }
        let mask =
            live.contains(&false).then(|| Mask { axis: channel, live: Rc::new(live.clone()) });
        Some(Found { statistics, live: Some(pairs(&axes, into.as_deref(), &live)), mask })
    }

    /// Statistics of recurrent weights; a state depends on more than its filter.
    fn recurrent(
        &self,
        graph: &ModelGraph,
        id: OperatorId,
    ) -> Option<(TensorId, WeightStatistics)> {
        let stored = graph.inputs(id).get(1).copied().flatten()?;
        let weights = self.filters.weights.get(&stored)?;
        let findings = weights.findings(&rows(&weights.shape, false)?)?;
        Some((stored, findings.statistics))
    }

    fn mask(&self, graph: &ModelGraph, id: OperatorId, port: usize) -> Option<Mask> {
        let tensor = graph.inputs(id).get(port).copied().flatten()?;
        self.masks.get(&tensor).cloned()
    }

    /// The mask of what an operator without filters makes.
    fn passed_on(&self, graph: &ModelGraph, id: OperatorId, op: &Op) -> Option<Mask> {
        let shape = |tensor: TensorId| graph.tensor(tensor).shape.as_ref();
        let output = shape(*graph.op_outputs(id).first()?)?;
        let first = || {
            let tensor = graph.inputs(id).first().copied().flatten()?;
            Some((self.mask(graph, id, 0)?, shape(tensor)?))
        };
        match op {
            Op::Elementwise(_) => self.joined_live(graph, id, output),
            Op::Convert | Op::BatchNormalisation => first().map(|(mask, _)| mask),
            Op::Pool(_) | Op::Movement(Movement::Pad | Movement::Resize) => {
                let (mask, input) = first()?;
                let kept = input.rank() == output.rank()
                    && input.extent(mask.axis) == output.extent(mask.axis);
                kept.then_some(mask)
            }
            Op::Reduce => {
                let (mask, input) = first()?;
                reduced(&mask, input, output)
            }
            Op::Movement(Movement::View) => {
                let (mask, input) = first()?;
                viewed(&mask, input, output)
            }
            Op::Movement(Movement::Transpose) => {
                let (mask, input) = first()?;
                turned(&mask, input, output)
            }
            Op::Movement(Movement::Concatenate) => self.concatenated(graph, id, output),
            _ => None,
        }
    }

    /// An element-wise function is dead where all that is computed and goes into it is. (Stored
    /// operands are constants anyway.)
    fn joined_live(&self, graph: &ModelGraph, id: OperatorId, output: &Shape) -> Option<Mask> {
        let mut sum: Option<(usize, Vec<bool>)> = None;
        for tensor in graph.inputs(id).into_iter().flatten() {
            let operand = graph.tensor(tensor);
            if operand.role == TensorRole::Constant {
                continue;
            }
            let (mask, shape) = (self.masks.get(&tensor)?, operand.shape.as_ref()?);
            // Aligned at the end.
            let at = (mask.axis + output.rank()).checked_sub(shape.rank())?;
            if output.extent(at) != mask.live.len() as u64 {
                return None;
            }
            match &mut sum {
                None => sum = Some((at, mask.live.to_vec())),
                Some((axis, live)) if *axis == at => {
                    for (live, other) in live.iter_mut().zip(mask.live.iter()) {
                        *live |= *other;
                    }
                }
                Some(_) => return None,
            }
        }
        let (axis, live) = sum?;
        Some(Mask { axis, live: Rc::new(live) })
    }

    fn concatenated(&self, graph: &ModelGraph, id: OperatorId, output: &Shape) -> Option<Mask> {
        let inputs: Vec<_> = graph.inputs(id).into_iter().flatten().collect();
        let axis = inputs.iter().find_map(|t| self.masks.get(t)).map(|mask| mask.axis)?;
        let mut live = Vec::new();
        for tensor in inputs {
            let shape = graph.tensor(tensor).shape.as_ref()?;
            let alike =
                (0..output.rank()).all(|i| i == axis || shape.extent(i) == output.extent(i));
            if shape.rank() != output.rank() || !alike {
                return None;
            }
            match self.masks.get(&tensor) {
                Some(mask) if mask.axis == axis => live.extend(mask.live.iter().copied()),
                Some(_) => return None,
                None => {
                    let extent = shape.extent(axis);
                    if extent > FOLLOWED {
                        return None;
                    }
                    live.extend((0..extent).map(|_| true));
                }
            }
        }
        (live.len() as u64 == output.extent(axis)).then(|| Mask { axis, live: Rc::new(live) })
    }
}

fn channel_axis(op: &Op, layout: Layout, output: &Shape) -> usize {
    let last = output.rank().saturating_sub(1);
    match op {
        Op::Convolution(_) if output.rank() >= 3 => image_axes(layout, output.rank()).0,
        _ => last,
    }
}

/// Filters stored one after the other, `[.., K]`, or side by side, `[K, N]`.
fn rows(stored: &Shape, turned: bool) -> Option<FilterAxes> {
    let last = stored.rank().checked_sub(1).filter(|last| *last > 0 && (*last == 1 || !turned))?;
    let (filters, depth) = (joined(stored, 0..last)?, axis(stored, last)?);
    let (outputs, channels) = if turned { (depth, filters) } else { (filters, depth) };
    let (groups, groups_on_channels) = (1, false);
    Some(FilterAxes { outputs, channels, depth: channels, groups, groups_on_channels })
}

/// How the stored axes of a filter stand to the sum.
fn filter_axes(
    op: &Op,
    layout: Layout,
    stored: &Shape,
    input: &Shape,
    turned: bool,
) -> Option<FilterAxes> {
    let rank = stored.rank();
    let one = Axis { extent: 1, stride: 1 };
    let c = match op {
        Op::Convolution(c) if rank >= 3 => c,
        Op::FullyConnected => return rows(stored, turned),
        _ => return None,
    };
    let (channel, spatial) = image_axes(layout, rank);
    let taps = joined(stored, spatial)?;
    let depthwise = c.groups > 1 && c.groups == input.extent(channel_axis(op, layout, input));
    // `[1, spatial.., channels]`, as depthwise filters may be stored.
    if layout == Layout::ChannelsLast && depthwise && stored.extent(0) == 1 {
        let outputs = axis(stored, channel)?;
        let (groups, groups_on_channels) = (c.groups, false);
        return Some(FilterAxes {
            outputs,
            channels: one,
            depth: taps,
            groups,
            groups_on_channels,
        });
    }
    let (first, other) = (axis(stored, 0)?, axis(stored, channel)?);
    let (outputs, channels) = match (c.transposed, layout) {
        // Channels first, a transposed filter starts with the input channels.
        (true, Layout::ChannelsFirst) => (other, first),
        _ => (first, other),
    };
    let depth = if channels.extent > 1 { channels } else { taps };
    let groups_on_channels = c.transposed && layout == Layout::ChannelsFirst;
    Some(FilterAxes { outputs, channels, depth, groups: c.groups.max(1), groups_on_channels })
}

/// The channels that go into a filter, in the order of its depth.
fn at_input(mask: &Mask, op: &Op, layout: Layout, input: &Shape) -> Option<Vec<bool>> {
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

/// Pairs of input and output channel that are multiplied, live and in all.
fn pairs(axes: &FilterAxes, into: Option<&[bool]>, live: &[bool]) -> Live {
    let (mut products, mut of) = (0u64, 0u64);
    // Groups share their count of live inputs.
    let mut counted: Option<(std::ops::Range<u64>, u64)> = None;
    for (output, alive) in (0u64..).zip(live) {
        let range = axes.summed(output);
        let all = range.end - range.start;
        of = of.saturating_add(all);
        if !alive {
            continue;
        }
        let inputs = match (&counted, into) {
            (_, None) => all,
            (Some((known, count)), _) if *known == range => *count,
            (_, Some(into)) => {
                let part = into.get(range.start as usize..range.end as usize).unwrap_or(&[]);
                let count = part.iter().filter(|live| **live).count() as u64;
                counted = Some((range, count));
                count
            }
        };
        products = products.saturating_add(inputs);
    }
    Live { channels: live.iter().filter(|live| **live).count() as u64, products, of }
}

/// A reduction over other axes keeps the channels.
fn reduced(mask: &Mask, input: &Shape, output: &Shape) -> Option<Mask> {
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
fn turned(mask: &Mask, input: &Shape, output: &Shape) -> Option<Mask> {
    let extent = input.extent(mask.axis);
    let only = input.rank() == output.rank()
        && [input, output].iter().all(|s| s.0.iter().filter(|e| **e == extent).count() == 1);
    let at = output.0.iter().position(|e| *e == extent)?;
    only.then(|| mask.on(at))
}

/// The same elements under other extents: the channel axis stays an axis, or is merged with its
/// neighbours into one.
fn viewed(mask: &Mask, input: &Shape, output: &Shape) -> Option<Mask> {
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

#[cfg(test)]
mod tests;
