//! Which stretches of a capture are measured.

use super::host_clock::{self, HostRole, HostWords, Matched};
use crate::trace::{Edge, Level, LineId, Mark, Span, SpanKind, Teller};
use crate::units::SimTime;

/// A measured stretch.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Its start.
    pub start: SimTime,
    /// Its end.
    pub stop: SimTime,
    /// Its name, where the file gives one.
    pub name: String,
}

/// How edges of a line make windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeRule {
    /// Falls pair up: start, stop, start, stop.
    Falls,
    /// Rises pair up.
    Rises,
    /// From a fall to the next rise.
    Low,
    /// From a rise to the next fall.
    High,
    /// No edges: where power is high, between its change points.
    Power,
}

/// What the user says about windows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowOptions {
    /// The digital line that marks them.
    pub line: Option<String>,
    /// How its edges make windows; found when not given.
    pub rule: Option<EdgeRule>,
    /// Windows left out at the start, where the device warms up.
    pub warm_up: usize,
    /// The words by which a log tells of windows.
    pub words: HostWords,
}

impl WindowOptions {
    /// True where the user's word holds against windows that the file states.
    pub fn overrules(&self) -> bool {
        self.rule.is_some() || self.line.is_some()
    }
}

/// The windows of a capture, and what could not be made one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Windows {
    /// The windows, in the order of time.
    pub windows: Vec<Window>,
    /// How they were found, and what is missing, in words.
    pub remarks: Vec<String>,
    /// What tells of the host's log and the meter's edges agree on, where both are there.
    pub matched: Option<Matched>,
}

/// Finds the windows: those that the file states, else those between edges that the host's log
/// explains, else those between edges alone. Where the user names a line or a rule, what the file
/// states does not count; for [`EdgeRule::Power`] `spans` are those found in the power.
pub fn find_windows(
    lines: &[String],
    edges: &[Edge],
    marks: &[Mark],
    spans: &[Span],
    end: SimTime,
    options: &WindowOptions,
) -> Windows {
    let mut found = match options.rule {
        Some(EdgeRule::Power) => stated(spans),
        _ if options.overrules() => of_edges(lines, edges, marks, end, options),
        _ => stated(spans),
    };
    if found.windows.is_empty() && !options.overrules() {
        if edges.is_empty() {
            found.windows = between_marks(marks, &options.words);
        } else {
            found = of_edges(lines, edges, marks, end, options);
        }
    }
    if options.warm_up > 0 && !found.windows.is_empty() {
        let left_out = options.warm_up.min(found.windows.len());
        found.windows.drain(..left_out);
        found.remarks.push(format!("the first {left_out} windows are left out as warm-up"));
    }
    found
}

/// Windows from start to stop marks on the meter's own clock.
fn between_marks(marks: &[Mark], words: &HostWords) -> Vec<Window> {
    let mut windows = Vec::new();
    let mut open = None;
    for event in host_clock::events_of(marks, words, Teller::Meter) {
        match event.role {
            HostRole::Pulse => {}
            HostRole::Start => open = Some(event.at),
            HostRole::Done => {
                if let Some(start) = open.take() {
                    windows.push(Window { start, stop: event.at, name: String::new() });
                }
            }
        }
    }
    windows
}

fn stated(spans: &[Span]) -> Windows {
    let of_kind = |kind| {
        let those = spans.iter().filter(move |span| span.kind == kind);
        let window = |s: &Span| Window { start: s.start, stop: s.end, name: s.name.clone() };
        those.map(window).collect::<Vec<_>>()
    };
    let windows = of_kind(SpanKind::Window);
    let windows = if windows.is_empty() { of_kind(SpanKind::Inference) } else { windows };
    Windows { windows, ..Windows::default() }
}

fn of_edges(
    lines: &[String],
    edges: &[Edge],
    marks: &[Mark],
    end: SimTime,
    options: &WindowOptions,
) -> Windows {
    let line = match chosen_line(lines, edges, options) {
        Ok(line) => line,
        Err(remark) => return Windows { remarks: vec![remark], ..Windows::default() },
    };
    let own: Vec<Edge> = edges.iter().filter(|edge| edge.line == line).copied().collect();
    let events = host_clock::events_of(marks, &options.words, Teller::Host);
    let explained = events.iter().any(|event| event.role == HostRole::Start);
    let rule = options.rule.unwrap_or_else(|| likely_rule(&own, end));
    if explained {
        // Where pulses mark instants, an event goes with the first edge of its pulse.
        let told: Vec<Edge> = match rule {
            EdgeRule::Falls => changes(&own).filter(|edge| edge.to == Level::Low).collect(),
            EdgeRule::Rises => changes(&own).filter(|edge| edge.to == Level::High).collect(),
            EdgeRule::Low | EdgeRule::High | EdgeRule::Power => changes(&own).collect(),
        };
        return explained_by(&told, &events, end);
    }
    let found = by_rule(&own, rule);
    if found.windows.is_empty() && options.rule.is_none() {
        // A line that changes twice does not tell which of its levels is the one at rest.
        let other = match rule {
            EdgeRule::Low => by_rule(&own, EdgeRule::High),
            EdgeRule::High => by_rule(&own, EdgeRule::Low),
            EdgeRule::Falls | EdgeRule::Rises | EdgeRule::Power => Windows::default(),
        };
        if !other.windows.is_empty() {
            return other;
        }
    }
    found
}

/// The line that the user names, or the only one that moves.
fn chosen_line(
    lines: &[String],
    edges: &[Edge],
    options: &WindowOptions,
) -> Result<LineId, String> {
    if let Some(name) = &options.line {
        let at = lines.iter().position(|line| line == name);
        return at.map(LineId).ok_or_else(|| {
            let known = if lines.is_empty() { "there are none".into() } else { lines.join(", ") };
            format!("no digital line is called `{name}`: {known}")
        });
    }
    let moves = |line: usize| {
        let mut of = edges.iter().filter(|edge| edge.line == LineId(line));
        // The first edge only tells the level at the start.
        of.next().is_some() && of.next().is_some()
    };
    let moving: Vec<usize> = (0..lines.len()).filter(|line| moves(*line)).collect();
    match moving[..] {
        [] => Err("no digital line changes, so there are no windows".into()),
        [only] => Ok(LineId(only)),
        [first, ..] => {
            let names: Vec<_> =
                moving.iter().filter_map(|at| lines.get(*at)).map(String::as_str).collect();
            let of = lines.get(first).map_or("", String::as_str);
            Err(format!(
                "several digital lines change ({}): `--line {of}` takes the windows from one",
                names.join(", ")
            ))
        }
    }
}

/// Short pulses mark starts and stops; long levels are the windows themselves. The level at rest is
/// the one that holds longest.
fn likely_rule(edges: &[Edge], end: SimTime) -> EdgeRule {
    let only = |level| edges.iter().all(|edge| edge.to == level);
    if only(Level::Low) {
        return EdgeRule::Falls;
    }
    if only(Level::High) {
        return EdgeRule::Rises;
    }
    let stretches = |level: Level| {
        let stops = edges.iter().skip(1).map(|edge| edge.at).chain([end]);
        let of = edges.iter().zip(stops).filter(move |(edge, _)| edge.to == level);
        of.map(|(edge, stop)| stop.since(edge.at).0).collect::<Vec<_>>()
    };
    let (low, high) = (stretches(Level::Low), stretches(Level::High));
    let total = |of: &[u64]| of.iter().fold(0u64, |sum, next| sum.saturating_add(*next));
    let longest = |of: &[u64]| of.iter().copied().max().unwrap_or(0);
    let (pulses, pulse, held) = if total(&low) <= total(&high) {
        (&low, EdgeRule::Falls, EdgeRule::Low)
    } else {
        (&high, EdgeRule::Rises, EdgeRule::High)
    };
    let rest = if total(&low) <= total(&high) { &high } else { &low };
    // A pulse is no stretch of work: the longest is far below the usual distance of two.
    let short = longest(pulses).saturating_mul(20) < total(rest) / (rest.len().max(1) as u64);
    if short && pulses.len() >= 2 { pulse } else { held }
}

fn by_rule(edges: &[Edge], rule: EdgeRule) -> Windows {
    let level = match rule {
        EdgeRule::Falls | EdgeRule::Low => Level::Low,
        EdgeRule::Rises | EdgeRule::High | EdgeRule::Power => Level::High,
    };
    let mut found = Windows::default();
    match rule {
        EdgeRule::Falls | EdgeRule::Rises => {
            // The first edge may only tell the level at the start.
            let mut to: Vec<_> = changes(edges).filter(|edge| edge.to == level).collect();
            let what = if level == Level::Low { "falls" } else { "rises" };
            if to.len() % 2 == 1
                && let Some(odd) = odd_one(&to)
            {
                found.remarks.push(format!(
                    "number {} of {} {what} is in no window: without it alone all windows are equally long",
                    odd + 1,
                    to.len()
                ));
                to.remove(odd);
            }
            if to.len() % 2 == 1 {
                found.remarks.push(format!(
                    "there are {} {what}, an odd number: which of them has no partner is not known, so \
                     no windows are made of them",
                    to.len()
                ));
                return found;
            }
            found.windows = to
                .chunks_exact(2)
                .map(|pair| Window { start: pair[0].at, stop: pair[1].at, name: String::new() })
                .collect();
            found.remarks.push(format!("windows lie between {what} of the line, in pairs"));
        }
        // Windows of power are stated before edges are looked at.
        EdgeRule::Power => {}
        EdgeRule::Low | EdgeRule::High => {
            let mut open = None;
            for edge in changes(edges) {
                if edge.to == level {
                    open = open.or(Some(edge.at));
                } else if let Some(start) = open.take() {
                    found.windows.push(Window { start, stop: edge.at, name: String::new() });
                }
            }
            let name = if level == Level::Low { "low" } else { "high" };
            found.remarks.push(format!("windows are where the line is {name}"));
            if open.is_some() {
                found.remarks.push("the last window has no end and is left out".into());
            }
        }
    }
    found
}

/// Of an odd number of edges the one without which windows in pairs are equally long, where leaving
/// out any other makes them differ.
fn odd_one(edges: &[Edge]) -> Option<usize> {
    const ALIKE: f64 = 0.02;
    const APART: f64 = 5.0;
    // One window is as long as itself.
    if edges.len() < 5 {
        return None;
    }
    let spread = |left_out: usize| {
        let kept: Vec<u64> = edges
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != left_out)
            .map(|(_, edge)| edge.at.0)
            .collect();
        let lengths = kept.chunks_exact(2).map(|pair| pair[1].saturating_sub(pair[0]));
        let (least, most) =
            lengths.fold((u64::MAX, 0), |(l, m), length| (l.min(length), m.max(length)));
        (most - least.min(most)) as f64 / most.max(1) as f64
    };
    let mut all: Vec<(f64, usize)> = (0..edges.len()).map(|at| (spread(at), at)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [best, second, ..] = all[..] else { return None };
    (best.0 <= ALIKE && second.0 > APART * best.0.max(ALIKE)).then_some(best.1)
}

/// Edges that change the level or, where only one direction is kept, every edge.
fn changes(edges: &[Edge]) -> impl Iterator<Item = Edge> + '_ {
    let both = edges.iter().any(|edge| edge.to == Level::Low)
        && edges.iter().any(|edge| edge.to == Level::High);
    let skip = usize::from(both && edges.first().is_some_and(|edge| edge.at == SimTime::ZERO));
    edges.iter().skip(skip).copied()
}

/// Windows whose start and stop the host's log tells of: each event takes the edge it explains.
fn explained_by(edges: &[Edge], events: &[host_clock::HostEvent], end: SimTime) -> Windows {
    let at: Vec<SimTime> = edges.iter().map(|edge| edge.at).collect();
    let Some(matched) = host_clock::match_edges(&at, events) else {
        let remark = "the host's log tells of windows, but no offset brings its events to the edges: \
                      no windows are made";
        return Windows { remarks: vec![remark.into()], ..Windows::default() };
    };
    let mut found = Windows::default();
    let mut number = 0;
    let mut start: Option<(usize, Option<SimTime>)> = None;
    for (event, edge) in events.iter().zip(&matched.edge_of) {
        let edge = edge.and_then(|edge| at.get(edge)).copied();
        match event.role {
            HostRole::Pulse => {}
            HostRole::Start => {
                number += 1;
                start = Some((number, edge));
            }
            HostRole::Done => found.pair(start.take(), edge, matched.expected(event), end),
        }
    }
    let unexplained = at.len() - matched.edge_of.iter().flatten().count();
    if unexplained > 0 {
        found.remarks.push(format!("{unexplained} edges are told of by no line of the host's log"));
    }
    found.matched = Some(matched);
    found
}

impl Windows {
    fn pair(
        &mut self,
        start: Option<(usize, Option<SimTime>)>,
        stop: Option<SimTime>,
        expected: SimTime,
        end: SimTime,
    ) {
        match (start, stop) {
            (Some((number, Some(start))), Some(stop)) if start < stop => {
                self.windows.push(Window { start, stop, name: format!("window {number}") });
            }
            // A log may tell of more than a trace that was cut holds.
            _ if expected > end => {}
            (Some((number, Some(_))), _) => {
                let remark =
                    format!("window {number} has a start and no edge at its stop: it is left out");
                self.remarks.push(remark);
            }
            (Some((number, None)), Some(_)) => {
                let remark =
                    format!("window {number} has a stop and no edge at its start: it is left out");
                self.remarks.push(remark);
            }
            (Some((number, None)), None) => {
                self.remarks.push(format!("window {number} has no edges: it is left out"));
            }
            (None, _) => self.remarks.push("the log tells of a stop without a start".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000_000;

    fn edges(of: &[(f64, Level)]) -> Vec<Edge> {
        let edge = |(at, to): &(f64, Level)| Edge {
            line: LineId(0),
            at: SimTime((at * S as f64) as u64),
            to: *to,
        };
        of.iter().map(edge).collect()
    }

    fn find(edges: &[Edge], marks: &[Mark]) -> Windows {
        let end = SimTime(200 * S);
        find_windows(&["D0".into()], edges, marks, &[], end, &WindowOptions::default())
    }

    fn starts(windows: &Windows) -> Vec<(u64, u64)> {
        let ms = |at: SimTime| at.0 / 1_000_000_000;
        windows.windows.iter().map(|w| (ms(w.start), ms(w.stop))).collect()
    }

    #[test]
    fn short_pulses_pair_up_and_long_levels_are_windows() {
        use Level::{High, Low};
        let pulses = edges(&[(0.0, High), (1.0, Low), (1.001, High), (8.042, Low), (8.043, High)]);
        assert_eq!(starts(&find(&pulses, &[])), [(1000, 8042)]);
        let levels = edges(&[(0.0, Low), (1.0, High), (8.0, Low), (9.0, High), (16.0, Low)]);
        assert_eq!(starts(&find(&levels, &[])), [(1000, 8000), (9000, 16000)]);
    }

    #[test]
    fn a_single_stretch_is_a_window_though_it_is_longer_than_the_rest() {
        use Level::{High, Low};
        let found = find(&edges(&[(0.0, Low), (50.0, High), (190.0, Low)]), &[]);
        assert_eq!(starts(&found), [(50_000, 190_000)]);
        assert_eq!(found.remarks, ["windows are where the line is high"]);
    }

    #[test]
    fn a_rule_of_the_user_holds_against_stated_windows() {
        use Level::{High, Low};
        let edges = edges(&[(0.0, Low), (1.0, High), (2.0, Low), (5.0, High), (6.0, Low)]);
        let span = |start: u64, end: u64| Span {
            kind: SpanKind::Window,
            name: "stated".into(),
            track: "t".into(),
            inference: None,
            start: SimTime(start * S),
            end: SimTime(end * S),
        };
        let spans = [span(0, 10)];
        let found = |options: &WindowOptions| {
            let found = find_windows(&["D0".into()], &edges, &[], &spans, SimTime(10 * S), options);
            starts(&found)
        };
        assert_eq!(found(&WindowOptions::default()), [(0, 10_000)]);
        let rule = |rule| WindowOptions { rule: Some(rule), ..WindowOptions::default() };
        assert_eq!(found(&rule(EdgeRule::High)), [(1000, 2000), (5000, 6000)]);
        assert_eq!(found(&rule(EdgeRule::Power)), [(0, 10_000)]);
        let line = WindowOptions { line: Some("D0".into()), ..WindowOptions::default() };
        assert_eq!(found(&line).len(), 2);
        let none = WindowOptions { line: Some("D7".into()), ..WindowOptions::default() };
        assert!(found(&none).is_empty());
    }

    #[test]
    fn an_odd_number_of_falls_is_not_paired_blindly() {
        let found = find(&edges(&[(1.0, Level::Low), (2.0, Level::Low), (3.0, Level::Low)]), &[]);
        assert!(found.windows.is_empty());
        assert!(found.remarks[0].contains("odd number"), "{:?}", found.remarks);
    }

    #[test]
    fn an_odd_edge_is_found_where_the_lengths_of_windows_tell_it() {
        let falls = |at: &[f64]| edges(&at.iter().map(|at| (*at, Level::Low)).collect::<Vec<_>>());
        let pulse = find(&falls(&[0.02, 3.0, 10.0, 13.5, 20.5, 25.0, 32.0]), &[]);
        assert_eq!(starts(&pulse), [(3000, 10000), (13500, 20500), (25000, 32000)]);
        assert!(pulse.remarks[0].starts_with("number 1 of 7 falls"), "{:?}", pulse.remarks);
        // Pauses as long as windows: nothing tells which is which.
        let even = find(&falls(&[0.0, 5.0, 10.0, 15.0, 20.0]), &[]);
        assert!(even.windows.is_empty());
    }

    fn marks(of: &[(f64, &str)]) -> Vec<Mark> {
        let mark = |(at, name): &(f64, &str)| Mark {
            teller: Teller::Host,
            at: SimTime((at * S as f64) as u64),
            track: "dut".into(),
            name: (*name).into(),
        };
        of.iter().map(mark).collect()
    }

    #[test]
    fn the_log_tells_which_edge_is_the_test_pulse_and_which_is_missing() {
        let log = marks(&[
            (100.0, "m-dut-passthrough(timestamp)"),
            (103.0, "m-infer-start-10"),
            (110.02, "m-infer-done"),
            (113.0, "m-infer-start-10"),
            (120.02, "m-infer-done"),
            (123.0, "m-infer-start-10"),
            (130.02, "m-infer-done"),
        ]);
        let falls = |at: &[f64]| edges(&at.iter().map(|at| (*at, Level::Low)).collect::<Vec<_>>());
        let all = find(&falls(&[0.02, 3.0, 10.0, 13.0, 20.0, 23.0, 30.0]), &log);
        assert_eq!(starts(&all), [(3000, 10000), (13000, 20000), (23000, 30000)]);
        assert!(all.remarks.is_empty(), "{:?}", all.remarks);
        // Ten edges where eleven should be: paired blindly, every window would be wrong.
        let cut = find(&falls(&[0.02, 3.0, 10.0, 20.0, 23.0, 30.0]), &log);
        assert_eq!(starts(&cut), [(3000, 10000), (23000, 30000)]);
        assert_eq!(cut.remarks, ["window 2 has a stop and no edge at its start: it is left out"]);
    }
}
