//! A picture as a list of shapes, independent of what paints it.
//!
//! Lengths are pixels of the finished picture, y downwards. A list can be asked questions that a
//! bitmap cannot: whether two labels overlap, whether a text leaves the picture.

use super::font;

/// A colour with its opacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ink {
    pub rgb: (u8, u8, u8),
    pub alpha: f64,
}

impl Ink {
    pub(super) const fn solid(rgb: (u8, u8, u8)) -> Self {
        Self { rgb, alpha: 1.0 }
    }

    pub(super) fn faded(self, alpha: f64) -> Self {
        Self { alpha: self.alpha * alpha, ..self }
    }

    /// This colour with a share of another.
    pub(super) fn mixed(self, other: Self, share: f64) -> Self {
        let mix =
            |a: u8, b: u8| (f64::from(a) * (1.0 - share) + f64::from(b) * share).round() as u8;
        let ((r, g, b), (s, h, c)) = (self.rgb, other.rgb);
        Self { rgb: (mix(r, s), mix(g, h), mix(b, c)), alpha: self.alpha }
    }
}

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Area {
    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// True where the two share some paper.
    pub(super) fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    pub(super) fn center(&self) -> (f64, f64) {
        ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0)
    }
}

/// Where a text stands relative to its point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A line of text on its baseline.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label {
    pub text: String,
    /// The anchor's point on the baseline.
    pub at: (f64, f64),
    /// Size of the em.
    pub size: f64,
    pub bold: bool,
    pub anchor: Anchor,
    /// True when it reads from bottom to top.
    pub upright: bool,
    pub ink: Ink,
}

impl Label {
    pub(super) fn new(text: impl Into<String>, at: (f64, f64), size: f64, ink: Ink) -> Self {
        let (bold, anchor, upright) = (false, Anchor::Start, false);
        Self { text: text.into(), at, size, bold, anchor, upright, ink }
    }

    pub(super) fn anchored(self, anchor: Anchor) -> Self {
        Self { anchor, ..self }
    }

    pub(super) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(super) fn upright(self) -> Self {
        Self { upright: true, ..self }
    }

    /// The paper it covers.
    pub(super) fn area(&self) -> Area {
        let width = font::width(&self.text, self.size, self.bold);
        let before = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let (above, below) = (font::ASCENT * self.size, font::DESCENT * self.size);
        let (x, y) = self.at;
        if self.upright {
            let bottom = y + before;
            Area { left: x - above, right: x + below, top: bottom - width, bottom }
        } else {
            let left = x - before;
            Area { left, right: left + width, top: y - above, bottom: y + below }
        }
    }
}

/// One piece of a band, from `left` to `right`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Run {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

/// What a picture is made of.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// A filled rectangle.
    Fill(Area, Ink),
    /// A filled area between two step functions.
    Band(Vec<Run>, Ink),
    /// A step function as a line of some width.
    Steps(Vec<(f64, f64)>, f64, Ink),
    /// A line through points, of some width.
    Line(Vec<(f64, f64)>, f64, Ink),
    /// A filled polygon.
    Polygon(Vec<(f64, f64)>, Ink),
    /// A filled circle.
    Disc((f64, f64), f64, Ink),
    /// Thin slanted strokes.
    Strokes(Vec<[(f64, f64); 2]>, Ink),
    /// A text.
    Text(Label),
}

/// A picture.
#[derive(Debug, Clone, Default)]
pub(super) struct Scene {
    pub shapes: Vec<Shape>,
}

impl Scene {
    pub(super) fn fill(&mut self, area: Area, ink: Ink) {
        if area.width() > 0.0 && area.height() > 0.0 {
            self.shapes.push(Shape::Fill(area, ink));
        }
    }

    /// A horizontal or vertical line of a given width, as a rectangle around it.
    pub(super) fn rule(&mut self, from: (f64, f64), to: (f64, f64), width: f64, ink: Ink) {
        let half = width / 2.0;
        let (across, along) = if from.1 == to.1 { (0.0, half) } else { (half, 0.0) };
        let area = Area {
            left: from.0.min(to.0) - across,
            right: from.0.max(to.0) + across,
            top: from.1.min(to.1) - along,
            bottom: from.1.max(to.1) + along,
        };
        self.fill(area, ink);
    }

    /// A line through points, broken into dashes of a length and gaps of another where there are any.
    pub(super) fn line(
        &mut self,
        points: &[(f64, f64)],
        width: f64,
        ink: Ink,
        dashes: Option<(f64, f64)>,
    ) {
        let Some((dash, gap)) = dashes else {
            self.shapes.push(Shape::Line(points.to_vec(), width, ink));
            return;
        };
        let mut open: Vec<(f64, f64)> = Vec::new();
        // What is left of the dash, or of the gap.
        let (mut is_dash, mut left) = (true, dash);
        for pair in points.windows(2) {
            let [mut from, to] = [pair[0], pair[1]];
            loop {
                let length = (to.0 - from.0).hypot(to.1 - from.1);
                if open.is_empty() {
                    open.push(from);
                }
                if length <= left {
                    left -= length;
                    open.push(to);
                    break;
                }
                let share = left / length;
                from = (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
                open.push(from);
                let ended = std::mem::take(&mut open);
                if is_dash {
                    self.shapes.push(Shape::Line(ended, width, ink));
                }
                is_dash = !is_dash;
                left = if is_dash { dash } else { gap };
            }
        }
        if is_dash && open.len() > 1 {
            self.shapes.push(Shape::Line(open, width, ink));
        }
    }

    pub(super) fn text(&mut self, label: Label) {
        if !label.text.is_empty() {
            self.shapes.push(Shape::Text(label));
        }
    }
}
