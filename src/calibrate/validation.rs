//! Predictions held against measurements.

use super::case::{Case, Measured, Observation, Quantity, Split};
use super::meter::Meter;
use crate::cost::Setting;
use crate::estimate::{Estimate, LayerEstimate, estimate};
use crate::hardware::{HardwareError, Profile};
use crate::mapping::{Directions, Network, Objective, Plan, plan};
use crate::model::{Bindings, ModelError, ModelGraph, Transform, apply, load};
use crate::uncertainty::{Interval90, linearised_figures};

/// One measured figure and its prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Case, network, and layer where it is of one.
    pub id: String,
    /// The case.
    pub case: String,
    /// The profile that predicted.
    pub hardware: String,
    /// The network.
    pub model: String,
    /// The layer that the figure is of; the whole network otherwise.
    pub layer: Option<String>,
    /// Its place in the case (`observations[1].layers[0]`).
    pub place: String,
    /// Multiply-accumulates of the network, of all samples.
    pub macs: u64,
    /// The same as the source prints them.
    pub printed_macs: Option<u64>,
    /// Why the figure stays out of summaries.
    pub fault: Option<String>,
    /// What is compared, with its unit as suffix (`latency_s`).
    pub quantity: &'static str,
    /// The measurement, in SI.
    pub measured: f64,
    /// The prediction, in SI.
    pub predicted: f64,
    /// Its 90 % interval.
    pub interval: Interval90,
    /// `predicted / measured - 1`.
    pub relative_error: f64,
    /// What the prediction was allowed to know.
    pub split: Split,
    /// Share of the prediction of the whole network that rests on evidence.
    pub coverage: f64,
    /// Share of the network's operations that the prediction holds.
    pub costed_share: f64,
    /// False when the network does not fit into the memories.
    pub fits: bool,
    /// The error when the case was last looked at.
    pub recorded_error: Option<f64>,
    /// True when the error has grown beyond the recorded one and the case's tolerance.
    pub worse: bool,
}

impl Comparison {
    /// True when the measurement lies in the interval.
    pub fn covered(&self) -> bool {
        (self.interval.low..=self.interval.high).contains(&self.measured)
    }
}

/// Why a case could not be predicted.
#[derive(Debug, thiserror::Error)]
pub enum ValidationError {
    /// The profile.
    #[error("{source}\nnote: case `{case}` asks for this")]
    Hardware {
        /// The case.
        case: String,
        /// What is wrong.
        source: Box<HardwareError>,
    },
    /// The network.
    #[error("{source}\nnote: observations[{observation}].model of case `{case}` asks for this")]
    Model {
        /// The case.
        case: String,
        /// Which of its observations, from 0.
        observation: usize,
        /// What is wrong.
        source: Box<ModelError>,
    },
    /// A software stack that stands for another runtime.
    #[error(
        "software `{stack}` stands for {known}, and no {given}\nnote: case `{case}` asks for this"
    )]
    Runtime {
        /// The case.
        case: String,
        /// The stack.
        stack: String,
        /// What it stands for.
        known: String,
        /// What ran.
        given: String,
    },
    /// A layer that the prediction does not have.
    #[error(
        "`{model}` has no costed layer `{layer}`\nnote: {place}.layer of case `{case}` asks for this"
    )]
    Layer {
        /// The case.
        case: String,
        /// The network.
        model: String,
        /// The layer as given.
        layer: String,
        /// Where the case asks for it.
        place: String,
    },
}

/// What the observations of a case are predicted with.
struct Bench<'a> {
    case: &'a Case,
    setting: Setting<'a>,
    meter: Meter,
}

/// Predicts every figure of a case.
pub fn validate(case: &Case) -> Result<Vec<Comparison>, ValidationError> {
    let hardware = |source: HardwareError| ValidationError::Hardware {
        case: case.id.clone(),
        source: Box::new(source),
    };
    let profile = Profile::load(&case.hardware).map_err(hardware)?;
    let point = profile.point(Some(&case.operating_point)).map_err(hardware)?;
    let stacks = profile.stacks(case.software.as_deref()).map_err(hardware)?;
    runs_as_said(case, &profile)?;
    let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
    let meter = Meter::on(&case.rails, &profile).map_err(hardware)?;
    let bench = Bench { case, setting, meter };
    let mut comparisons = Vec::new();
    for (index, observation) in case.observations.iter().enumerate() {
        let network = network(observation, profile.fuses(&stacks)).map_err(|source| {
            let case = case.id.clone();
            ValidationError::Model { case, observation: index, source: Box::new(source) }
        })?;
        comparisons.extend(bench.compare(index, observation, &network)?);
    }
    Ok(comparisons)
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

/// The network of an observation as software executes it.
fn network(observation: &Observation, fuses: bool) -> Result<Network, ModelError> {
    let mut graph: ModelGraph = load(&observation.model, &Bindings::default())?;
    if let Some(samples) = observation.batch {
        graph = apply(&graph, &[Transform::Batch(samples)])?;
    }
    // Their tools hand an accelerator all that it supports.
    let objective = Objective::First;
    let directions = Directions { objective, ..Directions::default() };
    Network::executed(&graph, fuses).map(|network| Network { directions, ..network })
}

impl Bench<'_> {
    fn compare(
        &self,
        index: usize,
        observation: &Observation,
        network: &Network,
    ) -> Result<Vec<Comparison>, ValidationError> {
        let plan = plan(network, self.setting);
        let predicted = estimate(&plan, self.setting);
        let figures = observation.figures();
        for figure in &figures {
            self.known_layer(index, observation, figure, &predicted)?;
        }
        let read = |profile: &Profile| -> Vec<f64> {
            let Ok(point) = profile.repoint(self.setting.point) else {
                return vec![f64::NAN; figures.len()];
            };
            let setting = Setting { profile, point: &point, ..self.setting };
            let estimate = estimate(&crate::mapping::plan(network, setting), setting);
            figures.iter().map(|figure| self.value(figure, &estimate, setting)).collect()
        };
        let values = read(self.setting.profile);
        let deviations = linearised_figures(self.setting, read);
        let compared = figures.iter().zip(values).zip(deviations);
        let compared = compared.map(|((figure, value), sigma)| {
            let known = Known { index, observation, network, plan: &plan, predicted: &predicted };
            self.comparison(figure, &known, value, sigma.interval(value))
        });
        Ok(compared.collect())
    }

    fn known_layer(
        &self,
        index: usize,
        observation: &Observation,
        figure: &Measured<'_>,
        predicted: &Estimate,
    ) -> Result<(), ValidationError> {
        match figure.layer {
            Some((at, name)) if layer(predicted, name).is_none() => Err(ValidationError::Layer {
                case: self.case.id.clone(),
                model: observation.model.clone(),
                layer: name.to_owned(),
                place: format!("observations[{index}].layers[{at}]"),
            }),
            _ => Ok(()),
        }
    }

    /// A figure in an estimate, in SI. A layer that is lost where a number moved is none.
    fn value(&self, figure: &Measured<'_>, estimate: &Estimate, setting: Setting<'_>) -> f64 {
        let Some((_, name)) = figure.layer else {
            return match figure.quantity {
                Quantity::Latency => estimate.latency.0,
                Quantity::Energy => {
                    self.meter.reads(&estimate.by_component, estimate.energy, setting).0
                }
            };
        };
        let Some(layer) = layer(estimate, name) else { return f64::NAN };
        match figure.quantity {
            Quantity::Latency => layer.time.0,
            Quantity::Energy => self.meter.reads(&layer.by_component, layer.energy, setting).0,
        }
    }

    fn comparison(
        &self,
        figure: &Measured<'_>,
        known: &Known<'_>,
        predicted: f64,
        interval: Interval90,
    ) -> Comparison {
        let (case, observation) = (self.case, known.observation);
        let tolerance = case.tolerance.get().0;
        let relative_error = predicted / figure.value - 1.0;
        let coverage = match figure.quantity {
            Quantity::Latency => known.predicted.time_coverage.share(),
            Quantity::Energy => known.predicted.energy_coverage.share(),
        };
        let layer = figure.layer.map(|(_, name)| name.to_owned());
        let part = layer.as_ref().map_or(String::new(), |name| format!("/{name}"));
        let place = figure.layer.map_or(String::new(), |(at, _)| format!(".layers[{at}]"));
        Comparison {
            id: format!("{}/{}{part}", case.id, observation.model),
            case: case.id.clone(),
            hardware: case.hardware.clone(),
            model: observation.model.clone(),
            layer,
            place: format!("observations[{}]{place}", known.index),
            macs: known.network.macs(),
            printed_macs: observation.printed_macs,
            fault: observation.fault.clone(),
            quantity: figure.quantity.with_unit(),
            measured: figure.value,
            predicted,
            interval,
            relative_error,
            split: case.split,
            coverage,
            costed_share: known.plan.costed_share,
            fits: known.plan.fits,
            recorded_error: figure.recorded,
            worse: figure.recorded.is_some_and(|r| relative_error.abs() > r.abs() + tolerance),
        }
    }
}

/// What is known of an observation beside its figures.
struct Known<'a> {
    index: usize,
    observation: &'a Observation,
    network: &'a Network,
    plan: &'a Plan,
    predicted: &'a Estimate,
}

fn layer<'a>(estimate: &'a Estimate, name: &str) -> Option<&'a LayerEstimate> {
    estimate.layers.iter().find(|layer| layer.name == name)
}
