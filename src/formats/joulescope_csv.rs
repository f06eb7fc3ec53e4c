//! CSV of the Joulescope tools: visible data, recorded statistics, and `pyjls export`.
//!
//! - "Export visible data as CSV": `# time,JS220-000000.i,JS220-000000.v`, seconds and SI units;
//!   only the points that were on the screen.
//! - The statistics recorder: `#time,current,voltage,power,charge,energy` or without its time.
//!   Each row is the mean of the interval that *ends* at its time, in seconds or as a date and time.
//!   Charge and energy are those sums over again and are left out.
//! - `pyjls export`: one signal, no head, no time unless asked for. Its unit and, without time, its
//!   rate have to be given, and the format has to be named, as nothing in the file tells it.

use super::table::head::{Lines, Quantity, Unended, split, unit, value};
use super::table::{Cell, Rows, Stamp, Table, Timing, calendar, given_rate, stream};
use super::{Format, FormatError, Head, Input, Options, Place, ReadFault, Shape};
use crate::trace::{Channel, ChannelKind, Layout, SampleSink};

pub(super) const FORMAT: Format = Format {
    name: "joulescope-csv",
    title: "Joulescope: CSV of visible data, of the statistics recorder, of pyjls",
    shape: Shape::File { recognises, read },
};

const STATISTICS: [(&str, ChannelKind); 3] = [
    ("current", ChannelKind::Current),
    ("voltage", ChannelKind::Voltage),
    ("power", ChannelKind::Power),
];

fn recognises(head: &Head) -> bool {
    columns(head.first_line()).is_some()
}

/// What a head of this format says.
struct Columns {
    names: Vec<String>,
    cells: Vec<Cell>,
    channels: Vec<Channel>,
    lines: Vec<String>,
    statistics: bool,
}

fn columns(line: &str) -> Option<Columns> {
    let names = split(line.strip_prefix('#')?, b',');
    let known = |name: &String| STATISTICS.iter().any(|(known, _)| known == name);
    let summed = |name: &String| ["time", "charge", "energy"].contains(&name.as_str());
    let statistics = names.iter().all(|n| known(n) || summed(n)) && names.iter().any(known);
    let mut found = Columns {
        names: Vec::new(),
        cells: Vec::new(),
        channels: Vec::new(),
        lines: Vec::new(),
        statistics,
    };
    for name in &names {
        let cell = if name == "time" && !found.cells.contains(&Cell::Time) {
            Cell::Time
        } else if statistics {
            found.statistic(name)
        } else {
            found.signal(name)?
        };
        found.cells.push(cell);
    }
    let any = !found.channels.is_empty() || !found.lines.is_empty();
    found.names = names;
    (any && (statistics || found.cells.first() == Some(&Cell::Time))).then_some(found)
}

impl Columns {
    fn statistic(&mut self, name: &str) -> Cell {
        match STATISTICS.iter().find(|(known, _)| *known == name) {
            Some((_, kind)) => self.samples(Channel::new(name, *kind, "dut")),
            None => Cell::Skip,
        }
    }

    /// A signal of a device, such as `JS220-000000.i`.
    fn signal(&mut self, name: &str) -> Option<Cell> {
        let (device, signal) = name.rsplit_once('.')?;
        let kind = match signal {
            "i" => ChannelKind::Current,
            "v" => ChannelKind::Voltage,
            "p" => ChannelKind::Power,
            "0" | "1" | "2" | "3" | "T" => {
                self.lines.push(name.to_owned());
                return Some(Cell::Level(self.lines.len() - 1));
            }
            "r" => return Some(Cell::Skip),
            _ => return None,
        };
        Some(self.samples(Channel::new(name, kind, device)))
    }

    fn samples(&mut self, channel: Channel) -> Cell {
        self.channels.push(channel);
        Cell::Value { channel: self.channels.len() - 1, power: 0 }
    }
}

fn read(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let lines = Lines::of(input)?;
    let (columns, head) = match columns(lines.text(0)) {
        Some(columns) => (columns, 1),
        None => (headless(input, &lines, options)?, 0),
    };
    let Columns { names, cells, channels, lines: digital, statistics } = columns;
    let first = split(lines.text(head), b',');
    let time = cells.iter().position(|cell| *cell == Cell::Time);
    let dated = time.and_then(|at| first.get(at)).is_some_and(|cell| calendar(cell).is_some());
    let mut layout =
        Layout { format: FORMAT.name.into(), channels, lines: digital, ..Layout::default() };
    let timing = match (time, statistics) {
        (Some(_), true) => {
            let remark = "each row is the mean of the interval before its time";
            layout.remarks.push(remark.into());
            Timing::StampsAtEnds
        }
        (Some(_), false) => Timing::Stamps { gaps: Some(true) },
        (None, _) => given_rate(input, options)?,
    };
    if statistics && names.iter().any(|name| name == "charge" || name == "energy") {
        layout.remarks.push("charge and energy are sums of the rest and are left out".into());
    }
    let stamp = if dated { Stamp::Calendar } else { Stamp::SECONDS };
    let rows = Rows::new(cells, names, stamp);
    let body = lines.body(input, head, Unended::Drop)?;
    stream(input, Table { rows, layout, body, timing }, options, sink)
}

/// One signal without a head, perhaps with times before it.
fn headless(input: &Input<'_>, lines: &Lines, options: &Options) -> Result<Columns, FormatError> {
    let first = split(lines.text(0), b',');
    let number = first.last().is_some_and(|cell| value(cell, b'.').is_some());
    if !number || first.len() > 2 {
        let expected = "`# time,DEVICE.i,...`, `#time,current,...` or samples of one signal".into();
        let found = lines.text(0).chars().take(60).collect();
        return Err(input.fault(Place::Line(1), ReadFault::Head { expected, found }));
    }
    let Some(word) = options.table.unit.as_deref() else {
        let fault = ReadFault::Needs { what: "the unit of the samples", option: "--unit A" };
        return Err(input.fault(Place::Whole, fault));
    };
    let Some((Quantity::Samples(kind), power)) = unit(word).map(|u| (u.quantity, u.power)) else {
        let (column, found) = (String::from("the samples"), word.to_owned());
        let fault = ReadFault::Unit { column, found, expected: "A, V or W" };
        return Err(input.fault(Place::Whole, fault));
    };
    let mut cells = vec![Cell::Value { channel: 0, power }];
    let mut names = vec![kind.name().to_owned()];
    if first.len() == 2 {
        cells.insert(0, Cell::Time);
        names.insert(0, "time".into());
    }
    let channels = vec![Channel::new(kind.name(), kind, "dut")];
    Ok(Columns { names, cells, channels, lines: Vec::new(), statistics: false })
}
