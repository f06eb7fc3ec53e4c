//! Measurements with what predicts them.

use super::configuration::Configuration;
use super::factors::{Factors, Weighted};
use super::keys::Keys;
use super::unknowns::Unknowns;
use crate::calibrate::bench::{Figure, ShareAtWork};
use crate::calibrate::calibration::{Calibration, Off};
use crate::calibrate::captured::Accuracy;
use crate::calibrate::case::{Case, IdleObservation, Measured, Observation, Quantity, sigma};
use crate::calibrate::validation::ValidationError;
use crate::evidence::Kind;
use crate::mapping::Network;

/// What a configuration does while it is measured.
#[derive(Debug)]
pub(super) enum Doing {
    /// It runs a network, of which these figures are measured, in the order of their sights.
    Network(Box<Network>, Vec<Figure>),
    /// It stays in a state of rest.
    Rest(String),
}

/// Measurements that one evaluation predicts.
#[derive(Debug)]
pub(super) struct Run {
    /// The configuration, by index.
    pub configuration: usize,
    pub doing: Doing,
    /// How many figures it has.
    pub figures: usize,
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
    /// The network; nothing where it is of a state of rest.
    pub network: Option<String>,
    /// The layer that it is of; the whole network otherwise.
    pub layer: Option<String>,
    /// What is measured.
    pub quantity: Quantity,
    /// The measurement, in SI.
    pub measured: f64,
    /// Deviation of its logarithm: its own spread and the scatter of all of its kind.
    pub sigma: f64,
    /// What kind of source it has.
    pub kind: Kind,
    /// Why it is not to be relied on.
    pub fault: Option<String>,
    /// Why it says nothing that others do not, though it may be relied on.
    pub again: Option<&'static str>,
    /// The networks in whose capture a power at rest was measured; none where it was measured apart.
    pub of_capture: Vec<String>,
    /// Unknowns for what the model is off by there.
    pub(super) off: Weighted,
}

impl Sight {
    /// True for what fits are given.
    pub fn tells(&self) -> bool {
        self.fault.is_none() && self.again.is_none()
    }
}

/// What a measurement has of the discrepancies of time and of power.
#[derive(Debug, Clone, Copy)]
struct Weights {
    time: f64,
    power: f64,
}

impl Weights {
    /// Time counts for energy too, and neither for rest; a mean power has its share at work of both.
    fn of(quantity: Quantity, share: Option<ShareAtWork>) -> Self {
        match (quantity, share) {
            (Quantity::Latency, _) => Self { time: 1.0, power: 0.0 },
            (Quantity::Energy, _) => Self { time: 1.0, power: 1.0 },
            (Quantity::MeanPower, Some(ShareAtWork { time, power })) => Self { time, power },
            (Quantity::IdlePower | Quantity::MeanPower, _) => Self { time: 0.0, power: 0.0 },
        }
    }

    fn on(self, of: Off) -> f64 {
        match of {
            Off::Time => self.time,
            Off::Power => self.power,
        }
    }
}

/// What runs and measurements of several cases are gathered into.
pub(super) struct Gathering<'a> {
    pub calibration: &'a Calibration,
    pub unknowns: Unknowns,
    pub runs: Vec<Run>,
    pub sights: Vec<Sight>,
}

impl Gathering<'_> {
    /// Adds the runs of a case and their measurements.
    pub fn add(
        &mut self,
        case: &Case,
        (at, configuration): (usize, &Configuration),
    ) -> Result<(), ValidationError> {
        for (index, observation) in case.observations.iter().enumerate() {
            let network = configuration.bench.network(case, index, observation)?;
            let measured = observation.figures();
            configuration.bench.knows_layers(case, index, observation, &measured, &network)?;
            configuration.bench.knows_rest(case, index, observation)?;
            let first = self.sights.len();
            let figures: Vec<Figure> =
                measured.iter().map(|own| Figure::of(observation, own)).collect();
            for (measured, figure) in measured.iter().zip(&figures) {
                let share = match figure {
                    Figure::MeanPower { period, rest } => {
                        Some(configuration.bench.share_at_work(&network, *period, rest))
                    }
                    Figure::Network(_) | Figure::Layers(..) => None,
                };
                self.add_figure(case, observation, (measured, share), &configuration.keys);
            }
            let (count, network) = (figures.len(), Box::new(network));
            let doing = Doing::Network(network, figures);
            self.runs.push(Run { configuration: at, doing, figures: count, first });
        }
        for (index, idle) in case.idle.iter().enumerate() {
            if configuration.bench.idle_power(&idle.state, &configuration.bench.profile).is_nan() {
                let place = format!("idle[{index}].state");
                return Err(configuration.bench.no_state(case, &place, &idle.state));
            }
            let doing = Doing::Rest(idle.state.clone());
            let first = self.sights.len();
            self.runs.push(Run { configuration: at, doing, figures: 1, first });
            self.add_rest(case, idle, &configuration.keys);
        }
        Ok(())
    }

    fn add_figure(
        &mut self,
        case: &Case,
        observation: &Observation,
        (measured, share): (&Measured<'_>, Option<ShareAtWork>),
        keys: &Keys,
    ) {
        let layer = measured.layer_name();
        let part = layer.as_ref().map_or(String::new(), |name| format!("/{name}"));
        let model = observation.model.as_str();
        let weights = Weights::of(measured.quantity, share);
        let mut off = self.off(weights, Some(model), layer.as_deref(), keys);
        off.extend(measured.accuracy.iter().flat_map(|own| self.meter(measured.quantity, own)));
        self.sights.push(Sight {
            id: format!("{}/{model}{part}", case.id),
            off,
            sigma: self.scatter(measured.quantity).hypot(measured.sigma),
            keys: keys.clone(),
            network: Some(observation.model.clone()),
            layer,
            quantity: measured.quantity,
            measured: measured.value,
            kind: measured.kind,
            fault: observation.fault.clone(),
            again: measured.again,
            of_capture: Vec::new(),
        });
    }

    fn add_rest(&mut self, case: &Case, idle: &IdleObservation, keys: &Keys) {
        let quantity = Quantity::IdlePower;
        let parameter = idle.power.parameter();
        let from = idle.from.as_ref();
        let file = from.map_or(String::new(), |from| format!(" ({})", from.file));
        let mut off = self.off(Weights::of(quantity, None), None, None, keys);
        off.extend(idle.accuracy.iter().flat_map(|own| self.meter(quantity, own)));
        self.sights.push(Sight {
            id: format!("{}/{}{file}", case.id, idle.state),
            off,
            sigma: self.scatter(quantity).hypot(sigma(parameter)),
            keys: keys.clone(),
            network: None,
            layer: None,
            quantity,
            measured: parameter.value,
            kind: parameter.kind,
            fault: None,
            again: None,
            of_capture: from.map_or(Vec::new(), |from| from.networks.clone()),
        });
    }

    fn scatter(&self, quantity: Quantity) -> f64 {
        match quantity {
            Quantity::Latency => self.calibration.noise.latency.0,
            Quantity::Energy | Quantity::IdlePower | Quantity::MeanPower => {
                self.calibration.noise.energy.0
            }
        }
    }

    /// What the model is off by for a measurement.
    fn off(
        &mut self,
        weights: Weights,
        network: Option<&str>,
        layer: Option<&str>,
        keys: &Keys,
    ) -> Weighted {
        let (calibration, unknowns) = (self.calibration, &mut self.unknowns);
        let weight = |of| weights.on(of);
        Factors { calibration, keys, unknowns }.off(weight, network, layer)
    }

    /// What the meter is off by: one unknown for all that it measured. Energy is a power for a time.
    fn meter(&mut self, quantity: Quantity, accuracy: &Accuracy) -> Weighted {
        let (power, time) = match quantity {
            Quantity::Latency => (false, true),
            Quantity::Energy => (true, true),
            Quantity::IdlePower | Quantity::MeanPower => (true, false),
        };
        let meter = format!("of meter {}", accuracy.meter);
        let parts = [
            (format!("gain {meter}"), power, accuracy.power),
            (format!("clock {meter}"), time, accuracy.time),
            (format!("voltage of {}", accuracy.file), power, accuracy.voltage),
        ];
        let parts = parts.into_iter().filter(|(_, concerns, sigma)| *concerns && *sigma > 0.0);
        let factor = |(what, _, sigma): (String, bool, f64)| {
            (self.unknowns.meter(format!("{what} (±{sigma:.3e})"), sigma), 1.0)
        };
        parts.map(factor).collect()
    }
}
