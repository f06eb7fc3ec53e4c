//! What a capture comes to: sums, windows, energy of an inference beside what was published.

use super::busy::{Busy, Extent, busy};
use super::host_clock::{HostRole, events_of};
use super::rails::Rails;
use super::repeats::Repeats;
use super::statistics::{Statistics, Summary, median};
use super::supply::Supply;
use super::windows::{EdgeRule, Window, WindowOptions, Windows, find_windows};
use crate::formats::{FormatError, Opened, Options};
use crate::trace::{
    Annotations, Block, ChannelId, Edge, Layout, Mark, SampleSink, Sink, Span, SpanKind, StatedRun,
    Teller, Trace,
};
use crate::units::{Joules, Seconds, SimTime, Watts};

/// One window and what was drawn in it.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredWindow {
    /// Where it lies.
    pub window: Window,
    /// Energy over the time that power is known.
    pub energy: Joules,
    /// Time within it over which power is known.
    pub known: Seconds,
    /// Time within it over which power is unknown.
    pub unknown: Seconds,
    /// Energy of one of its inferences, where their number is known and power is known throughout.
    pub per_inference: Option<Joules>,
}

impl MeasuredWindow {
    /// Its length.
    pub fn length(&self) -> Seconds {
        self.window.stop.since(self.window.start).seconds()
    }

    /// Mean power over the time that it is known; none where it is not known at all.
    pub fn mean(&self) -> Option<Watts> {
        (self.known.0 > 0.0).then(|| self.energy / self.known)
    }
}

/// A capture, or a simulated trace, measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// What its files say.
    pub layout: Layout,
    /// How its channels make power.
    pub supply: Supply,
    /// Its sums.
    pub summary: Summary,
    /// How its windows were found.
    pub windows: Windows,
    /// The windows with what was drawn in them.
    pub measured: Vec<MeasuredWindow>,
    /// Inferences in each window, from the user, the result file or the host's log.
    pub inferences_per_window: Option<u64>,
    /// The median over the windows, as benchmarks publish it.
    pub energy_per_inference: Option<Joules>,
    /// How well the windows agree: in energy of an inference where that is known, else in mean power.
    pub repeats: Option<Repeats>,
    /// Mean power between windows. It need not be idle: a device may wait busily for its next input.
    pub between_windows: Option<Watts>,
}

impl Measured {
    /// Reads a capture; `log` is what another file of the host's says.
    pub fn read(
        opened: &Opened,
        options: &Options,
        windows: &WindowOptions,
        inferences: Option<u64>,
        log: &[Mark],
    ) -> Result<Self, FormatError> {
        Self::read_and_keep(opened, options, windows, inferences, log, None)
    }

    /// The same, and keeps all edges, marks and spans.
    pub fn read_and_keep(
        opened: &Opened,
        options: &Options,
        windows: &WindowOptions,
        inferences: Option<u64>,
        log: &[Mark],
        kept: Option<&mut Annotations>,
    ) -> Result<Self, FormatError> {
        let mut statistics = Statistics::default();
        let by_power = match windows.rule {
            Some(EdgeRule::Power) => Some(ByPower::of_capture(opened, options)?),
            _ => None,
        };
        by_power.iter().for_each(|by_power| by_power.want(&mut statistics));
        let mut noted = Noted {
            layout: Layout::default(),
            rails: Rails::power(&mut statistics, options.voltage),
            kept,
        };
        opened.read(options, &mut noted)?;
        let (layout, kept, supply) = (noted.layout, noted.kept, noted.rails.supply().clone());
        if let Some(kept) = kept {
            log.iter().map(told_by_host).for_each(|mark| kept.mark(mark));
        }
        let mut summary = statistics.finish();
        summary.marks.extend(log.iter().map(told_by_host));
        Ok(Self::of(layout, supply, summary, (windows, by_power), inferences))
    }

    /// Measures a trace in memory: its inferences are its windows, one each, unless the user says
    /// otherwise.
    pub fn of_trace(
        trace: &Trace,
        windows: &WindowOptions,
        inferences: Option<u64>,
        log: &[Mark],
    ) -> Self {
        let mut statistics = Statistics::default();
        let by_power = (windows.rule == Some(EdgeRule::Power)).then(|| ByPower::of_trace(trace));
        by_power.iter().for_each(|by_power| by_power.want(&mut statistics));
        for span in &trace.spans {
            if matches!(span.kind, SpanKind::Window | SpanKind::Inference) {
                statistics.want(span.start);
                statistics.want(span.end);
            }
        }
        trace.replay(&mut statistics);
        let lines = trace.header.lines.clone();
        let layout = Layout { format: "joulecast".into(), lines, ..Layout::default() };
        let has = |kind| trace.spans.iter().any(|span| span.kind == kind);
        let one_each = !has(SpanKind::Window) && !windows.overrules();
        let inferences = if one_each && has(SpanKind::Inference) { Some(1) } else { inferences };
        let mut summary = statistics.finish();
        summary.marks.extend(log.iter().map(told_by_host));
        Self::of(layout, Supply::default(), summary, (windows, by_power), inferences)
    }

    fn of(
        layout: Layout,
        supply: Supply,
        summary: Summary,
        (options, by_power): (&WindowOptions, Option<ByPower>),
        inferences: Option<u64>,
    ) -> Self {
        let end = SimTime::from_seconds(summary.duration).unwrap_or_default();
        let marks = &summary.marks;
        let (spans, remark) = match &by_power {
            Some(by_power) => (&by_power.spans, Some(by_power.remark.clone())),
            None => (&summary.spans, too_many(&summary)),
        };
        // Levels are stored in whole bytes or words: behind the last sample of power a line tells
        // nothing. A line alone may end with its last edge.
        let (known, alone) = (summary.known_until(), summary.header.components.is_empty());
        let told = |edge: &&Edge| alone || edge.at < known;
        let edges: Vec<Edge> = summary.edges.iter().filter(told).copied().collect();
        let mut windows = find_windows(&layout.lines, &edges, marks, spans, end, options);
        windows.remarks.extend(remark);
        let stated = |run: &StatedRun| run.inferences_per_window;
        let logged = || {
            let events = events_of(marks, &options.words, Teller::Host);
            let starts = events.iter().filter(|event| event.role == HostRole::Start);
            starts.filter_map(|event| event.inferences).next()
        };
        let inferences = inferences.or(layout.run.as_ref().and_then(stated)).or_else(logged);
        let measured: Vec<_> = windows
            .windows
            .iter()
            .filter_map(|w| of_window(&layout, &summary, w, inferences))
            .collect();
        let each = measured.iter().filter_map(|window| window.per_inference);
        let energy_per_inference = median(each.map(|energy| energy.0).collect()).map(Joules);
        let repeats = repeats(&measured);
        let between_windows = between_windows(&summary, &measured);
        Self {
            layout,
            supply,
            summary,
            windows,
            measured,
            inferences_per_window: inferences,
            energy_per_inference,
            repeats,
            between_windows,
        }
    }

    /// The published energy of an inference, where a result file states it.
    pub fn published(&self) -> Option<Joules> {
        self.layout.run.as_ref()?.energy_per_inference
    }
}

/// Another file's line, whoever wrote it: its clock is not the meter's.
fn told_by_host(mark: &Mark) -> Mark {
    Mark { teller: Teller::Host, ..mark.clone() }
}

/// Why no windows are made of edges that are not kept.
fn too_many(summary: &Summary) -> Option<String> {
    let lost = summary.edges.is_empty() && summary.edge_count > 0;
    lost.then(|| {
        format!("digital lines change {} times, too often to mark windows", summary.edge_count)
    })
}

/// Windows from power alone, and how they were found.
#[derive(Debug)]
struct ByPower {
    spans: Vec<Span>,
    remark: String,
}

impl ByPower {
    /// Reads a capture twice: for its length, and for its power.
    fn of_capture(opened: &Opened, options: &Options) -> Result<Self, FormatError> {
        let mut extent = Extent::default();
        opened.read(options, &mut Rails::power(&mut extent, options.voltage))?;
        let Some(mut buckets) = extent.buckets() else { return Ok(Self::of(None)) };
        opened.read(options, &mut Rails::power(&mut buckets, options.voltage))?;
        Ok(Self::of(busy(&buckets.finish())))
    }

    fn of_trace(trace: &Trace) -> Self {
        let mut extent = Extent::of_changes();
        trace.replay(&mut extent);
        let Some(mut buckets) = extent.buckets() else { return Self::of(None) };
        trace.replay(&mut buckets);
        Self::of(busy(&buckets.finish()))
    }

    fn of(found: Option<Busy>) -> Self {
        let Some(Busy { windows, level, fine }) = found else {
            let remark = "power is not known or has one level only: it tells no windows".to_owned();
            return Self { spans: Vec::new(), remark };
        };
        let remark = format!(
            "windows are where power is above {level}, between its change points: edges are told to {fine}"
        );
        let span = |window: Window| Span {
            kind: SpanKind::Window,
            name: window.name,
            track: "power".into(),
            inference: None,
            start: window.start,
            end: window.stop,
        };
        Self { spans: windows.into_iter().map(span).collect(), remark }
    }

    /// Asks for the sums at the edges of its windows.
    fn want(&self, statistics: &mut Statistics) {
        for span in &self.spans {
            statistics.want(span.start);
            statistics.want(span.end);
        }
    }
}

fn repeats(measured: &[MeasuredWindow]) -> Option<Repeats> {
    let energies: Vec<f64> =
        measured.iter().filter_map(|window| window.per_inference).map(|energy| energy.0).collect();
    let means = || measured.iter().filter_map(MeasuredWindow::mean).map(|mean| mean.0).collect();
    Repeats::of(&if energies.is_empty() { means() } else { energies })
}

/// From the end of each window to the start of the next.
fn between_windows(summary: &Summary, measured: &[MeasuredWindow]) -> Option<Watts> {
    let pairs = measured.iter().zip(measured.iter().skip(1));
    let (mut energy, mut known) = (Joules(0.0), Seconds(0.0));
    for (before, after) in pairs.filter(|(a, b)| a.window.stop < b.window.start) {
        let between = summary.between(before.window.stop, after.window.start)?;
        energy += between.0;
        known += between.1;
    }
    (known.0 > 0.0).then(|| energy / known)
}

fn of_window(
    layout: &Layout,
    summary: &Summary,
    window: &Window,
    inferences: Option<u64>,
) -> Option<MeasuredWindow> {
    let (start, stop) = (layout.counted_at(window.start), layout.counted_at(window.stop));
    let (energy, known) = summary.between(start, stop)?;
    let unknown = stop.since(start).seconds() - known;
    let whole = unknown.0 <= 0.0 && known.0 > 0.0;
    let per_inference =
        inferences.filter(|count| whole && *count > 0).map(|count| energy / count as f64);
    Some(MeasuredWindow { window: window.clone(), energy, known, unknown, per_inference })
}

/// Keeps the layout on its way to the rails.
struct Noted<'s, 'k> {
    layout: Layout,
    rails: Rails<'s, Statistics>,
    kept: Option<&'k mut Annotations>,
}

impl SampleSink for Noted<'_, '_> {
    fn begin(&mut self, layout: &Layout) {
        self.layout = layout.clone();
        self.rails.begin(layout);
        layout.counted.iter().for_each(|(_, from)| self.rails.want(*from));
    }
    fn samples(&mut self, channel: ChannelId, block: &Block<'_>) {
        self.rails.samples(channel, block);
    }
    fn edge(&mut self, edge: Edge) {
        if let Some(kept) = &mut self.kept {
            kept.edge(edge);
        }
        self.rails.edge(edge);
    }
    fn mark(&mut self, mark: Mark) {
        if let Some(kept) = &mut self.kept {
            kept.mark(mark.clone());
        }
        self.rails.mark(mark);
    }
    fn span(&mut self, span: Span) {
        if let Some(kept) = &mut self.kept {
            kept.span(span.clone());
        }
        self.rails.span(span);
    }
    fn end(&mut self, at: SimTime) {
        self.rails.end(at);
    }
}
