//! Tables of layers with hardware counters of Ambiq's profiler: a CSV whose head has `Event`,
//! `Tag`, `uSeconds` side by side, then estimated MACs and counters of the core, its caches and
//! its buses. Lines before the head, as in a log of the device, are passed by.
//!
//! Columns with a number in every row become counts; shapes and other text are left out. The times
//! are of an inference with the counters on, which takes longer than one without (7.9 ms against
//! 9.2 ms by layers for one keyword model of neuralSPOT's documentation).

use super::layer_table::{LARGEST, Layer, LayerTable};
use super::stamps::decimal;
use super::{Format, FormatError, Input, Options, Place, ReadFault, Shape, lines};
use crate::trace::{Layout, SampleSink};

/// A table of layers.
pub(super) const FORMAT: Format = Format {
    name: "ambiq-layers",
    title: "Ambiq neuralSPOT: CSV of layers with counters",
    shape: Shape::File {
        recognises: |head| head.lines().any(|line| event_column(&cells(line)).is_some()),
        read: |input, _: &Options, sink| read(input, sink),
    },
};

/// Columns behind the time that say what a layer is, not what happened in it.
const SETTINGS: [&str; 4] = ["stride", "dilation", "source", "shape"];

/// The cells of a line; commas within quotes divide nothing.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(c);
                }
            }
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The number of the column of events, in a head.
fn event_column(cells: &[String]) -> Option<usize> {
    let is = |at: usize, name: &str| cells.get(at).is_some_and(|c| c.eq_ignore_ascii_case(name));
    (0..cells.len()).find(|at| is(*at, "event") && is(at + 1, "tag") && is(at + 2, "useconds"))
}

fn read(input: &mut Input<'_>, sink: &mut dyn SampleSink) -> Result<(), FormatError> {
    if input.size > LARGEST {
        let fault = ReadFault::Size { what: "the table", size: input.size, limit: LARGEST };
        return Err(input.fault(Place::Whole, fault));
    }
    let mut head: Option<(Vec<String>, usize)> = None;
    let mut rows: Vec<(u64, Vec<String>)> = Vec::new();
    let mut finished = false;
    let mut cut = false;
    lines::each(input, |line| {
        let row = cells(line.text);
        if let Some(event) = event_column(&row) {
            head.get_or_insert((row, event));
            return Ok(());
        }
        let Some((names, event)) = &head else { return Ok(()) };
        // The table ends with the first line that has no number of an event.
        let is_row = row.get(*event).is_some_and(|cell| cell.parse::<u64>().is_ok());
        finished |= !is_row && !rows.is_empty();
        if finished || !is_row {
            return Ok(());
        }
        if !line.whole {
            cut = true;
            return Ok(());
        }
        // Raw tables end their rows with a comma.
        let more = row.iter().skip(names.len()).any(|cell| !cell.is_empty());
        if row.len() < names.len() || more {
            return Err(ReadFault::Cells { expected: names.len(), found: row.len() });
        }
        rows.push((line.number, row));
        Ok(())
    })?;
    let Some((names, event)) = head else {
        let what = "a head with Event, Tag and uSeconds".into();
        return Err(input.fault(Place::Whole, ReadFault::Missing { what }));
    };
    let mut layout = Layout { format: FORMAT.name.into(), ..Layout::default() };
    layout.remarks.push(
        "times are of an inference with the counters on, which takes longer than one without"
            .into(),
    );
    if cut {
        layout.remarks.push(lines::CUT.into());
    }
    let table = table(input, &names, event, &rows)?;
    table.tell(input, layout, sink)
}

fn table(
    input: &Input<'_>,
    names: &[String],
    event: usize,
    rows: &[(u64, Vec<String>)],
) -> Result<LayerTable, FormatError> {
    let counted: Vec<usize> = (event + 3..names.len())
        .filter(|at| {
            let name = names.get(*at).map(|name| name.to_ascii_lowercase()).unwrap_or_default();
            let number = |row: &Vec<String>| row.get(*at).is_some_and(|c| count(c).is_some());
            !SETTINGS.iter().any(|setting| name.contains(setting))
                && rows.iter().all(|(_, row)| number(row))
        })
        .collect();
    let name = |at: &usize| names.get(*at).cloned().unwrap_or_default();
    let mut table = LayerTable {
        track: "ambiq".into(),
        counters: counted.iter().map(name).collect(),
        layers: Vec::with_capacity(rows.len()),
    };
    let (mut inference, mut before) = (0, None);
    for (line, row) in rows {
        let cell = |at: usize| row.get(at).map(String::as_str).unwrap_or_default();
        let number: Option<u64> = cell(event).parse().ok();
        inference += u64::from(before.is_some() && number <= before);
        before = number;
        let duration = decimal(cell(event + 2), -6).ok_or_else(|| {
            let (column, text) = ("uSeconds".into(), lines::shown(cell(event + 2)));
            input.fault(Place::Line(*line), ReadFault::Number { column, text })
        })?;
        table.layers.push(Layer {
            name: cell(event + 1).into(),
            inference,
            duration,
            counts: counted.iter().map(|at| count(cell(*at)).unwrap_or(f64::NAN)).collect(),
        });
    }
    Ok(table)
}

fn count(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|count| count.is_finite())
}

#[cfg(test)]
mod tests;
