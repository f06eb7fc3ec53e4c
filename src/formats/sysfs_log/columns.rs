//! The head of a log: which column is which channel, on which rail.

use super::super::{ReadFault, lines};
use super::attribute::Attribute;
use super::counter::Counter;
use crate::trace::{Channel, ChannelKind};
use std::collections::BTreeMap;

/// What a column behind the time is for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Use {
    /// A reading that holds until the next.
    Reading { channel: usize, name: String, scale: f64 },
    /// A counter of energy, or its range.
    Counter { name: String },
    /// Nothing that is read.
    LeftOut,
}

impl Use {
    /// A fault where the cell is no value of the column.
    pub(super) fn check(&self, cell: &str) -> Result<(), ReadFault> {
        match self {
            Self::Reading { name, .. } | Self::Counter { name } => value(cell, name).map(|_| ()),
            Self::LeftOut => Ok(()),
        }
    }
}

/// A cell; one that is empty, or what a shell writes when a file gave nothing, is a gap.
pub(super) fn value(cell: &str, name: &str) -> Result<f64, ReadFault> {
    match cell {
        "" | "nan" | "NaN" | "N/A" => Ok(f64::NAN),
        _ => lines::number(cell, name),
    }
}

/// A column as its head names it.
#[derive(Debug, Clone, PartialEq)]
struct Named<'a> {
    device: &'a str,
    label: Option<&'a str>,
    attribute: &'a str,
}

impl<'a> Named<'a> {
    fn of(cell: &'a str) -> Self {
        let cell = cell.trim().trim_matches('"');
        let (path, attribute) = cell.rsplit_once('/').unwrap_or(("", cell));
        let labelled = path.strip_suffix(')').and_then(|path| path.rsplit_once('('));
        let (device, label) = match labelled {
            Some((device, label)) => (device.trim(), Some(label.trim())),
            None => (path, None),
        };
        Self { device, label, attribute: attribute.trim() }
    }

    fn of_attribute(&self) -> Option<Attribute> {
        Attribute::of(self.device, self.attribute)
    }

    /// The device without what may follow its name in a longer path.
    fn is_ina3221(&self) -> bool {
        self.device.contains("ina3221") || self.label.is_some_and(|label| label.contains("ina3221"))
    }
}

/// The columns of a log.
#[derive(Debug)]
pub(super) struct Columns {
    /// What stands between cells.
    pub(super) divider: char,
    /// The name of the column of time.
    pub(super) time_name: String,
    /// A unit of it is ten to this power seconds.
    pub(super) time_power: i32,
    /// The columns behind the time.
    pub(super) uses: Vec<Use>,
    channels: Vec<Channel>,
    counters: Vec<Counter>,
    remarks: Vec<String>,
}

impl Default for Columns {
    fn default() -> Self {
        Self {
            divider: ',',
            time_name: String::new(),
            time_power: 0,
            uses: Vec::new(),
            channels: Vec::new(),
            counters: Vec::new(),
            remarks: Vec::new(),
        }
    }
}

impl Columns {
    /// True for a head of such a log.
    pub(super) fn are_in(line: &str) -> bool {
        let mut cells = line.split(divider(line));
        let time = cells.next().is_some_and(|cell| time_column(cell).is_some());
        time && cells.any(|cell| Named::of(cell).of_attribute().is_some())
    }

    pub(super) fn of(head: &str, time_unit: Option<&str>) -> Result<Self, ReadFault> {
        let divider = divider(head);
        let cells: Vec<&str> = head.split(divider).collect();
        let time = cells.first().copied().unwrap_or_default();
        let missing = || ReadFault::NoColumn { column: "time".into(), known: lines::shown(head) };
        let unit = time_column(time).ok_or_else(missing)?;
        let named: Vec<Named<'_>> = cells.iter().skip(1).map(|cell| Named::of(cell)).collect();
        let mut columns = Self {
            divider,
            time_name: time.trim().into(),
            time_power: time_power(time, unit.or(time_unit))?,
            ..Self::default()
        };
        for (number, column) in named.iter().enumerate() {
            let usage = columns.take(number + 1, column, &named);
            columns.uses.push(usage);
        }
        if columns.channels.is_empty() {
            return Err(ReadFault::NoColumn {
                column: "DEVICE/energy_uj, in1_input or the like".into(),
                known: lines::shown(head),
            });
        }
        columns.set_parts();
        Ok(columns)
    }

    fn take(&mut self, at: usize, column: &Named<'_>, all: &[Named<'_>]) -> Use {
        let name = match column.device {
            "" => column.attribute.to_owned(),
            device => format!("{device}/{}", column.attribute),
        };
        match column.of_attribute() {
            None => {
                self.remarks.push(format!(
                    "{} is left out: no attribute that is known",
                    lines::shown(&name)
                ));
                Use::LeftOut
            }
            Some(Attribute::Range) => Use::Counter { name },
            Some(Attribute::Energy { input }) => {
                let range = all.iter().position(|other| {
                    other.device == column.device
                        && input.is_none()
                        && other.of_attribute() == Some(Attribute::Range)
                });
                let channel = self.channels.len();
                self.channels.push(Channel::new(
                    name.clone(),
                    ChannelKind::Power,
                    rail(column, input),
                ));
                self.counters.push(Counter::new(at, range.map(|r| r + 1), channel, name.clone()));
                Use::Counter { name }
            }
            Some(Attribute::Reading { kind, input, scale }) => {
                let (rail, scale) = match (kind, input) {
                    (ChannelKind::Voltage, Some(number @ 4..=7)) if is_ina3221(column, all) => {
                        if number == 7 {
                            self.remarks.push(format!(
                                "{name} is the sum over the shunts of an INA3221: left out"
                            ));
                            return Use::LeftOut;
                        }
                        self.remarks.push(format!(
                            "{name} is taken as the drop over shunt {} of an INA3221, in microvolt",
                            number - 3
                        ));
                        (format!("{} shunt", rail(column, Some(number - 3))), 1e-6)
                    }
                    (ChannelKind::Voltage, Some(0)) if is_ina2xx(column, all) => {
                        self.remarks.push(format!("{name} is taken as the drop over the shunt"));
                        (format!("{} shunt", rail(column, Some(1))), scale)
                    }
                    (ChannelKind::Temperature | ChannelKind::Frequency, _) => {
                        (String::new(), scale)
                    }
                    _ => (rail(column, input), scale),
                };
                let channel = self.channels.len();
                self.channels.push(Channel::new(name.clone(), kind, rail));
                Use::Reading { channel, name, scale }
            }
        }
    }

    /// Says which powercap domain is within which.
    fn set_parts(&mut self) {
        let rails: BTreeMap<String, String> = self
            .channels
            .iter()
            .filter_map(|c| Some((domain(&c.rail)?.to_owned(), c.rail.clone())))
            .collect();
        let platform = rails.values().find(|rail| rail.ends_with("(psys)")).cloned();
        let mut guessed = false;
        for channel in &mut self.channels {
            let Some(domain) = domain(&channel.rail) else { continue };
            let label = channel.rail.split_once('(').map(|(_, label)| label.trim_end_matches(')'));
            let parent = domain.rsplit_once(':').and_then(|(parent, _)| rails.get(parent));
            channel.part_of = match (label, parent) {
                // On servers DRAM hangs below the package in the tree and is not in its energy.
                (Some("dram"), _) => None,
                (_, Some(parent)) => {
                    guessed |= label.is_none();
                    Some(parent.clone())
                }
                (Some(label), None) if label.starts_with("package") => platform.clone(),
                _ => None,
            };
        }
        if guessed {
            self.remarks.push("a domain without a name is taken as a part of the one above it; DRAM would be none".into());
        }
        if platform.is_some() {
            self.remarks.push("psys is the whole platform: packages are within it".into());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// Number of cells in a row.
    pub(super) fn len(&self) -> usize {
        self.uses.len() + 1
    }

    /// The channels, in the order of the columns.
    pub(super) fn channels(&self) -> Vec<Channel> {
        self.channels.clone()
    }

    /// The counters, as they are before the first row.
    pub(super) fn counters(&self) -> Vec<Counter> {
        self.counters.clone()
    }

    /// True where every channel is a difference of two reads.
    pub(super) fn only_counters(&self) -> bool {
        self.counters.len() == self.channels.len()
    }

    /// What was assumed or left out.
    pub(super) fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }
}

/// A powercap domain, such as `intel-rapl:0:1`, of a rail that is one.
fn domain(rail: &str) -> Option<&str> {
    let device = rail.split('(').next()?;
    let name = device.rsplit('/').next()?;
    let starts = ["intel-rapl", "amd-rapl", "dtpm"].iter().any(|start| name.starts_with(start));
    (starts && name.contains(':')).then_some(name)
}

/// Device, label and number of the input: `hwmon2/1`, `intel-rapl:0(package-0)`.
fn rail(column: &Named<'_>, input: Option<u32>) -> String {
    let label = column.label.map(|label| format!("({label})")).unwrap_or_default();
    match (column.device, input) {
        ("", Some(input)) => format!("input {input}"),
        ("", None) => "supply".into(),
        (device, Some(input)) => format!("{device}{label}/{input}"),
        (device, None) => format!("{device}{label}"),
    }
}

/// By its name, or by voltages above input 3 without currents above it.
fn is_ina3221(column: &Named<'_>, all: &[Named<'_>]) -> bool {
    let inputs = |wanted: ChannelKind| {
        let of_device = all.iter().filter(|other| other.device == column.device);
        of_device.filter_map(move |other| match other.of_attribute() {
            Some(Attribute::Reading { kind, input, .. }) if kind == wanted => input,
            _ => None,
        })
    };
    let currents: Vec<_> = inputs(ChannelKind::Current).collect();
    let has_power = inputs(ChannelKind::Power).next().is_some();
    let three = !currents.is_empty() && currents.iter().all(|input| *input <= 3);
    column.is_ina3221() || three && !has_power
}

/// An INA2xx shows the drop over its shunt as input 0, and current and power as input 1.
fn is_ina2xx(column: &Named<'_>, all: &[Named<'_>]) -> bool {
    let has = |name: &str| {
        all.iter().any(|other| other.device == column.device && other.attribute == name)
    };
    let named = column.device.contains("ina2") || column.label.is_some_and(|l| l.contains("ina2"));
    named || (has("in1_input") && has("curr1_input") && has("power1_input"))
}

fn divider(head: &str) -> char {
    [',', ';', '\t'].into_iter().find(|divider| head.contains(*divider)).unwrap_or(',')
}

/// The unit in the name of a column of time, or none in it; none where it is no time.
fn time_column(cell: &str) -> Option<Option<&str>> {
    let cell = cell.trim().trim_matches('"').trim_start_matches(['#', ' ']);
    let lower = cell.to_ascii_lowercase();
    let stem = ["timestamp", "time", "t"].into_iter().find(|stem| lower.starts_with(stem))?;
    let rest = cell.get(stem.len()..)?;
    let unit = rest.trim_start_matches(['_', ' ', '(', '[']).trim_end_matches([')', ']', ' ']);
    if unit.len() == rest.len() && !unit.is_empty() {
        return None;
    }
    let known = ["", "s", "sec", "ms", "us", "ns"].contains(&unit);
    known.then_some(Some(unit).filter(|unit| !unit.is_empty()))
}

fn time_power(column: &str, unit: Option<&str>) -> Result<i32, ReadFault> {
    match unit {
        Some("s" | "sec") => Ok(0),
        Some("ms") => Ok(-3),
        Some("us") => Ok(-6),
        Some("ns") => Ok(-9),
        other => Err(ReadFault::Unit {
            column: lines::shown(column),
            found: other.unwrap_or_default().into(),
            expected: "s, ms, us or ns, in its name or by --time-unit",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_says_its_unit_in_its_name() {
        for (cell, unit) in [
            ("time_s", Some("s")),
            ("timestamp_ns", Some("ns")),
            ("# time [ms]", Some("ms")),
            ("t(us)", Some("us")),
            ("Time", None),
        ] {
            assert_eq!(time_column(cell), Some(unit), "{cell}");
        }
        for cell in ["temp", "total_s", "power_s", "", "times"] {
            assert_eq!(time_column(cell).flatten(), None, "{cell}");
        }
        assert!(time_power("time", None).unwrap_err().to_string().contains("--time-unit"));
        assert!(time_power("time", Some("h")).is_err());
    }

    #[test]
    fn a_device_may_carry_a_name() {
        let named = Named::of("intel-rapl:0:0(core)/energy_uj");
        assert_eq!((named.device, named.label), ("intel-rapl:0:0", Some("core")));
        assert_eq!(rail(&named, None), "intel-rapl:0:0(core)");
        assert_eq!(domain("intel-rapl:0:0(core)"), Some("intel-rapl:0:0"));
        assert_eq!(domain("hwmon1/1"), None);
    }
}
