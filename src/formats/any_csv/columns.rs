//! Which columns of a table are read, and as what.

use super::super::table::head::{Labelled, Quantity, Unit, rail, unit, value};
use super::super::table::{Cell, Stamp, calendar};
use super::super::{ReadFault, TableOptions};
use super::find::{Found, split_unit};
use crate::trace::{Channel, ChannelKind};

const SAMPLES: &str = "a unit of power, current, voltage, temperature, frequency or share, as mA, \
                       or `level` for a digital line";
/// What stands for a unit where a column is a digital line.
const LEVEL: &str = "level";
/// Columns named in a remark.
const NAMED: usize = 8;
const TIMES: &str = "s, ms, us, ns or ps";
/// Seconds since 1970 from 2001 to 2096, and the powers of ten that clocks count in.
const UNIX_SECONDS: std::ops::Range<f64> = 1e9..4e9;
const UNIX_POWERS: [i32; 4] = [0, -3, -6, -9];

/// The columns that are read.
#[derive(Debug, Clone, Default)]
pub(super) struct Chosen {
    pub(super) cells: Vec<Cell>,
    pub(super) channels: Vec<Channel>,
    /// Digital lines.
    pub(super) lines: Vec<String>,
}

/// The column of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Time {
    column: usize,
    stamp: Stamp,
}

impl Found {
    /// How time is written; seconds where there is no column of it.
    pub(super) fn stamp(&self, time: Option<Time>) -> Stamp {
        time.map_or(Stamp::SECONDS, |time| time.stamp)
    }

    /// The column of time, as told or found by its name; none for a table at a rate.
    pub(super) fn time(
        &self,
        told: &TableOptions,
        point: u8,
        remarks: &mut Vec<String>,
    ) -> Result<Option<Time>, ReadFault> {
        let column = match &told.time_column {
            Some(name) => Some(self.find(name).ok_or_else(|| self.no_column(name))?),
            None => self.time_column(),
        };
        let Some(column) = column else { return Ok(None) };
        if told.time_column.is_none() && self.named_time().is_none() && self.dated().is_none() {
            let name = self.names.get(column).map_or("", String::as_str);
            remarks.push(format!("`{name}` is taken as time: it has a unit of it and only rises"));
        }
        let cell = self.rows.first().and_then(|row| row.get(column)).cloned().unwrap_or_default();
        if calendar(&cell).is_some() {
            return Ok(Some(Time { column, stamp: Stamp::Calendar }));
        }
        let own = self.labels.get(column).and_then(Labelled::time_unit);
        let stamp = match &told.time_unit {
            Some(word) => Stamp::units(self.unit_of_time(column, word)?),
            None => match own {
                Some(unit) => unix(&cell, point, unit.power).unwrap_or(Stamp::units(unit.power)),
                None => self.guessed(column, &cell, point, remarks),
            },
        };
        Ok(Some(Time { column, stamp }))
    }

    fn unit_of_time(&self, column: usize, word: &str) -> Result<i32, ReadFault> {
        match unit(word) {
            Some(Unit { quantity: Quantity::Time, power }) => Ok(power),
            _ => Err(self.no_unit(column, word, TIMES)),
        }
    }

    /// The unit of a time that says none: by its size since 1970, else seconds.
    fn guessed(&self, column: usize, cell: &str, point: u8, remarks: &mut Vec<String>) -> Stamp {
        let name = self.names.get(column).map_or("", String::as_str);
        let found = UNIX_POWERS.iter().find_map(|power| Some((power, unix(cell, point, *power)?)));
        if let Some((power, stamp)) = found {
            remarks.push(format!("`{name}` is taken as 1e{power} s since 1970, by its size"));
            return stamp;
        }
        remarks.push(format!("`{name}` says no unit and is taken as seconds"));
        Stamp::SECONDS
    }

    /// The columns that are told, or all of a known unit.
    pub(super) fn columns(
        &self,
        told: &TableOptions,
        time: Option<Time>,
        point: u8,
        remarks: &mut Vec<String>,
    ) -> Result<Chosen, ReadFault> {
        let mut chosen = Chosen::default();
        chosen.cells.resize(self.names.len(), Cell::Skip);
        let time = time.map(|time| time.column);
        if let Some(cell) = time.and_then(|at| chosen.cells.get_mut(at)) {
            *cell = Cell::Time;
        }
        let common = told.unit.as_deref();
        let is_level = |column: &String| split_unit(column).1 == Some(LEVEL);
        if told.columns.iter().all(is_level) {
            let (mut summed, mut strange) = (Vec::new(), Vec::new());
            let is_told =
                |name: &str| told.columns.iter().any(|column| split_unit(column).0 == name);
            for (column, label) in self.labels.iter().enumerate() {
                match label.unit.map(|unit| unit.quantity) {
                    _ if Some(column) == time => {}
                    Some(Quantity::Samples(kind)) => {
                        self.agrees(column, kind)?;
                        chosen.read(self, column, None)?;
                    }
                    Some(Quantity::Sum) => summed.push(label.name.as_str()),
                    Some(Quantity::Time) => {}
                    None if common.is_some() && self.is_numeric(column, point) => {
                        chosen.read(self, column, common)?;
                    }
                    None if self.is_numeric(column, point) && !is_told(&label.name) => {
                        strange.push(label.name.as_str());
                    }
                    None => {}
                }
            }
            if !strange.is_empty() {
                let more = if strange.len() > NAMED { " and more" } else { "" };
                strange.truncate(NAMED);
                remarks.push(format!(
                    "columns without a known unit are left out: {}{more} (`--column NAME=UNIT` reads one, \
                     `--column NAME=level` a digital line)",
                    strange.join(", ")
                ));
            }
            if !summed.is_empty() {
                let names = summed.join(", ");
                remarks.push(format!("sums of energy or charge are left out: {names}"));
            }
        }
        for column in &told.columns {
            let (name, unit) = split_unit(column);
            let column = self.find(name).ok_or_else(|| self.no_column(name))?;
            let own = self.labels.get(column).is_some_and(|label| label.unit.is_some());
            chosen.read(self, column, unit.or(common.filter(|_| !own)))?;
        }
        match chosen.channels.is_empty() && chosen.lines.is_empty() {
            true => Err(ReadFault::Needs { what: "the unit of any column", option: "--unit mA" }),
            false => Ok(chosen),
        }
    }

    /// An error where the name of a column ends with another quantity than its unit is of.
    fn agrees(&self, column: usize, kind: ChannelKind) -> Result<(), ReadFault> {
        let name = self.labels.get(column).map_or("", |label| label.name.as_str()).to_lowercase();
        let named = match name.rsplit(|c: char| !c.is_alphanumeric()).next() {
            Some("power") => ChannelKind::Power,
            Some("current") => ChannelKind::Current,
            Some("voltage") => ChannelKind::Voltage,
            _ => return Ok(()),
        };
        if named == kind {
            return Ok(());
        }
        Err(ReadFault::Unit {
            column: format!("`{}`", self.names.get(column).map_or("", String::as_str)),
            found: kind.unit().into(),
            expected: "a unit of what the name says, or `--column NAME=UNIT`",
        })
    }

    fn is_numeric(&self, column: usize, point: u8) -> bool {
        let cell = self.rows.first().and_then(|row| row.get(column));
        cell.is_some_and(|cell| value(cell, point).is_some())
    }

    fn no_column(&self, column: &str) -> ReadFault {
        ReadFault::NoColumn { column: column.into(), known: self.names.join(", ") }
    }

    fn no_unit(&self, column: usize, found: &str, expected: &'static str) -> ReadFault {
        let column = format!("`{}`", self.names.get(column).map_or("", String::as_str));
        ReadFault::Unit { column, found: found.into(), expected }
    }
}

impl Chosen {
    /// Takes a column as samples, in a unit that is told or its own.
    fn read(&mut self, table: &Found, column: usize, told: Option<&str>) -> Result<(), ReadFault> {
        let Some(label) = table.labels.get(column) else { return Ok(()) };
        let own = label.unit;
        if told == Some(LEVEL) {
            if let Some(cell) = self.cells.get_mut(column).filter(|cell| **cell == Cell::Skip) {
                *cell = Cell::Level(self.lines.len());
                self.lines.push(label.name.clone());
            }
            return Ok(());
        }
        let unit = told.map_or(own, unit);
        let (kind, power) = match unit {
            Some(Unit { quantity: Quantity::Samples(kind), power }) => (kind, power),
            _ => return Err(table.no_unit(column, told.unwrap_or("(none)"), SAMPLES)),
        };
        if let Some(cell) = self.cells.get_mut(column).filter(|cell| **cell == Cell::Skip) {
            *cell = Cell::Value { channel: self.channels.len(), power };
            let electrical =
                matches!(kind, ChannelKind::Power | ChannelKind::Current | ChannelKind::Voltage);
            let rail = if electrical { rail(&label.name) } else { String::new() };
            self.channels.push(Channel::new(label.name.clone(), kind, rail));
        }
        Ok(())
    }
}

/// A time since 1970, where a number of 10^`power` seconds is of its size.
fn unix(cell: &str, point: u8, power: i32) -> Option<Stamp> {
    let seconds = value(cell, point)? * 10f64.powi(power);
    UNIX_SECONDS.contains(&seconds).then_some(Stamp::Number { power, unix: true })
}
