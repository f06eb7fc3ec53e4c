//! CSV exports of Saleae Logic.
//!
//! `Time [s],Channel 0,...`: of digital channels a row per *change*, of analogue channels a row per
//! sample in volts. Time is in seconds from the trigger, so it may start below zero, or a date and
//! time after ISO 8601. Channels may have names of the user's; what holds nothing but 0 and 1 at the
//! start of the file is digital.

use super::table::head::{Lines, Unended, label, split};
use super::table::{Cell, Rows, Stamp, Table, Timing, calendar, stream};
use super::{Format, FormatError, Head, Input, Options, Place, ReadFault, Shape};
use crate::trace::{Channel, ChannelKind, Layout, SampleSink};

pub(super) const FORMAT: Format = Format {
    name: "saleae-csv",
    title: "Saleae Logic: CSV export",
    shape: Shape::File { recognises, read },
};

/// Rows at the start by which digital is told from analogue.
const LOOKED_AT: usize = 1000;

fn recognises(head: &Head) -> bool {
    columns(&Lines::seen(head)).is_some()
}

/// The names, and which of them are digital.
fn columns(lines: &Lines) -> Option<(Vec<String>, Vec<bool>)> {
    let names = split(lines.text(0), b',');
    let (time, channels) = names.split_first()?;
    if !matches!(time.as_str(), "Time [s]" | "Time[s]") || channels.is_empty() {
        return None;
    }
    // A last row may be cut.
    let last = lines.count().saturating_sub(1).clamp(2, LOOKED_AT);
    let rows: Vec<Vec<String>> = (1..last).map(|k| split(lines.text(k), b',')).collect();
    let level = |cell: &String| cell == "0" || cell == "1" || cell.is_empty();
    let digital = (1..names.len()).map(|k| rows.iter().all(|row| row.get(k).is_none_or(level)));
    let digital: Vec<bool> = digital.collect();
    let own = |name: &str| name.strip_prefix("Channel ").is_some_and(|n| n.parse::<u8>().is_ok());
    let fits = channels
        .iter()
        .zip(&digital)
        .all(|(name, digital)| own(name) || (*digital && label(name).unit.is_none()));
    fits.then_some((names, digital))
}

fn read(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let lines = Lines::of(input)?;
    let Some((names, digital)) = columns(&lines) else {
        let expected = "`Time [s]` and channels of levels or volts".into();
        let found = lines.text(0).chars().take(60).collect();
        return Err(input.fault(Place::Line(1), ReadFault::Head { expected, found }));
    };
    let mut layout = Layout { format: FORMAT.name.into(), ..Layout::default() };
    let mut cells = vec![Cell::Time];
    for (name, digital) in names.iter().skip(1).zip(digital) {
        cells.push(if digital {
            layout.lines.push(name.clone());
            Cell::Level(layout.lines.len() - 1)
        } else {
            layout.channels.push(Channel::new(name.clone(), ChannelKind::Voltage, name.clone()));
            Cell::Value { channel: layout.channels.len() - 1, power: 0 }
        });
    }
    let timing = match layout.channels.is_empty() {
        true => Timing::Changes,
        false => Timing::Stamps { gaps: None },
    };
    let first = split(lines.text(1), b',');
    let dated = first.first().is_some_and(|cell| calendar(cell).is_some());
    let stamp = if dated { Stamp::Calendar } else { Stamp::SECONDS };
    let rows = Rows::new(cells, names, stamp);
    let body = lines.body(input, 1, Unended::Drop)?;
    stream(input, Table { rows, layout, body, timing }, options, sink)
}
