//! The operating point of each layer that costs the least energy under a deadline.
//!
//! minimise `sum_i e_i(k_i) + sum_i E(k_i-1, k_i) + P_slack (D - t)` subject to
//! `t = sum_i t_i(k_i) + sum_i T(k_i-1, k_i) <= D`
//!
//! Symbols: `e_i`, `t_i` energy \[J\] and time \[s\] of layer `i` at point `k`; `E`, `T` of a change of
//! point; `D` \[s\] deadline; `P_slack` \[W\] what is drawn in what is left of it. A shortest path under a
//! resource constraint, solved in two steps. First its Lagrangian: with time priced at `lambda` \[W\] the
//! best path is found layer by layer, and no schedule costs less than `min (e + lambda t) - lambda D`; the
//! price goes to where the best paths on either side of the deadline meet (G. Handler and I. Zang, "A dual
//! algorithm for the constrained shortest path problem", Networks 10, 1980). Then labels: of all schedules
//! of the first layers that end at a point, those which no other beats in both time and energy, less those
//! that by the same price can lead to nothing better than what is known. The result is exact unless a point
//! has more labels than it may keep. Then the most promising stay by the same measure, and the first that
//! was dropped bounds what the optimum can be below what was found.

mod labels;
mod lagrangian;

use super::law_error::{LawError, not_negative};
use crate::units::{Joules, Seconds, Watts};

/// Most layers, points, and labels that a point may keep.
const MOST: usize = 1_000_000;

/// A time and an energy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OppCost {
    /// Time \[s\].
    pub time: Seconds,
    /// Energy \[J\].
    pub energy: Joules,
}

/// Layers to be run one after the other by a deadline.
#[derive(Debug, Clone, PartialEq)]
pub struct OppScheduling {
    /// Points.
    points: usize,
    /// Cost of a layer at a point, layer by layer.
    layers: Vec<OppCost>,
    /// Cost of a change, by the point before and then the one after.
    changes: Vec<OppCost>,
    /// The point before the first layer, where a change from it counts.
    start: Option<usize>,
    deadline: Seconds,
    slack: Watts,
}

/// A point a layer.
#[derive(Debug, Clone, PartialEq)]
pub struct OppSchedule {
    /// The point of each layer.
    pub points: Vec<usize>,
    /// Time of layers and changes \[s\].
    pub time: Seconds,
    /// Energy, of the slack too \[J\].
    pub energy: Joules,
    /// No schedule that keeps the deadline costs less than this \[J\]; the energy itself where the schedule is
    /// proven to be the best.
    pub bound: Joules,
}

impl OppCost {
    /// Nothing.
    pub const ZERO: Self = Self { time: Seconds::ZERO, energy: Joules::ZERO };

    fn check(&self, what: [&'static str; 2], entry: usize) -> Result<(), LawError> {
        not_negative(what[0], entry, self.time.0)?;
        if self.energy.0.is_finite() {
            return Ok(());
        }
        // What a change gives back is below zero.
        let (what, value) = (what[1], self.energy.0);
        Err(LawError::OutOfRange { what, entry, value, range: "finite" })
    }
}

impl std::ops::Add for OppCost {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { time: self.time + other.time, energy: self.energy + other.energy }
    }
}

impl OppScheduling {
    /// Labels that a point may keep: sixty layers at seven points need three hundred.
    pub const LABELS: usize = 2000;

    /// Layers with their cost at each point, in the order of points; the cost of each change, by the point
    /// before and then the one after (nothing between equal ones); the point that stands before the first
    /// layer; the deadline, and what is drawn in the slack before it.
    ///
    /// # Errors
    ///
    /// No layer or point, layers or changes with other numbers of points, a value out of range.
    pub fn new(
        layers: &[Vec<OppCost>],
        changes: &[Vec<OppCost>],
        start: Option<usize>,
        (deadline, slack): (Seconds, Watts),
    ) -> Result<Self, LawError> {
        let points = changes.len();
        if layers.is_empty() {
            return Err(LawError::Empty("layer"));
        }
        if points == 0 {
            return Err(LawError::Empty("operating point"));
        }
        if layers.len().saturating_mul(points) > MOST {
            let count = layers.len().saturating_mul(points);
            return Err(LawError::TooMany { what: "layers times points", count, limit: MOST });
        }
        for (rows, what) in [
            (layers, ["time of a layer", "energy of a layer"]),
            (changes, ["time of a change", "energy of a change"]),
        ] {
            for (index, row) in rows.iter().enumerate() {
                if row.len() != points {
                    let (what, value) = ("number of points", row.len() as f64);
                    let range = "the number of points that changes are stated for";
                    return Err(LawError::OutOfRange { what, entry: index + 1, value, range });
                }
                row.iter().try_for_each(|cost| cost.check(what, index + 1))?;
            }
        }
        if let Some(place) = start.filter(|place| *place >= points) {
            let (what, value) = ("the point before the first layer", place as f64);
            return Err(LawError::OutOfRange { what, entry: 1, value, range: "one of the points" });
        }
        not_negative("deadline", 1, deadline.0)?;
        not_negative("power of the slack", 1, slack.0)?;
        let (layers, changes) = (layers.concat(), changes.concat());
        Ok(Self { points, layers, changes, start, deadline, slack })
    }

    /// The schedule of least energy that keeps the deadline. `most_labels` is how many partial schedules a
    /// point may keep after each layer ([`Self::LABELS`] is a good number): with enough of them the result is
    /// the optimum, with fewer it has a bound. Each takes 32 bytes a layer and point at most.
    ///
    /// # Errors
    ///
    /// [`LawError::Beyond`] where even the fastest schedule is late.
    pub fn best(&self, most_labels: usize) -> Result<OppSchedule, LawError> {
        let priced = self.priced()?;
        if !priced.can_gain() {
            return Ok(self.schedule(priced.found, None));
        }
        let (found, dropped) = self.labelled(&priced, most_labels.clamp(1, MOST));
        Ok(self.schedule(found, Some(self.whole(dropped.max(priced.bound)))))
    }

    /// The schedule that runs all layers at one point.
    pub fn at_one_point(&self, point: usize) -> OppSchedule {
        let points = vec![point.min(self.points - 1); self.count()];
        self.schedule(points, None)
    }

    /// Whether a time keeps the deadline, up to the rounding of its sum.
    fn in_time(&self, time: f64) -> bool {
        time <= self.deadline.0 * (1.0 + 1e-12)
    }

    fn schedule(&self, points: Vec<usize>, bound: Option<Joules>) -> OppSchedule {
        let (time, energy) = (Seconds(self.sum(&points).0), self.energy(&points));
        OppSchedule { points, time, energy, bound: bound.map_or(energy, |b| b.min(energy)) }
    }

    /// Layers.
    fn count(&self) -> usize {
        self.layers.len() / self.points
    }

    /// Costs of a layer over all points.
    fn layer(&self, layer: usize) -> &[OppCost] {
        self.layers.get(layer * self.points..(layer + 1) * self.points).unwrap_or(&[])
    }

    /// Costs of changes from a point to all.
    fn from(&self, point: usize) -> &[OppCost] {
        self.changes.get(point * self.points..(point + 1) * self.points).unwrap_or(&[])
    }

    fn change(&self, before: usize, point: usize) -> OppCost {
        self.from(before).get(point).copied().unwrap_or(OppCost::ZERO)
    }

    /// Cost of the change before the first layer.
    fn first(&self, point: usize) -> OppCost {
        self.start.map_or(OppCost::ZERO, |start| self.change(start, point))
    }

    /// Energy beyond what slack would draw in the same time, in joules.
    fn net(&self, cost: OppCost) -> f64 {
        (cost.energy - self.slack * cost.time).0
    }

    /// A net energy with the slack of the whole deadline.
    fn whole(&self, net: f64) -> Joules {
        Joules(net) + self.slack * self.deadline
    }

    /// Time and net energy of a schedule.
    fn sum(&self, points: &[usize]) -> (f64, f64) {
        let mut before = None;
        let mut sum = OppCost::ZERO;
        for (layer, point) in points.iter().copied().enumerate() {
            let change = match before {
                None => self.first(point),
                Some(before) => self.change(before, point),
            };
            sum = sum + change + self.layer(layer).get(point).copied().unwrap_or(OppCost::ZERO);
            before = Some(point);
        }
        (sum.time.0, self.net(sum))
    }

    fn energy(&self, points: &[usize]) -> Joules {
        self.whole(self.sum(points).1)
    }
}

#[cfg(test)]
mod tests;
