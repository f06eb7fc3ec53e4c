//! From a network to its plan: candidates on every engine, placement, handovers, steps.

use super::ahead::{Coming, fetch_ahead};
use super::duration::phase_time;
use super::flows::operand_bytes;
use super::handover::{handover, price};
use super::memory::{MemoryInUse, MemoryPlan, memory_plan};
use super::network::{Network, operations};
use super::notes::notes;
use super::place::{Edge, Handover, Placement, Price, Problem, Weights};
use super::plan::{Fallback, Phase, PhaseKind, Plan, Step, Transfer, Uncosted};
use super::traffic::{Traffic, beside, phases};
use super::{Directions, Objective};
use crate::cost::{Cost, Refusal, Setting, cost, executed_on, runs_in, standing_power};
use crate::hardware::Precision;
use crate::model::Layer;
use crate::units::{Bytes, Cycles, Joules, Seconds, Watts};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maps a network onto a profile, as its [`Network::directions`] ask. A layer that every engine refuses,
/// or that the engine refuses that it is tied to, is listed as uncosted with the reasons, and is in no
/// sum.
pub fn plan(network: &Network, setting: Setting<'_>) -> Plan {
    let mut choices = Choices::of(network, setting);
    let (placement, handovers) = choices.placement(network, setting);
    let mut arrivals = arrivals(&handovers, network.layers.len(), setting);
    let mut steps = Vec::with_capacity(network.layers.len());
    let mut coming = Vec::with_capacity(network.layers.len());
    let (mut uncosted, mut fallbacks) = (Vec::new(), Vec::new());
    let mut conversions = BTreeSet::new();
    let all = network.operations();
    let share = |of: u64| if all > 0 { of as f64 / all as f64 } else { 0.0 };
    for (index, layer) in network.layers.iter().enumerate() {
        let operations = operations(layer);
        let refusals = choices.refusals.get_mut(index).map(std::mem::take).unwrap_or_default();
        let engine = placement.get(index).copied().flatten();
        let Some(candidate) = engine.and_then(|engine| choices.take(index, engine)) else {
            let reasons = refusals.iter().map(|(_, refusal)| refusal.to_string()).collect();
            let (name, kind, share) = (layer.name.clone(), layer.work.kind, share(operations));
            uncosted.push(Uncosted { layer: index, name, kind, operations, share, reasons });
            continue;
        };
        let engine = candidate.engine;
        if refusals.iter().any(|(other, _)| *other < engine) {
            let (layer, share) = (index, share(operations));
            let refused = refusals.into_iter().filter(|(other, _)| *other < engine).collect();
            fallbacks.push(Fallback { layer, engine, share, refused });
        }
        if let Some(own) =
            Precision::of(layer.work.element).filter(|own| *own != candidate.cost.precision)
        {
            conversions.insert((own, candidate.cost.precision, engine));
        }
        let arrived = arrivals.get_mut(index).map(std::mem::take).unwrap_or_default();
        coming.push(candidate.coming);
        steps.push(step(index, layer, candidate, arrived));
    }
    fetch_ahead(&mut steps, &coming, setting);
    let (notes, fits) = notes(&steps, &choices.homes, conversions, setting);
    let engines = steps.iter().map(|s| s.engine).collect();
    let costed = steps.iter().map(|s| s.macs.saturating_add(s.element_ops));
    let costed = costed.fold(0, u64::saturating_add);
    Plan {
        network: network.name.clone(),
        point: setting.point.clone(),
        steps,
        uncosted,
        fallbacks,
        costed_share: if all > 0 { costed as f64 / all as f64 } else { 1.0 },
        fits,
        notes,
        memory: in_use(&engines, &choices.homes),
    }
}

/// The memory plans of the engines in use, each once.
fn in_use(engines: &BTreeSet<usize>, homes: &[Arc<MemoryPlan>]) -> Vec<MemoryInUse> {
    let mut found: Vec<MemoryInUse> = Vec::new();
    for (engine, plan) in engines.iter().filter_map(|e| Some((*e, homes.get(*e)?))) {
        match found.iter_mut().find(|own| Arc::ptr_eq(&own.plan, plan)) {
            Some(own) => own.engines.push(engine),
            None => found.push(MemoryInUse { engines: vec![engine], plan: Arc::clone(plan) }),
        }
    }
    found
}

/// A layer on an engine.
struct Candidate {
    engine: usize,
    cost: Cost,
    traffic: Vec<Transfer>,
    phases: Vec<Phase>,
    /// Weights that may come ahead.
    coming: Option<Coming>,
}

impl Candidate {
    fn of(
        layer: &Layer,
        engine: usize,
        homes: &MemoryPlan,
        setting: Setting<'_>,
    ) -> Result<Self, Refusal> {
        let cost = cost(&layer.work, engine, setting)?;
        let work = executed_on(&layer.work, engine, setting);
        let traffic = Traffic::of(&work, &cost, engine, homes, setting);
        let how = setting.profile.spec().engines[engine].transfers;
        let phases = phases(&cost, &traffic, how);
        let coming = traffic.coming;
        Ok(Self { engine, cost, traffic: traffic.total(), phases, coming })
    }

    fn price(&self, setting: Setting<'_>) -> Price {
        let times = self.phases.iter().map(|phase| phase_time(phase, self.engine, setting).total);
        let time: Seconds = times.sum();
        let moved: Joules = self.traffic.iter().map(|t| t.energy).sum();
        let energy = self.cost.energy + self.cost.dispatch_energy + moved;
        Price { time: time.0, energy: energy.0 }
    }
}

/// What there is to choose from.
struct Choices {
    directions: Directions,
    homes: Vec<Arc<MemoryPlan>>,
    /// Candidates of each layer, by engine.
    candidates: Vec<Vec<Candidate>>,
    /// Engines that refuse each layer.
    refusals: Vec<Vec<(usize, Refusal)>>,
    /// Results that are read; none where one engine runs all.
    edges: Vec<Edge>,
}

impl Choices {
    fn of(network: &Network, setting: Setting<'_>) -> Self {
        let engines = setting.profile.spec().engines.len();
        let homes: Vec<_> =
            (0..engines).map(|e| memory_plan(network, e, setting.profile)).collect();
        let layers = network.layers.len();
        let mut choices = Self {
            directions: network.directions.clone(),
            homes,
            candidates: Vec::with_capacity(layers),
            refusals: Vec::with_capacity(layers),
            edges: Vec::new(),
        };
        for (index, layer) in network.layers.iter().enumerate() {
            choices.add(index, layer, engines, setting);
        }
        // Engines of one memory plan find everything where the others leave it.
        if choices.homes.windows(2).any(|pair| !Arc::ptr_eq(&pair[0], &pair[1])) {
            choices.connect(network, setting);
        }
        choices
    }

    /// The candidates of a layer: on the engine that it is tied to, on the first that takes it, or on all.
    fn add(&mut self, index: usize, layer: &Layer, engines: usize, setting: Setting<'_>) {
        let tied = self.directions.pins.get(&index).copied();
        let (mut candidates, mut refusals) = (Vec::new(), Vec::new());
        for engine in 0..engines {
            if tied.is_some_and(|tied| tied != engine) {
                continue;
            }
            match Candidate::of(layer, engine, &self.homes[engine], setting) {
                Ok(candidate) => candidates.push(candidate),
                Err(refusal) => refusals.push((engine, refusal)),
            }
            if self.directions.objective == Objective::First && !candidates.is_empty() {
                break;
            }
        }
        self.candidates.push(candidates);
        self.refusals.push(refusals);
    }

    /// Finds what each layer reads of another.
    fn connect(&mut self, network: &Network, setting: Setting<'_>) {
        let units = &setting.profile.spec().engines;
        for (to, layer) in network.layers.iter().enumerate() {
            let precision = units.iter().find_map(|unit| runs_in(unit, layer.work.element));
            let Some(precision) = precision else { continue };
            for (operand, maker) in layer.work.operands.iter().zip(network.producers(to)) {
                let Some(from) = maker.filter(|from| *from < to) else { continue };
                let bytes = operand_bytes(operand, &layer.work, precision).0;
                let homes = self.homes.iter();
                let read_from = homes.map(|home| home.home_of_operand(operand)).collect();
                self.edges.push(Edge { from, to, bytes, read_from });
            }
        }
    }

    /// The engine of each layer, and what is handed over.
    fn placement(&self, network: &Network, setting: Setting<'_>) -> (Placement, Vec<Handover>) {
        let first = || self.candidates.iter().map(|c| c.first().map(|c| c.engine)).collect();
        let no_choice = self.candidates.iter().all(|c| c.len() < 2);
        if no_choice && self.edges.is_empty() {
            return (first(), Vec::new());
        }
        let hop = |bytes: f64, from: usize, to: usize| price(bytes, from, to, setting);
        let problem = self.problem(network, &hop, setting);
        let standing: Watts = standing_power(setting).into_iter().sum();
        let placement = match self.directions.objective {
            _ if no_choice => first(),
            Objective::First => first(),
            Objective::Time => problem.best(Weights { time: 1.0, energy: 0.0 }),
            Objective::Energy => problem.best(Weights { time: standing.0, energy: 1.0 }),
            Objective::Edp => problem.best_product(standing.0),
        };
        let handovers = problem.handovers(&placement);
        (placement, handovers)
    }

    fn problem<'a>(
        &self,
        network: &Network,
        hop: &'a dyn Fn(f64, usize, usize) -> Price,
        setting: Setting<'_>,
    ) -> Problem<'a> {
        let engines = self.homes.len();
        let own = self.candidates.iter().map(|candidates| {
            let mut prices = vec![None; engines];
            for candidate in candidates {
                prices[candidate.engine] = Some(candidate.price(setting));
            }
            prices
        });
        let written_to = network
            .layers
            .iter()
            .map(|layer| self.homes.iter().map(|home| home.home_of_result(&layer.work)).collect());
        let written_to = written_to.collect();
        Problem { own: own.collect(), written_to, edges: self.edges.clone(), hop }
    }

    fn take(&mut self, layer: usize, engine: usize) -> Option<Candidate> {
        let candidates = self.candidates.get_mut(layer)?;
        let place = candidates.iter().position(|c| c.engine == engine)?;
        Some(candidates.swap_remove(place))
    }
}

/// Transfers of handovers, by the layer that they precede.
fn arrivals(handovers: &[Handover], layers: usize, setting: Setting<'_>) -> Vec<Vec<Transfer>> {
    let mut arrivals = vec![Vec::new(); layers];
    for Handover { reader, bytes, from, to } in handovers {
        if let Some(own) = arrivals.get_mut(*reader) {
            *own = beside(std::mem::take(own), &handover(Bytes(*bytes), *from, *to, setting));
        }
    }
    arrivals
}

fn step(index: usize, layer: &Layer, candidate: Candidate, arrivals: Vec<Transfer>) -> Step {
    let Candidate { engine, cost, traffic, mut phases, .. } = candidate;
    let traffic = beside(traffic, &arrivals);
    if !arrivals.is_empty() {
        let (compute, energy) = (Cycles::ZERO, Joules::ZERO);
        phases.insert(0, Phase { kind: PhaseKind::Handover, compute, energy, transfers: arrivals });
    }
    Step {
        layer: index,
        name: layer.name.clone(),
        kind: layer.work.kind,
        macs: layer.work.macs,
        element_ops: layer.work.element_ops,
        engine,
        traffic,
        phases,
        cost,
    }
}
