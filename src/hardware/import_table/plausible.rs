//! Quantities that no block of a chip has: a slip of the unit, more often than a marvel.

use super::columns::Role;

/// More than any block draws \[W\]: whole accelerator boards draw several times this.
const MOST_POWER: f64 = 100.0;

/// Nothing on a chip works at less \[V\], and no rail of one stands above.
const VOLTAGES: std::ops::RangeInclusive<f64> = 0.05..=1000.0;

/// Nothing is colder, and no silicon works at more \[degC\].
const TEMPERATURES: std::ops::RangeInclusive<f64> = -273.15..=200.0;

/// Why a value in SI, stated for a block, is taken for a slip.
pub(super) fn doubt(role: Role, si: f64) -> Option<&'static str> {
    match role {
        Role::Dynamic | Role::Leakage | Role::Total if si > MOST_POWER => {
            Some("no block draws more than 100 W; is mW meant?")
        }
        Role::Voltage if si > *VOLTAGES.end() => {
            Some("no rail of a chip is above 1000 V; is mV meant?")
        }
        Role::Voltage if si > 0.0 && si < *VOLTAGES.start() => {
            Some("nothing on a chip works below 50 mV; is V meant?")
        }
        Role::Temperature if si > *TEMPERATURES.end() => {
            Some("no chip works above 200 °C; is it in kelvin or degrees Fahrenheit?")
        }
        Role::Temperature if si < *TEMPERATURES.start() => Some("this is below absolute zero"),
        _ => None,
    }
}

/// A unit of which one alone is more than any block has; `si` is one of it.
pub(super) fn doubtful_unit(role: Role, unit: &str, si: f64) -> Option<String> {
    let power = matches!(role, Role::Dynamic | Role::Leakage | Role::Total);
    (power && si > MOST_POWER).then(|| format!("no block draws 1 {unit}; is mW meant?"))
}
