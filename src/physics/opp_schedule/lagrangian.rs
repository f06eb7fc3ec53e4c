//! The schedule under a price of time, and the price at which the deadline is met.

use super::OppScheduling;
use crate::physics::LawError;

/// Prices tried at most. Each halves the corner that the optimum can lie in or ends the search.
const MOST_PRICES: usize = 200;

/// What is known from prices alone.
pub(super) struct Priced {
    /// The best schedule found that keeps the deadline.
    pub(super) found: Vec<usize>,
    /// Its net energy.
    pub(super) net: f64,
    /// No schedule has less net energy.
    pub(super) bound: f64,
    /// The price of time \[W\] of that bound.
    pub(super) price: f64,
}

impl Priced {
    /// Whether energy may still be gained, beyond rounding.
    pub(super) fn can_gain(&self) -> bool {
        self.net - self.bound > 1e-12 * self.net.abs().max(self.bound.abs())
    }
}

/// Priced cost from each layer at each point to the end, the layer itself included.
pub(super) struct ToGo {
    points: usize,
    costs: Vec<f64>,
}

impl ToGo {
    pub(super) fn at(&self, layer: usize, point: usize) -> f64 {
        self.costs.get(layer * self.points + point).copied().unwrap_or(0.0)
    }
}

impl OppScheduling {
    /// The price at which the deadline is met, by the corner between the best known on either side.
    pub(super) fn priced(&self) -> Result<Priced, LawError> {
        let cheapest = self.path(0.0, 1.0);
        let (time, net) = self.sum(&cheapest);
        if self.in_time(time) {
            return Ok(Priced { found: cheapest, net, bound: net, price: 0.0 });
        }
        let fastest = self.path(1.0, 0.0);
        let (least, fast_net) = self.sum(&fastest);
        if !self.in_time(least) {
            let (what, limit) = ("time of the fastest schedule (s)", self.deadline.0);
            return Err(LawError::Beyond { what, value: least, limit });
        }
        let (mut late, mut early) = ((time, net), (least, fast_net));
        let mut best = Priced { found: fastest, net: fast_net, bound: net, price: 0.0 };
        for _ in 0..MOST_PRICES {
            let price = (early.1 - late.1) / (late.0 - early.0);
            if !(price.is_finite() && price > 0.0) {
                break;
            }
            let path = self.path(price, 1.0);
            let (time, net) = self.sum(&path);
            let value = net + price * time;
            let bound = value - price * self.deadline.0;
            if bound > best.bound {
                (best.bound, best.price) = (bound, price);
            }
            let in_time = self.in_time(time);
            if in_time && net < best.net {
                (best.found, best.net) = (path, net);
            }
            // Nothing below the line between both: its price is the best.
            let line = early.1 + price * early.0;
            if value >= line - 1e-12 * line.abs().max(early.1.abs()) {
                break;
            }
            *(if in_time { &mut early } else { &mut late }) = (time, net);
        }
        Ok(best)
    }

    /// The path of least `price * time + weight * net energy`.
    fn path(&self, price: f64, weight: f64) -> Vec<usize> {
        let to_go = self.to_go(price, weight);
        let mut path = Vec::with_capacity(self.count());
        for layer in 0..self.count() {
            let enter = |point: usize| {
                let change = match path.last() {
                    None => self.first(point),
                    Some(before) => self.change(*before, point),
                };
                price * change.time.0 + weight * self.net(change) + to_go.at(layer, point)
            };
            let best = (0..self.points).min_by(|a, b| enter(*a).total_cmp(&enter(*b)));
            path.push(best.unwrap_or(0));
        }
        path
    }

    /// From the last layer to the first: the least priced cost of what is still to come.
    pub(super) fn to_go(&self, price: f64, weight: f64) -> ToGo {
        let (points, layers) = (self.points, self.count());
        let mut costs = vec![0.0; points * layers];
        for layer in (0..layers).rev() {
            let (here, after) = costs.split_at_mut((layer + 1) * points);
            let after = after.get(..points);
            for (point, own) in self.layer(layer).iter().enumerate() {
                let own = price * own.time.0 + weight * self.net(*own);
                let rest = after.map_or(0.0, |after| {
                    let ways = self.from(point).iter().zip(after);
                    ways.map(|(change, rest)| {
                        price * change.time.0 + weight * self.net(*change) + rest
                    })
                    .fold(f64::INFINITY, f64::min)
                });
                if let Some(place) = here.get_mut(layer * points + point) {
                    *place = own + rest;
                }
            }
        }
        ToGo { points, costs }
    }
}
