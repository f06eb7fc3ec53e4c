//! Live memory over layers: a bar each while it runs, its lower part what is still alive after it,
//! and at the bottom of that what is kept between runs.

use super::SIZE;
use super::axis::{Axis, round_step};
use super::font;
use super::frame::{
    LABEL_SIZE, LEFT, LEGEND, MARGIN, TICK_SIZE, gridlines, heading, height_of, value_labels,
};
use super::legend::Legend;
use super::regions::shared_prefix;
use super::scene::{Anchor, Area, Ink, Label, Scene, Shape};
use super::theme::{self, Theme};
use crate::model::{LayerProfile, LiveTensor, ModelProfile};
use crate::report::tables::order_text;
use crate::units::Bytes;

const NAME_SIZE: f64 = 12.0;
const LONGEST_NAME: f64 = 170.0;
/// A bar this wide has room for its name, upright below it.
const NAMED: f64 = 14.0;
/// Wider bars have a gap between them.
const PARTED: f64 = 4.0;
const WIDEST_BAR: f64 = 90.0;
const PEAK_SIZE: f64 = 15.0;
/// Tensors listed beside the bars.
const LISTED: usize = 14;
const LINE_WIDTH: f64 = 1.5;

/// One bar: a layer, or so many that fall on one pixel, of which the most counts.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bar {
    left: f64,
    right: f64,
    during: u64,
    after: u64,
}

/// The colours of a bar: given up when its layer ends, still alive after it, kept between runs.
#[derive(Clone, Copy)]
struct Inks {
    during: Ink,
    after: Ink,
    state: Ink,
}

impl Inks {
    fn of(ink: Ink, theme: &Theme) -> Self {
        let (during, state) = (ink.mixed(theme.paper, 0.55), theme.quiet.mixed(theme.paper, 0.6));
        Self { during, after: ink, state }
    }
}

pub(super) fn compose(profile: &ModelProfile, theme: &Theme) -> Scene {
    let (width, height) = (f64::from(SIZE.0), f64::from(SIZE.1));
    let mut scene = Scene::default();
    scene.fill(Area { left: 0.0, top: 0.0, right: width, bottom: height }, theme.paper);
    let title = format!("{}: activations alive while each layer runs", profile.name);
    let order = format!("layers in the order they run: {}", order_text(profile));
    let top = heading(&mut scene, &title, &[order], theme) + PEAK_SIZE + 16.0;
    let names = names(profile);
    let right = width - MARGIN - LEGEND - 30.0;
    let data = Area { left: LEFT, right, top, bottom: height - 62.0 - names_height(&names) };

    let live = &profile.memory.chosen;
    let file = &profile.memory.file;
    let most = live.peak_bytes.max(file.peak_bytes) as f64;
    let wanted = ((data.height() / 70.0) as usize).clamp(3, 9);
    let axis = Axis::bytes(most * 1.02, wanted);
    gridlines(&mut scene, &data, &axis, theme);
    let bars = bars(&live.during_bytes, &live.after_bytes, &data);
    let (usual, peak) = (theme::load(0, theme), theme.transition);
    let state = profile.memory.state_bytes;
    draw(&mut scene, &data, &axis, &bars, state, Inks::of(usual, theme));
    draw_peak(&mut scene, &data, &axis, profile, Inks::of(peak, theme));
    let differs = file.order != live.order;
    if differs {
        let [file, live] = [file, live].map(|of| steps(&of.during_bytes, &of.after_bytes, &data));
        draw_difference(&mut scene, &data, &axis, &file, &live, theme);
    }
    value_labels(&mut scene, &data, &axis, "live activations", theme);
    layer_axis(&mut scene, &data, profile.layers.len(), &names, theme);

    let area = Area { left: width - MARGIN - LEGEND, right: width - MARGIN, top, bottom: height };
    let mut legend = Legend::new(&mut scene, theme, Area { bottom: height - MARGIN, ..area });
    explain(&mut legend, profile, differs, Inks::of(usual, theme), area.width());
    scene
}

fn bars(during: &[u64], after: &[u64], data: &Area) -> Vec<Bar> {
    bars_of(during, after, data, true)
}

/// The same without gaps.
fn steps(during: &[u64], after: &[u64], data: &Area) -> Vec<Bar> {
    bars_of(during, after, data, false)
}

/// As many bars as layers, or as pixels where there are more layers.
fn bars_of(during: &[u64], after: &[u64], data: &Area, parted: bool) -> Vec<Bar> {
    let layers = during.len();
    let count = layers.min(data.width() as usize);
    let most = |of: &[u64], from: usize, to: usize| {
        of.get(from..to).unwrap_or_default().iter().copied().max().unwrap_or(0)
    };
    let bar = |at: usize| {
        let (from, to) = (at * layers / count, (at + 1) * layers / count);
        let Area { left, right, .. } = place(at, count, data, parted);
        Bar { left, right, during: most(during, from, to), after: most(after, from, to) }
    };
    (0..count).map(bar).collect()
}

/// Where bar number `at` of `count` stands.
fn place(at: usize, count: usize, data: &Area, parted: bool) -> Area {
    let width = data.width() / count.max(1) as f64;
    let gap = match parted {
        true if width > WIDEST_BAR => width - WIDEST_BAR * 0.85,
        true if width >= PARTED => width * 0.15,
        _ => 0.0,
    };
    let left = data.left + at as f64 * width;
    Area { left: left + gap / 2.0, right: left + width - gap / 2.0, ..*data }
}

fn draw(scene: &mut Scene, data: &Area, axis: &Axis, bars: &[Bar], state: u64, inks: Inks) {
    for bar in bars {
        let area = |low: u64, high: u64| Area {
            left: bar.left,
            right: bar.right,
            top: height_of(axis, high as f64, data),
            bottom: height_of(axis, low as f64, data),
        };
        let after = bar.after.min(bar.during);
        scene.fill(area(after, bar.during), inks.during);
        let state = state.min(after);
        scene.fill(area(state, after), inks.after);
        if state > 0 {
            scene.fill(area(0, state), inks.state);
        }
    }
}

/// The tops of other bars as a line, where they differ.
fn draw_difference(
    scene: &mut Scene,
    data: &Area,
    axis: &Axis,
    other: &[Bar],
    bars: &[Bar],
    theme: &Theme,
) {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (other, own) in other.iter().zip(bars) {
        if other.during != own.during {
            let y = height_of(axis, other.during as f64, data);
            points.extend([(other.left, y), (other.right, y)]);
        } else if !points.is_empty() {
            let line = std::mem::take(&mut points);
            scene.shapes.push(Shape::Steps(line, LINE_WIDTH, theme.total));
        }
    }
    if !points.is_empty() {
        scene.shapes.push(Shape::Steps(points, LINE_WIDTH, theme.total));
    }
}

/// The bar of the peak in its own colour, with its size and name above the data.
fn draw_peak(scene: &mut Scene, data: &Area, axis: &Axis, profile: &ModelProfile, inks: Inks) {
    let live = &profile.memory.chosen;
    let (Some(at), Some(layer)) = (live.peak_at, profile.peak_layer()) else { return };
    let mut area = place(at, profile.layers.len(), data, true);
    if area.width() < 2.0 {
        // Narrower than can be seen.
        let middle = area.center().0;
        (area.left, area.right) = (middle - 1.0, middle + 1.0);
    }
    let (during, after) = (layer.live_during_bytes, layer.live_after_bytes);
    let bar = Bar { left: area.left, right: area.right, during, after };
    draw(scene, data, axis, &[bar], profile.memory.state_bytes, inks);
    let (x, y) = (area.center().0, height_of(axis, during as f64, data));
    scene.rule((x, data.top - 6.0), (x, y), 1.0, inks.after);
    let size = Bytes(live.peak_bytes as f64);
    let name = font::squeezed(&layer.layer.name, PEAK_SIZE, true, data.width() / 2.0);
    let text = format!("peak {size} in {name}");
    let half = font::width(&text, PEAK_SIZE, true) / 2.0;
    let middle = x.max(data.left + half).min(data.right.max(data.left + half) - half);
    let label =
        Label::new(text, (middle.max(data.left + half), data.top - 11.0), PEAK_SIZE, inks.after);
    scene.text(label.bold().anchored(Anchor::Middle));
}

/// Names below the bars, where there is room for them.
fn names(profile: &ModelProfile) -> Vec<String> {
    let name = |layer: &'_ LayerProfile| layer.layer.name.clone();
    short_names(profile.layers.iter().map(name).collect())
}

/// Names without what all of them start with; none where there is no room for them below the data.
pub(super) fn short_names(names: Vec<String>) -> Vec<String> {
    let room = f64::from(SIZE.0) - MARGIN - LEGEND - 30.0 - LEFT;
    if room < NAMED * names.len() as f64 {
        return Vec::new();
    }
    let prefix = shared_prefix(names.iter().map(String::as_str));
    let short = |name: &String| {
        let rest = name.get(prefix..).filter(|rest| !rest.is_empty()).unwrap_or(name);
        font::squeezed(rest, NAME_SIZE, false, LONGEST_NAME)
    };
    names.iter().map(short).collect()
}

pub(super) fn names_height(names: &[String]) -> f64 {
    names.iter().map(|name| font::width(name, NAME_SIZE, false)).fold(0.0, f64::max).ceil()
}

/// Names, or where these have no room, numbers from 1.
pub(super) fn layer_axis(
    scene: &mut Scene,
    data: &Area,
    count: usize,
    names: &[String],
    theme: &Theme,
) {
    let drop = NAME_SIZE * font::CAPITAL / 2.0;
    for (at, name) in names.iter().enumerate() {
        let x = place(at, count, data, true).center().0 + drop;
        let below = data.bottom + 8.0 + font::width(name, NAME_SIZE, false);
        scene.text(Label::new(name, (x, below), NAME_SIZE, theme.quiet).upright());
    }
    if names.is_empty() {
        for number in numbers(count) {
            let x = place(number - 1, count, data, true).center().0;
            scene.rule((x, data.bottom), (x, data.bottom + 5.0), 1.0, theme.frame);
            let at = (x, data.bottom + 10.0 + TICK_SIZE * font::CAPITAL);
            let label = Label::new(number.to_string(), at, TICK_SIZE, theme.quiet);
            scene.text(label.anchored(Anchor::Middle));
        }
    }
    let text = if count == 0 { "no layers" } else { "layers in the order they run" };
    let at = (data.center().0, f64::from(SIZE.1) - 20.0);
    scene.text(Label::new(text, at, LABEL_SIZE, theme.text).anchored(Anchor::Middle));
}

/// The first, and round numbers up to `count`.
fn numbers(count: usize) -> impl Iterator<Item = usize> {
    let step = (round_step(count as f64 / 12.0) as usize).max(1);
    let round = (1..).map(move |at| at * step).take_while(move |number| *number <= count);
    (count > 0 && step > 1).then_some(1).into_iter().chain(round)
}

fn explain(legend: &mut Legend<'_>, profile: &ModelProfile, differs: bool, inks: Inks, width: f64) {
    let memory = &profile.memory;
    let bytes = |count: u64| Bytes(count as f64).to_string();
    let mut figures = vec![("peak", bytes(memory.chosen.peak_bytes))];
    figures.push(("peak in the file's order", bytes(memory.file.peak_bytes)));
    legend.figures(&figures);
    let mut key = vec![
        ("given up when it ends".to_owned(), inks.during),
        ("alive after it too".to_owned(), inks.after),
    ];
    if memory.state_bytes > 0 {
        key.push(("kept between runs".to_owned(), inks.state));
    }
    legend.key("while a layer runs", &key);
    if differs {
        legend.line("in the file's own order, where it differs");
    }
    let tensors = memory.chosen.peak_tensors.iter();
    let (states, working): (Vec<_>, Vec<_>) = tensors.partition(|tensor| tensor.is_state);
    let listed = working.iter().take(LISTED);
    let rows: Vec<_> = listed
        .map(|tensor| {
            let size = bytes(tensor.bytes);
            let room = width - font::width(&size, LABEL_SIZE, false) - 14.0;
            (font::squeezed(&tensor.name, LABEL_SIZE, false, room), size)
        })
        .collect();
    if rows.is_empty() && states.is_empty() {
        return;
    }
    let rest = working.get(LISTED..).unwrap_or_default();
    let sum = |of: &[&LiveTensor]| bytes(of.iter().map(|t| t.bytes).fold(0, u64::saturating_add));
    let (more, kept) = (format!("and {} more", rest.len()), format!("{} states", states.len()));
    legend.heading("alive at the peak");
    let rows = rows.iter().map(|(name, size)| (name.as_str(), size.clone()));
    let more = (!rest.is_empty()).then(|| (more.as_str(), sum(rest)));
    let kept = (!states.is_empty()).then(|| (kept.as_str(), sum(&states)));
    legend.figures(&rows.chain(more).chain(kept).collect::<Vec<_>>());
}

#[cfg(test)]
mod tests;
