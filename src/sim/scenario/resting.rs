//! What rest saves, and from when on.

use super::Scenario;
use super::resolved::Work;
use crate::cost::{
    DomainPower, Setting, SupplyTree, asleep, background, resting_memory, resting_power,
    transition, working_power,
};
use crate::hardware::{DomainState, Point};
use crate::mapping::{Plan, plan};
use crate::physics::break_even::break_even;
use crate::physics::inrush;
use crate::sim::reload::{Reload, Resident, reload, residents};
use crate::units::{Amperes, Bytes, Joules, Seconds, Volts, Watts};

/// What a domain's rest saves, at the loads and at the profile's temperature.
#[derive(Debug, Clone, PartialEq)]
pub struct RestOutlook {
    /// The domain, by index.
    pub index: usize,
    /// The domain.
    pub domain: String,
    /// The state.
    pub state: String,
    /// What the domain and its memories draw while on and idle.
    pub on: Watts,
    /// What they draw at rest; where all domains of the rail rest, at the voltage that they leave it.
    pub rest: Watts,
    /// Time to go to rest.
    pub entry_time: Seconds,
    /// Time to be at work again: until the rail stands, the longest of the domain's own and its
    /// memories', and loading what was lost where nothing contends.
    pub wake_time: Seconds,
    /// What going to rest and coming back cost: all energies and the power of the time to wake.
    pub cost: Joules,
    /// The idle time from which it pays; nothing where it draws no less. Of a domain that rests only
    /// together with others (those of a microcontroller) it says little.
    pub break_even: Option<Seconds>,
    /// Highest current of charging the domain, and the most that the regulator before it gives, where
    /// both are stated.
    pub inrush: Option<(Amperes, Option<Amperes>)>,
    /// What is loaded on waking.
    pub reloaded: Bytes,
}

impl Scenario {
    /// What the rest of each domain saves that rests.
    pub fn resting(&self) -> Vec<RestOutlook> {
        self.resting_with(&self.residents())
    }

    /// The same for weights that are known to live in memories.
    pub(in crate::sim) fn resting_with(&self, residents: &[Resident]) -> Vec<RestOutlook> {
        let resting = self.states();
        let outlook =
            |(index, state): (usize, &DomainState)| self.rest_outlook(index, state, residents);
        resting.into_iter().map(outlook).collect()
    }

    /// Domains that rest, each with its state.
    fn states(&self) -> Vec<(usize, &DomainState)> {
        let domains = self.profile().spec().domains.iter().zip(&self.rest).enumerate();
        let states = domains.filter_map(|(index, (domain, rest))| {
            Some((index, domain.states.get((*rest)?.state)?))
        });
        states.collect()
    }

    /// Weights that networks keep in memories. Networks are planned for it where any domain loses some.
    fn residents(&self) -> Vec<Resident> {
        if self.states().iter().all(|(_, state)| state.loses.is_empty()) {
            return Vec::new();
        }
        let stages = self.cascades.iter().flat_map(|wake| &wake.stages);
        let stages = stages.filter_map(|stage| match &stage.work {
            Work::Network(placed) => Some(placed.as_ref()),
            Work::Detector { .. } => None,
        });
        let placed = self.workloads.iter().map(|own| &own.placed).chain(stages);
        let plans: Vec<Plan> = placed.map(|own| plan(&own.network, self.setting(own))).collect();
        residents(&plans.iter().collect::<Vec<_>>(), self.profile())
    }

    /// Memories that lose what they hold while their domain rests: each domain with the memory.
    pub(in crate::sim) fn lost(&self) -> Vec<(usize, usize)> {
        let memories = &self.profile().spec().memories;
        let place = |name: &String| memories.iter().position(|own| own.name == *name);
        let states = self.states();
        let lost = states.iter().flat_map(|(domain, state)| {
            state.loses.iter().filter_map(place).map(move |memory| (*domain, memory))
        });
        lost.collect()
    }

    /// What a domain loads when it comes back from its state.
    pub(in crate::sim) fn reload_of(&self, domain: usize, known: &[Resident]) -> Option<Reload> {
        let state = self.rest.get(domain).copied().flatten()?.state;
        let state = self.profile().spec().domains.get(domain)?.states.get(state)?;
        reload(domain, state, known, self.bare())
    }

    fn bare(&self) -> Setting<'_> {
        Setting { profile: self.profile(), point: self.point(), stacks: &[] }
    }

    fn rest_outlook(
        &self,
        index: usize,
        state: &DomainState,
        residents: &[Resident],
    ) -> RestOutlook {
        let setting = self.bare();
        let domain = &self.profile().spec().domains[index].name;
        let channels = &setting.profile.links().channel_domain;
        let memories = setting.profile.spec().memories.iter().enumerate();
        let own = || memories.clone().filter(|(m, _)| channels.get(*m) == Some(&index));
        let standing = own().filter_map(|(m, _)| background(m, setting)).map(|known| known.power);
        let kept = || own().filter_map(|(_, memory)| resting_memory(memory, state));
        let on = total(&working_power(index, setting)) + standing.sum();
        let (fallen, raise_time, raise) = self.fallen(index, state);
        let low = Setting { point: fallen.as_ref().unwrap_or(setting.point), ..setting };
        let rest = total(&resting_power(index, state, low)) + kept().map(|m| m.power.get()).sum();
        let change = transition(index, state, setting);
        let loaded = reload(index, state, residents, setting);
        let loading = loaded.as_ref().map_or(Seconds::ZERO, |own| own.time);
        let wake_time = change.wake_time() + raise_time + loading;
        let energy = change.energy() + raise + loaded.as_ref().map_or(Joules::ZERO, Reload::energy);
        let cost = energy + on * wake_time;
        RestOutlook {
            index,
            domain: domain.clone(),
            state: state.name.clone(),
            on,
            rest,
            entry_time: change.entry.time,
            wake_time,
            cost,
            break_even: break_even(cost, change.entry.time, on, rest),
            inrush: change.inrush.map(|current| (current, self.most_current(index))),
            reloaded: loaded.map_or(Bytes::ZERO, |own| own.bytes),
        }
    }

    /// Most that the regulator before a domain gives.
    fn most_current(&self, domain: usize) -> Option<Amperes> {
        let limit = self.feeding(domain)?.max_current.as_ref()?;
        Some(limit.get())
    }

    fn feeding(&self, domain: usize) -> Option<&crate::hardware::Regulator> {
        let links = self.profile().links();
        let rail = *links.domain_rail.get(domain)?;
        let mut used = self.point().regulators.iter().copied();
        let feeding = used.find(|regulator| links.regulator_rails[*regulator].1 == rail)?;
        self.profile().spec().regulators.get(feeding)
    }

    /// The operating point with the rail of a domain where it falls to while everything on it rests, and
    /// what raising it again takes.
    fn fallen(&self, domain: usize, state: &DomainState) -> (Option<Point>, Seconds, Joules) {
        let none = (None, Seconds::ZERO, Joules::ZERO);
        let (setting, rail) = (self.bare(), self.profile().links().domain_rail[domain]);
        if state.voltage.is_none() || !SupplyTree::new(setting).can_set(rail) {
            return none;
        }
        let states = self.states();
        let resting = |own: usize| {
            let stays = asleep(own, setting);
            stays.or(states.iter().find(|(index, _)| *index == own).map(|(_, state)| *state))
        };
        let (profile, point) = (self.profile(), self.point());
        let Some((voltage, kind)) = profile.rail_voltage_at_rest(point, rail, resting) else {
            return none;
        };
        let working = point.voltages[rail].0;
        if voltage >= working {
            return none;
        }
        let mut fallen = point.clone();
        fallen.voltages[rail] = (voltage, kind);
        let feeding = self.feeding(domain);
        let slew = feeding.and_then(|own| own.slew.as_ref());
        let time = slew.map_or(Seconds::ZERO, |slew| Volts(working.0 - voltage.0) / slew.get());
        let capacitance = feeding.and_then(|own| own.output_capacitance.as_ref());
        let energy =
            capacitance.map_or(Joules::ZERO, |own| inrush::raised(own.get(), voltage, working));
        (Some(fallen), time, energy)
    }
}

fn total(power: &DomainPower) -> Watts {
    power.clock.power + power.leakage.power + power.rest.power
}
