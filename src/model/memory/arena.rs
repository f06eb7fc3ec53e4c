//! Offsets of blocks that share one memory, each for a time.
//!
//! Blocks alive throughout lie at the bottom. The others take the place that a rule finds in some order,
//! and the order is what is searched: by size, as published arena planners go (Pisarchyk and Lee,
//! "Efficient Memory Management for Deep Neural Net Inference", 2020), by size times time, by time; and
//! where none of these gets down to what is alive at once, by climbing from the best of them: what lies
//! at the top changes places in the order with what is in its way.
//!
//! Assumed: every block starts at a multiple of 16 B, as arenas of microcontroller runtimes do.

mod climb;
mod in_time;
mod overlaps;

use climb::climb;
use in_time::in_time_order;
use overlaps::Overlaps;
use std::cmp::Reverse;

/// Blocks start at multiples of so many bytes.
pub(crate) const ALIGNMENT: u64 = 16;

/// Pairs of blocks alive together, past which only the order of time is tried.
const MOST_PAIRS: usize = 1 << 20;

/// Bytes that are needed from one step to another, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    pub first: usize,
    pub last: usize,
    pub bytes: u64,
}

/// A number of granules of [`ALIGNMENT`] bytes.
pub(super) type Granules = u128;

impl Block {
    pub(super) fn granules(&self) -> Granules {
        Granules::from(self.bytes.div_ceil(ALIGNMENT))
    }

    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// Where each block starts, in bytes, and where the highest one ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Packing {
    pub offsets: Vec<u128>,
    pub top: u128,
}

/// The same in granules.
#[derive(Debug, Clone, Default)]
struct Layout {
    offsets: Vec<Granules>,
    top: Granules,
}

/// Most granules alive at once.
pub(super) fn most_alive(blocks: &[Block]) -> Granules {
    let mut changes: Vec<(usize, bool, Granules)> = Vec::with_capacity(2 * blocks.len());
    for block in blocks {
        changes.push((block.first, true, block.granules()));
        changes.push((block.last.saturating_add(1), false, block.granules()));
    }
    // What ends goes before what starts.
    changes.sort_unstable();
    let (mut alive, mut most) = (0, 0);
    for (_, starts, granules) in changes {
        alive = if starts { alive + granules } else { alive - granules };
        most = most.max(alive);
    }
    most
}

/// Places blocks so that those alive together do not overlap, and the highest ends low.
pub(crate) fn pack(blocks: &[Block]) -> Packing {
    packed(blocks, true)
}

/// The greedy one alone: the largest first, each into the smallest gap that holds it.
#[cfg(test)]
pub(super) fn pack_by_size(blocks: &[Block]) -> Packing {
    packed(blocks, false)
}

fn packed(blocks: &[Block], searches: bool) -> Packing {
    let end = blocks.iter().map(|b| b.last).max().unwrap_or(0);
    let throughout = |block: &Block| block.first == 0 && block.last == end;
    let mut base: Granules = 0;
    let mut offsets = vec![0; blocks.len()];
    for (block, offset) in blocks.iter().zip(&mut offsets).filter(|(b, _)| throughout(b)) {
        *offset = base;
        base += block.granules();
    }
    let passing = |(_, block): &(usize, &Block)| !throughout(block) && block.bytes > 0;
    let (places, others): (Vec<usize>, Vec<Block>) =
        blocks.iter().enumerate().filter(passing).map(|(at, block)| (at, *block)).unzip();
    let layout = best_layout(&others, searches);
    for (place, own) in places.into_iter().zip(layout.offsets) {
        if let Some(offset) = offsets.get_mut(place) {
            *offset = base + own;
        }
    }
    let offsets: Vec<u128> = offsets.into_iter().map(|o| o * u128::from(ALIGNMENT)).collect();
    let ends = offsets.iter().zip(blocks).filter(|(_, block)| block.bytes > 0);
    let top = ends.map(|(offset, block)| offset + u128::from(block.bytes)).max().unwrap_or(0);
    Packing { offsets, top }
}

fn best_layout(blocks: &[Block], searches: bool) -> Layout {
    let Some(overlaps) = Overlaps::of(blocks, MOST_PAIRS) else { return in_time_order(blocks) };
    let length = |block: &Block| (block.last - block.first + 1) as u128;
    let order = |key: &dyn Fn(&Block) -> u128| {
        let mut order: Vec<usize> = (0..blocks.len()).collect();
        let at = |at: usize| blocks.get(at).map(key);
        order.sort_by_key(|own| (Reverse(at(*own)), *own));
        order
    };
    let by_size = order(&|block| block.granules());
    let mut best = overlaps.place(blocks, &by_size, Gap::Smallest);
    let least = most_alive(blocks);
    if !searches || best.top <= least {
        return best;
    }
    let by_area = order(&|block| block.granules().saturating_mul(length(block)));
    let by_length = order(&length);
    let mut start = (overlaps.place(blocks, &by_size, Gap::Lowest), by_size);
    for order in [by_area, by_length] {
        let layout = overlaps.place(blocks, &order, Gap::Lowest);
        if layout.top < start.0.top {
            start = (layout, order);
        }
    }
    let timed = in_time_order(blocks);
    let climbed = climb(blocks, &overlaps, start.0, start.1, least);
    for layout in [climbed, timed] {
        if layout.top < best.top {
            best = layout;
        }
    }
    best
}

/// Which of the gaps that hold a block it goes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// The smallest, or above all where none holds it.
    Smallest,
    /// The lowest.
    Lowest,
}

#[cfg(test)]
mod tests;
