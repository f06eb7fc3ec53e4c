//! The second walk: samples, spans and marks.

use super::super::super::ReadFault;
use super::super::super::held_counter::HeldCounter;
use super::decode::Happening;
use super::names::{Names, Of, Target};
use crate::trace::{Block, Mark, SampleSink, Span, SpanKind, Teller};
use crate::units::SimTime;
use std::collections::BTreeMap;

/// A counter, and the sum of one that is told by its changes.
#[derive(Debug, Default)]
struct Waiting {
    held: HeldCounter,
    sum: f64,
}

struct Open {
    name: String,
    kind: SpanKind,
    inference: Option<u64>,
    start: SimTime,
}

/// Tells what happens to a sink.
pub(super) struct Emitter<'n, 's> {
    names: &'n Names,
    sink: &'s mut dyn SampleSink,
    zero: u64,
    end: SimTime,
    counters: BTreeMap<Of, Waiting>,
    energies: BTreeMap<u32, (u64, u64)>,
    open: BTreeMap<u64, Vec<Open>>,
}

impl<'n, 's> Emitter<'n, 's> {
    pub(super) fn new(names: &'n Names, sink: &'s mut dyn SampleSink) -> Self {
        let (from, to) = names.extent();
        sink.begin(&names.layout);
        Self {
            names,
            sink,
            zero: from,
            end: SimTime((to - from).saturating_mul(1000)),
            counters: BTreeMap::new(),
            energies: BTreeMap::new(),
            open: BTreeMap::new(),
        }
    }

    fn at(&self, ns: u64) -> SimTime {
        SimTime(ns.saturating_sub(self.zero).saturating_mul(1000))
    }

    pub(super) fn take_in(&mut self, happening: Happening<'_>) -> Result<(), ReadFault> {
        match happening {
            Happening::Rail { .. } | Happening::Track(_) => Ok(()),
            Happening::Energy { index, ms, uws } => self.energy(index, ms, uws),
            Happening::Count { track, ns, value } => self.count(track, ns, value),
            Happening::Begin { track, ns, name, kind, inference } => {
                let open = Open { name: name.into(), kind, inference, start: self.at(ns) };
                self.open.entry(track).or_default().push(open);
                Ok(())
            }
            Happening::End { track, ns } => {
                let end = self.at(ns);
                match self.open.entry(track).or_default().pop() {
                    Some(open) if open.start > end => Err(ReadFault::backwards(open.start, end)),
                    Some(open) => {
                        self.close(track, open, end);
                        Ok(())
                    }
                    None => Ok(()),
                }
            }
            Happening::Instant { track, ns, name } => {
                let (at, track, name) = (self.at(ns), self.names.lane(track), name.into());
                self.sink.mark(Mark { teller: Teller::Meter, at, track, name });
                Ok(())
            }
        }
    }

    fn close(&mut self, track: u64, open: Open, end: SimTime) {
        let Open { name, kind, inference, start } = open;
        let track = self.names.lane(track);
        self.sink.span(Span { kind, name, track, inference, start, end });
    }

    /// The mean power since the reading before.
    fn energy(&mut self, index: u32, ms: u64, uws: u64) -> Result<(), ReadFault> {
        let Some(Target { channel, .. }) = self.names.targets.get(&Of::Rail(index)) else {
            return Ok(());
        };
        let at = |ms: u64| self.at(ms.saturating_mul(1_000_000));
        if let Some((before, energy)) = self.energies.get(&index).copied() {
            if ms < before {
                return Err(ReadFault::backwards(at(before), at(ms)));
            }
            if ms == before {
                return Ok(());
            }
            if uws >= energy {
                let power = (uws - energy) as f64 * 1e-3 / (ms - before) as f64;
                let (start, until) = (at(before), at(ms));
                self.sink.samples(*channel, &Block::each(&[start], until, &[power]));
            }
        }
        self.energies.insert(index, (ms, uws));
        Ok(())
    }

    fn count(&mut self, track: u64, ns: u64, value: f64) -> Result<(), ReadFault> {
        let Some(target) = self.names.targets.get(&Of::Counter(track)).copied() else {
            return Ok(());
        };
        let at = self.at(ns);
        let waiting = self.counters.entry(Of::Counter(track)).or_default();
        waiting.sum = if target.incremental { waiting.sum + value } else { value };
        let value = waiting.sum * target.scale;
        waiting.held.set(target.channel, at, value, self.sink)
    }

    /// Tells what still waits: the last values hold to the end of the trace.
    pub(super) fn end(mut self) {
        let open = std::mem::take(&mut self.open);
        for (track, slices) in open {
            for slice in slices.into_iter().rev() {
                self.close(track, slice, self.end);
            }
        }
        for (of, waiting) in std::mem::take(&mut self.counters) {
            if let Some(target) = self.names.targets.get(&of) {
                waiting.held.finish(target.channel, self.end, self.sink);
            }
        }
        self.sink.end(self.end);
    }
}
