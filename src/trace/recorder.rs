//! The sink that keeps everything.

use super::{ComponentId, CounterId, Edge, Header, Mark, RailId, Sink, Span, Waveform};
use crate::units::{Amperes, SimTime, Volts, Watts};

/// A complete trace in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// Components and rails.
    pub header: Header,
    /// Power of each component \[W\].
    pub power: Vec<Waveform>,
    /// Voltage of each rail \[V\].
    pub voltage: Vec<Waveform>,
    /// Current of each rail \[A\].
    pub current: Vec<Waveform>,
    /// Counters, each in the unit of its kind.
    pub counters: Vec<Waveform>,
    /// Changes of digital lines, in the order of time for each.
    pub edges: Vec<Edge>,
    /// Lines of logs.
    pub marks: Vec<Mark>,
    /// Spans, in the order of their end.
    pub spans: Vec<Span>,
    /// Length of the trace.
    pub end: SimTime,
}

impl Trace {
    /// Tells the whole trace to another sink, in the order of time, so that what is computed from
    /// a kept trace and what is computed during a run go through the same code.
    pub fn replay(&self, sink: &mut impl Sink) {
        sink.begin(&self.header);
        self.edges.iter().for_each(|edge| sink.edge(*edge));
        self.marks.iter().for_each(|mark| sink.mark(mark.clone()));
        // Components come first, then rails, then counters; of a rail either wave may change alone.
        let (components, rails) = (self.power.len(), self.voltage.len().max(self.current.len()));
        let mut changes: Vec<(SimTime, usize)> = Vec::new();
        for (lane, wave) in self.power.iter().enumerate() {
            changes.extend(wave.points().iter().map(|p| (p.0, lane)));
        }
        for waves in [&self.voltage, &self.current] {
            for (rail, wave) in waves.iter().enumerate() {
                changes.extend(wave.points().iter().map(|p| (p.0, components + rail)));
            }
        }
        for (counter, wave) in self.counters.iter().enumerate() {
            let lane = components + rails + counter;
            changes.extend(wave.points().iter().map(|p| (p.0, lane)));
        }
        changes.sort_unstable();
        changes.dedup();
        for (at, lane) in changes {
            if let Some(wave) = self.power.get(lane) {
                sink.power(at, ComponentId(lane), Watts(wave.at(at)));
            } else if let Some(counter) = lane.checked_sub(components + rails) {
                let value = self.counters.get(counter).map_or(0.0, |wave| wave.at(at));
                sink.counter(at, CounterId(counter), value);
            } else {
                let rail = lane - components;
                let value = |waves: &[Waveform]| waves.get(rail).map_or(0.0, |w| w.at(at));
                let (voltage, current) = (value(&self.voltage), value(&self.current));
                sink.rail(at, RailId(rail), Volts(voltage), Amperes(current));
            }
        }
        for span in &self.spans {
            sink.span(span.clone());
        }
        sink.end(self.end);
    }

    /// Completed inferences.
    pub fn inferences(&self) -> usize {
        self.spans.iter().filter(|span| span.is_inference()).count()
    }

    /// Total power as a step function \[W\]; unknown where any component is.
    pub fn total_power(&self) -> Waveform {
        let mut changes: Vec<(SimTime, usize, f64)> = Vec::new();
        for (lane, wave) in self.power.iter().enumerate() {
            changes.extend(wave.points().iter().map(|p| (p.0, lane, p.1)));
        }
        changes.sort_unstable_by_key(|change| (change.0, change.1));
        let mut now = vec![0.0; self.power.len()];
        let mut total = Waveform::default();
        for (at, lane, value) in changes {
            if let Some(slot) = now.get_mut(lane) {
                *slot = value;
            }
            total.set(at, now.iter().sum());
        }
        total
    }
}

/// A [`Sink`] that builds a [`Trace`].
#[derive(Debug, Default)]
pub struct Recorder {
    trace: Trace,
}

impl Recorder {
    /// The trace recorded so far.
    pub fn into_trace(self) -> Trace {
        self.trace
    }
}

impl Sink for Recorder {
    fn begin(&mut self, header: &Header) {
        self.trace = Trace {
            header: header.clone(),
            power: vec![Waveform::default(); header.components.len()],
            voltage: vec![Waveform::default(); header.rails.len()],
            current: vec![Waveform::default(); header.rails.len()],
            counters: vec![Waveform::default(); header.counters.len()],
            ..Trace::default()
        };
    }
    fn power(&mut self, at: SimTime, component: ComponentId, power: Watts) {
        if let Some(wave) = self.trace.power.get_mut(component.0) {
            wave.set(at, power.0);
        }
    }
    fn rail(&mut self, at: SimTime, rail: RailId, voltage: Volts, current: Amperes) {
        let waves = self.trace.voltage.get_mut(rail.0).zip(self.trace.current.get_mut(rail.0));
        if let Some((v, i)) = waves {
            v.set(at, voltage.0);
            i.set(at, current.0);
        }
    }
    fn counter(&mut self, at: SimTime, counter: CounterId, value: f64) {
        if let Some(wave) = self.trace.counters.get_mut(counter.0) {
            wave.set(at, value);
        }
    }
    fn edge(&mut self, edge: Edge) {
        self.trace.edges.push(edge);
    }
    fn mark(&mut self, mark: Mark) {
        self.trace.marks.push(mark);
    }
    fn span(&mut self, span: Span) {
        self.trace.spans.push(span);
    }
    fn end(&mut self, at: SimTime) {
        self.trace.end = at;
    }
}
