//! Spans, digital lines and marks as slices and instants in the order of time.

use super::super::FormatError;
use super::lanes::Lanes;
use super::nanoseconds;
use super::packets::{Group, Packets};
use crate::trace::{Annotations, Edge, Level, LineId, PlacedMark, Teller};
use crate::units::SimTime;
use std::collections::BTreeMap;
use std::io::Write;

/// What happens on a track of the timeline.
#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    /// The span of this index begins.
    Span(usize),
    /// A line stands at a level from here on.
    Level(&'static str),
    /// The innermost slice ends.
    End,
    /// An edge of a line of which only one direction is kept.
    Edge(&'static str),
    /// The mark of this index.
    Mark(usize),
}

#[derive(Debug, Clone, Copy)]
struct Happening {
    at: SimTime,
    track: u64,
    what: What,
}

/// All that a trace has beside counters, told in the order of time.
pub(super) struct Timeline<'a> {
    annotations: &'a Annotations,
    happenings: Vec<Happening>,
    next: usize,
    /// Tracks of lines whose last level holds to the end of the trace.
    open: Vec<u64>,
    closed: bool,
    /// The end of the last span.
    pub(super) last_span: SimTime,
}

impl<'a> Timeline<'a> {
    /// Describes the tracks of spans; those of lines and marks follow the counters.
    pub(super) fn describe_spans(
        annotations: &'a Annotations,
        packets: &mut Packets<impl Write>,
    ) -> Result<Self, FormatError> {
        let lanes = Lanes::of(&annotations.spans);
        let activity = packets.group(Group::Activity)?;
        let mut tracks = Vec::new();
        for name in lanes.names() {
            tracks.push(packets.lane(name, activity)?);
        }
        let mut happenings = Vec::with_capacity(lanes.edges().len());
        for edge in lanes.edges() {
            let track = tracks.get(edge.lane).copied().unwrap_or_default();
            let what = edge.begins.map_or(What::End, What::Span);
            happenings.push(Happening { at: edge.at, track, what });
        }
        let last_span = lanes.edges().last().map_or(SimTime::ZERO, |edge| edge.at);
        Ok(Self { annotations, happenings, next: 0, open: Vec::new(), closed: false, last_span })
    }

    /// Describes the tracks of lines and marks, and brings all into one order.
    pub(super) fn describe_rest(
        &mut self,
        lines: &[String],
        packets: &mut Packets<impl Write>,
    ) -> Result<(), FormatError> {
        self.lines(lines, packets)?;
        self.marks(packets)?;
        // Stable, so that each track keeps its order at one instant.
        self.happenings.sort_by_key(|happening| happening.at);
        Ok(())
    }

    fn lines(
        &mut self,
        lines: &[String],
        packets: &mut Packets<impl Write>,
    ) -> Result<(), FormatError> {
        let mut by_line: BTreeMap<LineId, Vec<&Edge>> = BTreeMap::new();
        for edge in &self.annotations.edges {
            by_line.entry(edge.line).or_default().push(edge);
        }
        if by_line.is_empty() {
            return Ok(());
        }
        let group = packets.group(Group::Lines)?;
        for (line, edges) in by_line {
            let name = lines.get(line.0).cloned().unwrap_or_else(|| format!("line {}", line.0));
            let track = packets.lane(&name, group)?;
            let first = edges.first().map_or(Level::Unknown, |edge| edge.to);
            if edges.len() > 1 && edges.iter().all(|edge| edge.to == first) {
                self.one_direction(track, &edges);
            } else {
                self.levels(track, &edges);
            }
        }
        Ok(())
    }

    /// How long a level held is not known where only falls, or only rises, are kept.
    fn one_direction(&mut self, track: u64, edges: &[&Edge]) {
        for edge in edges {
            let name = match edge.to {
                Level::Low => "fall",
                Level::High => "rise",
                Level::Unknown => continue,
            };
            self.happenings.push(Happening { at: edge.at, track, what: What::Edge(name) });
        }
    }

    fn levels(&mut self, track: u64, edges: &[&Edge]) {
        let mut open = false;
        for edge in edges {
            if open {
                self.happenings.push(Happening { at: edge.at, track, what: What::End });
            }
            let name = match edge.to {
                Level::Low => Some("low"),
                Level::High => Some("high"),
                Level::Unknown => None,
            };
            open = name.is_some();
            let begins = name.map(|name| Happening { at: edge.at, track, what: What::Level(name) });
            self.happenings.extend(begins);
        }
        if open {
            self.open.push(track);
        }
    }

    /// Marks that have a place at or after the start of the trace.
    fn marks(&mut self, packets: &mut Packets<impl Write>) -> Result<(), FormatError> {
        let mut tracks: BTreeMap<(Teller, &str), u64> = BTreeMap::new();
        let annotations = self.annotations;
        let mut group = None;
        for (number, placed) in annotations.marks.iter().enumerate() {
            let Some(at) = place(placed) else { continue };
            let key = (placed.mark.teller, placed.mark.track.as_str());
            let track = match tracks.get(&key) {
                Some(track) => *track,
                None => {
                    let group = match group {
                        Some(group) => group,
                        None => *group.insert(packets.group(Group::Marks)?),
                    };
                    let track = packets.lane(&lane_of_marks(key), group)?;
                    tracks.insert(key, track);
                    track
                }
            };
            self.happenings.push(Happening { at, track, what: What::Mark(number) });
        }
        Ok(())
    }

    /// When the next thing happens \[ns\].
    fn peek(&self) -> Option<u64> {
        self.happenings.get(self.next).map(|happening| nanoseconds(happening.at))
    }

    /// Tells all that happens at or before a nanosecond.
    pub(super) fn tell_until(
        &mut self,
        until: u64,
        packets: &mut Packets<impl Write>,
    ) -> Result<(), FormatError> {
        while self.peek().is_some_and(|at| at <= until) {
            if let Some(happening) = self.happenings.get(self.next).copied() {
                self.tell(happening, packets)?;
            }
            self.next += 1;
        }
        Ok(())
    }

    /// Ends what is open where the trace ends; behind it only marks are told.
    pub(super) fn close(
        &mut self,
        at: u64,
        packets: &mut Packets<impl Write>,
    ) -> Result<(), FormatError> {
        self.closed = true;
        self.open.drain(..).try_for_each(|track| packets.slice_end(at, track))
    }

    fn tell(
        &self,
        happening: Happening,
        packets: &mut Packets<impl Write>,
    ) -> Result<(), FormatError> {
        let Happening { at, track, what } = happening;
        let at = nanoseconds(at);
        match what {
            What::Level(_) | What::End | What::Edge(_) if self.closed => Ok(()),
            What::Span(span) => match self.annotations.spans.get(span) {
                Some(span) => packets.span_begin(at, track, span),
                None => Ok(()),
            },
            What::Level(name) => packets.slice_begin(at, track, name, "line"),
            What::End => packets.slice_end(at, track),
            What::Edge(name) => packets.instant(at, track, name, "edge"),
            What::Mark(mark) => match self.annotations.marks.get(mark) {
                Some(placed) => packets.instant(at, track, &placed.mark.name, "mark"),
                None => Ok(()),
            },
        }
    }
}

/// When a mark lies on the clock of the trace; none before it, and where that is not known.
fn place(placed: &PlacedMark) -> Option<SimTime> {
    u64::try_from(placed.at_ps?).ok().map(SimTime)
}

fn lane_of_marks((teller, track): (Teller, &str)) -> String {
    match (teller, track) {
        (Teller::Meter, "") => "meter".to_owned(),
        (Teller::Host, "") => "host".to_owned(),
        (Teller::Meter, track) => track.to_owned(),
        (Teller::Host, track) => format!("{track} (host)"),
    }
}
