//! What a change would save, found by making the change and estimating again.
//!
//! Nothing here is a rule of thumb: rules only pick what is tried. Every change is applied to a copy of
//! the network, of the profile or of what is asked of the mapping, mapped anew, and its time and energy
//! for one sample are held against those of the network as it is.

mod candidates;
mod change;

pub use change::Change;

use super::{Estimate, estimate};
use crate::cost::Setting;
use crate::hardware::{Point, Profile};
use crate::mapping::{Directions, Network, plan};
use crate::model::{ModelGraph, apply};
use crate::units::{Joules, Seconds};
use candidates::candidates;
use std::collections::BTreeMap;

/// A change with what it saves.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// The change.
    pub change: Change,
    /// Time of a sample with it.
    pub time: Seconds,
    /// Energy of a sample with it, at the sources.
    pub energy: Joules,
    /// Time that it saves; negative where it takes more.
    pub saved_time: Seconds,
    /// Energy that it saves; negative where it takes more.
    pub saved_energy: Joules,
}

/// A network on a profile, as it is.
#[derive(Debug)]
pub struct Subject<'a> {
    /// Its graph.
    pub graph: &'a ModelGraph,
    /// The network that the software makes of it.
    pub network: &'a Network,
    /// Profile, operating point and software.
    pub setting: Setting<'a>,
    /// Its estimate.
    pub estimate: &'a Estimate,
}

/// Smallest part of time or energy that is worth a line.
const WORTH: f64 = 1e-3;

/// Changes that save time or energy, those that save most energy first.
pub fn advise(subject: &Subject<'_>) -> Vec<Advice> {
    let before = subject.estimate;
    let mut found = Vec::new();
    for change in candidates(subject) {
        let Some((time, energy)) = change.figures(subject) else { continue };
        let (saved_time, saved_energy) = (before.latency - time, before.energy - energy);
        let share = |saved: f64, whole: f64| if whole > 0.0 { saved / whole } else { 0.0 };
        let worth = share(saved_time.0, before.latency.0) > WORTH
            || share(saved_energy.0, before.energy.0) > WORTH;
        // Where whole results fit, keeping rows is the same.
        let told = |own: &Advice| {
            let both = matches!((&own.change, &change), (Change::Keeps(_), Change::Keeps(_)));
            both && (own.time, own.energy) == (time, energy)
        };
        if worth && !found.iter().any(told) {
            found.push(Advice { change, time, energy, saved_time, saved_energy });
        }
    }
    found.sort_by(|a, b| b.saved_energy.0.total_cmp(&a.saved_energy.0));
    found
}

impl Change {
    /// Time and energy of a sample with the change; nothing where it cannot be made, or where less of the
    /// network can be costed with it.
    fn figures(&self, subject: &Subject<'_>) -> Option<(Seconds, Joules)> {
        let setting = subject.setting;
        let (network, directions) = (subject.network, &subject.network.directions);
        match self {
            Self::Model(transform) => {
                let graph = apply(subject.graph, std::slice::from_ref(transform)).ok()?;
                let fuses = setting.profile.fuses(setting.stacks);
                let mut changed = Network::executed(&graph, fuses).ok()?;
                changed.directions = followed(directions, network, &changed);
                let samples = transform.samples().unwrap_or(1).max(1) as f64;
                let (time, energy) = of(&changed, subject, setting)?;
                Some((time / samples, energy / samples))
            }
            Self::Place { layer, engine } => {
                let mut changed = network.clone();
                changed.directions.pins.insert(*layer, *engine);
                changed.directions.check(&changed, setting).ok()?;
                of(&changed, subject, setting)
            }
            Self::Keeps(keeps) => {
                let mut changed = network.clone();
                changed.directions.keeps = Some(*keeps);
                of(&changed, subject, setting)
            }
            Self::OperatingPoint { name } => {
                let point = moved_to(name, setting)?;
                of(network, subject, Setting { point: &point, ..setting })
            }
            Self::Capacity { memory, factor } => {
                let usable = setting.profile.spec().memories[*memory].usable.is_some();
                let field = if usable { "usable" } else { "capacity" };
                let path = format!("memories[{memory}].{field}");
                let records = setting.profile.parameters();
                let index = records.iter().position(|record| record.path == path)?;
                let larger = |i: usize, value: f64| if i == index { value * factor } else { value };
                on(&setting.profile.perturbed(larger), subject)
            }
            Self::Transfers { engine } => on(&setting.profile.double_buffered(*engine), subject),
        }
    }
}

/// Another operating point, with the states of blocks and domains that were asked for.
fn moved_to(name: &str, setting: Setting<'_>) -> Option<Point> {
    let own = setting.profile.point(Some(&setting.point.name)).ok()?;
    let mut point = setting.profile.point(Some(name)).ok()?;
    let loads = setting.point.load_states.iter().zip(&own.load_states);
    for (state, (asked, usual)) in point.load_states.iter_mut().zip(loads) {
        if asked != usual {
            *state = *asked;
        }
    }
    let domains = setting.point.asleep.iter().zip(&own.asleep);
    for (state, (asked, usual)) in point.asleep.iter_mut().zip(domains) {
        if asked != usual {
            *state = *asked;
        }
    }
    Some(point)
}

fn on(profile: &Profile, subject: &Subject<'_>) -> Option<(Seconds, Joules)> {
    let point = profile.repoint(subject.setting.point).ok()?;
    let setting = Setting { profile, point: &point, stacks: subject.setting.stacks };
    of(subject.network, subject, setting)
}

fn of(network: &Network, subject: &Subject<'_>, setting: Setting<'_>) -> Option<(Seconds, Joules)> {
    let plan = plan(network, setting);
    let found = estimate(&plan, setting);
    let before = subject.network.operations();
    let left_out = |n: usize| plan.uncosted.len() > n;
    let was = subject.network.layers.len() - subject.estimate.layers.len();
    let known = found.latency.0.is_finite() && found.energy.0.is_finite() && before > 0;
    (known && !left_out(was)).then_some((found.latency, found.energy))
}

/// Directions for a network that was changed: layers keep their engines by name.
fn followed(directions: &Directions, from: &Network, to: &Network) -> Directions {
    let places: BTreeMap<&str, usize> =
        to.layers.iter().enumerate().map(|(i, l)| (l.name.as_str(), i)).collect();
    let pins = directions.pins.iter().filter_map(|(layer, engine)| {
        let name = from.layers.get(*layer)?.name.as_str();
        Some((*places.get(name)?, *engine))
    });
    Directions { pins: pins.collect(), ..directions.clone() }
}
