//! The block of results that an operator is made in.
//!
//! Of all blocks whose input and sums fit their buffers twice, that one is taken which fetches least for a
//! result: `F = i_y i_x C_in parts b_y b_x b_z + w C_in B_y B_x C_out`, with the rows and columns of its input
//! `i`, blocks `b` as fractions and `B` as whole numbers, `w` points of the window. A block whose input is
//! half of the whole input or more counts for half of that, since nothing comes again. Of equals the one of
//! fewer channels, then rows, then columns; among blocks of at most 4 x 4 positions that of more.
//!
//! With a stride within the window more rows never fetch more, up to what fits; so along the rows only those
//! are looked at that cut the map into as few blocks as the most that fit.

use super::shape::{Extents, Job, Way};
use crate::hardware::{BlockBuffers, BlockEngine, Judged, MicroBlock, SumOrder};
use crate::model::OpKind;

/// The order that an operator is summed up in: of two that which it fills better. `None` where the datapath
/// has none for it.
pub(super) fn order_of<'a>(array: &'a BlockEngine, job: &Job) -> Option<&'a SumOrder> {
    match job.way {
        Way::Depthwise => array.depthwise.as_ref(),
        Way::Pool => array.pool.as_ref(),
        Way::Sum => {
            let channels = &array.by_channels;
            let points = array.by_points.as_ref();
            // What has no window runs through its channels.
            let windowed = !matches!(job.kind, OpKind::FullyConnected | OpKind::MatMul);
            let points = points.filter(|p| windowed && p.fill(job) >= channels.fill(job));
            Some(points.unwrap_or(channels))
        }
    }
}

impl SumOrder {
    /// Share of its steps that an operator fills.
    fn fill(&self, job: &Job) -> f64 {
        let own =
            Judged { channels: self.channels.max(1), points: self.points.max(1), least_left: 0 };
        let by = self.judged_by.as_ref().unwrap_or(&own);
        let (channels, step) = (job.sum_channels, by.points.max(1));
        let points = job.kernel.0.saturating_mul(job.kernel.1);
        let padded = channels.div_ceil(by.channels.max(1)).saturating_mul(by.channels.max(1));
        let counted = match by.least_left {
            0 => points.div_ceil(step).saturating_mul(step),
            least => (points / step * step).saturating_add((points % step).max(least)),
        };
        channels as f64 / padded as f64 * points as f64 / counted as f64
    }
}

/// A block of results, cut to the results that there are, with the input that it needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) rows: u64,
    pub(super) columns: u64,
    pub(super) channels: u64,
    /// Columns before the cut.
    pub(super) planned_columns: u64,
    pub(super) input_rows: u64,
    pub(super) input_columns: u64,
    pub(super) input_channels: u64,
    pub(super) micro: Extents,
    pub(super) brick: u64,
}

fn up(extent: u64, step: u64) -> u64 {
    extent.div_ceil(step.max(1)).saturating_mul(step.max(1))
}

/// The micro-block that leaves least empty.
fn micro_block<'a>(array: &'a BlockEngine, job: &Job) -> Option<&'a MicroBlock> {
    let fits = |m: &&MicroBlock| m.kinds.is_empty() || m.kinds.contains(&job.kind);
    let empty = |m: &MicroBlock| {
        up(job.output.rows, m.rows) as f64
            * up(job.output.columns, m.columns) as f64
            * up(job.output.channels, m.channels) as f64
            - job.output.elements()
    };
    let mut best: Option<(f64, &MicroBlock)> = None;
    for micro in array.micro_blocks.iter().filter(fits) {
        let own = empty(micro);
        if best.is_none_or(|(least, _)| own < least) {
            best = Some((own, micro));
        }
    }
    best.map(|(_, micro)| micro)
}

/// Rows, columns and channels that the input of a block is a multiple of where so many channels lie beside the
/// datapath.
fn input_unit(micro: &MicroBlock, held: u64) -> Extents {
    let units = || micro.input_units.iter();
    let unit = units().find(|unit| unit.channels >= held).or_else(|| units().last());
    match unit {
        Some(unit) => Extents { rows: unit.rows, columns: unit.columns, channels: unit.channels },
        None => Extents { channels: 8, ..micro.shape() },
    }
}

/// Everything that the choice goes by.
struct Search<'a> {
    array: &'a BlockEngine,
    job: &'a Job,
    micro: Extents,
    of: &'a MicroBlock,
    /// Input channels beside the datapath, and what the input is a multiple of; `None` where they are those of
    /// the block.
    held: Option<(u64, Extents)>,
}

/// The block of an operator; `None` where none fits the buffers.
pub(super) fn choose(array: &BlockEngine, job: &Job, order: &SumOrder) -> Option<Block> {
    let of = micro_block(array, job)?;
    let held = order.held_channels.max(1);
    let unit = input_unit(of, held);
    let held = (up(job.sum_channels.min(held), unit.channels), unit);
    let held = (job.way == Way::Sum).then_some(held);
    let search = Search { array, job, micro: of.shape(), of, held };
    search.best(2).or_else(|| search.best(1))
}

impl Search<'_> {
    /// The best block with so many of each in the buffers.
    fn best(&self, copies: u64) -> Option<Block> {
        let Self { array, job, micro, .. } = self;
        let most = |own: u64, largest: u64, step: u64| up(own.min(largest.max(1)), step);
        let rows = most(job.output.rows, array.largest.rows, micro.rows);
        let columns = most(job.output.columns, array.largest.columns, micro.columns);
        let channels = most(job.output.channels, array.largest.channels, micro.channels);
        let mut best: Option<(f64, Extents)> = None;
        let mut consider = |cost: f64, extents: Extents| {
            let better = best.as_ref().is_none_or(|(least, other)| {
                let slack = least * 1e-9;
                cost < least - slack || (cost <= least + slack && self.prefers(extents, *other))
            });
            if better {
                best = Some((cost, extents));
            }
        };
        let mut depth = micro.channels.max(channels.min(array.channel_step.max(1)));
        loop {
            if depth < job.output.channels {
                depth = up(depth, array.channel_step);
            }
            if depth > channels {
                break;
            }
            for width in (1..=columns / micro.columns).map(|n| n * micro.columns) {
                let at = |rows| Extents { rows, columns: width, channels: depth };
                let Some(most) = self.most_rows(rows, at, copies) else { break };
                let blocks = job.output.rows.div_ceil(most);
                let fewest = up(job.output.rows.div_ceil(blocks), micro.rows).min(most);
                // Strides beyond the window leave out rows within a block, and none between blocks.
                let from = if job.stride.0 > job.kernel.0 { micro.rows } else { fewest };
                for rows in (from..=most).step_by(micro.rows as usize) {
                    consider(self.fetched(at(rows)), at(rows));
                }
            }
            depth = depth.saturating_add(micro.channels);
        }
        best.map(|(_, extents)| self.block(extents))
    }

    /// Whether one of two blocks that fetch the same is taken: of small ones that with more input and
    /// channels, of others that with fewer channels, rows and columns.
    fn prefers(&self, own: Extents, other: Extents) -> bool {
        let is_small = |e: Extents| e.rows <= SMALL && e.columns <= SMALL;
        let order = |e: Extents| (e.channels, e.rows, e.columns);
        let area = |e: Extents| {
            let (input, all) = (self.input(e), self.job.input);
            input.rows.min(all.rows) * input.columns.min(all.columns)
        };
        match (is_small(own), is_small(other)) {
            (true, true) => (area(own), order(own)) >= (area(other), order(other)),
            (small, other_small) if small != other_small => small,
            _ => order(own) < order(other),
        }
    }

    /// The most rows that fit, by halving: what fits with more fits with fewer.
    fn most_rows(&self, most: u64, at: impl Fn(u64) -> Extents, copies: u64) -> Option<u64> {
        let step = self.micro.rows;
        let fits = |steps: u64| self.fits(at(steps * step), copies);
        let (mut low, mut high) = (1, (most / step).max(1));
        if !fits(low) {
            return None;
        }
        while low < high {
            let middle = (low + high).div_ceil(2);
            if fits(middle) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        Some(low * step)
    }

    /// Rows, columns and channels of the input of a block.
    fn input(&self, block: Extents) -> Extents {
        let Self { array, job, of, held, .. } = self;
        let (channels, unit) = held.unwrap_or((block.channels, input_unit(of, block.channels)));
        let along = |results: u64, stride: u64, kernel: u64, part: u64, step: u64| {
            let needed = (results - 1).saturating_mul(stride).saturating_add(kernel.min(part));
            up(needed, step)
        };
        Extents {
            rows: along(block.rows, job.stride.0, job.kernel.0, array.window.0, unit.rows),
            columns: along(block.columns, job.stride.1, job.kernel.1, array.window.1, unit.columns),
            channels,
        }
    }

    fn fits(&self, block: Extents, copies: u64) -> bool {
        let input = self.input(block);
        let width = self.job.bytes_per_element;
        let plane = input.rows.saturating_mul(input.columns) as f64;
        let results = block.rows.saturating_mul(block.columns) as f64;
        let copies = copies as f64;
        match &self.array.buffers {
            BlockBuffers::Shared(shared) => {
                let banks = |bytes: f64, step: u64| {
                    let banks = (bytes / shared.bank_bytes.max(1) as f64).ceil() * copies;
                    (banks / step.max(1) as f64).ceil() * step as f64
                };
                let depth = (input.channels as f64 * width / 8.0).ceil() * 8.0;
                let sums = results * up(block.channels, 8) as f64 * SUM_BYTES;
                let taken = banks(plane * depth, shared.input_step) + banks(sums, shared.sums_step);
                taken + shared.kept as f64 <= shared.banks as f64
            }
            BlockBuffers::Apart(apart) => {
                let sums = results * up(block.channels, self.array.channel_step) as f64 * SUM_BYTES;
                let own = plane * input.channels as f64 * width;
                let sums_of = if apart.sums_once.contains(&self.job.kind) { 1.0 } else { copies };
                own * copies <= apart.input_bytes as f64
                    && sums * sums_of <= apart.sums_bytes as f64
            }
        }
    }

    /// Input and weights that a result fetches.
    fn fetched(&self, block: Extents) -> f64 {
        let Self { array, job, .. } = self;
        let input = self.input(block);
        let part = |own: u64, each: u64| own as f64 / each.max(1) as f64;
        let whole = |own: u64, each: u64| own.div_ceil(each.max(1)) as f64;
        let (out, depth) = (job.output, job.input.channels as f64);
        let parts = whole(job.kernel.0, array.window.0) * whole(job.kernel.1, array.window.1);
        let mut read = (input.rows * input.columns) as f64 * depth * parts;
        read *= part(out.rows, block.rows) * part(out.columns, block.columns);
        let positions = whole(out.rows, block.rows) * whole(out.columns, block.columns);
        let points = job.kernel.0 as f64 * job.kernel.1 as f64;
        let weights = match job.way {
            Way::Pool => 0.0,
            Way::Depthwise => points * depth * positions,
            Way::Sum => {
                read *= whole(out.channels, block.channels);
                // Of a product without a window the weights come once whatever the block.
                let again = job.kind != OpKind::FullyConnected;
                if again { points * depth * positions * out.channels as f64 } else { 0.0 }
            }
        };
        let fetched = (read + weights) / out.elements();
        let twice = 2.0 * input.elements();
        if job.input.elements() < twice { fetched / 2.0 } else { fetched }
    }

    fn block(&self, extents: Extents) -> Block {
        let (input, out) = (self.input(extents), self.job.output);
        Block {
            rows: extents.rows.min(out.rows),
            columns: extents.columns.min(out.columns),
            channels: extents.channels.min(out.channels),
            planned_columns: extents.columns,
            input_rows: input.rows,
            input_columns: input.columns,
            input_channels: input.channels,
            micro: self.micro,
            brick: self.array.brick.max(1),
        }
    }
}

/// Rows and columns of a block that counts as small.
const SMALL: u64 = 4;

/// Bytes of a sum.
const SUM_BYTES: f64 = 4.0;
