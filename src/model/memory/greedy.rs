//! Orders made by rules, for regions too wide to search.

use super::live::Total;
use super::region::Region;
use std::collections::{BTreeMap, BTreeSet};

/// Of the operators that can run, so many of the cheapest are looked at with so many that follow.
const LOOKED_AT: usize = 8;

/// An operator on more buffers than these is not looked at ahead, since each look takes all of them.
const BUFFERS_LOOKED_AT: usize = 64;

/// The order with the lowest peak of several: what leaves the fewest bytes first, and depth first
/// from the results. Takes time about linear in the size of the region.
pub(super) fn best_by_rule(region: &Region) -> (Vec<usize>, Total) {
    let orders = [cheapest_first(region), depth_first(region, false), depth_first(region, true)];
    let rated = orders.into_iter().map(|order| {
        let peak = region.peak(&order);
        (order, peak)
    });
    rated.min_by_key(|(_, peak)| *peak).unwrap_or_default()
}

/// By how much the bytes alive change.
type Change = i128;

fn change(made: Total, given_up: Total) -> Change {
    let signed = |total| Change::try_from(total).unwrap_or(Change::MAX);
    signed(made).saturating_sub(signed(given_up))
}

struct Greedy<'a> {
    region: &'a Region,
    has_run: Vec<bool>,
    /// Operators that each one still needs.
    missing: Vec<usize>,
    /// Users of each buffer that have not run.
    waiting: Vec<usize>,
    /// Operators that can run, those that add the least first.
    ready: BTreeSet<(Change, usize)>,
    key: BTreeMap<usize, Change>,
}

fn cheapest_first(region: &Region) -> Vec<usize> {
    let missing: Vec<_> = region.predecessors.iter().map(Vec::len).collect();
    let mut greedy = Greedy {
        region,
        has_run: vec![false; region.len()],
        waiting: region.buffers.iter().map(|b| b.users.len()).collect(),
        ready: BTreeSet::new(),
        key: BTreeMap::new(),
        missing,
    };
    for at in 0..region.len() {
        if greedy.missing.get(at) == Some(&0) {
            greedy.offer(at);
        }
    }
    let mut order = Vec::with_capacity(region.len());
    while let Some(operator) = greedy.cheapest() {
        greedy.run(operator);
        order.push(operator);
    }
    order
}

impl Greedy<'_> {
    fn is_last(&self, buffer: usize) -> bool {
        self.waiting.get(buffer) == Some(&1)
    }

    fn change(&self, operator: usize) -> Change {
        let touched = self.region.touched.get(operator).into_iter().flatten();
        let last = touched.filter(|at| self.is_last(**at));
        let given_up = last.filter_map(|at| self.region.buffers.get(*at)).map(|b| b.bytes).sum();
        change(self.region.made_by(operator), given_up)
    }

    /// Puts an operator among those that can run, or to its new place there.
    fn offer(&mut self, operator: usize) {
        let new = self.change(operator);
        if let Some(old) = self.key.insert(operator, new) {
            self.ready.remove(&(old, operator));
        }
        self.ready.insert((new, operator));
    }

    /// The operator that leaves the fewest bytes, alone or with the best one that it makes ready.
    fn cheapest(&self) -> Option<usize> {
        let first = self.ready.first().filter(|(change, _)| *change <= 0);
        let looked_at = self.ready.iter().take(LOOKED_AT);
        let ahead = || looked_at.min_by_key(|(own, at)| (self.with_next(*own, *at), *own, *at));
        first.or_else(ahead).map(|(_, at)| *at)
    }

    fn with_next(&self, own: Change, operator: usize) -> Change {
        let next = self.region.successors.get(operator).into_iter().flatten();
        let next = next.take(LOOKED_AT);
        let few =
            |at: usize| self.region.touched.get(at).is_some_and(|t| t.len() <= BUFFERS_LOOKED_AT);
        let enabled = next.filter(|next| self.missing.get(**next) == Some(&1) && few(**next));
        let best = enabled.map(|next| own.saturating_add(self.change_behind(*next, operator)));
        best.min().unwrap_or(own).min(own)
    }

    /// What an operator changes right behind another.
    fn change_behind(&self, operator: usize, before: usize) -> Change {
        let touched = self.region.touched.get(operator).into_iter().flatten();
        let last = touched.filter(|at| {
            let shared = self.region.touched.get(before).is_some_and(|of| of.contains(*at));
            self.waiting.get(**at) == Some(&(1 + usize::from(shared)))
        });
        let given_up = last.filter_map(|at| self.region.buffers.get(*at)).map(|b| b.bytes).sum();
        change(self.region.made_by(operator), given_up)
    }

    fn run(&mut self, operator: usize) {
        if let Some(key) = self.key.remove(&operator) {
            self.ready.remove(&(key, operator));
        }
        if let Some(has_run) = self.has_run.get_mut(operator) {
            *has_run = true;
        }
        for at in self.region.touched.get(operator).into_iter().flatten() {
            if let Some(waiting) = self.waiting.get_mut(*at) {
                *waiting = waiting.saturating_sub(1);
            }
            if self.is_last(*at) {
                self.offer_last_user(*at);
            }
        }
        for next in self.region.successors.get(operator).into_iter().flatten() {
            if let Some(missing) = self.missing.get_mut(*next) {
                *missing = missing.saturating_sub(1);
                if *missing == 0 {
                    self.offer(*next);
                }
            }
        }
    }

    /// The one user left of a buffer now gives it up.
    fn offer_last_user(&mut self, buffer: usize) {
        let users = self.region.buffers.get(buffer).map_or(&[][..], |b| &b.users);
        let left = users.iter().find(|user| self.has_run.get(**user) == Some(&false));
        if let Some(user) = left.copied().filter(|user| self.key.contains_key(user)) {
            self.offer(user);
        }
    }
}

/// Each operator right behind the last it needs, from the operators that nothing in the region
/// needs; what an operator needs is gone through from its first or from its last.
fn depth_first(region: &Region, from_last: bool) -> Vec<usize> {
    let mut is_met = vec![false; region.len()];
    let mut order = Vec::with_capacity(region.len());
    for root in 0..region.len() {
        if region.successors.get(root).is_some_and(Vec::is_empty) {
            visit(region, root, from_last, &mut is_met, &mut order);
        }
    }
    order
}

fn visit(
    region: &Region,
    root: usize,
    from_last: bool,
    is_met: &mut [bool],
    order: &mut Vec<usize>,
) {
    let mut open = vec![(root, 0)];
    while let Some((operator, done)) = open.last_mut() {
        let needs = region.predecessors.get(*operator).map_or(&[][..], Vec::as_slice);
        let at = if from_last { needs.len().wrapping_sub(*done + 1) } else { *done };
        *done += 1;
        match needs.get(at) {
            Some(next) => {
                if is_met.get(*next) == Some(&false) {
                    open.push((*next, 0));
                }
            }
            None => {
                if let Some(is_met) = is_met.get_mut(*operator).filter(|is_met| !**is_met) {
                    *is_met = true;
                    order.push(*operator);
                }
                open.pop();
            }
        }
    }
}
