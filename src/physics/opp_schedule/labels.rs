//! All partial schedules that can still lead to the best one.

use super::lagrangian::{Priced, ToGo};
use super::{OppCost, OppScheduling};

/// A schedule of the layers so far.
#[derive(Debug, Clone, Copy)]
struct Label {
    time: f64,
    net: f64,
    /// Where it comes from, in the list of all.
    from: usize,
    point: usize,
}

/// What a label needs to be worth keeping.
struct Worth<'a> {
    scheduling: &'a OppScheduling,
    /// Least net energy to the end at the price of the bound.
    priced: ToGo,
    price: f64,
    /// Least time to the end.
    fastest: ToGo,
    /// Net energy of the best that is known.
    known: f64,
}

impl Worth<'_> {
    /// The least net energy that time and net energy before `layer` is run at `point` can lead to.
    fn least(&self, (time, net): (f64, f64), layer: usize, point: usize) -> f64 {
        net + self.price * (time - self.scheduling.deadline.0) + self.priced.at(layer, point)
    }

    /// Whether they can lead to a schedule that keeps the deadline for less than is known. Rounding must
    /// not drop the best itself.
    fn can_win(&self, sum: (f64, f64), layer: usize, point: usize) -> bool {
        let rounding = 1e-12 * (self.known.abs() + self.price * self.scheduling.deadline.0);
        self.scheduling.in_time(sum.0 + self.fastest.at(layer, point))
            && self.least(sum, layer, point) <= self.known + rounding
    }
}

impl OppScheduling {
    /// The best schedule among labels, at least as good as the priced one, and the least net energy that
    /// labels which were dropped for their number could have led to.
    pub(super) fn labelled(&self, priced: &Priced, most: usize) -> (Vec<usize>, f64) {
        let worth = Worth {
            scheduling: self,
            priced: self.to_go(priced.price, 1.0),
            price: priced.price,
            fastest: self.to_go(1.0, 0.0),
            known: priced.net,
        };
        // Labels that were kept, layer after layer; the latest are those of the layer before.
        let mut all: Vec<Label> = Vec::new();
        let mut latest = 0..0;
        let mut dropped = f64::INFINITY;
        let mut fresh = Vec::new();
        for layer in 0..self.count() {
            let before = latest.clone();
            let first = all.len();
            for point in 0..self.points {
                fresh.clear();
                let lost = self.extend(&worth, (layer, point), (&all, before.clone()), &mut fresh);
                dropped = dropped.min(thin(&mut fresh, worth.price, most) + lost);
                all.extend_from_slice(&fresh);
            }
            latest = first..all.len();
        }
        let ends = all.get(latest).unwrap_or(&[]);
        let best = ends.iter().min_by(|a, b| a.net.total_cmp(&b.net));
        match best {
            Some(best) if best.net < priced.net => (self.back(&all, *best), dropped),
            _ => (priced.found.clone(), dropped),
        }
    }

    /// Labels of a layer at a point from those of the layer before. Returns what is to be added to the net
    /// energy of such a label, its time priced, for the least that it can lead to.
    fn extend(
        &self,
        worth: &Worth<'_>,
        (layer, point): (usize, usize),
        (all, before): (&[Label], std::ops::Range<usize>),
        fresh: &mut Vec<Label>,
    ) -> f64 {
        let own = self.layer(layer).get(point).copied().unwrap_or(OppCost::ZERO);
        let own = (own.time.0, self.net(own));
        let mut add = |sum: (f64, f64), from| {
            if worth.can_win(sum, layer, point) {
                fresh.push(Label { time: sum.0 + own.0, net: sum.1 + own.1, from, point });
            }
        };
        if layer == 0 {
            let change = self.first(point);
            add((change.time.0, self.net(change)), usize::MAX);
        }
        for (index, label) in all.iter().enumerate().take(before.end).skip(before.start) {
            let change = self.change(label.point, point);
            add((label.time + change.time.0, label.net + self.net(change)), index);
        }
        worth.least((-own.0, -own.1), layer, point)
    }

    fn back(&self, all: &[Label], end: Label) -> Vec<usize> {
        let mut points = vec![end.point];
        let mut at = end;
        while let Some(label) = all.get(at.from) {
            points.push(label.point);
            at = *label;
        }
        points.reverse();
        points
    }
}

/// Keeps labels that none beats in both, the fastest first; of more than `most` of them those of least net
/// energy with time priced, all of them with the same way to the end before them. Returns that of the
/// first which was dropped.
fn thin(labels: &mut Vec<Label>, price: f64, most: usize) -> f64 {
    labels.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.net.total_cmp(&b.net)));
    let mut least = f64::INFINITY;
    labels.retain(|label| {
        let keeps = label.net < least;
        least = least.min(label.net);
        keeps
    });
    if labels.len() <= most {
        return f64::INFINITY;
    }
    let value = |label: &Label| label.net + price * label.time;
    labels.sort_by(|a, b| value(a).total_cmp(&value(b)));
    let first = labels.get(most).map_or(f64::INFINITY, value);
    labels.truncate(most);
    labels.sort_by(|a, b| a.time.total_cmp(&b.time));
    first
}
