//! Climbing over orders: the block that ends highest changes places in the order with one that it
//! meets, and what is no worse is kept. Always the same for the same blocks.

use super::overlaps::Overlaps;
use super::{Block, Gap, Granules, Layout};

/// Blocks and pairs that all placings of a climb may look at together.
const LOOKS: usize = 1_500_000;
/// Placings of a climb at most.
const TRIES: usize = 4_000;

/// The best layout on the way from one that `order` gives, down to `least` if that is reached.
pub(super) fn climb(
    blocks: &[Block],
    overlaps: &Overlaps,
    start: Layout,
    mut order: Vec<usize>,
    least: Granules,
) -> Layout {
    let mut ranks = vec![0; blocks.len()];
    for (rank, at) in order.iter().enumerate() {
        if let Some(own) = ranks.get_mut(*at) {
            *own = rank;
        }
    }
    let mut layout = start;
    let mut draws = Draws(0x2545_f491_4f6c_dd1d);
    let tries = (LOOKS / overlaps.work().max(1)).min(TRIES);
    for _ in 0..tries {
        if layout.top <= least {
            break;
        }
        let Some((one, other)) = pair(blocks, overlaps, &layout, &ranks, &mut draws) else { break };
        order.swap(one, other);
        let changed = overlaps.place(blocks, &order, Gap::Lowest);
        if changed.top > layout.top {
            order.swap(one, other);
            continue;
        }
        layout = changed;
        for rank in [one, other] {
            if let Some(own) = order.get(rank).and_then(|at| ranks.get_mut(*at)) {
                *own = rank;
            }
        }
    }
    layout
}

/// Ranks of a block that ends at the top, or of what lies below it, and of one that it meets.
fn pair(
    blocks: &[Block],
    overlaps: &Overlaps,
    layout: &Layout,
    ranks: &[usize],
    draws: &mut Draws,
) -> Option<(usize, usize)> {
    let end = |at: usize| Some(layout.offsets.get(at)? + blocks.get(at)?.granules());
    let highest: Vec<usize> = (0..blocks.len()).filter(|at| end(*at) == Some(layout.top)).collect();
    let mut own = draws.one_of(&highest)?;
    // Down the pile, so far as chance goes.
    while draws.below(2) == 0 {
        let floor = *layout.offsets.get(own)?;
        let carries = |other: &&usize| floor > 0 && end(**other) == Some(floor);
        let Some(next) = overlaps.with(own).iter().find(carries) else { break };
        own = *next;
    }
    let other = draws.one_of(overlaps.with(own))?;
    Some((*ranks.get(own)?, *ranks.get(other)?))
}

/// Numbers without a pattern, the same in each run (a congruential generator with Knuth's constants).
struct Draws(u64);

impl Draws {
    fn below(&mut self, count: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize).checked_rem(count).unwrap_or(0)
    }

    fn one_of(&mut self, of: &[usize]) -> Option<usize> {
        of.get(self.below(of.len())).copied()
    }
}
