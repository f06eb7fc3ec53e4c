//! Marks that are told apart by shape as well as by colour.

use super::scene::{Area, Ink, Scene, Shape};
use super::theme::{self, Theme};

/// What a mark looks like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sign {
    pub form: Form,
    pub ink: Ink,
}

/// The outline of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Disc,
    Square,
    Diamond,
    Triangle,
}

const FORMS: [Form; 4] = [Form::Disc, Form::Square, Form::Triangle, Form::Diamond];

/// Colours of the palette that stand out from light paper and from dark.
const INKS: usize = 6;

/// Opacity of a mark: those below show.
const OPAQUE: f64 = 0.85;

impl Sign {
    /// The mark number `at`: no two of the first 24 are alike.
    pub(super) fn of(at: usize, theme: &Theme) -> Self {
        let form = FORMS.get((at + at / 12) % FORMS.len()).copied().unwrap_or(Form::Disc);
        // On dark paper the deep colours of the palette are lifted.
        let lift = if theme.paper.rgb.0 < 128 { 0.2 } else { 0.0 };
        Self { form, ink: theme::load(at % INKS, theme).mixed(theme.text, lift) }
    }

    /// Draws it with a thin rim of paper, which parts it from others.
    pub(super) fn draw(self, scene: &mut Scene, at: (f64, f64), radius: f64, theme: &Theme) {
        self.form.fill(scene, at, radius + 0.8, theme.paper);
        self.form.fill(scene, at, radius, self.ink.faded(OPAQUE));
    }

    /// Draws its outline alone.
    pub(super) fn outline(self, scene: &mut Scene, at: (f64, f64), radius: f64, theme: &Theme) {
        self.form.fill(scene, at, radius, self.ink.faded(OPAQUE));
        self.form.fill(scene, at, radius - 1.4, theme.paper);
    }
}

impl Form {
    /// All forms of one radius cover about the same paper.
    fn fill(self, scene: &mut Scene, (x, y): (f64, f64), radius: f64, ink: Ink) {
        match self {
            Self::Disc => scene.shapes.push(Shape::Disc((x, y), radius, ink)),
            Self::Square => {
                let half = radius * 0.88;
                scene.fill(
                    Area { left: x - half, right: x + half, top: y - half, bottom: y + half },
                    ink,
                );
            }
            Self::Diamond => {
                let reach = radius * 1.26;
                let points = vec![(x - reach, y), (x, y - reach), (x + reach, y), (x, y + reach)];
                scene.shapes.push(Shape::Polygon(points, ink));
            }
            Self::Triangle => {
                let reach = radius * 1.3;
                let points = vec![
                    (x - reach, y + reach * 0.75),
                    (x, y - reach),
                    (x + reach, y + reach * 0.75),
                ];
                scene.shapes.push(Shape::Polygon(points, ink));
            }
        }
    }
}

/// A small triangle that points out of the data, for what lies beyond its edge.
pub(super) fn beyond(scene: &mut Scene, (x, y): (f64, f64), towards: (f64, f64), ink: Ink) {
    let (along, across) = (4.5, 3.5);
    let tip = (x + towards.0 * along, y + towards.1 * along);
    let side = (towards.1 * across, towards.0 * across);
    let points = vec![tip, (x + side.0, y + side.1), (x - side.0, y - side.1)];
    scene.shapes.push(Shape::Polygon(points, ink));
}

#[cfg(test)]
mod tests {
    use super::super::theme::LIGHT;
    use super::*;

    #[test]
    fn two_dozen_marks_are_told_apart() {
        let signs: Vec<Sign> = (0..24).map(|at| Sign::of(at, &LIGHT)).collect();
        for (at, one) in signs.iter().enumerate() {
            assert!(signs.iter().skip(at + 1).all(|other| other != one), "{at}");
        }
    }
}
