//! Bytes between memories for one step, and the phases they make.
//!
//! Each operand comes from its home. A home that is staged through a buffer fills the buffer once
//! (more often when the operand does not fit, see below), and the array reads the buffer as often as
//! its dataflow asks ([`Passes`](crate::cost::Passes)); a home without a buffer serves the passes
//! itself.
//!
//! When weights and activations of a layer do not fit the buffer together, one of two loop orders is
//! taken, whichever moves less: weights stay and the input is read once for each part of the
//! weights, or the input stays and the weights are read once for each part of the input.

use super::MemoryPlan;
use super::plan::{Phase, PhaseKind, Transfer};
use crate::cost::{Cost, Setting};
use crate::evidence::Kind;
use crate::hardware::Transfers;
use crate::model::{OpKind, Work};
use crate::physics::switching;
use crate::units::{Bytes, Cycles, Joules, Quantity};

/// Bytes of a step's operands in the engine's number format.
struct Operands {
    input: f64,
    weight: f64,
    output: f64,
}

impl Operands {
    fn of(work: &Work, cost: &Cost) -> Self {
        if work.kind == OpKind::View {
            return Self { input: 0.0, weight: 0.0, output: 0.0 };
        }
        let own = work.element.bits().max(1) as f64;
        let factor = cost.precision.bits() as f64 / own;
        Self {
            input: work.input_bytes as f64 * factor,
            weight: work.weight_bytes as f64 * factor,
            output: work.output_bytes as f64 * factor,
        }
    }
}

/// Reads and writes of each memory, by index.
#[derive(Default)]
struct Sums {
    by_memory: Vec<(usize, f64, f64)>,
}

impl Sums {
    fn add(&mut self, memory: usize, read: f64, write: f64) {
        match self.by_memory.iter_mut().find(|(m, _, _)| *m == memory) {
            Some((_, r, w)) => {
                *r += read;
                *w += write;
            }
            None => self.by_memory.push((memory, read, write)),
        }
    }

    fn transfers(self, setting: Setting<'_>) -> Vec<Transfer> {
        let moved = self.by_memory.into_iter().filter(|(_, read, write)| *read + *write > 0.0);
        moved.map(|(m, read, write)| transfer(m, Bytes(read), Bytes(write), setting)).collect()
    }
}

/// Traffic of one step.
pub(super) struct Traffic {
    /// From homes into buffers, before it is computed on.
    loads: Vec<Transfer>,
    /// Between the engine and the memory next to it, while it computes.
    operands: Vec<Transfer>,
    /// From buffers to homes, afterwards.
    stores: Vec<Transfer>,
    /// Tiles that the operands are cut into.
    tiles: f64,
}

impl Traffic {
    pub(super) fn of(work: &Work, cost: &Cost, memory: &MemoryPlan, setting: Setting<'_>) -> Self {
        let operands = Operands::of(work, cost);
        let stages = &setting.profile.links().memory_stage;
        let stage = |home: Option<usize>| home.and_then(|m| stages.get(m).copied().flatten());
        let buffer = stage(memory.activations).or(stage(memory.weights));
        let memories = &setting.profile.spec().memories;
        let capacity = buffer.map_or(f64::INFINITY, |m| memories[m].capacity.get().si());
        let refetch = Refetch::of(&operands, capacity);
        let (mut loads, mut near, mut stores) = (Sums::default(), Sums::default(), Sums::default());
        let passes = cost.passes;
        for (home, bytes, fetches, readings) in [
            (memory.activations, operands.input, refetch.input, passes.input),
            (memory.weights, operands.weight, refetch.weight, passes.weight),
        ] {
            let Some(home) = home else { continue };
            if let Some(buffer) = stage(Some(home)) {
                loads.add(home, bytes * fetches, 0.0);
                loads.add(buffer, 0.0, bytes * fetches);
                near.add(buffer, bytes * readings.max(fetches), 0.0);
            } else {
                near.add(home, bytes * readings, 0.0);
            }
        }
        if let Some(home) = memory.activations {
            let bytes = operands.output;
            let next = stage(Some(home)).unwrap_or(home);
            near.add(next, bytes * passes.output_read, bytes * passes.output_written);
            if let Some(buffer) = stage(Some(home)) {
                stores.add(buffer, bytes, 0.0);
                stores.add(home, 0.0, bytes);
            }
        }
        Self {
            loads: loads.transfers(setting),
            operands: near.transfers(setting),
            stores: stores.transfers(setting),
            tiles: refetch.tiles,
        }
    }

    /// All of it, by memory.
    pub(super) fn total(&self) -> Vec<Transfer> {
        let mut total = self.loads.clone();
        total = beside(total, &self.operands);
        beside(total, &self.stores)
    }
}

/// Transfers of one phase added to those of another, by memory.
fn beside(mut sum: Vec<Transfer>, others: &[Transfer]) -> Vec<Transfer> {
    for other in others {
        match sum.iter_mut().find(|t| t.memory == other.memory) {
            Some(t) => {
                t.read += other.read;
                t.write += other.write;
                t.energy += other.energy;
                t.energy_kind = t.energy_kind.weaker(other.energy_kind);
            }
            None => sum.push(*other),
        }
    }
    sum
}

/// How often input and weights come from home, and the number of tiles.
struct Refetch {
    input: f64,
    weight: f64,
    tiles: f64,
}

impl Refetch {
    /// Half of the buffer is for the tile being computed, half for the next.
    fn of(operands: &Operands, capacity: f64) -> Self {
        let half = capacity / 2.0;
        let footprint = operands.input + operands.weight + operands.output;
        let tiles = (footprint / half).ceil().max(1.0);
        if footprint <= half || operands.input <= half || operands.weight <= half {
            return Self { input: 1.0, weight: 1.0, tiles };
        }
        let weights_stay = (operands.weight / half).ceil();
        let input_stays = (operands.input / half).ceil();
        let cost_of = |input: f64, weight: f64| input * operands.input + weight * operands.weight;
        if cost_of(weights_stay, 1.0) <= cost_of(1.0, input_stays) {
            Self { input: weights_stay, weight: 1.0, tiles }
        } else {
            Self { input: 1.0, weight: input_stays, tiles }
        }
    }
}

fn transfer(memory: usize, read: Bytes, write: Bytes, setting: Setting<'_>) -> Transfer {
    let spec = setting.profile.spec();
    let links = setting.profile.links();
    let unit = &spec.memories[memory];
    let domain_index = links.memory_domain[memory];
    let domain = &spec.domains[domain_index];
    let (voltage, voltage_kind) = setting.point.voltages[links.domain_rail[domain_index]];
    let exponent = domain.voltage_exponent.as_ref().map_or(switching::SQUARE_LAW, |e| e.get().0);
    let scale = switching::scale(voltage, domain.nominal_voltage.get(), exponent);
    // An energy that does not scale with its rail does not rest on the rail's voltage.
    let mut kind = if exponent == 0.0 { Kind::Measured } else { voltage_kind };
    let mut energy = Joules::ZERO;
    for (bytes, cost) in [(read, &unit.read_energy), (write, &unit.write_energy)] {
        if let Some(cost) = cost.as_ref().filter(|_| bytes.0 > 0.0) {
            energy += cost.get() * bytes * scale;
            kind = kind.weaker(cost.kind());
        }
    }
    Transfer { memory, read, write, energy, energy_kind: kind }
}

/// The phases of a step: dispatch, then how the engine overlaps transfers with computing. With `n`
/// tiles, double buffering leaves one n-th of the loads before and of the stores behind.
pub(super) fn phases(cost: &Cost, traffic: &Traffic, how: Transfers) -> Vec<Phase> {
    let exposed = match how {
        Transfers::Inline => 0.0,
        Transfers::DoubleBuffered => 1.0 / traffic.tiles,
        Transfers::Serial => 1.0,
    };
    let part = |transfers: &[Transfer], share: f64| -> Vec<Transfer> {
        let parts = transfers.iter().map(|t| t.part(share));
        parts.filter(|t| t.bytes().0 > 0.0).collect()
    };
    let mut steady = beside(traffic.operands.clone(), &part(&traffic.loads, 1.0 - exposed));
    steady = beside(steady, &part(&traffic.stores, 1.0 - exposed));
    let none = (Cycles::ZERO, Joules::ZERO);
    let candidates = [
        (PhaseKind::Dispatch, (cost.dispatch, cost.dispatch_energy), Vec::new()),
        (PhaseKind::Fill, none, part(&traffic.loads, exposed)),
        (PhaseKind::Steady, (cost.compute, cost.energy), steady),
        (PhaseKind::Drain, none, part(&traffic.stores, exposed)),
    ];
    let empty = |phase: &Phase| phase.compute.0 == 0.0 && phase.transfers.is_empty();
    let made = candidates.into_iter().map(|(kind, (compute, energy), transfers)| Phase {
        kind,
        compute,
        energy,
        transfers,
    });
    made.filter(|phase| !empty(phase)).collect()
}
