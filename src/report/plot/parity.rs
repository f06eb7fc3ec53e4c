//! Predicted against measured: a square on logarithmic axes with the line where both are equal, and below it by
//! what factor each prediction is off, which a scale of many decades hides.

use super::font;
use super::frame::{LABEL_SIZE, MARGIN, TICK_SIZE};
use super::legend::Legend;
use super::log_axis::LogAxis;
use super::names::{self, Named, Obstacles};
use super::scene::{Anchor, Area, Label, Scene, Shape};
use super::sheet::{Sheet, data_right, nothing, size};
use super::signs::{Sign, beyond};
use super::theme::Theme;

/// A prediction of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    pub measured: f64,
    pub predicted: f64,
    /// The 90 % interval of the prediction.
    pub interval: (f64, f64),
    /// What was predicted before.
    pub before: Option<f64>,
    /// What it looks like; an outline where it is not filled.
    pub sign: Sign,
    pub filled: bool,
    /// What it is called, where it is to be named.
    pub name: Option<String>,
}

/// A panel.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Panel {
    pub title: String,
    /// Beside the title.
    pub figures: String,
    /// Unit of both axes.
    pub unit: &'static str,
    pub points: Vec<Point>,
}

/// Left of the data and below it: ticks and what they are of.
const LEFT: f64 = 84.0;
const BELOW: f64 = 56.0;
/// Above the data: the title.
const ABOVE: f64 = 30.0;
/// Right of the data.
const RIGHT: f64 = 10.0;
/// Between the square and the factors below, and their height at least.
const GAP: f64 = 14.0;
const STRIP: f64 = 150.0;
/// The factor that the lines beside the one in the middle are off by.
const OFF: f64 = 1.1;
const DASHES: (f64, f64) = (6.0, 4.0);
/// Radius of a mark and opacity of an interval, among few, among many and among a crowd.
const LOOKS: [(usize, f64, f64); 3] = [(160, 4.2, 0.35), (500, 3.4, 0.25), (usize::MAX, 2.9, 0.13)];
/// Errors that may have a tick, the most wanted first.
const ERRORS: [f64; 12] = [0.0, 1.0, -0.5, 0.1, -0.1, 0.5, -0.25, 0.25, 3.0, -0.75, -0.9, 9.0];
/// The longest line from a mark to its name.
const LEADER: f64 = 110.0;
/// The longest side of a square.
const LONGEST: f64 = 560.0;

/// Sides of the squares of panels side by side, and the height below them for the factors.
fn sides(width: f64, panels: usize) -> (f64, f64) {
    let side = (width / panels.max(1) as f64 - LEFT - RIGHT).clamp(120.0, LONGEST);
    (side, (side * 0.32).max(STRIP))
}

/// The height of panels side by side.
fn height(width: f64, panels: usize) -> f64 {
    let (side, strip) = sides(width, panels);
    ABOVE + side + GAP + strip + BELOW
}

impl Point {
    /// The logarithm of the factor that it is off by.
    fn off(&self) -> f64 {
        (self.predicted / self.measured).ln()
    }

    /// True where it has a place on logarithmic axes.
    fn is_shown(&self) -> bool {
        let fine = |value: f64| value > 0.0 && value.is_finite();
        fine(self.measured) && fine(self.predicted)
    }
}

/// A page of panels side by side with what explains them, and its size; where there is no panel it says so.
pub(super) fn page(
    sheet: Sheet,
    panels: &[Panel],
    (without, theme): (&str, &Theme),
    explain: impl FnOnce(&mut Legend<'_>),
) -> (Scene, (u32, u32)) {
    let page = Area { left: MARGIN - 10.0, right: data_right(), top: sheet.top, bottom: 0.0 };
    let page = Area { bottom: page.top + height(page.width(), panels.len()), ..page };
    let height = page.bottom + 12.0;
    let column = sheet.column(height - MARGIN);
    let mut scene = sheet.on_paper(height, theme);
    if panels.is_empty() {
        nothing(&mut scene, &page, without, theme);
    } else {
        side_by_side(&mut scene, &page, panels, theme);
        explain(&mut Legend::new(&mut scene, theme, column));
    }
    (scene, size(height))
}

/// Explains what marks belong to, the first so many.
pub(super) fn explain_signs(
    legend: &mut Legend<'_>,
    heading: &str,
    groups: &[(String, Sign)],
    most: usize,
    theme: &Theme,
) {
    legend.heading(heading);
    for (name, sign) in groups.iter().take(most) {
        legend.sample(name, |scene, at| sign.draw(scene, at, 5.0, theme));
    }
    if let Some(rest) = groups.len().checked_sub(most).filter(|rest| *rest > 0) {
        legend.note(&format!("and {rest} more"));
    }
    legend.space();
}

/// Explains the lines of a panel.
pub(super) fn explain_lines(legend: &mut Legend<'_>, theme: &Theme) {
    legend.sample("predicted as measured", |scene, at| sample_equal(scene, at, theme));
    legend.sample("10 % off", |scene, at| sample_off(scene, at, theme));
}

/// Draws panels side by side from the top left corner of an area, as high as [`height`] says.
fn side_by_side(scene: &mut Scene, page: &Area, panels: &[Panel], theme: &Theme) {
    let (side, strip) = sides(page.width(), panels.len());
    for (at, panel) in panels.iter().enumerate() {
        let left = page.left + at as f64 * (LEFT + side + RIGHT) + LEFT;
        let top = page.top + ABOVE;
        let square = Area { left, right: left + side, top, bottom: top + side };
        let below = square.bottom + GAP;
        draw(scene, square, Area { top: below, bottom: below + strip, ..square }, panel, theme);
    }
}

fn draw(scene: &mut Scene, square: Area, strip: Area, panel: &Panel, theme: &Theme) {
    let (left, right, baseline) = (square.left, square.right, square.top - ABOVE + 18.0);
    let title = Label::new(&panel.title, (left, baseline), 17.0, theme.text).bold();
    let end = title.area().right;
    scene.text(title);
    let figures = font::elided(&panel.figures, LABEL_SIZE, false, right - end - 14.0);
    let at = (right, baseline);
    scene.text(Label::new(figures, at, LABEL_SIZE, theme.quiet).anchored(Anchor::End));
    let points: Vec<&Point> = panel.points.iter().filter(|point| point.is_shown()).collect();
    let Some((low, high)) = ends(&points) else {
        return nothing(scene, &square, "nothing to compare", theme);
    };
    let x = LogAxis { low, high, from: square.left, to: square.right };
    let y = LogAxis { low, high, from: square.bottom, to: square.top };
    let [few, .., crowd] = LOOKS;
    let look = LOOKS.into_iter().find(|look| points.len() <= look.0);
    let (_, radius, faint) = if points.is_empty() { few } else { look.unwrap_or(crowd) };
    let plane = Plane { x, y, square, strip, limit: limit(&points), radius, faint };
    plane.frame(scene, panel.unit, theme);
    plane.strip_frame(scene, panel.unit, theme);
    for point in &points {
        plane.shadow(scene, point, theme);
    }
    for point in &points {
        plane.mark(scene, point, theme);
    }
    plane.names(scene, &points, theme);
}

/// Ends of both axes, with some air around what there is.
fn ends(points: &[&Point]) -> Option<(f64, f64)> {
    let values = points.iter().flat_map(|point| {
        let before = point.before.filter(|before| *before > 0.0 && before.is_finite());
        [Some(point.measured), Some(point.predicted), before].into_iter().flatten()
    });
    let (low, high) = values.fold(None, |ends: Option<(f64, f64)>, value| {
        Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    })?;
    let air = (high / low).powf(0.06).max(1.3);
    let (low, high) = (low / air, high * air);
    // A single point has a scale too.
    let wider = (10.0 / (high / low)).max(1.0).sqrt();
    Some((low / wider, high * wider))
}

/// The end of the scale of factors, as a logarithm: nearly all points lie within.
fn limit(points: &[&Point]) -> f64 {
    let given = || points.iter().filter(|point| point.filled);
    let before = given().filter_map(|point| Some((point.before? / point.measured).ln()));
    let mut sizes: Vec<f64> = given().map(|point| point.off()).chain(before).collect();
    sizes.iter_mut().for_each(|size| *size = size.abs());
    sizes.retain(|size| size.is_finite());
    sizes.sort_by(f64::total_cmp);
    let most = sizes.get(sizes.len() * 97 / 100).or(sizes.last()).copied().unwrap_or(0.0);
    (most * 1.2).clamp(1.3f64.ln(), 10f64.ln())
}

struct Plane {
    x: LogAxis,
    y: LogAxis,
    square: Area,
    strip: Area,
    /// The end of the scale of factors below.
    limit: f64,
    /// Of a mark.
    radius: f64,
    /// Opacity of an interval.
    faint: f64,
}

impl Plane {
    /// Decades, and lines where predictions are right and where they are a tenth off.
    fn frame(&self, scene: &mut Scene, unit: &str, theme: &Theme) {
        let Self { x, y, square, .. } = self;
        for tick in x.ticks_in(unit).into_iter().filter(|tick| tick.label.is_some()) {
            let at = x.place(tick.value);
            scene.rule((at, square.top), (at, square.bottom), 1.0, theme.gridline);
        }
        for tick in y.ticks_in(unit) {
            let at = y.place(tick.value);
            let length = if tick.label.is_some() { 5.0 } else { 3.0 };
            if let Some(text) = &tick.label {
                scene.rule((square.left, at), (square.right, at), 1.0, theme.gridline);
                let at = (square.left - 9.0, at + TICK_SIZE * font::CAPITAL / 2.0);
                scene.text(Label::new(text, at, TICK_SIZE, theme.quiet).anchored(Anchor::End));
            }
            scene.rule((square.left - length, at), (square.left, at), 1.0, theme.frame);
        }
        for factor in [OFF, 1.0 / OFF] {
            scene.line(&self.diagonal(factor), 1.2, theme.frame, Some(DASHES));
        }
        scene.line(&self.diagonal(1.0), 1.6, theme.text, None);
        scene.rule((square.left, square.top), (square.left, square.bottom), 1.0, theme.frame);
        scene.rule((square.left, square.bottom), (square.right, square.bottom), 1.0, theme.frame);
        let at = (square.left - LEFT + 14.0, square.center().1);
        let label = Label::new("predicted", at, LABEL_SIZE, theme.text);
        scene.text(label.anchored(Anchor::Middle).upright());
    }

    /// Where predictions are off by a factor, from edge to edge.
    fn diagonal(&self, factor: f64) -> [(f64, f64); 2] {
        let (low, high) = (self.x.low, self.x.high);
        let (from, to) = ((low / factor).max(low), (high / factor).min(high));
        [from, to].map(|x| (self.x.place(x), self.y.place(x * factor)))
    }

    fn strip_frame(&self, scene: &mut Scene, unit: &str, theme: &Theme) {
        let strip = &self.strip;
        let band = Area { top: self.strip_y(OFF.ln()), bottom: self.strip_y(-OFF.ln()), ..*strip };
        scene.fill(band, theme.shade);
        let mut taken: Vec<f64> = Vec::new();
        for error in ERRORS {
            let off = f64::ln_1p(error);
            let y = self.strip_y(off);
            let meets = taken.iter().any(|other| (other - y).abs() < TICK_SIZE + 2.0);
            if off.abs() > self.limit || meets {
                continue;
            }
            taken.push(y);
            scene.rule((strip.left, y), (strip.right, y), 1.0, theme.gridline);
            scene.rule((strip.left - 5.0, y), (strip.left, y), 1.0, theme.frame);
            let text = match error {
                0.0 => "0 %".to_owned(),
                error => format!("{:+.0} %", error * 100.0).replace('-', "−"),
            };
            let at = (strip.left - 9.0, y + TICK_SIZE * font::CAPITAL / 2.0);
            scene.text(Label::new(text, at, TICK_SIZE, theme.quiet).anchored(Anchor::End));
        }
        for tick in self.x.ticks_in(unit) {
            let x = self.x.place(tick.value);
            let length = if tick.label.is_some() { 5.0 } else { 3.0 };
            scene.rule((x, strip.bottom), (x, strip.bottom + length), 1.0, theme.frame);
            if let Some(text) = &tick.label {
                scene.rule((x, strip.top), (x, strip.bottom), 1.0, theme.gridline);
                let at = (x, strip.bottom + 10.0 + TICK_SIZE * font::CAPITAL);
                scene.text(Label::new(text, at, TICK_SIZE, theme.quiet).anchored(Anchor::Middle));
            }
        }
        for off in [OFF.ln(), -OFF.ln()] {
            let y = self.strip_y(off);
            scene.line(&[(strip.left, y), (strip.right, y)], 1.2, theme.frame, Some(DASHES));
        }
        let zero = self.strip_y(0.0);
        scene.rule((strip.left, zero), (strip.right, zero), 1.6, theme.text);
        scene.rule((strip.left, strip.top), (strip.left, strip.bottom), 1.0, theme.frame);
        scene.rule((strip.left, strip.bottom), (strip.right, strip.bottom), 1.0, theme.frame);
        let at = (strip.left - LEFT + 14.0, strip.center().1);
        let label = Label::new("error", at, LABEL_SIZE, theme.text);
        scene.text(label.anchored(Anchor::Middle).upright());
        let at = (strip.center().0, strip.bottom + 44.0);
        scene.text(Label::new("measured", at, LABEL_SIZE, theme.text).anchored(Anchor::Middle));
    }

    fn strip_y(&self, off: f64) -> f64 {
        let off = off.clamp(-self.limit, self.limit);
        self.strip.center().1 - off / self.limit * self.strip.height() / 2.0
    }

    /// The interval, and where it was before.
    fn shadow(&self, scene: &mut Scene, point: &Point, theme: &Theme) {
        let x = self.x.place(point.measured);
        let ink = point.sign.ink.faded(self.faint);
        let within = |value: f64| value.clamp(self.y.low, self.y.high);
        let (low, high) = point.interval;
        if low > 0.0 && high.is_finite() {
            let ends = [low, high].map(|value| (x, self.y.place(within(value))));
            scene.rule(ends[0], ends[1], 1.4, ink);
            let ends = [low, high].map(|value| (x, self.strip_y((value / point.measured).ln())));
            scene.rule(ends[0], ends[1], 1.4, ink);
        }
        let Some(before) = point.before.filter(|before| *before > 0.0 && before.is_finite()) else {
            return;
        };
        let was = Sign { ink: theme.quiet.faded(0.6), ..point.sign };
        was.outline(scene, (x, self.y.place(before)), 3.2, theme);
        let off = (before / point.measured).ln();
        if off.abs() <= self.limit {
            was.outline(scene, (x, self.strip_y(off)), 3.2, theme);
        } else {
            self.beyond(scene, x, off, was);
        }
    }

    fn mark(&self, scene: &mut Scene, point: &Point, theme: &Theme) {
        let x = self.x.place(point.measured);
        let put = |scene: &mut Scene, at: (f64, f64)| match point.filled {
            true => point.sign.draw(scene, at, self.radius, theme),
            false => point.sign.outline(scene, at, self.radius, theme),
        };
        put(scene, (x, self.y.place(point.predicted)));
        if point.off().abs() <= self.limit {
            put(scene, (x, self.strip_y(point.off())));
        } else {
            self.beyond(scene, x, point.off(), point.sign);
        }
    }

    /// An arrow at the edge of the factors.
    fn beyond(&self, scene: &mut Scene, x: f64, off: f64, sign: Sign) {
        let (y, towards) = match off > 0.0 {
            true => (self.strip.top + 5.0, -1.0),
            false => (self.strip.bottom - 5.0, 1.0),
        };
        beyond(scene, (x, y), (0.0, towards), sign.ink);
    }

    /// Names of those that have one, the first first.
    fn names(&self, scene: &mut Scene, points: &[&Point], theme: &Theme) {
        let at = |point: &Point| (self.x.place(point.measured), self.y.place(point.predicted));
        let mut named: Vec<&&Point> = points.iter().filter(|point| point.name.is_some()).collect();
        named.sort_by(|one, other| other.off().abs().total_cmp(&one.off().abs()));
        let wanted: Vec<Named> = named
            .into_iter()
            .map(|point| Named {
                at: at(point),
                radius: self.radius,
                name: point.name.clone().unwrap_or_default(),
            })
            .collect();
        let obstacles = Obstacles {
            marks: points.iter().map(|point| (at(point), self.radius)).collect(),
            // A name on the line hides how near it the predictions are: each counts as several.
            lines: [1.0, OFF, 1.0 / OFF].map(|factor| self.diagonal(factor)).repeat(4),
            ..Obstacles::default()
        };
        let length = |[from, to]: [(f64, f64); 2]| (to.0 - from.0).hypot(to.1 - from.1);
        let mut placed = names::place(&wanted, &self.square, obstacles);
        // Through a crowd a leader leads nowhere.
        placed.retain(|own| own.leader.is_none_or(|leader| length(leader) <= LEADER));
        // A ring says which of many it is.
        for (at, radius) in placed.iter().map(|own| own.mark) {
            let ring = circle(at, radius + 1.6);
            scene.line(&ring, 1.4, theme.text, None);
        }
        names::write(scene, placed, theme);
    }
}

/// A circle as a line.
fn circle((x, y): (f64, f64), radius: f64) -> Vec<(f64, f64)> {
    let angle = |step: u32| f64::from(step) / 24.0 * std::f64::consts::TAU;
    let point = |step| (x + radius * angle(step).cos(), y + radius * angle(step).sin());
    (0..=24).map(point).collect()
}

/// Draws what the lines of a panel mean in a legend, around a point.
fn sample_equal(scene: &mut Scene, (x, y): (f64, f64), theme: &Theme) {
    scene.line(&[(x - 14.0, y), (x + 14.0, y)], 1.6, theme.text, None);
}

/// The same of the lines that are a tenth off.
fn sample_off(scene: &mut Scene, (x, y): (f64, f64), theme: &Theme) {
    scene.line(&[(x - 14.0, y), (x + 14.0, y)], 1.2, theme.frame, Some(DASHES));
}

/// The same of an interval.
pub(super) fn sample_interval(scene: &mut Scene, (x, y): (f64, f64), sign: Sign, theme: &Theme) {
    scene.shapes.push(Shape::Line(vec![(x, y - 10.0), (x, y + 10.0)], 1.4, sign.ink.faded(0.5)));
    sign.draw(scene, (x, y), 4.2, theme);
}
