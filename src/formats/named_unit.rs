//! A unit that a file names, as the quantity it measures and its scale to SI.

use crate::trace::ChannelKind;
use crate::units::parse_unit;

const KINDS: [(&str, ChannelKind); 7] = [
    ("W", ChannelKind::Power),
    ("A", ChannelKind::Current),
    ("V", ChannelKind::Voltage),
    ("degC", ChannelKind::Temperature),
    ("Hz", ChannelKind::Frequency),
    ("%", ChannelKind::Share),
    ("J", ChannelKind::Other),
];

/// What a channel in this unit measures and the factor to SI; nothing for a unit of something
/// else, or of nothing known. Charge (`C`) is not taken for a temperature.
pub(super) fn quantity(unit: &str) -> Option<(ChannelKind, f64)> {
    let unit = unit.trim();
    if unit.is_empty() {
        return None;
    }
    let (scale, dimension) = parse_unit(unit).ok()?;
    let (_, kind) =
        KINDS.iter().find(|(si, _)| parse_unit(si).is_ok_and(|(_, d)| d == dimension))?;
    Some((*kind, scale))
}

/// The name and the unit of a label such as `power (mW)` or `power [mW]`.
pub(super) fn labelled(label: &str) -> Option<(&str, ChannelKind, f64)> {
    let (name, unit) = match label.trim_end() {
        text if text.ends_with(')') => text.strip_suffix(')')?.rsplit_once('(')?,
        text => text.strip_suffix(']')?.rsplit_once('[')?,
    };
    let (kind, scale) = quantity(unit)?;
    Some((name.trim_end(), kind, scale))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_says_what_is_measured_and_a_charge_is_no_temperature() {
        assert_eq!(quantity("mA"), Some((ChannelKind::Current, 1e-3)));
        assert_eq!(quantity("degC"), Some((ChannelKind::Temperature, 1.0)));
        assert_eq!(quantity("%"), Some((ChannelKind::Share, 0.01)));
        assert_eq!(quantity("C"), None);
        assert_eq!(quantity(""), None);
        assert_eq!(labelled("CH1 (V)"), Some(("CH1", ChannelKind::Voltage, 1.0)));
        assert_eq!(labelled("soc [uW]").map(|(name, ..)| name), Some("soc"));
        assert_eq!(labelled("gpi[0]"), None);
    }
}
