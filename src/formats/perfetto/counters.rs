//! The counters: which there are, when they are worth a packet, and where they are unknown.

use super::super::FormatError;
use super::packets::{Counted, Group, Packets};
use crate::trace::{ComponentKind, Header};
use std::io::Write;

/// Which counters to write.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Emit {
    /// Those whose value is another than the one last written.
    Changed,
    /// Every one that has no value at this instant yet.
    All,
    /// The same, at the end: nothing begins any more.
    Last,
}

/// What a counter counts, from the values of a frame.
#[derive(Clone, Copy)]
enum Of {
    Total,
    Quantity(usize),
    /// Voltage, at this place, times current, at the next.
    Product(usize),
}

impl Of {
    /// Its value in a frame; zero until it is told.
    fn value(self, values: &[Option<f64>], components: usize) -> f64 {
        let of = |place: usize| values.get(place).copied().flatten().unwrap_or(0.0);
        match self {
            // An empty sum is minus zero.
            Self::Total => values.iter().take(components).flatten().sum::<f64>() + 0.0,
            Self::Quantity(place) => of(place),
            Self::Product(voltage) => of(voltage) * of(voltage + 1),
        }
    }
}

/// Where a lane of gaps tells what is missing.
#[derive(Clone, Copy, PartialEq)]
enum Gaps {
    /// Nowhere: another lane tells it.
    Untold,
    /// Once it has been known; before, it may not be a part of the capture.
    OnceKnown,
    /// From the start.
    Always,
}

pub(super) struct Counters {
    components: usize,
    counters: Vec<Counter>,
}

struct Counter {
    of: Of,
    /// Its track, and its group's.
    track: u64,
    group: Group,
    counted: Counted,
    described: bool,
    written: Option<(u64, f64)>,
    known: bool,
    gaps: Gaps,
    gap_track: Option<u64>,
    in_gap: bool,
}

impl Counters {
    /// Numbers the tracks: total power, power by component, voltage, current and power by rail,
    /// counters. Each is described when it has its first value.
    pub(super) fn plan(
        header: &Header,
        packets: &mut Packets<impl Write>,
    ) -> Result<Self, FormatError> {
        let mut counters = Vec::new();
        let mut add = |of, group, gaps, name: String, unit, packets: &mut Packets<_>| {
            let scale = (group == Group::Power).then_some("power");
            let counted = Counted { name, unit, scale };
            counters.push(Counter::new(of, packets.reserve(), group, counted, gaps));
        };
        packets.group(Group::Power)?;
        let components = header.components.len();
        // A line that is measured alone is the total.
        let alone =
            matches!(&header.components[..], [only] if only.kind == ComponentKind::Measured);
        if components > 0 && !alone {
            add(Of::Total, Group::Power, Gaps::Untold, "total".into(), "W", packets);
        }
        for (at, component) in header.components.iter().enumerate() {
            let (of, name) = (Of::Quantity(at), component.name.clone());
            add(of, Group::Power, Gaps::Always, name, "W", packets);
        }
        packets.group(Group::Rails)?;
        for (number, rail) in header.rails.iter().enumerate() {
            let at = components + 2 * number;
            let is_on = |c: &&crate::trace::Component| c.rail == rail.name;
            let mut measured = header.components.iter().filter(is_on);
            // The power of a measured line is that of its component, and so are its gaps.
            let measured = measured.any(|c| c.kind == ComponentKind::Measured);
            let gaps = if measured { Gaps::Untold } else { Gaps::OnceKnown };
            let name = |what: &str| format!("{} {what}", rail.name);
            add(Of::Quantity(at), Group::Rails, gaps, name("voltage"), "V", packets);
            add(Of::Quantity(at + 1), Group::Rails, gaps, name("current"), "A", packets);
            if !measured {
                add(Of::Product(at), Group::Rails, Gaps::Untold, name("power"), "W", packets);
            }
        }
        let first = components + 2 * header.rails.len();
        for (number, counter) in header.counters.iter().enumerate() {
            let (of, name) = (Of::Quantity(first + number), counter.name.clone());
            add(of, Group::Counters, Gaps::OnceKnown, name, counter.kind.unit(), packets);
        }
        Ok(Self { components, counters })
    }

    /// Writes the values that hold from nanosecond `at` on, and gaps that begin or end there.
    pub(super) fn emit(
        &mut self,
        at: u64,
        values: &[Option<f64>],
        which: Emit,
        packets: &mut Packets<impl Write>,
    ) -> Result<(), FormatError> {
        let components = self.components;
        for counter in self.counters.iter_mut().filter(|counter| !counter.described) {
            if !counter.of.value(values, components).is_nan() {
                counter.describe(packets)?;
            }
        }
        for counter in &mut self.counters {
            let value = counter.of.value(values, components);
            if value.is_nan() {
                counter.miss(at, which, packets)?;
            } else {
                counter.stand(at, value, which, packets)?;
            }
        }
        Ok(())
    }

    /// Ends the gaps that are open where the trace ends.
    pub(super) fn close(
        &mut self,
        at: u64,
        packets: &mut Packets<impl Write>,
    ) -> Result<(), FormatError> {
        self.counters.iter_mut().try_for_each(|counter| counter.end_gap(at, packets))
    }
}

impl Counter {
    fn new(of: Of, track: u64, group: Group, counted: Counted, gaps: Gaps) -> Self {
        Self {
            of,
            track,
            group,
            counted,
            described: false,
            written: None,
            known: false,
            gaps,
            gap_track: None,
            in_gap: false,
        }
    }

    fn describe(&mut self, packets: &mut Packets<impl Write>) -> Result<(), FormatError> {
        self.described = true;
        let group = packets.group(self.group)?;
        packets.counter(self.track, &self.counted, group)
    }

    fn stand(
        &mut self,
        at: u64,
        value: f64,
        which: Emit,
        packets: &mut Packets<impl Write>,
    ) -> Result<(), FormatError> {
        self.end_gap(at, packets)?;
        let written = self.written.is_some_and(|(when, written)| {
            written.to_bits() == value.to_bits() && (which == Emit::Changed || when == at)
        });
        if written {
            return Ok(());
        }
        self.known = true;
        self.written = Some((at, value));
        packets.value(at, self.track, value)
    }

    fn miss(
        &mut self,
        at: u64,
        which: Emit,
        packets: &mut Packets<impl Write>,
    ) -> Result<(), FormatError> {
        let told = self.gaps == Gaps::Always || (self.gaps == Gaps::OnceKnown && self.known);
        // What comes after a gap is worth a packet, though it may be what came before.
        self.written = None;
        if self.in_gap || !told || which == Emit::Last {
            return Ok(());
        }
        let track = match self.gap_track {
            Some(track) => track,
            None => {
                let group = packets.group(Group::Gaps)?;
                *self.gap_track.insert(packets.lane(&self.counted.name, group)?)
            }
        };
        self.in_gap = true;
        packets.slice_begin(at, track, "unknown", "gap")
    }

    fn end_gap(&mut self, at: u64, packets: &mut Packets<impl Write>) -> Result<(), FormatError> {
        match (std::mem::take(&mut self.in_gap), self.gap_track) {
            (true, Some(track)) => packets.slice_end(at, track),
            _ => Ok(()),
        }
    }
}
