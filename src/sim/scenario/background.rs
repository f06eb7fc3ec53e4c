//! States that blocks go through, out of a scenario.

use super::checked::named;
use super::read::{Reader, known};
use super::{BackgroundSpec, ScenarioSpec};
use crate::hardware::Profile;
use crate::sim::load::StateSchedule;

/// The schedule of each block of the profile.
pub(super) fn background(
    reader: &mut Reader,
    spec: &ScenarioSpec,
    profile: Option<&Profile>,
) -> Vec<Option<StateSchedule>> {
    let loads = profile.map_or(&[][..], |profile| &profile.spec().loads);
    let mut schedules = vec![None; loads.len()];
    for (name, states) in &spec.background {
        let path = format!("background.{name}");
        let load = match profile {
            Some(_) => {
                let names = loads.iter().map(|l| l.name.as_str());
                named(reader, path.as_str(), "block that runs no network", name, names)
            }
            None => None,
        };
        if spec.states.contains_key(name) {
            let message = format!("`{name}` goes through states and stays in one of `states`");
            reader.fault(path.as_str(), message);
        }
        let known: Option<Vec<&str>> =
            load.map(|load| loads[load].states.iter().map(|s| s.name.as_str()).collect());
        let schedule = schedule(reader, &path, states, known.as_deref());
        if let Some(place) = load.and_then(|load| schedules.get_mut(load)) {
            *place = schedule;
        }
    }
    schedules
}

/// The schedule of the field at `path`; of a block that is not known all states are taken for one.
fn schedule(
    reader: &mut Reader,
    path: &str,
    spec: &BackgroundSpec,
    states: Option<&[&str]>,
) -> Option<StateSchedule> {
    let number = |reader: &mut Reader, at: String, name: &str| match states {
        None => Some(0),
        Some(states) => named(reader, at, "state", name, states.iter().copied()),
    };
    match spec {
        BackgroundSpec::Steps(spec) => {
            let mut steps = Vec::new();
            for (i, step) in spec.steps.iter().enumerate() {
                let at = format!("{path}.Steps.steps[{i}].state");
                steps.extend(number(reader, at, &step.state).zip(known(&step.lasts)));
            }
            let all = steps.len() == spec.steps.len();
            let made = all.then(|| StateSchedule::steps(&steps, spec.repeats))?;
            reader.tried(format!("{path}.Steps.steps"), made)
        }
        BackgroundSpec::Residencies(spec) => {
            let mut shares = Vec::new();
            for (i, part) in spec.shares.iter().enumerate() {
                let at = format!("{path}.Residencies.shares[{i}].state");
                shares.extend(number(reader, at, &part.state).zip(known(&part.share)));
            }
            let every = known(&spec.every)?;
            let all = shares.len() == spec.shares.len();
            let made = all.then(|| StateSchedule::residencies(&shares, every))?;
            reader.tried(format!("{path}.Residencies.shares"), made)
        }
    }
}
