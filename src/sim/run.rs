//! One run: inferences arrive, wake the domains, and go through the plan's phases.

use super::SimError;
use super::channel::Channel;
use super::kernel::{Class, Queue, Ticket};
use super::meter::Meter;
use super::outcome::{Durations, Outcome};
use super::{Arrivals, Workload};
use crate::cost::{
    KnownPower, Setting, asleep, background, bandwidth, load_power, resting_memory, resting_power,
    working_power,
};
use crate::diagnostic::nearest;
use crate::estimate::phase_time;
use crate::evidence::Kind;
use crate::hardware::{DomainState, MemoryState, Role};
use crate::mapping::{Phase, Plan};
use crate::trace::{Cause, MetricsSink, Sink, Span, SpanKind, Tee};
use crate::units::{Joules, Seconds, SimTime, Watts};

#[derive(Debug, Clone, Copy)]
enum Event {
    Arrival,
    Awake,
    EngineDone,
    TransferDone {
        channel: usize,
        ticket: Ticket,
    },
    /// Nothing else came at the instant at which the work ran out.
    Rest,
    End,
}

/// What the system is doing.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Doing {
    /// Done, at an instant at which more may still be asked for.
    Pausing,
    Resting {
        since: SimTime,
    },
    Waking {
        since: SimTime,
    },
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
    /// Background power of each channel as it stands.
    background: Vec<Watts>,
    meter: Meter<'a>,
    sink: &'s mut S,
    doing: Doing,
    /// When the latest inference was asked for.
    arrival: SimTime,
    arrived: u64,
    done: u64,
    latency: Durations,
    response: Durations,
    waited: u64,
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
    let mut simulation = Simulation::new(plan, workload, setting, rest, &mut both)?;
    simulation.run()?;
    let end = simulation.queue.now();
    let Simulation { meter, latency, response, waited, events, .. } = simulation;
    both.end(end);
    let metrics = metrics.finish();
    SimError::unless_finite(plan, metrics.duration, metrics.energy)?;
    let (ledger, rest_evidence) = meter.close(end, metrics.load_energy);
    let residuals = ledger.residuals();
    if !residuals.hold() {
        return Err(SimError::Identity(residuals));
    }
    Ok(Outcome { metrics, ledger, latency, response, waited, rest_evidence, events })
}

/// When a periodic inference is asked for: from the start of the run, so that rounded periods do not
/// add up.
fn periodic(period: Seconds, number: u64) -> Result<SimTime, SimError> {
    Ok(SimTime::from_seconds(Seconds(period.0 * number as f64))?)
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
            && SimTime::from_seconds(period)? == SimTime::ZERO
        {
            return Err(SimError::Workload("a period is at least one picosecond".into()));
        }
        let channels = 0..setting.profile.channels();
        let meter = Meter::new(setting);
        sink.begin(meter.header());
        Ok(Self {
            plan,
            setting,
            workload,
            rest,
            queue: Queue::default(),
            background: vec![Watts::ZERO; channels.len()],
            channels: channels.map(|c| Channel::new(bandwidth(c, setting).0)).collect(),
            meter,
            sink,
            doing: Doing::Resting { since: SimTime::ZERO },
            arrival: SimTime::ZERO,
            arrived: 0,
            done: 0,
            latency: Durations::default(),
            response: Durations::default(),
            waited: 0,
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
            if self.queue.instant_is_over() && !self.queue.is_empty() {
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
                    self.charge_waking();
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
            Event::TransferDone { channel, ticket } => {
                if self.channels[channel].generation().overtook(ticket) {
                    return Ok(());
                }
                let finished = self.channels[channel].finish(now)?;
                self.follow_channel(now, channel)?;
                self.part_done(now, finished)
            }
            Event::Rest => {
                if self.doing == Doing::Pausing {
                    self.enter_rest(now);
                }
                Ok(())
            }
            Event::End => Ok(()),
        }
    }

    fn arrive(&mut self, now: SimTime) -> Result<(), SimError> {
        self.arrived += 1;
        self.arrival = now;
        if let Arrivals::Periodic(period) = self.workload.arrivals
            && self.arrived < self.workload.inferences
        {
            let at = periodic(period, self.arrived)?;
            self.queue.schedule(at, Class::Arrival, Event::Arrival)?;
        }
        if self.doing == Doing::Pausing {
            return self.begin_inference(now);
        }
        let Doing::Resting { since } = self.doing else { return Ok(()) };
        self.tell(SpanKind::Idle, "idle", "power", None, since);
        let (wake, lasting) = self.wake_time();
        if wake.0 <= 0.0 {
            self.enter_work(now);
            return self.begin_inference(now);
        }
        self.doing = Doing::Waking { since: now };
        self.meter.set_cause(Cause::Transition, lasting);
        self.enter_work(now);
        let wake = SimTime(SimTime::from_seconds(wake)?.0.max(1));
        for domain in (0..self.rest.len()).filter(|d| asleep(*d, self.setting).is_none()) {
            let surge = self.wake_energy_of(domain) / wake.seconds();
            self.meter.set(now, Role::Rest(domain), surge);
        }
        self.queue.schedule(now.after(wake)?, Class::Completion, Event::Awake)?;
        Ok(())
    }

    /// The state that a domain rests in and wakes from; none for one that stays asleep.
    fn state_of(&self, domain: usize) -> Option<&'a DomainState> {
        if asleep(domain, self.setting).is_some() {
            return None;
        }
        let states = &self.setting.profile.spec().domains[domain].states;
        self.rest[domain].and_then(|s| states.get(s))
    }

    /// The longest time that a domain, or a memory in it, takes to come back, and what it rests on.
    fn wake_time(&self) -> (Seconds, Kind) {
        let memories = &self.setting.profile.spec().memories;
        let states = (0..self.rest.len()).filter_map(|domain| self.state_of(domain));
        // What is in a domain comes back while it does.
        let times = states.flat_map(|state| {
            let named =
                memories.iter().filter_map(|m| resting_memory(m, state)?.wake_time.as_ref());
            state.wake_time.as_ref().into_iter().chain(named)
        });
        times.fold((Seconds::ZERO, Kind::STRONGEST), |longest, time| {
            if time.get() > longest.0 { (time.get(), time.kind()) } else { longest }
        })
    }

    fn wake_energy_of(&self, domain: usize) -> Joules {
        let state = self.state_of(domain);
        state.and_then(|s| s.wake_energy.as_ref()).map_or(Joules::ZERO, |e| e.get())
    }

    fn charge_waking(&mut self) {
        for domain in 0..self.rest.len() {
            let stated = self.state_of(domain).and_then(|s| s.wake_energy.as_ref());
            if let Some(energy) = stated {
                self.meter.charge_waking(domain, energy.get(), energy.kind());
            }
        }
    }

    fn enter_rest(&mut self, now: SimTime) {
        self.doing = Doing::Resting { since: now };
        // What is left of a period that was asked for.
        self.meter.set_cause(Cause::Idle, Kind::STRONGEST);
        self.set_domains(now, true);
    }

    fn enter_work(&mut self, now: SimTime) {
        self.set_domains(now, false);
    }

    /// Standing power of all domains from `now` on. A state of rest replaces clock tree, leakage and
    /// the background of the domain's memories.
    fn set_domains(&mut self, now: SimTime, resting: bool) {
        self.meter.clear_standing();
        let setting = self.setting;
        let state =
            |domain: usize| asleep(domain, setting).or(self.state_of(domain).filter(|_| resting));
        let states: Vec<_> = (0..self.rest.len()).map(state).collect();
        for (domain, state) in states.iter().enumerate() {
            let power = match state {
                Some(state) => resting_power(domain, state, setting),
                None => working_power(domain, setting),
            };
            self.meter.set_domain(now, domain, power);
        }
        let links = setting.profile.links();
        for (index, memory) in setting.profile.spec().memories.iter().enumerate() {
            let domain = links.channel_domain[index];
            let resting =
                |s: &MemoryState| KnownPower { power: s.power.get(), kind: s.power.kind() };
            let known = match states[domain] {
                None => background(index, setting),
                Some(state) => resting_memory(memory, state).map(resting),
            };
            self.background[index] = known.map_or(Watts::ZERO, |k| k.power);
            if let Some(known) = known {
                self.meter.stand(links.domain_rail[domain], known);
            }
            self.set_channel(now, index);
        }
        for (load, &rail) in links.load_rail.iter().enumerate() {
            let known = load_power(load, setting);
            self.meter.set(now, Role::Load(load), known.power);
            self.meter.stand(rail, known);
        }
    }

    fn set_channel(&mut self, now: SimTime, channel: usize) {
        let power = self.background[channel] + self.channels[channel].power();
        self.meter.set(now, Role::Channel(channel), power);
    }

    fn begin_inference(&mut self, now: SimTime) -> Result<(), SimError> {
        // Waking drew a surge; work goes on without it.
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
                self.meter.set_cause(Cause::Layer(step.layer), Kind::STRONGEST);
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
        if phase.compute.0 > 0.0 || phase.energy.0 > 0.0 {
            self.meter.set(now, Role::Engine(engine), phase.energy / time.seconds());
            self.queue.schedule(now.after(time)?, Class::Completion, Event::EngineDone)?;
            position.open += 1;
        }
        self.doing = Doing::Working(position);
        for transfer in &phase.transfers {
            let asked = transfer.bytes() / time.seconds();
            // Where another tool sets the pace, the port keeps up with it.
            let demand = match phase.stated {
                Some(_) => asked.min(bandwidth(transfer.channel, self.setting).0),
                None => asked,
            };
            self.channels[transfer.channel].start(now, time, demand, transfer.energy)?;
            self.follow_channel(now, transfer.channel)?;
        }
        Ok(())
    }

    /// Power and next end of a channel after its transfers changed.
    fn follow_channel(&mut self, now: SimTime, channel: usize) -> Result<(), SimError> {
        self.set_channel(now, channel);
        if let Some(end) = self.channels[channel].next_end() {
            let ticket = self.channels[channel].generation().ticket();
            let event = Event::TransferDone { channel, ticket };
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
        let arrival = match self.workload.arrivals {
            Arrivals::Periodic(period) => periodic(period, self.done)?,
            Arrivals::BackToBack => self.arrival,
        };
        self.done += 1;
        self.latency.add(now.since(position.inference_start));
        self.response.add(now.since(arrival));
        if self.workload.arrivals == Arrivals::BackToBack && self.arrived < self.workload.inferences
        {
            self.arrived += 1;
            self.arrival = now;
        } else if self.arrived > self.done {
            self.waited += 1;
        } else {
            self.doing = Doing::Pausing;
            if self.workload.arrivals != Arrivals::BackToBack {
                self.queue.schedule(now, Class::Flush, Event::Rest)?;
            }
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
