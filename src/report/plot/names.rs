//! Names beside marks, placed so that none covers another.
//!
//! One after the other, the most important first, each takes the best of the places around its mark: near,
//! off other marks and off lines. A place that meets a name, leaves the paper or has a leader cross a name is
//! none; a mark without a place has no name. The same marks give the same places.

use super::clip::clip;
use super::font;
use super::scene::{Area, Label, Scene};
use super::theme::Theme;

/// Size of a name.
pub(super) const SIZE: f64 = 12.0;
/// Paper between a name and others.
const APART: f64 = 3.0;
/// Directions that are tried, and how far out.
const DIRECTIONS: usize = 24;
const DISTANCES: [f64; 11] = [3.0, 10.0, 20.0, 34.0, 50.0, 70.0, 95.0, 125.0, 160.0, 200.0, 250.0];
/// A name further out than this has a leader.
const LEADER: f64 = 9.0;
/// What a pixel of distance costs, a pixel of a mark that is covered, and a line that is crossed.
const COST: (f64, f64, f64) = (1.0, 0.8, 14.0);

/// A mark with the name that it asks for.
#[derive(Debug, Clone)]
pub(super) struct Named {
    pub at: (f64, f64),
    pub radius: f64,
    pub name: String,
}

/// A name at its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Placed {
    pub name: String,
    /// The mark, with its radius.
    pub mark: ((f64, f64), f64),
    /// The paper it covers.
    pub area: Area,
    /// From the mark to the name, where that is far, or others are as near.
    pub leader: Option<[(f64, f64); 2]>,
}

/// What names keep off.
#[derive(Debug, Default)]
pub(super) struct Obstacles {
    /// Texts: no name meets them.
    pub texts: Vec<Area>,
    /// Marks: names keep off where they can.
    pub marks: Vec<((f64, f64), f64)>,
    /// Lines, likewise.
    pub lines: Vec<[(f64, f64); 2]>,
}

/// Places the names of marks, the first first, within `data`.
pub(super) fn place(wanted: &[Named], data: &Area, mut obstacles: Obstacles) -> Vec<Placed> {
    let mut placed: Vec<Placed> = Vec::new();
    for named in wanted {
        let (width, height) =
            (font::width(&named.name, SIZE, false), (font::ASCENT + font::DESCENT) * SIZE);
        let mark = (named.at, named.radius);
        let crowded = obstacles.marks.iter().any(|other| is_near(mark, *other));
        let mut best: Option<(f64, Placed)> = None;
        for (far, distance) in DISTANCES.into_iter().enumerate() {
            for direction in 0..DIRECTIONS {
                let area = beside(named, distance, direction, width, height);
                let leader = (distance > LEADER || crowded).then(|| leader(named, &area));
                if !is_free(&area, leader, data, &obstacles, &placed) {
                    continue;
                }
                let cost = cost(&area, leader, distance, direction, &obstacles);
                if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                    let name = named.name.clone();
                    best = Some((cost, Placed { name, mark, area, leader }));
                }
            }
            // Further out is only dearer, once some place costs no more than its distance.
            let next = DISTANCES.get(far + 1).copied().unwrap_or(f64::INFINITY);
            if best.as_ref().is_some_and(|(cost, _)| *cost < next * COST.0) {
                break;
            }
        }
        if let Some((_, found)) = best {
            obstacles.texts.push(grown(&found.area, APART));
            placed.push(found);
        }
    }
    placed
}

/// True for another mark so near that a name beside the one could be the other's.
fn is_near((at, radius): ((f64, f64), f64), (other, other_radius): ((f64, f64), f64)) -> bool {
    let apart = (at.0 - other.0).hypot(at.1 - other.1);
    apart > 0.0 && apart < radius + other_radius + LEADER
}

/// Draws names at their places: leaders below all of them, each name on paper that what lies below shines through.
pub(super) fn write(scene: &mut Scene, placed: Vec<Placed>, theme: &Theme) {
    for leader in placed.iter().filter_map(|own| own.leader) {
        scene.line(&leader, 0.8, theme.quiet, None);
    }
    for Placed { name, area, .. } in placed {
        scene.fill(grown(&area, -1.0), theme.paper.faded(0.72));
        let at = (area.left, area.top + font::ASCENT * SIZE);
        scene.text(Label::new(name, at, SIZE, theme.text));
    }
}

/// The box of a name whose nearest point lies `distance` off the mark in a direction.
fn beside(named: &Named, distance: f64, direction: usize, width: f64, height: f64) -> Area {
    let angle = direction as f64 / DIRECTIONS as f64 * std::f64::consts::TAU;
    let (x, y) = (angle.cos(), angle.sin());
    let reach = named.radius + distance;
    let (near_x, near_y) = (named.at.0 + reach * x, named.at.1 + reach * y);
    // To the sides the box hangs on its edge, above and below on its middle.
    let left = near_x - width * (0.5 - 0.5 * x.clamp(-0.5, 0.5) * 2.0);
    let top = near_y - height * (0.5 - 0.5 * y.clamp(-0.5, 0.5) * 2.0);
    Area { left, top, right: left + width, bottom: top + height }
}

/// From the rim of the mark to the nearest point of the box.
fn leader(named: &Named, area: &Area) -> [(f64, f64); 2] {
    let (x, y) = named.at;
    // Ends of text boxes have some air above and below the letters.
    let to = (x.clamp(area.left, area.right), y.clamp(area.top + 2.0, area.bottom - 1.0));
    let length = (to.0 - x).hypot(to.1 - y).max(1e-9);
    let rim = (named.radius / length).min(1.0);
    [(x + (to.0 - x) * rim, y + (to.1 - y) * rim), to]
}

fn is_free(
    area: &Area,
    leader: Option<[(f64, f64); 2]>,
    data: &Area,
    obstacles: &Obstacles,
    placed: &[Placed],
) -> bool {
    let inside = area.left >= data.left + 2.0
        && area.right <= data.right - 2.0
        && area.top >= data.top + 2.0
        && area.bottom <= data.bottom - 2.0;
    inside
        && obstacles.texts.iter().all(|text| !text.meets(area))
        && placed.iter().filter_map(|p| p.leader).all(|other| clip(other, area).is_none())
        && leader.is_none_or(|own| obstacles.texts.iter().all(|text| clip(own, text).is_none()))
}

fn cost(
    area: &Area,
    leader: Option<[(f64, f64); 2]>,
    distance: f64,
    direction: usize,
    obstacles: &Obstacles,
) -> f64 {
    let covered: f64 = obstacles.marks.iter().map(|(at, radius)| overlap(area, *at, *radius)).sum();
    let lines = obstacles.lines.iter().filter(|line| clip(**line, area).is_some()).count() as f64;
    let marks = leader.map_or(0, |own| {
        let hit =
            |(at, radius): &&((f64, f64), f64)| clip(own, &around(*at, *radius * 0.7)).is_some();
        obstacles.marks.iter().filter(hit).count()
    });
    // Of equally good places the one to the right is read most easily.
    let side = direction.min(DIRECTIONS - direction) as f64 * 0.15;
    distance * COST.0 + covered * COST.1 + lines * COST.2 + marks as f64 * 2.0 + side
}

fn around((x, y): (f64, f64), radius: f64) -> Area {
    Area { left: x - radius, right: x + radius, top: y - radius, bottom: y + radius }
}

/// Pixels of a mark's square that a box covers.
fn overlap(area: &Area, at: (f64, f64), radius: f64) -> f64 {
    let mark = around(at, radius);
    let width = area.right.min(mark.right) - area.left.max(mark.left);
    let height = area.bottom.min(mark.bottom) - area.top.max(mark.top);
    width.max(0.0) * height.max(0.0)
}

pub(super) fn grown(area: &Area, by: f64) -> Area {
    Area {
        left: area.left - by,
        right: area.right + by,
        top: area.top - by / 2.0,
        bottom: area.bottom + by / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DATA: Area = Area { left: 100.0, top: 50.0, right: 1200.0, bottom: 800.0 };

    proptest! {
        #[test]
        fn no_name_covers_another_and_no_leader_runs_through_one(
            marks in proptest::collection::vec((110.0..1190.0f64, 60.0..790.0f64, 2.0..25.0f64, 1usize..30), 0..60),
        ) {
            let wanted: Vec<Named> = marks
                .iter()
                .map(|(x, y, radius, length)| Named { at: (*x, *y), radius: *radius, name: "m".repeat(*length) })
                .collect();
            let obstacles = || Obstacles {
                texts: vec![Area { left: 100.0, top: 50.0, right: 400.0, bottom: 90.0 }],
                marks: marks.iter().map(|(x, y, radius, _)| ((*x, *y), *radius)).collect(),
                lines: vec![[(100.0, 800.0), (850.0, 50.0)]],
            };
            let placed = place(&wanted, &DATA, obstacles());
            prop_assert_eq!(&placed, &place(&wanted, &DATA, obstacles()));
            for (at, one) in placed.iter().enumerate() {
                prop_assert!(one.area.left >= DATA.left && one.area.right <= DATA.right);
                prop_assert!(one.area.top >= DATA.top && one.area.bottom <= DATA.bottom);
                prop_assert!(obstacles().texts.iter().all(|text| !text.meets(&one.area)));
                for (other_at, other) in placed.iter().enumerate() {
                    prop_assert!(at == other_at || !one.area.meets(&other.area));
                    let leads = other.leader.is_some_and(|leader| clip(leader, &one.area).is_some());
                    prop_assert!(at == other_at || !leads);
                }
            }
        }
    }

    #[test]
    fn a_mark_that_stands_alone_has_its_name_at_its_right_without_a_leader() {
        let wanted = [Named { at: (600.0, 400.0), radius: 10.0, name: "conv".into() }];
        let placed = place(&wanted, &DATA, Obstacles::default());
        assert_eq!(placed.len(), 1);
        assert!(placed[0].leader.is_none() && (placed[0].area.left - 613.0).abs() < 1e-9);
    }

    #[test]
    fn in_a_crowd_a_line_says_whose_name_it_is() {
        let named = Named { at: (600.0, 400.0), radius: 4.0, name: "conv".into() };
        let beside = |other: (f64, f64)| {
            let marks = vec![(named.at, 4.0), (other, 4.0)];
            let obstacles = Obstacles { marks, ..Obstacles::default() };
            place(std::slice::from_ref(&named), &DATA, obstacles).remove(0)
        };
        let [from, to] = beside((608.0, 400.0)).leader.unwrap();
        assert!(((from.0 - 600.0).hypot(from.1 - 400.0) - 4.0).abs() < 1e-9);
        assert!((to.0 - 600.0).hypot(to.1 - 400.0) > 4.0);
        assert_eq!(beside((700.0, 400.0)).leader, None);
    }

    #[test]
    fn a_crowd_names_its_most_important() {
        let crowd: Vec<Named> = (0..12)
            .map(|at| Named {
                at: (600.0 + at as f64, 400.0),
                radius: 8.0,
                name: format!("layer_{at}"),
            })
            .collect();
        let placed = place(&crowd, &DATA, Obstacles::default());
        // Not all have a place.
        let names: Vec<&str> = placed.iter().map(|p| p.name.as_str()).collect();
        assert!(
            names.len() >= 6 && names.starts_with(&["layer_0", "layer_1", "layer_2"]),
            "{names:?}"
        );
    }
}
