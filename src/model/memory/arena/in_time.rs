//! Blocks placed as they come alive, each into the smallest gap that is free by then. Takes time that
//! hardly grows with how many are alive together.

use super::{Block, Granules, Layout};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Free stretches below the top, by where they start.
#[derive(Default)]
struct Free {
    gaps: BTreeMap<Granules, Granules>,
    top: Granules,
}

pub(super) fn in_time_order(blocks: &[Block]) -> Layout {
    let mut events: Vec<(usize, bool, Reverse<Granules>, usize)> = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        events.push((block.first, true, Reverse(block.granules()), at));
        events.push((block.last.saturating_add(1), false, Reverse(0), at));
    }
    events.sort_unstable();
    let mut free = Free::default();
    let mut layout = Layout { offsets: vec![0; blocks.len()], top: 0 };
    for (_, starts, _, at) in events {
        let (Some(block), Some(offset)) = (blocks.get(at), layout.offsets.get_mut(at)) else {
            continue;
        };
        if starts {
            *offset = free.take(block.granules());
            layout.top = layout.top.max(free.top);
        } else {
            free.give(*offset, block.granules());
        }
    }
    layout
}

impl Free {
    fn take(&mut self, size: Granules) -> Granules {
        let holds = self.gaps.iter().filter(|(_, room)| **room >= size);
        let Some((from, room)) = holds.min_by_key(|(from, room)| (**room, **from)) else {
            // The last gap reaches up to the top: what is left of it is used.
            let last = self.gaps.last_key_value().map(|(from, room)| (*from, *room));
            let open = last.filter(|(from, room)| from + room == self.top);
            let from = open.map_or(self.top, |(from, _)| from);
            self.gaps.remove(&from);
            self.top = from + size;
            return from;
        };
        let (from, room) = (*from, *room);
        self.gaps.remove(&from);
        if room > size {
            self.gaps.insert(from + size, room - size);
        }
        from
    }

    fn give(&mut self, mut from: Granules, mut size: Granules) {
        if size == 0 {
            return;
        }
        if let Some(above) = self.gaps.remove(&(from + size)) {
            size += above;
        }
        let below = self.gaps.range(..from).next_back().map(|(start, room)| (*start, *room));
        if let Some((start, room)) = below.filter(|(start, room)| start + room == from) {
            self.gaps.remove(&start);
            (from, size) = (start, room + size);
        }
        self.gaps.insert(from, size);
    }
}
