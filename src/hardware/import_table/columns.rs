//! What a column holds, from its name.

use crate::units::{Celsius, Hertz, Quantity, Volts, Watts, parse_unit};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Block,
    Mode,
    Rail,
    Voltage,
    Dynamic,
    Leakage,
    Total,
    Frequency,
    Temperature,
}

impl Role {
    pub(super) const ALL: [Self; 9] = [
        Self::Block,
        Self::Mode,
        Self::Rail,
        Self::Voltage,
        Self::Dynamic,
        Self::Leakage,
        Self::Total,
        Self::Frequency,
        Self::Temperature,
    ];

    /// In words.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Mode => "mode",
            Self::Rail => "rail",
            Self::Voltage => "voltage",
            Self::Dynamic => "dynamic power",
            Self::Leakage => "leakage power",
            Self::Total => "total power",
            Self::Frequency => "frequency",
            Self::Temperature => "temperature",
        }
    }

    /// Names of its column, the plainest first.
    pub(super) fn names(self) -> &'static [&'static str] {
        match self {
            Self::Block => &[
                "block",
                "ip",
                "instance",
                "module",
                "component",
                "subsystem",
                "ip block",
                "name",
                "domain",
            ],
            Self::Mode => &[
                "mode",
                "state",
                "power mode",
                "power state",
                "operating mode",
                "scenario",
                "use case",
                "usecase",
            ],
            Self::Rail => &[
                "rail",
                "supply",
                "power domain",
                "power rail",
                "supply rail",
                "power supply",
                "voltage domain",
                "domain",
            ],
            Self::Voltage => &[
                "voltage",
                "vdd",
                "v",
                "supply voltage",
                "vdd voltage",
                "rail voltage",
                "nominal voltage",
                "volts",
                "supply",
            ],
            Self::Dynamic => &["dynamic", "dyn", "active", "switching", "pdyn", "psw"],
            Self::Leakage => &["leakage", "leak", "static", "pleak", "pstat", "plkg"],
            Self::Total => &["total", "power", "ptotal", "ptot", "sum", "p"],
            Self::Frequency => {
                &["frequency", "freq", "clock", "clock frequency", "clk", "f", "fclk"]
            }
            Self::Temperature => {
                &["temperature", "temp", "t", "tj", "junction temperature", "leakage temperature"]
            }
        }
    }

    /// A unit that its column could have; `None` for text.
    pub(super) fn example(self) -> Option<&'static str> {
        match self {
            Self::Block | Self::Mode | Self::Rail => None,
            Self::Voltage => Some("V"),
            Self::Dynamic | Self::Leakage | Self::Total => Some("mW"),
            Self::Frequency => Some("MHz"),
            Self::Temperature => Some("degC"),
        }
    }

    /// The unit of a profile that `text` stands for in such a column.
    pub(super) fn unit(self, text: &str) -> String {
        let celsius =
            matches!(text, "C" | "c" | "deg C" | "degc" | "ºC" | "° C" | "Celsius" | "celsius");
        if self == Self::Temperature && celsius { "degC".to_owned() } else { text.to_owned() }
    }

    /// How near the name of a column is to this role: the place in the list of its names.
    fn rank(self, name: &str) -> Option<usize> {
        let plain = match self {
            Self::Dynamic | Self::Leakage | Self::Total => without_power(name),
            Self::Block | Self::Mode | Self::Rail => {
                name.strip_suffix(" name").unwrap_or(name).to_owned()
            }
            _ => name.to_owned(),
        };
        let rank = self.names().iter().position(|known| *known == plain || *known == name);
        // `domain` is a rail beside a column of blocks, and without one the block.
        let yields = self == Self::Rail && name == "domain";
        rank.map(|rank| if yields { rank + Self::Block.names().len() } else { rank })
    }
}

/// True for a unit that some column could have.
fn is_unit(text: &str) -> bool {
    let unit = Role::Temperature.unit(text);
    let Ok((_, dimension)) = parse_unit(&unit) else { return false };
    let known = [Volts::DIMENSION, Watts::DIMENSION, Hertz::DIMENSION, Celsius::DIMENSION];
    !text.is_empty() && known.iter().any(|own| dimension.fits(*own))
}

/// `dynamic power` and `p dynamic` without the word that every power has.
fn without_power(name: &str) -> String {
    let words: Vec<_> = name.split(' ').filter(|w| !matches!(*w, "power" | "pwr" | "p")).collect();
    // A column called power and nothing else.
    if words.is_empty() { "power".to_owned() } else { words.join(" ") }
}

/// A header taken apart.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Header {
    /// As it stands in the table.
    pub text: String,
    /// In lower case, single words, without its unit.
    pub name: String,
    /// The unit in it.
    pub unit: Option<String>,
    /// What stands behind an `@`: a condition, for people.
    pub condition: Option<String>,
}

impl Header {
    pub(super) fn of(text: &str) -> Self {
        let (said, condition) = match text.split_once('@') {
            Some((said, condition)) => (said.trim(), Some(condition.trim().to_owned())),
            None => (text, None),
        };
        let (rest, unit) = bracketed(said).unwrap_or((said.to_owned(), None));
        let words: Vec<&str> = rest
            .split(|c: char| c.is_whitespace() || matches!(c, '_' | '-' | '.' | ':' | '/'))
            .collect();
        let words: Vec<&str> = words.into_iter().filter(|w| !w.is_empty()).collect();
        // `power_mW`, and a column called `V`.
        let last = words.last().copied().unwrap_or("");
        let trailing = unit.is_none() && is_unit(last);
        let named =
            if trailing && words.len() > 1 { &words[..words.len() - 1] } else { &words[..] };
        let unit = if trailing { Some(last.to_owned()) } else { unit };
        Self { text: text.to_owned(), name: named.join(" ").to_lowercase(), unit, condition }
    }
}

/// `dynamic [mW]` as name and unit.
fn bracketed(text: &str) -> Option<(String, Option<String>)> {
    let open = text.find(['[', '(', '{'])?;
    let (name, inside) = (text.get(..open)?, text.get(open + 1..)?);
    let close = inside.find([']', ')', '}'])?;
    let behind = inside.get(close + 1..)?;
    Some((format!("{name} {behind}"), Some(inside.get(..close)?.trim().to_owned())))
}

/// Columns by role, and what stands in the way.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// The column of each role.
    pub of: std::collections::BTreeMap<Role, usize>,
    /// A second column for the quantity of a first.
    pub second: Vec<(Role, usize, usize)>,
    /// Columns that are not read.
    pub unread: Vec<usize>,
}

impl Columns {
    /// Each column goes to the role whose name it has; of two for one role, to the plainer name.
    pub(super) fn of(headers: &[Header]) -> Self {
        let mut columns = Self::default();
        let mut ranked: Vec<(usize, Role, usize)> = Vec::new();
        for (column, header) in headers.iter().enumerate() {
            let has_unit = header.unit.as_deref().is_some_and(is_unit);
            for role in Role::ALL {
                // `supply [V]` is a voltage, `supply` a rail.
                let fits = role.example().is_some() || !has_unit;
                let bare_supply =
                    role == Role::Voltage && header.name == "supply" && header.unit.is_none();
                if let Some(rank) = role.rank(&header.name).filter(|_| fits && !bare_supply) {
                    ranked.push((rank, role, column));
                }
            }
        }
        ranked.sort();
        let mut taken: Vec<usize> = Vec::new();
        for (_, role, column) in &ranked {
            if !taken.contains(column) && !columns.of.contains_key(role) {
                columns.of.insert(*role, *column);
                taken.push(*column);
            }
        }
        for (_, role, column) in ranked {
            if let (false, Some(first)) = (taken.contains(&column), columns.of.get(&role))
                && role.example().is_some()
            {
                columns.second.push((role, *first, column));
                taken.push(column);
            }
        }
        let named = |column: &usize| headers.get(*column).is_some_and(|h| !h.text.is_empty());
        columns.unread = (0..headers.len()).filter(|c| !taken.contains(c)).filter(named).collect();
        columns
    }

    pub(super) fn get(&self, role: Role) -> Option<usize> {
        self.of.get(&role).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> (String, Option<String>) {
        let header = Header::of(text);
        (header.name, header.unit)
    }

    #[test]
    fn a_header_comes_apart_into_name_and_unit() {
        let some = |unit: &str| Some(unit.to_owned());
        assert_eq!(header("Dynamic [mW]"), ("dynamic".into(), some("mW")));
        assert_eq!(header("Leakage Power (uW)"), ("leakage power".into(), some("uW")));
        assert_eq!(header("P_dyn_mW"), ("p dyn".into(), some("mW")));
        assert_eq!(header("V"), ("v".into(), some("V")));
        assert_eq!(header("Power Mode"), ("power mode".into(), None));
        assert_eq!(header("Dynamic (mW) @ TT, 25 C"), ("dynamic".into(), some("mW")));
    }

    fn roles(headers: &[&str]) -> Vec<(Role, usize)> {
        let headers: Vec<_> = headers.iter().map(|h| Header::of(h)).collect();
        Columns::of(&headers).of.into_iter().collect()
    }

    #[test]
    fn columns_go_by_many_names() {
        use Role::{Block, Dynamic, Frequency, Leakage, Mode, Rail, Temperature, Total, Voltage};
        assert_eq!(
            roles(&["IP", "Power State", "VDD (V)", "P_dyn [mW]", "Static power [mW]", "Supply"]),
            [(Block, 0), (Mode, 1), (Rail, 5), (Voltage, 2), (Dynamic, 3), (Leakage, 4)]
        );
        assert_eq!(
            roles(&["instance", "scenario", "Supply [V]", "Power (mW)", "clk [MHz]", "Tj [degC]"]),
            [(Block, 0), (Mode, 1), (Voltage, 2), (Total, 3), (Frequency, 4), (Temperature, 5)]
        );
        assert_eq!(roles(&["Rail name", "IP name"]), [(Block, 1), (Rail, 0)]);
        assert_eq!(roles(&["domain", "block"]), [(Block, 1), (Rail, 0)]);
        assert_eq!(roles(&["domain", "mode"]), [(Block, 0), (Mode, 1)]);
    }
}
