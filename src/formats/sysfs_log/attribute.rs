//! What an attribute of sysfs measures, and its unit, by its name alone.

use crate::trace::ChannelKind;

/// An attribute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Attribute {
    /// A reading of an input.
    Reading {
        kind: ChannelKind,
        /// Number of the input; none where the device has but one.
        input: Option<u32>,
        /// SI units in one of its units.
        scale: f64,
    },
    /// A counter of energy in microjoule.
    Energy { input: Option<u32> },
    /// Where the device's counter wraps \[uJ\].
    Range,
}

/// hwmon, `PREFIX` `N` `SUFFIX`.
const HWMON: [(&str, &str, ChannelKind, f64); 8] = [
    ("in", "_input", ChannelKind::Voltage, 1e-3),
    ("in", "_average", ChannelKind::Voltage, 1e-3),
    ("curr", "_input", ChannelKind::Current, 1e-3),
    ("curr", "_average", ChannelKind::Current, 1e-3),
    ("power", "_input", ChannelKind::Power, 1e-6),
    ("power", "_average", ChannelKind::Power, 1e-6),
    ("temp", "_input", ChannelKind::Temperature, 1e-3),
    ("freq", "_input", ChannelKind::Frequency, 1.0),
];

/// iio, `PREFIX` `N` `_input`.
const IIO: [(&str, &str, ChannelKind, f64); 4] = [
    ("in_voltage", "_input", ChannelKind::Voltage, 1e-3),
    ("in_current", "_input", ChannelKind::Current, 1e-3),
    ("in_power", "_input", ChannelKind::Power, 1e-3),
    ("in_temp", "_input", ChannelKind::Temperature, 1e-3),
];

/// Attributes without a number.
const ALONE: [(&str, ChannelKind, f64); 6] = [
    ("power_now", ChannelKind::Power, 1e-6),
    ("current_now", ChannelKind::Current, 1e-6),
    ("voltage_now", ChannelKind::Voltage, 1e-6),
    ("scaling_cur_freq", ChannelKind::Frequency, 1e3),
    ("cpuinfo_cur_freq", ChannelKind::Frequency, 1e3),
    ("cur_freq", ChannelKind::Frequency, 1.0),
];

impl Attribute {
    /// Of an attribute's file on a device.
    pub(super) fn of(device: &str, name: &str) -> Option<Self> {
        match name {
            "energy_uj" => return Some(Self::Energy { input: None }),
            "max_energy_range_uj" => return Some(Self::Range),
            "temp" if device.contains("thermal_zone") => {
                let kind = ChannelKind::Temperature;
                return Some(Self::Reading { kind, input: None, scale: 1e-3 });
            }
            _ => {}
        }
        if let Some(input) = numbered(name, "energy", "_input") {
            return Some(Self::Energy { input: Some(input) });
        }
        let alone = ALONE.iter().find(|(alone, _, _)| *alone == name);
        if let Some((_, kind, scale)) = alone {
            return Some(Self::Reading { kind: *kind, input: None, scale: *scale });
        }
        HWMON.iter().chain(&IIO).find_map(|(prefix, suffix, kind, scale)| {
            let input = Some(numbered(name, prefix, suffix)?);
            Some(Self::Reading { kind: *kind, input, scale: *scale })
        })
    }
}

/// The number between a prefix and a suffix.
fn numbered(name: &str, prefix: &str, suffix: &str) -> Option<u32> {
    let digits = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
    let few = (1..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    few.then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_follows_from_the_name() {
        let reading = |kind, input, scale| Some(Attribute::Reading { kind, input, scale });
        let of = |name| Attribute::of("hwmon1", name);
        assert_eq!(of("in1_input"), reading(ChannelKind::Voltage, Some(1), 1e-3));
        assert_eq!(of("curr12_input"), reading(ChannelKind::Current, Some(12), 1e-3));
        assert_eq!(of("power1_input"), reading(ChannelKind::Power, Some(1), 1e-6));
        assert_eq!(of("in_power0_input"), reading(ChannelKind::Power, Some(0), 1e-3));
        assert_eq!(of("energy3_input"), Some(Attribute::Energy { input: Some(3) }));
        for name in ["in_input", "in1_label", "power1_cap", "temp", "energy1", "x", ""] {
            assert_eq!(of(name), None, "{name}");
        }
        let zone = Attribute::of("thermal_zone0", "temp");
        assert_eq!(zone, reading(ChannelKind::Temperature, None, 1e-3));
    }
}
