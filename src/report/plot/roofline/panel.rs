//! One engine's panel on the paper.

use super::super::clip::{clip, within};
use super::super::font;
use super::super::frame::{LABEL_SIZE, MARGIN, TICK_SIZE};
use super::super::log_axis::LogAxis;
use super::super::names::{self, Named, Obstacles, grown};
use super::super::scene::{Anchor, Area, Ink, Label, Scene, Shape};
use super::super::theme::Theme;
use super::chart::{Ceiling, Chart, Mark, Role, Slope};
use crate::model::OpKind;
use std::collections::BTreeMap;

/// Text on roofs.
const ROOF_SIZE: f64 = 13.0;
/// A row of labels above the data.
const ROW: f64 = 19.0;
/// Below the data: ticks and what they are of.
pub(super) const BELOW: f64 = 56.0;
/// Marks of one kind this near each other are drawn as one.
const SAME: f64 = 1.5;
/// Names in a panel.
const NAMED: usize = 16;
const LONGEST_NAME: f64 = 190.0;
pub(super) const DASHES: (f64, f64) = (7.0, 4.0);
pub(super) const DOTS: (f64, f64) = (1.5, 3.5);
/// Opacity of a band, of what goes on past a ridge, of a mark, of the same layer at other levels.
pub(super) const BAND: f64 = 0.16;
const FAINT: f64 = 0.3;
pub(super) const OPAQUE: f64 = 0.8;
pub(super) const ELSEWHERE: f64 = 0.4;
pub(super) const DOT: f64 = 2.5;
const SMALLEST: f64 = 2.5;
/// Radius of the mark of the most energy, among few marks and among many.
const LARGEST: (f64, f64) = (24.0, 18.0);
const MANY: usize = 30;
/// Share of the scale left free around what there is.
const AIR: f64 = 1.35;

/// Layers at one place.
struct Group<'a> {
    first: &'a Mark,
    at: (f64, f64),
    energy: f64,
    count: usize,
}

/// What marks of a panel look like.
struct Look<'a> {
    inks: &'a [(OpKind, Ink)],
    /// Radius of the mark of the most energy, and that energy.
    largest: (f64, f64),
}

impl Look<'_> {
    fn ink(&self, kind: OpKind, theme: &Theme) -> Ink {
        self.inks.iter().find(|(known, _)| *known == kind).map_or(theme.frame, |(_, ink)| *ink)
    }

    fn radius(&self, energy: f64) -> f64 {
        let (radius, most) = self.largest;
        if most > 0.0 { (radius * (energy / most).sqrt()).max(SMALLEST) } else { SMALLEST }
    }
}

/// The axes of a chart in an area whose top is not known yet.
fn axes(chart: &Chart, page: &Area) -> Option<(LogAxis, (f64, f64))> {
    let top = chart.top();
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values.filter(|v| v.is_finite() && *v > 0.0).fold(None, |ends: Option<(f64, f64)>, v| {
            Some(ends.map_or((v, v), |(low, high)| (low.min(v), high.max(v))))
        })
    };
    let (low, _) = ends(&mut chart.marks.iter().map(|m| m.y).chain([top]))?;
    let parts = chart.ceilings.iter().map(|c| c.value).fold(top, f64::max);
    let (y_low, y_high) = (low.min(top / 30.0) / 1.6, parts * 1.9);
    // Slopes go up to the top edge, where their labels are.
    let slopes = chart.slopes.iter().flat_map(|s| {
        s.knees.iter().map(|k| k.0).chain([top / s.steep, y_high / s.steep]).collect::<Vec<_>>()
    });
    let (main_low, main_high) = ends(&mut chart.marks.iter().map(|m| m.x).chain(slopes))?;
    let others = chart.marks.iter().flat_map(|m| &m.others).copied();
    let near = others.filter(|x| *x > main_low / 10.0 && *x < main_high * 10.0);
    let (low, high) = ends(&mut near.chain([main_low, main_high]))?;
    // Labels of ceilings stand left of every slope.
    let widest = chart.ceilings.iter().map(|c| font::width(&c.label, ROOF_SIZE, false));
    let room = widest.fold(0.0, f64::max) + 26.0 + LARGEST.0;
    let steepest = chart.slopes.iter().map(|s| s.steep).fold(0.0, f64::max);
    let lowest = chart.ceilings.iter().map(|c| c.value).fold(f64::INFINITY, f64::min);
    let crossing = if steepest > 0.0 { lowest / steepest } else { high };
    let high = high * AIR;
    let beyond = (high / crossing).ln().max(1.0);
    let left = beyond * room / (page.width() - room).max(1.0);
    let low = (low / AIR).min(crossing / left.exp());
    Some((LogAxis { low, high, from: page.left, to: page.right }, (y_low, y_high)))
}

/// What a panel has drawn.
pub(super) struct Drawn {
    pub data: Area,
    /// Radius of the largest mark, and its energy.
    pub largest: (f64, f64),
    /// True where a mark stands for several layers.
    pub merged: bool,
}

/// Draws a chart. Without anything to show it says so.
pub(super) fn draw(
    scene: &mut Scene,
    page: &Area,
    chart: &Chart,
    inks: &[(OpKind, Ink)],
    energy: bool,
    theme: &Theme,
) -> Drawn {
    let Some((x, (low, high))) = axes(chart, page) else {
        let label =
            Label::new("no layer has operations and bytes", page.center(), 16.0, theme.quiet);
        scene.text(label.anchored(Anchor::Middle));
        return Drawn { data: *page, largest: (LARGEST.0, 0.0), merged: false };
    };
    let labels = slope_labels(chart, &x, high);
    let rows = labels.iter().map(|l| l.row + 1).max().unwrap_or(0);
    let top = page.top + rows as f64 * ROW + 6.0;
    let data = Area { top, bottom: page.bottom - BELOW, ..*page };
    let y = LogAxis { low, high, from: data.bottom, to: data.top };
    let plane = Plane { x, y, data };
    grid(scene, &plane, chart, energy, theme);
    for slope in &chart.slopes {
        plane.band(scene, &slope.band, theme);
    }
    for (at, ceiling) in chart.ceilings.iter().enumerate() {
        // One line and one band for two of one height.
        let before = chart.ceilings.iter().take(at);
        if before.clone().all(|other| other.value != ceiling.value) {
            plane.ceiling(scene, ceiling, theme);
        }
    }
    for slope in &chart.slopes {
        plane.slope(scene, slope, theme);
    }
    for course in &chart.dotted {
        let points = plane.clipped(course);
        scene.line(&points, 1.6, theme.quiet, Some(DOTS));
    }
    write_slope_labels(scene, &labels, &data, theme);
    let groups = plane.groups(&chart.marks);
    let radius = if groups.len() > MANY { LARGEST.1 } else { LARGEST.0 };
    let largest = (radius, groups.first().map_or(0.0, |group| group.energy));
    let look = &Look { inks, largest };
    plane.marks(scene, &chart.marks, &groups, look, theme);
    let texts = plane.ceiling_labels(scene, &chart.ceilings, theme);
    plane.names(scene, chart, &groups, texts, look, theme);
    Drawn { data, largest, merged: groups.iter().any(|group| group.count > 1) }
}

/// Axes and the area between them.
struct Plane {
    x: LogAxis,
    y: LogAxis,
    data: Area,
}

impl Plane {
    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.place(x), self.y.place(y))
    }

    /// A course in pixels, as much of it as is in the data area.
    fn clipped(&self, course: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let points: Vec<(f64, f64)> = course.iter().map(|p| self.at(*p)).collect();
        let mut out: Vec<(f64, f64)> = Vec::new();
        for pair in points.windows(2) {
            let Some([from, to]) = clip([pair[0], pair[1]], &self.data) else { continue };
            if out.last() != Some(&from) {
                out.push(from);
            }
            out.push(to);
        }
        out
    }

    fn band(&self, scene: &mut Scene, band: &[(f64, f64, f64)], theme: &Theme) {
        if band.len() < 2 {
            return;
        }
        let lower = band.iter().map(|(x, low, _)| self.at((*x, *low)));
        let upper = band.iter().map(|(x, _, high)| self.at((*x, *high)));
        let outline = within(&upper.chain(lower.rev()).collect::<Vec<_>>(), &self.data);
        if outline.len() > 2 {
            scene.shapes.push(Shape::Polygon(outline, theme.frame.faded(BAND)));
        }
    }

    fn ceiling(&self, scene: &mut Scene, ceiling: &Ceiling, theme: &Theme) {
        let y = self.y.place(ceiling.value);
        let from = self.x.place(ceiling.from.min(self.x.high)).max(self.data.left);
        let (left, right) = ((self.data.left, y), (self.data.right, y));
        match ceiling.role {
            Role::Part => return scene.line(&[left, right], 1.3, theme.quiet, Some(DOTS)),
            Role::Limit => return scene.line(&[left, right], 1.0, theme.text.faded(FAINT), None),
            Role::Roof => {}
        }
        if let Some((low, high)) = ceiling.band.filter(|(low, high)| low < high) {
            let at = |value: f64| self.y.place(value).clamp(self.data.top, self.data.bottom);
            let band = Area { left: from, right: right.0, top: at(high), bottom: at(low) };
            scene.fill(band, theme.frame.faded(BAND));
        }
        scene.line(&[left, (from, y)], 1.0, theme.text.faded(FAINT), None);
        let dashes = ceiling.unfounded.then_some(DASHES);
        scene.line(&[(from, y), right], 2.0, theme.text, dashes);
    }

    fn slope(&self, scene: &mut Scene, slope: &Slope, theme: &Theme) {
        let ends = [self.x.low, self.y.high / slope.steep];
        let whole: Vec<_> = ends.map(|x| (x, x * slope.steep)).to_vec();
        scene.line(&self.clipped(&whole), 1.0, theme.text.faded(FAINT), None);
        let dashes = slope.unfounded.then_some(DASHES);
        scene.line(&self.clipped(&slope.curve), 2.0, theme.text, dashes);
        for knee in &slope.knees {
            let (x, y) = self.at(*knee);
            if x > self.data.left
                && x < self.data.right
                && y > self.data.top
                && y < self.data.bottom
            {
                diamond(scene, (x, y), theme);
            }
        }
    }

    /// Above each ceiling at the left, or below it, or behind another; the paper they cover.
    fn ceiling_labels(&self, scene: &mut Scene, ceilings: &[Ceiling], theme: &Theme) -> Vec<Area> {
        let mut order: Vec<&Ceiling> = ceilings.iter().collect();
        order.sort_by(|a, b| b.value.total_cmp(&a.value));
        let mut taken: Vec<Area> = Vec::new();
        for ceiling in order {
            let y = self.y.place(ceiling.value);
            let label = |x: f64, drop: f64| {
                Label::new(&ceiling.label, (x, y + drop), ROOF_SIZE, theme.text)
            };
            let left = self.data.left + 10.0;
            let below = 5.0 + ROOF_SIZE * font::CAPITAL;
            let behind = taken.iter().map(|area| area.right + 18.0).fold(left, f64::max);
            let places = [(left, -5.0), (left, below), (behind, -5.0)];
            let heights = || ceilings.iter().map(|c| self.y.place(c.value));
            let struck =
                |area: &Area| heights().any(|y| y > area.top - 3.0 && y < area.bottom - 2.0);
            let meets = |area: &Area| taken.iter().any(|other| other.meets(area));
            let labels = places.map(|(x, drop)| label(x, drop));
            let clean = labels.iter().find(|l| !meets(&l.area()) && !struck(&l.area()));
            let free = || labels.iter().find(|l| !meets(&l.area()));
            let Some(label) = clean.or_else(free).cloned() else { continue };
            taken.push(label.area());
            scene.fill(grown(&label.area(), -2.0), theme.paper.faded(0.6));
            scene.text(label);
        }
        taken
    }

    fn groups<'a>(&self, marks: &'a [Mark]) -> Vec<Group<'a>> {
        let mut cells: BTreeMap<_, Group<'a>> = BTreeMap::new();
        for mark in marks {
            let at = self.at((mark.x, mark.y));
            let cell = [at.0, at.1].map(|length| (length / SAME).round() as i64);
            let group = cells.entry((cell, mark.kind, mark.square));
            let group = group.or_insert(Group { first: mark, at, energy: 0.0, count: 0 });
            group.energy += mark.energy;
            group.count += 1;
        }
        let mut groups: Vec<Group<'a>> = cells.into_values().collect();
        // The largest lie lowest, and have their names first.
        groups.sort_by(|a, b| b.energy.total_cmp(&a.energy));
        groups
    }

    fn marks(
        &self,
        scene: &mut Scene,
        marks: &[Mark],
        groups: &[Group<'_>],
        look: &Look<'_>,
        theme: &Theme,
    ) {
        for mark in marks {
            let y = self.y.place(mark.y);
            for x in mark.others.iter().map(|x| self.x.place(*x)) {
                if x > self.data.left + DOT && x < self.data.right - DOT {
                    let ink = look.ink(mark.kind, theme).faded(ELSEWHERE);
                    scene.shapes.push(Shape::Disc((x, y), DOT, ink));
                }
            }
        }
        for group in groups {
            let ink = look.ink(group.first.kind, theme);
            let radius = look.radius(group.energy);
            mark(scene, group.at, radius, group.first.square, ink, theme);
        }
    }

    fn names(
        &self,
        scene: &mut Scene,
        chart: &Chart,
        groups: &[Group<'_>],
        texts: Vec<Area>,
        look: &Look<'_>,
        theme: &Theme,
    ) {
        let named = |group: &Group<'_>| {
            let more =
                if group.count > 1 { format!(" +{}", group.count - 1) } else { String::new() };
            let room = LONGEST_NAME - font::width(&more, names::SIZE, false);
            let name = font::squeezed(&group.first.name, names::SIZE, false, room);
            Named { at: group.at, radius: look.radius(group.energy), name: name + &more }
        };
        let wanted: Vec<Named> = groups.iter().take(NAMED).map(named).collect();
        let line = |points: Vec<(f64, f64)>| match points.as_slice() {
            [from, .., to] => vec![[*from, *to]],
            _ => Vec::new(),
        };
        let slopes = chart.slopes.iter().flat_map(|slope| {
            let ends = [self.x.low, self.y.high / slope.steep];
            line(self.clipped(&ends.map(|x| (x, x * slope.steep))))
        });
        let ceilings = chart.ceilings.iter().map(|ceiling| {
            let y = self.y.place(ceiling.value);
            [(self.data.left, y), (self.data.right, y)]
        });
        let obstacles = Obstacles {
            texts: texts.iter().map(|area| grown(area, 3.0)).collect(),
            marks: groups.iter().map(|g| (g.at, look.radius(g.energy))).collect(),
            lines: slopes.chain(ceilings).collect(),
        };
        names::write(scene, names::place(&wanted, &self.data, obstacles), theme);
    }
}

/// A layer: a circle, or a square of the same area.
pub(super) fn mark(
    scene: &mut Scene,
    (x, y): (f64, f64),
    radius: f64,
    square: bool,
    ink: Ink,
    theme: &Theme,
) {
    if square {
        let half = radius * std::f64::consts::PI.sqrt() / 2.0;
        let area =
            |half: f64| Area { left: x - half, right: x + half, top: y - half, bottom: y + half };
        scene.fill(area(half + 0.75), theme.paper);
        scene.fill(area(half), ink.faded(OPAQUE));
    } else {
        scene.shapes.push(Shape::Disc((x, y), radius + 0.75, theme.paper));
        scene.shapes.push(Shape::Disc((x, y), radius, ink.faded(OPAQUE)));
    }
}

pub(super) fn diamond(scene: &mut Scene, (x, y): (f64, f64), theme: &Theme) {
    let outline = |reach: f64| vec![(x - reach, y), (x, y - reach), (x + reach, y), (x, y + reach)];
    scene.shapes.push(Shape::Polygon(outline(5.5), theme.text));
    scene.shapes.push(Shape::Polygon(outline(3.5), theme.paper));
}

/// The label of a slope above the data, right of where the slope leaves it.
struct SlopeLabel {
    text: String,
    x: f64,
    row: usize,
}

/// From the right to the left, each in the lowest row in which it meets no other; so no leader runs through
/// a label.
fn slope_labels(chart: &Chart, x: &LogAxis, high: f64) -> Vec<SlopeLabel> {
    let mut slopes: Vec<(f64, &Slope)> =
        chart.slopes.iter().map(|slope| (x.place(high / slope.steep), slope)).collect();
    slopes.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut starts: Vec<f64> = Vec::new();
    let mut labels = Vec::new();
    for (place, slope) in slopes {
        let room = f64::from(super::super::SIZE.0) - MARGIN - place - 4.0;
        let text = format!("{} {}", slope.names, slope.what);
        let text = font::elided(&text, ROOF_SIZE, false, room);
        let end = place + 4.0 + font::width(&text, ROOF_SIZE, false);
        let row = starts.iter().position(|start| end + 10.0 < *start).unwrap_or(starts.len());
        match starts.get_mut(row) {
            Some(start) => *start = place,
            None => starts.push(place),
        }
        // Rows above hold only labels that start further right, and their leaders do not come here.
        labels.push(SlopeLabel { text, x: place, row });
    }
    labels
}

fn write_slope_labels(scene: &mut Scene, labels: &[SlopeLabel], data: &Area, theme: &Theme) {
    for label in labels {
        let baseline = data.top - 8.0 - label.row as f64 * ROW;
        let top = baseline - ROOF_SIZE * font::CAPITAL;
        scene.rule((label.x, top), (label.x, data.top), 1.0, theme.frame);
        let at = (label.x + 4.0, baseline);
        scene.text(Label::new(&label.text, at, ROOF_SIZE, theme.text));
    }
}

/// Decades, their labels, and what the axes are of.
fn grid(scene: &mut Scene, plane: &Plane, chart: &Chart, energy: bool, theme: &Theme) {
    let Plane { x, y, data } = plane;
    for tick in x.ticks() {
        let at = x.place(tick.value);
        let (length, below) = if tick.label.is_some() { (5.0, 10.0) } else { (3.0, 0.0) };
        if let Some(text) = &tick.label {
            scene.rule((at, data.top), (at, data.bottom), 1.0, theme.gridline);
            let at = (at, data.bottom + below + TICK_SIZE * font::CAPITAL);
            scene.text(Label::new(text, at, TICK_SIZE, theme.quiet).anchored(Anchor::Middle));
        }
        scene.rule((at, data.bottom), (at, data.bottom + length), 1.0, theme.frame);
    }
    for tick in y.ticks() {
        let at = y.place(tick.value);
        let length = if tick.label.is_some() { 5.0 } else { 3.0 };
        if let Some(text) = &tick.label {
            scene.rule((data.left, at), (data.right, at), 1.0, theme.gridline);
            let at = (data.left - 10.0, at + TICK_SIZE * font::CAPITAL / 2.0);
            scene.text(Label::new(text, at, TICK_SIZE, theme.quiet).anchored(Anchor::End));
        }
        scene.rule((data.left - length, at), (data.left, at), 1.0, theme.frame);
    }
    scene.rule((data.left, data.bottom), (data.right, data.bottom), 1.0, theme.frame);
    scene.rule((data.left, data.top), (data.left, data.bottom), 1.0, theme.frame);
    let both = chart.has_macs && chart.marks.iter().any(|mark| mark.square);
    let name = if chart.has_macs { "MAC" } else { "op" };
    let squares = |unit: &str| if both { format!("; squares: op/{unit}") } else { String::new() };
    let of_x = format!("operational intensity at the level ({name}/B{})", squares("B"));
    let at = (data.center().0, data.bottom + 44.0);
    scene.text(Label::new(of_x, at, LABEL_SIZE, theme.text).anchored(Anchor::Middle));
    let (what, unit) = if energy { ("attained at the loads", "J") } else { ("attained", "s") };
    let of_y = format!("{what} ({name}/{unit}{})", squares(unit));
    let at = (MARGIN + LABEL_SIZE, data.center().1);
    scene.text(Label::new(of_y, at, LABEL_SIZE, theme.text).anchored(Anchor::Middle).upright());
}
