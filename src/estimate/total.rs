//! Sums over layers: time, energy by component, power, coverage.

use super::rail_power::rail_power;
use crate::cost::{
    Setting, SupplyState, background, evidence_at_sources, load_power, standing_power, supply,
    working_power,
};
use crate::evidence::{Coverage, Kind};
use crate::hardware::Role;
use crate::mapping::{PhaseKind, Plan, Step, Transfer, phase_time};
use crate::model::OpKind;
use crate::units::{
    Bytes, Coulombs, Cycles, Hertz, JouleSeconds, JouleSecondsSquared, Joules, Quantity, Seconds,
    Watts,
};

/// What a layer waits for most of its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The engine's arithmetic.
    Compute,
    /// A memory, a cache or a link, by number of the channel.
    Channel(usize),
    /// Starting the operator.
    Dispatch,
    /// It takes no time.
    Nothing,
}

/// Energy of one component.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComponentEnergy {
    /// The component.
    pub role: Role,
    /// Its energy.
    pub energy: Joules,
}

/// What passes one memory, cache or link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelTraffic {
    /// Its number among the channels.
    pub channel: usize,
    /// Bytes read from it.
    pub read: Bytes,
    /// Bytes written to it.
    pub write: Bytes,
    /// Energy of both, without what the level draws whatever passes.
    pub energy: Joules,
}

impl LevelTraffic {
    fn of(transfer: &Transfer) -> Self {
        let Transfer { channel, read, write, energy, .. } = *transfer;
        Self { channel, read, write, energy }
    }

    /// Bytes of both.
    pub fn bytes(&self) -> Bytes {
        self.read + self.write
    }

    /// Operations for each of its bytes; nothing where none passes.
    pub fn intensity(&self, operations: u64) -> Option<f64> {
        let bytes = self.bytes().si();
        (bytes > 0.0).then(|| operations as f64 / bytes)
    }
}

/// One layer.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerEstimate {
    /// The layer, by its place in the network.
    pub layer: usize,
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: OpKind,
    /// The engine, by index.
    pub engine: usize,
    /// Multiply-accumulates of the graph.
    pub macs: u64,
    /// Those that are done: without dead channels that software leaves out and zeros that the engine
    /// skips.
    pub executed_macs: u64,
    /// Multiply-accumulate slots of the array, padding included.
    pub array_macs: u64,
    /// Element operations.
    pub element_ops: u64,
    /// Time.
    pub time: Seconds,
    /// Energy at the sources, losses included.
    pub energy: Joules,
    /// What it waits for.
    pub bound: Bound,
    /// MACs that are done over what the engine could do in the layer's time, 0 to 1.
    pub utilisation: f64,
    /// MACs that are done over what the engine could do in its cycles at work, 0 to 1: how well shapes
    /// fill it.
    pub occupancy: f64,
    /// Traffic by memory, cache and link.
    pub traffic: Vec<LevelTraffic>,
    /// Cycles of the engine's clock in the layer's time.
    pub cycles: Cycles,
    /// Energy by component.
    pub by_component: Vec<ComponentEnergy>,
}

impl LayerEstimate {
    /// Mean power.
    pub fn power(&self) -> Watts {
        if self.time.0 > 0.0 { self.energy / self.time } else { Watts::ZERO }
    }
}

/// A network on a profile at an operating point, back to back, without idle time.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Layers in the order they run.
    pub layers: Vec<LayerEstimate>,
    /// Time of one inference.
    pub latency: Seconds,
    /// Energy of one inference at the sources, losses included.
    pub energy: Joules,
    /// Energy of one inference at the loads.
    pub load_energy: Joules,
    /// Energy by component, summed over layers.
    pub by_component: Vec<ComponentEnergy>,
    /// Charge that one inference takes out of each rail, regulators that draw from it included.
    pub rail_charge: Vec<Coulombs>,
    /// What the energy rests on.
    pub energy_coverage: Coverage,
    /// What the time rests on.
    pub time_coverage: Coverage,
}

impl Estimate {
    /// Energy-delay product of one inference.
    pub fn edp(&self) -> JouleSeconds {
        self.energy * self.latency
    }

    /// Energy times the square of the delay of one inference.
    pub fn ed2p(&self) -> JouleSecondsSquared {
        self.edp() * self.latency
    }

    /// Traffic of all layers by memory, cache and link, in the order of their first use.
    pub fn levels(&self) -> Vec<LevelTraffic> {
        let mut levels: Vec<LevelTraffic> = Vec::new();
        for own in self.layers.iter().flat_map(|layer| &layer.traffic) {
            match levels.iter_mut().find(|level| level.channel == own.channel) {
                Some(level) => {
                    level.read += own.read;
                    level.write += own.write;
                    level.energy += own.energy;
                }
                None => levels.push(*own),
            }
        }
        levels
    }

    /// Mean power.
    pub fn mean_power(&self) -> Watts {
        if self.latency.0 > 0.0 { self.energy / self.latency } else { Watts::ZERO }
    }
}

/// Working state of the sum, kept across layers so that nothing is allocated for each.
struct Summing<'a> {
    setting: Setting<'a>,
    rail_coverage: Vec<Coverage>,
    standing: Vec<Watts>,
    rail_power: Vec<Watts>,
    losses: Vec<Joules>,
    rail_charge: Vec<Coulombs>,
    supply: SupplyState,
    energy_coverage: Coverage,
    time_coverage: Coverage,
}

/// Sums up a plan.
pub fn estimate(plan: &Plan, setting: Setting<'_>) -> Estimate {
    let rails = setting.point.voltages.len();
    let mut summing = Summing {
        setting,
        rail_coverage: vec![Coverage::default(); rails],
        standing: standing_power(setting),
        rail_power: vec![Watts::ZERO; rails],
        losses: vec![Joules::ZERO; setting.profile.spec().regulators.len()],
        rail_charge: vec![Coulombs::ZERO; rails],
        supply: SupplyState::default(),
        energy_coverage: Coverage::default(),
        time_coverage: Coverage::default(),
    };
    let layers: Vec<_> = plan.steps.iter().map(|step| summing.layer(step)).collect();
    let mut by_component: Vec<ComponentEnergy> = Vec::new();
    for part in layers.iter().flat_map(|l| &l.by_component) {
        match by_component.iter_mut().find(|c| c.role == part.role) {
            Some(sum) => sum.energy += part.energy,
            None => by_component.push(*part),
        }
    }
    let loss = |c: &&ComponentEnergy| matches!(c.role, Role::Regulator(_));
    let load_energy = by_component.iter().filter(|c| !loss(c)).map(|c| c.energy).sum();
    Estimate {
        latency: layers.iter().map(|l| l.time).sum(),
        energy: layers.iter().map(|l| l.energy).sum(),
        load_energy,
        by_component,
        layers,
        rail_charge: summing.rail_charge,
        energy_coverage: summing.energy_coverage,
        time_coverage: summing.time_coverage,
    }
}

impl Summing<'_> {
    fn layer(&mut self, step: &Step) -> LayerEstimate {
        let Timed { time, bound, kind } = self.time(step);
        for coverage in &mut self.rail_coverage {
            *coverage = Coverage::default();
        }
        let mut parts = self.loads(step, time, kind);
        let source = self.source(step, &mut parts);
        LayerEstimate {
            layer: step.layer,
            name: step.name.clone(),
            kind: step.kind,
            engine: step.engine,
            macs: step.macs,
            executed_macs: step.cost.macs,
            array_macs: step.cost.array_macs,
            element_ops: step.element_ops,
            time,
            energy: source,
            bound,
            utilisation: self.utilisation(step, time),
            occupancy: step.cost.occupancy(),
            traffic: step.traffic.iter().map(LevelTraffic::of).collect(),
            cycles: self.clock(step) * time,
            by_component: parts,
        }
    }

    fn time(&mut self, step: &Step) -> Timed {
        let mut time = Seconds::ZERO;
        let mut weakest = Kind::Measured;
        let mut by_bound: Vec<(Bound, Seconds)> = Vec::new();
        for phase in &step.phases {
            let own = phase_time(phase, step.engine, self.setting);
            let bound = match own.bound_by_channel {
                Some(channel) => Bound::Channel(channel),
                None if phase.kind == PhaseKind::Dispatch => Bound::Dispatch,
                None => Bound::Compute,
            };
            let kind = match bound {
                Bound::Channel(_) => own.kind,
                Bound::Dispatch => own.kind.weaker(step.cost.dispatch_kind),
                _ => own.kind.weaker(step.cost.time_kind),
            };
            self.time_coverage.add(kind, own.total.0);
            weakest = weakest.weaker(kind);
            time += own.total;
            match by_bound.iter_mut().find(|(b, _)| *b == bound) {
                Some((_, sum)) => *sum += own.total,
                None => by_bound.push((bound, own.total)),
            }
        }
        let longest = by_bound.into_iter().filter(|(_, t)| t.0 > 0.0);
        let longest = longest.max_by(|a, b| a.1.0.total_cmp(&b.1.0));
        Timed { time, bound: longest.map_or(Bound::Nothing, |(b, _)| b), kind: weakest }
    }

    /// Load energy by component.
    fn loads(&mut self, step: &Step, time: Seconds, time_kind: Kind) -> Vec<ComponentEnergy> {
        let setting = self.setting;
        let links = setting.profile.links();
        let mut parts = Vec::new();
        let engine_energy = step.cost.energy + step.cost.dispatch_energy;
        let rail = links.domain_rail[links.engine_domain[step.engine]];
        self.add(&mut parts, Role::Engine(step.engine), rail, engine_energy, step.cost.energy_kind);
        for transfer in &step.traffic {
            let rail = links.domain_rail[links.channel_domain[transfer.channel]];
            let role = Role::Channel(transfer.channel);
            self.add(&mut parts, role, rail, transfer.energy, transfer.energy_kind);
        }
        for index in 0..setting.profile.spec().memories.len() {
            if let Some(known) = background(index, setting) {
                let rail = links.domain_rail[links.channel_domain[index]];
                let kind = known.kind.weaker(time_kind);
                self.add(&mut parts, Role::Channel(index), rail, known.power * time, kind);
            }
        }
        for (load, &rail) in links.load_rail.iter().enumerate() {
            let known = load_power(load, setting);
            let kind = known.kind.weaker(time_kind);
            self.add(&mut parts, Role::Load(load), rail, known.power * time, kind);
        }
        for (domain, &rail) in links.domain_rail.iter().enumerate() {
            let power = working_power(domain, setting);
            for (role, known) in [
                (Role::Clock(domain), power.clock),
                (Role::Leakage(domain), power.leakage),
                (Role::Rest(domain), power.rest),
            ] {
                let kind = known.kind.weaker(time_kind);
                self.add(&mut parts, role, rail, known.power * time, kind);
            }
        }
        parts
    }

    fn add(
        &mut self,
        parts: &mut Vec<ComponentEnergy>,
        role: Role,
        rail: usize,
        energy: Joules,
        kind: Kind,
    ) {
        if energy.0 == 0.0 {
            return;
        }
        match parts.iter_mut().find(|p| p.role == role) {
            Some(part) => part.energy += energy,
            None => parts.push(ComponentEnergy { role, energy }),
        }
        self.rail_coverage[rail].add(kind, energy.0);
    }

    fn clock(&self, step: &Step) -> Hertz {
        let domain = self.setting.profile.links().engine_domain[step.engine];
        self.setting.point.clocks[domain].0
    }

    fn utilisation(&self, step: &Step, time: Seconds) -> f64 {
        let could = step.cost.peak.0 * (self.clock(step) * time).0;
        if could > 0.0 { step.cost.macs as f64 / could } else { 0.0 }
    }

    /// Energy at the sources; adds the regulators' losses to the parts. Regulators are solved in each
    /// phase, since their losses do not go with the power.
    fn source(&mut self, step: &Step, parts: &mut Vec<ComponentEnergy>) -> Joules {
        let setting = self.setting;
        let mut total: Joules = parts.iter().map(|p| p.energy).sum();
        self.losses.fill(Joules::ZERO);
        for phase in &step.phases {
            let power = &mut self.rail_power;
            let Some((time, _)) = rail_power(step, phase, 1.0, &self.standing, power, setting)
            else {
                continue;
            };
            supply(power, setting, &mut self.supply);
            for (charge, current) in self.rail_charge.iter_mut().zip(&self.supply.rail_current) {
                *charge += *current * time;
            }
            for &regulator in &setting.point.regulators {
                self.losses[regulator] += self.supply.regulator_loss[regulator] * time;
            }
        }
        for &regulator in &setting.point.regulators {
            let energy = self.losses[regulator];
            if energy.0 != 0.0 {
                parts.push(ComponentEnergy { role: Role::Regulator(regulator), energy });
            }
            total += energy;
        }
        let evidence = evidence_at_sources(&mut self.rail_coverage, &self.losses, setting);
        self.energy_coverage.merge(&evidence);
        total
    }
}

struct Timed {
    time: Seconds,
    bound: Bound,
    kind: Kind,
}
