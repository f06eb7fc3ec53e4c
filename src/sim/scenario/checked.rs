//! What must hold in a scenario, checked together: every fault is told, with its field.

use super::ScenarioSpec;
use super::background::background;
use super::dvfs::dvfs;
use super::hardware::hardware;
use super::heat::heat;
use super::hosts::tasks;
use super::read::{Reader, known};
use super::resolved::{End, Parts};
use super::rests::rests;
use super::supply::power;
use super::workloads::{cascades, workloads};
use crate::diagnostic::nearest;
use crate::units::SimTime;
use std::collections::BTreeSet;

/// Version of the format.
const SCHEMA: &str = "joulecast.scenario/1";

/// Makes what the scenario names; nothing, or less than all, where faults are told.
pub(super) fn parts_of(reader: &mut Reader, spec: &ScenarioSpec) -> Option<Parts> {
    if spec.schema != SCHEMA {
        reader.fault("schema", format!("schema `{}` is not `{SCHEMA}`", spec.schema));
    }
    names(reader, spec);
    let end = end(reader, spec);
    let hardware = hardware(reader, spec);
    let profile = hardware.as_ref().map(|(profile, _)| profile);
    let workloads = workloads(reader, spec, hardware.as_ref());
    let cascades = cascades(reader, spec, hardware.as_ref());
    let tasks = tasks(reader, spec, profile);
    let rest = rests(reader, spec, profile);
    let background = background(reader, spec, profile);
    let power = power(reader, &spec.supply, profile);
    let heat = heat(reader, &spec.heat, profile);
    let stated = spec.dvfs.as_ref();
    let dvfs = stated.map(|own| dvfs(reader, own, hardware.as_ref()));
    let (profile, point) = hardware?;
    let (end, power, heat) = (end?, power?, heat?);
    let dvfs = match dvfs {
        Some(own) => Some(Box::new(own?)),
        None => None,
    };
    Some(Parts {
        profile,
        point,
        end,
        power,
        heat,
        workloads,
        cascades,
        tasks,
        rest,
        dvfs,
        background,
    })
}

/// Each name is printable and there once: traces and random streams know streams by name.
fn names(reader: &mut Reader, spec: &ScenarioSpec) {
    let mut seen = BTreeSet::new();
    let workloads = spec.workloads.iter().enumerate();
    let workloads = workloads.map(|(i, w)| (format!("workloads[{i}].name"), w.name.as_str()));
    let cascades = spec.cascades.iter().enumerate();
    let cascades = cascades.map(|(i, c)| (format!("cascades[{i}].name"), c.name.as_str()));
    let tasks = spec.tasks.iter().enumerate();
    let tasks = tasks.map(|(i, t)| (format!("tasks[{i}].name"), t.name.as_str()));
    for (path, name) in workloads.chain(cascades).chain(tasks) {
        once(reader, &mut seen, path, name);
    }
    for (i, cascade) in spec.cascades.iter().enumerate() {
        let mut seen = BTreeSet::new();
        for (j, stage) in cascade.stages.iter().enumerate() {
            once(reader, &mut seen, format!("cascades[{i}].stages[{j}].name"), &stage.name);
        }
    }
    once(reader, &mut BTreeSet::new(), "name".to_owned(), &spec.name);
    if spec.workloads.is_empty() && spec.cascades.is_empty() {
        reader.fault("workloads", "nothing is asked for: a scenario needs a workload or a cascade");
    }
}

fn once<'a>(reader: &mut Reader, seen: &mut BTreeSet<&'a str>, path: String, name: &'a str) {
    if name.is_empty() || name.chars().any(char::is_control) {
        reader.fault(path.clone(), "a name is printable text");
    }
    if !seen.insert(name) {
        reader.fault(path, format!("`{name}` is there twice"));
    }
}

fn end(reader: &mut Reader, spec: &ScenarioSpec) -> Option<End> {
    match (&spec.duration, spec.inferences) {
        (Some(_), Some(_)) => {
            reader.fault("inferences", "a run ends after a duration or after inferences, not both");
            None
        }
        (None, None) => {
            let message = "the scenario needs a `duration` or a number of `inferences`";
            reader.fault("schema", message);
            None
        }
        (None, Some(0)) => {
            reader.fault("inferences", "a run needs at least one inference");
            None
        }
        (None, Some(count)) => Some(End::Inferences(count)),
        (Some(duration), None) => {
            let time = SimTime::from_seconds(known(duration)?);
            let time = reader.tried("duration", time)?;
            if time == SimTime::ZERO {
                reader.fault("duration", "a run lasts for at least a picosecond");
            }
            Some(End::After(time))
        }
    }
}

/// The number of a name among those there are, or a fault with the nearest.
pub(super) fn named<'a>(
    reader: &mut Reader,
    path: impl Into<String>,
    what: &str,
    name: &str,
    mut known: impl Iterator<Item = &'a str> + Clone,
) -> Option<usize> {
    let names = known.clone();
    let found = known.position(|own| own == name);
    if found.is_none() {
        let near = nearest(name, names.clone()).map(|near| format!("did you mean `{near}`?"));
        let all = || format!("there are {}", names.collect::<Vec<_>>().join(", "));
        let missing = Err::<(), _>(format!(
            "the hardware has no {what} `{name}`\nhelp: {}",
            near.unwrap_or_else(all)
        ));
        reader.tried(path, missing);
    }
    found
}
