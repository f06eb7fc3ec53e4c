//! A sink that passes on the start of a run, for traces that a person looks at.

use super::{ComponentId, CounterId, Edge, Header, Mark, RailId, Sink, Span, SpanKind};
use crate::units::{Amperes, SimTime, Volts, Watts};

/// Passes on everything until a number of inferences have ended, or until the one during which a
/// million changes were passed on, and nothing after.
#[derive(Debug)]
pub struct Opening<S> {
    sink: S,
    left: u64,
    changes: u64,
    cut: bool,
}

/// Changes of power after which a trace is long enough whatever it holds: about 100 MB.
const ENOUGH: u64 = 1_000_000;

impl<S: Sink> Opening<S> {
    /// Passes on the first `inferences` to `sink`.
    pub fn new(sink: S, inferences: u64) -> Self {
        Self { sink, left: inferences, changes: 0, cut: false }
    }

    /// The sink, and whether anything was kept from it.
    pub fn into_inner(self) -> (S, bool) {
        (self.sink, self.cut)
    }

    fn open(&mut self) -> bool {
        self.cut |= self.left == 0;
        self.left > 0
    }
}

impl<S: Sink> Sink for Opening<S> {
    fn begin(&mut self, header: &Header) {
        self.sink.begin(header);
    }
    fn power(&mut self, at: SimTime, component: ComponentId, power: Watts) {
        if self.open() {
            self.changes += 1;
            self.sink.power(at, component, power);
        }
    }
    fn rail(&mut self, at: SimTime, rail: RailId, voltage: Volts, current: Amperes) {
        if self.open() {
            self.sink.rail(at, rail, voltage, current);
        }
    }
    fn counter(&mut self, at: SimTime, counter: CounterId, value: f64) {
        if self.open() {
            self.sink.counter(at, counter, value);
        }
    }
    fn edge(&mut self, edge: Edge) {
        if self.open() {
            self.sink.edge(edge);
        }
    }
    fn mark(&mut self, mark: Mark) {
        if self.open() {
            self.sink.mark(mark);
        }
    }
    fn span(&mut self, span: Span) {
        if !self.open() {
            return;
        }
        let (ends, at) = (span.kind == SpanKind::Inference, span.end);
        self.sink.span(span);
        if ends {
            self.left = if self.changes > ENOUGH { 0 } else { self.left - 1 };
            if self.left == 0 {
                self.sink.end(at);
            }
        }
    }
    fn end(&mut self, at: SimTime) {
        if self.left > 0 {
            self.sink.end(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Recorder;

    #[test]
    fn the_trace_ends_with_the_last_inference_that_is_kept() {
        let mut opening = Opening::new(Recorder::default(), 2);
        opening.begin(&Header::default());
        for number in 0..3u64 {
            let (start, end) = (SimTime(number * 10), SimTime(number * 10 + 7));
            opening.span(Span {
                kind: SpanKind::Inference,
                name: "inference".into(),
                track: "inferences".into(),
                inference: Some(number),
                start,
                end,
            });
        }
        opening.end(SimTime(30));
        let (recorder, cut) = opening.into_inner();
        let trace = recorder.into_trace();
        assert!(cut);
        assert_eq!((trace.spans.len(), trace.end), (2, SimTime(17)));
    }
}
