//! Work of processors out of a scenario.

use super::checked::named;
use super::processes::process;
use super::read::{Reader, known, known_or};
use super::resolved::{Host, Task};
use super::workloads::{admission, deadline};
use super::{HostSpec, ScenarioSpec};
use crate::evidence::{Kind, Valued};
use crate::hardware::Profile;
use crate::units::Cycles;

/// The work of the processor of a workload at `path`; nothing within where it has none.
pub(super) fn host(
    reader: &mut Reader,
    path: &str,
    spec: Option<&HostSpec>,
    profile: Option<&Profile>,
) -> Option<Option<Host>> {
    let Some(spec) = spec else { return Some(None) };
    let mut cycles = |field: &str, own: &Option<Valued<Cycles>>| {
        let cycles = known_or(own.as_ref(), Cycles::ZERO)?;
        sound(reader, format!("{path}.host.{field}"), cycles)
    };
    let before = cycles("before", &spec.before);
    let each_layer = cycles("each_layer", &spec.each_layer);
    let after = cycles("after", &spec.after);
    let engine = engine(reader, format!("{path}.host.engine"), &spec.engine, profile?)?;
    let stated = [&spec.before, &spec.each_layer, &spec.after].into_iter().flatten();
    let kind = stated.map(Valued::kind).fold(Kind::STRONGEST, Kind::weaker);
    Some(Some(Host { engine, before: before?, each_layer: each_layer?, after: after?, kind }))
}

/// Tasks that are no networks.
pub(super) fn tasks(
    reader: &mut Reader,
    spec: &ScenarioSpec,
    profile: Option<&Profile>,
) -> Vec<Task> {
    let mut made = Vec::new();
    for (i, own) in spec.tasks.iter().enumerate() {
        let path = format!("tasks[{i}]");
        let process = process(reader, &format!("{path}.arrivals"), &own.arrivals);
        let deadline = deadline(reader, format!("{path}.deadline"), own.deadline.as_ref());
        let admission = admission(reader, &path, own.queue.as_ref(), own.deadline.as_ref());
        let cycles = known(&own.cycles);
        let cycles = cycles.and_then(|own| sound(reader, format!("{path}.cycles"), own));
        let engine = profile.and_then(|p| engine(reader, format!("{path}.engine"), &own.engine, p));
        let (Some(engine), Some(cycles)) = (engine, cycles) else { continue };
        let (Some(process), Some(deadline)) = (process, deadline) else { continue };
        let (name, priority, kind) = (own.name.clone(), own.priority, own.cycles.kind());
        made.push(Task { name, engine, cycles, kind, process, deadline, priority, admission });
    }
    made
}

fn sound(reader: &mut Reader, path: String, cycles: Cycles) -> Option<Cycles> {
    let sound = cycles.0 >= 0.0 && cycles.0.is_finite();
    if !sound {
        reader.fault(path, "a number of cycles is not below zero");
    }
    sound.then_some(cycles)
}

fn engine(reader: &mut Reader, path: String, name: &str, profile: &Profile) -> Option<usize> {
    let names = profile.spec().engines.iter().map(|engine| engine.name.as_str());
    named(reader, path, "engine", name, names)
}
