//! Any table of numbers, as the user says or as its head does: CSV of source-measure units
//! (Keysight, Keithley, Rohde & Schwarz), of Otii, of loggers and scripts.
//!
//! The head is the first line with a column of time and at least one column of a known unit whose
//! next line has as many cells, and numbers where they have to be; whatever stands before it is
//! skipped. Without such a line the user says where the table is: lines to skip, the column of time
//! or a sample rate, columns with units, the delimiter, the decimal sign. A magnitude of 9.9e37
//! stands for an overflow in instruments and is a gap; so are words such as `nan` and empty cells.
//! A column of zeros and ones is a digital line where the user says so (`NAME=level`).
//! Columns of energy and charge are sums of the rest, and are left out. Signs are kept: a source-meter
//! that sinks current counts it below zero.

mod columns;
mod find;

use super::table::head::{Lines, Unended};
use super::table::{Rows, Table, Timing, given_rate, stream};
use super::{Format, FormatError, Head, Input, Options, Place, ReadFault, Shape};
use crate::trace::{Layout, SampleSink};
use find::Found;

pub(super) const FORMAT: Format = Format {
    name: "csv",
    title: "any table of numbers (source-measure units, Otii, loggers)",
    shape: Shape::File { recognises, read },
};

/// No quantity of a circuit is as large, in any unit: 9.9e37 of a picounit is larger.
const OVERFLOW: f64 = 1e25;

/// How the traces of this crate begin, which are no measurements.
const OWN: &str = "# joulecast";

fn recognises(head: &Head) -> bool {
    !head.first_line().starts_with(OWN) && find::by_itself(&Lines::seen(head)).is_some()
}

fn read(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let lines = Lines::of(input)?;
    let Some(found) = find::as_told(&lines, options) else {
        let skip = options.table.skip.unwrap_or(0);
        let line = lines.text(usize::try_from(skip).unwrap_or(usize::MAX));
        let expected = "a line of names, with a column of time and one of a known unit, or of the \
                        names given, and a row of as many numbers below it";
        let found = line.chars().take(60).collect();
        let fault = ReadFault::Head { expected: expected.into(), found };
        return Err(input.fault(Place::Line(skip + 1), fault));
    };
    let Found { delimiter, names, head, .. } = &found;
    let at_head = |fault| input.fault(Place::Line((*head as u64).max(1)), fault);
    let mut remarks = Vec::new();
    let point = found.point(&options.table, &mut remarks).map_err(at_head)?;
    let time = found.time(&options.table, point, &mut remarks).map_err(at_head)?;
    let chosen = found.columns(&options.table, time, point, &mut remarks).map_err(at_head)?;
    let mut rows = Rows::new(chosen.cells, names.clone(), found.stamp(time));
    (rows.delimiter, rows.point, rows.overflow) = (*delimiter, point, OVERFLOW);
    let layout = Layout {
        format: FORMAT.name.into(),
        channels: chosen.channels,
        lines: chosen.lines,
        remarks,
        ..Layout::default()
    };
    let timing = match time {
        Some(_) => Timing::Stamps { gaps: None },
        None => given_rate(input, options)?,
    };
    let unended = Unended::KeepCells(names.len(), *delimiter);
    let body = lines.body(input, *head, unended)?;
    stream(input, Table { rows, layout, body, timing }, options, sink)
}

#[cfg(test)]
mod tests;
