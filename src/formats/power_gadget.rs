//! The CSV of Intel Power Gadget and its PowerLog.
//!
//! A row is stamped with the seconds since the log began and holds means of the time up to it: its
//! energy from the row before is its power times the time between them. Cells are padded, and a
//! summary in words follows the rows. `Processor` is the package; `IA` (cores) and `GT` (graphics)
//! are parts of it and `DRAM` is not. The clock text `17:16:13:287` has a colon before its
//! milliseconds.

use super::feed::{Means, Pace};
use super::stamps::{Forward, Picoseconds, decimal, since};
use super::{Format, FormatError, Input, Options, Place, ReadFault, Shape, lines};
use crate::trace::{Channel, ChannelKind, Layout, Origin, SampleSink};
use crate::units::SimTime;

/// A log of Intel Power Gadget.
pub(super) const FORMAT: Format = Format {
    name: "power-gadget",
    title: "Intel Power Gadget",
    shape: Shape::File {
        recognises: |head| {
            let line = head.first_line();
            line.starts_with("System Time,") && line.contains(ELAPSED)
        },
        read: |input, _: &Options, sink| read(input, sink),
    },
};

const ELAPSED: &str = "Elapsed Time (sec)";

/// A column that is read.
#[derive(Debug)]
struct Column {
    at: usize,
    name: String,
    kind: ChannelKind,
    scale: f64,
}

/// What a first pass finds.
#[derive(Debug, Default)]
struct Survey {
    cells: usize,
    elapsed: usize,
    columns: Vec<Column>,
    clock: Option<f64>,
    forward: Forward,
    pace: Pace,
    rows: u64,
    finished: bool,
    cut: bool,
}

fn read(input: &mut Input<'_>, sink: &mut dyn SampleSink) -> Result<(), FormatError> {
    let survey = survey(input)?;
    if survey.rows == 0 {
        return Err(input.fault(Place::Whole, ReadFault::NoSamples));
    }
    sink.begin(&layout(&survey));
    let first = SimTime(u64::try_from(survey.forward.first().unwrap_or_default()).unwrap_or(0));
    let usual = survey.pace.usual().unwrap_or(first);
    let mut means = Means::new(survey.columns.len(), usual);
    let mut values = Vec::new();
    let mut left = survey.rows;
    lines::each(input, |line| {
        if line.number == 1 || left == 0 {
            return Ok(());
        }
        if let Some(cells) = row(line.text, survey.cells)? {
            left -= 1;
            values.clear();
            for column in &survey.columns {
                values.push(value(&cells, column)?);
            }
            means.row(since(0, elapsed(&cells, survey.elapsed)?)?, &values, sink);
        }
        Ok(())
    })?;
    let end = means.finish(sink);
    sink.end(end);
    Ok(())
}

fn survey(input: &mut Input<'_>) -> Result<Survey, FormatError> {
    let mut survey = Survey::default();
    lines::each(input, |line| {
        if line.number == 1 {
            return survey.head(line.text);
        }
        if survey.finished {
            return Ok(());
        }
        if !line.whole {
            survey.cut = true;
            return Ok(());
        }
        let Some(cells) = row(line.text, survey.cells)? else {
            survey.finished = true;
            return Ok(());
        };
        for column in &survey.columns {
            value(&cells, column)?;
        }
        let at = elapsed(&cells, survey.elapsed)?;
        survey.forward.take(at)?;
        survey.pace.take(at);
        if survey.rows == 0 {
            survey.clock =
                cells.first().and_then(|text| clock(text)).map(|s| s - at as f64 * 1e-12);
        }
        survey.rows += 1;
        Ok(())
    })?;
    Ok(survey)
}

impl Survey {
    fn head(&mut self, text: &str) -> Result<(), ReadFault> {
        let names: Vec<&str> = text.split(',').map(str::trim).collect();
        let missing = || ReadFault::NoColumn { column: ELAPSED.into(), known: lines::shown(text) };
        self.elapsed = names.iter().position(|name| *name == ELAPSED).ok_or_else(missing)?;
        self.cells = names.len();
        self.columns = names.iter().enumerate().filter_map(|(at, name)| column(at, name)).collect();
        Ok(())
    }
}

/// The cells of a row; none for the blank line and the summary behind the rows.
fn row(text: &str, expected: usize) -> Result<Option<Vec<&str>>, ReadFault> {
    let text = text.trim();
    if text.is_empty() || text.contains(" = ") {
        return Ok(None);
    }
    let cells: Vec<&str> = text.split(',').map(str::trim).collect();
    match cells.len() == expected {
        true => Ok(Some(cells)),
        false => Err(ReadFault::Cells { expected, found: cells.len() }),
    }
}

fn elapsed(cells: &[&str], column: usize) -> Result<Picoseconds, ReadFault> {
    let text = cells.get(column).copied().unwrap_or_default();
    let at = decimal(text, 0).filter(|at| *at >= 0);
    at.ok_or_else(|| ReadFault::Number { column: ELAPSED.into(), text: lines::shown(text) })
}

fn value(cells: &[&str], column: &Column) -> Result<f64, ReadFault> {
    let text = cells.get(column.at).copied().unwrap_or_default();
    if text.is_empty() {
        return Ok(f64::NAN);
    }
    Ok(lines::number(text, &column.name)? * column.scale)
}

/// What a column measures, by the unit in its round brackets; what adds up or is set is left out.
fn column(at: usize, name: &str) -> Option<Column> {
    let (what, unit) = name.trim_end_matches(')').rsplit_once('(')?;
    let set = ["Cumulative", "Limit", "Requsted", "Requested"];
    if what.starts_with("Elapsed") || set.iter().any(|word| what.contains(word)) {
        return None;
    }
    let (kind, scale) = match unit {
        "Watt" => (ChannelKind::Power, 1.0),
        "MHz" => (ChannelKind::Frequency, 1e6),
        "C" => (ChannelKind::Temperature, 1.0),
        "%" => (ChannelKind::Share, 1e-2),
        _ => return None,
    };
    Some(Column { at, name: what.trim().into(), kind, scale })
}

/// Seconds of the day of `17:16:13:287`.
fn clock(text: &str) -> Option<f64> {
    let mut parts = text.splitn(4, ':');
    let mut next = || parts.next()?.parse::<f64>().ok().filter(|n| (0.0..1000.0).contains(n));
    let (hours, minutes, seconds, ms) = (next()?, next()?, next()?, next()?);
    Some((hours * 60.0 + minutes) * 60.0 + seconds + ms * 1e-3)
}

fn layout(survey: &Survey) -> Layout {
    let mut layout = Layout {
        format: FORMAT.name.into(),
        origin: survey.clock.map_or(Origin::FirstSample, Origin::OwnClock),
        ..Layout::default()
    };
    let packages: Vec<&str> = survey
        .columns
        .iter()
        .filter(|c| c.kind == ChannelKind::Power)
        .filter_map(|column| column.name.strip_prefix("Processor Power"))
        .collect();
    for column in &survey.columns {
        let power = column.name.split_once(" Power").filter(|_| column.kind == ChannelKind::Power);
        let channel = match power {
            Some((what, socket)) => {
                let inner = matches!(what, "IA" | "GT") && packages.contains(&socket);
                let rail = format!("{what}{socket}");
                Channel {
                    part_of: inner.then(|| format!("Processor{socket}")),
                    ..Channel::new(column.name.clone(), column.kind, rail)
                }
            }
            None => Channel::new(column.name.clone(), column.kind, ""),
        };
        layout.channels.push(channel);
    }
    layout.remarks.push("a row holds means of the time since the row before".into());
    if survey.clock.is_some() {
        layout.remarks.push("the clock of the log tells seconds of a day, without a date".into());
    }
    if survey.forward.equal > 0 {
        let equal = survey.forward.equal;
        layout
            .remarks
            .push(format!("{equal} rows have the time of the row before and weigh nothing"));
    }
    if survey.cut {
        layout.remarks.push(lines::CUT.into());
    }
    layout
}

#[cfg(test)]
mod tests;
