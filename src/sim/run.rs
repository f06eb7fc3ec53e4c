//! A run of one plan: inferences one after the other or one each period, with all domains together at
//! work and at rest.

use super::kernel::{Queue, Stops, drive};
use super::load::{Admission, CountedTimes, MicroBatch, RestRule, Source};
use super::outcome::Outcome;
use super::program::Program;
use super::reload::{reload, residents};
use super::scenario::{Fidelity, Rest};
use super::system::{Block, Event, Feed, Resting, Setup, StreamSetup, System};
use super::{Arrivals, SimError, Workload};
use crate::cost::Setting;
use crate::diagnostic::nearest;
use crate::mapping::Plan;
use crate::trace::{MetricsSink, PassName, Sink, Tee};
use crate::units::SimTime;

/// Runs `workload` on `plan` into `sink`. The identity of joules is checked at the end of every run
/// and its breach is an error.
pub fn run(
    plan: &Plan,
    workload: &Workload,
    setting: Setting<'_>,
    sink: &mut impl Sink,
) -> Result<Outcome, SimError> {
    if plan.steps.iter().all(|s| s.phases.is_empty()) {
        return Err(SimError::nothing(plan));
    }
    let mut sums = MetricsSink::default();
    let mut both = Tee(&mut sums, sink);
    let mut system = System::new(setup(plan, workload, setting)?, &mut both)?;
    let mut queue: Queue<Event> = Queue::default();
    system.begin(&mut queue)?;
    drive(&mut system, &mut queue, Stops::default())?;
    let mut metrics = None;
    let left = system.close(queue.now(), |both| {
        let done = std::mem::take(both.0).finish();
        let energy = done.load_energy;
        metrics = Some(done);
        energy
    })?;
    let metrics = metrics.unwrap_or_else(|| MetricsSink::default().finish());
    SimError::unless_finite(plan, metrics.duration, metrics.energy)?;
    let residuals = left.closed.ledger.residuals();
    if !residuals.hold() {
        return Err(SimError::Identity(residuals));
    }
    let served = left.served.into_iter().next().unwrap_or_default();
    Ok(Outcome {
        metrics,
        ledger: left.closed.ledger,
        latency: served.latency,
        response: served.response,
        waited: served.waited,
        rest_evidence: left.closed.rest_evidence,
        events: queue.taken(),
    })
}

fn setup<'a>(
    plan: &Plan,
    workload: &Workload,
    setting: Setting<'a>,
) -> Result<Setup<'a>, SimError> {
    if workload.inferences == 0 {
        return Err(SimError::Workload("a run needs at least one inference".into()));
    }
    let (source, inferences, lasts) = match workload.arrivals {
        Arrivals::BackToBack => {
            (Source::BackToBack { begun: false }, Some(workload.inferences), None)
        }
        Arrivals::Periodic(period) => {
            if SimTime::from_seconds(period)? == SimTime::ZERO {
                return Err(SimError::Workload("a period is at least one picosecond".into()));
            }
            let count = workload.inferences;
            let times = CountedTimes::new(period, count);
            (Source::Counted(times), None, Some(CountedTimes::at(period, count)?))
        }
    };
    let stream = StreamSetup {
        name: "inferences".into(),
        programs: vec![vec![Program::of(plan, 1, Fidelity::Phase, None, setting)?]],
        passes: 1,
        pass: PassName::Inference,
        feed: Feed::Source(source),
        deadline: None,
        priority: 0,
        batch: MicroBatch::SINGLE,
        admission: Admission::default(),
        onward: None,
    };
    let states = rest_states(workload, setting)?.into_iter();
    let rest = |state| Rest { state, rule: RestRule::Immediately };
    let residents = residents(&[plan], setting.profile);
    let domains = setting.profile.spec().domains.iter().enumerate();
    let rests = domains.zip(states).map(|((index, domain), state)| {
        let lost = state.and_then(|own| domain.states.get(own));
        let reload = lost.and_then(|lost| reload(index, lost, &residents, setting));
        Resting { rest: state.map(rest), break_even: None, reload }
    });
    let loads = setting.profile.spec().loads.iter().zip(&setting.point.load_states);
    Ok(Setup {
        setting,
        streams: vec![stream],
        cascades: Vec::new(),
        rests: rests.collect(),
        together: true,
        blocks: loads.map(|(load, own)| Block::new(*own, load.states.len(), None)).collect(),
        inferences,
        lasts,
        horizon: None,
        starts: Vec::new(),
        dvfs: None,
        stops: false,
        heat: None,
    })
}

/// The state that each domain rests in, by number.
fn rest_states(workload: &Workload, setting: Setting<'_>) -> Result<Vec<Option<usize>>, SimError> {
    let domains = &setting.profile.spec().domains;
    let Some(name) = workload.rest.as_deref().filter(|n| *n != "on") else {
        let first = |has: bool| (has && workload.rest.is_none()).then_some(0);
        return Ok(domains.iter().map(|d| first(!d.states.is_empty())).collect());
    };
    let found: Vec<_> =
        domains.iter().map(|d| d.states.iter().position(|s| s.name == name)).collect();
    if found.iter().all(Option::is_none) {
        let mut known = vec!["on"];
        known.extend(domains.iter().flat_map(|d| &d.states).map(|s| s.name.as_str()));
        let mut seen = std::collections::BTreeSet::new();
        known.retain(|name| seen.insert(*name));
        return Err(SimError::NoSuchState {
            name: name.to_owned(),
            nearest: nearest(name, known.iter().copied()).map(str::to_owned),
            known: known.join(", "),
        });
    }
    Ok(found)
}
