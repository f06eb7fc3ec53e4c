//! What a domain draws besides work: its running clock tree and its leakage, or its state of rest.

use super::Setting;
use super::voltage::{dynamic_scale, rail_voltage};
use crate::evidence::Kind;
use crate::hardware::{
    DomainState, LeakageSpec, LoadLeakage, LoadState, Memory, MemoryState, PerCycle,
};
use crate::physics::leakage::Leakage;
use crate::physics::switching;
use crate::units::{Celsius, Quantity, Volts, Watts};

/// Power, and what the number rests on.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct KnownPower {
    /// The power.
    pub power: Watts,
    /// What it rests on.
    pub kind: Kind,
}

impl KnownPower {
    const NONE: Self = Self { power: Watts::ZERO, kind: Kind::STRONGEST };
}

/// The parts of a domain's standing power.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DomainPower {
    /// The running clock tree.
    pub clock: KnownPower,
    /// Leakage while on.
    pub leakage: KnownPower,
    /// All that is drawn in a state of rest.
    pub rest: KnownPower,
}

/// The state of a domain that stays at rest at the operating point.
pub fn asleep<'a>(domain: usize, setting: Setting<'a>) -> Option<&'a DomainState> {
    let state = (*setting.point.asleep.get(domain)?)?;
    setting.profile.spec().domains[domain].states.get(state)
}

/// What a memory draws in its domain's state of rest; nothing where the state does not name it.
pub fn resting_memory<'a>(memory: &'a Memory, state: &DomainState) -> Option<&'a MemoryState> {
    let named = state.memories.get(&memory.name)?;
    memory.states.iter().find(|s| s.name == *named)
}

/// Background power of a memory while its domain is on, or asleep at the operating point.
pub fn background(memory: usize, setting: Setting<'_>) -> Option<KnownPower> {
    let domain = setting.profile.links().channel_domain[memory];
    let known = match asleep(domain, setting) {
        None => setting.profile.channel(memory, setting.point).background?,
        Some(state) => &resting_memory(&setting.profile.spec().memories[memory], state)?.power,
    };
    Some(KnownPower { power: known.get(), kind: known.kind() })
}

/// Standing power of a domain while others work: on, or asleep at the operating point.
pub fn working_power(domain: usize, setting: Setting<'_>) -> DomainPower {
    if let Some(state) = asleep(domain, setting) {
        return resting_power(domain, state, setting);
    }
    let unit = &setting.profile.spec().domains[domain];
    let clock = unit.clock_tree.as_ref().map(|cost| cycling(cost, domain, setting));
    DomainPower {
        clock: clock.unwrap_or(KnownPower::NONE),
        leakage: leakage(domain, setting),
        rest: KnownPower::NONE,
    }
}

/// The law of a domain's leakage and the voltage of its rail; of a domain that is asleep, the law of the
/// share that its state leaves.
pub fn leakage_law(domain: usize, setting: Setting<'_>) -> Option<(Leakage, Volts)> {
    let unit = &setting.profile.spec().domains[domain];
    let law = law(unit.leakage.as_ref()?, unit.nominal_voltage.get());
    let left = match asleep(domain, setting) {
        None => 1.0,
        Some(state) => state.leakage_share.as_ref()?.get().0.min(1.0),
    };
    Some((Leakage { power: law.power * left, ..law }, rail_voltage(domain, setting).0))
}

/// The law of the leakage of a block in its state and the voltage of its rail; none where nothing is known
/// of its growth.
pub fn load_leakage_law(load: usize, setting: Setting<'_>) -> Option<(Leakage, Volts)> {
    let state = load_state(load, setting)?;
    let Some(LoadLeakage::Growing(given)) = &state.leakage else { return None };
    let (voltage, _) = setting.point.voltages[setting.profile.links().load_rail[load]];
    Some((law(given, state.voltage.get()), voltage))
}

/// The state that a block is in.
fn load_state<'a>(load: usize, setting: Setting<'a>) -> Option<&'a LoadState> {
    let state = *setting.point.load_states.get(load)?;
    setting.profile.spec().loads.get(load)?.states.get(state)
}

fn law(given: &LeakageSpec, stated_at: Volts) -> Leakage {
    Leakage {
        power: given.power.get(),
        voltage: stated_at,
        temperature: given.temperature.get(),
        per_volt: given.per_volt.get(),
        per_kelvin: given.per_kelvin.get(),
    }
}

fn leakage(domain: usize, setting: Setting<'_>) -> KnownPower {
    let unit = &setting.profile.spec().domains[domain];
    let Some(given) = &unit.leakage else { return KnownPower::NONE };
    let at = rail_voltage(domain, setting);
    leaking(given, unit.nominal_voltage.get(), at, domain_temperature(domain, setting))
}

/// The temperature that a domain leaks at.
pub fn domain_temperature(domain: usize, setting: Setting<'_>) -> (Celsius, Kind) {
    let heated = setting.point.heated.as_ref();
    let own = heated.and_then(|own| *own.domains.get(domain)?);
    own.unwrap_or_else(|| stated_temperature(setting))
}

/// The temperature that a block leaks at.
pub fn load_temperature(load: usize, setting: Setting<'_>) -> (Celsius, Kind) {
    let heated = setting.point.heated.as_ref();
    let own = heated.and_then(|own| *own.loads.get(load)?);
    own.unwrap_or_else(|| stated_temperature(setting))
}

fn stated_temperature(setting: Setting<'_>) -> (Celsius, Kind) {
    let stated = &setting.profile.spec().temperature;
    (stated.get(), stated.kind())
}

/// What of a domain's power is leakage: in a state of rest, what that leaves of it.
pub fn leaked(domain: usize, state: Option<&DomainState>, setting: Setting<'_>) -> Watts {
    let whole = leakage(domain, setting).power;
    match state.or_else(|| asleep(domain, setting)) {
        None => whole,
        Some(state) => {
            let share = state.leakage_share.as_ref();
            share.map_or(Watts::ZERO, |share| whole * share.get().0.min(1.0))
        }
    }
}

/// What of a block's power in a state is leakage that grows with temperature.
pub fn load_leaked(load: usize, state: usize, setting: Setting<'_>) -> Watts {
    let state = setting.profile.spec().loads.get(load).and_then(|own| own.states.get(state));
    let Some((state, Some(LoadLeakage::Growing(given)))) =
        state.map(|state| (state, &state.leakage))
    else {
        return Watts::ZERO;
    };
    let voltage = setting.point.voltages[setting.profile.links().load_rail[load]];
    leaking(given, state.voltage.get(), voltage, load_temperature(load, setting)).power
}

/// Leakage stated at a voltage, at that of the rail and at the junction's temperature.
fn leaking(
    given: &LeakageSpec,
    stated_at: Volts,
    (voltage, voltage_kind): (Volts, Kind),
    (temperature, temperature_kind): (Celsius, Kind),
) -> KnownPower {
    let law = law(given, stated_at);
    let mut kind = given.power.kind().weaker(voltage_kind).weaker(temperature_kind);
    if voltage != stated_at {
        kind = kind.weaker(given.per_volt.kind());
    }
    if temperature != given.temperature.get() {
        kind = kind.weaker(given.per_kelvin.kind());
    }
    KnownPower { power: law.at(voltage, temperature), kind }
}

/// What is drawn at each tap of the supply tree whatever the engines do.
pub fn standing_power(setting: Setting<'_>) -> Vec<Watts> {
    let links = setting.profile.links();
    let mut power = vec![Watts::ZERO; links.tap_rail.len()];
    for (domain, &tap) in links.domain_tap.iter().enumerate() {
        let own = working_power(domain, setting);
        power[tap] += own.clock.power + own.leakage.power + own.rest.power;
    }
    for (load, &rail) in links.load_rail.iter().enumerate() {
        power[rail] += load_power(load, setting).power;
    }
    for memory in 0..setting.profile.spec().memories.len() {
        let tap = links.domain_tap[links.channel_domain[memory]];
        power[tap] += background(memory, setting).map_or(Watts::ZERO, |b| b.power);
    }
    power
}

/// Power of a block that runs no network, in its state at the operating point.
pub fn load_power(load: usize, setting: Setting<'_>) -> KnownPower {
    let state = setting.point.load_states.get(load).copied();
    state.map_or(KnownPower::NONE, |state| load_power_in(load, state, setting))
}

/// The same in another of its states, by number.
pub fn load_power_in(load: usize, state: usize, setting: Setting<'_>) -> KnownPower {
    let unit = &setting.profile.spec().loads[load];
    let Some(state) = unit.states.get(state) else { return KnownPower::NONE };
    let (voltage, voltage_kind) = setting.point.voltages[setting.profile.links().load_rail[load]];
    let stated_at = state.voltage.get();
    let (exponent, exponent_kind) = match &unit.voltage_exponent {
        None => (switching::SQUARE_LAW, Kind::STRONGEST),
        Some(stated) => (stated.get().0, stated.kind()),
    };
    let mut known = KnownPower { power: state.dynamic.get(), kind: state.dynamic.kind() };
    if exponent != 0.0 {
        known.power = known.power * switching::scale(voltage, stated_at, exponent);
        known.kind = known.kind.weaker(voltage_kind);
        if voltage != stated_at {
            known.kind = known.kind.weaker(exponent_kind);
        }
    }
    match &state.leakage {
        None => {}
        Some(LoadLeakage::Constant(power)) => {
            known.power += power.get() * (voltage / stated_at);
            known.kind = known.kind.weaker(power.kind()).weaker(voltage_kind);
        }
        Some(LoadLeakage::Growing(law)) => {
            let leaked =
                leaking(law, stated_at, (voltage, voltage_kind), load_temperature(load, setting));
            known.power += leaked.power;
            known.kind = known.kind.weaker(leaked.kind);
        }
    }
    known
}

/// Power of a domain in a state of rest.
pub fn resting_power(domain: usize, state: &DomainState, setting: Setting<'_>) -> DomainPower {
    let (voltage, voltage_kind) = rail_voltage(domain, setting);
    let mut rest = KnownPower { power: Watts::ZERO, kind: voltage_kind };
    if let Some(cost) = &state.per_cycle {
        let part = cycling(cost, domain, setting);
        rest.power += part.power;
        rest.kind = rest.kind.weaker(part.kind);
    }
    if let Some(standing) = &state.standing {
        rest.power += standing.at(voltage);
        rest.kind = rest.kind.weaker(standing.kind());
    }
    let unit = &setting.profile.spec().domains[domain];
    if let (Some(share), Some(cost)) = (&state.clock_share, &unit.clock_tree) {
        let part = cycling(cost, domain, setting);
        rest.power += part.power * share.get().0.min(1.0);
        rest.kind = rest.kind.weaker(part.kind).weaker(share.kind());
    }
    if let Some(share) = &state.leakage_share {
        let part = leakage(domain, setting);
        rest.power += part.power * share.get().0.min(1.0);
        rest.kind = rest.kind.weaker(part.kind).weaker(share.kind());
    }
    DomainPower { clock: KnownPower::NONE, leakage: KnownPower::NONE, rest }
}

/// Power of a cost by cycle at the domain's clock and voltage.
fn cycling(cost: &PerCycle, domain: usize, setting: Setting<'_>) -> KnownPower {
    let unit = &setting.profile.spec().domains[domain];
    let (clock, clock_kind) = setting.point.clocks[domain];
    let (scale, scale_kind) = dynamic_scale(domain, setting);
    let energy = cost.energy_at_nominal(unit.nominal_voltage.get()) * scale;
    let kind = cost.kind().weaker(scale_kind).weaker(clock_kind);
    KnownPower { power: Watts(energy.0 * clock.si()), kind }
}
