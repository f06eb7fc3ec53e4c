//! What a picture has around its data: a heading, and a vertical axis.

use super::SIZE;
use super::axis::Axis;
use super::font;
use super::scene::{Anchor, Area, Label, Scene};
use super::theme::Theme;
use crate::units::SimTime;

pub(super) const MARGIN: f64 = 28.0;
/// Left of the data: tick labels, the axis label, labels of rows.
pub(super) const LEFT: f64 = 116.0;
/// The column right of the data.
pub(super) const LEGEND: f64 = 320.0;
pub(super) const TICK_SIZE: f64 = 13.0;
pub(super) const LABEL_SIZE: f64 = 14.0;
const SUBTITLE_LINES: usize = 4;

/// Title and subtitle; tells where the rest may start.
pub(super) fn heading(scene: &mut Scene, title: &str, subtitle: &[String], theme: &Theme) -> f64 {
    let room = f64::from(SIZE.0) - 2.0 * MARGIN;
    let mut baseline = MARGIN + 20.0;
    if !title.is_empty() {
        let title = font::elided(title, 23.0, true, room);
        scene.text(Label::new(title, (MARGIN, baseline), 23.0, theme.text).bold());
        baseline += 26.0;
    }
    for line in subtitle.iter().take(SUBTITLE_LINES) {
        let line = font::elided(line, LABEL_SIZE, false, room);
        scene.text(Label::new(line, (MARGIN, baseline), LABEL_SIZE, theme.quiet));
        baseline += 21.0;
    }
    baseline + 2.0
}

pub(super) fn height_of(axis: &Axis, value: f64, data: &Area) -> f64 {
    data.bottom - axis.share(value) * data.height()
}

pub(super) fn shown(axis: &Axis) -> impl Iterator<Item = &(f64, String)> {
    let slack = (axis.high - axis.low) * 1e-9;
    axis.ticks.iter().filter(move |t| t.0 >= axis.low - slack && t.0 <= axis.high + slack)
}

pub(super) fn gridlines(scene: &mut Scene, data: &Area, axis: &Axis, theme: &Theme) {
    for (value, _) in shown(axis) {
        let y = height_of(axis, *value, data);
        scene.rule((data.left, y), (data.right, y), 1.0, theme.gridline);
    }
}

/// The axis left of the data, its ticks, and what it shows.
pub(super) fn value_labels(scene: &mut Scene, data: &Area, axis: &Axis, what: &str, theme: &Theme) {
    let zero = height_of(axis, 0.0, data);
    scene.rule((data.left, zero), (data.right, zero), 1.0, theme.frame);
    scene.rule((data.left, data.top), (data.left, data.bottom), 1.0, theme.frame);
    for (value, text) in shown(axis) {
        let y = height_of(axis, *value, data);
        scene.rule((data.left - 5.0, y), (data.left, y), 1.0, theme.frame);
        let at = (data.left - 10.0, y + TICK_SIZE * font::CAPITAL / 2.0);
        scene.text(Label::new(text, at, TICK_SIZE, theme.quiet).anchored(Anchor::End));
    }
    let at = (MARGIN + LABEL_SIZE, data.center().1);
    let label = Label::new(format!("{what} ({})", axis.unit), at, LABEL_SIZE, theme.text);
    scene.text(label.anchored(Anchor::Middle).upright());
}

/// Time from zero, or from the start of the range where that is far away.
pub(super) fn time_axis(scene: &mut Scene, data: &Area, from: SimTime, to: SimTime, theme: &Theme) {
    let span = to.since(from).seconds().0;
    if span == 0.0 {
        return;
    }
    let is_far = from.seconds().0 > 50.0 * span;
    let start = if is_far { 0.0 } else { from.seconds().0 };
    let axis = Axis::within(start, start + span, 10, "s");
    for (value, text) in &axis.ticks {
        let x = data.left + axis.share(*value) * data.width();
        scene.rule((x, data.bottom), (x, data.bottom + 5.0), 1.0, theme.frame);
        let at = (x, data.bottom + 10.0 + TICK_SIZE * font::CAPITAL);
        scene.text(Label::new(text, at, TICK_SIZE, theme.quiet).anchored(Anchor::Middle));
    }
    let text = match is_far {
        true => format!("time after {} s ({})", exact_seconds(from), axis.unit),
        false => format!("time ({})", axis.unit),
    };
    let at = (data.center().0, data.bottom + 46.0);
    scene.text(Label::new(text, at, LABEL_SIZE, theme.text).anchored(Anchor::Middle));
}

/// All digits down to the picosecond that are not zero.
fn exact_seconds(time: SimTime) -> String {
    let text = time.decimal_seconds();
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
