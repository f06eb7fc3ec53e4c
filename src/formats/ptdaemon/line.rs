//! One line of the log: a stamp, then names and values in turn.

use super::super::stamps::{DateOrder, Picoseconds, calendar};
use super::super::{ReadFault, lines};
use super::ChannelKind;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    Watts,
    Volts,
    Amps,
    PowerFactor,
}

impl Quantity {
    const ALL: [Self; 4] = [Self::Watts, Self::Volts, Self::Amps, Self::PowerFactor];

    /// As the log writes it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Watts => "Watts",
            Self::Volts => "Volts",
            Self::Amps => "Amps",
            Self::PowerFactor => "PF",
        }
    }

    pub(super) fn kind(self) -> ChannelKind {
        match self {
            Self::Watts => ChannelKind::Power,
            Self::Volts => ChannelKind::Voltage,
            Self::Amps => ChannelKind::Current,
            Self::PowerFactor => ChannelKind::Share,
        }
    }
}

/// One value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reading<'a> {
    /// The phase it is of; none for the meter as a whole.
    pub(super) group: Option<&'a str>,
    pub(super) quantity: Quantity,
    /// Not a number where it is not measured.
    pub(super) value: f64,
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row<'a> {
    /// On the clock of the meter's host, from 1970 on.
    pub(super) at: Picoseconds,
    pub(super) readings: Vec<Reading<'a>>,
    /// What the harness says is going on.
    pub(super) mark: &'a str,
}

impl<'a> Row<'a> {
    pub(super) fn of(text: &'a str) -> Result<Self, ReadFault> {
        let head = || ReadFault::Head {
            expected: "`Time,MM-DD-YYYY HH:MM:SS.mmm,Watts,...`".into(),
            found: lines::shown(text),
        };
        let mut cells = text.trim_end().split(',');
        let stamp = cells.next().filter(|cell| *cell == "Time").and_then(|_| cells.next());
        let (date, time) = stamp.ok_or_else(head)?.split_once(' ').ok_or_else(head)?;
        let at = calendar(date, time, DateOrder::MonthFirst).ok_or_else(head)?;
        let mut row = Self { at, readings: Vec::new(), mark: "" };
        let mut group = None;
        while let Some(name) = cells.next() {
            if is_group(name) {
                group = Some(name);
                continue;
            }
            let value = cells.next().ok_or_else(|| missing(name))?;
            match Quantity::ALL.into_iter().find(|quantity| quantity.name() == name) {
                Some(quantity) => row.readings.push(reading(group, quantity, value)?),
                None if name == "Mark" => row.mark = value,
                None => {
                    let expected = "Watts, Volts, Amps, PF, Mark or a channel".into();
                    return Err(ReadFault::Head { expected, found: lines::shown(name) });
                }
            }
        }
        if row.readings.is_empty() { Err(missing("Watts")) } else { Ok(row) }
    }
}

fn is_group(name: &str) -> bool {
    let number = name.strip_prefix("Ch");
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
}

fn missing(name: &str) -> ReadFault {
    ReadFault::Missing { what: format!("the value of {}", lines::shown(name)) }
}

fn reading<'a>(
    group: Option<&'a str>,
    quantity: Quantity,
    text: &str,
) -> Result<Reading<'a>, ReadFault> {
    let value = lines::number(text, quantity.name())?;
    let value = if value == -1.0 { f64::NAN } else { value };
    Ok(Reading { group, quantity, value })
}
