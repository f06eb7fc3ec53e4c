//! How long power stays at which level, inside windows and between them.

use super::SIZE;
use super::axis::Axis;
use super::font;
use super::frame::{
    LABEL_SIZE, LEFT, LEGEND, MARGIN, TICK_SIZE, gridlines, heading, height_of, value_labels,
};
use super::legend::Legend;
use super::scene::{Anchor, Area, Label, Scene};
use super::theme::{self, DARK, LIGHT, Theme};
use crate::trace::{Bucket, Levels};
use crate::units::{SimTime, engineering};

/// Steps of a histogram.
pub const STEPS: usize = 200;

/// What to draw of the levels of a capture.
#[derive(Debug, Clone)]
pub struct HistogramPicture<'a> {
    /// The headline.
    pub title: String,
    /// Lines below it, at most four.
    pub subtitle: Vec<String>,
    /// Time by level.
    pub levels: &'a Levels,
    /// The same stretch as one bucket, for its exact mean.
    pub whole: Bucket,
    /// Light text on dark paper.
    pub dark: bool,
}

pub(super) fn compose(picture: &HistogramPicture<'_>) -> Scene {
    let theme = if picture.dark { &DARK } else { &LIGHT };
    let (width, height) = (f64::from(SIZE.0), f64::from(SIZE.1));
    let mut scene = Scene::default();
    scene.fill(Area { left: 0.0, top: 0.0, right: width, bottom: height }, theme.paper);
    let top = heading(&mut scene, &picture.title, &picture.subtitle, theme);
    let right = width - MARGIN - LEGEND - 30.0;
    let data = Area { left: LEFT, right, top: top + 24.0, bottom: height - 68.0 };
    let levels = picture.levels;
    let known = (levels.known().0 as f64).max(1.0);
    let share = |time: &SimTime| time.0 as f64 / known;
    let bars: Vec<(f64, f64)> =
        levels.within.iter().zip(&levels.outside).map(|(a, b)| (share(a), share(b))).collect();
    let most = bars.iter().map(|bar| bar.0 + bar.1).fold(0.0, f64::max).max(1e-6) * 1.05;
    let wanted = ((data.height() / 70.0) as usize).clamp(3, 9);
    let across = Axis::percent(0.0, most, wanted);
    gridlines(&mut scene, &data, &across, theme);
    let step = data.width() / bars.len().max(1) as f64;
    let has_windows = levels.within.iter().any(|time| time.0 > 0);
    for (at, (within, outside)) in bars.iter().enumerate() {
        let (left, right) = (data.left + at as f64 * step, data.left + (at + 1) as f64 * step);
        let y = |value: f64| height_of(&across, value, &data);
        let area = |low: f64, high: f64| Area { left, right, top: y(high), bottom: y(low) };
        scene.fill(area(0.0, *within), theme::load(0, theme));
        let ink = if has_windows { theme.layer } else { theme::load(0, theme) };
        scene.fill(area(*within, within + outside), ink);
    }
    value_labels(&mut scene, &data, &across, "share of time in a step", theme);
    let power = Axis::within(levels.low.0, levels.high.0, 10, "W");
    power_axis(&mut scene, &data, &power, theme);
    mark_mean(&mut scene, &data, &power, picture.whole.mean, theme);

    let column = Area { left: width - MARGIN - LEGEND, right: width - MARGIN, ..data };
    let column = Area { top, bottom: height - MARGIN, ..column };
    explain(&mut Legend::new(&mut scene, theme, column), picture, has_windows, theme);
    scene
}

fn power_axis(scene: &mut Scene, data: &Area, axis: &Axis, theme: &Theme) {
    for (value, text) in &axis.ticks {
        let x = data.left + axis.share(*value) * data.width();
        scene.rule((x, data.bottom), (x, data.bottom + 5.0), 1.0, theme.frame);
        let at = (x, data.bottom + 10.0 + TICK_SIZE * font::CAPITAL);
        scene.text(Label::new(text, at, TICK_SIZE, theme.quiet).anchored(Anchor::Middle));
    }
    let at = (data.center().0, data.bottom + 46.0);
    let label = Label::new(format!("power ({})", axis.unit), at, LABEL_SIZE, theme.text);
    scene.text(label.anchored(Anchor::Middle));
}

/// A line at the mean, named above the data.
fn mark_mean(scene: &mut Scene, data: &Area, axis: &Axis, mean: f64, theme: &Theme) {
    let share = axis.share(mean);
    if !(0.0..=1.0).contains(&share) {
        return;
    }
    let x = data.left + share * data.width();
    scene.line(&[(x, data.top), (x, data.bottom)], 1.5, theme.total, Some((6.0, 4.0)));
    let text = format!("mean {}", engineering(mean, "W").replace('-', "−"));
    let half = font::width(&text, LABEL_SIZE, false) / 2.0;
    let x = x.clamp(data.left + half, data.right - half);
    let label = Label::new(text, (x, data.top - 8.0), LABEL_SIZE, theme.text);
    scene.text(label.anchored(Anchor::Middle));
}

fn explain(
    legend: &mut Legend<'_>,
    picture: &HistogramPicture<'_>,
    has_windows: bool,
    theme: &Theme,
) {
    let text = |value: f64, unit: &str| engineering(value, unit).replace('-', "−");
    let (whole, levels) = (&picture.whole, picture.levels);
    let step = (levels.high.0 - levels.low.0) / levels.within.len().max(1) as f64;
    legend.figures(&[
        ("time measured", text(whole.known.seconds().0, "s")),
        ("energy", text(whole.integral(), "J")),
        ("mean power", text(whole.mean, "W")),
        ("largest", text(whole.most, "W")),
        ("least", text(whole.least, "W")),
        ("a step", text(step, "W")),
    ]);
    if has_windows {
        let key = [
            ("inside windows".to_owned(), theme::load(0, theme)),
            ("outside windows".to_owned(), theme.layer),
        ];
        legend.key("time at a level", &key);
    }
}
