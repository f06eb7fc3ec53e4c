//! The columns of a head: what each measures, and in what unit.

use super::super::{ReadFault, lines};
use crate::trace::ChannelKind;

/// A column that is read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantity {
    /// Its name without the unit.
    pub(super) name: String,
    /// What it measures.
    pub(super) kind: ChannelKind,
    /// Power of the module that holds the GPU, with all that is on it.
    pub(super) of_module: bool,
    unit: &'static str,
    scale: f64,
}

/// The columns of a file.
#[derive(Debug, Default)]
pub(super) struct Columns {
    head: String,
    all: Vec<(String, Option<Quantity>)>,
    /// The column of the stamp.
    pub(super) stamp: usize,
    /// The column that tells GPUs apart.
    pub(super) gpu: Option<usize>,
}

/// Columns that tell GPUs apart, the shortest first; older drivers have the longer names.
const TELLING: [&str; 6] = ["index", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "serial"];

impl Columns {
    /// True for a head of nvidia-smi.
    pub(super) fn are_in(line: &str) -> bool {
        let names: Vec<_> = line.split(',').map(|cell| split(cell).0).collect();
        names.contains(&"timestamp") && names.iter().any(|name| is_query(name))
    }

    pub(super) fn of(head: &str) -> Result<Self, ReadFault> {
        let mut columns = Self { head: head.into(), ..Self::default() };
        for cell in head.split(',') {
            let (name, unit) = split(cell);
            columns.all.push((name.to_owned(), quantity(name, unit)?));
        }
        let at = |wanted: &str| columns.all.iter().position(|(name, _)| name == wanted);
        let known = || columns.all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let missing = || ReadFault::NoColumn {
            column: "timestamp".into(),
            known: lines::shown(&known().join(", ")),
        };
        columns.stamp = at("timestamp").ok_or_else(missing)?;
        columns.gpu = TELLING.iter().find_map(|name| at(name));
        Ok(columns)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn is_head(&self, line: &str) -> bool {
        self.head == line
    }

    /// Those that are read.
    pub(super) fn quantities(&self) -> impl Iterator<Item = &Quantity> {
        self.all.iter().filter_map(|(_, quantity)| quantity.as_ref())
    }

    /// The number of the first power among those that are read.
    pub(super) fn power(&self) -> Option<usize> {
        self.quantities().position(|q| q.kind == ChannelKind::Power)
    }

    /// Names of columns that are no readings.
    pub(super) fn left_out(&self) -> Vec<&str> {
        let skipped = self.all.iter().enumerate().filter(|(number, (_, quantity))| {
            quantity.is_none() && *number != self.stamp && Some(*number) != self.gpu
        });
        skipped.map(|(_, (name, _))| name.as_str()).collect()
    }

    /// The values of a row, in SI.
    pub(super) fn values(&self, cells: &[&str]) -> Result<Vec<f64>, ReadFault> {
        let columns = self.all.iter().zip(cells);
        let read = columns.filter_map(|((_, quantity), cell)| Some((quantity.as_ref()?, *cell)));
        read.map(|(quantity, cell)| quantity.value(cell)).collect()
    }
}

/// A name and the unit in square brackets behind it.
fn split(cell: &str) -> (&str, &str) {
    let cell = cell.trim();
    match cell.split_once('[') {
        Some((name, unit)) => (name.trim(), unit.trim_end_matches(']')),
        None => (cell, ""),
    }
}

/// True for a name that nvidia-smi alone has.
fn is_query(name: &str) -> bool {
    const STARTS: [&str; 6] = [
        "power.draw",
        "module.power.draw",
        "utilization.gpu",
        "utilization.memory",
        "clocks.",
        "temperature.gpu",
    ];
    STARTS.iter().any(|start| name.starts_with(start))
}

/// What a column measures; none for text and for what does not change.
fn quantity(name: &str, unit: &str) -> Result<Option<Quantity>, ReadFault> {
    let (kind, expected, scale) = if name.contains("power.draw") {
        (ChannelKind::Power, "W", 1.0)
    } else if name.starts_with("utilization.") || name == "fan.speed" {
        (ChannelKind::Share, "%", 1e-2)
    } else if is_clock(name) {
        (ChannelKind::Frequency, "MHz", 1e6)
    } else if matches!(name, "temperature.gpu" | "temperature.memory") {
        (ChannelKind::Temperature, "C", 1.0)
    } else if name == "memory.used" {
        (ChannelKind::Other, "MiB", f64::from(1 << 20))
    } else if name.ends_with("power.limit") {
        (ChannelKind::Other, "W", 1.0)
    } else {
        return Ok(None);
    };
    if !unit.is_empty() && unit != expected {
        return Err(ReadFault::Unit { column: name.into(), found: unit.into(), expected });
    }
    let of_module = name.starts_with("module.");
    Ok(Some(Quantity { name: name.into(), kind, of_module, unit: expected, scale }))
}

/// Clocks as they are, not as they are set or could be.
fn is_clock(name: &str) -> bool {
    let Some(which) = name.strip_prefix("clocks.") else { return false };
    let which = which.strip_prefix("current.").unwrap_or(which);
    matches!(which, "gr" | "graphics" | "sm" | "mem" | "memory" | "video")
}

impl Quantity {
    /// A cell: a number with or without its unit; text in brackets stands for none.
    fn value(&self, cell: &str) -> Result<f64, ReadFault> {
        if cell.starts_with('[') || matches!(cell, "N/A" | "ERR!" | "Unknown Error") {
            return Ok(f64::NAN);
        }
        let (number, unit) = cell.split_once(' ').unwrap_or((cell, ""));
        if !unit.is_empty() && unit.trim() != self.unit {
            return Err(ReadFault::Unit {
                column: self.name.clone(),
                found: lines::shown(unit),
                expected: self.unit,
            });
        }
        Ok(lines::number(number, &self.name)? * self.scale)
    }
}
