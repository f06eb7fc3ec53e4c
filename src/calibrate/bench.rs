//! What the observations of a case are predicted with.

use super::case::{Case, Measured, Observation, Quantity};
use super::meter::Meter;
use super::validation::ValidationError;
use crate::cost::{Setting, SupplyState, SupplyTree, standing_power};
use crate::diagnostic::nearest;
use crate::estimate::{Estimate, LayerEstimate, estimate, totals};
use crate::hardware::{HardwareError, Point, Profile};
use crate::mapping::{Directions, Network, Objective, Plan, plan};
use crate::model::{Bindings, ModelError, ModelGraph, Transform, apply, load};
use crate::sim::{Arrivals, Workload, run};
use crate::trace::Deaf;
use crate::units::Seconds;

/// A profile at the operating point and with the software of a case, and a meter on its rails.
#[derive(Debug)]
pub(super) struct Bench {
    pub profile: Profile,
    pub point: Point,
    pub stacks: Vec<Option<usize>>,
    meter: Meter,
}

/// What a figure is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Figure {
    /// Of a whole network.
    Network(Quantity),
    /// Of one of its layers, or of some together.
    Layers(Vec<String>, Quantity),
    /// Mean power while it runs once in each period, in a state of rest between.
    MeanPower {
        /// From one inference to the next.
        period: Seconds,
        /// The state.
        rest: String,
    },
}

/// By how much the logarithm of a mean power changes with those of its inference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ShareAtWork {
    /// With its power: the share of the energy of a period that the inference is.
    pub power: f64,
    /// With its time, in which the board would draw power at rest otherwise.
    pub time: f64,
}

impl Figure {
    /// What a measurement of an observation is of.
    pub fn of(observation: &Observation, measured: &Measured<'_>) -> Self {
        if let Some((_, name)) = measured.layer {
            let names = std::iter::once(name).chain(measured.with.iter().map(String::as_str));
            return Self::Layers(names.map(str::to_owned).collect(), measured.quantity);
        }
        match (measured.quantity, &observation.period, &observation.rest) {
            (Quantity::MeanPower, Some(period), Some(rest)) => {
                Self::MeanPower { period: period.get(), rest: rest.clone() }
            }
            (quantity, ..) => Self::Network(quantity),
        }
    }
}

impl Bench {
    /// That of a case.
    pub fn of(case: &Case) -> Result<Self, ValidationError> {
        let hardware = |source: HardwareError| ValidationError::Hardware {
            case: case.id.clone(),
            source: Box::new(source),
        };
        let profile = Profile::load(&case.hardware).map_err(hardware)?;
        let point = profile.point(Some(&case.operating_point)).map_err(hardware)?;
        let stacks = profile.stacks(case.software.as_deref()).map_err(hardware)?;
        runs_as_said(case, &profile)?;
        let meter = Meter::on(&case.rails, &profile).map_err(hardware)?;
        Ok(Self { profile, point, stacks, meter })
    }

    pub fn setting(&self) -> Setting<'_> {
        Setting { profile: &self.profile, point: &self.point, stacks: &self.stacks }
    }

    /// The network of an observation of a case as its software executes it.
    pub fn network(
        &self,
        case: &Case,
        index: usize,
        observation: &Observation,
    ) -> Result<Network, ValidationError> {
        self.executed(observation).map_err(|source| {
            let case = case.id.clone();
            ValidationError::Model { case, observation: index, source: Box::new(source) }
        })
    }

    fn executed(&self, observation: &Observation) -> Result<Network, ModelError> {
        let mut graph: ModelGraph = load(&observation.model, &Bindings::default())?;
        if let Some(samples) = observation.batch {
            graph = apply(&graph, &[Transform::Batch(samples)])?;
        }
        // Their tools hand an accelerator all that it supports.
        let objective = Objective::First;
        let directions = Directions { objective, ..Directions::default() };
        let fuses = self.profile.fuses(&self.stacks);
        let network = Network::executed(&graph, fuses)?;
        // What was measured ran layer by layer, all samples of a batch at once.
        Ok(Network { directions, parts: Vec::new(), ..network })
    }

    /// A measured layer is one of the prediction's.
    pub fn known_layer(
        &self,
        case: &Case,
        index: usize,
        observation: &Observation,
        figure: &Measured<'_>,
        predicted: &Estimate,
    ) -> Result<(), ValidationError> {
        let Some((at, name)) = figure.layer else { return Ok(()) };
        let names = std::iter::once(name).chain(figure.with.iter().map(String::as_str));
        let mut missing = names.filter(|name| layer(predicted, name).is_none());
        match missing.next() {
            Some(name) => Err(ValidationError::Layer {
                case: case.id.clone(),
                model: observation.model.clone(),
                layer: name.to_owned(),
                // What a capture gave stands in no file.
                place: match figure.captured {
                    true => format!("observations[{index}].capture.layers"),
                    false => format!("observations[{index}].layers[{at}].layer"),
                },
            }),
            None => Ok(()),
        }
    }

    /// The state between inferences is one of the profile's.
    pub fn knows_rest(
        &self,
        case: &Case,
        index: usize,
        observation: &Observation,
    ) -> Result<(), ValidationError> {
        match &observation.rest {
            Some(rest) if rest != ON && !self.states().contains(&rest.as_str()) => {
                Err(self.no_state(case, &format!("observations[{index}].rest"), rest))
            }
            _ => Ok(()),
        }
    }

    /// A state that no domain has.
    pub fn no_state(&self, case: &Case, place: &str, state: &str) -> ValidationError {
        let states = self.states();
        ValidationError::State {
            case: case.id.clone(),
            state: state.to_owned(),
            place: place.to_owned(),
            nearest: nearest(state, states.iter().copied()).map(str::to_owned),
            known: states.join(", "),
        }
    }

    /// All measured layers are layers of the prediction.
    pub fn knows_layers(
        &self,
        case: &Case,
        index: usize,
        observation: &Observation,
        measured: &[Measured<'_>],
        network: &Network,
    ) -> Result<(), ValidationError> {
        if measured.iter().all(|figure| figure.layer.is_none()) {
            return Ok(());
        }
        let predicted = estimate(&plan(network, self.setting()), self.setting());
        let known = |figure| self.known_layer(case, index, observation, figure, &predicted);
        measured.iter().try_for_each(known)
    }

    /// Figures of a network on a profile of the same structure, in SI; not a number where the profile
    /// cannot run it.
    pub fn values(&self, network: &Network, figures: &[Figure], profile: &Profile) -> Vec<f64> {
        let Ok(point) = profile.repoint(&self.point) else { return vec![f64::NAN; figures.len()] };
        let setting = Setting { profile, point: &point, stacks: &self.stacks };
        let plan = plan(network, setting);
        let is_layer = |figure: &Figure| matches!(figure, Figure::Layers(..));
        if !figures.iter().any(is_layer) && self.meter.is_on_all() {
            let (time, energy) = totals(&plan, setting);
            let value = |figure: &Figure| match figure {
                Figure::Network(Quantity::Latency) => time.0,
                Figure::Network(Quantity::Energy) => energy.0,
                Figure::MeanPower { period, rest } => mean_power(&plan, *period, rest, setting),
                Figure::Network(_) | Figure::Layers(..) => f64::NAN,
            };
            return figures.iter().map(value).collect();
        }
        let estimate = estimate(&plan, setting);
        figures.iter().map(|figure| self.value(figure, &plan, &estimate, setting)).collect()
    }

    /// A figure in an estimate, in SI. A layer that is lost where a number moved is none.
    fn value(
        &self,
        figure: &Figure,
        plan: &Plan,
        estimate: &Estimate,
        setting: Setting<'_>,
    ) -> f64 {
        match figure {
            Figure::Network(Quantity::Latency) => estimate.latency.0,
            Figure::Network(Quantity::Energy) => {
                self.meter.reads(&estimate.by_component, estimate.energy, setting).0
            }
            Figure::Layers(names, quantity) => {
                let of = |name: &String| match (layer(estimate, name), quantity) {
                    (Some(layer), Quantity::Latency) => layer.time.0,
                    (Some(layer), Quantity::Energy) => {
                        self.meter.reads(&layer.by_component, layer.energy, setting).0
                    }
                    _ => f64::NAN,
                };
                names.iter().map(of).sum()
            }
            Figure::MeanPower { period, rest } => mean_power(plan, *period, rest, setting),
            Figure::Network(_) => f64::NAN,
        }
    }

    /// How a mean power goes with the time and the power of its inference, as the profile predicts them.
    pub fn share_at_work(&self, network: &Network, period: Seconds, rest: &str) -> ShareAtWork {
        let setting = self.setting();
        let plan = plan(network, setting);
        let (time, energy) = totals(&plan, setting);
        let mean = mean_power(&plan, period, rest, setting);
        // Without rest the mean power is that of the inference, however long that takes.
        let rests = time.0 < period.0;
        let whole = mean * period.0.max(time.0);
        let resting = self.idle_power(rest, &self.profile) * time.0;
        let share = |energy: f64| if whole > 0.0 { (energy / whole).clamp(0.0, 1.0) } else { 0.0 };
        ShareAtWork {
            power: share(energy.0),
            time: if rests { share(energy.0 - resting) } else { 0.0 },
        }
    }

    /// Power at the sources while all domains that have a state stay in it, on a profile of the same
    /// structure, in SI; not a number where no domain has it. `on` is awake without work.
    pub fn idle_power(&self, state: &str, profile: &Profile) -> f64 {
        let Ok(mut point) = profile.repoint(&self.point) else { return f64::NAN };
        let mut known = state == ON;
        for (domain, asleep) in profile.spec().domains.iter().zip(&mut point.asleep) {
            if let Some(at) = domain.states.iter().position(|own| own.name == state) {
                *asleep = Some(at);
                known = true;
            }
        }
        if !known {
            return f64::NAN;
        }
        let setting = Setting { profile, point: &point, stacks: &self.stacks };
        let mut supplied = SupplyState::default();
        SupplyTree::new(setting).solve_afresh(&standing_power(setting), &mut supplied);
        supplied.source_power.0
    }

    /// States of rest of the profile's domains.
    pub fn states(&self) -> Vec<&str> {
        let domains = self.profile.spec().domains.iter();
        let mut states: Vec<&str> =
            domains.flat_map(|d| &d.states).map(|state| state.name.as_str()).collect();
        states.sort_unstable();
        states.dedup();
        states
    }
}

/// What no state of rest is called.
const ON: &str = "on";

/// Mean power of one period as the simulation has it: waking, the inference, and rest for what is left. Where an
/// inference takes longer than the period, the next one waits for it.
fn mean_power(plan: &Plan, period: Seconds, rest: &str, setting: Setting<'_>) -> f64 {
    let arrivals = Arrivals::Periodic(period);
    let workload = Workload { inferences: 1, arrivals, rest: Some(rest.to_owned()) };
    match run(plan, &workload, setting, &mut Deaf) {
        Ok(outcome) => outcome.metrics.energy.0 / outcome.metrics.duration.0,
        Err(_) => f64::NAN,
    }
}

/// A layer by its name.
fn layer<'a>(estimate: &'a Estimate, name: &str) -> Option<&'a LayerEstimate> {
    estimate.layers.iter().find(|layer| layer.name == name)
}

/// A stack that names a runtime and its versions stands for no others.
fn runs_as_said(case: &Case, profile: &Profile) -> Result<(), ValidationError> {
    let Some(name) = &case.software else { return Ok(()) };
    let stack = profile.spec().software.iter().find(|stack| stack.name == *name);
    let Some(known) = stack.and_then(|stack| stack.runtime.as_ref()) else { return Ok(()) };
    let ran = &case.runtime;
    let one_of_them = known.versions.is_empty() || known.versions.contains(&ran.version);
    if known.family == ran.family && one_of_them {
        return Ok(());
    }
    let known = match known.versions.as_slice() {
        [] => known.family.clone(),
        versions => format!("{} {}", known.family, versions.join(", ")),
    };
    let (case, stack) = (case.id.clone(), name.clone());
    Err(ValidationError::Runtime { case, stack, known, given: ran.to_string() })
}
