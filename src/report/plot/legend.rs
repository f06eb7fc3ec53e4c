//! The column beside the data: components with their energy and share, figures, what colours mean.

use super::font;
use super::scene::{Anchor, Area, Ink, Label, Scene, Shape};
use super::stack::{LEAST, Series, Stack, VEIL};
use super::theme::Theme;
use crate::units::engineering;

const SIZE: f64 = 14.0;
const LINE: f64 = 24.0;
const SWATCH: f64 = 12.0;
/// Room for an energy and for a share at the right end of a line.
const ENERGY: f64 = 80.0;
const SHARE: f64 = 66.0;

/// Writes line after line.
pub(super) struct Legend<'a> {
    scene: &'a mut Scene,
    theme: &'a Theme,
    area: Area,
    baseline: f64,
}

impl<'a> Legend<'a> {
    pub(super) fn new(scene: &'a mut Scene, theme: &'a Theme, area: Area) -> Self {
        Self { scene, theme, area, baseline: area.top + SIZE }
    }

    /// Components from the top of the stack down, as the eye meets them, and their sum.
    pub(super) fn energies(&mut self, stack: &Stack) {
        self.heading("energy by component");
        for series in stack.series.iter().rev() {
            if self.swatch(series) {
                self.amounts(&series.name, series.energy, stack.energy, false);
            }
        }
        self.scene.rule(
            (self.area.left, self.baseline - SIZE - 1.0),
            (self.area.right, self.baseline - SIZE - 1.0),
            1.0,
            self.theme.gridline,
        );
        self.baseline += 4.0;
        self.amounts("total", stack.energy, stack.energy, true);
        self.baseline += LINE / 2.0;
    }

    /// A name and a value a line.
    pub(super) fn figures(&mut self, figures: &[(&str, String)]) {
        for (name, value) in figures {
            if self.is_full() {
                return;
            }
            self.write(name, self.area.left, Anchor::Start, self.theme.quiet, false);
            self.write(value, self.area.right, Anchor::End, self.theme.text, false);
            self.baseline += LINE;
        }
        self.baseline += LINE / 2.0;
    }

    /// The total's line, and the extremes within a pixel where they are drawn.
    pub(super) fn lines(&mut self, with_extremes: bool) {
        if self.is_full() {
            return;
        }
        let middle = self.baseline - SIZE * font::CAPITAL / 2.0;
        let (left, right) = (self.area.left, self.area.left + 22.0);
        if with_extremes {
            let veil = Area { left, right, top: middle - 7.0, bottom: middle };
            self.scene.fill(veil, self.theme.total.faded(VEIL));
            let (from, to) = ((left, middle + 7.0), (right, middle + 7.0));
            self.scene.rule(from, to, 1.0, self.theme.total.faded(LEAST));
        }
        self.line(if with_extremes { "total: peak, mean, least" } else { "total" });
    }

    /// What the line over the data means.
    pub(super) fn line(&mut self, text: &str) {
        if self.is_full() {
            return;
        }
        let middle = self.baseline - SIZE * font::CAPITAL / 2.0;
        let (left, right) = (self.area.left, self.area.left + 22.0);
        let points = vec![(left, middle), (right, middle)];
        self.scene.shapes.push(Shape::Steps(points, 1.5, self.theme.total));
        self.write(text, right + 8.0, Anchor::Start, self.theme.text, false);
        self.baseline += 1.5 * LINE;
    }

    /// What a mark means that `draw` puts around a point.
    pub(super) fn sample(&mut self, text: &str, draw: impl FnOnce(&mut Scene, (f64, f64))) {
        if self.is_full() {
            return;
        }
        let middle = self.baseline - SIZE * font::CAPITAL / 2.0;
        draw(self.scene, (self.area.left + 15.0, middle));
        let left = self.area.left + 38.0;
        let text = font::elided(text, SIZE, false, self.area.right - left);
        self.write(&text, left, Anchor::Start, self.theme.text, false);
        self.baseline += LINE;
    }

    /// A line of its own that matters less.
    pub(super) fn note(&mut self, text: &str) {
        if self.is_full() {
            return;
        }
        let text = font::elided(text, SIZE, false, self.area.width());
        self.write(&text, self.area.left, Anchor::Start, self.theme.quiet, false);
        self.baseline += 1.5 * LINE;
    }

    /// Room before what comes next.
    pub(super) fn space(&mut self) {
        self.baseline += LINE / 2.0;
    }

    /// What colours mean.
    pub(super) fn key(&mut self, heading: &str, key: &[(String, Ink)]) {
        if key.is_empty() {
            return;
        }
        self.heading(heading);
        for (name, ink) in key {
            if self.is_full() {
                return;
            }
            self.square(*ink);
            let left = self.area.left + SWATCH + 10.0;
            let name = font::elided(name, SIZE, false, self.area.right - left);
            self.write(&name, left, Anchor::Start, self.theme.text, false);
            self.baseline += LINE;
        }
        self.baseline += LINE / 2.0;
    }

    pub(super) fn heading(&mut self, text: &str) {
        if !self.is_full() {
            self.write(text, self.area.left, Anchor::Start, self.theme.quiet, true);
            self.baseline += LINE + 2.0;
        }
    }

    fn is_full(&self) -> bool {
        self.baseline + SIZE * font::DESCENT > self.area.bottom
    }

    /// The colour of a component, as the stack shows it; false when the column is full.
    fn swatch(&mut self, series: &Series) -> bool {
        if self.is_full() {
            return false;
        }
        if series.is_loss {
            self.square(series.ink);
            let square = self.square_area();
            let strokes = [4.0, 8.0, 12.0].map(|d: f64| {
                let (left, top) = (square.left, square.top);
                [(left, top + d), (left + d, top)]
            });
            self.scene.shapes.push(Shape::Strokes(strokes.to_vec(), self.theme.frame));
        } else {
            self.square(series.ink);
        }
        true
    }

    fn square_area(&self) -> Area {
        let middle = self.baseline - SIZE * font::CAPITAL / 2.0;
        Area {
            left: self.area.left,
            right: self.area.left + SWATCH,
            top: middle - SWATCH / 2.0,
            bottom: middle + SWATCH / 2.0,
        }
    }

    fn square(&mut self, ink: Ink) {
        let square = self.square_area();
        self.scene.fill(square, ink);
    }

    fn amounts(&mut self, name: &str, energy: f64, total: f64, bold: bool) {
        let left = self.area.left + if bold { 0.0 } else { SWATCH + 10.0 };
        let right = self.area.right;
        let room = right - SHARE - ENERGY - left;
        let name = font::elided(name, SIZE, bold, room);
        self.write(&name, left, Anchor::Start, self.theme.text, bold);
        let energy_text = engineering(energy, "J").replace('-', "−");
        self.write(&energy_text, right - SHARE, Anchor::End, self.theme.text, bold);
        // That the total is all of itself needs no saying.
        if total != 0.0 && !bold {
            let percent = 100.0 * energy / total;
            // Where power is delivered too, shares are large; their decimals say nothing.
            let decimals = usize::from(percent.abs() < 99.95);
            let share = format!("{percent:.decimals$} %").replace('-', "−");
            self.write(&share, right, Anchor::End, self.theme.quiet, bold);
        }
        self.baseline += LINE;
    }

    fn write(&mut self, text: &str, x: f64, anchor: Anchor, ink: Ink, bold: bool) {
        let label = Label::new(text, (x, self.baseline), SIZE, ink).anchored(anchor);
        self.scene.text(if bold { label.bold() } else { label });
    }
}
