//! The profile as it stands in the file.
//!
//! Names refer to names: an engine to its domain, a domain to its rail, a regulator to the rails it
//! joins. [`super::Profile`] checks that they exist and turns them into indices.

mod block_engine;
mod corner;
mod domain;
mod engine;
mod load;
mod memory;
mod package;
mod posterior;
mod precision;
mod software;
mod supply;
mod throttling;
mod windows;

pub use block_engine::{
    ApartBuffers, BlockBuffers, BlockEngine, BlockShape, Judged, MicroBlock, Sequence,
    SharedBuffer, SumOrder, WayOut,
};
pub use corner::Corner;
pub use domain::{Domain, DomainState, LeakageSpec, PerCycle, Standing};
pub use engine::{
    Ahead, Array, Dataflow, Decompression, Engine, EngineEnergy, FixedFunction, InFlight, Keeps,
    Lanes, OperandStore, Scratchpads, Systolic, TensorTiles, Transfers, Unrolled, Vector,
    VectorLoop, ZeroSkipping, Zeros,
};
pub use load::{LoadLeakage, LoadState, StateLoad};
pub use memory::{
    Bandwidth, Cache, Delay, Link, Memory, MemoryState, Replacement, Rows, SetPoint, TensorClass,
    WaitStateRange, WaitStates,
};
pub use package::{
    BlockResponses, BlockTerm, CauerNode, FosterTerm, HeatJoin, HeatNode, NodeNetwork, Package,
    ThermalNetwork,
};
pub use posterior::Posterior;
pub use precision::Precision;
pub use software::{Blocks, Runtime, SoftwareSpec, SoftwareStack, Tile};
pub use supply::{
    Buck, BuckFit, EfficiencyPoint, EfficiencyPoints, FitPoint, Ldo, LoadSwitch, OpenCircuitPoint,
    RailSpec, Regulator, RegulatorKind, RegulatorMode, Storage, Supply, Switching,
};
pub use throttling::{AllocatorActor, AllocatorTrip, Critical, HeatSensor, StepWiseTrip, Throttle};
pub use windows::WindowLimits;

use crate::evidence::{Condition, Sources, Valued, described, no_parameters};
use crate::units::{Celsius, Hertz, Seconds, Volts};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

described! {
    /// A chip and its board.
    pub struct ProfileSpec {
        /// Version of the format.
        pub schema: String,
        /// Name, as `--on` takes it.
        pub name: String,
        /// The profile that this one extends: a shipped name, or a path from the folder of this file;
        /// or a list of profiles and files of software stacks (`software/x_cube_ai`), each laid over
        /// those before it. What it says holds wherever this file says nothing: groups of fields and maps are laid
        /// over part by part, lists by the `name` of their items, and a variant by field where it is
        /// the same one; any other value, and each source, is replaced whole. Chains are allowed,
        /// cycles are not. A shipped profile is no file: `eyeriss.ron` may extend the shipped
        /// `eyeriss`.
        #[serde(default)]
        pub extends: Option<Extends>,
        /// Parts of the extended profile to leave out, as paths of fields and names
        /// (`domains.core.states.stop2`).
        #[serde(default)]
        pub without: Vec<String>,
        /// What kind of system it is.
        pub kind: SystemKind,
        /// One or two sentences for a reader.
        pub description: String,
        /// Sources that values point to with `@key`.
        pub sources: Sources,
        /// Junction temperature that leakage is taken at.
        pub temperature: Valued<Celsius>,
        /// Corners of silicon and conditions.
        #[serde(default)]
        pub corners: Vec<Corner>,
        /// Clock frequencies and rail voltages that go together; the first is the default.
        pub operating_points: Vec<OperatingPoint>,
        /// Supply rails; those that no regulator feeds are fed by a supply.
        pub rails: Vec<RailSpec>,
        /// Converters between rails.
        #[serde(default)]
        pub regulators: Vec<Regulator>,
        /// What feeds the rails that no regulator feeds; an ideal bench supply where none is named.
        #[serde(default)]
        pub supplies: Vec<Supply>,
        /// Power domains.
        pub domains: Vec<Domain>,
        /// Memories, on chip and off.
        pub memories: Vec<Memory>,
        /// Caches in front of memories.
        #[serde(default)]
        pub caches: Vec<Cache>,
        /// Ways between memories.
        #[serde(default)]
        pub links: Vec<Link>,
        /// Engines, in the order in which they are preferred.
        pub engines: Vec<Engine>,
        /// Blocks that run no network.
        #[serde(default)]
        pub loads: Vec<StateLoad>,
        /// Software stacks that run on programmable engines; the first for an engine is its default.
        #[serde(default)]
        pub software: Vec<SoftwareStack>,
        /// The way of heat to the air.
        #[serde(default)]
        pub package: Option<Package>,
        /// What a change of operating point takes while something runs; nothing when left out.
        #[serde(default)]
        pub speed_change: Option<SpeedChange>,
        /// What a fit says of numbers together. It is inherited and replaced whole.
        #[serde(default)]
        pub posterior: Option<Posterior>,
    }
}

described! {
    /// What a change of operating point takes, beside the `slew` and `output_capacitance` of regulators.
    pub struct SpeedChange {
        /// Time until a rail that was set anew stands, after its ramp.
        #[serde(default)]
        pub settle: Option<Valued<Seconds>>,
        /// Time until the clock runs at its new frequency.
        #[serde(default)]
        pub relock: Option<Valued<Seconds>>,
        /// Time of the whole change, where only that is known: instead of ramps and `settle`.
        #[serde(default)]
        pub latency: Option<Valued<Seconds>>,
        /// True where nothing runs while the clock relocks; otherwise work goes on at the slower speed.
        #[serde(default)]
        pub halts: bool,
    }
}

/// What a profile extends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Extends {
    /// One file.
    One(String),
    /// Several, each laid over those before it.
    Several(Vec<String>),
}

impl Extends {
    /// What it names.
    pub fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }

    /// The same by other names.
    pub fn renamed(&self, rename: impl Fn(&str) -> String) -> Self {
        match self {
            Self::One(name) => Self::One(rename(name)),
            Self::Several(names) => Self::Several(names.iter().map(|name| rename(name)).collect()),
        }
    }
}

no_parameters!(Extends);

/// What kind of system a profile is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SystemKind {
    /// A microcontroller.
    Microcontroller,
    /// A neural-network accelerator.
    Accelerator,
    /// A system on chip with several kinds of engine.
    SystemOnChip,
}

no_parameters!(SystemKind);

impl fmt::Display for SystemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Microcontroller => "microcontroller",
            Self::Accelerator => "accelerator",
            Self::SystemOnChip => "system on chip",
        })
    }
}

described! {
    /// An operating point: what runs how fast at which voltage.
    pub struct OperatingPoint {
        /// Name, as `--opp` takes it.
        pub name: String,
        /// Frequency of each clock. What is set is exact unless it says otherwise.
        pub clocks: BTreeMap<String, Condition<Hertz>>,
        /// Voltage of each rail, likewise.
        pub voltages: BTreeMap<String, Condition<Volts>>,
        /// True for a point whose voltages are above what its clocks need: it is not held against faster
        /// ones.
        #[serde(default)]
        pub above_need: bool,
        /// Set point of memories that have several.
        #[serde(default)]
        pub set_points: BTreeMap<String, String>,
        /// States of blocks that run no network, where they differ from their first.
        #[serde(default)]
        pub loads: BTreeMap<String, String>,
        /// Voltage that domains ask of their rails. A rail is not below what its domains that are awake
        /// ask, and one without a voltage of its own stands at the highest of it.
        #[serde(default)]
        pub domain_voltages: BTreeMap<String, Condition<Volts>>,
        /// Domains that stay in a state of rest, with that state: their engines take no work.
        #[serde(default)]
        pub asleep: BTreeMap<String, String>,
    }
}
