//! A sink that passes on the start of a run, for traces that a person looks at.

use super::{ComponentId, CounterId, Edge, Header, Mark, RailId, Sink, Span, SpanKind};
use crate::units::{Amperes, SimTime, Volts, Watts};

/// Passes on everything until a number of inferences have ended, or until the one during which a
/// million changes were passed on, and nothing after. Or everything until an instant, by whatever is
/// going on there; a state that lasts longer is cut there.
#[derive(Debug)]
pub struct Opening<S> {
    sink: S,
    left: u64,
    /// The instant from which nothing is passed on, known before or found on the way.
    until: SimTime,
    /// Changes of power after which that instant comes.
    enough: u64,
    changes: u64,
    now: SimTime,
    cut: bool,
}

/// Changes of power after which a trace is long enough whatever it holds: about 100 MB.
const ENOUGH: u64 = 1_000_000;
/// Those of a trace that nobody asked the length of: about 10 MB.
const SHORT: u64 = 100_000;
/// Later than anything.
const NEVER: SimTime = SimTime(u64::MAX);

impl<S: Sink> Opening<S> {
    /// Passes on the first `inferences` to `sink`.
    pub fn new(sink: S, inferences: u64) -> Self {
        let (until, enough) = (NEVER, u64::MAX);
        Self { sink, left: inferences, until, enough, changes: 0, now: SimTime::ZERO, cut: false }
    }

    /// Passes on what comes before `until`, and of that a million changes of power. By itself it passes on
    /// a hundred thousand.
    pub fn until(sink: S, until: Option<SimTime>) -> Self {
        let enough = if until.is_some() { ENOUGH } else { SHORT };
        let until = until.unwrap_or(NEVER);
        Self { until, enough, ..Self::new(sink, u64::MAX) }
    }

    /// Time goes on to `at`: whether what happens there is still passed on.
    fn open_at(&mut self, at: SimTime) -> bool {
        if at > self.now {
            self.now = at;
            if self.changes >= self.enough {
                self.until = self.until.min(at);
            }
        }
        if at >= self.until && self.left > 0 {
            self.left = 0;
            self.sink.end(self.until);
        }
        self.open()
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
        if self.open_at(at) {
            self.changes += 1;
            self.sink.power(at, component, power);
        }
    }
    fn rail(&mut self, at: SimTime, rail: RailId, voltage: Volts, current: Amperes) {
        if self.open_at(at) {
            self.sink.rail(at, rail, voltage, current);
        }
    }
    fn counter(&mut self, at: SimTime, counter: CounterId, value: f64) {
        if self.open_at(at) {
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
        let states = [SpanKind::State, SpanKind::Idle, SpanKind::Transition];
        if span.end > self.until {
            self.cut = true;
            if span.start < self.until && states.contains(&span.kind) {
                self.sink.span(Span { end: self.until, ..span });
            }
            return;
        }
        if self.left == 0 && self.until != NEVER {
            // Told at the very instant.
            self.sink.span(span);
            return;
        }
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
    fn hears(&self, kind: SpanKind) -> bool {
        self.sink.hears(kind)
    }
    fn end(&mut self, at: SimTime) {
        if self.left > 0 {
            self.cut |= at > self.until;
            self.sink.end(at.min(self.until));
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

    #[test]
    fn the_trace_ends_at_its_instant_and_a_state_is_cut_there() {
        let mut opening = Opening::until(Recorder::default(), Some(SimTime(20)));
        let span = |kind, start, end| Span {
            kind,
            name: "on".into(),
            track: "npu".into(),
            inference: None,
            start: SimTime(start),
            end: SimTime(end),
        };
        let part = crate::trace::Component {
            name: "npu".into(),
            kind: crate::trace::ComponentKind::Engine,
            domain: String::new(),
            rail: String::new(),
        };
        opening.begin(&Header { components: vec![part], ..Header::default() });
        for at in [0, 10, 20, 30] {
            opening.power(SimTime(at), ComponentId(0), Watts(at as f64));
        }
        opening.span(span(SpanKind::Inference, 1, 9));
        opening.span(span(SpanKind::Inference, 11, 25));
        opening.span(span(SpanKind::State, 12, 40));
        opening.span(span(SpanKind::State, 40, 60));
        opening.end(SimTime(60));
        let (recorder, cut) = opening.into_inner();
        let trace = recorder.into_trace();
        assert!(cut);
        assert_eq!((trace.end, trace.power[0].points().len()), (SimTime(20), 2));
        let kept: Vec<_> = trace.spans.iter().map(|s| (s.kind, s.end)).collect();
        let ends = [(SpanKind::Inference, SimTime(9)), (SpanKind::State, SimTime(20))];
        assert_eq!(kept, ends);
    }
}
