//! What of a line or of a polygon lies within an area.

use super::scene::Area;

/// The part of a line within an area (Liang and Barsky's clipping).
pub(super) fn clip([from, to]: [(f64, f64); 2], area: &Area) -> Option<[(f64, f64); 2]> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut enters, mut leaves) = (0.0f64, 1.0f64);
    for (run, room) in [
        (-dx, from.0 - area.left),
        (dx, area.right - from.0),
        (-dy, from.1 - area.top),
        (dy, area.bottom - from.1),
    ] {
        if run == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if run < 0.0 {
            enters = enters.max(room / run);
        } else {
            leaves = leaves.min(room / run);
        }
    }
    let at = |share: f64| (from.0 + dx * share, from.1 + dy * share);
    (enters < leaves).then(|| [at(enters), at(leaves)])
}

/// The part of a polygon within an area (Sutherland and Hodgman's clipping).
pub(super) fn within(outline: &[(f64, f64)], area: &Area) -> Vec<(f64, f64)> {
    let mut points = outline.to_vec();
    // Depth of a point inside each edge.
    let edges: [&dyn Fn((f64, f64)) -> f64; 4] =
        [&|p| p.0 - area.left, &|p| area.right - p.0, &|p| p.1 - area.top, &|p| area.bottom - p.1];
    for depth in edges {
        let ends = points.iter().cycle().skip(1);
        let mut kept = Vec::with_capacity(points.len() + 2);
        for (from, to) in points.iter().zip(ends) {
            let (here, there) = (depth(*from), depth(*to));
            if here >= 0.0 {
                kept.push(*from);
            }
            if (here < 0.0) != (there < 0.0) {
                let share = here / (here - there);
                kept.push((from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share));
            }
        }
        points = kept;
    }
    points
}
