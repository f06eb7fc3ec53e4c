//! Programs of a stream at each of the operating points that a run goes between.
//!
//! Layers stay on the engines that they are on at the start. Where a point tiles a layer otherwise, the
//! layer that runs when the point changes goes on as it was, and the next one as at the new point.

use super::{Origin, Ready, program};
use crate::mapping::{Network, Plan};
use crate::sim::SimError;
use crate::sim::program::Program;
use crate::sim::scenario::{Dvfs, Fidelity, Host, Placed, Scenario, Work};

/// Programs by speed; those that are there where the point stays.
pub(super) fn at_speeds(
    scenario: &Scenario,
    own: &Ready,
    fidelity: Fidelity,
) -> Result<Vec<Vec<Program>>, SimError> {
    let Some(dvfs) = &scenario.dvfs else { return Ok(vec![own.programs.clone()]) };
    let mut speeds = Vec::with_capacity(dvfs.points.len());
    for speed in 0..dvfs.points.len() {
        speeds.push(if speed == dvfs.start {
            own.programs.clone()
        } else {
            let programs = at_speed(scenario, own, (dvfs, speed), fidelity)?;
            if !alike(&own.programs, &programs) {
                let point = dvfs.points.get(speed).map_or("", |point| point.name.as_str());
                return Err(SimError::Workload(format!(
                    "`{}` is made of other steps at `{point}` than at the start: a run does not change them",
                    own.name
                )));
            }
            programs
        });
    }
    Ok(speeds)
}

/// Whether the same layers come in the same order.
fn alike(own: &[Program], other: &[Program]) -> bool {
    let steps = |program: &Program| {
        program.tasks.iter().map(|task| (task.layer, task.holds)).collect::<Vec<_>>()
    };
    own.len() == other.len() && own.iter().zip(other).all(|(a, b)| steps(a) == steps(b))
}

fn at_speed(
    scenario: &Scenario,
    own: &Ready,
    (dvfs, speed): (&Dvfs, usize),
    fidelity: Fidelity,
) -> Result<Vec<Program>, SimError> {
    let of = |placed: &Placed, networks: &[&Network], host: Option<Host>| {
        let setting = dvfs.setting(speed, scenario.setting(placed));
        let mut programs = Vec::with_capacity(networks.len());
        for (place, network) in networks.iter().enumerate() {
            let network = pinned(network, own.plan.as_ref());
            let samples = place as u64 + 1;
            programs.push(program(&network, samples, (fidelity, host), setting)?.0);
        }
        Ok::<_, SimError>(programs)
    };
    match own.of {
        Origin::Workload(index) => {
            let Some(workload) = scenario.workloads.get(index) else { return Ok(Vec::new()) };
            let networks = std::iter::once(&workload.placed.network).chain(&workload.together);
            of(&workload.placed, &networks.collect::<Vec<_>>(), workload.host)
        }
        Origin::Stage(onward) => {
            let cascade = scenario.cascades.get(onward.cascade);
            match cascade.and_then(|own| own.stages.get(onward.stage)).map(|stage| &stage.work) {
                Some(Work::Network(placed)) => of(placed, &[&placed.network], None),
                // A look takes the time that it takes.
                _ => Ok(own.programs.clone()),
            }
        }
        Origin::Task(index) => {
            let Some(task) = scenario.tasks.get(index) else { return Ok(Vec::new()) };
            let setting = dvfs.setting(speed, super::bare(scenario));
            Ok(vec![Program::of_cycles(&own.name, task.engine, task.cycles, setting)?])
        }
    }
}

/// A network whose layers are tied to the engines that a plan has them on.
fn pinned(network: &Network, plan: Option<&Plan>) -> Network {
    let mut network = network.clone();
    let steps = plan.into_iter().flat_map(|plan| &plan.steps);
    network.directions.pins = steps.map(|step| (step.layer, step.engine)).collect();
    network
}
