//! Bytes between memories for one step, and the phases they make.
//!
//! Each operand comes from its home. A home that is staged through a buffer fills the buffer once, or
//! more often when operands do not fit ([`super::flows`]), and the engine reads the buffer as often as
//! its dataflow asks ([`Passes`](crate::cost::Passes)); a home without a buffer serves the engine itself,
//! through a cache where one stands between. What passes between home and buffer passes the link that
//! joins them too. Results are written past caches.

use super::MemoryPlan;
use super::caches::misses;
use super::flows::{Flow, Flows};
use super::plan::{Phase, PhaseKind, Transfer};
use crate::cost::{Cost, Setting, access_energy};
use crate::hardware::Transfers;
use crate::model::{OperandRole, Work};
use crate::units::{Bytes, Cycles, Joules};

/// Reads, writes and requests of each channel, by number.
#[derive(Default)]
struct Sums {
    by_channel: Vec<(usize, Bytes, Bytes, f64)>,
}

impl Sums {
    fn add(&mut self, channel: usize, read: Bytes, write: Bytes) {
        self.request(channel, read, write, 0.0);
    }

    fn request(&mut self, channel: usize, read: Bytes, write: Bytes, requests: f64) {
        match self.by_channel.iter_mut().find(|(c, ..)| *c == channel) {
            Some((_, r, w, n)) => {
                *r += read;
                *w += write;
                *n += requests;
            }
            None => self.by_channel.push((channel, read, write, requests)),
        }
    }

    fn transfers(self, setting: Setting<'_>) -> Vec<Transfer> {
        let moved = self.by_channel.into_iter().filter(|(_, r, w, _)| (*r + *w).0 > 0.0);
        moved.map(|moved| transfer(moved, setting)).collect()
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
        let (profile, tiles) = (setting.profile, flows.tiles);
        let link = |home: usize, buffer: usize| {
            profile.link_between(home, buffer).map(|link| profile.link_channel(link))
        };
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
                    let bytes = flow.bytes * fetches;
                    let requests = tiles * fetches;
                    loads.request(flow.home, bytes, none, requests);
                    loads.add(buffer, none, bytes);
                    if let Some(link) = link(flow.home, buffer) {
                        loads.request(link, bytes, none, requests);
                    }
                    near.add(buffer, flow.bytes * readings, none);
                }
                None => read_through(&mut near, flow, readings, (work, cost, engine), setting),
            }
        }
        if let Some(flow) = &flows.output {
            let (written, read) = (cost.passes.output_written, cost.passes.output_read);
            near.add(flow.buffer.unwrap_or(flow.home), flow.bytes * read, flow.bytes * written);
            if let Some(buffer) = flow.buffer {
                stores.add(buffer, flow.bytes, none);
                stores.request(flow.home, none, flow.bytes, tiles);
                if let Some(link) = link(flow.home, buffer) {
                    stores.request(link, flow.bytes, none, tiles);
                }
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

/// Readings of an operand by an engine that works from its home: through a cache, where one stands
/// between, which leaves the misses to the home.
fn read_through(
    near: &mut Sums,
    flow: &Flow,
    readings: f64,
    (work, cost, engine): (&Work, &Cost, usize),
    setting: Setting<'_>,
) {
    let none = Bytes::ZERO;
    let accessed = flow.bytes * readings;
    let Some(cache) = setting.profile.cache_between(engine, flow.home) else {
        near.add(flow.home, accessed, none);
        return;
    };
    let missed = misses(cache, flow, readings, work, cost, setting);
    near.add(flow.home, missed, none);
    near.add(setting.profile.cache_channel(cache), accessed, missed);
}

/// Transfers of one phase added to those of another, by channel.
fn beside(mut sum: Vec<Transfer>, others: &[Transfer]) -> Vec<Transfer> {
    for other in others {
        match sum.iter_mut().find(|t| t.channel == other.channel) {
            Some(t) => {
                t.read += other.read;
                t.write += other.write;
                t.requests += other.requests;
                t.energy += other.energy;
                t.energy_kind = t.energy_kind.weaker(other.energy_kind);
            }
            None => sum.push(*other),
        }
    }
    sum
}

fn transfer(
    (channel, read, write, requests): (usize, Bytes, Bytes, f64),
    setting: Setting<'_>,
) -> Transfer {
    let (energy, energy_kind) = access_energy(channel, read, write, setting);
    Transfer { channel, read, write, requests, energy, energy_kind }
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
