//! Predictions held against measurements.

use super::case::{Case, Observation, Split};
use crate::cost::Setting;
use crate::estimate::estimate;
use crate::hardware::{HardwareError, Profile};
use crate::mapping::{Network, plan};
use crate::model::{Bindings, ModelError, load};
use crate::uncertainty::{Figure, Interval90, linearised};

/// One measured figure and its prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Case and network.
    pub id: String,
    /// The case.
    pub case: String,
    /// The profile that predicted.
    pub hardware: String,
    /// The network.
    pub model: String,
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
    /// Share of the prediction that rests on evidence.
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
    let setting = Setting { profile: &profile, point: &point, stacks: &stacks };
    let mut comparisons = Vec::new();
    for (index, observation) in case.observations.iter().enumerate() {
        let network = load(&observation.model, &Bindings::default())
            .and_then(|graph| Network::of(&graph))
            .map_err(|source| {
                let case = case.id.clone();
                ValidationError::Model { case, observation: index, source: Box::new(source) }
            })?;
        comparisons.extend(compare(case, observation, &network, setting));
    }
    Ok(comparisons)
}

fn compare(
    case: &Case,
    observation: &Observation,
    network: &Network,
    setting: Setting<'_>,
) -> Vec<Comparison> {
    let plan = plan(network, setting);
    let predicted = estimate(&plan, setting);
    let uncertainty = linearised(network, setting);
    let tolerance = case.tolerance.get().0;
    let figures = [
        (
            "latency_s",
            Figure::Latency,
            observation.latency.as_ref().map(|v| v.get().0),
            &observation.recorded_latency_error,
            predicted.time_coverage.share(),
        ),
        (
            "energy_j",
            Figure::Energy,
            observation.energy.as_ref().map(|v| v.get().0),
            &observation.recorded_energy_error,
            predicted.energy_coverage.share(),
        ),
    ];
    let compared =
        figures.into_iter().filter_map(|(quantity, figure, measured, recorded, coverage)| {
            let measured = measured?;
            let value = figure.of(&predicted);
            let relative_error = value / measured - 1.0;
            let recorded_error = recorded.as_ref().map(|r| r.get().0);
            Some(Comparison {
                id: format!("{}/{}", case.id, observation.model),
                case: case.id.clone(),
                hardware: case.hardware.clone(),
                model: observation.model.clone(),
                quantity,
                measured,
                predicted: value,
                interval: uncertainty.interval(figure, value),
                relative_error,
                split: case.split,
                coverage,
                costed_share: plan.costed_share,
                fits: plan.fits,
                recorded_error,
                worse: recorded_error.is_some_and(|r| relative_error.abs() > r.abs() + tolerance),
            })
        });
    compared.collect()
}
