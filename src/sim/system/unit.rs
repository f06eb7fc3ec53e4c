//! A power domain as a run goes on: on, on its way to rest, at rest in one of its states, or on its way
//! back.

use crate::cost::{Setting, Spent, asleep, transition};
use crate::evidence::Kind;
use crate::hardware::DomainState;
use crate::sim::kernel::Generation;
use crate::sim::load::RestRule;
use crate::sim::reload::Reload;
use crate::sim::scenario::Rest;
use crate::units::{Amperes, Bytes, Joules, Seconds, SimTime};
use serde::{Deserialize, Serialize};

/// What a domain is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Doing {
    On,
    Entering,
    Resting,
    Waking,
}

/// A part of going to rest or of coming back, in the order in which they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Part {
    /// Going to rest.
    Entry,
    /// Its rail rises.
    Rail,
    /// What was switched off is charged.
    Ramp,
    /// Everything else that waking is.
    Wake,
    /// It waits for the domains that its weights come from.
    Sources,
    /// Weights are loaded.
    Reload,
}

/// A part that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Passing {
    pub(super) part: Part,
    pub(super) since: SimTime,
    pub(super) time: SimTime,
    /// What the time rests on.
    pub(super) kind: Kind,
    /// Energy beyond the working power, spread over the time.
    pub(super) energy: Option<(Joules, Kind)>,
}

/// The time of a part in ticks, and the rest of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leg {
    pub(super) time: SimTime,
    pub(super) kind: Kind,
    pub(super) energy: Option<(Joules, Kind)>,
}

impl Leg {
    const NONE: Self = Self { time: SimTime::ZERO, kind: Kind::STRONGEST, energy: None };

    /// What is spent takes time.
    fn of(spent: &Spent) -> Result<Self, crate::units::TimeError> {
        let mut time = SimTime::from_seconds(spent.time)?;
        if spent.energy.is_some_and(|(energy, _)| energy.0 > 0.0) {
            time = time.max(SimTime(1));
        }
        Ok(Self { time, kind: spent.time_kind, energy: spent.energy })
    }
}

/// What of a domain does not change in a run.
#[derive(Debug, Clone)]
pub(super) struct Fixed<'a> {
    /// The state that it rests in, and when it goes there; nothing of one that stays on.
    pub(super) rest: Option<(&'a DomainState, RestRule)>,
    pub(super) break_even: Option<Seconds>,
    pub(super) entry: Leg,
    pub(super) ramp: Leg,
    pub(super) wake: Leg,
    /// Current of the inrush.
    pub(super) inrush: Option<Amperes>,
    /// What it loads on waking, and how long that takes by itself.
    pub(super) reload: Option<(Reload, SimTime)>,
    /// True of a domain that nothing runs in: it is needed while anything is served.
    pub(super) follows: bool,
    /// True of one that stays at rest at the operating point.
    pub(super) asleep: bool,
}

impl<'a> Fixed<'a> {
    pub(super) fn of(
        domain: usize,
        (rest, break_even): (Option<Rest>, Option<Seconds>),
        reload: Option<Reload>,
        together: bool,
        setting: Setting<'a>,
    ) -> Result<Self, crate::units::TimeError> {
        let spec = setting.profile.spec();
        let asleep = asleep(domain, setting).is_some();
        let rest = rest.filter(|_| !asleep);
        let rest = rest.and_then(|r| Some((spec.domains[domain].states.get(r.state)?, r.rule)));
        let links = setting.profile.links();
        let holds = links.engine_domain.contains(&domain) || links.channel_domain.contains(&domain);
        let follows = !asleep && (together || !holds);
        let (entry, ramp, wake, inrush) = match rest {
            None => (Leg::NONE, Leg::NONE, Leg::NONE, None),
            Some((state, _)) => {
                let own = transition(domain, state, setting);
                (Leg::of(&own.entry)?, Leg::of(&own.ramp)?, Leg::of(&own.wake)?, own.inrush)
            }
        };
        let reload = match reload.filter(|_| rest.is_some()) {
            None => None,
            Some(own) => {
                let time = SimTime::from_seconds(own.time)?.max(SimTime(1));
                Some((own, time))
            }
        };
        Ok(Self { rest, break_even, entry, ramp, wake, inrush, reload, follows, asleep })
    }
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
    /// Of timers to rest, of entry and of waking.
    pub(super) generation: Generation,
    /// The part of entry or waking that goes on.
    pub(super) passing: Option<Passing>,
    /// When each transfer of its reload ends.
    pub(super) ends: Vec<SimTime>,
    since: SimTime,
    pub(super) residency: Residency,
    pub(super) spent: Transitions,
}

/// Time in each state, and how often it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Residency {
    /// On, needed or not.
    pub on: SimTime,
    /// On its way to rest.
    pub entering: SimTime,
    /// At rest.
    pub resting: SimTime,
    /// On its way back.
    pub waking: SimTime,
    /// Times that it came back.
    pub wakes: u64,
    /// Idle times that were too short for it to rest, or that it stayed on in.
    pub stayed: u64,
}

/// What changes of state cost a domain, beyond its working power meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Transitions {
    /// Times that it went to rest by an entry that takes time.
    pub entries: u64,
    /// Going to rest.
    pub entry: Joules,
    /// Coming back.
    pub wake: Joules,
    /// Charging what was switched off.
    pub inrush: Joules,
    /// Current of that; nothing where nothing was charged.
    pub inrush_current: Option<Amperes>,
    /// Raising its rail, where it was the first to wake there; behind the regulator.
    pub rail: Joules,
    /// Times that weights were loaded.
    pub reloads: u64,
    /// What was loaded.
    pub reloaded: Bytes,
    /// Energy of that in the memories and links that it passed.
    pub reload: Joules,
}

impl Transitions {
    pub(super) fn add(&mut self, part: Part, energy: Joules) {
        let sum = match part {
            Part::Entry => &mut self.entry,
            Part::Rail => &mut self.rail,
            Part::Ramp => &mut self.inrush,
            Part::Wake | Part::Sources => &mut self.wake,
            Part::Reload => &mut self.reload,
        };
        *sum += energy;
    }
}

impl Unit {
    pub(super) fn new(rests: bool) -> Self {
        Self {
            doing: if rests { Doing::Resting } else { Doing::On },
            users: 0,
            idle_since: Some(SimTime::ZERO),
            average: None,
            generation: Generation::default(),
            passing: None,
            ends: Vec::new(),
            since: SimTime::ZERO,
            residency: Residency::default(),
            spent: Transitions::default(),
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
            Doing::Entering => &mut self.residency.entering,
            Doing::Resting => &mut self.residency.resting,
            Doing::Waking => &mut self.residency.waking,
        };
        *time = SimTime(time.0.saturating_add(now.since(self.since).0));
        self.since = now;
    }
}
