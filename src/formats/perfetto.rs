//! A trace as Perfetto protobuf, for <https://ui.perfetto.dev>: slices by lane, counters by
//! component and rail.
//!
//! Lanes stand under `activity`, one for each [`Span::track`](crate::trace::Span), inferences,
//! layers and phases of a track nested in it. Where spans of one track overlap without nesting,
//! the later goes to a lane of its own, `track (2)`. A slice carries its kind as category and its
//! inference as annotation. Counters stand under `power` (the total, then each component) and
//! `rails` (voltage, current and power of each).
//!
//! Perfetto counts whole nanoseconds; the trace counts picoseconds. Each instant is rounded to the
//! nearest nanosecond on its own, so that errors do not add up: no edge is off by more than 0.5 ns.
//! Of several values of a counter within one nanosecond the last is written, so that power pulses
//! below it are lost here (and only here), and a span below it has length zero, which is legal.
//! Every counter has a value at the start and at the end.

mod counters;
mod lanes;
mod message;
mod packets;
mod read;

use super::FormatError;
use super::instants::Instants;
use crate::trace::Trace;
use crate::units::SimTime;
use counters::{Counters, Emit};
use lanes::{Lanes, SliceEdge};
use packets::Packets;
pub(super) use read::{PERFETTO, kind};
use std::io::Write;

/// Writes a Perfetto trace, packet by packet.
pub fn write(trace: &Trace, out: &mut impl Write) -> Result<(), FormatError> {
    let lanes = Lanes::of(&trace.spans);
    let mut packets = Packets::new(out);
    let tracks = describe_lanes(&lanes, &mut packets)?;
    let mut counters = Counters::describe(trace, &mut packets)?;
    let mut instants = Instants::of(trace);
    take_in(&mut instants, 0, trace.end)?;
    counters.emit(0, &instants, Emit::All, &mut packets)?;
    let mut slices = lanes.edges().iter().peekable();
    // Slices and counters in one order of time, at one instant slices first.
    loop {
        let change = instants.peek().map(nanoseconds);
        let edge =
            slices.next_if(|edge| change.is_none_or(|change| nanoseconds(edge.at) <= change));
        match (edge, change) {
            (Some(edge), _) => write_edge(edge, trace, &tracks, &mut packets)?,
            (None, Some(change)) => {
                take_in(&mut instants, change, trace.end)?;
                counters.emit(change, &instants, Emit::Changed, &mut packets)?;
            }
            (None, None) => break,
        }
    }
    let last = lanes.edges().last().map_or(trace.end, |edge| edge.at.max(trace.end));
    counters.emit(nanoseconds(last), &instants, Emit::All, &mut packets)?;
    packets.flush()
}

/// The nearest whole nanosecond, halves up.
fn nanoseconds(time: SimTime) -> u64 {
    time.0 / 1000 + u64::from(time.0 % 1000 >= 500)
}

/// Takes in every change of one nanosecond.
fn take_in(instants: &mut Instants<'_>, now: u64, end: SimTime) -> Result<(), FormatError> {
    while let Some(at) = instants.peek().filter(|at| nanoseconds(*at) <= now) {
        if at > end {
            return Err(FormatError::PastEnd { end, at });
        }
        instants.advance(at);
    }
    Ok(())
}

/// Describes one track a lane; they come back in the order of the lanes.
fn describe_lanes(
    lanes: &Lanes,
    packets: &mut Packets<impl Write>,
) -> Result<Vec<u64>, FormatError> {
    let activity = packets.group("activity")?;
    lanes.names().iter().map(|name| packets.lane(name, activity)).collect()
}

fn write_edge(
    edge: &SliceEdge,
    trace: &Trace,
    tracks: &[u64],
    packets: &mut Packets<impl Write>,
) -> Result<(), FormatError> {
    let (at, track) = (nanoseconds(edge.at), tracks.get(edge.lane).copied().unwrap_or_default());
    match edge.begins.and_then(|span| trace.spans.get(span)) {
        Some(span) => packets.slice_begin(at, track, span),
        None => packets.slice_end(at, track),
    }
}
