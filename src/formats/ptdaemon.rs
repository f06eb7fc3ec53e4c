//! `spl.txt`, the log of the SPEC PTDaemon: about one line a second of what a meter at the wall
//! shows.
//!
//! A line is `Time,03-17-2021 21:19:41.813,Watts,9.498,Volts,119.97,Amps,0.1995,PF,0.3968,Mark,text`,
//! month first, in the local time of the meter's host; for a meter of several phases `Ch1` and
//! the like with quantities of their own follow. -1 stands for a quantity that is not measured.
//!
//! The meter shows means, so a line is taken as the mean of the time before its stamp. In the
//! published captures of MLPerf Inference the steps of load at both ends of a run appear in the
//! lines about 0.8 s later still; nothing is shifted for it here.

mod line;

use super::feed::{Means, Pace, is_gap};
use super::stamps::{Forward, Picoseconds, since, unix_ns};
use super::{Format, FormatError, Input, Place, ReadFault, Shape, lines};
use crate::trace::{
    Channel, ChannelKind, Layout, Mark, Origin, SampleSink, Span, SpanKind, StatedRun, Teller,
};
use crate::units::SimTime;
use line::{Quantity, Row};

/// The log alone.
pub(super) const FORMAT: Format = Format {
    name: "ptdaemon",
    title: "SPEC PTDaemon: spl.txt alone",
    shape: Shape::File {
        recognises: |head| {
            let line = head.first_line();
            line.starts_with("Time,") && line.contains(",Watts,") && line.contains(",Mark,")
        },
        read: |input, _, sink| read(input, Beside::default(), sink),
    },
};

/// One line a second is what the daemon writes; a log of a single line does not show it.
const USUAL: SimTime = SimTime(1_000_000_000_000);

/// What files beside the log say, on the clock of its host.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// Name of the format; empty for the log alone.
    pub(super) format: &'static str,
    /// Windows with their start and end.
    pub(super) windows: Vec<(Picoseconds, Picoseconds)>,
    /// What a benchmark says of the run.
    pub(super) run: Option<StatedRun>,
    /// What a user should know.
    pub(super) remarks: Vec<String>,
}

/// What a first pass finds.
#[derive(Debug, Default)]
struct Survey {
    quantities: Vec<(Option<String>, Quantity)>,
    forward: Forward,
    pace: Pace,
    last: Picoseconds,
    not_measured: u64,
    cut: bool,
}

pub(super) fn read(
    input: &mut Input<'_>,
    beside: Beside,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let survey = survey(input)?;
    let Some(first) = survey.forward.first() else {
        return Err(input.fault(Place::Whole, ReadFault::NoSamples));
    };
    let (last, equal) = (survey.last, survey.forward.equal);
    let usual = survey.pace.usual().unwrap_or(USUAL);
    let zero = first - i128::from(usual.0);
    let mut layout = layout(&survey.quantities, &beside, zero);
    if survey.not_measured > 0 {
        let readings = survey.not_measured;
        layout.remarks.push(format!("{readings} readings of -1 stand for none and are gaps"));
    }
    if equal > 0 {
        layout
            .remarks
            .push(format!("{equal} lines have the stamp of the line before and weigh nothing"));
    }
    if survey.cut {
        layout.remarks.push(lines::CUT.into());
    }
    let windows = windows(&beside.windows, zero, last, &mut layout);
    sink.begin(&layout);
    for (number, (start, end)) in windows.into_iter().enumerate() {
        tell_window(number, start, end, sink);
    }
    stream(input, zero, usual, survey.quantities.len(), sink)
}

fn survey(input: &mut Input<'_>) -> Result<Survey, FormatError> {
    let mut survey = Survey::default();
    lines::each(input, |line| {
        if line.text.trim().is_empty() {
            return Ok(());
        }
        if !line.whole {
            survey.cut = true;
            return Ok(());
        }
        let row = Row::of(line.text)?;
        if survey.quantities.is_empty() {
            survey.quantities =
                row.readings.iter().map(|r| (r.group.map(str::to_owned), r.quantity)).collect();
        }
        let before = survey.quantities.iter().map(|(group, what)| (group.as_deref(), *what));
        if !before.eq(row.readings.iter().map(|r| (r.group, r.quantity))) {
            return Err(ReadFault::Head {
                expected: "the quantities of the first line".into(),
                found: lines::shown(line.text),
            });
        }
        survey.not_measured += row.readings.iter().filter(|r| r.value.is_nan()).count() as u64;
        survey.forward.take(row.at)?;
        survey.pace.take(row.at);
        survey.last = row.at;
        Ok(())
    })?;
    Ok(survey)
}

fn layout(quantities: &[(Option<String>, Quantity)], beside: &Beside, zero: Picoseconds) -> Layout {
    let channels = quantities.iter().map(|(group, quantity)| {
        let name = quantity.name();
        match group {
            None => Channel::new(name, quantity.kind(), "wall"),
            Some(group) => Channel {
                part_of: Some("wall".into()),
                ..Channel::new(format!("{group} {name}"), quantity.kind(), format!("wall {group}"))
            },
        }
    });
    let format = if beside.format.is_empty() { FORMAT.name } else { beside.format };
    let mut remarks = beside.remarks.clone();
    remarks.push("a line is taken as the mean of the time before its stamp".into());
    Layout {
        format: format.into(),
        channels: channels.collect(),
        origin: Origin::Wall { unix_ns: unix_ns(zero), utc: false },
        run: beside.run.clone(),
        remarks,
        ..Layout::default()
    }
}

/// The windows that lie within the samples.
fn windows(
    stated: &[(Picoseconds, Picoseconds)],
    zero: Picoseconds,
    last: Picoseconds,
    layout: &mut Layout,
) -> Vec<(SimTime, SimTime)> {
    let mut windows = Vec::new();
    for (start, end) in stated {
        match (since(zero, *start), since(zero, *end)) {
            (Ok(from), Ok(to)) if *end <= last => windows.push((from, to)),
            _ => layout.remarks.push(
                "a window lies outside of the samples and is left out: the clocks of the two hosts differ".into(),
            ),
        }
    }
    windows
}

fn tell_window(number: usize, start: SimTime, end: SimTime, sink: &mut dyn SampleSink) {
    for (at, name) in [(start, "power_begin"), (end, "power_end")] {
        let track = "loadgen".into();
        sink.mark(Mark { teller: Teller::Host, at, track, name: name.into() });
    }
    sink.span(Span {
        kind: SpanKind::Window,
        name: format!("run {number}"),
        track: "window".into(),
        inference: None,
        start,
        end,
    });
}

fn stream(
    input: &mut Input<'_>,
    zero: Picoseconds,
    usual: SimTime,
    channels: usize,
    sink: &mut dyn SampleSink,
) -> Result<(), FormatError> {
    let mut means = Means::new(channels, usual);
    let mut values = Vec::with_capacity(channels);
    let mut mark = String::new();
    let mut before = SimTime::ZERO;
    lines::each(input, |line| {
        if !line.whole || line.text.trim().is_empty() {
            return Ok(());
        }
        let row = Row::of(line.text)?;
        let at = since(zero, row.at)?;
        if row.mark != mark {
            mark = row.mark.into();
            let start = if is_gap(before, at, usual) { at } else { before };
            let track = "mark".into();
            sink.mark(Mark { teller: Teller::Meter, at: start, track, name: mark.clone() });
        }
        values.clear();
        values.extend(row.readings.iter().map(|reading| reading.value));
        means.row(at, &values, sink);
        before = at;
        Ok(())
    })?;
    let end = means.finish(sink);
    sink.end(end);
    Ok(())
}

#[cfg(test)]
mod tests;
