//! Datapaths that make results block by block, out of micro-blocks.

use super::precision::{Precision, either_parameter};
use crate::evidence::{FieldPath, Parameter, Parameters, Valued, described};
use crate::model::{ElementFunction, OpKind};
use crate::units::{Bytes, Cycles, CyclesPerElement, Ratio};
use serde::Deserialize;
use std::collections::BTreeMap;

described! {
    /// A datapath that makes a block of results at a time. Within a block it goes from micro-block to
    /// micro-block at each step of the sum; sums of the block stay in a buffer beside it, and so does
    /// the part of the input that they need. While one block is summed up the input of the next one
    /// comes in and the results of the last one go out.
    pub struct BlockEngine {
        /// The number format of the steps.
        pub precision: Precision,
        /// Rates in other formats, over that in `precision`.
        #[serde(default)]
        pub rates: BTreeMap<Precision, Valued<Ratio>>,
        /// Results that are summed up side by side. Where there are several, that which an operator
        /// fills best is taken, and of equals the first.
        pub micro_blocks: Vec<MicroBlock>,
        /// The largest block.
        pub largest: BlockShape,
        /// A block has a multiple of so many channels where there are more of them.
        pub channel_step: u64,
        /// Rows and columns of a window that are gone through at once. A larger one is cut up, and its
        /// input comes in again for each part.
        pub window: (u64, u64),
        /// The order of a sum that takes many input channels in a step, one window point after the other.
        pub by_channels: SumOrder,
        /// The order that takes several window points in a step; of the two an operator has that which
        /// it fills better, and of equals this one.
        #[serde(default)]
        pub by_points: Option<SumOrder>,
        /// The order of a depthwise convolution.
        #[serde(default)]
        pub depthwise: Option<SumOrder>,
        /// The order of pooling and of reductions.
        #[serde(default)]
        pub pool: Option<SumOrder>,
        /// Cycles that unpacking the weights of a step takes, for each channel of a micro-block.
        #[serde(default)]
        pub unpacking: Option<Valued<Cycles>>,
        /// Cycles between two steps of a micro-block that no other stands between.
        #[serde(default)]
        pub turnaround: Option<Valued<Cycles>>,
        /// Blocks that are on their way at once: each takes at least the cycles of its parts over so many.
        #[serde(default)]
        pub blocks_in_flight: Option<u64>,
        /// Where input and sums of a block lie.
        pub buffers: BlockBuffers,
        /// Channels that lie together in memory: a map of activations has a multiple of so many. An image
        /// of fewer than four channels lies as it came.
        pub brick: u64,
        /// How results leave.
        pub way_out: WayOut,
        /// Kinds of operator that are made of several others.
        #[serde(default)]
        pub sequences: BTreeMap<OpKind, Sequence>,
    }
}

described! {
    /// Results of a block.
    pub struct BlockShape {
        /// Rows.
        pub rows: u64,
        /// Columns.
        pub columns: u64,
        /// Channels.
        pub channels: u64,
    }
}

described! {
    /// Results that are summed up side by side.
    pub struct MicroBlock {
        /// Rows.
        pub rows: u64,
        /// Columns.
        pub columns: u64,
        /// Channels.
        pub channels: u64,
        /// Kinds of operator that it is for; empty means all.
        #[serde(default)]
        pub kinds: Vec<OpKind>,
        /// Units that a block's input is a multiple of, by the input channels that lie beside the datapath: the
        /// first unit of as many or more, else the last. Without any its rows and columns are a multiple of
        /// those above, and its channels of eight.
        #[serde(default)]
        pub input_units: Vec<BlockShape>,
    }
}

described! {
    /// What a step of a sum takes in.
    pub struct SumOrder {
        /// Input channels that lie beside the datapath at once. A sum over more goes over the block again.
        pub held_channels: u64,
        /// Input channels of a step.
        #[serde(default = "one")]
        pub channels: u64,
        /// Input channels that a step which is not full has a multiple of; its cycles go by them.
        /// Without it a step takes its time full or not.
        #[serde(default)]
        pub part: Option<u64>,
        /// Window points of a step.
        #[serde(default = "one")]
        pub points: u64,
        /// Fewest window points that a window, or a part of one, counts for.
        #[serde(default)]
        pub least_points: u64,
        /// Cycles of a step of one micro-block.
        pub cycles: Valued<Cycles>,
        /// What the choice between orders goes by, where it is another step than the above.
        #[serde(default)]
        pub judged_by: Option<Judged>,
    }
}

described! {
    /// The step by which the fill of an order is judged.
    pub struct Judged {
        /// Input channels.
        pub channels: u64,
        /// Window points.
        pub points: u64,
        /// Fewest points that those count for which are left over.
        #[serde(default)]
        pub least_left: u64,
    }
}

/// Where input and sums of a block lie, each twice: one half is worked on.
#[derive(Debug, Clone, Deserialize)]
pub enum BlockBuffers {
    /// In banks of one memory.
    Shared(SharedBuffer),
    /// In a memory each.
    Apart(ApartBuffers),
}

either_parameter!(BlockBuffers: Shared, Apart);

described! {
    /// A memory whose banks go to input and sums as an operator needs them.
    pub struct SharedBuffer {
        /// Banks.
        pub banks: u64,
        /// Bytes of a bank.
        pub bank_bytes: u64,
        /// Banks that are kept for results on their way out and for tables.
        pub kept: u64,
        /// Banks that are given to the input at once.
        pub input_step: u64,
        /// Banks that are given to the sums at once.
        pub sums_step: u64,
    }
}

described! {
    /// A memory for the input and one for the sums.
    pub struct ApartBuffers {
        /// Bytes for the input.
        pub input_bytes: u64,
        /// Bytes for the sums.
        pub sums_bytes: u64,
        /// Kinds of operator whose sums may fill their memory once.
        #[serde(default)]
        pub sums_once: Vec<OpKind>,
    }
}

described! {
    /// How results leave: scaling, activation, store.
    pub struct WayOut {
        /// Cycles of a result.
        pub cycles: Valued<CyclesPerElement>,
        /// Cycles of a result by what is done to it; the slowest of what is done counts.
        #[serde(default)]
        pub by_function: BTreeMap<ElementFunction, Valued<CyclesPerElement>>,
        /// Bias and scale of a channel, which come with the weights and at each pass over them.
        #[serde(default)]
        pub record: Option<Valued<Bytes>>,
        /// Bytes of records that are asked for at a time.
        #[serde(default)]
        pub records_in_flight: Option<Valued<Bytes>>,
    }
}

described! {
    /// An operator that is made of several others, each over results as they leave.
    pub struct Sequence {
        /// Operators over all elements.
        pub over_elements: u64,
        /// Operators over a brick of elements.
        #[serde(default)]
        pub over_a_brick: u64,
        /// Cycles of an element in them.
        pub cycles: Valued<CyclesPerElement>,
    }
}

fn one() -> u64 {
    1
}
