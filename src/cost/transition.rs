//! What it takes a domain to go into a state of rest and to come back.

use super::Setting;
use super::standing::resting_memory;
use super::voltage::rail_voltage;
use crate::evidence::{Kind, Valued};
use crate::hardware::DomainState;
use crate::physics::inrush;
use crate::units::{Amperes, Joules, Quantity, Seconds};

/// A time at working power with the energy that is spent in it beyond that, and what both rest on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spent {
    /// The time.
    pub time: Seconds,
    /// What it rests on.
    pub time_kind: Kind,
    /// The energy, where any is stated.
    pub energy: Option<(Joules, Kind)>,
}

/// Going into a state and coming back, at an operating point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transition {
    /// Going there.
    pub entry: Spent,
    /// Charging what was switched off: the first part of coming back, with the energy of the inrush.
    pub ramp: Spent,
    /// The rest of coming back.
    pub wake: Spent,
    /// Current of the inrush.
    pub inrush: Option<Amperes>,
}

/// What a state of a domain takes. A memory in the domain comes back while it does.
pub fn transition(domain: usize, state: &DomainState, setting: Setting<'_>) -> Transition {
    let memories = setting.profile.spec().memories.iter();
    let named = memories.filter_map(|m| resting_memory(m, state)?.wake_time.as_ref());
    let times = state.wake_time.as_ref().into_iter().chain(named);
    let (mut time, mut time_kind) = (Seconds::ZERO, Kind::STRONGEST);
    for own in times {
        if own.get() > time {
            (time, time_kind) = (own.get(), own.kind());
        }
    }
    let (ramp, inrush) = ramp(domain, state, setting);
    let wake = Spent {
        time: (time - ramp.time).max(Seconds::ZERO),
        time_kind: if ramp.time.0 > 0.0 { time_kind.weaker(ramp.time_kind) } else { time_kind },
        energy: known(&state.wake_energy),
    };
    let entry = Spent {
        time: state.entry_time.as_ref().map_or(Seconds::ZERO, Valued::get),
        time_kind: state.entry_time.as_ref().map_or(Kind::STRONGEST, Valued::kind),
        energy: known(&state.entry_energy),
    };
    Transition { entry, ramp, wake, inrush }
}

fn known<Q: Quantity>(value: &Option<Valued<Q>>) -> Option<(Q, Kind)> {
    value.as_ref().map(|own| (own.get(), own.kind()))
}

/// The ramp of a state that cuts the domain's power.
fn ramp(domain: usize, state: &DomainState, setting: Setting<'_>) -> (Spent, Option<Amperes>) {
    let unit = &setting.profile.spec().domains[domain];
    let (Some(time), Some(capacitance)) = (&state.ramp_time, &unit.capacitance) else {
        let none = Spent { time: Seconds::ZERO, time_kind: Kind::STRONGEST, energy: None };
        return (none, None);
    };
    let (voltage, voltage_kind) = rail_voltage(domain, setting);
    let energy = inrush::switched_on(capacitance.get(), voltage);
    let kind = capacitance.kind().weaker(voltage_kind);
    let current = inrush::current(capacitance.get(), voltage, time.get());
    let spent = Spent { time: time.get(), time_kind: time.kind(), energy: Some((energy, kind)) };
    (spent, Some(current))
}

impl Transition {
    /// Time to be at work again once the rail stands.
    pub fn wake_time(&self) -> Seconds {
        self.ramp.time + self.wake.time
    }

    /// Energy of both ways, beyond the working power meanwhile.
    pub fn energy(&self) -> Joules {
        let parts = [self.entry, self.ramp, self.wake];
        parts.iter().filter_map(|part| part.energy).map(|(energy, _)| energy).sum()
    }
}
