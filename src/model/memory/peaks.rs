//! Granules alive at each step, with the highest of any stretch of steps at hand.

use super::arena::{Block, Granules};

/// A tree over steps. A node holds what lies across all of it, and the most within.
#[derive(Debug)]
pub(super) struct Peaks {
    across: Vec<Granules>,
    most: Vec<Granules>,
    leaves: usize,
}

impl Peaks {
    pub(super) fn over(steps: usize) -> Self {
        let leaves = steps.max(1).next_power_of_two();
        let empty = || vec![0; 2 * leaves];
        Self { across: empty(), most: empty(), leaves }
    }

    pub(super) fn add(&mut self, block: &Block) {
        self.change(1, (0, self.leaves - 1), block, true);
    }

    /// Takes away what was added.
    pub(super) fn take(&mut self, block: &Block) {
        self.change(1, (0, self.leaves - 1), block, false);
    }

    /// The most of all steps.
    pub(super) fn highest(&self) -> Granules {
        self.most.get(1).copied().unwrap_or(0)
    }

    /// The first step that has the most.
    pub(super) fn highest_at(&self) -> usize {
        let mut node = 1;
        while node < self.leaves {
            let left = self.most.get(2 * node).copied();
            let right = self.most.get(2 * node + 1).copied();
            node = 2 * node + usize::from(left < right);
        }
        node - self.leaves
    }

    /// The most from one step to another, both included.
    pub(super) fn within(&self, first: usize, last: usize) -> Granules {
        self.most_of(1, (0, self.leaves - 1), (first, last))
    }

    /// The most of the steps outside a block.
    pub(super) fn outside(&self, block: &Block) -> Granules {
        let before = block.first.checked_sub(1).map_or(0, |last| self.within(0, last));
        before.max(self.within(block.last.saturating_add(1), self.leaves))
    }

    fn change(&mut self, node: usize, (from, to): (usize, usize), block: &Block, adds: bool) {
        if block.first > to || block.last < from {
            return;
        }
        if block.first <= from && to <= block.last {
            let size = block.granules();
            for held in [self.across.get_mut(node), self.most.get_mut(node)].into_iter().flatten() {
                *held = if adds { *held + size } else { held.saturating_sub(size) };
            }
            return;
        }
        let middle = from + (to - from) / 2;
        self.change(2 * node, (from, middle), block, adds);
        self.change(2 * node + 1, (middle + 1, to), block, adds);
        let below = |at: usize| self.most.get(at).copied().unwrap_or(0);
        let most = below(2 * node).max(below(2 * node + 1));
        let across = self.across.get(node).copied().unwrap_or(0);
        if let Some(own) = self.most.get_mut(node) {
            *own = most + across;
        }
    }

    fn most_of(
        &self,
        node: usize,
        (from, to): (usize, usize),
        (first, last): (usize, usize),
    ) -> Granules {
        if first > to || last < from || first > last {
            return 0;
        }
        if first <= from && to <= last {
            return self.most.get(node).copied().unwrap_or(0);
        }
        let middle = from + (to - from) / 2;
        let left = self.most_of(2 * node, (from, middle), (first, last));
        let right = self.most_of(2 * node + 1, (middle + 1, to), (first, last));
        left.max(right) + self.across.get(node).copied().unwrap_or(0)
    }
}
