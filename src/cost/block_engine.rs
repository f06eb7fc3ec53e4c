//! Datapaths that make results block by block ([`BlockEngine`]).
//!
//! A block takes the longer of summing up and way out; the first block's input and the last block's way
//! out stand alone:
//!
//! `T = n max(S, O) + min(S, O) + t_in + t_out`
//!
//! - `n` blocks, by micro-blocks, so that a cut-off block counts for what is in it
//! - `S = ceil(c / c_held) sum over parts of the window of p + d`, cycles of one block, with
//!   `p = ceil(e / e_step) ceil(c_held / c_step) z max(u, t x y)` where `x y z` micro-blocks lie side by
//!   side, `t` are the cycles of a step and `u` those of unpacking its weights, and a turnaround `d` for
//!   each step that follows itself (`x y = 1`); where weights have zeros of a structure that the engine
//!   skips, `2 of 4` say, a step takes that share of its cycles
//! - `O` results of a block times their cycles on the way out, at least the time in which the records of
//!   its channels come: `10 B x channels x latency / bytes in flight`
//! - both at least `(S + O + abs(t_out - t_in)) / blocks in flight` (the difference where there is more than
//!   one block): what the issue of commands allows
//! - `t_in`, `t_out` latency of the memory and the bytes of one block at its bandwidth
//!
//! The block is the one that fetches least ([`choice`]). From it follow the passes: its input with the rows
//! and columns that windows share comes once for each block along the channels and each part of the window;
//! weights and records come once for each block of positions. Maps lie in bricks of channels, padded to a
//! whole brick; what the network is handed or hands out lies as it is. A run of bytes that is shorter than the memory's burst takes as long as a burst, and counts
//! as one.
//!
//! Source: Arm's compiler for Ethos-U (`ethos_u55.cpp`, `ethos_u55_performance.cpp`, 2026), whose
//! estimate this reproduces cycle by cycle for Ethos-U55 where the test against it says so. Left out: the
//! rearrangement of a row of results into `1 x 4`.

mod choice;
mod shape;

use self::choice::{Block, choose, order_of};
use self::shape::{Job, Way, is_handed_in};
use super::Setting;
use super::ahead::Ways;
use super::port::Port;
use super::timing::{Passes, Refusal, Timing};
use crate::evidence::{Kind, Valued};
use crate::hardware::{BlockEngine, Engine, Precision, SumOrder, TensorClass};
use crate::model::{ElementFunction, OpKind, OperandRole, Work};
use crate::units::{Cycles, CyclesPerElement, MacsPerCycle, Quantity, Ratio};

/// Where an engine reads and writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ports {
    /// Of what is worked on.
    pub(super) data: Port,
    /// Of results.
    pub(super) results: Port,
    /// Of weights where they live.
    pub(super) weights: Port,
    /// Of the memory that they may come into ahead of the operator.
    pub(super) near: Option<Port>,
}

impl Ports {
    /// Those of an operator on engine number `engine`.
    pub(super) fn of(work: &Work, engine: usize, setting: Setting<'_>) -> Self {
        let at_edge = |is: bool, edge| if is { edge } else { TensorClass::Activations };
        let data = at_edge(is_handed_in(work), TensorClass::Inputs);
        let results = at_edge(work.handed_out, TensorClass::Results);
        Self {
            data: Port::of(data, engine, setting),
            results: Port::of(results, engine, setting),
            weights: Port::of(TensorClass::Weights, engine, setting),
            near: Port::ahead(work.kind, engine, setting),
        }
    }

    fn kind(&self) -> Kind {
        let near = self.near.map_or(Kind::STRONGEST, |near| near.kind);
        self.data.kind.weaker(self.results.kind).weaker(self.weights.kind).weaker(near)
    }
}

fn rate_in(array: &BlockEngine, precision: Precision) -> Option<(f64, Kind)> {
    if array.precision == precision {
        return Some((1.0, Kind::STRONGEST));
    }
    array.rates.get(&precision).map(|rate: &Valued<Ratio>| (rate.get().0, rate.kind()))
}

pub(super) fn timing(
    engine: &Engine,
    array: &BlockEngine,
    work: &Work,
    precision: Precision,
    (ports, share): (Ports, f64),
) -> Result<Timing, Refusal> {
    let (rate, kind) =
        rate_in(array, precision).ok_or_else(|| Refusal::no_precision(engine, work))?;
    let mut timing = Timing {
        compute: Cycles::ZERO,
        array_macs: 0,
        made: 1.0,
        peak: MacsPerCycle(peak(array) * rate),
        passes: Passes::ONCE,
        kind,
    };
    let Some(job) = Job::of(work, precision) else {
        beside(array, work, &mut timing);
        return Ok(timing);
    };
    let no_function = || Refusal::no_function(engine, work);
    let order = order_of(array, &job).ok_or_else(no_function)?;
    let block = choose(array, &job, order).ok_or_else(no_function)?;
    let sums = sums(array, &job, order, &block, share);
    let passes = passes(array, work, &job, &block, ports);
    let made =
        Made { array, work, job: &job, block, sums: Sums { cycles: sums.cycles / rate, ..sums } };
    let at_home = made.cycles(ports);
    let comes = ports.near.filter(|near| {
        let ways = Ways { home: ports.weights, near: *near, data: ports.data };
        !ways.stay(&passes, at_home.0, work, (engine, precision))
    });
    let (cycles, out_kind) =
        comes.map_or(at_home, |weights| made.cycles(Ports { weights, ..ports }));
    timing.compute = Cycles(cycles);
    timing.array_macs = (made.sums.slots * made.sums.blocks * job.repeats as f64) as u64;
    let weights_stay = ports.near.is_some() && comes.is_none();
    timing.passes = Passes { weights_stay, ..passes };
    timing.kind = timing.kind.weaker(order.cycles.kind()).weaker(out_kind).weaker(ports.kind());
    Ok(timing)
}

/// An operator in blocks.
struct Made<'a> {
    array: &'a BlockEngine,
    work: &'a Work,
    job: &'a Job,
    block: Block,
    sums: Sums,
}

impl Made<'_> {
    /// Its cycles, and what those of the way out rest on.
    fn cycles(&self, ports: Ports) -> (f64, Kind) {
        let Self { array, work, job, block, sums } = self;
        let (out, kind) = out(array, work, job, block, ports.weights);
        let (fill, drain) = ends(job, block, ports);
        let blocks = sums.blocks * job.repeats as f64;
        let apart = if sums.blocks > 1.0 { (drain - fill).abs() } else { 0.0 };
        let issued = array.blocks_in_flight;
        let issued = issued.map_or(0.0, |n| (sums.cycles + out + apart) / n.max(1) as f64);
        let (summed, out) = (sums.cycles.max(issued), out.max(issued));
        (blocks * summed.max(out) + summed.min(out) + fill + drain, kind)
    }
}

/// Most multiply-accumulates a cycle.
fn peak(array: &BlockEngine) -> f64 {
    let orders = [Some(&array.by_channels), array.by_points.as_ref(), array.depthwise.as_ref()];
    let micro = |results: f64, order: &SumOrder| {
        results * order.channels as f64 * order.points as f64 / order.cycles.get().0
    };
    let results = array.micro_blocks.iter().map(|m| m.shape().elements()).fold(0.0, f64::max);
    orders.into_iter().flatten().map(|order| micro(results, order)).fold(0.0, f64::max)
}

/// Cycles of summing up one block, and how many there are.
struct Sums {
    cycles: f64,
    blocks: f64,
    /// Multiply-accumulates that the steps of a block have room for.
    slots: f64,
}

/// Parts that a window is cut into: points of each, and how many are of that size.
fn parts(job: &Job, array: &BlockEngine) -> [(u64, u64); 4] {
    let (height, width) = (array.window.0.max(1), array.window.1.max(1));
    let (rows, columns) = job.kernel;
    let (whole_rows, whole_columns) = (rows / height, columns / width);
    let (left_rows, left_columns) = (rows % height, columns % width);
    [
        (height * width, whole_rows.saturating_mul(whole_columns)),
        (left_rows * width, whole_columns),
        (height * left_columns, whole_rows),
        (left_rows * left_columns, 1),
    ]
}

fn sums(array: &BlockEngine, job: &Job, order: &SumOrder, block: &Block, share: f64) -> Sums {
    let micro = block.micro;
    let (rows, columns) =
        (block.rows.div_ceil(micro.rows.max(1)), block.columns.div_ceil(micro.columns.max(1)));
    let slices = block.channels.div_ceil(micro.channels.max(1)) as f64;
    let positions = (rows * columns) as f64;
    let single = rows * columns == 1;
    let held = order.held_channels.max(1);
    let taken = job.sum_channels.min(held);
    let groups = taken.div_ceil(order.channels.max(1)) as f64;
    let cycles = order.cycles.get().0
        * order.part.map_or(1.0, |part| {
            taken.div_ceil(part.max(1)).saturating_mul(part) as f64 / order.channels.max(1) as f64
        });
    let unpacking = array.unpacking.as_ref().filter(|_| job.way != Way::Pool);
    let unpacking = unpacking.map_or(0.0, |each| each.get().0 * micro.channels as f64);
    let turnaround = array.turnaround.as_ref().map_or(0.0, |d| d.get().0);
    let (mut sum, mut steps_of_all) = (0.0, 0.0);
    for (points, times) in parts(job, array) {
        if points == 0 || times == 0 {
            continue;
        }
        let steps = points.max(order.least_points).div_ceil(order.points.max(1)) as f64;
        let own = (cycles * positions).max(unpacking) * steps * slices * share;
        let waits = match (single && job.way != Way::Pool, slices <= 1.0) {
            (false, _) => 0.0,
            (true, true) => steps,
            (true, false) => (steps - 1.0) * slices,
        };
        sum += (own + turnaround * waits) * groups * times as f64;
        steps_of_all += steps * groups * times as f64;
    }
    let rounds = job.sum_channels.div_ceil(held) as f64;
    let results = micro.elements() * positions * slices;
    let macs_of_step = order.channels as f64 * order.points as f64;
    let all = job.output.over(micro);
    Sums {
        cycles: sum * rounds,
        blocks: all / (positions * slices),
        slots: results * macs_of_step * steps_of_all * rounds,
    }
}

/// Cycles of one block on the way out.
fn out(array: &BlockEngine, work: &Work, job: &Job, block: &Block, weights: Port) -> (f64, Kind) {
    let (each, mut kind) = result(array, work);
    let mut cycles = (block.rows * block.columns * block.channels) as f64 * each;
    let records = array.way_out.record.as_ref().zip(array.way_out.records_in_flight.as_ref());
    if let (Some((record, in_flight)), false) = (records, job.way == Way::Pool) {
        let bytes = record.get().0 * block.channels as f64;
        let least = bytes * weights.latency / in_flight.get().0;
        if least > cycles {
            cycles = least;
            kind = kind.weaker(record.kind()).weaker(in_flight.kind());
        }
    }
    (cycles, kind)
}

/// Cycles of a result: of the slowest that is done to it.
fn result(array: &BlockEngine, work: &Work) -> (f64, Kind) {
    let way = &array.way_out;
    let done = work.element_ops_by_function.iter().map(|(function, _)| function);
    // A pool of maxima is a function; one of sums is made by the sums.
    let counts = |function: ElementFunction| {
        !matches!(work.kind, OpKind::Pool | OpKind::Reduce) || function != ElementFunction::Add
    };
    let own: Vec<&Valued<CyclesPerElement>> =
        done.filter(|f| counts(*f)).filter_map(|f| way.by_function.get(&f)).collect();
    let slowest = own.iter().map(|each| each.get().0).fold(0.0, f64::max);
    let kind = own.iter().fold(way.cycles.kind(), |kind, each| kind.weaker(each.kind()));
    match work.kind {
        // Of these nothing else leaves but what is done.
        OpKind::Pool | OpKind::Reduce if !own.is_empty() => (slowest, kind),
        _ => (slowest.max(way.cycles.get().0), kind),
    }
}

/// Cycles of the first block's input, and of the last block's results.
fn ends(job: &Job, block: &Block, ports: Ports) -> (f64, f64) {
    let width = job.bytes_per_element;
    let (rows, columns) = (block.input_rows, block.input_columns);
    let held = block.input_channels.min(job.input.channels);
    let input = rows.min(job.input.rows) * columns.min(job.input.columns) * held;
    let results = block.rows * block.columns * block.channels;
    let moved = |elements: u64, port: Port, run: f64| {
        let bytes = elements as f64 * width * port.burst_share(run);
        port.latency + (bytes / port.bytes_per_cycle).floor()
    };
    (moved(input, ports.data, job.run_in(block)), moved(results, ports.results, job.run_out(block)))
}

fn passes(array: &BlockEngine, work: &Work, job: &Job, block: &Block, ports: Ports) -> Passes {
    let brick = array.brick.max(1);
    let padded = |channels: u64| channels.div_ceil(brick).saturating_mul(brick);
    let along = |extent: u64, own: u64| extent.div_ceil(own.max(1)) as f64;
    let positions = along(job.output.rows, block.rows) * along(job.output.columns, block.columns);
    let over_channels = match job.way {
        Way::Depthwise | Way::Pool => 1.0,
        Way::Sum => along(job.output.channels, block.channels),
    };
    let lying = if job.is_plain_input { job.input.channels } else { padded(job.input.channels) };
    let window_parts: u64 = parts(job, array).iter().filter(|(p, _)| *p > 0).map(|(_, n)| n).sum();
    let area = block.input_rows.min(job.input.rows) * block.input_columns.min(job.input.columns);
    let fetched = area as f64 * lying as f64 * window_parts as f64 * positions * over_channels;
    let fetched = fetched * ports.data.burst_share(job.run_in(block)) * job.repeats as f64;
    let data = work.operands.iter().find(|o| o.role == OperandRole::Data);
    let elements = data.map_or(0, |o| o.elements).max(1) as f64;
    let made = job.output.channels;
    let lain = if job.is_plain_result { made } else { padded(made) };
    let written = lain as f64 / made.max(1) as f64;
    let record = array.way_out.record.as_ref().map_or(1.0, |record| {
        let stored = work.operands.iter().filter(|o| o.role == OperandRole::Side && o.constant);
        let bytes: f64 = stored.map(|o| o.stored_bytes()).sum();
        let channels = job.output.channels.saturating_mul(job.groups) as f64;
        if bytes > 0.0 { record.get().si() * channels / bytes } else { 1.0 }
    });
    Passes {
        input: fetched / elements,
        weight: positions,
        beside: positions * record,
        output_padded: written * ports.results.burst_share(job.run_out(block)),
        ..Passes::ONCE
    }
}

/// Element operations: as results leave, or as a sequence of such.
fn beside(array: &BlockEngine, work: &Work, timing: &mut Timing) {
    let brick = array.brick.max(1);
    let bricks = |elements: u64| elements.div_ceil(brick).saturating_mul(brick) as f64;
    if work.element_ops == 0 || work.kind == OpKind::View {
        return;
    }
    let (cycles, kind) = match array.sequences.get(&work.kind) {
        Some(sequence) => {
            let over = sequence.over_elements as f64 * bricks(work.output_elements)
                + sequence.over_a_brick as f64 * brick as f64;
            (over * sequence.cycles.get().0, sequence.cycles.kind())
        }
        None => {
            let (each, kind) = result(array, work);
            (bricks(work.output_elements) * each, kind)
        }
    };
    timing.compute = Cycles(cycles);
    timing.kind = timing.kind.weaker(kind);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array() -> BlockEngine {
        let text = r#"(
          precision: Int8, micro_blocks: [(rows: 1, columns: 2, channels: 8)],
          largest: (rows: 32, columns: 64, channels: 128), channel_step: 16, window: (8, 8),
          by_channels: (held_channels: 32, channels: 32, cycles: "4 cycle"),
          by_points: (held_channels: 16, channels: 8, points: 4, cycles: "4 cycle"),
          depthwise: (held_channels: 1, points: 4, cycles: "4 cycle"),
          pool: (held_channels: 1, least_points: 4, cycles: "4 cycle"),
          unpacking: "4 cycle", turnaround: "2 cycle",
          buffers: Shared(banks: 24, bank_bytes: 1024, kept: 4, input_step: 4, sums_step: 8),
          brick: 16, way_out: (cycles: "0.5 cycle/element"))"#;
        crate::diagnostic::ron_options().from_str(text).unwrap()
    }

    fn job(way: Way, kernel: u64, size: u64, (inputs, outputs): (u64, u64)) -> Job {
        let extents = |channels| shape::Extents { rows: size, columns: size, channels };
        Job {
            kind: OpKind::Conv,
            way,
            input: extents(inputs),
            output: extents(outputs),
            kernel: (kernel, kernel),
            stride: (1, 1),
            sum_channels: if way == Way::Sum { inputs } else { 1 },
            groups: 1,
            repeats: 1,
            bytes_per_element: 1.0,
            is_plain_input: false,
            is_plain_result: false,
        }
    }

    fn block(array: &BlockEngine, job: &Job) -> (Block, f64, f64) {
        let order = order_of(array, job).unwrap();
        let block = choose(array, job, order).unwrap();
        let sums = sums(array, job, order, &block, 1.0);
        (block, sums.cycles, sums.blocks)
    }

    #[test]
    fn a_window_of_few_channels_is_summed_up_by_its_points() {
        let array = array();
        let by = |kernel, inputs| {
            order_of(&array, &job(Way::Sum, kernel, 16, (inputs, 16))).unwrap().points
        };
        assert_eq!((by(3, 3), by(3, 16), by(1, 16), by(3, 32), by(1, 8)), (4, 4, 1, 1, 4));
    }

    #[test]
    fn a_block_takes_four_cycles_for_each_step_of_each_micro_block() {
        let array = array();
        // 16 x 16 x 32 of 3 x 3 x 32: blocks of 8 x 8 x 16, 32 micro-blocks of positions by 2 slices.
        let (own, cycles, blocks) = block(&array, &job(Way::Sum, 3, 16, (32, 32)));
        assert_eq!((own.rows, own.columns, own.channels), (8, 8, 16));
        assert_eq!((own.input_rows, own.input_columns, own.input_channels), (10, 10, 32));
        assert_eq!((cycles, blocks), (4.0 * 32.0 * 9.0 * 2.0, 8.0));
        // Depthwise: nine points in three steps.
        let (own, cycles, blocks) = block(&array, &job(Way::Depthwise, 3, 12, (64, 64)));
        assert_eq!((own.rows, own.columns, own.channels), (7, 12, 16));
        let micro = 7.0 * 6.0 * 2.0;
        assert_eq!((cycles, blocks), (4.0 * micro * 3.0, 12.0 * 6.0 * 8.0 / micro));
    }

    #[test]
    fn a_single_micro_block_waits_for_its_weights() {
        let array = array();
        let vector = Job { kind: OpKind::FullyConnected, ..job(Way::Sum, 1, 1, (128, 128)) };
        let (_, cycles, blocks) = block(&array, &vector);
        // Four rounds of 32 inputs, 16 slices of 8 results, 32 cycles for the weights of each.
        assert_eq!((cycles, blocks), (4.0 * 16.0 * 32.0, 1.0));
    }

    #[test]
    fn a_large_window_goes_in_parts() {
        let job = Job { kernel: (25, 5), ..job(Way::Pool, 1, 1, (64, 64)) };
        let parts = parts(&job, &array());
        let whole: Vec<_> = parts.into_iter().filter(|(p, n)| *p > 0 && *n > 0).collect();
        assert_eq!(whole, [(40, 3), (5, 1)]);
        let points: u64 = whole.iter().map(|(points, times)| points * times).sum();
        assert_eq!(points, 125);
    }
}
