//! Predictions held against measurements.

use super::bench::{Bench, Figure};
use super::case::{Case, Measured, Observation, Quantity, Split};
use crate::estimate::{Estimate, estimate};
use crate::evidence::Kind;
use crate::hardware::{HardwareError, Profile};
use crate::mapping::{Network, Plan, plan};
use crate::model::ModelError;
use crate::uncertainty::{Interval90, linearised_figures, threads};

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
    /// What is compared.
    pub of: Quantity,
    /// The same with its unit as suffix (`latency_s`).
    pub quantity: &'static str,
    /// What kind of source the measurement has.
    pub kind: Kind,
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
    /// True where the measurement is from a capture that the case names.
    pub captured: bool,
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
    /// A state of rest that no domain of the profile has.
    #[error(
        "no domain has a state `{state}`{}\nhelp: there are {known}\nnote: {place} of case `{case}` asks for this",
        nearest.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
    )]
    State {
        /// The case.
        case: String,
        /// The state as given.
        state: String,
        /// Where the case asks for it.
        place: String,
        /// The nearest state that there is.
        nearest: Option<String>,
        /// All that there are.
        known: String,
    },
    /// A layer that the prediction does not have.
    #[error(
        "`{model}` has no costed layer `{layer}`\nnote: {place} of case `{case}` asks for this"
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

/// Predicts every figure of a case.
pub fn validate(case: &Case) -> Result<Vec<Comparison>, ValidationError> {
    let bench = Bench::of(case)?;
    let held = Held { case, bench: &bench };
    let mut comparisons = Vec::new();
    for (index, observation) in case.observations.iter().enumerate() {
        let network = bench.network(case, index, observation)?;
        comparisons.extend(held.compare(index, observation, &network)?);
    }
    Ok(comparisons)
}

/// Predicts every figure of several cases, in their order.
///
/// # Errors
/// One of them names what does not exist.
pub fn validate_all(cases: &[Case]) -> Result<Vec<Comparison>, ValidationError> {
    let mut comparisons = Vec::new();
    for own in threads::mapped(cases, validate) {
        comparisons.extend(own?);
    }
    Ok(comparisons)
}

/// A case held against the predictions of its bench.
struct Held<'a> {
    case: &'a Case,
    bench: &'a Bench,
}

impl Held<'_> {
    fn compare(
        &self,
        index: usize,
        observation: &Observation,
        network: &Network,
    ) -> Result<Vec<Comparison>, ValidationError> {
        let setting = self.bench.setting();
        let plan = plan(network, setting);
        let predicted = estimate(&plan, setting);
        let measured = observation.figures();
        for figure in &measured {
            self.bench.known_layer(self.case, index, observation, figure, &predicted)?;
        }
        self.bench.knows_rest(self.case, index, observation)?;
        let figures: Vec<Figure> =
            measured.iter().map(|own| Figure::of(observation, own)).collect();
        let read = |profile: &Profile| self.bench.values(network, &figures, profile);
        let values = read(&self.bench.profile);
        let deviations = linearised_figures(setting, read);
        let compared = measured.iter().zip(values).zip(deviations);
        let compared = compared.map(|((figure, value), sigma)| {
            let known = Known { index, observation, network, plan: &plan, predicted: &predicted };
            self.comparison(figure, &known, value, sigma.interval(value))
        });
        Ok(compared.collect())
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
            Quantity::Energy | Quantity::IdlePower | Quantity::MeanPower => {
                known.predicted.energy_coverage.share()
            }
        };
        let layer = figure.layer_name();
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
            of: figure.quantity,
            quantity: figure.quantity.with_unit(),
            kind: figure.kind,
            measured: figure.value,
            predicted,
            interval,
            relative_error,
            split: case.split,
            coverage,
            costed_share: known.plan.costed_share,
            fits: known.plan.fits,
            captured: figure.captured,
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
