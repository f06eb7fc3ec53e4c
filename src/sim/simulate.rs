//! A scenario, simulated.

mod speeds;
mod terms;

pub use terms::PolicyChange;

use super::kernel::{Ending, Queue, Stops, drive};
use super::program::{Holds, Program, Segment, Task};
use super::reload::{kept_alive, residents};
use super::scenario::{
    End, Fidelity, Host, OnBrownOut, Placed, Scenario, StageWork, Task as HostTask, WakeCascade,
    Work, Workload,
};
use super::snapshot::Snapshot;
use super::system::{
    Block, Event, Feed, Onward, Residency, Resting, Setup, StreamSetup, System, Transitions,
};
use super::{DomainUse, Grounds, SimError, Simulated, StreamUse};
use crate::cost::Setting;
use crate::estimate::estimate;
use crate::mapping::{Network, PhaseKind, Plan, plan};
use crate::sim::load::{Admission, MicroBatch, Tally};
use crate::trace::{MetricsSink, PassName, Sink, Tee};
use crate::units::{SimTime, TimeError};
use std::sync::atomic::AtomicBool;

/// What ends a run before it has lasted as long as it should.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits<'a> {
    /// So many events at most.
    pub max_events: Option<u64>,
    /// Looked at before each event; who sets it is up to the caller.
    pub interrupt: Option<&'a AtomicBool>,
}

/// A scenario with the plans of its networks, ready to run any number of times.
#[derive(Debug)]
pub struct Prepared<'a> {
    scenario: &'a Scenario,
    fidelity: Fidelity,
    streams: Vec<Ready>,
}

/// Where a run begins.
#[derive(Debug, Clone, Copy)]
pub enum Start<'a> {
    /// At time zero, under a seed.
    Afresh(u64),
    /// At the moment of a snapshot, whose seed it keeps.
    From(&'a Snapshot),
}

/// A run that is over.
#[derive(Debug, Clone)]
pub struct Ran {
    /// What is known at its end.
    pub simulated: Simulated,
    /// Policies that were changed where it was taken up.
    pub changed: Vec<PolicyChange>,
    /// The snapshot that was asked for; nothing where the run was over before.
    pub snapshot: Option<Snapshot>,
}

/// A stream whose programs are made.
#[derive(Debug)]
struct Ready {
    name: String,
    programs: Vec<Program>,
    /// The same at each operating point that the run goes between.
    at_speeds: Vec<Vec<Program>>,
    passes: u64,
    deadline: Option<SimTime>,
    priority: u32,
    batch: MicroBatch,
    admission: Admission,
    /// The workload, or the cascade and its stage.
    of: Origin,
    /// The plan of one sample.
    plan: Option<Plan>,
    /// What a pass of each program rests on.
    grounds: Vec<Grounds>,
}

#[derive(Debug, Clone, Copy)]
enum Origin {
    Workload(usize),
    Stage(Onward),
    Task(usize),
}

impl<'a> Prepared<'a> {
    /// Plans the networks of a scenario at a fidelity.
    ///
    /// # Errors
    /// A network takes no time on the hardware, or out of this world.
    pub fn new(scenario: &'a Scenario, fidelity: Fidelity) -> Result<Self, SimError> {
        let mut streams = Vec::new();
        for (index, workload) in scenario.workloads.iter().enumerate() {
            streams.push(of_workload(scenario, index, workload, fidelity)?);
        }
        for (cascade, wake) in scenario.cascades.iter().enumerate() {
            for (stage, work) in wake.stages.iter().enumerate() {
                let onward = Onward { cascade, stage };
                streams.push(of_stage(scenario, wake, work, onward, fidelity)?);
            }
        }
        for (index, own) in scenario.tasks.iter().enumerate() {
            streams.push(of_task(scenario, index, own)?);
        }
        for own in &mut streams {
            own.at_speeds = speeds::at_speeds(scenario, own, fidelity)?;
        }
        let lost = scenario.lost();
        for own in streams.iter_mut().filter(|_| !lost.is_empty()) {
            let Some(plan) = &own.plan else { continue };
            for (domain, layers) in kept_alive(plan, &lost) {
                let programs = own.at_speeds.iter_mut().flatten().chain(&mut own.programs);
                programs.for_each(|program| program.hold(domain, layers));
            }
        }
        Ok(Self { scenario, fidelity, streams })
    }

    /// Plans of one sample of the streams: workloads, then the stages of cascades, then tasks. Who runs no
    /// network has none.
    pub fn plans(&self) -> impl Iterator<Item = (&str, Option<&Plan>)> {
        self.streams.iter().map(|own| (own.name.as_str(), own.plan.as_ref()))
    }

    /// What energy and time of a run of it rest on.
    pub fn grounds(&self, simulated: &Simulated) -> Grounds {
        Grounds::of_run(self.streams.iter().map(|own| own.grounds.as_slice()), simulated)
    }

    /// One run under `seed` into `sink`. The identity of joules is checked at its end, wherever that
    /// comes.
    ///
    /// # Errors
    /// A file of arrivals does not go on as it should, time ends, or the sums of joules disagree.
    pub fn run(
        &self,
        seed: u64,
        limits: Limits<'_>,
        sink: &mut impl Sink,
    ) -> Result<Simulated, SimError> {
        self.run_from(Start::Afresh(seed), None, limits, sink).map(|ran| ran.simulated)
    }

    /// The same from `start` on, with a snapshot at `keep` where that is given. Of a run that is taken up,
    /// figures are of all of it, from time zero; `sink` hears what comes from the moment on, and that
    /// before it is unknown.
    ///
    /// # Errors
    /// Those of [`Prepared::run`]; a snapshot of another run, or that the scenario cannot go on from.
    pub fn run_from(
        &self,
        start: Start<'_>,
        keep: Option<SimTime>,
        limits: Limits<'_>,
        sink: &mut impl Sink,
    ) -> Result<Ran, SimError> {
        let scenario = self.scenario;
        let setting = Setting { profile: scenario.profile(), point: scenario.point(), stacks: &[] };
        let seed = match start {
            Start::Afresh(seed) => seed,
            Start::From(snapshot) => snapshot.seed(),
        };
        let mut sums = MetricsSink::default();
        let mut both = Tee(&mut sums, sink);
        let mut system = System::new(self.setup(setting, seed)?, &mut both)?;
        let mut queue: Queue<Event> = Queue::default();
        let mut changed = Vec::new();
        match start {
            Start::Afresh(_) => system.begin(&mut queue)?,
            Start::From(snapshot) => {
                changed = self.take_up(snapshot, &mut system, &mut queue)?;
                *system.first_sink() = snapshot.sums.clone();
                system.tell_second(snapshot.at());
            }
        }
        let until = match scenario.end {
            End::After(time) => Some(time),
            End::Inferences(_) => None,
        };
        let Limits { max_events, interrupt } = limits;
        let mut stops = Stops { until, max_events, interrupt };
        let mut snapshot = None;
        if let Some(at) = keep {
            stops.until = Some(at);
            if let Ending::Until(_) = drive(&mut system, &mut queue, stops)? {
                let (saved, sums) = (system.save(), system.first_sink().clone());
                let of = (scenario.spec().name.as_str(), seed);
                snapshot = Some(Snapshot::new(of, self.terms(), at, (queue.clone(), saved, sums)));
            }
            stops.until = until;
        }
        let ending = drive(&mut system, &mut queue, stops)?;
        let cut_short = system.browned_out() || system.overheated();
        let (ending, end) = match (ending, until) {
            (Ending::Done, _) if cut_short => (Ending::Until(queue.now()), queue.now()),
            (Ending::Done | Ending::Until(_), Some(until)) => (Ending::Until(until), until),
            _ => (ending, queue.now()),
        };
        let mut metrics = None;
        let left = system.close(end, |both| {
            let done = std::mem::take(both.0).finish();
            let energy = done.load_energy;
            metrics = Some(done);
            energy
        })?;
        let metrics = metrics.unwrap_or_else(|| MetricsSink::default().finish());
        let residuals = left.closed.ledger.residuals();
        if !residuals.hold() {
            return Err(SimError::Identity(residuals));
        }
        for source in &left.closed.supplied.sources {
            SimError::unless_kept(source)?;
        }
        let domains = self.domains(&left.residencies);
        let streams = self.streams.iter().zip(left.served).zip(left.unfinished);
        let streams = streams.map(|((own, served), unfinished)| StreamUse {
            name: own.name.clone(),
            layers: layers(&own.programs),
            runs_network: own.plan.is_some(),
            has_deadline: own.deadline.is_some(),
            served,
            unfinished,
        });
        let cascades = scenario.cascades.iter().map(|wake| wake.name.clone());
        let simulated = Simulated {
            metrics,
            ledger: left.closed.ledger,
            rest_evidence: left.closed.rest_evidence,
            ending,
            events: queue.taken(),
            streams: streams.collect(),
            cascades: cascades.zip(left.tallies).collect(),
            domains,
            blocks: left.blocks,
            engines: left.engines,
            contended: left.contended,
            rails: left.closed.rails,
            speeds: left.speeds,
            supplied: left.closed.supplied,
            heat: left.heat,
        };
        Ok(Ran { simulated, changed, snapshot })
    }

    fn domains(&self, residencies: &[(Residency, Transitions)]) -> Vec<DomainUse> {
        let scenario = self.scenario;
        let domains = scenario.profile().spec().domains.iter().zip(&scenario.rest);
        let asleep = &scenario.point().asleep;
        let domains = domains.zip(asleep).zip(residencies);
        let domains = domains.map(|(((domain, rest), asleep), (residency, transitions))| {
            let state = asleep.or(rest.map(|rest| rest.state));
            let state = state.and_then(|state| domain.states.get(state));
            DomainUse {
                name: domain.name.clone(),
                state: state.map(|state| state.name.clone()),
                stays: asleep.is_some(),
                residency: *residency,
                transitions: *transitions,
            }
        });
        domains.collect()
    }

    fn setup(&self, setting: Setting<'a>, seed: u64) -> Result<Setup<'a>, SimError> {
        let scenario = self.scenario;
        let mut streams = Vec::with_capacity(self.streams.len());
        for own in &self.streams {
            streams.push(self.stream(own, seed)?);
        }
        let mut cascades = Vec::with_capacity(scenario.cascades.len());
        for (number, wake) in scenario.cascades.iter().enumerate() {
            let is_stage =
                |own: &Ready| matches!(own.of, Origin::Stage(onward) if onward.cascade == number);
            let places = self.streams.iter().enumerate().filter(|(_, own)| is_stage(own));
            let stages = places.map(|(place, _)| place).collect();
            let looks = scenario.looks(wake, seed)?;
            cascades.push((looks, stages, Tally::of(&wake.cascade)));
        }
        let plans: Vec<&Plan> = self.streams.iter().filter_map(|own| own.plan.as_ref()).collect();
        let residents = residents(&plans, setting.profile);
        let resting = scenario.resting_with(&residents);
        let rests = scenario.rest.iter().enumerate().map(|(domain, rest)| Resting {
            rest: *rest,
            break_even: resting.iter().find(|o| o.index == domain).and_then(|o| o.break_even),
            reload: scenario.reload_of(domain, &residents),
        });
        let states = &setting.point.load_states;
        let loads = setting.profile.spec().loads.iter().enumerate();
        let blocks = loads.map(|(load, unit)| {
            let schedule = scenario.background.get(load).and_then(Option::as_ref);
            let own = states.get(load).copied().unwrap_or(0);
            Block::new(own, unit.states.len(), schedule.map(|s| s.changes()))
        });
        Ok(Setup {
            setting,
            streams,
            cascades,
            rests: rests.collect(),
            together: false,
            blocks: blocks.collect(),
            inferences: match scenario.end {
                End::After(_) => None,
                End::Inferences(count) => Some(count),
            },
            lasts: None,
            horizon: match scenario.end {
                End::After(time) => Some(time),
                End::Inferences(_) => None,
            },
            starts: scenario.starts(),
            dvfs: scenario.dvfs.as_deref(),
            stops: scenario.on_brown_out == OnBrownOut::Stop,
            heat: scenario.heat,
        })
    }

    fn stream(&self, own: &Ready, seed: u64) -> Result<StreamSetup, SimError> {
        let (feed, onward) = match own.of {
            Origin::Stage(onward) => (Feed::Passed, Some(onward)),
            Origin::Workload(index) => {
                let workload = &self.scenario.workloads[index];
                (Feed::Source(self.scenario.arrivals(workload, seed)?), None)
            }
            Origin::Task(index) => {
                let task = &self.scenario.tasks[index];
                (Feed::Source(self.scenario.comings(task, seed)?), None)
            }
        };
        Ok(StreamSetup {
            name: own.name.clone(),
            pass: match (&own.plan, own.of) {
                (Some(_), _) => PassName::Inference,
                (None, Origin::Task(_)) => PassName::Task,
                (None, _) => PassName::Look,
            },
            programs: own.at_speeds.clone(),
            passes: own.passes,
            feed,
            deadline: own.deadline,
            priority: own.priority,
            batch: own.batch,
            admission: own.admission,
            onward,
        })
    }
}

/// Names of the layers of a stream, by their place in the network.
fn layers(programs: &[Program]) -> Vec<String> {
    let Some(first) = programs.first() else { return Vec::new() };
    let mut names = vec![String::new(); first.layers];
    for task in &first.tasks {
        names[task.layer].clone_from(&task.name);
    }
    names
}

fn of_workload(
    scenario: &Scenario,
    index: usize,
    workload: &Workload,
    fidelity: Fidelity,
) -> Result<Ready, SimError> {
    let placed = &workload.placed;
    let setting = scenario.setting(placed);
    let host = workload.host;
    let (first, plan, own) = program(&placed.network, 1, (fidelity, host), setting)?;
    let (mut programs, mut grounds) = (vec![first], vec![own]);
    for (place, network) in workload.together.iter().enumerate() {
        let samples = place as u64 + 2;
        let (own, _, rests_on) = program(network, samples, (fidelity, host), setting)?;
        programs.push(own);
        grounds.push(rests_on);
    }
    Ok(Ready {
        name: workload.name.clone(),
        programs,
        at_speeds: Vec::new(),
        passes: workload.inferences_each,
        deadline: workload.deadline,
        priority: workload.priority,
        batch: workload.batch,
        admission: workload.admission,
        of: Origin::Workload(index),
        plan: Some(plan),
        grounds,
    })
}

fn of_stage(
    scenario: &Scenario,
    wake: &WakeCascade,
    work: &StageWork,
    onward: Onward,
    fidelity: Fidelity,
) -> Result<Ready, SimError> {
    let own = wake.cascade.stages().get(onward.stage).map_or("", |stage| stage.name.as_str());
    let (program, plan, grounds) = match &work.work {
        Work::Network(placed) => {
            let Placed { network, .. } = placed.as_ref();
            let (program, plan, grounds) =
                program(network, 1, (fidelity, None), scenario.setting(placed))?;
            (program, Some(plan), grounds)
        }
        Work::Detector { time, kind, block } => {
            let grounds = Grounds::of_look((*time, *kind), *block, &scenario.rest, bare(scenario));
            (detector(own, *time, *block)?, None, grounds)
        }
    };
    Ok(Ready {
        name: format!("{}.{own}", wake.name),
        programs: vec![program],
        at_speeds: Vec::new(),
        passes: 1,
        deadline: work.deadline,
        priority: work.priority,
        batch: MicroBatch::SINGLE,
        admission: Admission::default(),
        of: Origin::Stage(onward),
        plan,
        grounds: vec![grounds],
    })
}

/// The setting of what runs no network.
fn bare(scenario: &Scenario) -> Setting<'_> {
    Setting { profile: scenario.profile(), point: scenario.point(), stacks: &[] }
}

fn of_task(scenario: &Scenario, index: usize, own: &HostTask) -> Result<Ready, SimError> {
    let setting = bare(scenario);
    Ok(Ready {
        name: own.name.clone(),
        programs: vec![Program::of_cycles(&own.name, own.engine, own.cycles, setting)?],
        at_speeds: Vec::new(),
        passes: 1,
        deadline: own.deadline,
        priority: own.priority,
        batch: MicroBatch::SINGLE,
        admission: own.admission,
        of: Origin::Task(index),
        plan: None,
        grounds: vec![Grounds::of_task(own, setting)],
    })
}

fn program(
    network: &Network,
    samples: u64,
    (fidelity, host): (Fidelity, Option<Host>),
    setting: Setting<'_>,
) -> Result<(Program, Plan, Grounds), SimError> {
    let plan = plan(network, setting);
    if plan.steps.iter().all(|step| step.phases.is_empty()) {
        return Err(SimError::nothing(&plan));
    }
    let expected = estimate(&plan, setting);
    SimError::unless_finite(&plan, expected.latency, expected.energy)?;
    let program = Program::of(&plan, samples, fidelity, host, setting)?;
    let grounds = Grounds::of_network(&plan, &expected, host, setting);
    Ok((program, plan, grounds))
}

/// A look of a detector that is no network.
fn detector(
    name: &str,
    time: SimTime,
    block: Option<(usize, usize)>,
) -> Result<Program, TimeError> {
    let moving = time.max(SimTime(1));
    let work = super::program::EngineWork { time: moving, energy: crate::units::Joules::ZERO };
    let segment =
        Segment { kind: PhaseKind::Steady, slots: 1, work: Some(work), moves: Vec::new(), moving };
    let task = Task {
        layer: 0,
        name: name.to_owned(),
        holds: block.map_or(Holds::Nothing, |(load, state)| Holds::Block(load, state)),
        domains: Vec::new(),
        held: Vec::new(),
        segments: vec![segment],
    };
    Program::new(name.to_owned(), 1, vec![task])
}
