//! What stands above and below the panels: lines of logs, windows, digital lines.

use super::super::strip::{ROW, row_label};
use super::panel::hatch;
use super::{Anchor, Area, GAP, Grid, LEFT, Label, Scene, Theme, font};
use crate::capture::{HostRole, HostWords, Matched, Measured, Summary, Window, events_of};
use crate::trace::{Level, Mark, Span, SpanKind, Teller, Trace};
use crate::units::SimTime;
use std::collections::{BTreeMap, BTreeSet};

const TEXT: f64 = 11.5;
const LINE: f64 = 15.0;
const MOST_LINES: usize = 3;
const LONGEST: f64 = 180.0;
/// Digital lines for which there is room.
const MOST_DIGITAL: usize = 8;
const HALF_ROW: f64 = 1.0;

/// The name of a window, or its number from 1.
pub(super) fn name(window: &Window, number: usize) -> String {
    if window.name.is_empty() { format!("window {}", number + 1) } else { window.name.clone() }
}

/// The windows as spans of a trace, each under the longest of its names that it has room for.
pub(super) fn windows(measured: &Measured, grid: &Grid) -> Trace {
    let span = |(number, window): (usize, &Window)| {
        let start = window.start.max(grid.from);
        let width = grid.place(window.stop.min(grid.to)) - grid.place(start);
        let full = name(window, number);
        let is_roomy = font::width(&full, 12.0, false) + 6.0 <= width;
        Span {
            kind: SpanKind::Window,
            name: if is_roomy { full } else { (number + 1).to_string() },
            track: String::new(),
            inference: None,
            start: window.start,
            end: window.stop,
        }
    };
    let spans = measured.windows.windows.iter().enumerate().map(span).collect();
    Trace { spans, end: grid.to, ..Trace::default() }
}

/// Windows as shades behind the data.
pub(super) fn shade(scene: &mut Scene, windows: &Trace, grid: &Grid, area: &Area, theme: &Theme) {
    let mut last = f64::NEG_INFINITY;
    for span in windows.spans.iter().filter(|s| s.end > grid.from && s.start < grid.to) {
        let left = LEFT + grid.place(span.start.max(grid.from));
        let right = LEFT + grid.place(span.end.min(grid.to));
        // Of many within a pixel one is enough.
        if right - last < 1.0 {
            continue;
        }
        scene.fill(Area { left: left.max(last), right, ..*area }, theme.inference.faded(0.18));
        last = right;
    }
}

/// A line of a log that has a text.
#[derive(Debug, Clone, PartialEq)]
struct Flag {
    x: f64,
    row: usize,
    text: String,
    /// True where the text stands left of its tick.
    before: bool,
}

/// Lines of logs: a tick each, and texts where there is room.
#[derive(Debug, Default)]
pub(super) struct Ticks {
    /// Pixels with a tick.
    ticks: BTreeSet<u64>,
    flags: Vec<Flag>,
}

impl Ticks {
    pub(super) fn of(marks: &[Mark], matched: Option<&Matched>, grid: &Grid) -> Self {
        let at = |mark: &Mark| match (mark.teller, matched) {
            (Teller::Meter, _) => Some(mark.at),
            (Teller::Host, Some(matched)) => matched.fit.instant_on_meter(mark.at),
            (Teller::Host, None) => None,
        };
        let placed = marks.iter().filter_map(|mark| Some((at(mark)?, mark)));
        let inside = placed.filter(|(at, _)| (grid.from..=grid.to).contains(at));
        // One mark a pixel is enough; those that tell of windows come first.
        let told: BTreeSet<SimTime> =
            matched.iter().flat_map(|m| &m.events).map(|event| event.at).collect();
        let mut by_pixel: BTreeMap<(u8, u64), (SimTime, &Mark)> = BTreeMap::new();
        let mut ticks = Self::default();
        for (at, mark) in inside {
            let pixel = grid.place(at) as u64;
            let rank = match tells_of_a_window(mark) {
                true => 0,
                // By words of the user's own.
                false if mark.teller == Teller::Host && told.contains(&mark.at) => 1,
                false => 2,
            };
            ticks.ticks.insert(pixel);
            by_pixel.entry((rank, pixel)).or_insert((at, mark));
        }
        let mut taken: [Vec<(f64, f64)>; MOST_LINES] = Default::default();
        // From right to left a text never stands in the way of the next tick.
        let mut order: Vec<_> = by_pixel.into_iter().collect();
        order.sort_by_key(|((rank, pixel), _)| (*rank, std::cmp::Reverse(*pixel)));
        for (_, (at, mark)) in order {
            ticks.flag(LEFT + grid.place(at), &mark.name, LEFT + grid.count as f64, &mut taken);
        }
        ticks
    }

    /// Puts the text into the lowest line where it and its tick cover nothing.
    fn flag(&mut self, x: f64, text: &str, right: f64, taken: &mut [Vec<(f64, f64)>; MOST_LINES]) {
        let text = font::squeezed(text, TEXT, false, LONGEST);
        let width = font::width(&text, TEXT, false);
        let before = x + 3.0 + width > right;
        let (from, to) =
            if before { (x - 3.0 - width, x + 1.0) } else { (x - 1.0, x + 3.0 + width) };
        let free = |of: &[(f64, f64)], from: f64, to: f64| {
            of.iter().all(|(a, b)| to + 3.0 <= *a || b + 3.0 <= from)
        };
        if text.is_empty() || from < LEFT - 1.0 {
            return;
        }
        for row in 0..MOST_LINES {
            let below = taken.iter().take(row).all(|line| free(line, x - 1.0, x + 1.0));
            if below && taken.get(row).is_some_and(|line| free(line, from, to)) {
                for line in taken.iter_mut().take(row) {
                    line.push((x - 1.0, x + 1.0));
                }
                if let Some(line) = taken.get_mut(row) {
                    line.push((from, to));
                }
                self.flags.push(Flag { x, row, text, before });
                return;
            }
        }
    }

    pub(super) fn height(&self) -> f64 {
        if self.ticks.is_empty() {
            return 0.0;
        }
        let rows = self.flags.iter().map(|flag| flag.row + 1).max().unwrap_or(0);
        rows as f64 * LINE + 8.0 + GAP
    }

    pub(super) fn draw(&self, scene: &mut Scene, area: &Area, theme: &Theme) {
        if self.ticks.is_empty() {
            return;
        }
        let foot = area.top + self.height() - GAP;
        let band = Area { top: area.top, bottom: foot, ..*area };
        row_label(scene, "log", &band, theme);
        for pixel in &self.ticks {
            let x = LEFT + *pixel as f64 + 0.5;
            scene.rule((x, foot - 6.0), (x, foot), 1.0, theme.frame);
        }
        for flag in &self.flags {
            let baseline = foot - 8.0 - flag.row as f64 * LINE;
            scene.rule((flag.x, baseline - 8.0), (flag.x, foot), 1.0, theme.quiet);
            let (x, anchor) = if flag.before {
                (flag.x - 3.0, Anchor::End)
            } else {
                (flag.x + 3.0, Anchor::Start)
            };
            let label = Label::new(&flag.text, (x, baseline), TEXT, theme.quiet);
            scene.text(label.anchored(anchor));
        }
    }
}

fn tells_of_a_window(mark: &Mark) -> bool {
    let events = events_of(std::slice::from_ref(mark), &HostWords::default(), mark.teller);
    events.iter().any(|event| event.role != HostRole::Pulse)
}

/// What a digital line does in one pixel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Cell {
    low: bool,
    high: bool,
    changes: bool,
}

#[derive(Debug)]
struct Row {
    name: String,
    cells: Vec<Cell>,
    /// True where only edges of one direction are kept, so that levels are not known.
    is_pulses: bool,
}

/// Digital lines as levels.
#[derive(Debug, Default)]
pub(super) struct Digital {
    rows: Vec<Row>,
    left_out: usize,
}

impl Digital {
    /// Lines that change; all where none does.
    pub(super) fn of(names: &[String], summary: &Summary, grid: &Grid) -> Self {
        let edges = |line: usize| summary.edges.iter().filter(move |edge| edge.line.0 == line);
        let mut lines: Vec<usize> =
            (0..names.len()).filter(|l| edges(*l).next().is_some()).collect();
        // Those that change within the capture are of more use than those that only have a level.
        let moves = |line: &usize| edges(*line).nth(1).is_some();
        if lines.iter().any(moves) {
            lines.retain(moves);
        }
        let row = |line: &usize| {
            let own: Vec<_> = edges(*line).map(|edge| (edge.at, edge.to)).collect();
            let name = names.get(*line).cloned().unwrap_or_default();
            row(name, &own, grid)
        };
        let rows = lines.iter().take(MOST_DIGITAL).map(row).collect();
        Self { rows, left_out: lines.len().saturating_sub(MOST_DIGITAL) }
    }

    pub(super) fn height(&self) -> f64 {
        if self.rows.is_empty() {
            return 0.0;
        }
        self.rows.len() as f64 * (ROW + GAP) + 2.0 * GAP
    }

    pub(super) fn draw(&self, scene: &mut Scene, area: &Area, theme: &Theme) {
        for (at, row) in self.rows.iter().enumerate() {
            let top = area.top + 2.0 * GAP + at as f64 * (ROW + GAP);
            let line = Area { top, bottom: top + ROW, ..*area };
            let more = if at + 1 == self.rows.len() && self.left_out > 0 {
                format!(" (+{})", self.left_out)
            } else {
                String::new()
            };
            row_label(scene, &format!("{}{more}", row.name), &line, theme);
            row.draw(scene, &line, theme);
        }
    }
}

fn row(name: String, edges: &[(SimTime, Level)], grid: &Grid) -> Row {
    let only = |level| edges.iter().all(|(_, to)| *to == level);
    let is_pulses = edges.len() > 1 && (only(Level::Low) || only(Level::High));
    let mut cells = vec![Cell::default(); grid.count];
    let stops = edges.iter().skip(1).map(|edge| edge.0).chain([grid.to]);
    for (number, ((start, level), stop)) in edges.iter().zip(stops).enumerate() {
        if stop < grid.from || *start >= grid.to {
            continue;
        }
        let from = grid.place((*start).max(grid.from)) as usize;
        let to = grid.place(stop.min(grid.to)).ceil() as usize;
        // The first edge at the very start only tells the level.
        let is_change = *start >= grid.from && (number > 0 || *start > SimTime::ZERO);
        if let Some(cell) = cells.get_mut(from).filter(|_| is_change) {
            cell.changes = true;
        }
        if is_pulses {
            continue;
        }
        for cell in cells.get_mut(from..to.min(grid.count)).into_iter().flatten() {
            cell.low |= *level == Level::Low;
            cell.high |= *level == Level::High;
        }
    }
    Row { name, cells, is_pulses }
}

impl Row {
    fn draw(&self, scene: &mut Scene, line: &Area, theme: &Theme) {
        let mut from = 0;
        for stretch in self.cells.chunk_by(|a, b| a == b) {
            let to = from + stretch.len();
            let (left, right) = (line.left + from as f64, line.left + to as f64);
            let Some(cell) = stretch.first() else { continue };
            match (cell.low, cell.high) {
                (false, false) if self.is_pulses => {
                    let foot = line.bottom - HALF_ROW;
                    scene.fill(Area { left, right, top: foot, bottom: line.bottom }, theme.frame);
                }
                (false, false) => hatch(scene, left, right, line.top, line.bottom, theme),
                (true, false) => {
                    let foot = line.bottom - HALF_ROW;
                    scene.fill(Area { left, right, top: foot, bottom: line.bottom }, theme.text);
                }
                (_, true) => {
                    scene.fill(Area { left, right, ..*line }, theme.layer);
                    let head = line.top + HALF_ROW;
                    scene.fill(Area { left, right, top: line.top, bottom: head }, theme.text);
                }
            }
            if cell.changes {
                // Many in a row are dense, not black.
                let share = if stretch.len() > 2 { 0.4 } else { 1.0 };
                scene.fill(Area { left, right, ..*line }, theme.text.faded(share));
            }
            from = to;
        }
    }
}
