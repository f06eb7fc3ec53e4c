//! How far a run has come, on a terminal; nothing in a pipe.

use crate::trace::{
    Block, ComponentId, CounterId, Edge, Header, Mark, RailId, Sink, Span, SpanKind,
};
use crate::units::{Amperes, SimTime, Volts, Watts};
use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// Changes of power between two looks at the clock.
const SELDOM: u32 = 4096;
/// Runs shorter than that say nothing, and others no more often.
const PAUSE: Duration = Duration::from_millis(500);

/// Passes on everything, and tells how far time has come.
pub(super) struct Progress<'a, S> {
    sink: &'a mut S,
    /// How long the run lasts, where that is given.
    lasts: Option<SimTime>,
    changes: u32,
    last: Option<Instant>,
    shown: bool,
}

impl<'a, S: Sink> Progress<'a, S> {
    pub(super) fn new(sink: &'a mut S, lasts: Option<SimTime>) -> Self {
        let last = stderr().is_terminal().then(Instant::now);
        Self { sink, lasts, changes: 0, last, shown: false }
    }

    fn tick(&mut self, at: SimTime) {
        self.changes = self.changes.wrapping_add(1);
        if !self.changes.is_multiple_of(SELDOM) {
            return;
        }
        if self.last.is_none_or(|last| last.elapsed() < PAUSE) {
            return;
        }
        self.last = Some(Instant::now());
        self.shown = true;
        let share = self.lasts.filter(|lasts| *lasts > SimTime::ZERO);
        let share = share.map(|lasts| at.seconds() / lasts.seconds() * 100.0);
        let share = share.map_or_else(String::new, |share| format!("{share:.0} %, "));
        // A terminal that is gone is no reason to stop.
        let _ = write!(stderr(), "\r\x1b[K{share}{} simulated", at.seconds());
    }
}

impl<S> Progress<'_, S> {
    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

impl<S: Sink> Sink for Progress<'_, S> {
    fn begin(&mut self, header: &Header) {
        self.sink.begin(header);
    }
    fn power(&mut self, at: SimTime, component: ComponentId, power: Watts) {
        self.tick(at);
        self.sink.power(at, component, power);
    }
    fn rail(&mut self, at: SimTime, rail: RailId, voltage: Volts, current: Amperes) {
        self.sink.rail(at, rail, voltage, current);
    }
    fn span(&mut self, span: Span) {
        self.sink.span(span);
    }
    fn hears(&self, kind: SpanKind) -> bool {
        self.sink.hears(kind)
    }
    fn powers(&mut self, component: ComponentId, block: &Block<'_>) {
        self.sink.powers(component, block);
    }
    fn counter(&mut self, at: SimTime, counter: CounterId, value: f64) {
        self.sink.counter(at, counter, value);
    }
    fn edge(&mut self, edge: Edge) {
        self.sink.edge(edge);
    }
    fn mark(&mut self, mark: Mark) {
        self.sink.mark(mark);
    }
    fn end(&mut self, at: SimTime) {
        self.clear();
        self.sink.end(at);
    }
}

impl<S> Drop for Progress<'_, S> {
    fn drop(&mut self) {
        // A run that failed leaves no half line.
        self.clear();
    }
}
