//! One run: inferences arrive, wake the domains, and go through the plan's phases.

use super::channel::Channel;
use super::kernel::{Class, KernelError, Queue};
use super::meter::Meter;
use super::{Arrivals, Workload};
use crate::cost::{DomainPower, Setting, resting_power, working_power};
use crate::estimate::{bandwidth, phase_time};
use crate::hardware::Role;
use crate::mapping::{Phase, Plan};
use crate::trace::{Cause, Ledger, Metrics, MetricsSink, Residuals, Sink, Span, SpanKind, Tee};
use crate::units::{Joules, Seconds, SimTime, TimeError, Watts};
use std::collections::VecDeque;

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimError {
    /// The kernel stopped.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The plan has no step that takes time.
    #[error("nothing of `{network}` runs on this hardware: {reasons}")]
    NothingToRun {
        /// The network.
        network: String,
        /// Why the engines refused.
        reasons: String,
    },
    /// A workload that cannot be.
    #[error("{0}")]
    Workload(String),
    /// A state of rest that no domain has.
    #[error("no domain has a state called `{name}`\nhelp: there are {known}")]
    NoSuchState {
        /// The name as given.
        name: String,
        /// Those there are.
        known: String,
    },
    /// Time or energy beyond what a number holds: the profile's values are out of this world.
    #[error("{network} would take {time} and {energy}: a number of the profile is out of range")]
    OutOfRange {
        /// The network.
        network: String,
        /// The time that came out.
        time: Seconds,
        /// The energy that came out.
        energy: Joules,
    },
    /// The sums of the run disagree: a fault of the program.
    #[error("the sums of joules disagree: {0:?}")]
    Identity(Residuals),
}

impl SimError {
    /// An error when the time or energy of `plan` is not a finite number.
    pub fn unless_finite(plan: &Plan, time: Seconds, energy: Joules) -> Result<(), Self> {
        if time.0.is_finite() && energy.0.is_finite() {
            return Ok(());
        }
        Err(Self::OutOfRange { network: plan.network.clone(), time, energy })
    }

    /// No step of `plan` takes time: why.
    pub fn nothing(plan: &Plan) -> Self {
        let mut reasons: Vec<_> =
            plan.uncosted.iter().flat_map(|u| u.reasons.iter().cloned()).collect();
        reasons.sort();
        reasons.dedup();
        Self::NothingToRun { network: plan.network.clone(), reasons: reasons.join("; ") }
    }
}

impl From<TimeError> for SimError {
    fn from(error: TimeError) -> Self {
        Self::Kernel(error.into())
    }
}

/// What a run leaves besides what it wrote into its sink.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Exact metrics of the whole run.
    pub metrics: Metrics,
    /// Energy by cause, component, rail and loss.
    pub ledger: Ledger,
    /// Response time of each inference, from arrival to end.
    pub latencies: Vec<Seconds>,
    /// Events handled.
    pub events: u64,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    Arrival,
    Awake,
    EngineDone,
    TransferDone { channel: usize, generation: u64 },
    End,
}

/// What the system is doing.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Doing {
    Resting { since: SimTime },
    Waking { since: SimTime },
    Working(Position),
}

/// Where in the plan it is.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Position {
    step: usize,
    phase: usize,
    inference_start: SimTime,
    step_start: SimTime,
    phase_start: SimTime,
    /// Engine and transfers of the phase that are not done.
    open: usize,
}

struct Simulation<'a, 's, S: Sink> {
    plan: &'a Plan,
    setting: Setting<'a>,
    workload: &'a Workload,
    rest: Vec<Option<usize>>,
    queue: Queue<Event>,
    channels: Vec<Channel>,
    meter: Meter<'a>,
    sink: &'s mut S,
    doing: Doing,
    waiting: VecDeque<SimTime>,
    arrived: u64,
    done: u64,
    latencies: Vec<Seconds>,
    events: u64,
}

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
    let rest = rest_states(workload, setting)?;
    let mut metrics = MetricsSink::default();
    let mut both = Tee(&mut metrics, sink);
    let (ends, ledger_of, latencies, events) = {
        let mut simulation = Simulation::new(plan, workload, setting, rest, &mut both)?;
        simulation.run()?;
        let end = simulation.queue.now();
        (end, simulation.meter, simulation.latencies, simulation.events)
    };
    both.end(ends);
    let metrics = metrics.finish();
    SimError::unless_finite(plan, metrics.duration, metrics.energy)?;
    let ledger = ledger_of.close(ends, metrics.load_energy);
    let residuals = ledger.residuals();
    if !residuals.hold() {
        return Err(SimError::Identity(residuals));
    }
    Ok(Outcome { metrics, ledger, latencies, events })
}

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
        return Err(SimError::NoSuchState { name: name.to_owned(), known: known.join(", ") });
    }
    Ok(found)
}

impl<'a, 's, S: Sink> Simulation<'a, 's, S> {
    fn new(
        plan: &'a Plan,
        workload: &'a Workload,
        setting: Setting<'a>,
        rest: Vec<Option<usize>>,
        sink: &'s mut S,
    ) -> Result<Self, SimError> {
        if workload.inferences == 0 {
            return Err(SimError::Workload("a run needs at least one inference".into()));
        }
        if let Arrivals::Periodic(period) = workload.arrivals
            && (period.0 <= 0.0 || period.0.is_nan())
        {
            return Err(SimError::Workload("a period must be above zero".into()));
        }
        let memories = 0..setting.profile.spec().memories.len();
        let meter = Meter::new(setting);
        sink.begin(meter.header());
        Ok(Self {
            plan,
            setting,
            workload,
            rest,
            queue: Queue::default(),
            channels: memories.map(|m| Channel::new(bandwidth(m, setting).0)).collect(),
            meter,
            sink,
            doing: Doing::Resting { since: SimTime::ZERO },
            waiting: VecDeque::new(),
            arrived: 0,
            done: 0,
            latencies: Vec::new(),
            events: 0,
        })
    }

    fn run(&mut self) -> Result<(), SimError> {
        self.enter_rest(SimTime::ZERO);
        self.queue.schedule(SimTime::ZERO, Class::Arrival, Event::Arrival)?;
        if let Arrivals::Periodic(period) = self.workload.arrivals {
            let end = Seconds(period.0 * self.workload.inferences as f64);
            self.queue.schedule(SimTime::from_seconds(end)?, Class::Flush, Event::End)?;
        }
        while let Some(event) = self.queue.take()? {
            let now = self.queue.now();
            self.events += 1;
            self.meter.book(now);
            self.handle(now, event)?;
            if self.queue.instant_is_over() {
                self.meter.commit(now, self.sink);
            }
        }
        if let Doing::Resting { since } = self.doing {
            self.tell(SpanKind::Idle, "idle", "power", None, since);
        }
        Ok(())
    }

    fn handle(&mut self, now: SimTime, event: Event) -> Result<(), SimError> {
        match event {
            Event::Arrival => self.arrive(now),
            Event::Awake => {
                if let Doing::Waking { since } = self.doing {
                    self.tell(SpanKind::Transition, "wake", "power", None, since);
                    self.meter.charge(Cause::Transition, self.wake_energy());
                }
                self.begin_inference(now)
            }
            Event::EngineDone => {
                if let Doing::Working(position) = self.doing {
                    let engine = self.plan.steps[position.step].engine;
                    self.meter.set(now, Role::Engine(engine), Watts::ZERO);
                }
                self.part_done(now, 1)
            }
            Event::TransferDone { channel, generation } => {
                if self.channels[channel].generation() != generation {
                    return Ok(());
                }
                let finished = self.channels[channel].finish(now)?;
                self.follow_channel(now, channel)?;
                self.part_done(now, finished)
            }
            Event::End => Ok(()),
        }
    }

    fn arrive(&mut self, now: SimTime) -> Result<(), SimError> {
        self.arrived += 1;
        self.waiting.push_back(now);
        if let Arrivals::Periodic(period) = self.workload.arrivals
            && self.arrived < self.workload.inferences
        {
            // From the start of the run, so that rounded periods do not add up.
            let at = SimTime::from_seconds(Seconds(period.0 * self.arrived as f64))?;
            self.queue.schedule(at, Class::Arrival, Event::Arrival)?;
        }
        let Doing::Resting { since } = self.doing else { return Ok(()) };
        self.tell(SpanKind::Idle, "idle", "power", None, since);
        let wake = self.wake_time();
        if wake.0 <= 0.0 {
            self.enter_work(now);
            return self.begin_inference(now);
        }
        self.doing = Doing::Waking { since: now };
        self.meter.set_cause(Cause::Transition);
        self.enter_work(now);
        let wake = SimTime(SimTime::from_seconds(wake)?.0.max(1));
        let surge = self.wake_energy() / wake.seconds();
        for domain in 0..self.rest.len() {
            let share =
                self.wake_energy_of(domain) / self.wake_energy().max(Joules(f64::MIN_POSITIVE));
            let mut power = working_power(domain, self.setting);
            power.clock += surge * share;
            self.meter.set_domain(now, domain, power);
        }
        self.queue.schedule(now.after(wake)?, Class::Completion, Event::Awake)?;
        Ok(())
    }

    fn state_of(&self, domain: usize) -> Option<&'a crate::hardware::DomainState> {
        let states = &self.setting.profile.spec().domains[domain].states;
        self.rest[domain].and_then(|s| states.get(s))
    }

    fn wake_time(&self) -> Seconds {
        let times = (0..self.rest.len()).filter_map(|d| self.state_of(d)?.wake_time.as_ref());
        times.map(|t| t.get()).fold(Seconds::ZERO, Seconds::max)
    }

    fn wake_energy_of(&self, domain: usize) -> Joules {
        let state = self.state_of(domain);
        state.and_then(|s| s.wake_energy.as_ref()).map_or(Joules::ZERO, |e| e.get())
    }

    fn wake_energy(&self) -> Joules {
        (0..self.rest.len()).map(|d| self.wake_energy_of(d)).sum()
    }

    fn enter_rest(&mut self, now: SimTime) {
        self.doing = Doing::Resting { since: now };
        self.meter.set_cause(Cause::Idle);
        self.set_domains(now, |domain, this| match this.state_of(domain) {
            Some(state) => resting_power(domain, state, this.setting),
            None => working_power(domain, this.setting),
        });
    }

    fn enter_work(&mut self, now: SimTime) {
        self.set_domains(now, |domain, this| working_power(domain, this.setting));
    }

    fn set_domains(&mut self, now: SimTime, power: impl Fn(usize, &Self) -> DomainPower) {
        let mut standing = Watts::ZERO;
        for domain in 0..self.rest.len() {
            let own = power(domain, self);
            standing += own.clock + own.leakage;
            self.meter.set_domain(now, domain, own);
        }
        for (index, memory) in self.setting.profile.spec().memories.iter().enumerate() {
            standing += memory.background.as_ref().map_or(Watts::ZERO, |b| b.get());
            self.set_memory(now, index);
        }
        self.meter.set_standing(standing);
    }

    fn set_memory(&mut self, now: SimTime, memory: usize) {
        let unit = &self.setting.profile.spec().memories[memory];
        let background = unit.background.as_ref().map_or(Watts::ZERO, |b| b.get());
        self.meter.set(now, Role::Memory(memory), background + self.channels[memory].power());
    }

    fn begin_inference(&mut self, now: SimTime) -> Result<(), SimError> {
        // Waking raised the clock domain for its surge; work goes on without it.
        self.enter_work(now);
        let position = Position {
            step: 0,
            phase: 0,
            inference_start: now,
            step_start: now,
            phase_start: now,
            open: 0,
        };
        self.doing = Doing::Working(position);
        self.begin_phase(now, position)
    }

    /// Starts the phase at `position`, or the next one there is.
    fn begin_phase(&mut self, now: SimTime, mut position: Position) -> Result<(), SimError> {
        let plan = self.plan;
        loop {
            let Some(step) = plan.steps.get(position.step) else {
                return self.inference_done(now, position);
            };
            if let Some(phase) = step.phases.get(position.phase) {
                position.phase_start = now;
                self.meter.set_cause(Cause::Layer(step.layer));
                return self.start_jobs(now, position, phase, step.engine);
            }
            if now > position.step_start {
                let track = &self.setting.profile.spec().engines[step.engine].name;
                let inference = Some(self.done);
                self.tell(SpanKind::Layer, &step.name, track, inference, position.step_start);
            }
            position = Position { step: position.step + 1, phase: 0, step_start: now, ..position };
        }
    }

    /// Starts engine and transfers of a phase, all paced to its slowest part.
    fn start_jobs(
        &mut self,
        now: SimTime,
        mut position: Position,
        phase: &Phase,
        engine: usize,
    ) -> Result<(), SimError> {
        let total = phase_time(phase, engine, self.setting).total;
        let time = SimTime(SimTime::from_seconds(total)?.0.max(1));
        position.open = phase.transfers.len();
        if phase.compute.0 > 0.0 {
            self.meter.set(now, Role::Engine(engine), phase.energy / time.seconds());
            self.queue.schedule(now.after(time)?, Class::Completion, Event::EngineDone)?;
            position.open += 1;
        }
        self.doing = Doing::Working(position);
        for transfer in &phase.transfers {
            let demand = transfer.bytes() / time.seconds();
            self.channels[transfer.memory].start(now, time, demand, transfer.energy)?;
            self.follow_channel(now, transfer.memory)?;
        }
        Ok(())
    }

    /// Power and next end of a channel after its transfers changed.
    fn follow_channel(&mut self, now: SimTime, channel: usize) -> Result<(), SimError> {
        self.set_memory(now, channel);
        if let Some(end) = self.channels[channel].next_end() {
            let generation = self.channels[channel].generation();
            let event = Event::TransferDone { channel, generation };
            self.queue.schedule(end, Class::Completion, event)?;
        }
        Ok(())
    }

    fn part_done(&mut self, now: SimTime, parts: usize) -> Result<(), SimError> {
        let Doing::Working(mut position) = self.doing else { return Ok(()) };
        position.open = position.open.saturating_sub(parts);
        self.doing = Doing::Working(position);
        if position.open > 0 {
            return Ok(());
        }
        let plan = self.plan;
        let step = &plan.steps[position.step];
        let phase = &step.phases[position.phase];
        let transfers: Joules = phase.transfers.iter().map(|t| t.energy).sum();
        self.meter.charge(Cause::Layer(step.layer), phase.energy + transfers);
        let track = &self.setting.profile.spec().engines[step.engine].name;
        let inference = Some(self.done);
        self.tell(SpanKind::Phase, phase.kind.name(), track, inference, position.phase_start);
        self.begin_phase(now, Position { phase: position.phase + 1, ..position })
    }

    fn inference_done(&mut self, now: SimTime, position: Position) -> Result<(), SimError> {
        let number = Some(self.done);
        self.tell(SpanKind::Inference, "inference", "inferences", number, position.inference_start);
        self.done += 1;
        if let Some(arrival) = self.waiting.pop_front() {
            self.latencies.push(now.since(arrival).seconds());
        }
        let back_to_back = self.workload.arrivals == Arrivals::BackToBack;
        if back_to_back && self.arrived < self.workload.inferences {
            self.arrived += 1;
            self.waiting.push_back(now);
        }
        if self.waiting.is_empty() {
            self.enter_rest(now);
            return Ok(());
        }
        self.begin_inference(now)
    }

    fn tell(
        &mut self,
        kind: SpanKind,
        name: &str,
        track: &str,
        inference: Option<u64>,
        start: SimTime,
    ) {
        let end = self.queue.now();
        if end > start {
            let (name, track) = (name.to_owned(), track.to_owned());
            self.sink.span(Span { kind, name, track, inference, start, end });
        }
    }
}
