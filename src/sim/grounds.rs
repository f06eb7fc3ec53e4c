//! What energy and time of a run rest on.
//!
//! A pass of a network by itself rests on what its estimate does, and on the cycles of the host beside it; a
//! look of a detector on the time that the scenario states and on the power of whatever is on meanwhile; a
//! task on its cycles. Each stream counts with the energy that was booked for it and with its time in
//! service, split as its passes by themselves are; idle times and transitions count as they were booked.

use super::scenario::{Host, Rest, Task};
use super::{Simulated, StreamUse};
use crate::cost::{Setting, busy_energy};
use crate::estimate::{Estimate, energy_beside};
use crate::evidence::{Coverage, Kind};
use crate::mapping::Plan;
use crate::units::{Cycles, Joules, Quantity, SimTime};

/// What energy \[J\] and time \[s\] rest on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Grounds {
    /// Of the energy at the sources.
    pub energy: Coverage,
    /// Of the time.
    pub time: Coverage,
}

impl Grounds {
    /// A pass of a network by itself, with what a processor does beside it.
    pub(super) fn of_network(
        plan: &Plan,
        expected: &Estimate,
        host: Option<Host>,
        setting: Setting<'_>,
    ) -> Self {
        let mut own =
            Self { energy: expected.energy_coverage.clone(), time: expected.time_coverage.clone() };
        if let Some(host) = host {
            let steps = plan.steps.iter().filter(|step| !step.phases.is_empty());
            let others = steps.filter(|step| step.engine != host.engine).count() as f64;
            let layers = host.each_layer * (others * plan.passes as f64);
            own.add(&Self::of_cycles(
                host.engine,
                host.before + layers + host.after,
                host.kind,
                setting,
            ));
        }
        own
    }

    /// A task by itself.
    pub(super) fn of_task(task: &Task, setting: Setting<'_>) -> Self {
        Self::of_cycles(task.engine, task.cycles, task.kind, setting)
    }

    /// Cycles of an engine that are known as well as `kind` says.
    fn of_cycles(engine: usize, cycles: Cycles, kind: Kind, setting: Setting<'_>) -> Self {
        let domain = setting.profile.links().engine_domain[engine];
        let (clock, clock_kind) = setting.point.clocks[domain];
        let (time, lasts) = (cycles / clock, kind.weaker(clock_kind));
        let work = busy_energy(engine, cycles, setting);
        let work = work.map(|(energy, own)| (engine, energy, own.weaker(kind)));
        let mut sum =
            Self { energy: energy_beside((time, lasts), work, setting), ..Self::default() };
        if time.si() > 0.0 {
            sum.time.add(lasts, time.si());
        }
        sum
    }

    /// A look of a detector that is no network: a time that is stated, in which a block is in a state. What
    /// rests while nothing needs it rests.
    pub(super) fn of_look(
        (time, kind): (SimTime, Kind),
        block: Option<(usize, usize)>,
        rest: &[Option<Rest>],
        setting: Setting<'_>,
    ) -> Self {
        let mut point = setting.point.clone();
        if let Some((load, state)) = block
            && let Some(own) = point.load_states.get_mut(load)
        {
            *own = state;
        }
        for (asleep, rest) in point.asleep.iter_mut().zip(rest) {
            *asleep = asleep.or(rest.map(|rest| rest.state));
        }
        let setting = Setting { point: &point, ..setting };
        let time = time.seconds();
        let mut own =
            Self { energy: energy_beside((time, kind), None, setting), ..Self::default() };
        own.time.add(kind, time.si());
        own
    }

    fn add(&mut self, other: &Self) {
        self.energy.merge(&other.energy);
        self.time.merge(&other.time);
    }

    /// The same so many times.
    fn times(&self, count: u64) -> Self {
        let factor = count as f64;
        Self { energy: self.energy.clone().scaled(factor), time: self.time.clone().scaled(factor) }
    }

    /// All that a run took: `of_streams` holds what a pass of each program of each stream rests on.
    pub(super) fn of_run<'a>(
        of_streams: impl Iterator<Item = &'a [Self]>,
        simulated: &Simulated,
    ) -> Self {
        let mut all = Self { energy: simulated.rest_evidence.clone(), ..Self::default() };
        for (stream, (passes, own)) in of_streams.zip(&simulated.streams).enumerate() {
            all.add(&Self::of_stream(passes, own, simulated.energy_of(stream)));
        }
        all
    }

    fn of_stream(passes: &[Self], own: &StreamUse, booked: Joules) -> Self {
        let mut sum = Self::default();
        for (pass, count) in passes.iter().zip(&own.served.passes_of) {
            sum.add(&pass.times(*count));
        }
        // What the run cut before its first end is of the same kind.
        if own.served.passes == 0 {
            sum = passes.first().cloned().unwrap_or_default();
        }
        let busy = own.served.busy.seconds();
        Self { energy: as_much_as(sum.energy, booked.si()), time: as_much_as(sum.time, busy.si()) }
    }
}

/// A sum with each of its terms by the same factor, so that it is as large as `whole`.
fn as_much_as(sum: Coverage, whole: f64) -> Coverage {
    let total = sum.total();
    if total > 0.0 { sum.scaled(whole / total) } else { sum }
}
