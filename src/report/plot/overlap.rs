//! What tests ask of every picture.

use super::scene::{Area, Label, Scene, Shape};

/// The texts of a picture.
pub(super) fn labels(scene: &Scene) -> Vec<&Label> {
    let labels = scene.shapes.iter().filter_map(|shape| match shape {
        Shape::Text(label) => Some(label),
        _ => None,
    });
    labels.collect()
}

/// True where some text has a part.
pub(super) fn says(scene: &Scene, part: &str) -> bool {
    labels(scene).iter().any(|label| label.text.contains(part))
}

/// Fails where a text meets another or leaves the paper, or a shape is nowhere.
pub(super) fn is_tidy(scene: &Scene, size: (u32, u32), of: &str) {
    let labels = labels(scene);
    let areas: Vec<Area> = labels.iter().map(|label| label.area()).collect();
    for (at, (label, area)) in labels.iter().zip(&areas).enumerate() {
        assert!(area.left >= 0.0 && area.right <= f64::from(size.0), "{of}: {label:?}");
        assert!(area.top >= 0.0 && area.bottom <= f64::from(size.1), "{of}: {label:?}");
        for (other, theirs) in labels.iter().zip(&areas).take(at) {
            assert!(!area.meets(theirs), "{of}: {label:?}\n{other:?}");
        }
    }
    let finite = |points: &[(f64, f64)]| points.iter().all(|p| p.0.is_finite() && p.1.is_finite());
    for shape in &scene.shapes {
        let fine = match shape {
            Shape::Fill(area, _) => {
                [area.left, area.right, area.top, area.bottom].iter().all(|edge| edge.is_finite())
            }
            Shape::Line(points, ..) | Shape::Polygon(points, _) | Shape::Steps(points, ..) => {
                finite(points)
            }
            Shape::Disc(at, radius, _) => finite(&[*at]) && *radius > 0.0,
            Shape::Text(label) => finite(&[label.at]),
            Shape::Band(..) | Shape::Strokes(..) => true,
        };
        assert!(fine, "{of}: {shape:?}");
    }
}
