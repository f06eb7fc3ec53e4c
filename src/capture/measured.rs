//! What a capture comes to: sums, windows, energy of an inference beside what was published.

use super::host_clock::{HostRole, host_events};
use super::rails::Rails;
use super::statistics::{Statistics, Summary, median};
use super::supply::Supply;
use super::windows::{Window, WindowOptions, Windows, find_windows};
use crate::formats::{FormatError, Opened, Options};
use crate::trace::{
    Annotations, Block, ChannelId, Edge, Layout, Mark, SampleSink, Sink, Span, SpanKind, StatedRun,
    Trace,
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
}

impl Measured {
    /// Reads a capture.
    pub fn read(
        opened: &Opened,
        options: &Options,
        windows: &WindowOptions,
        inferences: Option<u64>,
    ) -> Result<Self, FormatError> {
        Self::read_and_keep(opened, options, windows, inferences, None)
    }

    /// The same, and keeps all edges, marks and spans.
    pub fn read_and_keep(
        opened: &Opened,
        options: &Options,
        windows: &WindowOptions,
        inferences: Option<u64>,
        kept: Option<&mut Annotations>,
    ) -> Result<Self, FormatError> {
        let mut statistics = Statistics::default();
        let mut noted = Noted {
            layout: Layout::default(),
            rails: Rails::power(&mut statistics, options.voltage),
            kept,
        };
        opened.read(options, &mut noted)?;
        let (layout, supply) = (noted.layout, noted.rails.supply().clone());
        Ok(Self::of(layout, supply, statistics.finish(), windows, inferences))
    }

    /// Measures a trace in memory: its inferences are its windows, one each.
    pub fn of_trace(trace: &Trace, windows: &WindowOptions) -> Self {
        let mut statistics = Statistics::default();
        for span in &trace.spans {
            if matches!(span.kind, SpanKind::Window | SpanKind::Inference) {
                statistics.want(span.start);
                statistics.want(span.end);
            }
        }
        trace.replay(&mut statistics);
        let lines = trace.header.lines.clone();
        let layout = Layout { format: "joulecast".into(), lines, ..Layout::default() };
        let one_each = !trace.spans.iter().any(|span| span.kind == SpanKind::Window);
        let inferences = one_each.then_some(1);
        Self::of(layout, Supply::default(), statistics.finish(), windows, inferences)
    }

    fn of(
        layout: Layout,
        supply: Supply,
        summary: Summary,
        options: &WindowOptions,
        inferences: Option<u64>,
    ) -> Self {
        let end = SimTime::from_seconds(summary.duration).unwrap_or_default();
        let (edges, marks, spans) = (&summary.edges, &summary.marks, &summary.spans);
        let windows = find_windows(&layout.lines, edges, marks, spans, end, options);
        let stated = |run: &StatedRun| run.inferences_per_window;
        let logged = || {
            let mut starts = host_events(marks).into_iter().filter(|e| e.role == HostRole::Start);
            starts.find_map(|event| event.inferences)
        };
        let inferences = inferences.or(layout.run.as_ref().and_then(stated)).or_else(logged);
        let measured: Vec<_> = windows
            .windows
            .iter()
            .filter_map(|w| of_window(&layout, &summary, w, inferences))
            .collect();
        let each = measured.iter().filter_map(|window| window.per_inference);
        let energy_per_inference = median(each.map(|energy| energy.0).collect()).map(Joules);
        let inferences_per_window = inferences;
        Self {
            layout,
            supply,
            summary,
            windows,
            measured,
            inferences_per_window,
            energy_per_inference,
        }
    }

    /// The published energy of an inference, where a result file states it.
    pub fn published(&self) -> Option<Joules> {
        self.layout.run.as_ref()?.energy_per_inference
    }
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
