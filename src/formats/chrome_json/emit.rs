//! The second walk: samples, spans and marks.

use super::super::ReadFault;
use super::super::held_counter::HeldCounter;
use super::super::perfetto::kind;
use super::event::Event;
use super::names::{Key, Names, key, values};
use crate::trace::{Mark, SampleSink, Span, SpanKind, Teller};
use crate::units::SimTime;
use std::collections::BTreeMap;

struct Open {
    name: String,
    kind: SpanKind,
    inference: Option<u64>,
    start: SimTime,
}

/// Tells events to a sink.
pub(super) struct Emitter<'n, 's> {
    names: &'n Names,
    sink: &'s mut dyn SampleSink,
    zero: f64,
    end: SimTime,
    counters: BTreeMap<Key, HeldCounter>,
    open: BTreeMap<(String, String), Vec<Open>>,
}

impl<'n, 's> Emitter<'n, 's> {
    pub(super) fn new(names: &'n Names, sink: &'s mut dyn SampleSink) -> Self {
        let (from, to) = names.extent();
        sink.begin(&names.layout);
        let end = picoseconds(to - from);
        let (counters, open) = (BTreeMap::new(), BTreeMap::new());
        Self { names, sink, zero: from, end, counters, open }
    }

    pub(super) fn take_in(&mut self, event: &Event) -> Result<(), ReadFault> {
        if !matches!(event.ph.as_str(), "X" | "B" | "E" | "C" | "i" | "I" | "R") {
            return Ok(());
        }
        let us = event.ts()? - self.zero;
        let at = picoseconds(us);
        let track = || (event.pid.clone(), event.tid.clone());
        let open = || Open {
            name: event.name.clone(),
            kind: self::of(event),
            inference: event.inference(),
            start: at,
        };
        match event.ph.as_str() {
            "X" => {
                let end = picoseconds(us + event.dur()?);
                self.close(&event.pid, &event.tid, open(), end);
            }
            "B" => self.open.entry(track()).or_default().push(open()),
            "E" => match self.open.entry(track()).or_default().pop() {
                Some(open) if open.start > at => return Err(ReadFault::backwards(open.start, at)),
                Some(open) => self.close(&event.pid, &event.tid, open, at),
                None => {}
            },
            "C" => {
                for (name, value) in values(event) {
                    self.count(key(event, name), at, value)?;
                }
            }
            _ => {
                let track = self.names.track(&event.pid, &event.tid);
                let name = event.name.clone();
                self.sink.mark(Mark { teller: Teller::Meter, at, track, name });
            }
        }
        Ok(())
    }

    fn close(&mut self, pid: &str, tid: &str, open: Open, end: SimTime) {
        let Open { name, kind, inference, start } = open;
        let track = self.names.track(pid, tid);
        self.sink.span(Span { kind, name, track, inference, start, end });
    }

    fn count(&mut self, key: Key, at: SimTime, value: f64) -> Result<(), ReadFault> {
        let Some((channel, scale)) = self.names.targets.get(&key).copied() else { return Ok(()) };
        let waiting = self.counters.entry(key).or_default();
        waiting.set(channel, at, value * scale, self.sink)
    }

    /// Tells what still waits: the last values hold to the end of the trace.
    pub(super) fn end(mut self) {
        for ((pid, tid), spans) in std::mem::take(&mut self.open) {
            for span in spans.into_iter().rev() {
                self.close(&pid, &tid, span, self.end);
            }
        }
        for (key, waiting) in std::mem::take(&mut self.counters) {
            if let Some((channel, _)) = self.names.targets.get(&key) {
                waiting.finish(*channel, self.end, self.sink);
            }
        }
        self.sink.end(self.end);
    }
}

/// The kind of a span by its category.
fn of(event: &Event) -> SpanKind {
    event.cat.split(',').find_map(|category| kind(category.trim())).unwrap_or(SpanKind::Phase)
}

fn picoseconds(us: f64) -> SimTime {
    // Saturates; the extent was checked.
    SimTime((us * 1e6).round() as u64)
}
