//! Operating points that change while a run goes on: when a governor looks, what a change takes, and how
//! work that is under way goes on at another speed.
//!
//! On the way up voltages rise first and the clock follows; on the way down the clock goes first. Work and
//! standing power are at the old point until the new frequency holds, and from then on at the new one. Where
//! the profile says that work halts while the clock relocks, engines stand still for that time.
//! What the output capacitances of risen rails store is drawn by the domains behind them until the new
//! frequency holds.

use super::domains::Resting;
use super::job::{NEVER, PAUSED, Stage};
use super::port::Owner;
use super::unit::Fixed;
use super::{Event, System};
use crate::cost::{Setting, SupplyTree, bandwidth};
use crate::evidence::Kind;
use crate::hardware::Role;
use crate::physics::opp_transition::OppTransition;
use crate::sim::SimError;
use crate::sim::governor::{GovernorState, JobLeft, NextLook, Observed};
use crate::sim::kernel::{Class, Generation, Queue};
use crate::sim::program::{Holds, Segment};
use crate::sim::scenario::Dvfs;
use crate::trace::{Sink, SpanKind};
use crate::units::{Cycles, Joules, Ratio, Seconds, SimTime, TimeError, Watts};
use serde::{Deserialize, Serialize};

/// A point as a run needs it.
struct Speed<'a> {
    setting: Setting<'a>,
    tree: SupplyTree,
    fixed: Vec<Fixed<'a>>,
}

/// Points that a run goes between, and where it is.
pub(super) struct Speeds<'a> {
    dvfs: &'a Dvfs,
    speeds: Vec<Speed<'a>>,
    transitions: Vec<Vec<OppTransition>>,
    pub(super) state: SpeedState,
}

/// What of it moves.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::sim) struct SpeedState {
    /// The point that holds.
    at: usize,
    since: SimTime,
    /// A change under way: to which point, and whether the clock relocks by now.
    going: Option<(usize, bool)>,
    /// What the governor wants after it.
    wanted: Option<usize>,
    /// Power that charges output capacitances, by domain.
    charging: Vec<(usize, Watts)>,
    charging_since: SimTime,
    changing: Generation,
    looking: Generation,
    governor: GovernorState,
    /// When the governor looked last.
    looked: SimTime,
    /// How long the busiest engine had worked when that was last counted, and what it did since the look:
    /// seconds, and the same times the capacity of then.
    worked: SimTime,
    busy: f64,
    done: f64,
    residency: Vec<SimTime>,
    changes: u64,
}

/// Time at each operating point.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OppUse {
    /// Time at each, the slowest first.
    pub residency: Vec<SimTime>,
    /// How often it changed.
    pub changes: u64,
}

impl<'a> Speeds<'a> {
    pub(super) fn new(
        dvfs: &'a Dvfs,
        rests: &[Resting],
        base: Setting<'a>,
    ) -> Result<Self, SimError> {
        let mut speeds = Vec::with_capacity(dvfs.points.len());
        for speed in 0..dvfs.points.len() {
            let setting = dvfs.setting(speed, base);
            let mut fixed = Vec::with_capacity(rests.len());
            for domain in 0..setting.profile.spec().domains.len() {
                let own = rests.get(domain).cloned().unwrap_or_default();
                let rest = (own.rest, own.break_even);
                fixed.push(Fixed::of(domain, rest, own.reload, false, setting)?);
            }
            speeds.push(Speed { setting, tree: SupplyTree::new(setting), fixed });
        }
        let transitions = dvfs.transitions.all(&dvfs.table);
        let transitions = transitions.map_err(|error| SimError::Workload(error.to_string()))?;
        let state = SpeedState {
            at: dvfs.start,
            residency: vec![SimTime::ZERO; dvfs.points.len()],
            ..SpeedState::default()
        };
        Ok(Self { dvfs, speeds, transitions, state })
    }

    /// The point that holds.
    pub(super) fn at(&self) -> usize {
        self.state.at
    }

    pub(super) fn start(&self) -> usize {
        self.dvfs.start
    }

    /// Whether what was saved can be of it.
    pub(super) fn fits(&self, saved: &SpeedState) -> bool {
        saved.residency.len() == self.speeds.len() && saved.at < self.speeds.len()
    }

    fn capacity(&self) -> f64 {
        self.dvfs.table.at(self.state.at).capacity.0
    }
}

impl SpeedState {
    fn spend(&mut self, now: SimTime) -> SimTime {
        let since = std::mem::replace(&mut self.since, now);
        if let Some(time) = self.residency.get_mut(self.at) {
            *time = SimTime(time.0.saturating_add(now.since(since).0));
        }
        since
    }
}

fn ticks(time: Seconds) -> Result<SimTime, TimeError> {
    SimTime::from_seconds(time)
}

impl<'a, S: Sink> System<'a, '_, S> {
    /// Time that engines have worked, all together.
    fn worked(&self, now: SimTime) -> SimTime {
        let own = self.engines.iter().map(|unit| {
            let held = if unit.holder.is_some() { now.since(unit.since).0 } else { 0 };
            unit.busy.0.saturating_add(held)
        });
        SimTime(own.fold(0, u64::max))
    }

    /// Counts what was done since the last change at the capacity of the present point.
    fn count_done(&mut self, now: SimTime) {
        let worked = self.worked(now);
        let Some(speeds) = &mut self.speeds else { return };
        let more = worked.since(speeds.state.worked).seconds().0;
        speeds.state.done += more * speeds.capacity();
        speeds.state.busy += more;
        speeds.state.worked = worked;
    }

    /// Work that is asked for.
    fn job_left(&self) -> Option<JobLeft> {
        let waits = |stream: &super::Stream| {
            stream.uses_engines && (stream.job.stage != Stage::Idle || !stream.waiting.is_empty())
        };
        // Those who ask how much work is left want to know whether there is any.
        self.streams.iter().any(waits).then_some(JobLeft { work: Cycles(1.0), time: None })
    }

    /// A governor looks.
    pub(super) fn govern(&mut self, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let now = queue.now();
        self.count_done(now);
        let job = self.job_left();
        let Some(speeds) = &mut self.speeds else { return Ok(()) };
        let window = now.since(speeds.state.looked).seconds();
        let share =
            |time: f64| if window.0 > 0.0 { (time / window.0).clamp(0.0, 1.0) } else { 0.0 };
        let seen = Observed {
            now,
            window,
            busy: Ratio(share(speeds.state.busy)),
            done: Ratio(share(speeds.state.done)),
            tracked: None,
            current: speeds.state.going.map_or(speeds.state.at, |(to, _)| to),
            highest: usize::MAX,
            job,
        };
        let wanted =
            speeds.dvfs.governor.decide(&mut speeds.state.governor, &seen, &speeds.dvfs.table);
        (speeds.state.looked, speeds.state.busy, speeds.state.done) = (now, 0.0, 0.0);
        let next = match speeds.dvfs.governor.next_look(&speeds.state.governor) {
            NextLook::After(time) | NextLook::AtJobsOrAfter(time) => Some(time),
            NextLook::Never | NextLook::AtJobs => None,
        };
        // Where nothing is to come and nothing is asked for, there is nothing to look at.
        let over = job.is_none() && queue.next_at().is_none() && now > SimTime::ZERO;
        if let Some(time) = next.filter(|_| !over) {
            let ticket = speeds.state.looking.renew();
            // Past the end of time it looks no more.
            if let Ok(at) = ticks(time).and_then(|time| now.after(time.max(SimTime(1)))) {
                queue.schedule(at, Class::Control, Event::Govern { ticket })?;
            }
        }
        self.want_speed(wanted, queue)
    }

    /// Jobs came or ended: governors that go by them look.
    pub(super) fn govern_by_jobs(&mut self, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let Some(speeds) = &self.speeds else { return Ok(()) };
        let next = speeds.dvfs.governor.next_look(&speeds.state.governor);
        match next {
            NextLook::AtJobs | NextLook::AtJobsOrAfter(_) => self.govern(queue),
            NextLook::Never | NextLook::After(_) => Ok(()),
        }
    }

    pub(super) fn is_speed_overtaken(&self, event: &Event) -> bool {
        let Some(speeds) = &self.speeds else { return true };
        match event {
            Event::Govern { ticket } => speeds.state.looking.overtook(*ticket),
            Event::Speed { ticket } => speeds.state.changing.overtook(*ticket),
            _ => false,
        }
    }

    fn want_speed(&mut self, wanted: usize, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let Some(speeds) = &mut self.speeds else { return Ok(()) };
        if speeds.state.going.is_some() {
            // What is under way is not broken off.
            speeds.state.wanted = Some(wanted);
            return Ok(());
        }
        if wanted == speeds.state.at {
            return Ok(());
        }
        let transition = &speeds.transitions[speeds.state.at][wanted];
        let whole = transition.until_new_frequency();
        let running = whole - transition.halted();
        let stored: Vec<Joules> = transition.rails.iter().map(|rail| rail.stored).collect();
        let (time, whole) = (ticks(running)?, ticks(whole)?);
        let stored_any = stored.iter().any(|own| own.0 > 0.0);
        let whole = if stored_any { whole.max(SimTime(1)) } else { whole };
        speeds.state.going = Some((wanted, false));
        speeds.state.charging.clear();
        speeds.state.charging_since = queue.now();
        if whole > SimTime::ZERO {
            let rails = &self.setting.profile.links().domain_rail;
            for (rail, energy) in stored.iter().enumerate().filter(|(_, own)| own.0 > 0.0) {
                if let Some(domain) = rails.iter().position(|own| *own == rail) {
                    speeds.state.charging.push((domain, *energy / whole.seconds()));
                }
            }
        }
        let charged: Vec<usize> = speeds.state.charging.iter().map(|own| own.0).collect();
        let now = queue.now();
        for domain in charged {
            self.set_domain_power(now, domain);
        }
        if time == SimTime::ZERO {
            return self.speed_event(queue);
        }
        self.plan_speed(time, queue)
    }

    fn plan_speed(&mut self, time: SimTime, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let Some(speeds) = &mut self.speeds else { return Ok(()) };
        let ticket = speeds.state.changing.renew();
        let at = queue.now().after(time)?;
        queue.schedule(at, Class::Completion, Event::Speed { ticket })?;
        Ok(())
    }

    /// A change goes on: to its relock, or to its end.
    pub(super) fn speed_event(&mut self, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let now = queue.now();
        let Some(speeds) = &mut self.speeds else { return Ok(()) };
        let Some((to, halted)) = speeds.state.going else { return Ok(()) };
        let halts = ticks(speeds.transitions[speeds.state.at][to].halted())?;
        if !halted && halts > SimTime::ZERO {
            speeds.state.going = Some((to, true));
            self.halt(now);
            return self.plan_speed(halts, queue);
        }
        self.switch(to, queue)?;
        let Some(speeds) = &mut self.speeds else { return Ok(()) };
        match speeds.state.wanted.take() {
            Some(wanted) => self.want_speed(wanted, queue),
            None => Ok(()),
        }
    }

    /// Power that charges output capacitances through a domain.
    pub(super) fn charging_power(&self, domain: usize) -> Watts {
        let charging = self.speeds.as_ref().map_or(&[][..], |own| &own.state.charging);
        charging.iter().filter(|own| own.0 == domain).map(|own| own.1).sum()
    }

    /// Books what output capacitances were charged with until `now`.
    fn book_charging(&mut self, now: SimTime) {
        let Some(speeds) = &mut self.speeds else { return };
        let lasted = now.since(speeds.state.charging_since).seconds();
        for (domain, power) in std::mem::take(&mut speeds.state.charging) {
            // Whatever the capacitance rests on, no number of it is better founded.
            self.accounts.charge_waking(domain, power * lasted, Kind::Assumed);
        }
    }

    /// Whether engines stand still at the moment.
    pub(super) fn is_halted(&self) -> bool {
        self.speeds.as_ref().is_some_and(|own| matches!(own.state.going, Some((_, true))))
    }

    /// Everything that runs on engines stands still, and nothing begins there.
    fn halt(&mut self, now: SimTime) {
        for stream in 0..self.streams.len() {
            let on_engine = matches!(self.held(stream), Holds::Engine(_));
            if on_engine && self.streams[stream].job.stage == Stage::Running {
                self.slice(now, stream);
                let job = &mut self.streams[stream].job;
                if job.work_end != NEVER {
                    job.work_end = PAUSED;
                    if let Holds::Engine(engine) = self.held(stream) {
                        self.accounts.set(now, Role::Engine(engine), Watts::ZERO);
                    }
                }
                let job = &mut self.streams[stream].job;
                job.ends.iter_mut().filter(|end| **end != NEVER).for_each(|end| *end = PAUSED);
                job.generation.renew();
                job.scheduled = NEVER;
            }
        }
        for channel in 0..self.ports.len() {
            self.ports[channel].clear_jobs(now, self.streams.len());
            self.port_changed(channel);
        }
    }

    /// Books what a job has done of its slot until `now`, and notes what is left.
    fn slice(&mut self, now: SimTime, stream: usize) {
        let mut spent = Joules::ZERO;
        let job = &self.streams[stream].job;
        if job.work_end < PAUSED {
            let whole = job.work_end.since(job.slot_start).seconds();
            let done =
                if whole.0 > 0.0 { now.since(job.slot_start).seconds() / whole } else { 1.0 };
            spent += self.work_energy(stream) * done;
            self.streams[stream].job.work_left *= 1.0 - done;
        }
        let count = self.streams[stream].job.ends.len();
        if self.streams[stream].job.moves_left.is_empty() {
            self.streams[stream].job.moves_left.resize(count, 1.0);
        }
        for part in 0..count {
            let end = self.streams[stream].job.ends[part];
            if end >= PAUSED {
                continue;
            }
            let segment = self.segment(stream);
            let channel = segment.moves[part].channel;
            let whole = segment.share(segment.moving, self.streams[stream].job.slot).seconds();
            let owner = Owner { job: stream, part };
            let left = self.ports[channel].time_left(now, owner);
            let before = self.streams[stream].job.move_left(part);
            spent += self.move_energy(stream, part) - self.ports[channel].energy_left(now, owner);
            self.streams[stream].job.moves_left[part] = (left / whole).clamp(0.0, before);
        }
        self.streams[stream].job.slot_start = now;
        self.charge(stream, spent);
    }

    /// Another point holds from now on.
    fn switch(&mut self, to: usize, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let now = queue.now();
        self.count_done(now);
        for stream in 0..self.streams.len() {
            if self.streams[stream].job.stage == Stage::Running {
                self.slice(now, stream);
            }
        }
        let Some(speeds) = &mut self.speeds else { return Ok(()) };
        let was = speeds.state.at;
        let since = speeds.state.spend(now);
        speeds.state.at = to;
        speeds.state.going = None;
        speeds.state.changes += 1;
        self.book_charging(now);
        let Some(speeds) = &mut self.speeds else { return Ok(()) };
        let speed = &speeds.speeds[to];
        self.setting = speed.setting;
        self.domains.fixed.clone_from(&speed.fixed);
        self.accounts.repoint(speed.setting, speed.tree.clone());
        let name = speeds.dvfs.points[was].name.clone();
        if self.hears.states {
            self.tell((SpanKind::State, &name, "opp"), None, (since, now));
        }
        self.rails.repoint(self.setting);
        for domain in 0..self.domains.units.len() {
            self.follow_rail(now, domain)?;
        }
        for domain in 0..self.domains.units.len() {
            self.set_domain_power(now, domain);
        }
        for load in 0..self.blocks.len() {
            self.set_block(now, load);
        }
        for stream in 0..self.streams.len() {
            self.respeed(now, stream, to);
        }
        self.restart_ports(now)?;
        self.follow_ends(queue)?;
        for stream in 0..self.streams.len() {
            match self.streams[stream].job.stage {
                Stage::Running => self.plan_end(stream, queue)?,
                // What it needs came while engines stood still.
                Stage::Waking(0) => self.begin_task(stream, queue)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// A stream goes on at another speed: at once where its task is made of the same parts, else with its
    /// next task.
    fn respeed(&mut self, now: SimTime, stream: usize, to: usize) {
        let own = &mut self.streams[stream];
        let job = &own.job;
        let task = |speed: usize| {
            let programs = own.setup.programs.get(speed)?;
            programs.get(job.program)?.tasks.get(job.task)
        };
        let alike = match (task(job.speed), task(to)) {
            (Some(old), Some(new)) => {
                old.segments.len() == new.segments.len()
                    && old.segments.iter().zip(&new.segments).all(|(a, b)| same_shape(a, b))
            }
            _ => true,
        };
        let running = job.stage == Stage::Running;
        if alike || !running {
            own.job.speed = to;
        }
        if !running {
            return;
        }
        let segment = self.segment(stream);
        let job = &self.streams[stream].job;
        if let Some(work) = segment.work.filter(|_| job.work_end != NEVER) {
            let time = segment.share(work.time, job.slot).0 as f64 * job.work_left;
            let time = SimTime((time.round() as u64).max(1));
            let energy = self.work_energy(stream);
            let end = SimTime(now.0.saturating_add(time.0)).min(SimTime(PAUSED.0 - 1));
            let job = &mut self.streams[stream].job;
            (job.slot_start, job.work_end) = (now, end);
            if let Holds::Engine(engine) = self.held(stream) {
                self.accounts.set(now, Role::Engine(engine), energy / time.seconds());
            }
        }
        let job = &mut self.streams[stream].job;
        job.generation.renew();
        job.scheduled = NEVER;
    }

    /// Transfers go on at the rates of the present point.
    fn restart_ports(&mut self, now: SimTime) -> Result<(), SimError> {
        for channel in 0..self.ports.len() {
            let rate = bandwidth(channel, self.setting).0;
            self.ports[channel].clear_jobs(now, self.streams.len());
            let moved = &mut self.moved;
            self.ports[channel].set_rate(now, rate, |own, end| moved.push((own, end)))?;
            self.port_changed(channel);
        }
        for stream in 0..self.streams.len() {
            if self.streams[stream].job.stage != Stage::Running {
                continue;
            }
            for part in 0..self.streams[stream].job.ends.len() {
                if self.streams[stream].job.ends[part] == NEVER {
                    continue;
                }
                let segment = self.segment(stream);
                let (own, slot) = (segment.moves[part], self.streams[stream].job.slot);
                let left = self.streams[stream].job.move_left(part);
                let time = segment.share(segment.moving, slot).0 as f64 * left;
                let time = SimTime((time.round() as u64).max(1));
                let asked = (time, own.demand, self.move_energy(stream, part));
                let owner = Owner { job: stream, part };
                let moved = &mut self.moved;
                self.ports[own.channel]
                    .start(now, owner, asked, |own, end| moved.push((own, end)))?;
            }
        }
        Ok(())
    }

    /// Takes up the point that a run stood at.
    pub(super) fn restore_speed(&mut self, saved: SpeedState) {
        let Some(speeds) = &mut self.speeds else { return };
        let speed = &speeds.speeds[saved.at];
        self.setting = speed.setting;
        self.domains.fixed.clone_from(&speed.fixed);
        self.accounts.stand_at(speed.setting, speed.tree.clone());
        self.rails.stand_at(speed.setting);
        speeds.state = saved;
    }

    /// Time at each point until `end`.
    pub(super) fn close_speeds(&mut self, end: SimTime) -> Option<OppUse> {
        self.book_charging(end);
        let speeds = self.speeds.as_mut()?;
        let since = speeds.state.spend(end);
        let name = speeds.dvfs.points[speeds.state.at].name.clone();
        let used =
            OppUse { residency: speeds.state.residency.clone(), changes: speeds.state.changes };
        if self.hears.states {
            self.tell((SpanKind::State, &name, "opp"), None, (since, end));
        }
        Some(used)
    }
}

/// Whether two segments go through the same slots with the same transfers.
fn same_shape(a: &Segment, b: &Segment) -> bool {
    let channels = |own: &Segment| own.moves.iter().map(|part| part.channel).collect::<Vec<_>>();
    a.slots == b.slots && a.work.is_some() == b.work.is_some() && channels(a) == channels(b)
}
