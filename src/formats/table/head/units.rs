//! Names with units, as heads write them: `Current (mA)`, `I [A]`, `Voltage/V`, `power_w`.

use crate::trace::ChannelKind;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) enum Quantity {
    /// Samples of a channel.
    Samples(ChannelKind),
    /// Time.
    Time,
    /// Energy or charge, which a table adds up.
    Sum,
}

/// A unit: 10^`power` of the SI unit of its quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) struct Unit {
    /// What it is a unit of.
    pub(in crate::formats) quantity: Quantity,
    /// The power of ten.
    pub(in crate::formats) power: i32,
}

/// A name and the unit behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::formats) struct Labelled {
    /// The name without its unit.
    pub(in crate::formats) name: String,
    /// The unit, where there is one that is known.
    pub(in crate::formats) unit: Option<Unit>,
}

/// Units that no prefix makes from another.
const WORDS: [(&str, Quantity, i32); 31] = [
    ("sec", Quantity::Time, 0),
    ("secs", Quantity::Time, 0),
    ("second", Quantity::Time, 0),
    ("seconds", Quantity::Time, 0),
    ("msec", Quantity::Time, -3),
    ("millisecond", Quantity::Time, -3),
    ("milliseconds", Quantity::Time, -3),
    ("usec", Quantity::Time, -6),
    ("microsecond", Quantity::Time, -6),
    ("microseconds", Quantity::Time, -6),
    ("nanoseconds", Quantity::Time, -9),
    ("picoseconds", Quantity::Time, -12),
    ("watt", Quantity::Samples(ChannelKind::Power), 0),
    ("watts", Quantity::Samples(ChannelKind::Power), 0),
    ("milliwatts", Quantity::Samples(ChannelKind::Power), -3),
    ("amp", Quantity::Samples(ChannelKind::Current), 0),
    ("amps", Quantity::Samples(ChannelKind::Current), 0),
    ("ampere", Quantity::Samples(ChannelKind::Current), 0),
    ("amperes", Quantity::Samples(ChannelKind::Current), 0),
    ("milliamps", Quantity::Samples(ChannelKind::Current), -3),
    ("volt", Quantity::Samples(ChannelKind::Voltage), 0),
    ("volts", Quantity::Samples(ChannelKind::Voltage), 0),
    ("millivolts", Quantity::Samples(ChannelKind::Voltage), -3),
    ("degc", Quantity::Samples(ChannelKind::Temperature), 0),
    ("°c", Quantity::Samples(ChannelKind::Temperature), 0),
    ("celsius", Quantity::Samples(ChannelKind::Temperature), 0),
    ("%", Quantity::Samples(ChannelKind::Share), -2),
    ("percent", Quantity::Samples(ChannelKind::Share), -2),
    ("joule", Quantity::Sum, 0),
    ("joules", Quantity::Sum, 0),
    ("coulomb", Quantity::Sum, 0),
];

/// Units that prefixes stand before.
const BASES: [(&str, Quantity); 8] = [
    ("Wh", Quantity::Sum),
    ("Ah", Quantity::Sum),
    ("Hz", Quantity::Samples(ChannelKind::Frequency)),
    ("W", Quantity::Samples(ChannelKind::Power)),
    ("A", Quantity::Samples(ChannelKind::Current)),
    ("V", Quantity::Samples(ChannelKind::Voltage)),
    ("J", Quantity::Sum),
    ("s", Quantity::Time),
];

/// A unit by its name; where `small` the case of letters says nothing, and `m` is milli.
fn known(text: &str, small: bool) -> Option<Unit> {
    let lower = text.to_lowercase();
    if let Some((_, quantity, power)) = WORDS.iter().find(|(word, ..)| *word == lower) {
        return Some(Unit { quantity: *quantity, power: *power });
    }
    BASES.iter().find_map(|(base, quantity)| {
        let base_small = base.to_lowercase();
        let prefix = match small {
            true => lower.strip_suffix(base_small.as_str())?,
            false => text.strip_suffix(base)?,
        };
        let power = match prefix {
            "p" => -12,
            "n" => -9,
            "u" | "µ" | "μ" => -6,
            "m" if small && *base == "Hz" => 6,
            "m" => -3,
            "" => 0,
            "k" | "K" => 3,
            "M" => 6,
            "G" | "g" => 9,
            _ => return None,
        };
        (*quantity != Quantity::Time || power <= 0).then_some(Unit { quantity: *quantity, power })
    })
}

/// A unit by its name.
pub(in crate::formats) fn unit(text: &str) -> Option<Unit> {
    let text = text.trim();
    known(text, false)
        .or_else(|| (text.to_lowercase() == text).then(|| known(text, true)).flatten())
}

/// A name and its unit: in brackets, or behind a slash, a blank, a full stop or an underscore.
pub(in crate::formats) fn label(text: &str) -> Labelled {
    let text = text.trim().trim_start_matches('#').trim();
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some(from) = text.rfind(open)
            && let Some(length) = text[from..].find(close)
            && let Some(unit) = unit(&text[from + 1..from + length])
        {
            return Labelled { name: text[..from].trim().to_owned(), unit: Some(unit) };
        }
    }
    for sign in ['/', ' ', '_', '.'] {
        if let Some((name, word)) = text.rsplit_once(sign)
            && !name.trim().is_empty()
            // Channels and phases are lettered from A.
            && (sign == '/' || !word.eq_ignore_ascii_case("a") || names_current(name))
            && let Some(unit) = unit(word).or_else(|| known(word, true))
        {
            let name = name.trim().trim_end_matches(',').to_owned();
            return Labelled { name, unit: Some(unit) };
        }
    }
    Labelled { name: text.to_owned(), unit: None }
}

fn names_current(name: &str) -> bool {
    let name = name.to_lowercase();
    let last = name.rsplit(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    matches!(last, Some("i" | "current" | "amp" | "amps" | "ampere" | "amperes"))
}

impl Labelled {
    /// True where the name is one of time; a unit of time as a name is, too.
    pub(in crate::formats) fn is_time(&self) -> bool {
        if self.unit.is_some_and(|unit| unit.quantity != Quantity::Time) {
            return false;
        }
        let name = self.name.to_lowercase().replace(['_', '-', '.'], " ");
        let name = name.trim();
        let words = [
            "t",
            "time",
            "timestamp",
            "times",
            "date",
            "datetime",
            "date time",
            "elapsed",
            "relative",
            "time stamp",
            "timestamps",
            "x axis",
        ];
        words.contains(&name)
            || name.ends_with(" time")
            || name.ends_with(" timestamp")
            || name.starts_with("timestamp ")
            || unit(name).is_some_and(|unit| unit.quantity == Quantity::Time && name.len() > 1)
    }

    /// The unit of time, of the label or of a name that is one.
    pub(in crate::formats) fn time_unit(&self) -> Option<Unit> {
        self.unit.or_else(|| unit(&self.name)).filter(|unit| unit.quantity == Quantity::Time)
    }
}

/// The supply line of a column: its name without the words for what is measured.
pub(in crate::formats) fn rail(name: &str) -> String {
    const MEASURED: [&str; 32] = [
        "current",
        "voltage",
        "power",
        "volt",
        "volts",
        "amp",
        "amps",
        "ampere",
        "amperes",
        "watt",
        "watts",
        "i",
        "u",
        "v",
        "p",
        "a",
        "w",
        "average",
        "avg",
        "mean",
        "reading",
        "source",
        "draw",
        "strom",
        "spannung",
        "leistung",
        "courant",
        "tension",
        "puissance",
        "corriente",
        "tensión",
        "potencia",
    ];
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    let rail: Vec<&str> =
        words.filter(|word| !word.is_empty() && !MEASURED.contains(word)).collect();
    if rail.is_empty() { "main".into() } else { rail.join("_") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_its_unit_in_many_ways() {
        let samples = |kind, power| Some(Unit { quantity: Quantity::Samples(kind), power });
        let amperes = |power| samples(ChannelKind::Current, power);
        for (text, name, unit) in [
            ("Current (mA)", "Current", amperes(-3)),
            ("I [A]", "I", amperes(0)),
            ("Main(mA)", "Main", amperes(-3)),
            ("power_mw", "power", samples(ChannelKind::Power, -3)),
            ("Power (MW)", "Power", samples(ChannelKind::Power, 6)),
            ("Voltage/V", "Voltage", samples(ChannelKind::Voltage, 0)),
            ("Current µA", "Current", amperes(-6)),
            ("clock_mhz", "clock", samples(ChannelKind::Frequency, 6)),
            ("load [%]", "load", samples(ChannelKind::Share, -2)),
            ("T (°C)", "T", samples(ChannelKind::Temperature, 0)),
            ("Charge (mAh)", "Charge", Some(Unit { quantity: Quantity::Sum, power: -3 })),
            ("current_a", "current", amperes(0)),
            ("Channel A", "Channel A", None),
            ("average_power", "average_power", None),
            ("Reading", "Reading", None),
        ] {
            assert_eq!(label(text), Labelled { name: name.into(), unit }, "{text}");
        }
    }

    #[test]
    fn time_is_told_from_what_only_sounds_like_it() {
        for text in
            ["Time (s)", "Timestamp(ms)", "time_us", "seconds", "t [s]", "Relative Time", "ms"]
        {
            assert!(label(text).is_time(), "{text}");
        }
        for text in ["time_per_epoch", "latency_ms", "runtime", "Current (A)", "s", "Time (A)"] {
            assert!(!label(text).is_time(), "{text}");
        }
        assert_eq!(label("Time, ms").time_unit().map(|unit| unit.power), Some(-3));
        assert_eq!(label("microseconds").time_unit().map(|unit| unit.power), Some(-6));
    }

    #[test]
    fn columns_of_one_line_share_its_name() {
        assert_eq!((rail("Main").as_str(), rail("Main Voltage").as_str()), ("main", "main"));
        assert_eq!(
            (rail("vdd_core_current").as_str(), rail("Current").as_str()),
            ("vdd_core", "main")
        );
    }
}
