//! What to leave out where not everything has room.
//!
//! From everything on, one block after the other is left out, each time one that is alive at the highest
//! step: the one whose bytes, as often as they are read and written, are fewest for each byte by which
//! the peak falls. What was left out before and has become needless comes back, so long as the peak
//! stays below that of the stage before. The stages do not depend on the room there is; of those that
//! fit into it, the one with the least traffic left out is taken, so that more room never means more of it.

use super::arena::{ALIGNMENT, Block, Granules, Packing, pack};
use super::peaks::Peaks;

/// Blocks left out that are looked at again in a stage.
const LOOKED_AT_AGAIN: usize = 32;
/// Stages for each block, past which nothing comes back.
const STAGES: usize = 4;

/// A block, and bytes read from it and written to it in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Used {
    pub block: Block,
    pub traffic: u64,
}

/// What one stage changes: the block left out, and those that come back.
#[derive(Debug)]
struct Stage {
    out: usize,
    back: Vec<usize>,
    /// Most granules alive afterwards.
    peak: Granules,
    /// Traffic of all that is left out.
    traffic: u128,
}

/// What stays in a memory, by place in the list of blocks, and where.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Kept {
    pub blocks: Vec<usize>,
    pub packing: Packing,
}

/// What stays in so many bytes. Blocks without bytes always do.
pub(crate) fn keep(used: &[Used], room: u64) -> Kept {
    let all: Vec<usize> = (0..used.len()).collect();
    let everything = packed(used, all);
    if everything.packing.top <= u128::from(room) { everything } else { fewer(used, room) }
}

/// The same, without trying everything.
fn fewer(used: &[Used], room: u64) -> Kept {
    let stages = stages(used);
    let most = Granules::from(room.div_ceil(ALIGNMENT));
    let mut fitting: Vec<usize> =
        (0..stages.len()).filter(|at| stages.get(*at).is_some_and(|s| s.peak <= most)).collect();
    fitting.sort_by_key(|at| (stages.get(*at).map(|stage| stage.traffic), *at));
    for last in fitting {
        let mut stays = vec![true; used.len()];
        for stage in stages.iter().take(last + 1) {
            set(&mut stays, stage.out, false);
            stage.back.iter().for_each(|at| set(&mut stays, *at, true));
        }
        let blocks = (0..used.len()).filter(|at| stays.get(*at) == Some(&true)).collect();
        let kept = packed(used, blocks);
        if kept.packing.top <= u128::from(room) {
            return kept;
        }
    }
    let empty = |at: &usize| used.get(*at).is_some_and(|own| own.block.bytes == 0);
    packed(used, (0..used.len()).filter(empty).collect())
}

fn packed(used: &[Used], blocks: Vec<usize>) -> Kept {
    let list: Vec<Block> = blocks.iter().filter_map(|at| used.get(*at)).map(|u| u.block).collect();
    Kept { packing: pack(&list), blocks }
}

fn set(stays: &mut [bool], at: usize, value: bool) {
    if let Some(own) = stays.get_mut(at) {
        *own = value;
    }
}

struct Peeling<'a> {
    used: &'a [Used],
    stays: Vec<bool>,
    alive: Peaks,
    traffic: u128,
}

/// Stages down to nothing.
fn stages(used: &[Used]) -> Vec<Stage> {
    let steps = used.iter().map(|own| own.block.last.saturating_add(1)).max().unwrap_or(0);
    let mut peeling =
        Peeling { used, stays: vec![true; used.len()], alive: Peaks::over(steps), traffic: 0 };
    used.iter().for_each(|own| peeling.alive.add(&own.block));
    let mut stages = Vec::new();
    while peeling.alive.highest() > 0 {
        let may_return = stages.len() < STAGES * used.len();
        let Some(stage) = peeling.next(may_return) else { break };
        stages.push(stage);
    }
    stages
}

impl Peeling<'_> {
    fn next(&mut self, may_return: bool) -> Option<Stage> {
        let peak = self.alive.highest();
        let out = self.cheapest(peak)?;
        let own = self.used.get(out)?;
        self.alive.take(&own.block);
        set(&mut self.stays, out, false);
        self.traffic += u128::from(own.traffic);
        let back = if may_return { self.returning(own.block, out, peak) } else { Vec::new() };
        Some(Stage { out, back, peak: self.alive.highest(), traffic: self.traffic })
    }

    /// The block alive at the highest step that costs least for what it gains.
    fn cheapest(&self, peak: Granules) -> Option<usize> {
        let step = self.alive.highest_at();
        let alive = self.used.iter().enumerate().filter(|(at, own)| {
            let Block { first, last, bytes } = own.block;
            first <= step && step <= last && bytes > 0 && self.stays.get(*at) == Some(&true)
        });
        let rated = alive.map(|(at, own)| {
            let block = &own.block;
            let inside = self.alive.within(block.first, block.last) - block.granules();
            let gain = peak - self.alive.outside(block).max(inside);
            // Where another step is as high, no block alone lowers the peak: that of the fewest bytes
            // for its size goes first.
            let per = if gain > 0 { gain } else { block.granules() };
            (gain == 0, own.traffic as f64 / per as f64, at)
        });
        let better = |a: &(bool, f64, usize), b: &(bool, f64, usize)| {
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
        };
        rated.min_by(better).map(|(_, _, at)| at)
    }

    /// Brings back what has room again, the most traffic first.
    fn returning(&mut self, gone: Block, out: usize, peak: Granules) -> Vec<usize> {
        let away = self.used.iter().enumerate().filter(|(at, own)| {
            *at != out && self.stays.get(*at) == Some(&false) && own.block.meets(&gone)
        });
        let mut away: Vec<_> = away.map(|(at, own)| (at, *own)).collect();
        away.sort_by_key(|(at, own)| (std::cmp::Reverse(own.traffic), *at));
        let mut back = Vec::new();
        for (at, own) in away.into_iter().take(LOOKED_AT_AGAIN) {
            let inside = self.alive.within(own.block.first, own.block.last);
            if inside + own.block.granules() < peak {
                self.alive.add(&own.block);
                set(&mut self.stays, at, true);
                self.traffic = self.traffic.saturating_sub(u128::from(own.traffic));
                back.push(at);
            }
        }
        back
    }
}

#[cfg(test)]
mod tests;
