//! Engines: what does the arithmetic, how fast and at what cost.

use super::block_engine::BlockEngine;
use super::domain::PerCycle;
use super::precision::{Precision, either_parameter};
use super::windows::WindowLimits;
use crate::evidence::{FieldPath, Parameter, Parameters, Valued, described, no_parameters};
use crate::model::OpKind;
use crate::units::{
    Bytes, BytesPerMac, Cycles, JoulesPerByte, JoulesPerMac, JoulesPerOperation, MacsPerCycle,
    OperationsPerCycle, Ratio, Seconds,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

described! {
    /// An engine: what does the arithmetic.
    pub struct Engine {
        /// Its name.
        pub name: String,
        /// Its class of core (`Cortex-M4`), by which software stacks may name it.
        #[serde(default)]
        pub core: Option<String>,
        /// The domain it is in, which gives its clock and voltage.
        pub domain: String,
        /// Its datapath.
        pub array: Array,
        /// What its work costs.
        pub energy: EngineEnergy,
        /// Number formats it runs in another, wider one (a 16-bit datapath runs an 8-bit network).
        #[serde(default)]
        pub runs_as: BTreeMap<Precision, Precision>,
        /// Kinds of operator it runs.
        pub supports: Vec<OpKind>,
        /// Windows of convolutions that it takes; left out means all.
        #[serde(default)]
        pub windows: Option<WindowLimits>,
        /// Rate that is reached over the one that shapes allow, by kind: what calibration leaves.
        #[serde(default)]
        pub efficiency: BTreeMap<OpKind, Valued<Ratio>>,
        /// Zeros of the weights that it leaves out.
        #[serde(default)]
        pub skips: Vec<ZeroSkipping>,
        /// Weights that travel compressed from their home and are expanded in it.
        #[serde(default)]
        pub decompresses: Option<Decompression>,
        /// Memories it works from.
        pub memories: Vec<String>,
        /// Bytes of a partial sum that leaves the datapath and comes back; without it those of an
        /// accumulator: 4 B for integers of up to 16 bits and floats of up to 32, 8 B above.
        #[serde(default)]
        pub partial_sum: Option<Valued<Bytes>>,
        /// How transfers and computing overlap.
        pub transfers: Transfers,
        /// What its software keeps in a buffer for the next layer.
        #[serde(default)]
        pub keeps: Keeps,
        /// Weights that come closer while the operator before theirs runs.
        #[serde(default)]
        pub ahead: Option<Ahead>,
        /// Bytes that are on their way at a time, where that limits how fast a memory with a latency is
        /// read.
        #[serde(default)]
        pub in_flight: Option<InFlight>,
        /// Cycles to start an operator, before its first result.
        #[serde(default)]
        pub dispatch: Option<Valued<Cycles>>,
        /// Highest power within an operator over its mean.
        #[serde(default)]
        pub peak_to_mean: Option<Valued<Ratio>>,
        /// Time in which its current rises from rest to work.
        #[serde(default)]
        pub ramp: Option<Valued<Seconds>>,
    }
}

described! {
    /// Weights that come closer while the operator before theirs runs.
    pub struct Ahead {
        /// The memory that they come into.
        pub into: String,
        /// Kinds of operator whose weights do; those of others are read where they live.
        pub kinds: Vec<OpKind>,
    }
}

described! {
    /// Bytes that an engine asks for at a time, by what it reads. A memory with a latency of `t` gives it
    /// no more than that in each `t`.
    pub struct InFlight {
        /// Of weights.
        #[serde(default)]
        pub weights: Option<Valued<Bytes>>,
        /// Of biases and scales.
        #[serde(default)]
        pub records: Option<Valued<Bytes>>,
        /// Of anything else.
        #[serde(default)]
        pub activations: Option<Valued<Bytes>>,
    }
}

described! {
    /// Zeros of stored weights that cost no time. Their products cost no energy either.
    pub struct ZeroSkipping {
        /// Which zeros.
        pub zeros: Zeros,
        /// Share of the time that the zeros would take and that is saved.
        pub gain: Valued<Ratio>,
        /// True where the compiler looks for the structure in the values of stored weights, and has it where
        /// all groups along the channels do (channels that are missing from the last group are zero).
        /// Otherwise a model says which weights are stored so.
        #[serde(default)]
        pub found: bool,
    }
}

described! {
    /// Weights that travel compressed. They take the bytes that a compiler said where the model file has
    /// them, else those of the entropy of their values (each weight by itself), else all.
    pub struct Decompression {
        /// Bytes of the code over the entropy of the values; 1 when left out, which no code goes below.
        #[serde(default)]
        pub over_entropy: Option<Valued<Ratio>>,
    }
}

/// Zeros that an engine finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Zeros {
    /// `keep` of every `of` along the depth of the sum are stored.
    Structured {
        /// Elements stored.
        keep: u32,
        /// Elements of a group.
        of: u32,
    },
    /// Anywhere.
    Anywhere,
}

/// How transfers and computing overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Transfers {
    /// Loads and stores are instructions of the kernel: no fill, no drain.
    Inline,
    /// The next tile is fetched while this one is computed.
    DoubleBuffered,
    /// Fetch, compute, store, one after the other.
    Serial,
}

/// Results that stay in a buffer for the next layer, instead of going home and back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Keeps {
    /// None.
    #[default]
    Nothing,
    /// Those that fit whole, beside the tiles of their maker and of their reader.
    Results,
    /// Those too, or of the results of several layers that run depth first the rows that a window is over.
    Rows,
}

/// An engine's datapath.
#[derive(Debug, Clone, Deserialize)]
pub enum Array {
    /// A processor or vector unit.
    Lanes(Lanes),
    /// A two-dimensional array of processing elements.
    Systolic(Systolic),
    /// Tensor cores, each of which multiplies tiles.
    TensorTiles(TensorTiles),
    /// A datapath that unrolls given loops of each kind of operator.
    FixedFunction(FixedFunction),
    /// A datapath that makes results block by block.
    Blocks(Box<BlockEngine>),
}

either_parameter!(Array: Lanes, Systolic, TensorTiles, FixedFunction, Blocks);

described! {
    /// A processor or vector unit: a peak rate by precision, which software reaches or not.
    pub struct Lanes {
        /// Peak multiply-accumulates a cycle.
        pub macs: BTreeMap<Precision, Valued<MacsPerCycle>>,
        /// Element operations a cycle; as many as multiply-accumulates when left out.
        #[serde(default)]
        pub operations: BTreeMap<Precision, Valued<OperationsPerCycle>>,
        /// The loop that fills the lanes; none means that shapes do not matter.
        #[serde(default)]
        pub vector: Option<Vector>,
    }
}

described! {
    /// A vectorised loop: what does not fill a vector runs it partly empty.
    pub struct Vector {
        /// The loop.
        pub along: VectorLoop,
        /// Elements of a vector, by precision.
        pub elements: BTreeMap<Precision, u64>,
        /// Cycles for each vector of results beside its multiply-accumulates: loop, reduction, store.
        #[serde(default)]
        pub overhead: Option<Valued<Cycles>>,
    }
}

/// The loop of a product that fills vector lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum VectorLoop {
    /// The sum: window points times input channels (dot-product instructions).
    Depth,
    /// Output channels; the channels of a depthwise convolution.
    OutputChannels,
}

described! {
    /// A two-dimensional array; each element does one multiply-accumulate a cycle.
    pub struct Systolic {
        /// Rows of processing elements.
        pub rows: u64,
        /// Columns of processing elements.
        pub columns: u64,
        /// What stays in place.
        pub dataflow: Dataflow,
        /// The number format of the elements.
        pub precision: Precision,
        /// Rates in other formats, over that in `precision` (8-bit at twice the 16-bit rate: `2 x`).
        #[serde(default)]
        pub rates: BTreeMap<Precision, Valued<Ratio>>,
        /// True when the next stationary tile is loaded while this one is worked on.
        #[serde(default)]
        pub prefetches_weights: bool,
        /// True where buffers of lines hand overlapping windows on, so that each input word enters once a
        /// pass. Without them it enters once for each window it is in. Rows that slide need none.
        #[serde(default)]
        pub reuses_windows: bool,
        /// Storage in each element, which bounds reuse.
        #[serde(default)]
        pub scratchpads: Option<Scratchpads>,
        /// Element operations a cycle beside the array (activation, pooling).
        #[serde(default)]
        pub operations: Option<Valued<OperationsPerCycle>>,
    }
}

/// What stays in place in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dataflow {
    /// Weights.
    WeightStationary,
    /// Partial sums.
    OutputStationary,
    /// Inputs.
    InputStationary,
    /// Rows of the window slide past rows of the image (Eyeriss).
    RowStationary,
}

described! {
    /// Storage in each processing element, in words.
    pub struct Scratchpads {
        /// Words of weights.
        pub filter: u64,
        /// Words of inputs.
        pub input: u64,
        /// Words of partial sums.
        pub partial_sum: u64,
        /// Rows of the input that an element goes through in a pass at most: one for each input channel and
        /// strip that it makes a part of. As many as fit when left out.
        #[serde(default)]
        pub input_rows: Option<u64>,
    }
}

described! {
    /// Units that multiply tiles of `m` x `k` by `k` x `n`; a product that does not fill its last tile
    /// or its last round of units pays for all of it.
    pub struct TensorTiles {
        /// Units that work side by side (tensor cores, or multiprocessors with theirs).
        pub units: u64,
        /// Rows of a tile of results.
        pub m: u64,
        /// Columns of a tile of results.
        pub n: u64,
        /// Depth of a step.
        pub k: u64,
        /// Multiply-accumulates a cycle of one unit.
        pub macs: BTreeMap<Precision, Valued<MacsPerCycle>>,
        /// Element operations a cycle of all vector lanes beside the tensor cores.
        #[serde(default)]
        pub operations: BTreeMap<Precision, Valued<OperationsPerCycle>>,
    }
}

described! {
    /// A datapath that does so many steps of each loop at once; loops whose extents do not divide run
    /// partly empty.
    pub struct FixedFunction {
        /// The number format of the steps.
        pub precision: Precision,
        /// Rates in other formats, over that in `precision`.
        #[serde(default)]
        pub rates: BTreeMap<Precision, Valued<Ratio>>,
        /// Loops that are unrolled, by kind of operator.
        pub unrolled: BTreeMap<OpKind, Unrolled>,
        /// Datapaths that single layers have to themselves, by the layers' names: hardware made for one network. All
        /// of them work at once, each on what those before hand on, and products of other names are refused.
        #[serde(default)]
        pub stages: BTreeMap<String, Unrolled>,
        /// Results a cycle that the way out takes (scaling, activation, store).
        #[serde(default)]
        pub outputs: Option<Valued<OperationsPerCycle>>,
        /// Element operations a cycle (element-wise, pooling).
        #[serde(default)]
        pub operations: Option<Valued<OperationsPerCycle>>,
        /// The same for kinds of operator that go at a pace of their own.
        #[serde(default)]
        pub operations_by_kind: BTreeMap<OpKind, Valued<OperationsPerCycle>>,
    }
}

described! {
    /// Steps of each loop that are done at once; 1 when left out.
    pub struct Unrolled {
        /// Output channels of a group; channels of a depthwise convolution.
        #[serde(default = "one")]
        pub output_channels: u64,
        /// Input channels of a group.
        #[serde(default = "one")]
        pub input_channels: u64,
        /// Window points.
        #[serde(default = "one")]
        pub window: u64,
        /// Output rows.
        #[serde(default = "one")]
        pub output_rows: u64,
        /// Output columns.
        #[serde(default = "one")]
        pub output_columns: u64,
        /// Cycles of a step; 1 when left out.
        #[serde(default)]
        pub cycles: Option<Valued<Cycles>>,
        /// Cycles of an output channel in each step beside [`Self::cycles`], for channels that come one
        /// after the other.
        #[serde(default)]
        pub step_channel_cycles: Option<Valued<Cycles>>,
        /// Cycles of a tile of results beside its steps: start, scaling, store.
        #[serde(default)]
        pub tile_cycles: Option<Valued<Cycles>>,
        /// Cycles of an output channel of a tile beside its steps.
        #[serde(default)]
        pub channel_cycles: Option<Valued<Cycles>>,
        /// Cycles of a position of the results beside all that, once for all of its channels: window and
        /// addresses move on.
        #[serde(default)]
        pub position_cycles: Option<Valued<Cycles>>,
        /// Output rows and columns of a step where the stride is above one; left out means the same as
        /// otherwise.
        #[serde(default)]
        pub strided: Option<(u64, u64)>,
        /// True for a datapath that makes results at every position, and drops those between strides.
        #[serde(default)]
        pub makes_all_positions: bool,
    }
}

fn one() -> u64 {
    1
}

impl Unrolled {
    /// Every extent with its name.
    pub fn extents(&self) -> [(&'static str, u64); 5] {
        [
            ("output_channels", self.output_channels),
            ("input_channels", self.input_channels),
            ("window", self.window),
            ("output_rows", self.output_rows),
            ("output_columns", self.output_columns),
        ]
    }

    /// Multiply-accumulates of a step.
    pub fn macs(&self) -> u64 {
        self.extents().iter().fold(1, |product, (_, extent)| product.saturating_mul(*extent))
    }
}

no_parameters!(Dataflow, Keeps, Transfers, OpKind, Zeros, VectorLoop);

described! {
    /// What an engine's work costs, at its domain's nominal voltage.
    pub struct EngineEnergy {
        /// Energy of a multiply-accumulate, by precision. Left out for a processor whose cycle cost
        /// holds it. Never a whole chip's measured energy per MAC.
        #[serde(default)]
        pub per_mac: BTreeMap<Precision, Valued<JoulesPerMac>>,
        /// Energy of an element operation, by precision.
        #[serde(default)]
        pub per_operation: BTreeMap<Precision, Valued<JoulesPerOperation>>,
        /// Cost of a cycle at work: fetch, decode, control, operand delivery.
        #[serde(default)]
        pub per_busy_cycle: Option<PerCycle>,
        /// Traffic to the storage in the processing elements.
        #[serde(default)]
        pub operand_store: Option<OperandStore>,
        /// Share of the energy of a multiply-accumulate and of its operand store that is saved where
        /// the datum is zero (zero gating). It saves no time.
        #[serde(default)]
        pub zero_data_saves: Option<Valued<Ratio>>,
    }
}

described! {
    /// Traffic to the register files or scratchpads in the processing elements.
    pub struct OperandStore {
        /// Bytes read and written for a multiply-accumulate.
        pub traffic: Valued<BytesPerMac>,
        /// Energy of a byte.
        pub energy: Valued<JoulesPerByte>,
        /// Bytes of a word that holds the filter window of one channel and is read whole: a window of
        /// so many points moves at least this over the points for each multiply-accumulate.
        /// Fewer bits of a weight take so much less of it.
        #[serde(default)]
        pub word: Option<Valued<Bytes>>,
        /// Energy of a byte of such a word beside [`Self::energy`] where the input channels of a result come
        /// in several passes, so that data and word change at each step.
        #[serde(default)]
        pub reload: Option<Valued<JoulesPerByte>>,
    }
}

impl Array {
    /// True when it computes in a number format.
    pub fn computes_in(&self, precision: Precision) -> bool {
        match self {
            Self::Lanes(lanes) => lanes.macs.contains_key(&precision),
            Self::Systolic(s) => s.precision == precision || s.rates.contains_key(&precision),
            Self::TensorTiles(t) => t.macs.contains_key(&precision),
            Self::FixedFunction(f) => f.precision == precision || f.rates.contains_key(&precision),
            Self::Blocks(b) => b.precision == precision || b.rates.contains_key(&precision),
        }
    }

    /// Units that work side by side on tiles of their own.
    pub fn abreast(&self) -> u64 {
        match self {
            Self::TensorTiles(tiles) => tiles.units.max(1),
            Self::Lanes(_) | Self::Systolic(_) | Self::FixedFunction(_) | Self::Blocks(_) => 1,
        }
    }

    /// Number formats that it computes in.
    pub fn formats(&self) -> Vec<Precision> {
        let beside = |own: Precision, rates: &BTreeMap<Precision, Valued<Ratio>>| {
            let others = rates.keys().copied().filter(|p| *p != own);
            std::iter::once(own).chain(others).collect()
        };
        match self {
            Self::Lanes(lanes) => lanes.macs.keys().copied().collect(),
            Self::TensorTiles(tiles) => tiles.macs.keys().copied().collect(),
            Self::Systolic(s) => beside(s.precision, &s.rates),
            Self::FixedFunction(f) => beside(f.precision, &f.rates),
            Self::Blocks(b) => beside(b.precision, &b.rates),
        }
    }

    /// What kind of datapath it is, in words.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Lanes(_) => "lanes",
            Self::Systolic(_) => "systolic array",
            Self::TensorTiles(_) => "tensor cores",
            Self::FixedFunction(_) => "fixed function",
            Self::Blocks(_) => "blocks of results",
        }
    }
}
