//! What goes with the waveforms of a trace: edges, marks and spans, kept while power streams by.

use super::{ComponentId, Edge, Header, Mark, RailId, Sink, Span, Teller, Trace};
use crate::units::{Amperes, SimTime, Volts, Watts};

/// A mark, and when that was on the clock of the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedMark {
    /// The mark, as it was told.
    pub mark: Mark,
    /// Picoseconds on the meter's clock, below zero before the trace; none for a mark of a host
    /// whose clock is not known.
    pub at_ps: Option<i64>,
}

/// A [`Sink`] that keeps all of a trace but its waveforms. Its size is bounded by the number of
/// edges, marks and spans, never by the number of samples.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Annotations {
    /// Changes of digital lines.
    pub edges: Vec<Edge>,
    /// Lines of logs.
    pub marks: Vec<PlacedMark>,
    /// Spans.
    pub spans: Vec<Span>,
}

impl Annotations {
    /// Those of a trace in memory.
    pub fn of(trace: &Trace) -> Self {
        let mut annotations =
            Self { edges: trace.edges.clone(), spans: trace.spans.clone(), marks: Vec::new() };
        trace.marks.iter().for_each(|mark| annotations.mark(mark.clone()));
        annotations
    }

    /// Places the marks of the host by its clock: from its time to picoseconds of the meter.
    pub fn place_host_marks(&mut self, clock: impl Fn(SimTime) -> i64) {
        for placed in self.marks.iter_mut().filter(|placed| placed.mark.teller == Teller::Host) {
            placed.at_ps = Some(clock(placed.mark.at));
        }
    }

    /// Marks that have no place on the clock of the trace.
    pub fn unplaced(&self) -> usize {
        self.marks.iter().filter(|placed| placed.at_ps.is_none()).count()
    }

    /// Marks that lie before the trace.
    pub fn before_start(&self) -> usize {
        self.marks.iter().filter(|placed| placed.at_ps.is_some_and(|at| at < 0)).count()
    }
}

impl Sink for Annotations {
    fn begin(&mut self, _: &Header) {}
    fn power(&mut self, _: SimTime, _: ComponentId, _: Watts) {}
    fn rail(&mut self, _: SimTime, _: RailId, _: Volts, _: Amperes) {}
    fn span(&mut self, span: Span) {
        self.spans.push(span);
    }
    fn edge(&mut self, edge: Edge) {
        self.edges.push(edge);
    }
    fn mark(&mut self, mark: Mark) {
        let own = mark.teller == Teller::Meter;
        let at_ps = own.then(|| i64::try_from(mark.at.0).unwrap_or(i64::MAX));
        self.marks.push(PlacedMark { mark, at_ps });
    }
    fn end(&mut self, _: SimTime) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_the_meter_stand_and_marks_of_the_host_wait_for_its_clock() {
        let mut annotations = Annotations::default();
        for (teller, at) in [(Teller::Meter, 5), (Teller::Host, 7), (Teller::Host, 2)] {
            let (track, name) = ("dut".into(), "m".into());
            annotations.mark(Mark { teller, at: SimTime(at), track, name });
        }
        assert_eq!((annotations.unplaced(), annotations.before_start()), (2, 0));
        annotations.place_host_marks(|at| at.0 as i64 - 4);
        let places: Vec<_> = annotations.marks.iter().map(|placed| placed.at_ps).collect();
        assert_eq!(places, [Some(5), Some(3), Some(-2)]);
        assert_eq!((annotations.unplaced(), annotations.before_start()), (0, 1));
    }
}
