//! CSV exports of Nordic's Power Profiler app, for PPK2 and PPK1.
//!
//! `Timestamp(ms),Current(uA)` and digital channels, as one string `D0-D7` (D0 first), as eight
//! columns, or both; each can be switched off. `X` stands for both levels within a reduced sample,
//! `-` for none. Samples that are not a number are left out by the app, so a jump of the time stamp
//! is a gap. PPK1 wrote `Bits`, a binary number, whose last digit is channel 0. Spreadsheets that
//! saved such a file again put `;` between cells and commas in numbers. Apps before 4.1.3 may have
//! written wrong or inverted levels; a file does not say which wrote it.

use super::table::head::{Lines, Unended, label, split};
use super::table::{Cell, Rows, Stamp, Table, Timing, given_rate, stream};
use super::{Format, FormatError, Head, Input, Options, Place, ReadFault, Shape};
use crate::trace::{Channel, ChannelKind, Layout, Reading, SampleSink};
use std::io::Write;

pub(super) const FORMAT: Format = Format {
    name: "ppk2-csv",
    title: "Nordic Power Profiler Kit: CSV export",
    shape: Shape::File { recognises, read },
};

const TIME: &str = "Timestamp(ms)";
const CURRENT: &str = "Current(uA)";
const STRING: &str = "D0-D7";
const BITS: &str = "Bits";
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

fn recognises(head: &Head) -> bool {
    names(head.first_line()).is_some()
}

/// The delimiter and the names of a head of this format.
fn names(line: &str) -> Option<(u8, Vec<String>)> {
    DELIMITERS.iter().find_map(|delimiter| {
        let mut names = split(line, *delimiter);
        while names.last().is_some_and(String::is_empty) {
            names.pop();
        }
        let has = |name: &str| names.iter().any(|n| n == name);
        let known = |name: &String| {
            [TIME, CURRENT, STRING, BITS].contains(&name.as_str()) || channel(name).is_some()
        };
        let digital = has(STRING) || (0..8).all(|k| has(&format!("D{k}")));
        (names.iter().all(known) && (has(CURRENT) || digital)).then_some((*delimiter, names))
    })
}

/// The number of a digital channel.
fn channel(name: &str) -> Option<usize> {
    match name.as_bytes() {
        [b'D', digit @ b'0'..=b'7'] => Some(usize::from(digit - b'0')),
        _ => None,
    }
}

fn read(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let lines = Lines::of(input)?;
    let head = (0..lines.count()).find(|k| !lines.text(*k).trim().is_empty()).unwrap_or(0);
    let (delimiter, names) = match names(lines.text(head)) {
        Some(found) => found,
        None => return Err(input.fault(Place::Line(head as u64 + 1), wrong(lines.text(head)))),
    };
    let mut layout = Layout { format: FORMAT.name.into(), ..Layout::default() };
    let cells = cells(&names, &mut layout);
    let timing = match cells.contains(&Cell::Time) {
        true => Timing::Stamps { gaps: Some(true) },
        false => given_rate(input, options)?,
    };
    let mut rows = Rows::new(cells, names.clone(), Stamp::units(-3));
    rows.delimiter = delimiter;
    if delimiter != b',' && lines.text(head + 1).contains(',') {
        rows.point = b',';
    }
    let string = names.iter().position(|name| name == STRING || name == BITS);
    let short = |k| {
        let row = split(lines.text(k), delimiter);
        string.and_then(|at| row.get(at).map(String::len)).is_some_and(|length| length < 8)
    };
    if (head + 1..lines.count().saturating_sub(1)).any(short) {
        let remark = "zeros missing at the start of digital levels are taken as low channels";
        layout.remarks.push(remark.into());
    }
    let body = lines.body(input, head + 1, Unended::Drop)?;
    stream(input, Table { rows, layout, body, timing }, options, sink)
}

fn cells(names: &[String], layout: &mut Layout) -> Vec<Cell> {
    let separate = names.iter().any(|name| channel(name).is_some());
    let digital = names.iter().any(|name| name == STRING || name == BITS);
    let mut lines: Vec<String> = Vec::new();
    if separate {
        lines.extend(names.iter().filter(|name| channel(name).is_some()).cloned());
    } else if digital {
        lines.extend((0..8).map(|k| format!("D{k}")));
    }
    let mut found = Vec::new();
    for name in names {
        let first = !found.iter().any(|cell| matches!(cell, Cell::Levels { .. }));
        found.push(match name.as_str() {
            TIME if !found.contains(&Cell::Time) => Cell::Time,
            CURRENT if layout.channels.is_empty() => {
                layout.channels.push(Channel::new("Current", ChannelKind::Current, "dut"));
                Cell::Value { channel: 0, power: -6 }
            }
            STRING if !separate && first => Cell::Levels { first: 0, down: false },
            BITS if !separate && first => Cell::Levels { first: 7, down: true },
            _ => match lines.iter().position(|line| line == name) {
                Some(line) if !found.contains(&Cell::Level(line)) => Cell::Level(line),
                _ => Cell::Skip,
            },
        });
    }
    layout.lines = lines;
    found
}

/// Writes a reading as the app exports it: all digital channels in one column.
///
/// # Errors
/// The system's word.
pub fn write(reading: &Reading, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{TIME},{CURRENT},{STRING}")?;
    let period = 1e3 / reading.rate.0;
    let whole = |digits: &usize| {
        let steps = period * 10f64.powi(*digits as i32);
        (steps - steps.round()).abs() < 1e-9 * steps
    };
    let digits = (0..MOST_DIGITS).find(whole).unwrap_or(MOST_DIGITS);
    for (k, (current, lines)) in reading.current.iter().zip(&reading.lines).enumerate() {
        let (at, current) = (k as f64 * period, current.0 * 1e6);
        write!(out, "{at:.digits$},{current:.3},")?;
        for line in 0..8 {
            write!(out, "{}", lines >> line & 1)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Digits of a millisecond behind the point, at most.
const MOST_DIGITS: usize = 6;

/// What is wrong with a head: a unit, or all of it.
fn wrong(line: &str) -> ReadFault {
    for cell in split(line, b',') {
        let name = label(&cell).name;
        let found = cell.trim_start_matches(&name).trim_matches(['(', ')', '[', ']', ' ']);
        for (column, of, unit) in [(TIME, "Timestamp", "ms"), (CURRENT, "Current", "uA")] {
            if name == of && found != unit {
                let (column, found) = (format!("`{column}`"), found.to_owned());
                return ReadFault::Unit { column, found, expected: unit };
            }
        }
    }
    ReadFault::Head {
        expected: format!("columns of {TIME}, {CURRENT}, {STRING} or D0 to D7"),
        found: line.chars().take(60).collect(),
    }
}
