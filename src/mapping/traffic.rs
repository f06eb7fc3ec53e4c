//! Bytes between memories for one step, and the phases they make.
//!
//! Each operand comes from its home. A home that is staged through a buffer fills the buffer once, or
//! more often when operands do not fit together ([`super::flows`]), and the engine reads the buffer as often as
//! its dataflow asks ([`Passes`](crate::cost::Passes)); a home without a buffer serves the engine itself,
//! through a cache where one stands between. What passes between home and buffer passes the link that
//! joins them too. Results are written past caches.
//!
//! Results that a tiling visits `v` times leave the buffer as partial sums `v - 1` times and come back as often.
//! A sum that an array cannot finish leaves it and comes back (`output_written - 1` and `output_read`
//! times), as wide as an accumulator; only the finished result has the width of the output. So counts
//! ZigZag, which takes the two widths apart; SCALE-Sim counts words.
//!
//! Who waits for a latency: between home and buffer each piece of an operand, once on every channel that
//! it passes; between an engine and the memory that it works from each pass over an operand, since
//! accesses within a pass follow each other. A cache asks for lines: an engine whose loads are
//! instructions (`Inline`) stands still for each missing one, unless the cache fetches ahead; one that
//! loads beside its work, or a cache that fetches ahead, waits once for each pass.

use super::MemoryPlan;
use super::ahead::Early;
use super::caches::misses;
use super::flows::{Coming, Flow, Flows, Kept, Order, sum_bytes};
use super::overlap::{Moved, Moves, Staged};
use super::pace::{Pace, pace, without_waiting};
use super::plan::{Phase, PhaseKind, Transfer};
use super::streams::Near;
use crate::cost::{Cost, Setting, access_energy};
use crate::evidence::Kind;
use crate::hardware::{TensorClass, Transfers};
use crate::model::{OperandRole, Work};
use crate::units::{Bytes, Cycles, Joules};

/// What passes one channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sum {
    pub(super) channel: usize,
    pub(super) read: Bytes,
    pub(super) write: Bytes,
    pub(super) requests: f64,
    /// What the bytes rest on.
    pub(super) bytes_kind: Kind,
    /// What bytes and requests rest on.
    pub(super) count_kind: Kind,
}

/// Reads, writes and requests by channel.
#[derive(Default)]
pub(super) struct Sums {
    by_channel: Vec<Sum>,
}

impl Sums {
    /// The place of the channel among those that something was added to.
    pub(super) fn add(&mut self, own: Sum) -> usize {
        let place = self.by_channel.iter().position(|sum| sum.channel == own.channel);
        let place = place.unwrap_or(self.by_channel.len());
        match self.by_channel.get_mut(place) {
            Some(sum) => {
                sum.read += own.read;
                sum.write += own.write;
                sum.requests += own.requests;
                sum.bytes_kind = sum.bytes_kind.weaker(own.bytes_kind);
                sum.count_kind = sum.count_kind.weaker(own.count_kind);
            }
            None => self.by_channel.push(own),
        }
        place
    }

    /// Bytes of a channel.
    pub(super) fn bytes(&self, channel: usize) -> Bytes {
        let own = self.by_channel.iter().find(|sum| sum.channel == channel);
        own.map_or(Bytes::ZERO, |sum| sum.read + sum.write)
    }

    /// More requests of a channel.
    pub(super) fn wait(&mut self, channel: usize, requests: f64) {
        if let Some(sum) = self.by_channel.iter_mut().find(|sum| sum.channel == channel) {
            sum.requests += requests;
        }
    }

    pub(super) fn transfers(self, setting: Setting<'_>) -> Vec<Transfer> {
        let moved = self.by_channel.into_iter().filter(|sum| (sum.read + sum.write).0 > 0.0);
        moved.map(|moved| transfer(moved, setting)).collect()
    }
}

/// A tiling that moves more than another is taken where that takes more than so many times as long.
const NEARLY: f64 = 1.01;

/// Traffic of one step.
pub(super) struct Traffic {
    /// From homes into buffers, before it is computed on.
    loads: Staged,
    /// Between the engine and the memory next to it, while it computes.
    operands: Vec<Transfer>,
    /// From buffers to homes, afterwards.
    stores: Staged,
    /// True where not even the smallest tile fits its buffers: moved as if it did.
    pub(super) overflows: bool,
    /// Weights that may come ahead.
    pub(super) early: Option<Early>,
}

impl Traffic {
    /// Traffic in the fastest of the tilings that move little.
    pub(super) fn of(
        work: &Work,
        cost: &Cost,
        engine: usize,
        memory: &MemoryPlan,
        kept: Option<&Kept>,
        setting: Setting<'_>,
    ) -> Self {
        let flows = Flows::of(work, cost, engine, memory, kept, setting);
        let step = (work, cost, engine);
        let mut best = Moves::of(&flows, flows.order, step, setting);
        let how = setting.profile.spec().engines[engine].transfers;
        let domain = setting.profile.links().engine_domain[engine];
        let compute = cost.compute / setting.point.clocks[domain].0;
        let pace = |moves: &Moves| pace(moves, how, compute, setting);
        let mut own: Option<Pace> = None;
        for other in flows.others() {
            let known = *own.get_or_insert_with(|| pace(&best));
            // Nothing takes less than the work itself.
            if known.time <= compute.0 * NEARLY {
                break;
            }
            let other = Moves::of(&flows, other, step, setting);
            let others = pace(&other);
            if others.time * NEARLY < known.time {
                (best, own) = (other, Some(others));
            }
        }
        let mut pieces = 1.0;
        if how == Transfers::DoubleBuffered && best.is_staged() {
            let of_least_time = || own.unwrap_or_else(|| pace(&best)).pieces;
            pieces = without_waiting(&best, setting).unwrap_or_else(of_least_time);
        }
        Self {
            loads: Staged::of(&best.loads, pieces, setting),
            stores: Staged::of(&best.stores, pieces, setting),
            operands: best.near,
            overflows: flows.overflows,
            early: best.early,
        }
    }

    /// All of it, by memory.
    pub(super) fn total(&self) -> Vec<Transfer> {
        beside(beside(self.loads.whole.clone(), &self.operands), &self.stores.whole)
    }
}

impl Moves {
    /// What a loop order moves.
    fn of(
        flows: &Flows,
        order: Order,
        (work, cost, engine): (&Work, &Cost, usize),
        setting: Setting<'_>,
    ) -> Self {
        let (mut loads, mut near, mut stores) =
            (Vec::with_capacity(flows.inputs.len()), Near::of(engine, setting), Vec::new());
        let mut early = None;
        for flow in &flows.inputs {
            let coming = order.of(flow);
            let fetches = coming.times;
            let passes = flow.repeats
                * match flow.role {
                    OperandRole::Data => cost.passes.input,
                    OperandRole::Filter => cost.passes.weight,
                    OperandRole::Side if flow.constant && work.gemm.is_some() => cost.passes.beside,
                    OperandRole::Side => 1.0,
                };
            // Whatever is fetched again is also read again.
            let readings = passes.max(fetches);
            let windows = if flow.role == OperandRole::Data { cost.passes.windows } else { 1.0 };
            let accessed = flow.bytes * (readings * windows);
            match flow.buffer {
                Some(buffer) => {
                    stage(&mut loads, flow, (flow.home, buffer), coming, (work, engine), setting);
                    let kind =
                        if fetches > passes { flow.room_kind(setting) } else { Kind::STRONGEST };
                    let kind = kind.weaker(flow.kind);
                    near.pass(flow.role, buffer, (accessed, Bytes::ZERO), readings, kind);
                }
                None => {
                    let accesses = (accessed, readings);
                    if let Some(near_by) = comes_ahead(flow, (work, cost), engine, setting) {
                        let (role, kind) = (flow.role, flow.kind);
                        near.pass(role, flow.home, (flow.bytes, Bytes::ZERO), 1.0, kind);
                        near.pass(role, near_by, (accessed, flow.bytes), readings, kind);
                        early = Some((flow, near_by));
                        continue;
                    }
                    read_through(&mut near, flow, accesses, (work, cost, engine), setting);
                }
            }
        }
        if let Some(flow) = &flows.output {
            let going = order.results();
            results(&mut near, flow, going.times, (work, cost, engine), setting);
            if let Some(buffer) = flow.buffer {
                let once = Coming { times: 1.0, ..going };
                stage(&mut stores, flow, (buffer, flow.home), once, (work, engine), setting);
                if going.times > 1.0 {
                    let sums = partial_sums(flow, (work, cost, engine), setting);
                    let again = Coming { times: going.times - 1.0, ..going };
                    stage(&mut stores, &sums, (buffer, flow.home), again, (work, engine), setting);
                    stage(&mut loads, &sums, (flow.home, buffer), again, (work, engine), setting);
                }
            }
        }
        let array = &setting.profile.spec().engines[engine].array;
        let early = early.map(|(flow, into)| Early::of(flow, into, &near, (work, array)));
        Self { loads, near: near.transfers(setting), stores, early }
    }
}

/// Results of the array, and partial sums on their way out and back: as often as the array asks for, and in
/// each visit of a tile.
fn results(
    near: &mut Near<'_>,
    flow: &Flow,
    visits: f64,
    (work, cost, engine): (&Work, &Cost, usize),
    setting: Setting<'_>,
) {
    let written = cost.passes.output_written.max(visits);
    let read = cost.passes.output_read.max(visits - 1.0);
    let unfinished = (written - 1.0).max(0.0);
    let (width, width_kind) = sum_bytes(cost, engine, setting);
    let sums = Bytes(work.output_elements as f64 * width);
    let partial = read > 0.0 || unfinished > 0.0;
    let mut kind = if partial { width_kind } else { Kind::STRONGEST };
    if visits > cost.passes.output_written {
        kind = kind.weaker(flow.room_kind(setting));
    }
    let finished = flow.bytes * cost.passes.output_padded;
    let bytes = (sums * read, finished + sums * unfinished);
    let channel = flow.buffer.unwrap_or(flow.home);
    near.pass(OperandRole::Data, channel, bytes, read + written, kind);
}

/// Results as partial sums, which only a buffer that is too small sends out.
fn partial_sums(
    results: &Flow,
    (work, cost, engine): (&Work, &Cost, usize),
    setting: Setting<'_>,
) -> Flow {
    let (width, kind) = sum_bytes(cost, engine, setting);
    let bytes = Bytes(work.output_elements as f64 * width);
    let (role, repeats) = (OperandRole::Data, 2.0);
    Flow { role, bytes, kind, repeats, ..*results }
}

/// An operand from one memory into another, and over the link between.
fn stage(
    moved: &mut Vec<Moved>,
    flow: &Flow,
    (from, to): (usize, usize),
    coming: Coming,
    (work, engine): (&Work, usize),
    setting: Setting<'_>,
) {
    if flow.bytes.0 <= 0.0 {
        return;
    }
    let profile = setting.profile;
    let pieces_kind = flow.room_kind(setting);
    let room = if flow.may_come_again(work) { pieces_kind } else { Kind::STRONGEST };
    let bytes_kind = room.weaker(flow.kind);
    let link = profile.link_between(from, to).map(|link| profile.link_channel(link));
    let (channels, bytes) = ((from, to, link), flow.bytes * coming.grown);
    let (fetches, tiles) = (coming.times, coming.tiles);
    let alone = is_alone(flow, (from, to), engine, setting);
    // What moves alone has nothing to overlap with: no finer than the buffer asks for.
    let cuts = if alone { tiles } else { flow.cuts.max(tiles) };
    let abreast = profile.spec().engines[engine].array.abreast() as f64;
    moved.push(Moved {
        channels,
        bytes,
        fetches,
        tiles,
        cuts,
        abreast,
        alone,
        bytes_kind,
        pieces_kind,
    });
}

/// True where the home of an operand says that it does not move beside the work of a double-buffered engine.
fn is_alone(flow: &Flow, (from, to): (usize, usize), engine: usize, setting: Setting<'_>) -> bool {
    let spec = setting.profile.spec();
    let class = if flow.constant { TensorClass::Weights } else { TensorClass::Activations };
    let is_serial = |memory: usize| spec.memories[memory].serial.contains(&class);
    spec.engines[engine].transfers == Transfers::DoubleBuffered
        && (is_serial(from) || is_serial(to))
}

/// The memory that weights come into ahead of their operator, if they do.
fn comes_ahead(
    flow: &Flow,
    (work, cost): (&Work, &Cost),
    engine: usize,
    setting: Setting<'_>,
) -> Option<usize> {
    let ahead = setting.profile.spec().engines[engine].ahead.as_ref()?;
    let near = setting.profile.links().engine_ahead.get(engine).copied().flatten()?;
    let comes = flow.role == OperandRole::Filter && ahead.kinds.contains(&work.kind);
    let comes = comes && !cost.passes.weights_stay;
    (comes && near != flow.home).then_some(near)
}

/// Readings of an operand by an engine that works from its home: through a cache, where one stands
/// between, which leaves the misses to the home.
fn read_through(
    near: &mut Near<'_>,
    flow: &Flow,
    (accessed, readings): (Bytes, f64),
    (work, cost, engine): (&Work, &Cost, usize),
    setting: Setting<'_>,
) {
    let none = Bytes::ZERO;
    let Some(cache) = setting.profile.cache_between(engine, flow.home) else {
        near.pass(flow.role, flow.home, (accessed, none), readings, flow.kind);
        return;
    };
    let missed = misses(cache, flow, readings, work, cost, setting);
    let spec = setting.profile.spec();
    let unit = &spec.caches[cache];
    let waits = spec.engines[engine].transfers == Transfers::Inline && !unit.prefetches;
    let requests = if waits { missed.bytes / unit.line.get() } else { missed.passes };
    let kind = missed.kind.weaker(flow.kind);
    let behind = |channel, (read, write), requests| Sum {
        channel,
        read,
        write,
        requests,
        bytes_kind: kind,
        count_kind: kind,
    };
    near.line_requests(behind(flow.home, (missed.bytes, none), requests));
    let channel = setting.profile.cache_channel(cache);
    near.line_requests(behind(channel, (accessed, missed.bytes), 0.0));
}

/// Transfers of one phase added to those of another, by channel.
pub(super) fn beside(mut sum: Vec<Transfer>, others: &[Transfer]) -> Vec<Transfer> {
    for other in others {
        match sum.iter_mut().find(|t| t.channel == other.channel) {
            Some(t) => {
                t.read += other.read;
                t.write += other.write;
                t.requests += other.requests;
                t.energy += other.energy;
                t.energy_kind = t.energy_kind.weaker(other.energy_kind);
                t.count_kind = t.count_kind.weaker(other.count_kind);
            }
            None => sum.push(*other),
        }
    }
    sum
}

pub(super) fn transfer(sum: Sum, setting: Setting<'_>) -> Transfer {
    let Sum { channel, read, write, requests, bytes_kind, count_kind } = sum;
    let (energy, kind) = access_energy(channel, read, write, setting);
    let energy_kind = kind.weaker(bytes_kind);
    Transfer { channel, read, write, requests, energy, energy_kind, count_kind }
}

/// Says of which layers not even the smallest tiles fit their buffers.
pub(super) fn overflow_note(overflowing: &[(usize, &str)], setting: Setting<'_>) -> Option<String> {
    let (engine, first) = overflowing.first()?;
    let engine = &setting.profile.spec().engines.get(*engine)?.name;
    let others = match overflowing.len() - 1 {
        0 => String::new(),
        others => format!(" and of {others} more"),
    };
    Some(format!(
        "not even single elements of {first}{others} fit the buffers of {engine}: costed as if they did"
    ))
}

/// The phases of a step: dispatch, then how the engine overlaps transfers with computing
/// ([`super::overlap`]).
pub(super) fn phases(cost: &Cost, traffic: &Traffic, how: Transfers) -> Vec<Phase> {
    let Traffic { loads, operands, stores, .. } = traffic;
    let nothing = Vec::new;
    let whole = |staged: &Staged| staged.whole.clone();
    let (fill, drain, steady) = match how {
        Transfers::Inline => (nothing(), nothing(), [whole(loads), whole(stores)]),
        Transfers::DoubleBuffered => (loads.piece(), stores.piece(), [loads.rest(), stores.rest()]),
        Transfers::Serial => (whole(loads), whole(stores), [nothing(), nothing()]),
    };
    let steady = steady.iter().fold(operands.clone(), |sum, part| beside(sum, part));
    let none = (Cycles::ZERO, Joules::ZERO);
    let candidates = [
        (PhaseKind::Dispatch, (cost.dispatch, cost.dispatch_energy), Vec::new()),
        (PhaseKind::Fill, none, fill),
        (PhaseKind::Steady, (cost.compute, cost.energy), steady),
        (PhaseKind::Drain, none, drain),
    ];
    let pieces = match how {
        // More than any network has is as good as without bound.
        Transfers::DoubleBuffered => loads.pieces.max(stores.pieces).clamp(1.0, 1e15) as u64,
        Transfers::Inline | Transfers::Serial => 1,
    };
    let made = candidates.into_iter().map(|(kind, (compute, energy), transfers)| Phase {
        kind,
        compute,
        energy,
        transfers,
        pieces: if kind == PhaseKind::Steady { pieces } else { 1 },
        stated: None,
    });
    made.filter(|p| p.compute.0 > 0.0 || p.energy.0 > 0.0 || !p.transfers.is_empty()).collect()
}
