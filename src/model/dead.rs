//! Dead channels: channels that do not depend on the input of the network.
//!
//! A filter whose weights are all zero makes its bias everywhere, and so does one whose other weights
//! all meet dead channels, and a normalisation whose stored scale is zero. Activations, requantisation, pooling and element-wise functions of dead
//! channels are dead again, whatever their value: a runtime can compute them once, ahead of time.
//! (At the borders of a padded window a constant gives another constant, which is as dead.)
//!
//! Where an operator cannot be followed (it mixes channels, or its axes are not stated), its output
//! counts as live, so that live work is never counted too low. Neglected: channels that a saturating
//! activation holds at its limit, and channels that nothing reads.

mod axes;
mod masks;
mod reading;

use super::arithmetic::image_axes;
use super::weights::Weights;
use super::{
    ElementFunction, Layout, Live, ModelGraph, Movement, Op, OperatorId, Shape, TensorId,
    TensorRole, WeightStatistics,
};
use axes::{by_channel, channel_axis, filter_axes, pairs, rows};
use masks::{FOLLOWED, Mask, at_input, reduced, turned, viewed};
use reading::Reading;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Entries of all masks together, which a made-up file could multiply without end.
const ENTRIES: u64 = 1 << 26;

/// Operators that importers file under these kinds, and that leave each channel by itself.
const TRUE_REDUCTIONS: [&str; 4] = ["MEAN", "SUM", "REDUCE_", "Reduce"];
const TRUE_TRANSPOSITIONS: [&str; 3] = ["Transpose", "TRANSPOSE", "STABLEHLO_TRANSPOSE"];
const TRUE_RESAMPLINGS: [&str; 4] =
    ["Resize", "Upsample", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"];

/// Operators whose result is drawn anew in each run.
const DRAWS: [&str; 5] = ["Random", "RANDOM_", "Bernoulli", "Multinomial", "MULTINOMIAL"];

/// Drops elements at random where a third input says that it is trained.
const DROPS_OUT: &str = "Dropout";

/// A conversion by a scale that is taken from the data, of all channels.
const SCALED_BY_DATA: &str = "DynamicQuantizeLinear";

/// The weights of the filters of a graph, as an importer found them.
#[derive(Debug, Default)]
pub(super) struct Filters {
    /// By the constant they are.
    pub weights: BTreeMap<TensorId, Weights>,
    /// Fully connected layers whose weights are stored `[K, N]` instead of `[N, K]`.
    pub turned: BTreeSet<OperatorId>,
}

impl Filters {
    /// Bytes of the files beside the model, each once.
    fn bytes_beside(&self) -> u64 {
        let files: BTreeSet<_> = self.weights.values().filter_map(Weights::file).collect();
        let lengths = files.into_iter().filter_map(|path| Some(path.metadata().ok()?.len()));
        lengths.fold(0, u64::saturating_add)
    }
}

impl ModelGraph {
    /// Enters the statistics of filters, and what is live of each operator.
    pub(super) fn follow_weights(&mut self, filters: &Filters, file_bytes: usize) {
        if filters.weights.is_empty() {
            return;
        }
        let mut follow = Follow {
            masks: BTreeMap::new(),
            entries: 0,
            reading: Reading::new(filters.bytes_beside().saturating_add(file_bytes as u64)),
            filters,
        };
        for id in self.operators().collect::<Vec<_>>() {
            let found = follow.operator(self, id);
            if let Some((tensor, statistics)) = found.statistics {
                self.tensor_mut(tensor).statistics = Some(statistics);
            }
            self.operator_mut(id).live = found.live;
            if let (Some(mask), Some(output)) = (found.mask, self.op_outputs(id).first()) {
                follow.keep(*output, mask);
            }
        }
        self.notes.extend(follow.reading.note());
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
    /// Entries of the masks so far.
    entries: u64,
    reading: Reading,
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
        let mask = match op {
            Op::BatchNormalisation => self.normalised(graph, id),
            _ => self.passed_on(graph, id, op),
        };
        Found { mask: mask.filter(|m| m.live.contains(&false)), ..Found::default() }
    }

    /// Past the bound all counts as live.
    fn keep(&mut self, tensor: TensorId, mask: Mask) {
        // A mask that is handed on as it is takes no more room.
        let shared = Rc::strong_count(&mask.live) > 1;
        let entries = if shared { 0 } else { mask.live.len() as u64 };
        if self.entries + entries <= ENTRIES {
            self.entries += entries;
            self.masks.insert(tensor, mask);
        }
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
        let findings = self.reading.findings(stored, weights, axes)?;
        let statistics = Some((stored, findings.statistics));
        // What is added to the sum is not looked into: it is stored, or all is live.
        if computed_beside(graph, id, 2) {
            return Some(Found { statistics, ..Found::default() });
        }
        let into = self.masks.get(&data).and_then(|m| at_input(m, op, graph.layout, input_shape));
        let into = into.filter(|live| live.len() as u64 == axes.input_channels());
        let live = match &into {
            Some(into) => self.reading.reached(weights, &axes, into)?,
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
        &mut self,
        graph: &ModelGraph,
        id: OperatorId,
    ) -> Option<(TensorId, WeightStatistics)> {
        let stored = graph.inputs(id).get(1).copied().flatten()?;
        let weights = self.filters.weights.get(&stored)?;
        let findings = self.reading.findings(stored, weights, rows(&weights.shape, false)?)?;
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
        let native = graph.operator(id).native.as_str();
        let alone = !computed_beside(graph, id, 1);
        let draws = DRAWS.iter().any(|start| native.starts_with(start));
        match op {
            _ if draws || (native == DROPS_OUT && graph.inputs(id).len() > 2) => None,
            // Pairs of elements mix.
            Op::Elementwise(ElementFunction::Rotate) => None,
            Op::Elementwise(_) => self.joined_live(graph, id, output),
            Op::Movement(Movement::Concatenate) => self.concatenated(graph, id, output),
            _ if !alone => None,
            Op::Convert if native != SCALED_BY_DATA => first().map(|(mask, _)| mask),
            Op::Movement(Movement::Resize) if !is_one_of(native, &TRUE_RESAMPLINGS) => None,
            Op::Movement(Movement::Broadcast) if !is_one_of(native, &TRUE_RESAMPLINGS) => {
                let (mask, input) = first()?;
                keeps_axis(mask, input, output)
            }
            // What slides over positions leaves only channels by themselves.
            Op::Pool(_) | Op::Movement(Movement::Pad | Movement::Resize | Movement::Broadcast) => {
                let (mask, input) = first()?;
                let channel = channel_of(graph.layout, input);
                keeps_axis(mask, input, output).filter(|mask| mask.axis == channel)
            }
            Op::Reduce(_) if is_one_of(native, &TRUE_REDUCTIONS) => {
                let (mask, input) = first()?;
                reduced(&mask, input, output)
            }
            Op::Movement(Movement::View) => {
                let (mask, input) = first()?;
                viewed(&mask, input, output)
            }
            Op::Movement(Movement::Transpose) if is_one_of(native, &TRUE_TRANSPOSITIONS) => {
                let (mask, input) = first()?;
                turned(&mask, input, output)
            }
            _ => None,
        }
    }

    /// A normalisation leaves channels by themselves; one whose stored scale is zero is its shift.
    fn normalised(&mut self, graph: &ModelGraph, id: OperatorId) -> Option<Mask> {
        if computed_beside(graph, id, 1) {
            return None;
        }
        let inputs = graph.inputs(id);
        let data = inputs.first().copied().flatten()?;
        let shape = graph.tensor(data).shape.as_ref()?;
        let channel = channel_of(graph.layout, shape);
        let known = |live: &Vec<bool>| live.len() as u64 == shape.extent(channel);
        let before = self.masks.get(&data).filter(|mask| mask.axis == channel).cloned();
        let scaled = inputs.get(1).copied().flatten().and_then(|stored| {
            let weights = self.filters.weights.get(&stored)?;
            Some(
                self.reading
                    .findings(stored, weights, by_channel(&weights.shape)?)?
                    .filters
                    .clone(),
            )
        });
        let scaled = scaled.filter(known).filter(|live| live.contains(&false));
        let live = match (before, scaled) {
            (mask, None) => return mask,
            (None, Some(scaled)) => scaled,
            (Some(mask), Some(scaled)) => {
                mask.live.iter().zip(&scaled).map(|(a, b)| *a && *b).collect()
            }
        };
        Some(Mask { axis: channel, live: Rc::new(live) })
    }

    /// An element-wise function is dead where all that is computed and goes into it is. (Stored
    /// operands are constants anyway.)
    fn joined_live(&self, graph: &ModelGraph, id: OperatorId, output: &Shape) -> Option<Mask> {
        let mut sum: Option<(usize, Rc<Vec<bool>>)> = None;
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
                None => sum = Some((at, mask.live.clone())),
                Some((axis, live)) if *axis == at => {
                    let both = live.iter().zip(mask.live.iter()).map(|(a, b)| *a || *b);
                    *live = Rc::new(both.collect());
                }
                Some(_) => return None,
            }
        }
        let (axis, live) = sum?;
        Some(Mask { axis, live })
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

/// The channel axis of an image or of rows.
fn channel_of(layout: Layout, shape: &Shape) -> usize {
    if shape.rank() < 3 { 1 } else { image_axes(layout, shape.rank()).0 }
}

/// A mask along an axis that is as long behind an operator as in front of it.
fn keeps_axis(mask: Mask, input: &Shape, output: &Shape) -> Option<Mask> {
    let kept = input.rank() == output.rank() && input.extent(mask.axis) == output.extent(mask.axis);
    kept.then_some(mask)
}

/// Whether anything but the first operands is computed.
fn computed_beside(graph: &ModelGraph, id: OperatorId, first: usize) -> bool {
    let others = graph.inputs(id).into_iter().skip(first).flatten();
    others.into_iter().any(|tensor| graph.tensor(tensor).role != TensorRole::Constant)
}

fn is_one_of(native: &str, names: &[&str]) -> bool {
    names.iter().any(|name| match name.chars().last() {
        // A name that goes on differently for each function.
        Some('_') => native.starts_with(name),
        _ if *name == "Reduce" => native.starts_with(name),
        _ => native == *name,
    })
}

#[cfg(test)]
mod tests;
