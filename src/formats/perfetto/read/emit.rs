//! The second walk: samples, spans and marks.

use super::super::super::ReadFault;
use super::super::super::held_counter::HeldCounter;
use super::decode::Happening;
use super::names::{Names, Of, Target, level};
use crate::trace::{Block, Edge, Level, LineId, Mark, SampleSink, Span, SpanKind, Teller};
use crate::units::SimTime;
use std::collections::BTreeMap;

/// A counter, and the sum of one that is told by its changes.
#[derive(Debug, Default)]
struct Waiting {
    held: HeldCounter,
    sum: f64,
    /// Its last value.
    last: Option<f64>,
    /// Lanes of gaps within which it is.
    gaps: u64,
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
    /// Lines whose level has ended, and when: at one instant another may begin.
    ended: Vec<(LineId, u64)>,
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
            ended: Vec::new(),
        }
    }

    fn at(&self, ns: u64) -> SimTime {
        SimTime(ns.saturating_sub(self.zero).saturating_mul(1000))
    }

    pub(super) fn take_in(&mut self, happening: Happening<'_>) -> Result<(), ReadFault> {
        if let Happening::Count { ns, .. }
        | Happening::Begin { ns, .. }
        | Happening::End { ns, .. }
        | Happening::Instant { ns, .. } = happening
        {
            self.settle(ns);
        }
        if let Some(done) = self.line_or_gap(&happening) {
            return done;
        }
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

    /// Lines whose level ended before an instant, and none began there, are unknown from then on.
    fn settle(&mut self, ns: u64) {
        let (now, before): (Vec<_>, Vec<_>) =
            self.ended.drain(..).partition(|(_, ended)| *ended >= ns);
        self.ended = now;
        for (line, ended) in before {
            self.sink.edge(Edge { line, at: self.at(ended), to: Level::Unknown });
        }
    }

    /// What happens on a track that this program writes for a digital line or for gaps.
    fn line_or_gap(&mut self, happening: &Happening<'_>) -> Option<Result<(), ReadFault>> {
        let (track, ns, name) = match happening {
            Happening::Begin { track, ns, name, .. } | Happening::Instant { track, ns, name } => {
                (*track, *ns, Some(*name))
            }
            Happening::End { track, ns } => (*track, *ns, None),
            _ => return None,
        };
        if let Some(line) = self.names.lines.get(&track).copied() {
            match name.and_then(level) {
                Some(to) => {
                    self.ended.retain(|ended| ended.0 != line);
                    self.sink.edge(Edge { line, at: self.at(ns), to });
                }
                None => self.ended.push((line, ns)),
            }
            return Some(Ok(()));
        }
        let names = self.names;
        let concerned = names.gaps.get(&track)?;
        Some(concerned.iter().try_for_each(|of| self.gap(*of, ns, name.is_some())))
    }

    /// A counter becomes unknown, or stands at its last value again until it has another.
    fn gap(&mut self, of: Of, ns: u64, begins: bool) -> Result<(), ReadFault> {
        let Some(target) = self.names.targets.get(&of).copied() else { return Ok(()) };
        let at = self.at(ns);
        let waiting = self.counters.entry(of).or_default();
        waiting.gaps = if begins { waiting.gaps + 1 } else { waiting.gaps.saturating_sub(1) };
        let value = match waiting.last {
            _ if begins => f64::NAN,
            Some(last) if waiting.gaps == 0 => last,
            _ => return Ok(()),
        };
        waiting.held.set(target.channel, at, value, self.sink)
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
        waiting.last = Some(value);
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
