//! Domains: who needs them, when they rest, and how they wake.

use super::job::Stage;
use super::unit::{Doing, Fixed, Unit};
use super::{Event, System};
use crate::cost::{Setting, background, resting_memory, resting_power, working_power};
use crate::evidence::Kind;
use crate::hardware::Role;
use crate::sim::SimError;
use crate::sim::kernel::{Class, Queue};
use crate::sim::load::RestRule;
use crate::sim::reload::Reload;
use crate::sim::scenario::Rest;
use crate::trace::{Sink, SpanKind};
use crate::units::{Seconds, SimTime, Watts};

/// How a domain rests.
#[derive(Debug, Clone, Default)]
pub(in crate::sim) struct Resting {
    pub(in crate::sim) rest: Option<Rest>,
    /// The idle time from which that pays.
    pub(in crate::sim) break_even: Option<Seconds>,
    /// What it loads on waking.
    pub(in crate::sim) reload: Option<Reload>,
}

/// All domains of a run.
pub(super) struct Domains<'a> {
    pub(super) units: Vec<Unit>,
    pub(super) fixed: Vec<Fixed<'a>>,
    /// Domains that are needed while anything is served.
    pub(super) followers: Vec<usize>,
    /// Domains that load weights on waking.
    pub(super) loading: Vec<usize>,
    /// Memories of each domain.
    memories: Vec<Vec<usize>>,
    /// Domains that nothing needs since this instant.
    idle: Vec<usize>,
}

/// Domains whose weights come from each other would wait for ever.
fn no_circles(fixed: &[Fixed<'_>], setting: Setting<'_>) -> Result<(), SimError> {
    let needs = |domain: usize| fixed[domain].reload.iter().flat_map(|(own, _)| &own.needs);
    for domain in 0..fixed.len() {
        let (mut seen, mut next) = (vec![false; fixed.len()], vec![domain]);
        while let Some(own) = next.pop() {
            next.extend(needs(own).filter(|source| !std::mem::replace(&mut seen[**source], true)));
        }
        if seen[domain] {
            let name = &setting.profile.spec().domains[domain].name;
            return Err(SimError::Workload(format!(
                "domain `{name}` loads its weights from a domain that loads from it: neither comes back; `reloaded_from` says where they come from"
            )));
        }
    }
    Ok(())
}

impl<'a> Domains<'a> {
    pub(super) fn new(
        rests: &mut [Resting],
        together: bool,
        setting: Setting<'a>,
    ) -> Result<Self, SimError> {
        let spec = setting.profile.spec();
        let mut fixed = Vec::with_capacity(spec.domains.len());
        for domain in 0..spec.domains.len() {
            let own = rests.get_mut(domain).map(std::mem::take).unwrap_or_default();
            let (rest, reload) = ((own.rest, own.break_even), own.reload);
            fixed.push(Fixed::of(domain, rest, reload, together, setting)?);
        }
        no_circles(&fixed, setting)?;
        let followers = (0..fixed.len()).filter(|d| fixed[*d].follows).collect();
        let homes = &setting.profile.links().channel_domain;
        let within = |domain: usize| {
            let memories = 0..spec.memories.len();
            memories.filter(|memory| homes.get(*memory) == Some(&domain)).collect()
        };
        Ok(Self {
            // A run starts at rest.
            units: fixed.iter().map(|own| Unit::new(own.rest.is_some() || own.asleep)).collect(),
            memories: (0..fixed.len()).map(within).collect(),
            loading: (0..fixed.len()).filter(|d| fixed[*d].reload.is_some()).collect(),
            fixed,
            followers,
            idle: Vec::new(),
        })
    }

    pub(super) fn is_on(&self, domain: usize) -> bool {
        self.units[domain].doing == Doing::On
    }

    pub(super) fn follows(&self, domain: usize) -> bool {
        self.fixed[domain].follows
    }

    /// Domains that are needed while anything is served and are not on, those of `tasks` apart.
    pub(super) fn followers_off(&self, tasks: &[usize]) -> u32 {
        let off = self.followers.iter().filter(|d| !self.is_on(**d) && !tasks.contains(d));
        off.count() as u32
    }

    /// Somebody needs a domain no longer.
    pub(super) fn release(&mut self, domain: usize) {
        let unit = &mut self.units[domain];
        unit.users -= 1;
        if unit.users == 0 {
            self.idle.push(domain);
        }
    }

    /// Nothing needs a domain, as of this instant.
    pub(super) fn begins_idle(&mut self, domain: usize) {
        self.idle.push(domain);
    }

    /// Whether any domain is on its way back, and what that time rests on.
    pub(super) fn waking(&self) -> (bool, Kind) {
        let passing = self.units.iter().filter_map(|unit| unit.passing.as_ref());
        passing.fold((false, Kind::STRONGEST), |(_, kind), own| (true, kind.weaker(own.kind)))
    }
}

impl<S: Sink> System<'_, '_, S> {
    /// Somebody needs a domain from now on.
    pub(super) fn need(&mut self, domain: usize, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let now = queue.now();
        let (unit, fixed) = (&mut self.domains.units[domain], &self.domains.fixed[domain]);
        unit.users += 1;
        if unit.users > 1 {
            return Ok(());
        }
        if let (Some(since), Some((_, rule))) = (unit.idle_since.take(), fixed.rest) {
            let idle = now.since(since);
            if idle > SimTime::ZERO {
                unit.average = rule.learn(unit.average, idle.seconds());
                unit.residency.stayed += u64::from(unit.doing == Doing::On);
            }
        }
        match unit.doing {
            Doing::On => {
                // It does not go to rest now.
                unit.generation.renew();
                Ok(())
            }
            Doing::Entering | Doing::Waking => Ok(()),
            Doing::Resting => self.wake(domain, queue),
        }
    }

    pub(super) fn change_domain(&mut self, now: SimTime, domain: usize, doing: Doing) {
        let was = self.domains.units[domain].doing;
        let since = self.domains.units[domain].change(now, doing);
        self.tell_state(domain, was, (since, now));
        self.set_domain_power(now, domain);
    }

    pub(super) fn tell_state(&mut self, domain: usize, was: Doing, times: (SimTime, SimTime)) {
        if !self.hears.states {
            return;
        }
        let Some((state, _)) = self.domains.fixed[domain].rest else { return };
        let track = self.setting.profile.spec().domains[domain].name.as_str();
        let (kind, name) = match was {
            Doing::On => (SpanKind::State, "on"),
            Doing::Resting => (SpanKind::State, state.name.as_str()),
            Doing::Entering => (SpanKind::Transition, "entry"),
            Doing::Waking => (SpanKind::Transition, "wake"),
        };
        self.tell((kind, name, track), None, times);
    }

    /// Power of a domain and of the memories in it, as it is. A state of rest replaces clock tree,
    /// leakage and the background of the memories.
    pub(super) fn set_domain_power(&mut self, now: SimTime, domain: usize) {
        let setting = self.setting_now();
        let (doing, fixed) = (self.domains.units[domain].doing, &self.domains.fixed[domain]);
        let resting = fixed.rest.filter(|_| doing == Doing::Resting).map(|(state, _)| state);
        let power = match resting {
            Some(state) => resting_power(domain, state, setting),
            None => working_power(domain, setting),
        };
        self.accounts.set_domain(now, domain, power);
        self.tell_leakage(now, domain);
        let charging = self.charging_power(domain);
        if let Some(passing) = self.passing_power(domain) {
            self.accounts.set(now, Role::Rest(domain), passing + charging);
        } else if charging > Watts::ZERO {
            self.accounts.set(now, Role::Rest(domain), power.rest.power + charging);
        }
        let setting = self.setting;
        let rail = setting.profile.links().domain_rail[domain];
        for place in 0..self.domains.memories[domain].len() {
            let memory = self.domains.memories[domain][place];
            let known = match resting {
                None => background(memory, setting),
                Some(state) => {
                    resting_memory(&setting.profile.spec().memories[memory], state).map(|own| {
                        crate::cost::KnownPower { power: own.power.get(), kind: own.power.kind() }
                    })
                }
            };
            self.backgrounds[memory] = known.map_or(Watts::ZERO, |own| own.power);
            let nothing = crate::cost::KnownPower { power: Watts::ZERO, kind: Kind::STRONGEST };
            self.accounts.set_background(memory, rail, known.unwrap_or(nothing));
            self.port_changed(memory);
        }
    }

    /// Domains that nothing needs any more begin to be idle.
    pub(super) fn settle_idle(&mut self, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let mut idle = std::mem::take(&mut self.domains.idle);
        for domain in idle.drain(..) {
            let unit = &self.domains.units[domain];
            if unit.users == 0 && unit.idle_since.is_none() {
                self.begin_idle(domain, queue)?;
            }
        }
        self.domains.idle = idle;
        Ok(())
    }

    fn begin_idle(&mut self, domain: usize, queue: &mut Queue<Event>) -> Result<(), SimError> {
        let now = queue.now();
        self.domains.units[domain].idle_since = Some(now);
        let Some((_, rule)) = self.domains.fixed[domain].rest else { return Ok(()) };
        let break_even = match (rule, self.domains.fixed[domain].break_even) {
            (RestRule::Immediately | RestRule::Timeout(_), own) => own.unwrap_or_default(),
            (_, Some(own)) => own,
            // It draws no less at rest.
            (_, None) => return Ok(()),
        };
        let coming = match rule {
            RestRule::Oracle => self.coming(domain, now),
            _ => None,
        };
        let average = self.domains.units[domain].average;
        match rule.wait(break_even, average, coming) {
            None => {}
            Some(wait) if wait.0 <= 0.0 => self.rest(domain, queue)?,
            Some(wait) => {
                let ticket = self.domains.units[domain].generation.renew();
                // A timeout past the end of time does not come.
                if let Ok(at) = SimTime::from_seconds(wait).and_then(|wait| now.after(wait)) {
                    queue.schedule(at, Class::Control, Event::Rest { domain, ticket })?;
                }
            }
        }
        Ok(())
    }

    /// How long nothing will need a domain, by what is known to come and with nothing that contends;
    /// nothing where nothing is known to come.
    fn coming(&self, domain: usize, now: SimTime) -> Option<Seconds> {
        let mut soonest: Option<SimTime> = None;
        for (stream, own) in self.streams.iter().enumerate() {
            let program = own.program();
            let uses = |from: usize| {
                let later = program.tasks.iter().enumerate().skip(from);
                later.filter(|(_, task)| task.domains.contains(&domain)).map(|(at, _)| at).next()
            };
            let after = |start: SimTime, from: SimTime, task: usize| {
                SimTime(start.0.saturating_add(program.begin(task).since(from).0))
            };
            let task = own.job.task;
            let at = match own.job.stage {
                Stage::Idle => self
                    .next_request(stream)
                    .zip(uses(0))
                    .map(|(asked, task)| after(asked, SimTime::ZERO, task)),
                Stage::Running => {
                    uses(task + 1).map(|next| after(own.job.task_start, program.begin(task), next))
                }
                Stage::Queued | Stage::Waking(_) => {
                    uses(task).map(|next| after(now, program.begin(task), next))
                }
            };
            soonest = [soonest, at].into_iter().flatten().min();
        }
        soonest.map(|at| at.since(now).seconds())
    }
}
