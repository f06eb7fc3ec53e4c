//! Which blocks are alive together, and placing them one by one.

use super::{Block, Gap, Granules, Layout};

/// For each block those alive with it, one list behind the other.
#[derive(Debug)]
pub(super) struct Overlaps {
    others: Vec<usize>,
    starts: Vec<usize>,
}

impl Overlaps {
    /// Nothing where there are more pairs than `most`.
    pub(super) fn of(blocks: &[Block], most: usize) -> Option<Self> {
        let mut in_time: Vec<(usize, &Block)> = blocks.iter().enumerate().collect();
        in_time.sort_by_key(|(at, block)| (block.first, *at));
        let mut alive: Vec<(usize, usize)> = Vec::new();
        let mut pairs = Vec::new();
        for (at, block) in in_time {
            alive.retain(|(_, last)| *last >= block.first);
            if pairs.len() + alive.len() > most {
                return None;
            }
            pairs.extend(alive.iter().map(|(other, _)| (at, *other)));
            alive.push((at, block.last));
        }
        let mut both: Vec<(usize, usize)> =
            pairs.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]).collect();
        both.sort_unstable();
        let mut starts = Vec::with_capacity(blocks.len() + 1);
        let mut next = 0;
        for at in 0..=blocks.len() {
            while both.get(next).is_some_and(|(own, _)| *own < at) {
                next += 1;
            }
            starts.push(next);
        }
        Some(Self { others: both.into_iter().map(|(_, other)| other).collect(), starts })
    }

    /// The blocks alive with one.
    pub(super) fn with(&self, block: usize) -> &[usize] {
        let bounds = self.starts.get(block).zip(self.starts.get(block + 1));
        bounds.and_then(|(from, to)| self.others.get(*from..*to)).unwrap_or_default()
    }

    /// Blocks and pairs: how long placing all of them takes.
    pub(super) fn work(&self) -> usize {
        self.starts.len() + self.others.len()
    }

    /// Places blocks in an order, each into a gap that those before it leave.
    pub(super) fn place(&self, blocks: &[Block], order: &[usize], gap: Gap) -> Layout {
        let mut offsets: Vec<Option<Granules>> = vec![None; blocks.len()];
        let mut taken: Vec<(Granules, Granules)> = Vec::new();
        let mut top = 0;
        for at in order {
            let Some(block) = blocks.get(*at) else { continue };
            taken.clear();
            taken.extend(self.with(*at).iter().filter_map(|other| {
                let offset = offsets.get(*other).copied().flatten()?;
                Some((offset, offset + blocks.get(*other)?.granules()))
            }));
            taken.sort_unstable();
            let size = block.granules();
            let offset = place_of(size, &taken, gap);
            top = top.max(offset + size);
            if let Some(own) = offsets.get_mut(*at) {
                *own = Some(offset);
            }
        }
        Layout { offsets: offsets.into_iter().map(|o| o.unwrap_or(0)).collect(), top }
    }
}

/// Where so many granules go among what is taken, the lowest first.
fn place_of(size: Granules, taken: &[(Granules, Granules)], gap: Gap) -> Granules {
    let mut free = 0;
    let mut smallest: Option<(Granules, Granules)> = None;
    for (from, to) in taken {
        if *from >= free + size {
            if gap == Gap::Lowest {
                return free;
            }
            let room = from - free;
            if smallest.is_none_or(|(least, _)| room < least) {
                smallest = Some((room, free));
            }
        }
        free = free.max(*to);
    }
    smallest.map_or(free, |(_, offset)| offset)
}
