//! A power domain as a run goes on: on, at rest in one of its states, or on its way back.

use crate::cost::{Setting, asleep, resting_memory};
use crate::evidence::Kind;
use crate::hardware::DomainState;
use crate::sim::kernel::Generation;
use crate::sim::load::RestRule;
use crate::sim::scenario::Rest;
use crate::units::{Joules, Seconds, SimTime};
use serde::{Deserialize, Serialize};

/// What a domain is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Doing {
    On,
    Resting,
    Waking,
}

/// What of a domain does not change in a run.
#[derive(Debug, Clone)]
pub(super) struct Fixed<'a> {
    /// The state that it rests in, and when it goes there; nothing of one that stays on.
    pub(super) rest: Option<(&'a DomainState, RestRule)>,
    pub(super) break_even: Option<Seconds>,
    /// Time to be on again, and what that rests on.
    pub(super) wake: SimTime,
    pub(super) wake_kind: Kind,
    pub(super) wake_energy: Option<(Joules, Kind)>,
    /// True of a domain that nothing runs in: it is needed while anything is served.
    pub(super) follows: bool,
    /// True of one that stays at rest at the operating point.
    pub(super) asleep: bool,
}

impl<'a> Fixed<'a> {
    pub(super) fn of(
        domain: usize,
        rest: Option<Rest>,
        break_even: Option<Seconds>,
        together: bool,
        setting: Setting<'a>,
    ) -> Result<Self, crate::units::TimeError> {
        let spec = setting.profile.spec();
        let asleep = asleep(domain, setting).is_some();
        let rest = rest.filter(|_| !asleep);
        let rest = rest.and_then(|r| Some((spec.domains[domain].states.get(r.state)?, r.rule)));
        let links = setting.profile.links();
        let holds = links.engine_domain.contains(&domain) || links.channel_domain.contains(&domain);
        let (wake, wake_kind) = match rest {
            Some((state, _)) => wake_time(state, setting),
            None => (Seconds::ZERO, Kind::STRONGEST),
        };
        let energy = rest.and_then(|(state, _)| state.wake_energy.as_ref());
        let wake_energy = energy.map(|own| (own.get(), own.kind()));
        let mut wake = SimTime::from_seconds(wake)?;
        if wake_energy.is_some_and(|(energy, _)| energy.0 > 0.0) {
            wake = wake.max(SimTime(1));
        }
        let follows = !asleep && (together || !holds);
        Ok(Self { rest, break_even, wake, wake_kind, wake_energy, follows, asleep })
    }
}

/// The longest time that a domain, or a memory in it, takes to come back, and what it rests on.
fn wake_time(state: &DomainState, setting: Setting<'_>) -> (Seconds, Kind) {
    // What is in a domain comes back while it does.
    let memories = setting.profile.spec().memories.iter();
    let named = memories.filter_map(|m| resting_memory(m, state)?.wake_time.as_ref());
    let times = state.wake_time.as_ref().into_iter().chain(named);
    times.fold((Seconds::ZERO, Kind::STRONGEST), |longest, time| {
        if time.get() > longest.0 { (time.get(), time.kind()) } else { longest }
    })
}

/// A domain in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Unit {
    pub(super) doing: Doing,
    /// Tasks that need it, and requests if it follows them.
    pub(super) users: u32,
    /// Since when nothing has needed it.
    pub(super) idle_since: Option<SimTime>,
    /// Average of past idle times, for a rule that learns.
    pub(super) average: Option<Seconds>,
    /// Of timers to rest and of waking.
    pub(super) generation: Generation,
    since: SimTime,
    pub(super) residency: Residency,
}

/// Time in each state, and how often it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Residency {
    /// On, needed or not.
    pub on: SimTime,
    /// At rest.
    pub resting: SimTime,
    /// On its way back.
    pub waking: SimTime,
    /// Times that it came back.
    pub wakes: u64,
    /// Idle times that were too short for it to rest, or that it stayed on in.
    pub stayed: u64,
}

impl Unit {
    pub(super) fn new(rests: bool) -> Self {
        Self {
            doing: if rests { Doing::Resting } else { Doing::On },
            users: 0,
            idle_since: Some(SimTime::ZERO),
            average: None,
            generation: Generation::default(),
            since: SimTime::ZERO,
            residency: Residency::default(),
        }
    }

    /// Changes what it does; returns since when it did what it did before.
    pub(super) fn change(&mut self, now: SimTime, doing: Doing) -> SimTime {
        let since = self.since;
        self.spend(now);
        self.doing = doing;
        since
    }

    /// Books the time up to `now`.
    pub(super) fn spend(&mut self, now: SimTime) {
        let time = match self.doing {
            Doing::On => &mut self.residency.on,
            Doing::Resting => &mut self.residency.resting,
            Doing::Waking => &mut self.residency.waking,
        };
        *time = SimTime(time.0.saturating_add(now.since(self.since).0));
        self.since = now;
    }
}
