//! The clock of a host's log against the clock of the meter.
//!
//! The two share no zero and drift apart, by 100 to 160 ppm in captures of MLPerf Tiny; a line of
//! the log comes after the edge it tells of, a stop line by some 20 ms more than a start line. With
//! h the host's time of an event and t the meter's time of its edge,
//! t = a + (1 + e) h - d [event is a stop], fitted by least squares.

use crate::trace::{Mark, Teller};
use crate::units::{Seconds, SimTime};
use nalgebra::{DMatrix, DVector};

/// What an event of the log does to the pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostRole {
    /// A pulse outside of any window, to test the pin.
    Pulse,
    /// A window starts.
    Start,
    /// A window ends.
    Done,
}

/// A line of the host's log that an edge should go with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostEvent {
    /// When, on the host's clock.
    pub at: SimTime,
    /// What it does.
    pub role: HostRole,
    /// Inferences that the window holds, where the line says it.
    pub inferences: Option<u64>,
}

/// How the host's clock reads on the meter's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockFit {
    /// The meter's time at which the host's clock reads zero \[s\]; mostly negative.
    pub offset: Seconds,
    /// By how much the host's second is longer than it says, on the meter's clock: e above.
    pub drift: f64,
    /// By how much later than start lines stop lines come: d above.
    pub stop_lag: Seconds,
    /// The largest difference of an edge from the fit.
    pub worst: Seconds,
    /// The root mean square of those differences.
    pub rms: Seconds,
    /// Edges that the fit rests on.
    pub edges: usize,
}

/// Which edge each event of the log goes with.
#[derive(Debug, Clone, PartialEq)]
pub struct Matched {
    /// The events, in the order of the log.
    pub events: Vec<HostEvent>,
    /// The edges, on the meter's clock.
    pub edges: Vec<SimTime>,
    /// For each event the index of its edge, if it has one.
    pub edge_of: Vec<Option<usize>>,
    /// The clocks.
    pub fit: ClockFit,
}

impl Matched {
    /// Each event with the meter's time at which the fit puts it, and its edge \[s\].
    pub fn rows(&self) -> impl Iterator<Item = (&HostEvent, f64, Option<f64>)> {
        self.events.iter().zip(&self.edge_of).map(|(event, edge)| {
            let edge = edge.and_then(|edge| self.edges.get(edge)).map(|at| at.seconds().0);
            (event, self.fit.meter_time(event.at, event.role), edge)
        })
    }

    /// The meter's time at which an event should have its edge; the start of the trace where that
    /// lies before it.
    pub fn expected(&self, event: &HostEvent) -> SimTime {
        let at = self.fit.meter_time(event.at, event.role);
        SimTime::from_seconds(Seconds(at.max(0.0))).unwrap_or(SimTime(u64::MAX))
    }
}

impl ClockFit {
    /// The meter's time at which the host wrote a line; none before the start of the trace.
    pub fn instant_on_meter(&self, host: SimTime) -> Option<SimTime> {
        SimTime::from_seconds(self.on_meter(host)).ok()
    }

    /// What the meter's clock reads when the host's reads `host`: a + (1 + e) h. Below zero before
    /// the trace. The lag of stop lines is not taken off: it is how late the host wrote them.
    pub fn on_meter(&self, host: SimTime) -> Seconds {
        Seconds(self.offset.0 + (1.0 + self.drift) * host.seconds().0)
    }

    /// The same in picoseconds; the ends of what `i64` holds where it lies beyond them.
    pub fn on_meter_picoseconds(&self, host: SimTime) -> i64 {
        // The cast saturates.
        (self.on_meter(host).0 * 1e12).round() as i64
    }

    /// The meter's time of the edge that an event of the host tells of \[s\].
    pub fn meter_time(&self, host: SimTime, role: HostRole) -> f64 {
        let lag = if role == HostRole::Done { self.stop_lag.0 } else { 0.0 };
        self.on_meter(host).0 - lag
    }
}

/// The words by which a log tells of windows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostWords {
    /// A line that holds this tells of a start; a number right behind it counts the inferences.
    pub start: String,
    /// A line that holds this tells of a stop.
    pub stop: String,
}

impl Default for HostWords {
    /// Those of the benchmark runner.
    fn default() -> Self {
        Self { start: "m-infer-start".into(), stop: "m-infer-done".into() }
    }
}

impl HostWords {
    /// What a line tells of.
    pub(super) fn role(&self, name: &str) -> Option<(HostRole, Option<u64>)> {
        if name.ends_with("-dut-passthrough(timestamp)") {
            Some((HostRole::Pulse, None))
        } else if let Some((_, rest)) = name.split_once(self.start.as_str()) {
            Some((HostRole::Start, count_of(rest)))
        } else {
            name.contains(self.stop.as_str()).then_some((HostRole::Done, None))
        }
    }
}

/// The whole number that a line goes on with, such as `-10`, ` 10)` or `=10`; a date or a time of
/// day is none.
fn count_of(rest: &str) -> Option<u64> {
    let digits = rest.trim_start_matches(['-', '_', ' ', ':', '=', '(', '[', '#']);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (count, behind) = digits.split_at_checked(end)?;
    let ends = behind.chars().next().is_none_or(|c| matches!(c, ' ' | ')' | ']' | ',' | ';'));
    count.parse().ok().filter(|_| ends)
}

/// The events of a log that edges should go with, as one clock tells them.
pub fn events_of(marks: &[Mark], words: &HostWords, teller: Teller) -> Vec<HostEvent> {
    let event = |mark: &Mark| {
        let (role, inferences) = words.role(&mark.name)?;
        Some(HostEvent { at: mark.at, role, inferences })
    };
    marks.iter().filter(|mark| mark.teller == teller).filter_map(event).collect()
}

/// How far an event may lie from its edge before the clocks are fitted: their drift over minutes,
/// and the lag of a serial line.
const FAR: f64 = 0.25;
/// And after.
const NEAR: f64 = 0.1;

/// Brings events to edges: tries every offset that brings some event to some edge, keeps the one
/// with which most events have an edge, and fits the clocks to those. None where no offset brings
/// two events to edges.
pub fn match_edges(edges: &[SimTime], events: &[HostEvent]) -> Option<Matched> {
    let edge_s: Vec<f64> = edges.iter().map(|at| at.seconds().0).collect();
    let event_s: Vec<f64> = events.iter().map(|event| event.at.seconds().0).collect();
    // An event of the first few has an edge, or the log is of another trace.
    let tried = event_s.iter().take(TRIED);
    let offsets = tried.flat_map(|event| edge_s.iter().take(TRIED).map(move |edge| edge - event));
    let score = |offset: f64| {
        let pairs = pairs(&edge_s, &event_s, FAR, |event| event + offset);
        let count = pairs.iter().flatten().count();
        let apart: f64 = pairs
            .iter()
            .zip(&event_s)
            .filter_map(|(edge, event)| Some((edge_s.get((*edge)?)? - event - offset).abs()))
            .sum();
        (count, apart)
    };
    let better = |a: &(f64, (usize, f64)), b: &(f64, (usize, f64))| {
        a.1.0.cmp(&b.1.0).then(b.1.1.total_cmp(&a.1.1))
    };
    let (offset, (count, _)) = offsets.map(|offset| (offset, score(offset))).max_by(better)?;
    if count < 2 {
        return None;
    }
    let mut edge_of = pairs(&edge_s, &event_s, FAR, |event| event + offset);
    let mut clocks = fit(&edge_s, events, &edge_of)?;
    // Once more with the drift and the lag known, which bring events nearer to their edges.
    let near = |at: usize| {
        events.get(at).map_or(f64::NAN, |event| clocks.meter_time(event.at, event.role))
    };
    let predicted: Vec<f64> = (0..events.len()).map(near).collect();
    let again = pairs(&edge_s, &predicted, NEAR, |at| at);
    if again.iter().flatten().count() >= 2 {
        clocks = fit(&edge_s, events, &again)?;
        edge_of = again;
    }
    Some(Matched { events: events.to_vec(), edges: edges.to_vec(), edge_of, fit: clocks })
}

const TRIED: usize = 32;

/// For each event the nearest edge within `within` of where it should be, each edge once, in order.
fn pairs(
    edges: &[f64],
    events: &[f64],
    within: f64,
    expected: impl Fn(f64) -> f64,
) -> Vec<Option<usize>> {
    let mut next = 0;
    let mut pairs = Vec::with_capacity(events.len());
    for (number, event) in events.iter().enumerate() {
        let at = expected(*event);
        let following = events.get(number + 1).map(|event| expected(*event));
        let distance = |edge: usize| edges.get(edge).map_or(f64::INFINITY, |e| (e - at).abs());
        while edges.get(next).is_some_and(|edge| *edge < at - within) {
            next += 1;
        }
        let mut best = next;
        while distance(best + 1) < distance(best) {
            best += 1;
        }
        let nearer_to_next = following.is_some_and(|following| {
            edges.get(best).is_some_and(|edge| (edge - following).abs() < (edge - at).abs())
        });
        if distance(best) <= within && !nearer_to_next {
            pairs.push(Some(best));
            next = best + 1;
        } else {
            pairs.push(None);
        }
    }
    pairs
}

/// Least squares over the pairs; drift and lag only where the pairs can tell them.
fn fit(edges: &[f64], events: &[HostEvent], edge_of: &[Option<usize>]) -> Option<ClockFit> {
    let rows: Vec<(f64, f64, HostRole)> = events
        .iter()
        .zip(edge_of)
        .filter_map(|(event, edge)| Some((event.at.seconds().0, *edges.get((*edge)?)?, event.role)))
        .collect();
    let centre = rows.iter().map(|row| row.0).sum::<f64>() / rows.len().max(1) as f64;
    let span = rows.iter().map(|row| (row.0 - centre).abs()).fold(0.0, f64::max);
    let stops = rows.iter().filter(|row| row.2 == HostRole::Done).count();
    let with_lag = stops > 0 && stops < rows.len();
    let with_drift = span > 1.0 && rows.len() >= if with_lag { 4 } else { 3 };
    let columns = 1 + usize::from(with_drift) + usize::from(with_lag);
    let matrix = DMatrix::from_fn(rows.len(), columns, |row, column| {
        let Some((host, _, role)) = rows.get(row) else { return 0.0 };
        match column {
            0 => 1.0,
            1 if with_drift => host - centre,
            _ => -f64::from(u8::from(*role == HostRole::Done)),
        }
    });
    let apart = DVector::from_iterator(rows.len(), rows.iter().map(|row| row.1 - row.0));
    let solved = matrix.clone().svd(true, true).solve(&apart, 1e-12).ok()?;
    let left = &apart - &matrix * &solved;
    let at = |column: usize| solved.get(column).copied().unwrap_or(0.0);
    let drift = if with_drift { at(1) } else { 0.0 };
    let stop_lag = if with_lag { at(columns - 1) } else { 0.0 };
    Some(ClockFit {
        offset: Seconds(at(0) - drift * centre),
        drift,
        stop_lag: Seconds(stop_lag),
        worst: Seconds(left.iter().fold(0.0, |worst: f64, next| worst.max(next.abs()))),
        rms: Seconds((left.norm_squared() / rows.len().max(1) as f64).sqrt()),
        edges: rows.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at: f64, role: HostRole) -> HostEvent {
        HostEvent { at: SimTime::from_seconds(Seconds(at)).unwrap(), role, inferences: None }
    }

    #[test]
    fn offset_drift_and_lag_of_stop_lines_come_out() {
        let (drift, lag, offset) = (120e-6, 0.02, -216.7);
        let (mut edges, mut events) = (Vec::new(), Vec::new());
        for window in 0..5u32 {
            let start = 3.0 + 20.0 * f64::from(window);
            for (at, role) in [(start, HostRole::Start), (start + 18.0, HostRole::Done)] {
                edges.push(SimTime::from_seconds(Seconds(at)).unwrap());
                let lag = if role == HostRole::Done { lag } else { 0.0 };
                events.push(event((at + lag - offset) / (1.0 + drift), role));
            }
        }
        let matched = match_edges(&edges, &events).unwrap();
        assert_eq!(matched.edge_of, (0..10).map(Some).collect::<Vec<_>>());
        assert!((matched.fit.drift - drift).abs() < 1e-9, "{}", matched.fit.drift);
        assert!((matched.fit.stop_lag.0 - lag).abs() < 1e-8);
        assert!((matched.fit.offset.0 - offset).abs() < 1e-6);
        assert!(matched.fit.worst.0 < 1e-9);
        // A line written when a window starts stands at its edge on the meter's clock.
        let at = matched.fit.on_meter_picoseconds(events[2].at);
        assert!((at - edges[2].0 as i64).abs() < 100_000, "{at}");
        assert!((matched.fit.on_meter(SimTime::ZERO).0 - offset).abs() < 1e-6);
    }

    #[test]
    fn a_count_stands_right_behind_the_word_and_a_time_of_day_is_none() {
        let words = HostWords { start: "begin".into(), stop: "end".into() };
        let count = |line: &str| words.role(line).map(|(_, count)| count);
        for line in ["begin-10", "begin 10", "begin (10)", "begin=10, again"] {
            assert_eq!(count(line), Some(Some(10)), "{line}");
        }
        for line in ["begin", "begin run 7", "begin 2026-01-01", "begin 12:30:00", "begin 1.5"] {
            assert_eq!(count(line), Some(None), "{line}");
        }
        assert_eq!(HostWords::default().role("m-infer-start-10").unwrap().1, Some(10));
    }

    #[test]
    fn a_log_of_another_trace_matches_nothing() {
        let edges = [SimTime(1_000_000_000_000)];
        assert!(match_edges(&edges, &[event(5.0, HostRole::Start)]).is_none());
        assert!(match_edges(&[], &[]).is_none());
    }
}
