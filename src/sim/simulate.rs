//! A scenario, simulated.

use super::kernel::{Ending, Queue, Stops, drive};
use super::program::{Holds, Program, Segment, Task};
use super::scenario::{
    End, Fidelity, Host, OnBrownOut, Placed, Scenario, StageWork, Task as HostTask, WakeCascade,
    Work, Workload,
};
use super::system::{Block, Event, Feed, Onward, Setup, StreamSetup, System};
use super::{DomainUse, SimError, Simulated, StreamUse};
use crate::cost::Setting;
use crate::estimate::estimate;
use crate::evidence::Coverage;
use crate::mapping::{Network, PhaseKind, Plan, plan};
use crate::sim::load::{Admission, MicroBatch, Tally};
use crate::trace::{MetricsSink, Sink, Tee};
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

/// A plan of a stream, with what an inference of it rests on.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The plan of one sample.
    pub plan: Plan,
    /// What the energy of an inference by itself rests on.
    pub evidence: Coverage,
}

/// A scenario with the plans of its networks, ready to run any number of times.
#[derive(Debug)]
pub struct Prepared<'a> {
    scenario: &'a Scenario,
    streams: Vec<Ready>,
}

/// A stream whose programs are made.
#[derive(Debug)]
struct Ready {
    name: String,
    programs: Vec<Program>,
    passes: u64,
    deadline: Option<SimTime>,
    priority: u32,
    batch: MicroBatch,
    admission: Admission,
    /// The workload, or the cascade and its stage.
    of: Origin,
    planned: Option<Planned>,
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
        Ok(Self { scenario, streams })
    }

    /// Plans of the streams: workloads, then the stages of cascades. A detector has none.
    pub fn planned(&self) -> impl Iterator<Item = (&str, Option<&Planned>)> {
        self.streams.iter().map(|own| (own.name.as_str(), own.planned.as_ref()))
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
        let scenario = self.scenario;
        let setting = Setting { profile: scenario.profile(), point: scenario.point(), stacks: &[] };
        let mut sums = MetricsSink::default();
        let mut both = Tee(&mut sums, sink);
        let mut system = System::new(self.setup(setting, seed)?, &mut both)?;
        let mut queue: Queue<Event> = Queue::default();
        system.begin(&mut queue)?;
        let until = match scenario.end {
            End::After(time) => Some(time),
            End::Inferences(_) => None,
        };
        let Limits { max_events, interrupt } = limits;
        let ending = drive(&mut system, &mut queue, Stops { until, max_events, interrupt })?;
        let browned_out = system.browned_out();
        let (ending, end) = match (ending, until) {
            (Ending::Done, _) if browned_out => (Ending::Until(queue.now()), queue.now()),
            (Ending::Done | Ending::Until(_), Some(until)) => (Ending::Until(until), until),
            _ => (ending, queue.now()),
        };
        let mut metrics = None;
        let left = system.close(end, |both| {
            let done = std::mem::take(both.0).finish();
            let energy = done.load_energy;
            metrics = Some(done);
            energy
        });
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
            runs_network: own.planned.is_some(),
            has_deadline: own.deadline.is_some(),
            served,
            unfinished,
        });
        let cascades = scenario.cascades.iter().map(|wake| wake.name.clone());
        Ok(Simulated {
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
            supplied: left.closed.supplied,
        })
    }

    fn domains(&self, residencies: &[super::Residency]) -> Vec<DomainUse> {
        let scenario = self.scenario;
        let domains = scenario.profile().spec().domains.iter().zip(&scenario.rest);
        let asleep = &scenario.point().asleep;
        let domains = domains.zip(asleep).zip(residencies);
        let domains = domains.map(|(((domain, rest), asleep), residency)| {
            let state = asleep.or(rest.map(|rest| rest.state));
            let state = state.and_then(|state| domain.states.get(state));
            DomainUse {
                name: domain.name.clone(),
                state: state.map(|state| state.name.clone()),
                stays: asleep.is_some(),
                residency: *residency,
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
        let resting = scenario.resting();
        let mut outlooks = resting.iter();
        let rests = scenario.rest.iter().map(|rest| {
            let outlook = rest.and_then(|_| outlooks.next());
            (*rest, outlook.and_then(|own| own.break_even))
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
            stops: scenario.on_brown_out == OnBrownOut::Stop,
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
            programs: own.programs.clone(),
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
    let (first, planned) = program(&placed.network, 1, (fidelity, host), setting)?;
    let mut programs = vec![first];
    for (place, network) in workload.together.iter().enumerate() {
        let samples = place as u64 + 2;
        programs.push(program(network, samples, (fidelity, host), setting)?.0);
    }
    Ok(Ready {
        name: workload.name.clone(),
        programs,
        passes: workload.inferences_each,
        deadline: workload.deadline,
        priority: workload.priority,
        batch: workload.batch,
        admission: workload.admission,
        of: Origin::Workload(index),
        planned: Some(planned),
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
    let (program, planned) = match &work.work {
        Work::Network(placed) => {
            let Placed { network, .. } = placed.as_ref();
            let (program, planned) =
                program(network, 1, (fidelity, None), scenario.setting(placed))?;
            (program, Some(planned))
        }
        Work::Detector { time, block } => (detector(own, *time, *block)?, None),
    };
    Ok(Ready {
        name: format!("{}.{own}", wake.name),
        programs: vec![program],
        passes: 1,
        deadline: work.deadline,
        priority: work.priority,
        batch: MicroBatch::SINGLE,
        admission: Admission::default(),
        of: Origin::Stage(onward),
        planned,
    })
}

fn of_task(scenario: &Scenario, index: usize, own: &HostTask) -> Result<Ready, SimError> {
    let setting = Setting { profile: scenario.profile(), point: scenario.point(), stacks: &[] };
    Ok(Ready {
        name: own.name.clone(),
        programs: vec![Program::of_cycles(&own.name, own.engine, own.cycles, setting)?],
        passes: 1,
        deadline: own.deadline,
        priority: own.priority,
        batch: MicroBatch::SINGLE,
        admission: own.admission,
        of: Origin::Task(index),
        planned: None,
    })
}

fn program(
    network: &Network,
    samples: u64,
    (fidelity, host): (Fidelity, Option<Host>),
    setting: Setting<'_>,
) -> Result<(Program, Planned), SimError> {
    let plan = plan(network, setting);
    if plan.steps.iter().all(|step| step.phases.is_empty()) {
        return Err(SimError::nothing(&plan));
    }
    let expected = estimate(&plan, setting);
    SimError::unless_finite(&plan, expected.latency, expected.energy)?;
    let program = Program::of(&plan, samples, fidelity, host, setting)?;
    Ok((program, Planned { plan, evidence: expected.energy_coverage }))
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
        segments: vec![segment],
    };
    Program::new(name.to_owned(), 1, vec![task])
}
