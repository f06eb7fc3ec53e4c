//! One panel: step functions in buckets over a value axis, and where nothing is known.

use super::super::axis::Axis;
use super::super::frame::{MARGIN, TICK_SIZE, gridlines, height_of, shown};
use super::super::scene::Run;
use super::super::scene::Shape;
use super::{Anchor, Area, Bucket, ChannelKind, Ink, Label, Scene, Theme, VEIL, font, hatching};

const LINE: f64 = 1.5;
/// About the height of a panel.
const USUAL: f64 = 300.0;
const NAME_SIZE: f64 = 13.0;
/// A gap this wide says that it is one.
const NAMED_GAP: f64 = 110.0;

/// One step function.
pub(super) struct Drawn<'a> {
    pub name: String,
    pub ink: Ink,
    pub buckets: &'a [Bucket],
}

/// Step functions of one unit.
pub(super) struct Panel<'a> {
    /// What stands above it; nothing where there is only one.
    pub name: String,
    pub what: &'static str,
    pub kind: ChannelKind,
    pub series: Vec<Drawn<'a>>,
}

/// What is drawn of one pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Column {
    level: f64,
    least: f64,
    most: f64,
}

impl<'a> Panel<'a> {
    pub(super) fn new(what: &'static str, kind: ChannelKind, series: Vec<Drawn<'a>>) -> Self {
        let name = match &series[..] {
            [only] => only.name.clone(),
            _ => what.to_owned(),
        };
        Self { name, what, kind, series }
    }

    /// True where so many pixels hold several levels that the picture has to tell them apart.
    pub(super) fn has_veil(&self) -> bool {
        let [only] = &self.series[..] else { return false };
        let axis = self.axis(USUAL);
        let tall = |c: &Option<Column>| {
            c.is_some_and(|c| (axis.share(c.most) - axis.share(c.least)) * USUAL > 2.0)
        };
        columns(only.buckets).iter().filter(|c| tall(c)).count() > only.buckets.len() / 20
    }

    pub(super) fn has_gap(&self) -> bool {
        !self.gaps().is_empty()
    }

    /// The axis: power and shares from zero, temperatures about what they are.
    fn axis(&self, height: f64) -> Axis {
        let values = self.series.iter().flat_map(|s| s.buckets).flat_map(|b| [b.least, b.most]);
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 0.0) };
        let (low, high) = if self.kind == ChannelKind::Temperature {
            let reach = ((high - low) * 0.08).max(0.5);
            (low - reach, high + reach)
        } else {
            let high = if low == 0.0 && high == 0.0 { 1e-3 } else { high };
            let (low, high) = (low.min(0.0), high.max(0.0));
            let reach = (high - low) * 0.05;
            (
                if low < 0.0 { low - reach } else { low },
                if high > 0.0 { high + reach } else { high },
            )
        };
        let axis = |wanted| match self.kind {
            ChannelKind::Temperature => Axis::bare(low, high, wanted, "°C"),
            ChannelKind::Share => Axis::percent(low, high, wanted),
            ChannelKind::Other if high < 1e4 => Axis::bare(low, high, wanted, ""),
            kind => Axis::within(low, high, wanted, kind.unit()),
        };
        // Steps are round, so that few of them may be fewer than asked for; one tick is no scale.
        let most = ((height / 24.0) as usize).clamp(2, 9);
        let wanted = ((height / 48.0) as usize).clamp(2, 9);
        let enough = |axis: &Axis| shown(axis).count() > 2;
        (wanted..=most.max(wanted)).map(axis).find(enough).unwrap_or_else(|| axis(most))
    }

    pub(super) fn draw(&self, scene: &mut Scene, area: &Area, theme: &Theme) {
        let axis = self.axis(area.height());
        gridlines(scene, area, &axis, theme);
        self.draw_gaps(scene, area, theme);
        for series in &self.series {
            let columns = columns(series.buckets);
            if self.series.len() == 1 {
                draw_veil(scene, &columns, area, &axis, series.ink);
            }
            draw_levels(scene, &columns, area, &axis, series.ink);
        }
        self.draw_axis(scene, area, &axis, theme);
    }

    fn draw_axis(&self, scene: &mut Scene, area: &Area, axis: &Axis, theme: &Theme) {
        scene.rule((area.left, area.top), (area.left, area.bottom), 1.0, theme.frame);
        let foot = if axis.low <= 0.0 { height_of(axis, 0.0, area) } else { area.bottom };
        scene.rule((area.left, foot), (area.right, foot), 1.0, theme.frame);
        for (value, text) in shown(axis) {
            let y = height_of(axis, *value, area);
            scene.rule((area.left - 5.0, y), (area.left, y), 1.0, theme.frame);
            let at = (area.left - 10.0, y + TICK_SIZE * font::CAPITAL / 2.0);
            scene.text(Label::new(text, at, TICK_SIZE, theme.quiet).anchored(Anchor::End));
        }
        let unit = if axis.unit.is_empty() { String::new() } else { format!(" ({})", axis.unit) };
        let text = format!("{}{unit}", self.what);
        // A low panel has its name above it; the unit must be there.
        let is_low = font::width(&text, TICK_SIZE, false) > area.height();
        let text = if is_low { axis.unit.clone() } else { text };
        let at = (MARGIN + TICK_SIZE, area.center().1);
        scene.text(Label::new(text, at, TICK_SIZE, theme.text).anchored(Anchor::Middle).upright());
        if !self.name.is_empty() {
            let name = font::squeezed(&self.name, NAME_SIZE, true, area.width());
            let ink = match &self.series[..] {
                [only] => only.ink,
                _ => theme.text,
            };
            // The colour alone would be too pale for letters.
            let ink = ink.mixed(theme.text, 0.45);
            scene.text(Label::new(name, (area.left, area.top - 5.0), NAME_SIZE, ink).bold());
        }
    }

    /// Runs of pixels in which nothing is known, and pixels in which something is not.
    fn gaps(&self) -> Vec<(usize, usize, bool)> {
        let count = self.series.iter().map(|s| s.buckets.len()).max().unwrap_or(0);
        let whole =
            self.series.iter().flat_map(|s| s.buckets).map(|b| b.known.0).max().unwrap_or(0);
        let mut gaps: Vec<(usize, usize, bool)> = Vec::new();
        for at in 0..count {
            let of = self.series.iter().filter_map(|s| s.buckets.get(at));
            let known = of.map(|bucket| bucket.known.0).max().unwrap_or(0);
            // Buckets differ by a picosecond.
            if known + 1 >= whole && known > 0 {
                continue;
            }
            let is_whole = known == 0;
            match gaps.last_mut() {
                Some(last) if last.1 == at && last.2 == is_whole => last.1 = at + 1,
                _ => gaps.push((at, at + 1, is_whole)),
            }
        }
        gaps
    }

    fn draw_gaps(&self, scene: &mut Scene, area: &Area, theme: &Theme) {
        for (from, to, is_whole) in self.gaps() {
            let (left, right) = (area.left + from as f64, area.left + to as f64);
            if !is_whole {
                let line = Area { left, right, ..*area };
                scene.fill(line, theme.frame.faded(0.35));
                continue;
            }
            hatch(scene, left, right, area.top, area.bottom, theme);
            if right - left >= NAMED_GAP && area.height() > 3.0 * NAME_SIZE {
                let at = ((left + right) / 2.0, area.center().1);
                let label = Label::new("not measured", at, NAME_SIZE, theme.quiet);
                let label = label.anchored(Anchor::Middle);
                let under = label.area();
                let under = Area { left: under.left - 4.0, right: under.right + 4.0, ..under };
                scene.fill(under, theme.paper);
                scene.text(label);
            }
        }
    }
}

/// Slanted strokes on a rectangle.
pub(super) fn hatch(
    scene: &mut Scene,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    theme: &Theme,
) {
    let runs = [Run { left, right, top, bottom }];
    scene.fill(Area { left, right, top, bottom }, theme.shade);
    scene.shapes.push(Shape::Strokes(hatching(&runs), theme.frame.faded(0.6)));
}

/// What to draw of each pixel. Where nothing but one edge between two levels lies in it, the edge is
/// put at its nearer end, so that it stays sharp.
fn columns(buckets: &[Bucket]) -> Vec<Option<Column>> {
    let flat = |at: Option<&Bucket>| at.filter(|b| b.least == b.most).map(|b| b.mean);
    let mut out = Vec::with_capacity(buckets.len());
    for (at, bucket) in buckets.iter().enumerate() {
        let Bucket { least, most, mean, known } = *bucket;
        if known.0 == 0 || !(least.is_finite() && most.is_finite()) {
            out.push(None);
            continue;
        }
        let before = at.checked_sub(1).and_then(|at| flat(buckets.get(at)));
        let after = flat(buckets.get(at + 1));
        let is_edge = match (before, after) {
            (Some(a), Some(b)) => a.min(b) == least && a.max(b) == most,
            _ => false,
        };
        let column = if is_edge {
            let level = if mean - least < most - mean { least } else { most };
            Column { level, least: level, most: level }
        } else {
            Column { level: mean, least, most }
        };
        out.push(Some(column));
    }
    out
}

fn half(length: f64) -> f64 {
    (length * 2.0).round() / 2.0
}

/// From the least to the largest of each pixel, where they are told apart.
fn draw_veil(scene: &mut Scene, columns: &[Option<Column>], area: &Area, axis: &Axis, ink: Ink) {
    let mut patch: Vec<Run> = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let edges = column.map(|c| (height_of(axis, c.most, area), height_of(axis, c.least, area)));
        match edges.filter(|(top, bottom)| bottom - top >= 1.0) {
            Some((top, bottom)) => {
                let left = area.left + at as f64;
                let (top, bottom) = (half(top), half(bottom));
                match patch.last_mut() {
                    Some(last) if (last.top, last.bottom) == (top, bottom) => {
                        last.right = left + 1.0;
                    }
                    _ => patch.push(Run { left, right: left + 1.0, top, bottom }),
                }
            }
            None if patch.is_empty() => {}
            None => scene.shapes.push(Shape::Band(std::mem::take(&mut patch), ink.faded(VEIL))),
        }
    }
    if !patch.is_empty() {
        scene.shapes.push(Shape::Band(patch, ink.faded(VEIL)));
    }
}

/// The level of each pixel as a line that breaks where nothing is known.
fn draw_levels(scene: &mut Scene, columns: &[Option<Column>], area: &Area, axis: &Axis, ink: Ink) {
    let mut line: Vec<(f64, f64)> = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let Some(column) = column else {
            if !line.is_empty() {
                scene.shapes.push(Shape::Steps(std::mem::take(&mut line), LINE, ink));
            }
            continue;
        };
        let (left, y) = (area.left + at as f64, half(height_of(axis, column.level, area)));
        match line.last_mut() {
            Some(last) if last.1 == y => last.0 = left + 1.0,
            _ => line.extend([(left, y), (left + 1.0, y)]),
        }
    }
    if !line.is_empty() {
        scene.shapes.push(Shape::Steps(line, LINE, ink));
    }
}
