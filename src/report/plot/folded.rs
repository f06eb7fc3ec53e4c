//! The profile of one inference: mean power by phase, its standard error, and layers with how sure
//! their edges are.

use super::SIZE;
use super::axis::Axis;
use super::buckets::Grid;
use super::font;
use super::frame::{
    LABEL_SIZE, LEFT, LEGEND, MARGIN, gridlines, heading, height_of, time_axis, value_labels,
};
use super::legend::Legend;
use super::regions::Regions;
use super::scene::{Anchor, Area, Label, Run, Scene, Shape};
use super::strip::{GAP, row_label};
use super::theme::{self, DARK, LIGHT, Theme};
use crate::capture::{Assigned, Folded};
use crate::trace::{Span, SpanKind, Trace};
use crate::units::{Seconds, SimTime, engineering};

const LINE: f64 = 1.6;
const BAND: f64 = 0.32;
const SURE_SIZE: f64 = 11.5;
const SURE_ROW: f64 = 18.0;
/// Edges more probable than this are whole lines, those less than the other dots.
const SURE: f64 = 0.9;
const DOUBTFUL: f64 = 0.5;
/// A profile whose least is above this share of its most hides its steps on an axis from zero.
const FLAT: f64 = 0.5;

/// What to draw of a folded inference.
#[derive(Debug, Clone)]
pub struct FoldPicture<'a> {
    /// The headline.
    pub title: String,
    /// Lines below it, at most four.
    pub subtitle: Vec<String>,
    /// The profile.
    pub folded: &'a Folded,
    /// Its layers, where a model is given.
    pub layers: Option<&'a [Assigned]>,
    /// Light text on dark paper.
    pub dark: bool,
}

pub(super) fn compose(picture: &FoldPicture<'_>) -> Scene {
    let theme = if picture.dark { &DARK } else { &LIGHT };
    let (width, height) = (f64::from(SIZE.0), f64::from(SIZE.1));
    let mut scene = Scene::default();
    scene.fill(Area { left: 0.0, top: 0.0, right: width, bottom: height }, theme.paper);
    let top = heading(&mut scene, &picture.title, &picture.subtitle, theme);
    let right = width - MARGIN - LEGEND - 30.0;
    let to = instant(picture.folded.period);
    let grid = Grid { from: SimTime::ZERO, to, count: (right - LEFT) as usize };
    let page = Area { left: LEFT, right: LEFT + grid.count as f64, top, bottom: height - 68.0 };

    let layers = picture.layers.unwrap_or_default();
    let regions = Regions::of(&spans(layers, to), &grid, LEFT);
    let sure = if regions.is_some() { SURE_ROW } else { 0.0 };
    let band = regions.as_ref().map_or(0.0, |regions| regions.height);
    let data = Area { top: page.top + band + sure + GAP, ..page };
    let axis = power_axis(picture.folded, data.height());
    if let Some(regions) = &regions {
        let names = Area { bottom: page.top + band, ..page };
        row_label(&mut scene, regions.kind.name(), &names, theme);
        regions.draw_shade(&mut scene, &data, theme);
        regions.draw_names(&mut scene, &names, theme);
        let row = Area { top: names.bottom, bottom: names.bottom + SURE_ROW, ..page };
        row_label(&mut scene, "edge", &row, theme);
        draw_confidence(&mut scene, layers, &grid, &row, theme);
    }
    gridlines(&mut scene, &data, &axis, theme);
    if regions.is_some() {
        draw_edges(&mut scene, layers, &grid, &data, theme);
    }
    draw_profile(&mut scene, picture.folded, &data, &axis, theme);
    let below = Axis { low: axis.low, high: axis.high, ..axis.clone() };
    foot_and_labels(&mut scene, &data, &below, theme);
    time_axis(&mut scene, &page, SimTime::ZERO, to, theme);

    let column = Area { left: width - MARGIN - LEGEND, right: width - MARGIN, ..page };
    let column = Area { bottom: height - MARGIN, ..column };
    let mut legend = Legend::new(&mut scene, theme, column);
    explain(&mut legend, picture, &axis, regions.is_some(), theme);
    scene
}

fn instant(at: Seconds) -> SimTime {
    SimTime::from_seconds(at).unwrap_or_default()
}

/// Layers as spans of a trace.
fn spans(layers: &[Assigned], end: SimTime) -> Trace {
    let span = |layer: &Assigned| Span {
        kind: SpanKind::Layer,
        name: layer.name.clone(),
        track: String::new(),
        inference: None,
        start: instant(layer.start),
        end: instant(layer.end),
    };
    Trace { spans: layers.iter().map(span).collect(), end, ..Trace::default() }
}

/// From zero, unless the steps of the profile are small beside its level.
fn power_axis(folded: &Folded, height: f64) -> Axis {
    let bins = folded.power.iter().zip(&folded.error);
    let bounds = bins.flat_map(|(power, error)| [power.0 - error.0, power.0 + error.0]);
    let known = bounds.filter(|value| value.is_finite());
    let (low, high) =
        known.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    let (low, high) = if low < high { (low, high) } else { (0.0, high.max(1e-3)) };
    let low = if low > FLAT * high { low } else { low.min(0.0) };
    let reach = (high - low) * 0.06;
    let low = if low == 0.0 { 0.0 } else { low - reach };
    let high = high + reach;
    let wanted = ((height / 70.0) as usize).clamp(3, 9);
    Axis { low, high, ..Axis::around(low, high, wanted, "W") }
}

/// The axis; where zero is not on it, its foot is the end of the paper and no value.
fn foot_and_labels(scene: &mut Scene, data: &Area, axis: &Axis, theme: &Theme) {
    if axis.low <= 0.0 {
        value_labels(scene, data, axis, "power", theme);
        return;
    }
    let mut apart = Scene::default();
    value_labels(&mut apart, data, axis, "power", theme);
    // The line at zero would lie below the paper.
    let inside = |shape: &Shape| !matches!(shape, Shape::Fill(area, _) if area.top > data.bottom);
    scene.shapes.extend(apart.shapes.into_iter().filter(inside));
    scene.rule((data.left, data.bottom), (data.right, data.bottom), 1.0, theme.frame);
}

fn draw_profile(scene: &mut Scene, folded: &Folded, data: &Area, axis: &Axis, theme: &Theme) {
    let ink = theme::load(0, theme);
    let width = data.width() / folded.power.len().max(1) as f64;
    let mut runs = Vec::new();
    let mut line: Vec<(f64, f64)> = Vec::new();
    let flush = |scene: &mut Scene, runs: &mut Vec<Run>, line: &mut Vec<(f64, f64)>| {
        if !line.is_empty() {
            scene.shapes.push(Shape::Band(std::mem::take(runs), ink.faded(BAND)));
            scene.shapes.push(Shape::Steps(std::mem::take(line), LINE, ink));
        }
    };
    for (bin, (power, error)) in folded.power.iter().zip(&folded.error).enumerate() {
        if !power.0.is_finite() {
            flush(scene, &mut runs, &mut line);
            continue;
        }
        let (left, right) = (data.left + bin as f64 * width, data.left + (bin + 1) as f64 * width);
        let error = if error.0.is_finite() { error.0 } else { 0.0 };
        let (top, bottom) =
            (height_of(axis, power.0 + error, data), height_of(axis, power.0 - error, data));
        runs.push(Run { left, right, top, bottom: bottom.min(data.bottom) });
        let y = height_of(axis, power.0, data);
        line.extend([(left, y), (right, y)]);
    }
    flush(scene, &mut runs, &mut line);
}

/// Edges between layers, whole where they are sure, and how far they may lie off.
fn draw_edges(scene: &mut Scene, layers: &[Assigned], grid: &Grid, data: &Area, theme: &Theme) {
    for layer in layers.iter().skip(1) {
        let x = LEFT + grid.place(instant(layer.start));
        let dashes = match layer.confidence {
            sure if sure >= SURE => None,
            fair if fair >= DOUBTFUL => Some((6.0, 4.0)),
            _ => Some((1.5, 4.0)),
        };
        scene.line(&[(x, data.top), (x, data.bottom)], 1.0, theme.quiet, dashes);
        let reach = layer.start_error.0 / grid.to.seconds().0 * data.width();
        let (left, right) = ((x - reach).max(data.left), (x + reach).min(data.right));
        if right - left > 2.0 {
            let y = data.bottom - 6.0;
            scene.rule((left, y), (right, y), 2.0, theme.transition.faded(0.8));
        }
    }
}

/// The probability of each edge, where there is room for it.
fn draw_confidence(scene: &mut Scene, layers: &[Assigned], grid: &Grid, row: &Area, theme: &Theme) {
    let mut last = f64::NEG_INFINITY;
    for layer in layers.iter().skip(1) {
        let x = LEFT + grid.place(instant(layer.start));
        let text = percent(layer.confidence);
        let half = font::width(&text, SURE_SIZE, false) / 2.0;
        if x - half < last + 4.0 || x + half > row.right {
            continue;
        }
        last = x + half;
        let at = (x, row.center().1 + SURE_SIZE * font::CAPITAL / 2.0);
        scene.text(Label::new(text, at, SURE_SIZE, theme.quiet).anchored(Anchor::Middle));
    }
}

fn percent(share: f64) -> String {
    // What is not certain is never written as if it were.
    let percent = (100.0 * share).round();
    let percent = if share < 1.0 { percent.min(99.0) } else { percent };
    format!("{percent:.0} %")
}

fn explain(
    legend: &mut Legend<'_>,
    picture: &FoldPicture<'_>,
    axis: &Axis,
    has_layers: bool,
    theme: &Theme,
) {
    let folded = picture.folded;
    let text = |value: f64, unit: &str| engineering(value, unit).replace('-', "−");
    let known = folded.power.iter().filter(|power| power.0.is_finite());
    let (sum, count) = known.fold((0.0, 0usize), |(sum, count), p| (sum + p.0, count + 1));
    let mean = sum / count.max(1) as f64;
    let samples: u64 = folded.samples.iter().sum();
    legend.figures(&[
        ("period", format!("{} ± {}", folded.period, folded.period_error)),
        ("energy", text(mean * folded.period.0, "J")),
        ("mean power", text(mean, "W")),
        ("inferences laid over", folded.inferences.to_string()),
        ("samples", samples.to_string()),
        ("phase bins", folded.power.len().to_string()),
        ("not explained", format!("{:.1} %", 100.0 * folded.unexplained)),
    ]);
    let ink = theme::load(0, theme);
    legend.sample("mean; one standard error about it", |scene, (x, y)| {
        let band = Area { left: x - 15.0, right: x + 7.0, top: y - 6.0, bottom: y + 6.0 };
        scene.fill(band, ink.faded(BAND));
        scene.rule((x - 15.0, y), (x + 7.0, y), LINE, ink);
    });
    if has_layers {
        let edge = |legend: &mut Legend<'_>, text: &str, dashes| {
            legend.sample(text, |scene, (x, y)| {
                let points = [(x - 15.0, y), (x + 7.0, y)];
                scene.line(&points, 1.0, theme.quiet, dashes);
            });
        };
        edge(legend, "edge within a bin: 90 % or more", None);
        edge(legend, "50 to 90 %", Some((6.0, 4.0)));
        edge(legend, "less", Some((1.5, 4.0)));
        legend.sample("standard error of the edge", |scene, (x, y)| {
            scene.rule((x - 15.0, y), (x + 7.0, y), 2.0, theme.transition.faded(0.8));
        });
    }
    if axis.low > 0.0 {
        legend.note("the axis of power does not start at zero");
    } else {
        legend.space();
    }
    layers(legend, picture.layers.unwrap_or_default());
}

/// Layers by energy, with their mean power.
fn layers(legend: &mut Legend<'_>, layers: &[Assigned]) {
    let mut ranked: Vec<&Assigned> = layers.iter().collect();
    ranked.sort_by(|a, b| b.energy.0.total_cmp(&a.energy.0));
    let rows: Vec<(String, String)> = ranked
        .into_iter()
        .map(|layer| {
            let value = format!("{}   {}", layer.energy, layer.mean).replace('-', "−");
            let room = LEGEND - font::width(&value, LABEL_SIZE, false) - 14.0;
            (font::squeezed(&layer.name, LABEL_SIZE, false, room), value)
        })
        .collect();
    if !rows.is_empty() {
        legend.heading("layers: energy, mean power");
        legend.figures(&rows.iter().map(|r| (r.0.as_str(), r.1.clone())).collect::<Vec<_>>());
    }
}
