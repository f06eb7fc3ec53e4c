//! Software stacks: how fast a runtime makes a core.

use super::Extends;
use super::precision::Precision;
use crate::evidence::{Sources, Valued, described};
use crate::model::OpKind;
use crate::units::{
    BytesPerSecond, Cycles, CyclesPerElement, CyclesPerMac, CyclesPerOperation, Ratio,
};
use std::collections::BTreeMap;

described! {
    /// Software stacks that stand in a file of their own, for profiles to extend.
    pub struct SoftwareSpec {
        /// Version of the format: that of a profile.
        pub schema: String,
        /// Files of software stacks that this one is laid over.
        #[serde(default)]
        pub extends: Option<Extends>,
        /// What it takes out of them.
        #[serde(default)]
        pub without: Vec<String>,
        /// Sources that values point to with `@key`.
        pub sources: Sources,
        /// The stacks.
        pub software: Vec<SoftwareStack>,
    }
}

described! {
    /// How fast a software stack makes an engine: a runtime of a version, compiled for a core.
    ///
    /// A release of a runtime moves latency by 5 to 45 %, unevenly over kinds of operator, so the
    /// stack stands apart from the silicon: it holds no energies, and profiles of one core share it.
    pub struct SoftwareStack {
        /// Its name, as `--software` takes it.
        pub name: String,
        /// Runtime and versions, where the stack stands for one.
        #[serde(default)]
        pub runtime: Option<Runtime>,
        /// The library whose kernels it calls, where several runtimes call them; its family otherwise.
        #[serde(default)]
        pub kernels: Option<String>,
        /// What it runs on: names of engines, or classes of core.
        pub runs_on: Vec<String>,
        /// Cycles for a multiply-accumulate, by kind of operator.
        #[serde(default)]
        pub cycles_per_mac: BTreeMap<OpKind, Valued<CyclesPerMac>>,
        /// Cycles for an output element beside its MACs (requantise, store), by kind.
        #[serde(default)]
        pub cycles_per_output: BTreeMap<OpKind, Valued<CyclesPerElement>>,
        /// Cycles for an output position of MAC work whatever its channels (addresses, set-up of the
        /// loops over them), by kind.
        #[serde(default)]
        pub cycles_per_position: BTreeMap<OpKind, Valued<Cycles>>,
        /// Cycles for an element that is gathered for a product before it is made (im2col), by kind: the window
        /// of each position over all its channels.
        #[serde(default)]
        pub cycles_per_gathered: BTreeMap<OpKind, Valued<CyclesPerElement>>,
        /// Cycles for an element operation, by kind, where the work is no MACs.
        #[serde(default)]
        pub cycles_per_operation: BTreeMap<OpKind, Valued<CyclesPerOperation>>,
        /// Cycles in a number format over those above, which hold for any format that is not named.
        #[serde(default)]
        pub relative_cycles: BTreeMap<Precision, Valued<Ratio>>,
        /// Block of results that a kernel makes in one pass over the sum; it decides how often
        /// operands are read again. None means that each is read once.
        #[serde(default)]
        pub blocks: Option<Blocks>,
        /// Tile of a product that a kernel always computes whole: the cycles of its MACs and outputs go
        /// by extents rounded up. None means that they go by the product as it is.
        #[serde(default)]
        pub tile: Option<Tile>,
        /// Rate at which kernels wait for stored weights: the time of a layer's weights comes on top of
        /// its cycles. None means that weights come beside them, as the engine's `transfers` say.
        #[serde(default)]
        pub weight_stream: Option<Valued<BytesPerSecond>>,
        /// True when the runtime leaves out channels that compute a constant.
        #[serde(default)]
        pub removes_dead_channels: bool,
        /// True when normalisation, bias, residual addition and activation are done on the way out
        /// of the operator before them.
        #[serde(default)]
        pub fuses: bool,
        /// Cycles to call an operator.
        #[serde(default)]
        pub dispatch: Option<Valued<Cycles>>,
        /// Cycles to run a network, whatever is in it: the caller, its input and its output.
        #[serde(default)]
        pub start: Option<Valued<Cycles>>,
    }
}

described! {
    /// A runtime, in versions that one set of numbers stands for.
    pub struct Runtime {
        /// Its family (`CMSIS-NN`).
        pub family: String,
        /// Its versions; any where none is named.
        #[serde(default)]
        pub versions: Vec<String>,
    }
}

described! {
    /// A block of results of a matrix product.
    pub struct Blocks {
        /// Output positions.
        pub positions: u64,
        /// Output channels.
        pub channels: u64,
    }
}

described! {
    /// A tile of a matrix product.
    pub struct Tile {
        /// Output positions.
        pub positions: u64,
        /// Output channels.
        pub channels: u64,
        /// Points of the sum.
        pub depth: u64,
    }
}
