//! What went on, as rows of boxes over the same time axis: inferences, states, phases.

use super::buckets::Grid;
use super::font;
use super::scene::{Anchor, Area, Ink, Label, Scene};
use super::theme::{self, Theme};
use crate::trace::{Span, SpanKind, Trace};
use crate::units::SimTime;

pub(super) const ROW: f64 = 18.0;
pub(super) const GAP: f64 = 4.0;
const MOST_ROWS: usize = 8;
/// Where domains and blocks have lanes of their own.
const MOST_ROWS_WITH_STATES: usize = 11;
/// Rows that spans of one track and kind may take when they overlap.
const MOST_ROWS_OF_ONE: usize = 3;
const NAME_SIZE: f64 = 12.0;
/// Opacity of a pixel with hardly anything in it.
const FAINTEST: f64 = 0.15;
/// Phases that have a colour of their own.
const PHASES: usize = 6;

/// Spans of one kind and track share rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Window,
    Inference,
    State,
    Layer,
    Phase,
}

impl Group {
    fn of(kind: SpanKind) -> Self {
        match kind {
            SpanKind::Window => Self::Window,
            SpanKind::Inference => Self::Inference,
            SpanKind::Idle | SpanKind::Transition | SpanKind::State => Self::State,
            SpanKind::Layer => Self::Layer,
            SpanKind::Phase => Self::Phase,
        }
    }

    /// Where domains and blocks have lanes of their own, who is at work comes before what rests.
    fn rank(self, states: bool) -> u8 {
        match self {
            Self::Window => 0,
            Self::Inference => 1,
            Self::State => {
                if states {
                    5
                } else {
                    2
                }
            }
            Self::Layer => 3,
            Self::Phase => 4,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Inference => "inference",
            Self::State => "state",
            Self::Layer => "layer",
            Self::Phase => "phase",
        }
    }
}

#[derive(Debug, Clone)]
struct Item {
    left: f64,
    right: f64,
    /// What covers it, and how many pixels of it: several share a pixel.
    inks: Vec<(Ink, f64)>,
    name: String,
}

#[derive(Debug, Clone)]
struct Row {
    label: String,
    items: Vec<Item>,
}

/// The rows, and what their colours mean.
#[derive(Debug, Default)]
pub(super) struct Strip {
    rows: Vec<Row>,
    /// Rows for which there was no room.
    left_out: usize,
    pub key: Vec<(String, Ink)>,
}

impl Strip {
    /// Everything but what the band of names shows already.
    pub(super) fn of(
        trace: &Trace,
        grid: &Grid,
        left: f64,
        named: Option<SpanKind>,
        theme: &Theme,
    ) -> Self {
        let mut lanes: Vec<(Group, &str, Vec<&Span>)> = Vec::new();
        for span in trace.spans.iter().filter(|s| s.end >= grid.from && s.start < grid.to) {
            let group = Group::of(span.kind);
            match lanes.iter_mut().find(|(g, track, _)| *g == group && *track == span.track) {
                Some((_, _, spans)) => spans.push(span),
                None => lanes.push((group, &span.track, vec![span])),
            }
        }
        let states = trace.spans.iter().any(|span| span.kind == SpanKind::State);
        if states {
            lanes.retain(|(group, _, spans)| *group != Group::State || tells(spans));
        }
        let alone = |group: Group| lanes.iter().filter(|lane| lane.0 == group).count() == 1;
        let mut order: Vec<usize> = (0..lanes.len()).collect();
        // Phases of many engines would leave no room for states.
        order.retain(|at| {
            let group = lanes.get(*at).map(|lane| lane.0);
            !states || group != Some(Group::Phase) || alone(Group::Phase)
        });
        order.sort_by_key(|at| lanes.get(*at).map(|lane| lane.0.rank(states)));
        // An engine and its domain may share a name.
        let also = |group: Group, track: &str| {
            let other = [Group::Inference, Group::Layer];
            group == Group::State
                && lanes.iter().any(|lane| other.contains(&lane.0) && lane.1 == track)
        };
        let mut inks = Inks { phases: Vec::new(), key: Vec::new(), theme };
        let mut strip = Self::default();
        for at in order {
            let Some((group, track, spans)) = lanes.get(at) else { continue };
            // One lane of layers, or of inferences, is the band of names.
            if named.is_some_and(|kind| Group::of(kind) == *group) && alone(*group) {
                continue;
            }
            let label = match alone(*group) {
                true => group.name().to_owned(),
                false if states && !also(*group, track) => (*track).to_owned(),
                false => format!("{track} {}", group.name()),
            };
            let first = strip.rows.len();
            strip.add(&label, spans, grid, left, &mut inks);
            // Their names are in the band already.
            if *group == Group::Layer && named == Some(SpanKind::Layer) {
                let items = strip.rows.iter_mut().skip(first).flat_map(|row| &mut row.items);
                items.for_each(|item| item.name.clear());
            }
        }
        let most = if states { MOST_ROWS_WITH_STATES } else { MOST_ROWS };
        strip.left_out = strip.rows.len().saturating_sub(most);
        strip.rows.truncate(most);
        strip.key = inks.key;
        strip
    }

    /// Puts the spans of one lane into the first row that is free.
    fn add(&mut self, label: &str, spans: &[&Span], grid: &Grid, left: f64, inks: &mut Inks<'_>) {
        let mut spans = spans.to_vec();
        spans.sort_by_key(|span| (span.start, span.end));
        let mut rows: Vec<(SimTime, Vec<Item>)> = Vec::new();
        for (at, span) in spans.iter().enumerate() {
            let free = rows.iter().position(|(end, _)| *end <= span.start);
            let row = match free {
                Some(row) => row,
                None if rows.len() < MOST_ROWS_OF_ONE => {
                    rows.push(Default::default());
                    rows.len() - 1
                }
                None => continue,
            };
            let Some((end, items)) = rows.get_mut(row) else { continue };
            *end = span.end;
            let from = left + grid.place(span.start.max(grid.from));
            let to = left + grid.place(span.end.min(grid.to));
            // Alternating shades are for the eye: what is as narrow as a pixel takes the first.
            let shade = if to - from >= 2.0 { at } else { 0 };
            place(items, from, to, || (inks.of(span, shade), span.name.clone()));
        }
        for (at, (_, items)) in rows.into_iter().enumerate() {
            let label = if at == 0 { label.to_owned() } else { String::new() };
            self.rows.push(Row { label, items });
        }
    }

    pub(super) fn height(&self) -> f64 {
        self.rows.len() as f64 * (ROW + GAP)
    }

    /// Draws the rows below `top`, their labels left of the area.
    pub(super) fn draw(&self, scene: &mut Scene, area: &Area, theme: &Theme) {
        let drop = NAME_SIZE * font::CAPITAL / 2.0;
        for (at, row) in self.rows.iter().enumerate() {
            let top = area.top + at as f64 * (ROW + GAP);
            let line = Area { top, bottom: top + ROW, ..*area };
            scene.fill(line, theme.shade);
            row_label(scene, &row.label, &line, theme);
            for item in &row.items {
                // A hair between neighbours.
                let hair = if item.right - item.left > 4.0 { 0.5 } else { 0.0 };
                let held = Area { left: item.left, right: item.right - hair, ..line };
                let (ink, covered) = item.ink();
                let share = (covered / (item.right - item.left)).clamp(FAINTEST, 1.0);
                scene.fill(held, ink.faded(share));
                let room = held.width() - 6.0;
                if room > 12.0 && font::width(&item.name, NAME_SIZE, false) <= room {
                    let (x, y) = held.center();
                    let label = Label::new(&item.name, (x, y + drop), NAME_SIZE, theme.text);
                    scene.text(label.anchored(Anchor::Middle));
                }
            }
        }
        if self.left_out > 0 {
            let lanes = if self.left_out == 1 { "lane" } else { "lanes" };
            let text = format!("{} more {lanes}", self.left_out);
            let at = (area.right, area.top - 5.0);
            let label = Label::new(text, at, NAME_SIZE, theme.quiet);
            scene.text(label.anchored(Anchor::End));
        }
    }
}

impl Item {
    /// The colours of what covers it, by how much each does, and the pixels that all do.
    fn ink(&self) -> (Ink, f64) {
        let mut all = 0.0;
        let mut mixed: Option<Ink> = None;
        for (ink, covered) in &self.inks {
            all += covered;
            let share = if all > 0.0 { covered / all } else { 0.0 };
            mixed = Some(mixed.map_or(*ink, |mixed| mixed.mixed(*ink, share)));
        }
        (mixed.unwrap_or(Ink::solid((0, 0, 0))), all)
    }
}

/// Whether a lane of states says anything: it changes, and is one of a domain or a block. What all of the
/// hardware is doing can be seen from theirs.
fn tells(spans: &[&Span]) -> bool {
    let states = spans.iter().filter(|span| span.kind == SpanKind::State);
    let mut names = states.map(|span| span.name.as_str());
    let first = names.next();
    first.is_some() && names.any(|name| Some(name) != first)
}

/// Adds a box. Those narrower than a pixel share the box of their pixel, which is as opaque as it
/// is covered and of the colour of what covers it, so that a row never has more boxes than pixels.
fn place(items: &mut Vec<Item>, from: f64, to: f64, look: impl FnOnce() -> (Ink, String)) {
    let wide = to - from >= 1.0;
    let pixel = from.floor();
    match items.last_mut() {
        Some(last) if !wide && last.right - last.left <= 1.0 && last.left == pixel => {
            let (ink, _) = look();
            match last.inks.iter_mut().find(|(own, _)| *own == ink) {
                Some((_, covered)) => *covered += to - from,
                None => last.inks.push((ink, to - from)),
            }
        }
        _ => {
            let (ink, name) = look();
            let (left, right) = if wide { (from, to) } else { (pixel, pixel + 1.0) };
            items.push(Item { left, right, inks: vec![(ink, to - from)], name });
        }
    }
}

/// Writes the label of a row in the left margin.
pub(super) fn row_label(scene: &mut Scene, text: &str, line: &Area, theme: &Theme) {
    let text = font::elided(text, NAME_SIZE, false, line.left - 24.0);
    let y = line.center().1 + NAME_SIZE * font::CAPITAL / 2.0;
    let label = Label::new(text, (line.left - 10.0, y), NAME_SIZE, theme.quiet);
    scene.text(label.anchored(Anchor::End));
}

/// Gives out colours and remembers what they mean.
struct Inks<'a> {
    phases: Vec<String>,
    key: Vec<(String, Ink)>,
    theme: &'a Theme,
}

impl Inks<'_> {
    fn of(&mut self, span: &Span, at: usize) -> Ink {
        let other = self.theme.paper;
        match span.kind {
            SpanKind::Window | SpanKind::Inference => {
                self.theme.inference.mixed(other, (at % 2) as f64 * 0.3)
            }
            SpanKind::Layer => self.theme.layer.mixed(other, (at % 2) as f64 * 0.3),
            SpanKind::Idle => self.known("idle", self.theme.idle),
            SpanKind::Transition => {
                self.known("transition", self.theme.transition.mixed(other, 0.25))
            }
            SpanKind::State if span.name == "on" => self.known("on", self.theme.on),
            SpanKind::State => self.known("at rest or in a state", self.theme.idle),
            SpanKind::Phase => self.phase(&span.name),
        }
    }

    fn phase(&mut self, name: &str) -> Ink {
        let known = self.phases.iter().position(|phase| phase == name);
        let at = known.unwrap_or(self.phases.len());
        if at >= PHASES {
            return self.known("other phase", self.theme.layer);
        }
        if known.is_none() {
            self.phases.push(name.to_owned());
        }
        self.known(name, theme::phase(at, self.theme))
    }

    fn known(&mut self, name: &str, ink: Ink) -> Ink {
        if !self.key.iter().any(|(known, _)| known == name) {
            self.key.push((name.to_owned(), ink));
        }
        ink
    }
}
