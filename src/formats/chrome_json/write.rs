//! A capture as Chrome's JSON: a counter for each channel and line, spans and marks.

use super::super::FormatError;
use crate::trace::{Level, Readings};
use crate::units::SimTime;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes the samples of each channel as a counter whose value is named for its unit, lines as
/// counters of 0 and 1, spans and marks on the thread of their track.
///
/// Each sample is an event of its own, so that a capture of many grows: this is for looking at.
pub fn write(readings: &Readings, mut out: impl Write) -> Result<(), FormatError> {
    let failed = |source| FormatError::Write { file: "Chrome trace".into(), source };
    events(readings, &mut out).and_then(|()| out.flush()).map_err(failed)
}

/// Microseconds; a picosecond is the sixth decimal.
fn microseconds(at: SimTime) -> f64 {
    at.0 as f64 * 1e-6
}

fn events(readings: &Readings, out: &mut impl Write) -> io::Result<()> {
    let mut before = "[\n";
    let mut event = |event: Value, out: &mut dyn Write| {
        out.write_all(before.as_bytes())?;
        before = ",\n";
        serde_json::to_writer(out, &event).map_err(io::Error::from)
    };
    let tracks = tracks(readings);
    for (track, tid) in &tracks {
        let args = json!({ "name": track });
        let name = json!({ "ph": "M", "name": "thread_name", "pid": 1, "tid": tid, "args": args });
        event(name, out)?;
    }
    let thread = |track: &str| tracks.get(track).copied().unwrap_or_default();
    for span in &readings.spans {
        let args = span.inference.map_or(json!({}), |number| json!({ "inference": number }));
        let dur = microseconds(span.end) - microseconds(span.start);
        event(
            json!({
                "ph": "X", "name": span.name, "cat": span.kind.name(), "pid": 1,
                "tid": thread(&span.track), "ts": microseconds(span.start), "dur": dur,
                "args": args,
            }),
            out,
        )?;
    }
    for mark in &readings.marks {
        event(
            json!({
                "ph": "i", "name": mark.name, "pid": 1, "tid": thread(&mark.track),
                "ts": microseconds(mark.at), "s": "t",
            }),
            out,
        )?;
    }
    let counter = |name: &str, unit: &str, at: SimTime, value: f64| {
        let unit = if unit.is_empty() { "value" } else { unit };
        // What is no number becomes `null`.
        json!({ "ph": "C", "name": name, "pid": 1, "ts": microseconds(at), "args": { unit: value } })
    };
    for edge in &readings.edges {
        let name = readings.layout.lines.get(edge.line.0).map_or("", String::as_str);
        let value = match edge.to {
            Level::Low => 0.0,
            Level::High => 1.0,
            Level::Unknown => f64::NAN,
        };
        event(counter(name, "", edge.at, value), out)?;
    }
    for (channel, series) in readings.layout.channels.iter().zip(&readings.series) {
        let unit = channel.kind.unit();
        let mut until = None;
        for (start, end, value) in series.segments() {
            if let Some(until) = until.filter(|until| *until < start) {
                event(counter(&channel.name, unit, until, f64::NAN), out)?;
            }
            event(counter(&channel.name, unit, start, value), out)?;
            until = Some(end);
        }
        if let Some(until) = until {
            event(counter(&channel.name, unit, until, f64::NAN), out)?;
        }
    }
    out.write_all(if before == "[\n" { b"[]\n" } else { b"\n]\n" })
}

/// Tracks of spans and marks, with the threads that stand for them.
fn tracks(readings: &Readings) -> BTreeMap<&str, u64> {
    let spans = readings.spans.iter().map(|span| span.track.as_str());
    let names = spans.chain(readings.marks.iter().map(|mark| mark.track.as_str()));
    let mut tracks: BTreeMap<&str, u64> = names.map(|name| (name, 0)).collect();
    for (number, (_, tid)) in (1..).zip(&mut tracks) {
        *tid = number;
    }
    tracks
}
