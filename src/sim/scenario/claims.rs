//! What a scenario claims: its own numbers, and the scenario with some of them moved.
//!
//! A share of looks stays a share, at most the whole; shares of a round of states still make the whole, so
//! that what one takes the others give.

use super::background::background;
use super::hosts::{host, tasks};
use super::processes::process;
use super::read::{Reader, known};
use super::resolved::{Scenario, Work};
use super::rests::rests;
use super::supply::power;
use super::workloads::rates;
use super::{BackgroundSpec, CascadeSpec, EventsSpec, RunsSpec, ScenarioSpec};
use crate::evidence::{FieldPath, Parameters, Valued};
use crate::hardware::ParameterRecord;
use crate::units::{Ratio, SimTime};

impl Scenario {
    /// All numbers of the scenario itself, by field path and with the names of list items; those of its
    /// hardware are not among them.
    pub fn claims(&self) -> Vec<ParameterRecord> {
        let mut records = Vec::new();
        self.spec().clone().walk(&mut FieldPath::root(), &mut |path, parameter| {
            let path = path.to_string();
            let name = named(self.spec(), &path);
            records.push(ParameterRecord { path, name, parameter: parameter.clone() });
        });
        records
    }

    /// The scenario with each of its own numbers passed through `change`, which sees its place in
    /// [`Scenario::claims`] and its value in SI. Nothing where that cannot be a scenario. Deadlines,
    /// batches, queues, the length of the run and networks stay.
    pub fn moved(&self, mut change: impl FnMut(usize, f64) -> f64) -> Option<Self> {
        let mut spec = self.spec().clone();
        let mut place = 0;
        spec.walk(&mut FieldPath::unspelled(), &mut |_, parameter| {
            parameter.value = change(place, parameter.value);
            place += 1;
        });
        spec.cascades.iter_mut().for_each(keep_shares);
        for (states, before) in spec.background.values_mut().zip(self.spec().background.values()) {
            keep_whole(states, before);
        }
        let mut reader = Reader::beside(self.file());
        let made = self.remade(&mut reader, &spec)?;
        reader.faults.is_empty().then_some(made)
    }

    fn remade(&self, reader: &mut Reader, spec: &ScenarioSpec) -> Option<Self> {
        let mut made = self.clone();
        let profile = self.profile();
        for (i, (own, spec)) in made.workloads.iter_mut().zip(&spec.workloads).enumerate() {
            let path = format!("workloads[{i}]");
            own.process = process(reader, &format!("{path}.arrivals"), &spec.arrivals)?;
            own.host = host(reader, &path, spec.host.as_ref(), Some(profile))?;
        }
        for (i, (own, spec)) in made.cascades.iter_mut().zip(&spec.cascades).enumerate() {
            own.cascade = rates(reader, &format!("cascades[{i}]"), spec)?;
            for (stage, spec) in own.stages.iter_mut().zip(&spec.stages) {
                if let (Work::Detector { time, .. }, RunsSpec::Detector(spec)) =
                    (&mut stage.work, &spec.runs)
                {
                    *time = SimTime::from_seconds(known(&spec.time)?).ok()?;
                }
            }
        }
        made.tasks = tasks(reader, spec, Some(profile));
        made.rest = rests(reader, spec, Some(profile));
        made.background = background(reader, spec, Some(profile));
        made.power = power(reader, &spec.supply, Some(profile))?;
        Some(made)
    }
}

fn at_most_all(share: &mut Valued<Ratio>) {
    *share = share.valued(Ratio(share.get().0.min(1.0)));
}

fn keep_shares(cascade: &mut CascadeSpec) {
    if let EventsSpec::Prevalence(share) = &mut cascade.events {
        at_most_all(share);
    }
    for stage in &mut cascade.stages {
        at_most_all(&mut stage.hit);
        at_most_all(&mut stage.false_alarm);
    }
}

fn keep_whole(states: &mut BackgroundSpec, before: &BackgroundSpec) {
    let (BackgroundSpec::Residencies(own), BackgroundSpec::Residencies(before)) = (states, before)
    else {
        return;
    };
    let sum = |of: &super::ResidenciesSpec| of.shares.iter().map(|s| s.share.get().0).sum::<f64>();
    let factor = sum(before) / sum(own);
    for part in &mut own.shares {
        part.share = part.share.valued(Ratio(part.share.get().0 * factor));
    }
}

/// A field path with names of workloads, cascades, stages and tasks in the place of their numbers.
fn named(spec: &ScenarioSpec, path: &str) -> String {
    let mut cascade = None;
    let parts = path.split('.').map(|part| {
        let Some((field, number)) = part.split_once('[') else { return part.to_owned() };
        let Some(number) = number.strip_suffix(']').and_then(|n| n.parse::<usize>().ok()) else {
            return part.to_owned();
        };
        let name = match field {
            "workloads" => spec.workloads.get(number).map(|own| &own.name),
            "tasks" => spec.tasks.get(number).map(|own| &own.name),
            "cascades" => {
                cascade = spec.cascades.get(number);
                cascade.map(|own| &own.name)
            }
            "stages" => cascade.and_then(|own| own.stages.get(number)).map(|own| &own.name),
            _ => None,
        };
        name.map_or_else(|| part.to_owned(), |name| format!("{field}.{name}"))
    });
    parts.collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::load::Process;

    fn place(scenario: &Scenario, name: &str) -> usize {
        let claims = scenario.claims();
        let found = claims.iter().position(|own| own.name == name);
        found.unwrap_or_else(|| panic!("{name} in {claims:#?}"))
    }

    #[test]
    fn a_number_is_moved_and_all_else_stays() {
        let camera = Scenario::load("wake_camera").unwrap();
        let time = place(&camera, "cascades.door.stages.motion.runs.Detector.time");
        let moved = camera.moved(|at, value| if at == time { value * 1.5 } else { value }).unwrap();
        let look = |own: &Scenario| match own.cascades[0].stages[0].work {
            Work::Detector { time, .. } => time,
            Work::Network(_) => panic!("a network"),
        };
        assert_eq!((look(&camera), look(&moved)), (SimTime(2_000_000_000), SimTime(3_000_000_000)));
        let rate = |own: &Scenario, stage: usize| own.cascades[0].cascade.stages()[stage].hit;
        assert_eq!(rate(&camera, 2), rate(&moved, 2));
        // A hit rate of 95 % does not become one of 114 %.
        let hit = place(&camera, "cascades.door.stages.motion.hit");
        let moved = camera.moved(|at, value| if at == hit { value * 1.2 } else { value }).unwrap();
        assert_eq!(rate(&moved, 0), Ratio(1.0));
    }

    #[test]
    fn a_period_that_is_moved_moves_the_rate() {
        let node = Scenario::load("keyword_node").unwrap();
        let period = place(&node, "workloads.keyword.arrivals.Periodic.period");
        let moved = node.moved(|at, value| if at == period { value * 2.0 } else { value }).unwrap();
        let rate = |own: &Scenario| own.workloads[0].process.mean_rate().unwrap().0;
        assert_eq!((rate(&node), rate(&moved)), (1.0, 0.5));
        assert!(matches!(moved.workloads[0].process, Process::Periodic(_)));
        // What is no time is no scenario.
        assert!(node.moved(|at, value| if at == period { 0.0 } else { value }).is_none());
    }
}
