//! Bytes between memories for one step, and the phases they make.
//!
//! Each operand comes from its home. A home that is staged through a buffer fills the buffer once, or
//! more often when operands do not fit ([`super::flows`]), and the engine reads the buffer as often as
//! its dataflow asks ([`Passes`](crate::cost::Passes)); a home without a buffer serves the engine itself.

use super::MemoryPlan;
use super::flows::Flows;
use super::plan::{Phase, PhaseKind, Transfer};
use crate::cost::{Cost, Setting, dynamic_scale};
use crate::hardware::Transfers;
use crate::model::{OperandRole, Work};
use crate::units::{Bytes, Cycles, Joules};

/// Reads and writes of each memory, by index.
#[derive(Default)]
struct Sums {
    by_memory: Vec<(usize, Bytes, Bytes)>,
}

impl Sums {
    fn add(&mut self, memory: usize, read: Bytes, write: Bytes) {
        match self.by_memory.iter_mut().find(|(m, _, _)| *m == memory) {
            Some((_, r, w)) => {
                *r += read;
                *w += write;
            }
            None => self.by_memory.push((memory, read, write)),
        }
    }

    fn transfers(self, setting: Setting<'_>) -> Vec<Transfer> {
        let moved = self.by_memory.into_iter().filter(|(_, read, write)| (*read + *write).0 > 0.0);
        moved.map(|(m, read, write)| transfer(m, read, write, setting)).collect()
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
    pub(super) fn of(
        work: &Work,
        cost: &Cost,
        engine: usize,
        memory: &MemoryPlan,
        setting: Setting<'_>,
    ) -> Self {
        let flows = Flows::of(work, cost, engine, memory, setting);
        let (mut loads, mut near, mut stores) = (Sums::default(), Sums::default(), Sums::default());
        let none = Bytes::ZERO;
        for flow in &flows.inputs {
            let fetches = flows.fetches(flow, setting);
            let readings = flow.repeats
                * match flow.role {
                    OperandRole::Data => cost.passes.input,
                    OperandRole::Filter => cost.passes.weight,
                    OperandRole::Side => 1.0,
                };
            // Whatever is fetched again is also read again.
            let readings = readings.max(fetches);
            match flow.buffer {
                Some(buffer) => {
                    loads.add(flow.home, flow.bytes * fetches, none);
                    loads.add(buffer, none, flow.bytes * fetches);
                    near.add(buffer, flow.bytes * readings, none);
                }
                None => near.add(flow.home, flow.bytes * readings, none),
            }
        }
        if let Some(flow) = &flows.output {
            let (written, read) = (cost.passes.output_written, cost.passes.output_read);
            near.add(flow.buffer.unwrap_or(flow.home), flow.bytes * read, flow.bytes * written);
            if let Some(buffer) = flow.buffer {
                stores.add(buffer, flow.bytes, none);
                stores.add(flow.home, none, flow.bytes);
            }
        }
        Self {
            loads: loads.transfers(setting),
            operands: near.transfers(setting),
            stores: stores.transfers(setting),
            tiles: flows.tiles,
        }
    }

    /// All of it, by memory.
    pub(super) fn total(&self) -> Vec<Transfer> {
        beside(beside(self.loads.clone(), &self.operands), &self.stores)
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

fn transfer(memory: usize, read: Bytes, write: Bytes, setting: Setting<'_>) -> Transfer {
    let unit = &setting.profile.spec().memories[memory];
    let (scale, mut kind) = dynamic_scale(setting.profile.links().memory_domain[memory], setting);
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
    let made = candidates.into_iter().map(|(kind, (compute, energy), transfers)| Phase {
        kind,
        compute,
        energy,
        transfers,
    });
    made.filter(|p| p.compute.0 > 0.0 || p.energy.0 > 0.0 || !p.transfers.is_empty()).collect()
}
