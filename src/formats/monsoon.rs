//! CSV of PyMonsoon, the Python library of the Monsoon power monitors.
//!
//! `Time(ms),Main(mA),USB(mA),Aux(mA),Main Voltage(V),USB Voltage(V),` for the channels that are
//! on; head and rows end with a comma, in newer branches not. In spite of its head the time is in
//! seconds: those of the host at each USB packet, which jitter and repeat. The instrument samples
//! at 5 kHz, of which the library may keep every n-th sample; rows are taken at that rate, with n
//! told by how long the host says the first rows took.

use super::table::head::{Lines, Unended, split, value};
use super::table::{Cell, Rows, Stamp, Table, Timing, stream};
use super::{Format, FormatError, Head, Input, Options, Place, ReadFault, Shape};
use crate::trace::{Channel, ChannelKind, Layout, SampleSink};
use crate::units::Hertz;

pub(super) const FORMAT: Format = Format {
    name: "monsoon-csv",
    title: "Monsoon power monitor: CSV of PyMonsoon",
    shape: Shape::File { recognises, read },
};

/// Samples a second.
const RATE: f64 = 5000.0;
/// How far the pace of the host may be from that of the instrument, for n to be told by it.
const TOLERANCE: f64 = 0.05;

const COLUMNS: [(&str, ChannelKind, &str, i32); 5] = [
    ("Main(mA)", ChannelKind::Current, "main", -3),
    ("USB(mA)", ChannelKind::Current, "usb", -3),
    ("Aux(mA)", ChannelKind::Current, "aux", -3),
    ("Main Voltage(V)", ChannelKind::Voltage, "main", 0),
    ("USB Voltage(V)", ChannelKind::Voltage, "usb", 0),
];
const TIMES: [&str; 2] = ["Time(ms)", "Time(s)"];

fn recognises(head: &Head) -> bool {
    names(head.first_line()).is_some()
}

fn names(line: &str) -> Option<Vec<String>> {
    let mut names = split(line, b',');
    if names.last().is_some_and(String::is_empty) {
        names.pop();
    }
    let channel = |name: &String| COLUMNS.iter().any(|column| column.0 == name);
    let known = |name: &String| channel(name) || TIMES.contains(&name.as_str());
    (names.iter().all(known) && names.iter().any(channel)).then_some(names)
}

fn read(
    input: &mut Input<'_>,
    options: &Options,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let lines = Lines::of(input)?;
    let Some(names) = names(lines.text(0)) else {
        let fault = ReadFault::Head {
            expected: "columns of Time(ms), Main(mA), USB(mA), Aux(mA) and voltages (V)".into(),
            found: lines.text(0).chars().take(60).collect(),
        };
        return Err(input.fault(Place::Line(1), fault));
    };
    let mut layout = Layout { format: FORMAT.name.into(), ..Layout::default() };
    let cells = names.iter().map(|name| match COLUMNS.iter().find(|column| column.0 == name) {
        Some((_, kind, rail, power)) => {
            let bare = name.split('(').next().unwrap_or_default();
            layout.channels.push(Channel::new(bare, *kind, *rail));
            Cell::Value { channel: layout.channels.len() - 1, power: *power }
        }
        None => Cell::Skip,
    });
    let rows = Rows::new(cells.collect(), names.clone(), Stamp::SECONDS);
    let timing = Timing::Rate(rate(&lines, &names, options, &mut layout.remarks));
    let body = lines.body(input, 1, Unended::Drop)?;
    stream(input, Table { rows, layout, body, timing }, options, sink)
}

fn rate(lines: &Lines, names: &[String], options: &Options, remarks: &mut Vec<String>) -> Hertz {
    if let Some(rate) = options.rate {
        remarks.push(format!("rows are taken at {} Hz, as given", rate.0));
        return rate;
    }
    let by_host = host_rate(lines, names);
    let kept = by_host.map_or(1.0, |rate| (RATE / rate).round().max(1.0));
    let fits = by_host.is_none_or(|rate| (RATE / kept / rate - 1.0).abs() <= TOLERANCE);
    let rate = if fits { RATE / kept } else { RATE };
    let mut remark = format!("rows are taken at {rate} Hz by their number");
    if kept > 1.0 && fits {
        remark += &format!(", every {kept}th sample of 5 kHz");
    }
    remark += ": the times in the file are seconds of the host, which jitter";
    remarks.push(remark);
    if let Some(by_host) = by_host.filter(|_| !fits) {
        remarks.push(format!(
            "by the host's clock the first rows came at {by_host:.0} Hz: samples may be missing"
        ));
    }
    Hertz(rate)
}

/// Rows a second by the clock of the host, from the first rows.
fn host_rate(lines: &Lines, names: &[String]) -> Option<f64> {
    let column = names.iter().position(|name| TIMES.contains(&name.as_str()))?;
    // The last line may be cut.
    let last = lines.count().checked_sub(2)?;
    let time = |k: usize| value(split(lines.text(k), b',').get(column)?, b'.');
    let took = time(last)? - time(1)?;
    let rate = last.checked_sub(1)? as f64 / took;
    (rate.is_finite() && rate > 0.0).then_some(rate)
}
