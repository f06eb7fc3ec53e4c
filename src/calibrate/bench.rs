//! What the observations of a case are predicted with.

use super::case::{Case, Observation, Quantity};
use super::meter::Meter;
use super::validation::ValidationError;
use crate::cost::Setting;
use crate::estimate::{Estimate, LayerEstimate, estimate, totals};
use crate::hardware::{HardwareError, Point, Profile};
use crate::mapping::{Directions, Network, Objective, plan};
use crate::model::{Bindings, ModelError, ModelGraph, Transform, apply, load};

/// A profile at the operating point and with the software of a case, and a meter on its rails.
#[derive(Debug)]
pub(super) struct Bench {
    pub profile: Profile,
    pub point: Point,
    pub stacks: Vec<Option<usize>>,
    meter: Meter,
}

/// What a figure is of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figure {
    /// The layer; the whole network otherwise.
    pub layer: Option<String>,
    pub quantity: Quantity,
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
        let meter = Meter::on(&case.rails, &profile).map_err(hardware)?;
        Ok(Self { profile, point, stacks, meter })
    }

    pub fn setting(&self) -> Setting<'_> {
        Setting { profile: &self.profile, point: &self.point, stacks: &self.stacks }
    }

    /// The network of an observation as its software executes it.
    pub fn network(&self, observation: &Observation) -> Result<Network, ModelError> {
        let mut graph: ModelGraph = load(&observation.model, &Bindings::default())?;
        if let Some(samples) = observation.batch {
            graph = apply(&graph, &[Transform::Batch(samples)])?;
        }
        // Their tools hand an accelerator all that it supports.
        let objective = Objective::First;
        let directions = Directions { objective, ..Directions::default() };
        let fuses = self.profile.fuses(&self.stacks);
        Network::executed(&graph, fuses).map(|network| Network { directions, ..network })
    }

    /// Figures of a network on a profile of the same structure, in SI; not a number where the profile
    /// cannot run it.
    pub fn values(&self, network: &Network, figures: &[Figure], profile: &Profile) -> Vec<f64> {
        let Ok(point) = profile.repoint(&self.point) else { return vec![f64::NAN; figures.len()] };
        let setting = Setting { profile, point: &point, stacks: &self.stacks };
        let plan = plan(network, setting);
        if figures.iter().all(|figure| figure.layer.is_none()) && self.meter.is_on_all() {
            let (time, energy) = totals(&plan, setting);
            let value = |figure: &Figure| match figure.quantity {
                Quantity::Latency => time.0,
                Quantity::Energy => energy.0,
            };
            return figures.iter().map(value).collect();
        }
        let estimate = estimate(&plan, setting);
        figures.iter().map(|figure| self.value(figure, &estimate, setting)).collect()
    }

    fn value(&self, figure: &Figure, estimate: &Estimate, setting: Setting<'_>) -> f64 {
        let Some(name) = &figure.layer else {
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
}

/// A layer by its name.
pub(super) fn layer<'a>(estimate: &'a Estimate, name: &str) -> Option<&'a LayerEstimate> {
    estimate.layers.iter().find(|layer| layer.name == name)
}
