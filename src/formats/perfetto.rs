//! A trace as Perfetto protobuf, for <https://ui.perfetto.dev>: slices by lane, counters by
//! component and rail.
//!
//! Lanes stand under `activity`, one for each [`Span::track`](crate::trace::Span), windows,
//! inferences, layers and phases of a track nested in it. Where spans of one track overlap without
//! nesting, the later goes to a lane of its own, `track (2)`. A slice carries its kind as category
//! and its inference as annotation. Counters stand under `power` (the total, then each component;
//! a line measured alone is its own total), `rails` (voltage, current and power of each) and
//! `counters` (temperatures, clocks, loads, by their unit).
//!
//! Digital lines stand under `lines` as slices `low` and `high`, or as instants `fall` or `rise`
//! where only edges of one direction were kept. Marks are instants under `marks` by track; those of
//! a host stand in lanes `track (host)`, moved onto the meter's clock, and are left out before the
//! trace and where the clocks are not tied together.
//!
//! What is unknown has no value: a counter stays at its last one, and a slice `unknown` in a lane
//! of its name under `gaps` says from when to when. A voltage, a current or a counter has such gaps
//! from its first value on, and no track where it never has one.
//!
//! Perfetto counts whole nanoseconds; the trace counts picoseconds. Each instant is rounded to the
//! nearest nanosecond on its own, so that errors do not add up: no edge is off by more than 0.5 ns.
//! Of several values of a counter within one nanosecond the last is written, so that power pulses
//! below it are lost here (and only here), and a span below it has length zero, which is legal.
//! Every counter has a value at the start and at the end, where it is known there. Packets come in
//! the order of time.

mod counters;
mod lanes;
mod message;
mod packets;
mod read;
mod timeline;

use super::frames::write_frames;
use super::{FormatError, FrameWriter};
use crate::trace::{Annotations, Header, Trace};
use crate::units::SimTime;
use counters::{Counters, Emit};
use packets::Packets;
pub(super) use read::{PERFETTO, kind};
use std::io::Write;
use timeline::Timeline;

/// Writes a Perfetto trace, packet by packet.
pub fn write(trace: &Trace, out: &mut impl Write) -> Result<(), FormatError> {
    let annotations = Annotations::of(trace);
    write_frames(trace, &mut Writer::begin(&trace.header, &annotations, out)?).map(|_| ())
}

/// Writes a Perfetto trace of frames as they come.
pub struct Writer<'a, W: Write> {
    packets: Packets<W>,
    counters: Counters,
    timeline: Timeline<'a>,
    values: Vec<Option<f64>>,
    /// The nanosecond of `values`, which are not written yet; none before the first frame.
    pending: Option<u64>,
}

impl<W: Write> std::fmt::Debug for Writer<'_, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("pending", &self.pending).finish_non_exhaustive()
    }
}

impl<'a, W: Write> Writer<'a, W> {
    /// Starts a file; what stands beside the counters is known from the start.
    pub fn begin(
        header: &Header,
        annotations: &'a Annotations,
        out: W,
    ) -> Result<Self, FormatError> {
        let mut packets = Packets::new(out);
        let mut timeline = Timeline::describe_spans(annotations, &mut packets)?;
        let counters = Counters::plan(header, &mut packets)?;
        timeline.describe_rest(&header.lines, &mut packets)?;
        Ok(Self { packets, counters, timeline, values: Vec::new(), pending: None })
    }

    /// Writes the values of the nanosecond that is over; at one instant slices come first.
    fn flush(&mut self) -> Result<(), FormatError> {
        let Some(at) = self.pending else { return Ok(()) };
        if at == 0 {
            return self.counters.emit(0, &self.values, Emit::All, &mut self.packets);
        }
        self.timeline.tell_until(at, &mut self.packets)?;
        self.counters.emit(at, &self.values, Emit::Changed, &mut self.packets)
    }

    /// What is written before the first frame, which may come late.
    fn start(&mut self, at: u64, values: usize) {
        if self.pending.is_none() && at > 0 {
            self.values = vec![None; values];
            self.pending = Some(0);
        }
    }
}

impl<W: Write> FrameWriter for Writer<'_, W> {
    fn frame(&mut self, at: SimTime, values: &[Option<f64>]) -> Result<(), FormatError> {
        let at = nanoseconds(at);
        self.start(at, values.len());
        if self.pending.is_some_and(|pending| pending < at) {
            self.flush()?;
        }
        self.pending = Some(at);
        self.values.clear();
        self.values.extend_from_slice(values);
        Ok(())
    }

    fn end(&mut self, at: SimTime, values: &[Option<f64>]) -> Result<(), FormatError> {
        let end = nanoseconds(at.max(self.timeline.last_span));
        self.start(end, values.len());
        if self.pending.is_some_and(|pending| pending < end) {
            self.flush()?;
        }
        self.timeline.tell_until(end, &mut self.packets)?;
        self.counters.emit(end, values, Emit::Last, &mut self.packets)?;
        self.counters.close(end, &mut self.packets)?;
        self.timeline.close(end, &mut self.packets)?;
        // A log may go on behind the trace.
        self.timeline.tell_until(u64::MAX, &mut self.packets)?;
        self.packets.flush()
    }
}

/// The nearest whole nanosecond, halves up.
fn nanoseconds(time: SimTime) -> u64 {
    time.0 / 1000 + u64::from(time.0 % 1000 >= 500)
}
