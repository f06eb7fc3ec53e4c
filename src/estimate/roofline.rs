//! The hierarchical roofline of an engine, in time and in energy, from the plan and the profile alone.
//!
//! **Time.** A layer of `W` operations that passes `Q_l` bytes through level `l` (a memory, a cache or a
//! link) has an intensity `I_l = W / Q_l` at each level, and runs at most at
//!
//! `P = min(P_peak, min_l I_l BW_l)`
//!
//! with `P_peak` the engine's peak in the layer's number format at its clock and `BW_l` the level's bandwidth
//! at the operating point, wait states included (S. Williams, A. Waterman and D. Patterson, "Roofline: an
//! insightful visual performance model for multicore architectures", Communications of the ACM 52(4), 2009;
//! one roof a level: C. Yang, T. Kurth and S. Williams, "Hierarchical Roofline analysis for GPUs",
//! Concurrency and Computation 32(20), 2020). The ridge of a level is at `P_peak / BW_l`.
//!
//! **Energy.** See [`EnergyRoof`]. Of a layer with all its levels the least energy is
//! `W e_op + Σ_l E_l + P_0 W / P`, with `E_l` what its bytes cost at level `l` and `P_0` the power that is drawn
//! whatever the engines do. All of it is meant at the loads: regulators lose more.
//!
//! Operations are [`Macs`]; layers without any count their [`ElementOperations`]. The two have units of their
//! own and are never added. Counted are the multiply-accumulates that are really done.
//!
//! What a layer takes more than its roofs ask for is told apart in [`LostTime`]. Only the lowest roof is a
//! bound: what binds with the cycles that the layer's shapes and software really take is
//! [`LayerPoint::longest`]. It is the estimate's own [`Bound`](super::Bound) where a layer runs in one phase and waits for
//! no latency; where it starts slowly, is filled and drained, or waits for requests, phases with other
//! limits may make more of its time.

mod constant;
mod counted;
mod energy;
mod layer;

pub use constant::{ConstantPower, constant_power};
pub use counted::{Counted, ElementOperations, Macs};
pub use energy::EnergyRoof;
pub use layer::{LayerPoint, LostTime, Point, Ridge};

use super::Estimate;
use crate::cost::{Cost, Setting, access_energy, bandwidth, dynamic_scale};
use crate::evidence::Kind;
use crate::hardware::Precision;
use crate::mapping::{Plan, Step};
use crate::units::{Bytes, BytesPerSecond, Joules, JoulesPerByte, Quantity, Seconds, Watts};

/// The roofs of a network's engines.
#[derive(Debug, Clone, PartialEq)]
pub struct Roofline {
    /// Engines that run something, in the order of the profile.
    pub engines: Vec<EngineRoofline>,
    /// What is drawn whatever the engines do, at the loads.
    pub constant: ConstantPower,
}

/// The roofs of one engine with the layers that it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineRoofline {
    /// The engine, by index.
    pub engine: usize,
    /// What its bytes pass through, in the order of the profile's channels.
    pub levels: Vec<Level>,
    /// Layers of multiply-accumulates.
    pub macs: Roofs<Macs>,
    /// Layers of element operations alone.
    pub operations: Roofs<ElementOperations>,
    /// Layers that compute nothing.
    pub moving: Moving,
}

/// A memory, a cache or a link as a roof.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// The channel, by number.
    pub channel: usize,
    /// Its bandwidth at the operating point.
    pub bandwidth: BytesPerSecond,
    /// What the bandwidth rests on.
    pub kind: Kind,
    /// Bytes that the network's layers on this engine read from it.
    pub read: Bytes,
    /// Bytes that they write to it.
    pub written: Bytes,
    /// Energy of a byte, in the network's mix of reading and writing.
    pub energy: JoulesPerByte,
    /// What that energy rests on.
    pub energy_kind: Kind,
}

/// The peak of an engine in a number format as a roof.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComputeRoof<C: Counted> {
    /// The number format.
    pub precision: Precision,
    /// Most operations a second.
    pub peak: C::PerSecond,
    /// What the peak rests on.
    pub kind: Kind,
    /// Switching energy of an operation with the engine full.
    pub energy: C::Energy,
    /// What that energy rests on.
    pub energy_kind: Kind,
    /// The first layer that runs below it, by its place in the network.
    pub layer: usize,
}

/// Compute roofs and layers that count the same operations.
#[derive(Debug, Clone, PartialEq)]
pub struct Roofs<C: Counted> {
    /// One a number format.
    pub compute: Vec<ComputeRoof<C>>,
    /// Layers in the order they run.
    pub layers: Vec<LayerPoint<C>>,
}

/// Layers that have no operations and so no place below a roof.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moving {
    /// How many.
    pub layers: usize,
    /// Their time.
    pub time: Seconds,
    /// Their energy at the sources.
    pub energy: Joules,
}

/// The roofs of every engine that a plan uses.
pub fn roofline(plan: &Plan, estimate: &Estimate, setting: Setting<'_>) -> Roofline {
    let constant = constant_power(setting);
    let engines = 0..setting.profile.spec().engines.len();
    let engines = engines.filter_map(|engine| {
        let ran = plan.steps.iter().zip(&estimate.layers).filter(|(step, _)| step.engine == engine);
        let ran: Vec<_> = ran.collect();
        let levels = levels(ran.iter().map(|(step, _)| *step), setting);
        let mut moving = Moving::default();
        for (step, layer) in &ran {
            if Macs::of(step).is_none()
                && ElementOperations::of(step).is_none()
                && layer.time.0 > 0.0
            {
                moving.layers += 1;
                moving.time += layer.time;
                moving.energy += layer.energy;
            }
        }
        let (macs, operations) = (
            roofs(&ran, &levels, constant.power, setting),
            roofs(&ran, &levels, constant.power, setting),
        );
        (!ran.is_empty()).then_some(EngineRoofline { engine, levels, macs, operations, moving })
    });
    Roofline { engines: engines.collect(), constant }
}

/// What the bytes of these steps pass through.
fn levels<'a>(steps: impl Iterator<Item = &'a Step>, setting: Setting<'_>) -> Vec<Level> {
    let mut passed = vec![(Bytes::ZERO, Bytes::ZERO); setting.profile.channels()];
    for transfer in steps.flat_map(|step| &step.traffic) {
        if let Some((read, written)) = passed.get_mut(transfer.channel) {
            *read += transfer.read;
            *written += transfer.write;
        }
    }
    let used = passed.into_iter().enumerate().filter(|(_, (read, write))| (*read + *write).0 > 0.0);
    used.map(|(channel, bytes)| Level::of(channel, bytes, setting)).collect()
}

impl Level {
    /// The level of a channel that passes so many bytes, read and written.
    pub fn of(channel: usize, (read, written): (Bytes, Bytes), setting: Setting<'_>) -> Self {
        let (rate, kind) = bandwidth(channel, setting);
        let (energy, energy_kind) = access_energy(channel, read, written, setting);
        let all = read + written;
        let energy = if all.0 > 0.0 { energy / all } else { JoulesPerByte::ZERO };
        Self { channel, bandwidth: rate, kind, read, written, energy, energy_kind }
    }
}

impl<C: Counted> ComputeRoof<C> {
    /// The roof above a layer whose cost on an engine is known; nothing where the profile gives the engine
    /// no rate for such operations.
    ///
    /// Energy of an operation with the engine full: `(e_op + e_store + e_cycle / rate) s`, with `s` the
    /// voltage's factor on dynamic energy.
    pub fn of(layer: usize, cost: &Cost, engine: usize, setting: Setting<'_>) -> Option<Self> {
        let unit = setting.profile.spec().engines.get(engine)?;
        let domain = setting.profile.links().engine_domain[engine];
        let (clock, clock_kind) = setting.point.clocks[domain];
        let (rate, rate_kind) = C::rate(unit, cost)?;
        let (scale, mut energy_kind) = dynamic_scale(domain, setting);
        let (mut energy, own_kind) = C::switching(unit, cost.precision);
        energy_kind = energy_kind.weaker(own_kind);
        if let Some(cycle) = &unit.energy.per_busy_cycle {
            let nominal = setting.profile.spec().domains[domain].nominal_voltage.get();
            energy += cycle.energy_at_nominal(nominal).0 / rate.si();
            energy_kind = energy_kind.weaker(cycle.kind()).weaker(rate_kind);
        }
        Some(Self {
            precision: cost.precision,
            peak: C::PerSecond::from_si(rate.si() * clock.0),
            kind: rate_kind.weaker(clock_kind),
            energy: C::Energy::from_si(energy * scale),
            energy_kind,
            layer,
        })
    }

    /// Where a level's roof meets this one.
    pub fn ridge(&self, level: &Level) -> C::PerByte {
        C::PerByte::from_si(self.peak.si() / level.bandwidth.0)
    }
}

impl<C: Counted> Roofs<C> {
    /// The least and the largest intensity that there is something at: a layer, a ridge, a balance of energy.
    pub fn span(&self, levels: &[Level]) -> Option<(C::PerByte, C::PerByte)> {
        let places = 0..levels.len();
        let layers = self.layers.iter().flat_map(|layer| {
            places.clone().filter_map(|level| Some(layer.point.intensity(level)?.si()))
        });
        let roofs = self.compute.iter().flat_map(|compute| {
            let each = levels.iter().flat_map(|level| {
                let balance = EnergyRoof::of(compute, level, Watts::ZERO).balance();
                [compute.ridge(level).si(), balance.si()]
            });
            each.collect::<Vec<_>>()
        });
        let all = layers.chain(roofs).filter(|at| at.is_finite() && *at > 0.0);
        let ends = all.fold(None, |ends: Option<(f64, f64)>, at| {
            Some(ends.map_or((at, at), |(low, high)| (low.min(at), high.max(at))))
        });
        ends.map(|(low, high)| (C::PerByte::from_si(low), C::PerByte::from_si(high)))
    }

    fn keep(&mut self, place: usize, levels: &[Level], constant: Watts) {
        for layer in &mut self.layers {
            layer.keep(place);
            if let Some(compute) = self.compute.get(layer.compute) {
                layer.place(compute, levels, constant);
            }
        }
    }

    /// All layers as one; nothing where there are none.
    pub fn whole(&self) -> Option<Point<C>> {
        let mut points = self.layers.iter().map(|layer| &layer.point);
        let first = points.next()?.clone();
        Some(points.fold(first, |sum, point| sum.with(point)))
    }
}

fn roofs<C: Counted>(
    ran: &[(&Step, &super::LayerEstimate)],
    levels: &[Level],
    constant: Watts,
    setting: Setting<'_>,
) -> Roofs<C> {
    let mut roofs = Roofs { compute: Vec::new(), layers: Vec::new() };
    for (step, layer) in ran {
        let Some(work) = C::of(step).filter(|_| layer.time.0 > 0.0) else { continue };
        let known =
            roofs.compute.iter().position(|c: &ComputeRoof<C>| c.precision == step.cost.precision);
        let at = match known {
            Some(at) => at,
            None => {
                let made = ComputeRoof::of(step.layer, &step.cost, step.engine, setting);
                let Some(made) = made else { continue };
                roofs.compute.push(made);
                roofs.compute.len() - 1
            }
        };
        let Some(compute) = roofs.compute.get(at) else { continue };
        roofs.layers.push(layer::point(
            (step, layer, work),
            (at, compute),
            levels,
            constant,
            setting,
        ));
    }
    roofs
}

impl Roofline {
    /// What most of the constant power rests on: the weakest kind where less than half is on evidence.
    pub fn constant_kind(&self) -> Kind {
        let coverage = &self.constant.coverage;
        if self.constant.power.0 == 0.0 || !coverage.is_indicative() {
            return Kind::STRONGEST;
        }
        coverage.amounts().fold(Kind::STRONGEST, |kind, (own, _)| kind.weaker(own))
    }

    /// Share of the energy that constant power takes with the engine full and no byte moved, 0 to 1: on the
    /// engine whose layers take most energy, in the first of its number formats.
    pub fn constant_share_at_best(&self) -> f64 {
        let energy = |engine: &EngineRoofline| {
            let macs = engine.macs.layers.iter().map(|l| l.point.energy.0).sum::<f64>();
            macs + engine.operations.layers.iter().map(|l| l.point.energy.0).sum::<f64>()
        };
        let most = self.engines.iter().max_by(|a, b| energy(a).total_cmp(&energy(b)));
        let share = |joules: f64, rate: f64| {
            let constant = self.constant.power.0 / rate;
            if joules + constant > 0.0 { constant / (joules + constant) } else { 0.0 }
        };
        most.and_then(|engine| {
            let macs = engine.macs.compute.first().map(|c| share(c.energy.0, c.peak.0));
            macs.or(engine.operations.compute.first().map(|c| share(c.energy.0, c.peak.0)))
        })
        .unwrap_or(0.0)
    }

    /// The same with one level alone beside the compute roofs: what it would allow if there were no other.
    /// Engines of which no byte passes it are left out.
    #[must_use]
    pub fn at_level(mut self, channel: usize) -> Self {
        let constant = self.constant.power;
        for engine in &mut self.engines {
            let Some(place) = engine.levels.iter().position(|l| l.channel == channel) else {
                engine.levels.clear();
                continue;
            };
            engine.levels = engine.levels.get(place).into_iter().copied().collect();
            engine.macs.keep(place, &engine.levels, constant);
            engine.operations.keep(place, &engine.levels, constant);
        }
        self.engines.retain(|engine| !engine.levels.is_empty());
        self
    }
}
