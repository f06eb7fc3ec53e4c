//! Measurements with what predicts them.

use super::configuration::Configuration;
use super::keys::Keys;
use super::unknowns::Unknowns;
use crate::calibrate::bench::Figure;
use crate::calibrate::calibration::{Calibration, Off};
use crate::calibrate::case::{Case, Measured, Quantity};
use crate::calibrate::validation::ValidationError;
use crate::mapping::Network;

/// A network on a configuration.
#[derive(Debug)]
pub(super) struct Run {
    /// The configuration, by index.
    pub configuration: usize,
    pub network: Network,
    /// Its figures, in the order of their sights.
    pub figures: Vec<Figure>,
    /// The first of its sights, by index.
    pub first: usize,
}

/// One measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Sight {
    /// Case, network, and layer where it is of one.
    pub id: String,
    /// What its configuration is.
    pub keys: Keys,
    /// The network.
    pub network: String,
    /// The layer that it is of; the whole network otherwise.
    pub layer: Option<String>,
    /// What is measured.
    pub quantity: Quantity,
    /// The measurement, in SI.
    pub measured: f64,
    /// Deviation of its logarithm: its own spread and the scatter of all of its kind.
    pub sigma: f64,
    /// Why it is not to be relied on.
    pub fault: Option<String>,
    /// Unknowns for what the model is off by there.
    pub(super) off: Vec<usize>,
}

/// The runs of a case and their measurements.
pub(super) fn runs_of(
    case: &Case,
    calibration: &Calibration,
    (at, configuration): (usize, &Configuration),
    unknowns: &mut Unknowns,
    runs: &mut Vec<Run>,
    sights: &mut Vec<Sight>,
) -> Result<(), ValidationError> {
    for (index, observation) in case.observations.iter().enumerate() {
        let network = configuration.bench.network(observation).map_err(|source| {
            let case = case.id.clone();
            ValidationError::Model { case, observation: index, source: Box::new(source) }
        })?;
        let (mut figures, first) = (Vec::new(), sights.len());
        for measured in observation.figures() {
            let layer = measured.layer.map(|(_, name)| name.to_owned());
            figures.push(Figure { layer: layer.clone(), quantity: measured.quantity });
            let part = layer.as_ref().map_or(String::new(), |name| format!("/{name}"));
            let keys = configuration.keys.clone();
            let model = observation.model.as_str();
            sights.push(Sight {
                id: format!("{}/{model}{part}", case.id),
                off: off(&measured, calibration, &keys, model, unknowns),
                sigma: sigma(&measured, calibration),
                keys,
                network: observation.model.clone(),
                layer,
                quantity: measured.quantity,
                measured: measured.value,
                fault: observation.fault.clone(),
            });
        }
        runs.push(Run { configuration: at, network, figures, first });
    }
    Ok(())
}

fn sigma(measured: &Measured<'_>, calibration: &Calibration) -> f64 {
    let noise = match measured.quantity {
        Quantity::Latency => calibration.noise.latency,
        Quantity::Energy => calibration.noise.energy,
    };
    noise.0.hypot(measured.sigma)
}

/// What the model is off by for a measurement: time counts for energy too.
fn off(
    measured: &Measured<'_>,
    calibration: &Calibration,
    keys: &Keys,
    model: &str,
    unknowns: &mut Unknowns,
) -> Vec<usize> {
    let concerns = |of: Off| of == Off::Time || measured.quantity == Quantity::Energy;
    let mut own = Vec::new();
    for (rule, discrepancy) in calibration.discrepancy.iter().enumerate() {
        if let Some(over) = keys.along_all(&discrepancy.over, Some(model))
            && concerns(discrepancy.of)
        {
            let layer = measured.layer.map_or(String::new(), |(_, name)| format!(", {name}"));
            let name = format!("{over}{layer} (discrepancy[{rule}])");
            own.push(unknowns.factor(name, discrepancy.spread.0));
        }
    }
    own
}
