//! Layers that have a datapath each and work at once: a network unrolled in space.
//!
//! A layer begins when those before have made its first window, and ends no earlier than what is left of it
//! takes after the last that it reads. With `c` its cycles for all of the layer, `first` and `end` the times of its
//! first and its last result, and results that come evenly in between:
//!
//! `begin = max_m (first_m + φ (end_m - first_m))`, `first = begin`,
//! `end = max(begin + c, max_m end_m + ω c)`
//!
//! over the layers `m` that made what it reads. Of a window of `k` rows and columns over `H x W` inputs with `p` of
//! padding before, `φ = ((k - p - 1) W + k - p) / (H W)`; `ω` is the share of the results whose windows end in the
//! padding behind, and one. Of a
//! product without a window `φ = 1`. What sums as it reads (pooling) begins with the first that comes, has its first
//! result when its first window has come, and of its work one input of all is left at the end. Steps stand in a sum, so that each takes what it adds to the end of all before it.
//!
//! Its energy is what all datapaths draw in that time: their sum goes evenly over the network.
//!
//! Neglected: latency of a datapath itself, and words that wait where a buffer between two layers is full.

use super::network::Network;
use super::plan::{Phase, PhaseKind, Step};
use crate::cost::{Setting, has_stages, stage};
use crate::model::{Layer, OpKind, Window};
use crate::units::{Cycles, Joules};
use std::collections::BTreeMap;

/// When a layer has results, in cycles from the start of the network.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Flow {
    /// The first one.
    first: f64,
    /// The last one.
    end: f64,
}

impl Flow {
    /// The time by which a share of the results is there.
    fn at(self, share: f64) -> f64 {
        self.first + share * (self.end - self.first)
    }

    /// A layer of so many cycles that reads what others make.
    fn of(layer: &Layer, cycles: f64, makers: &[Self]) -> Self {
        let latest = |share: f64| makers.iter().map(|maker| maker.at(share)).fold(0.0, f64::max);
        let Needs { first, rest, sums } = Needs::of(layer);
        let begin = latest(if sums { 0.0 } else { first });
        let end = (begin + cycles).max(latest(1.0) + rest * cycles);
        Self { first: if sums { latest(first).max(begin) } else { begin }, end }
    }
}

/// What a layer needs of what it reads.
struct Needs {
    /// Share of it before the first result.
    first: f64,
    /// Share of its own work that is left when all is there.
    rest: f64,
    /// True where it sums what comes as it comes.
    sums: bool,
}

impl Needs {
    fn of(layer: &Layer) -> Self {
        let work = &layer.work;
        match work.window {
            Some(window) if work.gemm.is_some() => {
                let (first, rest) = (before_first(&window), after_last(&window));
                Self { first, rest, sums: false }
            }
            Some(window) => {
                let (first, rest) = (before_first(&window), 1.0 / inputs(&window));
                Self { first, rest, sums: true }
            }
            // Element by element.
            None if matches!(work.kind, OpKind::Elementwise | OpKind::View | OpKind::Convert) => {
                Self { first: 0.0, rest: 1.0 / work.output_elements.max(1) as f64, sums: false }
            }
            // A product is over all of it.
            None => Self { first: 1.0, rest: 0.0, sums: false },
        }
    }
}

/// Padding before and behind one side of a window's input.
fn padding(input: u64, output: u64, kernel: u64, stride: u64) -> (u64, u64) {
    let reached = output.saturating_sub(1).saturating_mul(stride).saturating_add(kernel);
    let all = reached.saturating_sub(input);
    (all / 2, all - all / 2)
}

/// Positions of the input.
fn inputs(w: &Window) -> f64 {
    w.input_height.max(1) as f64 * w.input_width.max(1) as f64
}

/// Share of the input that the first window reaches over, row by row.
fn before_first(w: &Window) -> f64 {
    let side = |input: u64, output: u64, kernel: u64, stride: u64| {
        let (before, _) = padding(input, output, kernel, stride);
        kernel.saturating_sub(before).clamp(1, input.max(1))
    };
    let rows = side(w.input_height, w.output_height, w.kernel_height, w.stride_height);
    let columns = side(w.input_width, w.output_width, w.kernel_width, w.stride_width);
    ((rows - 1) as f64 * w.input_width as f64 + columns as f64) / inputs(w)
}

/// Share of the windows that end in the padding behind, and the last one.
fn after_last(w: &Window) -> f64 {
    let (_, behind) = padding(w.input_height, w.output_height, w.kernel_height, w.stride_height);
    let rows = behind / w.stride_height.max(1);
    let outputs = w.output_height.max(1) as f64 * w.output_width.max(1) as f64;
    ((rows as f64 * w.output_width as f64 + 1.0) / outputs).min(1.0)
}

/// Lets layers that have a datapath each work at once; what the reader should know of it.
pub(super) fn overlap(
    steps: &mut [Step],
    network: &Network,
    setting: Setting<'_>,
) -> Option<String> {
    let mut flows: BTreeMap<usize, Flow> = BTreeMap::new();
    let mut latest = 0.0_f64;
    for step in steps.iter_mut() {
        let engine = &setting.profile.spec().engines[step.engine];
        let Some(layer) = network.layers.get(step.layer).filter(|_| has_stages(engine)) else {
            continue;
        };
        if let Some(own) = stage(engine, layer) {
            let cost = &mut step.cost;
            (cost.compute, cost.array_macs, cost.peak) = (own.compute, own.array_macs, own.peak);
            cost.time_kind = own.kind;
        }
        let makers = network.producers(step.layer).iter().flatten();
        let makers: Vec<Flow> = makers.filter_map(|maker| flows.get(maker).copied()).collect();
        let flow = Flow::of(layer, step.cost.compute.0, &makers);
        flows.insert(step.layer, flow);
        let added = (flow.end - latest).max(0.0);
        latest = latest.max(flow.end);
        if let Some(steady) = steady(step) {
            steady.compute = Cycles(added);
        }
    }
    share_energy(steps, latest, setting);
    let at_once = flows.len();
    (at_once > 1).then(|| {
        format!(
            "{at_once} layers work at once: the time of each is what it adds to those before, \
             and its energy what all draw meanwhile"
        )
    })
}

fn steady(step: &mut Step) -> Option<&mut Phase> {
    step.phases.iter_mut().find(|phase| phase.kind == PhaseKind::Steady)
}

/// What all datapaths draw goes evenly over the time in which all are at work.
fn share_energy(steps: &mut [Step], cycles: f64, setting: Setting<'_>) {
    let engines = &setting.profile.spec().engines;
    let mut at_once: Vec<&mut Step> =
        steps.iter_mut().filter(|step| has_stages(&engines[step.engine])).collect();
    let all: Joules = at_once.iter().map(|step| step.cost.energy).sum();
    if cycles <= 0.0 {
        return;
    }
    for step in &mut at_once {
        let added = steady(step).map_or(0.0, |phase| phase.compute.0);
        let own = all * (added / cycles);
        step.cost.energy = own;
        if let Some(steady) = steady(step) {
            steady.energy = own;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(kernel: u64, input: u64, output: u64, stride: u64) -> Window {
        Window {
            kernel_height: kernel,
            kernel_width: kernel,
            input_height: input,
            input_width: input,
            output_height: output,
            output_width: output,
            stride_height: stride,
            stride_width: stride,
            input_channels: 1,
            output_channels: 1,
            groups: 1,
            batch: 1,
            dilation_height: 1,
        }
    }

    #[test]
    fn the_first_window_reaches_over_what_padding_leaves() {
        // Three rows, one of them padding: a row and two points of 8 x 8.
        assert_eq!(before_first(&window(3, 8, 8, 1)), 10.0 / 64.0);
        // At stride two the padding of an even side is all behind.
        assert_eq!(before_first(&window(3, 8, 4, 2)), 19.0 / 64.0);
        assert_eq!(before_first(&window(1, 8, 8, 1)), 1.0 / 64.0);
        assert_eq!(before_first(&window(8, 8, 1, 1)), 1.0);
    }

    #[test]
    fn windows_that_end_in_padding_are_left_when_all_is_there() {
        assert_eq!(after_last(&window(3, 8, 8, 1)), 9.0 / 64.0);
        assert_eq!(after_last(&window(3, 8, 4, 2)), 1.0 / 16.0);
        assert_eq!(after_last(&window(1, 8, 8, 1)), 1.0 / 64.0);
    }

    #[test]
    fn results_come_evenly_between_the_first_and_the_last() {
        let flow = Flow { first: 100.0, end: 300.0 };
        assert_eq!((flow.at(0.0), flow.at(0.25), flow.at(1.0)), (100.0, 150.0, 300.0));
    }
}
