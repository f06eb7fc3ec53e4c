//! What rest saves, and from when on.

use super::Scenario;
use crate::cost::{DomainPower, Setting, background, resting_memory, resting_power, working_power};
use crate::hardware::DomainState;
use crate::physics::break_even::break_even;
use crate::units::{Joules, Seconds, Watts};

/// What a domain's rest saves, at the loads and at the profile's temperature.
#[derive(Debug, Clone, PartialEq)]
pub struct RestOutlook {
    /// The domain.
    pub domain: String,
    /// The state.
    pub state: String,
    /// What the domain and its memories draw while on and idle.
    pub on: Watts,
    /// What they draw at rest.
    pub rest: Watts,
    /// Time to be at work again, the longest of the domain's and its memories'.
    pub wake_time: Seconds,
    /// What coming back costs: energy of waking and the power of the time to wake.
    pub cost: Joules,
    /// The idle time from which it pays; nothing where it draws no less. Of a domain that rests only
    /// together with others (those of a microcontroller) it says little.
    pub break_even: Option<Seconds>,
}

impl Scenario {
    /// What the rest of each domain saves that rests.
    pub fn resting(&self) -> Vec<RestOutlook> {
        let setting = Setting { profile: self.profile(), point: self.point(), stacks: &[] };
        let domains = self.profile().spec().domains.iter().zip(&self.rest).enumerate();
        let resting = domains.filter_map(|(index, (domain, rest))| {
            let state = domain.states.get((*rest)?.state)?;
            Some(of(index, &domain.name, state, setting))
        });
        resting.collect()
    }
}

fn of(index: usize, domain: &str, state: &DomainState, setting: Setting<'_>) -> RestOutlook {
    let channels = &setting.profile.links().channel_domain;
    let memories = setting.profile.spec().memories.iter().enumerate();
    let own = || memories.clone().filter(|(m, _)| channels.get(*m) == Some(&index));
    let standing = own().filter_map(|(m, _)| background(m, setting)).map(|known| known.power);
    let kept = || own().filter_map(|(_, memory)| resting_memory(memory, state));
    let on = total(&working_power(index, setting)) + standing.sum();
    let rest = total(&resting_power(index, state, setting)) + kept().map(|m| m.power.get()).sum();
    let waking = kept().filter_map(|memory| memory.wake_time.as_ref()).chain(&state.wake_time);
    let wake_time = waking.map(|time| time.get()).fold(Seconds::ZERO, Seconds::max);
    let energy = state.wake_energy.as_ref().map_or(Joules::ZERO, |energy| energy.get());
    let cost = energy + on * wake_time;
    RestOutlook {
        domain: domain.to_owned(),
        state: state.name.clone(),
        on,
        rest,
        wake_time,
        cost,
        break_even: break_even(cost, on, rest),
    }
}

fn total(power: &DomainPower) -> Watts {
    power.clock.power + power.leakage.power + power.rest.power
}
