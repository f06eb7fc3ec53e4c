//! Spans laid into lanes in which they nest, as the edges of slices in the order of time.

use crate::trace::{Span, SpanKind};
use crate::units::SimTime;
use std::cmp::Reverse;
use std::collections::HashMap;

/// A slice begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SliceEdge {
    pub at: SimTime,
    pub lane: usize,
    /// The span that begins; nothing when the innermost open one ends.
    pub begins: Option<usize>,
}

#[derive(Debug, Default)]
pub(super) struct Lanes {
    names: Vec<String>,
    edges: Vec<SliceEdge>,
}

impl Lanes {
    /// Lays out spans: tracks in the order of their first span, each split where it must be.
    pub(super) fn of(spans: &[Span]) -> Self {
        let mut lanes = Self::default();
        let (mut tracks, mut members): (HashMap<&str, usize>, Vec<Vec<usize>>) = Default::default();
        for (at, span) in spans.iter().enumerate() {
            let track = *tracks.entry(&span.track).or_insert(members.len());
            match members.get_mut(track) {
                Some(track) => track.push(at),
                None => members.push(vec![at]),
            }
        }
        for track in &members {
            lanes.lay_out(track, spans);
        }
        // Stable, so that each lane keeps its order at one instant: inner ends before outer ends,
        // ends before the begins behind them.
        lanes.edges.sort_by_key(|edge| edge.at);
        lanes
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn edges(&self) -> &[SliceEdge] {
        &self.edges
    }

    fn lay_out(&mut self, track: &[usize], spans: &[Span]) {
        let mut order: Vec<(usize, &Span)> =
            track.iter().filter_map(|at| Some((*at, spans.get(*at)?))).collect();
        order.sort_by_key(|(at, span)| (span.start, Reverse(span.end), depth(span.kind), *at));
        // The ends of the open spans of each lane of this track, outermost first.
        let mut open: Vec<(usize, Vec<SimTime>)> = Vec::new();
        for (at, span) in order {
            for (lane, ends) in &mut open {
                self.close(*lane, ends, span.start);
            }
            let fits = open.iter().position(|(_, ends)| ends.last().is_none_or(|e| *e >= span.end));
            let place = fits.unwrap_or_else(|| {
                open.push((self.new_lane(&span.track, open.len()), Vec::new()));
                open.len() - 1
            });
            if let Some((lane, ends)) = open.get_mut(place) {
                self.edges.push(SliceEdge { at: span.start, lane: *lane, begins: Some(at) });
                ends.push(span.end);
            }
        }
        for (lane, ends) in &mut open {
            self.close(*lane, ends, SimTime(u64::MAX));
        }
    }

    /// Ends the open spans that are over at `now`.
    fn close(&mut self, lane: usize, ends: &mut Vec<SimTime>, now: SimTime) {
        while let Some(end) = ends.pop_if(|end| *end <= now) {
            self.edges.push(SliceEdge { at: end, lane, begins: None });
        }
    }

    fn new_lane(&mut self, track: &str, before: usize) -> usize {
        let name = if before == 0 { track.to_owned() } else { format!("{track} ({})", before + 1) };
        self.names.push(name);
        self.names.len() - 1
    }
}

/// Of spans that start and end together, the one with the smaller depth is around the other.
fn depth(kind: SpanKind) -> u8 {
    match kind {
        SpanKind::Window => 0,
        SpanKind::Inference => 1,
        SpanKind::Layer => 2,
        SpanKind::Phase => 3,
        SpanKind::Idle | SpanKind::Transition | SpanKind::State => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(kind: SpanKind, start: u64, end: u64) -> Span {
        let (name, track) = (format!("{start}-{end}"), "npu".to_owned());
        Span { kind, name, track, inference: None, start: SimTime(start), end: SimTime(end) }
    }

    /// `+n` and `-`, by lane.
    fn told(lanes: &Lanes) -> Vec<(u64, usize, Option<usize>)> {
        lanes.edges().iter().map(|e| (e.at.0, e.lane, e.begins)).collect()
    }

    #[test]
    fn outer_begins_first_inner_ends_first_and_ends_come_before_begins() {
        let spans = [
            span(SpanKind::Phase, 0, 10),
            span(SpanKind::Layer, 0, 10),
            span(SpanKind::Layer, 10, 20),
            span(SpanKind::Inference, 0, 20),
            span(SpanKind::Idle, 20, 20),
        ];
        let lanes = Lanes::of(&spans);
        assert_eq!(lanes.names(), ["npu"]);
        let expected = [
            (0, 0, Some(3)),
            (0, 0, Some(1)),
            (0, 0, Some(0)),
            (10, 0, None),
            (10, 0, None),
            (10, 0, Some(2)),
            (20, 0, None),
            (20, 0, None),
            (20, 0, Some(4)),
            (20, 0, None),
        ];
        assert_eq!(told(&lanes), expected);
    }

    #[test]
    fn what_overlaps_without_nesting_gets_a_lane_of_its_own() {
        let spans = [span(SpanKind::Layer, 0, 10), span(SpanKind::Layer, 5, 15)];
        let lanes = Lanes::of(&spans);
        assert_eq!(lanes.names(), ["npu", "npu (2)"]);
        let expected = [(0, 0, Some(0)), (5, 1, Some(1)), (10, 0, None), (15, 1, None)];
        assert_eq!(told(&lanes), expected);
    }
}
