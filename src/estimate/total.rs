//! Sums over layers: time, energy by component, power, coverage.

use super::rail_power::draw;
use super::repeats::{Added, Repeats, again};
use crate::cost::{
    KnownPower, Setting, SupplyState, SupplyTree, background, evidence_at_sources, grid_kind,
    load_power, standing_power, working_power,
};
use crate::evidence::{Coverage, Kind};
use crate::hardware::Role;
use crate::mapping::{PhaseKind, Plan, Step, Transfer, slowest};
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
    /// True where its result stays in a buffer for the next layer.
    pub keeps_result: bool,
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
    /// What is drawn whatever the engines do, and from which rail.
    standing_parts: Vec<(Role, usize, KnownPower)>,
    /// Time of each phase of the step.
    phase_times: Vec<Seconds>,
    /// Power at each tap of the supply tree.
    power: Vec<Watts>,
    losses: Vec<Joules>,
    /// Loss in the grid of each domain.
    grid_losses: Vec<Joules>,
    rail_charge: Vec<Coulombs>,
    tree: SupplyTree,
    supply: SupplyState,
    energy_coverage: Coverage,
    time_coverage: Coverage,
    /// What the step adds.
    added: Added,
    repeats: Repeats<'a>,
    /// Kept for the next step where no layer takes them.
    parts: Vec<ComponentEnergy>,
}

/// Time and energy at the sources of a plan: those of [`estimate`], which takes longer.
pub fn totals<'a>(plan: &'a Plan, setting: Setting<'a>) -> (Seconds, Joules) {
    let mut summing = Summing::of(setting);
    let of_steps = plan.steps.iter().map(|step| {
        let known = summing.repeats.find(step).map(|(added, _)| added.totals);
        known.unwrap_or_else(|| {
            let (timed, mut parts) = summing.alone(step);
            summing.added.totals = (timed.time, summing.source(step, &mut parts));
            summing.parts = parts;
            let added = std::mem::take(&mut summing.added);
            let totals = added.totals;
            summing.repeats.keep(step, added);
            totals
        })
    });
    let of_steps: Vec<_> = of_steps.collect();
    (of_steps.iter().map(|own| own.0).sum(), of_steps.iter().map(|own| own.1).sum())
}

/// Sums up a plan.
pub fn estimate<'a>(plan: &'a Plan, setting: Setting<'a>) -> Estimate {
    let mut summing = Summing::of(setting);
    let mut layers: Vec<LayerEstimate> = Vec::with_capacity(plan.steps.len());
    // The layers of the steps that differ.
    let mut firsts: Vec<usize> = Vec::new();
    for step in &plan.steps {
        let known = summing.known(step).and_then(|place| layers.get(*firsts.get(place)?));
        let layer = match known {
            Some(known) => again(step, known),
            None => {
                firsts.push(layers.len());
                summing.anew(step)
            }
        };
        layers.push(layer);
    }
    let mut by_component: Vec<ComponentEnergy> = Vec::new();
    // Layers list their parts alike: each is looked for behind the one before.
    let mut behind = 0;
    for part in layers.iter().flat_map(|l| &l.by_component) {
        if let Some(sum) = by_component.get_mut(behind).filter(|sum| sum.role == part.role) {
            sum.energy += part.energy;
            behind += 1;
            continue;
        }
        let count = by_component.len();
        let places = (behind..count).chain(0..behind.min(count));
        let found = places.into_iter().find(|at| by_component[*at].role == part.role);
        match found.and_then(|at| Some((at, by_component.get_mut(at)?))) {
            Some((at, sum)) => {
                sum.energy += part.energy;
                behind = at + 1;
            }
            None => by_component.push(*part),
        }
    }
    let load_energy = by_component.iter().filter(|c| !c.role.is_loss()).map(|c| c.energy).sum();
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

impl<'a> Summing<'a> {
    fn of(setting: Setting<'a>) -> Self {
        let rails = setting.point.voltages.len();
        let (spec, tree) = (setting.profile.spec(), SupplyTree::new(setting));
        Self {
            setting,
            rail_coverage: vec![Coverage::default(); rails],
            standing: standing_power(setting),
            standing_parts: standing_parts(setting),
            phase_times: Vec::new(),
            power: vec![Watts::ZERO; tree.taps()],
            losses: vec![Joules::ZERO; spec.regulators.len()],
            grid_losses: vec![Joules::ZERO; spec.domains.len()],
            rail_charge: vec![Coulombs::ZERO; rails],
            tree,
            supply: SupplyState::default(),
            energy_coverage: Coverage::default(),
            time_coverage: Coverage::default(),
            added: Added::default(),
            repeats: Repeats::default(),
            parts: Vec::new(),
        }
    }

    /// Adds a step like one before, and says which of those that differ.
    fn known(&mut self, step: &Step) -> Option<usize> {
        let (added, place) = self.repeats.find(step)?;
        for (kind, time) in &added.phases {
            self.time_coverage.add(*kind, *time);
        }
        for charges in added.charges.chunks(self.rail_charge.len().max(1)) {
            for (sum, charge) in self.rail_charge.iter_mut().zip(charges) {
                *sum += *charge;
            }
        }
        self.energy_coverage.merge(&added.evidence);
        Some(place)
    }

    /// A step that differs from all before.
    fn anew(&mut self, step: &'a Step) -> LayerEstimate {
        let layer = self.layer(step);
        let added = std::mem::take(&mut self.added);
        self.repeats.keep(step, added);
        layer
    }

    /// Time of a step, and load energy by component.
    fn alone(&mut self, step: &Step) -> (Timed, Vec<ComponentEnergy>) {
        let timed = self.time(step);
        for coverage in &mut self.rail_coverage {
            *coverage = Coverage::default();
        }
        let parts = self.loads(step, timed.time, timed.kind);
        (timed, parts)
    }

    fn layer(&mut self, step: &Step) -> LayerEstimate {
        let (Timed { time, bound, .. }, mut parts) = self.alone(step);
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
            keeps_result: step.keeps_result,
        }
    }

    fn time(&mut self, step: &Step) -> Timed {
        let mut time = Seconds::ZERO;
        let mut weakest = Kind::Measured;
        let mut by_bound: Vec<(Bound, Seconds)> = Vec::new();
        self.phase_times.clear();
        self.added.phases.reserve(step.phases.len());
        for phase in &step.phases {
            let own = slowest(phase, step.engine, self.setting, |_| {});
            self.phase_times.push(own.total);
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
            self.added.phases.push((kind, own.total.0));
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
        let most = 1 + step.traffic.len() + self.standing_parts.len() + self.losses.len();
        let mut parts = std::mem::take(&mut self.parts);
        parts.clear();
        parts.reserve(most);
        let engine_energy = step.cost.energy + step.cost.dispatch_energy;
        let rail = links.domain_rail[links.engine_domain[step.engine]];
        self.add(&mut parts, Role::Engine(step.engine), rail, engine_energy, step.cost.energy_kind);
        for transfer in &step.traffic {
            let rail = links.domain_rail[links.channel_domain[transfer.channel]];
            let role = Role::Channel(transfer.channel);
            self.add(&mut parts, role, rail, transfer.energy, transfer.energy_kind);
        }
        for index in 0..self.standing_parts.len() {
            let (role, rail, known) = self.standing_parts[index];
            let kind = known.kind.weaker(time_kind);
            self.add(&mut parts, role, rail, known.power * time, kind);
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
        // Only channels have a part for work and another for standing by.
        let twice = matches!(role, Role::Channel(_));
        let known = twice.then(|| parts.iter_mut().find(|p| p.role == role)).flatten();
        match known {
            Some(part) => part.energy += energy,
            None => parts.push(ComponentEnergy { role, energy }),
        }
        self.rail_coverage[rail].add(kind, energy.0);
    }

    fn clock(&self, step: &Step) -> Hertz {
        let domain = self.setting.profile.links().engine_domain[step.engine];
        self.setting.point.clocks[domain].0
    }

    /// A layer that works beside others takes its own cycles, however little it adds to theirs.
    fn utilisation(&self, step: &Step, time: Seconds) -> f64 {
        let cycles = (self.clock(step) * time).0.max(step.cost.compute.0);
        let could = step.cost.peak.0 * cycles;
        if could > 0.0 { step.cost.macs as f64 / could } else { 0.0 }
    }

    /// Energy at the sources; adds the regulators' losses to the parts. Regulators are solved in each
    /// phase, since their losses do not go with the power.
    fn source(&mut self, step: &Step, parts: &mut Vec<ComponentEnergy>) -> Joules {
        let setting = self.setting;
        let mut total: Joules = parts.iter().map(|p| p.energy).sum();
        self.losses.fill(Joules::ZERO);
        self.grid_losses.fill(Joules::ZERO);
        self.added.charges.reserve(step.phases.len() * self.rail_charge.len());
        for (phase, &time) in step.phases.iter().zip(&self.phase_times) {
            if time.0 <= 0.0 {
                continue;
            }
            let power = &mut self.power;
            let own = (time, phase.energy / time);
            draw(step, phase, own, &self.standing, power, setting);
            self.tree.solve_afresh(power, &mut self.supply);
            for (charge, current) in self.rail_charge.iter_mut().zip(&self.supply.rail_current) {
                *charge += *current * time;
                self.added.charges.push(*current * time);
            }
            for &regulator in &setting.point.regulators {
                self.losses[regulator] += self.supply.regulator_loss[regulator] * time;
            }
            for (sum, loss) in self.grid_losses.iter_mut().zip(&self.supply.grid_loss) {
                *sum += *loss * time;
            }
        }
        for &regulator in &setting.point.regulators {
            let energy = self.losses[regulator];
            if energy.0 != 0.0 {
                parts.push(ComponentEnergy { role: Role::Regulator(regulator), energy });
            }
            total += energy;
        }
        total += self.grids(parts);
        let evidence = evidence_at_sources(&mut self.rail_coverage, &self.losses, setting);
        self.energy_coverage.merge(&evidence);
        self.added.evidence = evidence;
        total
    }
}

impl Summing<'_> {
    /// Adds the losses of grids to the parts, and to what their rails' energy rests on.
    fn grids(&mut self, parts: &mut Vec<ComponentEnergy>) -> Joules {
        let mut total = Joules::ZERO;
        for (domain, &energy) in self.grid_losses.iter().enumerate() {
            if energy.0 != 0.0 {
                parts.push(ComponentEnergy { role: Role::Grid(domain), energy });
                let rail = self.setting.profile.links().domain_rail[domain];
                self.rail_coverage[rail].add(grid_kind(domain, self.setting), energy.0);
                total += energy;
            }
        }
        total
    }
}

/// What is drawn whatever the engines do, in the order that it is told of.
pub(super) fn standing_parts(setting: Setting<'_>) -> Vec<(Role, usize, KnownPower)> {
    let links = setting.profile.links();
    let mut parts = Vec::new();
    for index in 0..setting.profile.spec().memories.len() {
        let rail = links.domain_rail[links.channel_domain[index]];
        let known = background(index, setting);
        parts.extend(known.map(|known| (Role::Channel(index), rail, known)));
    }
    for (load, &rail) in links.load_rail.iter().enumerate() {
        parts.push((Role::Load(load), rail, load_power(load, setting)));
    }
    for (domain, &rail) in links.domain_rail.iter().enumerate() {
        let power = working_power(domain, setting);
        parts.push((Role::Clock(domain), rail, power.clock));
        parts.push((Role::Leakage(domain), rail, power.leakage));
        parts.push((Role::Rest(domain), rail, power.rest));
    }
    parts
}

struct Timed {
    time: Seconds,
    bound: Bound,
    kind: Kind,
}
