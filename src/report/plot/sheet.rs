//! Paper under a heading, as tall as what comes below it.

use super::SIZE;
use super::axis::Axis;
use super::font;
use super::frame::{LABEL_SIZE, LEGEND, MARGIN, TICK_SIZE, heading, shown};
use super::scene::{Anchor, Area, Label, Scene};
use super::theme::Theme;

/// A heading whose paper is still to come.
pub(super) struct Sheet {
    head: Scene,
    /// Where the rest may start.
    pub top: f64,
}

impl Sheet {
    pub(super) fn new(title: &str, subtitle: &[String], theme: &Theme) -> Self {
        let mut head = Scene::default();
        let top = heading(&mut head, title, subtitle, theme);
        Self { head, top }
    }

    /// The heading on paper of a height.
    pub(super) fn on_paper(self, height: f64, theme: &Theme) -> Scene {
        let mut scene = Scene::default();
        let right = f64::from(SIZE.0);
        scene.fill(Area { left: 0.0, top: 0.0, right, bottom: height.ceil() }, theme.paper);
        scene.shapes.extend(self.head.shapes);
        scene
    }

    /// The column at the right of the paper, down to a height.
    pub(super) fn column(&self, bottom: f64) -> Area {
        let right = f64::from(SIZE.0) - MARGIN;
        Area { left: right - LEGEND, top: self.top, right, bottom }
    }
}

/// The right end of data that has a column beside it.
pub(super) fn data_right() -> f64 {
    f64::from(SIZE.0) - MARGIN - LEGEND - 30.0
}

/// The size of a picture of a height.
pub(super) fn size(height: f64) -> (u32, u32) {
    (SIZE.0, (height.ceil() as u32).max(1))
}

/// The ticks of an axis below the data with what it shows, and lines up through the data.
pub(super) fn across(scene: &mut Scene, data: &Area, axis: &Axis, what: &str, theme: &Theme) {
    for (value, text) in shown(axis) {
        let x = data.left + axis.share(*value) * data.width();
        scene.rule((x, data.top), (x, data.bottom), 1.0, theme.gridline);
        scene.rule((x, data.bottom), (x, data.bottom + 5.0), 1.0, theme.frame);
        let at = (x, data.bottom + 10.0 + TICK_SIZE * font::CAPITAL);
        scene.text(Label::new(text, at, TICK_SIZE, theme.quiet).anchored(Anchor::Middle));
    }
    scene.rule((data.left, data.bottom), (data.right, data.bottom), 1.0, theme.frame);
    let at = (data.center().0, data.bottom + 44.0);
    scene.text(Label::new(what, at, LABEL_SIZE, theme.text).anchored(Anchor::Middle));
}

/// Every other row on a shade.
pub(super) fn striped(scene: &mut Scene, data: &Area, rows: usize, theme: &Theme) {
    let height = data.height() / rows.max(1) as f64;
    for row in (1..rows).step_by(2) {
        let top = data.top + row as f64 * height;
        scene.fill(Area { top, bottom: top + height, ..*data }, theme.shade);
    }
}

/// Says in the middle of an area why there is nothing to see.
pub(super) fn nothing(scene: &mut Scene, area: &Area, text: &str, theme: &Theme) {
    let label = Label::new(text, area.center(), 16.0, theme.quiet);
    scene.text(label.anchored(Anchor::Middle));
}
