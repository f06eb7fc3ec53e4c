//! The factor on dynamic energy that an operating point makes.

use super::Setting;
use crate::evidence::Kind;
use crate::physics::switching;
use crate::units::Volts;

/// Voltage of a domain's rail, and what it rests on.
pub(super) fn rail_voltage(domain: usize, setting: Setting<'_>) -> (Volts, Kind) {
    setting.point.voltages[setting.profile.links().domain_rail[domain]]
}

/// Factor on energies stated at a domain's nominal voltage, and what it rests on. An energy that does
/// not scale rests on no voltage.
pub fn dynamic_scale(domain: usize, setting: Setting<'_>) -> (f64, Kind) {
    let unit = &setting.profile.spec().domains[domain];
    let (voltage, voltage_kind) = rail_voltage(domain, setting);
    let nominal = unit.nominal_voltage.get();
    let (exponent, exponent_kind) = match &unit.voltage_exponent {
        None => (switching::SQUARE_LAW, Kind::STRONGEST),
        Some(stated) => (stated.get().0, stated.kind()),
    };
    if exponent == 0.0 {
        return (1.0, exponent_kind);
    }
    let kind = if voltage == nominal { voltage_kind } else { voltage_kind.weaker(exponent_kind) };
    (switching::scale(voltage, nominal, exponent), kind)
}
