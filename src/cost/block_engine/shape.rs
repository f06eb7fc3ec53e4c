//! What an operator is to a datapath that works by blocks.

use super::choice::Block;
use crate::hardware::{MicroBlock, Precision};
use crate::model::{OpKind, OperandRole, Work};

/// Rows, columns and channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extents {
    pub(super) rows: u64,
    pub(super) columns: u64,
    pub(super) channels: u64,
}

impl Extents {
    /// How many of another it takes to hold it.
    pub(super) fn over(self, other: Self) -> f64 {
        let along = |own: u64, each: u64| own.div_ceil(each.max(1)) as f64;
        along(self.rows, other.rows)
            * along(self.columns, other.columns)
            * along(self.channels, other.channels)
    }

    pub(super) fn elements(self) -> f64 {
        self.rows as f64 * self.columns as f64 * self.channels as f64
    }
}

impl MicroBlock {
    pub(super) fn shape(&self) -> Extents {
        Extents { rows: self.rows, columns: self.columns, channels: self.channels }
    }
}

/// How results come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Sums over input channels and a window.
    Sum,
    /// Sums over a window of one channel.
    Depthwise,
    /// The same without weights.
    Pool,
}

/// One operator; of channel groups that run one after the other, and of samples, one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    pub(super) kind: OpKind,
    pub(super) way: Way,
    pub(super) input: Extents,
    pub(super) output: Extents,
    pub(super) kernel: (u64, u64),
    pub(super) stride: (u64, u64),
    /// Channels that are summed over.
    pub(super) sum_channels: u64,
    pub(super) groups: u64,
    /// Groups and samples.
    pub(super) repeats: u64,
    pub(super) bytes_per_element: f64,
    /// True for an input that lies as it came, and not in bricks: one that the network is handed, or an image
    /// of few channels.
    pub(super) is_plain_input: bool,
    /// The same of what the network hands out.
    pub(super) is_plain_result: bool,
}

impl Job {
    /// `None` where nothing is summed up over a window or a depth.
    pub(super) fn of(work: &Work, precision: Precision) -> Option<Self> {
        let bytes_per_element = precision.bits() as f64 / 8.0;
        let plain = Self {
            kind: work.kind,
            way: Way::Sum,
            input: Extents { rows: 1, columns: 1, channels: 1 },
            output: Extents { rows: 1, columns: 1, channels: 1 },
            kernel: (1, 1),
            stride: (1, 1),
            sum_channels: 1,
            groups: 1,
            repeats: 1,
            bytes_per_element,
            is_plain_input: work.kind == OpKind::StemConv || is_handed_in(work),
            is_plain_result: work.handed_out,
        };
        let Some(w) = work.window else {
            let gemm = work.gemm?;
            return Some(Self {
                input: Extents { rows: 1, columns: gemm.m.max(1), channels: gemm.k.max(1) },
                output: Extents { rows: 1, columns: gemm.m.max(1), channels: gemm.n.max(1) },
                sum_channels: gemm.k.max(1),
                groups: gemm.groups.max(1),
                repeats: gemm.groups.max(1),
                ..plain
            });
        };
        let groups = w.groups.max(1);
        let channels = w.output_channels.max(1);
        // A depthwise convolution may make several channels of one.
        let each = channels.div_ceil(groups);
        let by_channel = groups > 1 && w.input_channels <= 1 && each == 1;
        let way = match (work.gemm.is_none(), by_channel) {
            (true, _) => Way::Pool,
            (false, true) => Way::Depthwise,
            (false, false) => Way::Sum,
        };
        let together = way != Way::Sum;
        let (read, made) =
            if together { (channels, channels) } else { (w.input_channels.max(1), each) };
        let apart = if together { 1 } else { groups };
        Some(Self {
            way,
            input: Extents {
                rows: w.input_height.max(1),
                columns: w.input_width.max(1),
                channels: read,
            },
            output: Extents {
                rows: w.output_height.max(1),
                columns: w.output_width.max(1),
                channels: made,
            },
            kernel: (w.kernel_height.max(1), w.kernel_width.max(1)),
            stride: (w.stride_height.max(1), w.stride_width.max(1)),
            sum_channels: if together { 1 } else { read },
            groups: apart,
            repeats: apart.saturating_mul(w.batch.max(1)),
            ..plain
        })
    }

    /// Bytes that lie together of a block's input: a row of it where it fills the bricks or holds all channels,
    /// the channels of a point otherwise.
    pub(super) fn run_in(&self, block: &Block) -> f64 {
        let (columns, channels) = match (self.is_plain_input, block.input_channels) {
            (false, _) => (block.input_columns, block.brick),
            (true, own) if own == self.input.channels => (block.input_columns, own),
            (true, own) => (1, own),
        };
        columns.saturating_mul(channels) as f64 * self.bytes_per_element
    }

    /// The same of its results, of which as many channels as a brick has leave at once.
    pub(super) fn run_out(&self, block: &Block) -> f64 {
        let (columns, channels) = match (self.is_plain_result, block.channels) {
            (false, _) => (block.planned_columns, block.brick),
            (true, own) if own == self.output.channels && own <= block.brick => {
                (block.planned_columns, own)
            }
            (true, own) => (1, own.min(block.brick)),
        };
        columns.saturating_mul(channels) as f64 * self.bytes_per_element
    }
}

/// Whether an operator works on what the network is handed.
pub(super) fn is_handed_in(work: &Work) -> bool {
    let mut data = work.operands.iter().filter(|own| own.role == OperandRole::Data);
    data.next().is_some_and(|own| own.handed_in)
}
