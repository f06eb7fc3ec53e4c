//! What a domain draws besides work: its running clock tree and its leakage, or its state of rest.

use super::Setting;
use crate::evidence::Kind;
use crate::hardware::{DomainState, PerCycle};
use crate::physics::leakage::Leakage;
use crate::physics::switching;
use crate::units::{Joules, Quantity, Volts, Watts};

/// The two parts of a domain's standing power, and what they rest on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DomainPower {
    /// Clock tree, or all of the power of a state of rest.
    pub clock: Watts,
    /// What it rests on.
    pub clock_kind: Kind,
    /// Leakage; a state of rest holds its own.
    pub leakage: Watts,
    /// What it rests on.
    pub leakage_kind: Kind,
}

/// Standing power of a domain while it is on.
pub fn working_power(domain: usize, setting: Setting<'_>) -> DomainPower {
    let spec = setting.profile.spec();
    let unit = &spec.domains[domain];
    let (voltage, voltage_kind) = rail_voltage(domain, setting);
    let (clock, clock_kind) = match &unit.clock_tree {
        None => (Watts::ZERO, voltage_kind),
        Some(cost) => cycling(cost, domain, setting),
    };
    let (leakage, leakage_kind) = match &unit.leakage {
        None => (Watts::ZERO, voltage_kind),
        Some(given) => {
            let law = Leakage {
                power: given.power.get(),
                voltage: unit.nominal_voltage.get(),
                temperature: given.temperature.get(),
                per_volt: given.per_volt.get(),
                per_kelvin: given.per_kelvin.get(),
            };
            let kind = given.power.kind().weaker(voltage_kind).weaker(given.per_kelvin.kind());
            (law.at(voltage, spec.temperature.get()), kind)
        }
    };
    DomainPower { clock, clock_kind, leakage, leakage_kind }
}

/// Power of a domain in a state of rest.
pub fn resting_power(domain: usize, state: &DomainState, setting: Setting<'_>) -> DomainPower {
    let (voltage, voltage_kind) = rail_voltage(domain, setting);
    let (mut power, mut kind) = (Watts::ZERO, voltage_kind);
    if let Some(cost) = &state.per_cycle {
        let (part, part_kind) = cycling(cost, domain, setting);
        power += part;
        kind = kind.weaker(part_kind);
    }
    if let Some(standing) = &state.standing {
        power += standing.at(voltage);
        kind = kind.weaker(standing.kind());
    }
    DomainPower { clock: power, clock_kind: kind, leakage: Watts::ZERO, leakage_kind: voltage_kind }
}

fn rail_voltage(domain: usize, setting: Setting<'_>) -> (Volts, Kind) {
    setting.point.voltages[setting.profile.links().domain_rail[domain]]
}

/// Power of a cost by cycle at the domain's clock and voltage.
fn cycling(cost: &PerCycle, domain: usize, setting: Setting<'_>) -> (Watts, Kind) {
    let unit = &setting.profile.spec().domains[domain];
    let (voltage, voltage_kind) = rail_voltage(domain, setting);
    let (clock, clock_frequency_kind) = setting.point.clocks[domain];
    let nominal = unit.nominal_voltage.get();
    let exponent = unit.voltage_exponent.as_ref().map_or(switching::SQUARE_LAW, |e| e.get().0);
    let energy: Joules =
        cost.energy_at_nominal(nominal) * switching::scale(voltage, nominal, exponent);
    let power = Watts(energy.0 * clock.si());
    (power, cost.kind().weaker(voltage_kind).weaker(clock_frequency_kind))
}
