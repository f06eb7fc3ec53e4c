//! The profile as it stands in the file.
//!
//! Names refer to names: an engine to its domain, a domain to its rail, a regulator to the rails it
//! joins. [`super::Profile`] checks that they exist and turns them into indices.

use crate::evidence::{
    Condition, FieldPath, Parameter, Parameters, Sources, Valued, described, no_parameters,
};
use crate::model::{ElementType, OpKind};
use crate::units::{
    Amperes, Bytes, BytesPerCycle, BytesPerSecond, Celsius, Coulombs, Cycles, CyclesPerElement,
    CyclesPerMac, CyclesPerOperation, Joules, JoulesPerByte, JoulesPerCycle, JoulesPerMac,
    JoulesPerOperation, MacsPerCycle, PerKelvin, PerVolt, Quantity, Ratio, Seconds, Volts, Watts,
};
use crate::units::{BytesPerMac, Hertz};
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
        /// The profile that this one extends: a shipped name, or a path from the folder of this file.
        /// What it says holds wherever this file says nothing: groups of fields and maps are laid
        /// over part by part, lists by the `name` of their items, and a variant by field where it is
        /// the same one; any other value, and each source, is replaced whole. Chains are allowed,
        /// cycles are not. A shipped profile is no file: `eyeriss.ron` may extend the shipped
        /// `eyeriss`.
        #[serde(default)]
        pub extends: Option<String>,
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
        /// Clock frequencies and rail voltages that go together; the first is the default.
        pub operating_points: Vec<OperatingPoint>,
        /// Supply rails; those that no regulator feeds are fed by a source.
        pub rails: Vec<RailSpec>,
        /// Converters between rails.
        #[serde(default)]
        pub regulators: Vec<Regulator>,
        /// Power domains.
        pub domains: Vec<Domain>,
        /// Memories, on chip and off.
        pub memories: Vec<Memory>,
        /// Engines, in the order in which they are preferred.
        pub engines: Vec<Engine>,
        /// Software stacks that run on programmable engines; the first for an engine is its default.
        #[serde(default)]
        pub software: Vec<SoftwareStack>,
    }
}

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
        /// Frequency of each clock.
        pub clocks: BTreeMap<String, Valued<Hertz>>,
        /// Voltage of each rail.
        pub voltages: BTreeMap<String, Valued<Volts>>,
    }
}

described! {
    /// A supply rail.
    pub struct RailSpec {
        /// Its name.
        pub name: String,
    }
}

described! {
    /// A converter from one rail to another.
    pub struct Regulator {
        /// Its name.
        pub name: String,
        /// The rail it draws from.
        pub input: String,
        /// The rail it feeds.
        pub output: String,
        /// How it converts.
        pub kind: RegulatorKind,
        /// Operating points at which it is in use; empty means all. Of two regulators that feed one
        /// rail, exactly one is in use at each point.
        #[serde(default)]
        pub operating_points: Vec<String>,
    }
}

/// How a regulator converts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum RegulatorKind {
    /// Linear: constant current.
    Ldo {
        /// Quiescent current; left out where currents were measured at the input and hold it.
        #[serde(default)]
        quiescent: Option<Valued<Amperes>>,
        /// Share of the load current lost to ground.
        #[serde(default)]
        ground_share: Option<Valued<Ratio>>,
    },
    /// Switching, at a stated efficiency.
    Switching {
        /// Conversion efficiency.
        efficiency: Valued<Ratio>,
        /// Quiescent current.
        quiescent: Valued<Amperes>,
    },
}

impl Parameters for RegulatorKind {
    fn walk(&mut self, path: &mut FieldPath, visit: &mut dyn FnMut(&FieldPath, &mut Parameter)) {
        match self {
            Self::Ldo { quiescent, ground_share } => path.within("Ldo", |path| {
                path.within("quiescent", |p| quiescent.walk(p, visit));
                path.within("ground_share", |p| ground_share.walk(p, visit));
            }),
            Self::Switching { efficiency, quiescent } => path.within("Switching", |path| {
                path.within("efficiency", |p| efficiency.walk(p, visit));
                path.within("quiescent", |p| quiescent.walk(p, visit));
            }),
        }
    }
}

described! {
    /// A power domain: what shares a rail, a clock and a power switch.
    pub struct Domain {
        /// Its name.
        pub name: String,
        /// The rail that feeds it.
        pub rail: String,
        /// The clock that drives it.
        pub clock: String,
        /// Voltage at which its dynamic costs, and those of what is in it, are stated.
        pub nominal_voltage: Condition<Volts>,
        /// Exponent of dynamic energy over voltage; 2 when left out.
        #[serde(default)]
        pub voltage_exponent: Option<Valued<Ratio>>,
        /// Cost of a cycle of the running clock while the domain is on, whatever the engines do.
        #[serde(default)]
        pub clock_tree: Option<PerCycle>,
        /// Leakage while powered.
        #[serde(default)]
        pub leakage: Option<LeakageSpec>,
        /// States with less power than on, for idle times; the first is the one used.
        #[serde(default)]
        pub states: Vec<DomainState>,
    }
}

described! {
    /// A state of a domain that is not at work. Its power replaces clock tree, leakage and the
    /// background of the domain's memories.
    pub struct DomainState {
        /// Its name.
        pub name: String,
        /// What a cycle of a clock that goes on costs.
        #[serde(default)]
        pub per_cycle: Option<PerCycle>,
        /// What is drawn whatever the clock does.
        #[serde(default)]
        pub standing: Option<Standing>,
        /// Time to be at work again.
        #[serde(default)]
        pub wake_time: Option<Valued<Seconds>>,
        /// Energy of coming back, beyond the on power during the wake time.
        #[serde(default)]
        pub wake_energy: Option<Valued<Joules>>,
    }
}

described! {
    /// Leakage at a reference point, with its growth.
    pub struct LeakageSpec {
        /// Power at the domain's nominal voltage and the temperature below.
        pub power: Valued<Watts>,
        /// The temperature it is stated for.
        pub temperature: Condition<Celsius>,
        /// Growth with voltage.
        pub per_volt: Valued<PerVolt>,
        /// Growth with temperature.
        pub per_kelvin: Valued<PerKelvin>,
    }
}

/// A cost by clock cycle, as an energy or as a current per clock at the nominal voltage.
#[derive(Debug, Clone, Deserialize)]
pub enum PerCycle {
    /// Energy (`130 uW/MHz`).
    Energy(Valued<JoulesPerCycle>),
    /// Charge (`105 uA/MHz`).
    Charge(Valued<Coulombs>),
}

/// A constant draw, as a power or as a current.
#[derive(Debug, Clone, Deserialize)]
pub enum Standing {
    /// Power.
    Power(Valued<Watts>),
    /// Current, whatever the voltage.
    Current(Valued<Amperes>),
}

/// A bandwidth in time or tied to the clock of the memory's domain.
#[derive(Debug, Clone, Deserialize)]
pub enum Bandwidth {
    /// Bytes a second.
    PerSecond(Valued<BytesPerSecond>),
    /// Bytes a cycle of the domain's clock.
    PerCycle(Valued<BytesPerCycle>),
}

macro_rules! either_parameter {
    ($type:ident: $($variant:ident),*) => {
        impl Parameters for $type {
            fn walk(&mut self, path: &mut FieldPath, visit: &mut dyn FnMut(&FieldPath, &mut Parameter)) {
                match self { $(Self::$variant(v) => path.within(stringify!($variant), |p| v.walk(p, visit))),* }
            }
        }
    };
}
either_parameter!(PerCycle: Energy, Charge);
either_parameter!(Standing: Power, Current);
either_parameter!(Bandwidth: PerSecond, PerCycle);

described! {
    /// A memory.
    pub struct Memory {
        /// Its name.
        pub name: String,
        /// The domain it is in.
        pub domain: String,
        /// How much it holds.
        pub capacity: Valued<Bytes>,
        /// What lives in it between layers; empty for a buffer that only stages.
        #[serde(default)]
        pub holds: Vec<TensorClass>,
        /// The buffer its traffic passes through on the way to an engine.
        #[serde(default)]
        pub staged_through: Option<String>,
        /// Bandwidth, shared by reads and writes.
        pub bandwidth: Bandwidth,
        /// Energy of a byte read. Left out where another number holds it (a run current measured
        /// while executing from this memory).
        #[serde(default)]
        pub read_energy: Option<Valued<JoulesPerByte>>,
        /// Energy of a byte written, likewise.
        #[serde(default)]
        pub write_energy: Option<Valued<JoulesPerByte>>,
        /// Power while it stands ready.
        #[serde(default)]
        pub background: Option<Valued<Watts>>,
    }
}

/// A class of tensors, for placing them in memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TensorClass {
    /// Stored with the model.
    Weights,
    /// Made and used during an inference.
    Activations,
}

/// A number format that an engine computes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Precision {
    /// 4-bit integer.
    Int4,
    /// 8-bit integer.
    Int8,
    /// 16-bit integer.
    Int16,
    /// 32-bit integer.
    Int32,
    /// 4-bit float of any kind.
    Float4,
    /// 8-bit float of any kind.
    Float8,
    /// IEEE half.
    Float16,
    /// Brain float.
    BFloat16,
    /// IEEE single.
    Float32,
    /// IEEE double.
    Float64,
}

impl Precision {
    /// The precision that elements of a type are computed in; `None` for types without arithmetic.
    pub fn of(element: ElementType) -> Option<Self> {
        Some(match element {
            ElementType::Int4 => Self::Int4,
            ElementType::Bool | ElementType::Int8 | ElementType::UInt8 => Self::Int8,
            ElementType::Int16 | ElementType::UInt16 => Self::Int16,
            ElementType::Int32 | ElementType::UInt32 => Self::Int32,
            ElementType::Int64 | ElementType::UInt64 => Self::Int32,
            ElementType::Float4 => Self::Float4,
            ElementType::Float8 => Self::Float8,
            ElementType::Float16 => Self::Float16,
            ElementType::BFloat16 => Self::BFloat16,
            ElementType::Float32 => Self::Float32,
            ElementType::Float64 => Self::Float64,
            ElementType::Other => return None,
        })
    }

    /// Width in bits.
    pub fn bits(self) -> u64 {
        match self {
            Self::Int4 | Self::Float4 => 4,
            Self::Int8 | Self::Float8 => 8,
            Self::Int16 | Self::Float16 | Self::BFloat16 => 16,
            Self::Int32 | Self::Float32 => 32,
            Self::Float64 => 64,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}"))
    }
}

described! {
    /// An engine: what does the arithmetic.
    pub struct Engine {
        /// Its name.
        pub name: String,
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
        /// Memories it works from.
        pub memories: Vec<String>,
        /// How transfers and computing overlap.
        pub transfers: Transfers,
        /// Cycles to start an operator, before its first result.
        #[serde(default)]
        pub dispatch: Option<Valued<Cycles>>,
    }
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

/// An engine's datapath.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Array {
    /// A processor or vector unit: a peak rate by precision.
    Lanes {
        /// Peak multiply-accumulates a cycle.
        macs: BTreeMap<Precision, Valued<MacsPerCycle>>,
    },
    /// A two-dimensional array of processing elements.
    Systolic(Systolic),
}

impl Parameters for Array {
    fn walk(&mut self, path: &mut FieldPath, visit: &mut dyn FnMut(&FieldPath, &mut Parameter)) {
        match self {
            Self::Lanes { macs } => path.within("Lanes", |path| {
                path.within("macs", |p| macs.walk(p, visit));
            }),
            Self::Systolic(systolic) => path.within("Systolic", |p| systolic.walk(p, visit)),
        }
    }
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
        /// Storage in each element, which bounds reuse.
        #[serde(default)]
        pub scratchpads: Option<Scratchpads>,
        /// Element operations a cycle beside the array (activation, pooling).
        #[serde(default)]
        pub operations_per_cycle: Option<u64>,
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
    }
}

no_parameters!(SystemKind, Dataflow, Precision, Transfers, TensorClass, OpKind);

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
    }
}

described! {
    /// Traffic to the register files or scratchpads in the processing elements.
    pub struct OperandStore {
        /// Bytes read and written for a multiply-accumulate.
        pub traffic: Valued<BytesPerMac>,
        /// Energy of a byte.
        pub energy: Valued<JoulesPerByte>,
    }
}

described! {
    /// How fast a software stack makes an engine: a runtime of a version, compiled for a core.
    ///
    /// A release of a runtime moves latency by 5 to 45 %, unevenly over kinds of operator, so the
    /// stack stands apart from the silicon.
    pub struct SoftwareStack {
        /// Its name, as `--software` takes it.
        pub name: String,
        /// The engine it runs on.
        pub engine: String,
        /// Cycles for a multiply-accumulate, by kind of operator.
        #[serde(default)]
        pub cycles_per_mac: BTreeMap<OpKind, Valued<CyclesPerMac>>,
        /// Cycles for an output element beside its MACs (requantise, store), by kind.
        #[serde(default)]
        pub cycles_per_output: BTreeMap<OpKind, Valued<CyclesPerElement>>,
        /// Cycles for an element operation, by kind, where the work is no MACs.
        #[serde(default)]
        pub cycles_per_operation: BTreeMap<OpKind, Valued<CyclesPerOperation>>,
        /// Cycles to call an operator.
        #[serde(default)]
        pub dispatch: Option<Valued<Cycles>>,
    }
}

impl PerCycle {
    /// The evidence it rests on.
    pub fn kind(&self) -> crate::evidence::Kind {
        match self {
            Self::Energy(v) => v.kind(),
            Self::Charge(v) => v.kind(),
        }
    }

    /// Energy of a cycle at the nominal voltage.
    pub fn energy_at_nominal(&self, nominal: Volts) -> Joules {
        match self {
            Self::Energy(v) => Joules(v.get().si()),
            Self::Charge(v) => nominal * v.get(),
        }
    }
}

impl Regulator {
    /// True at an operating point that it is used at: those named, or all when none is.
    pub fn in_use_at(&self, point: &str) -> bool {
        self.operating_points.is_empty() || self.operating_points.iter().any(|p| p == point)
    }
}

impl Standing {
    /// The evidence it rests on.
    pub fn kind(&self) -> crate::evidence::Kind {
        match self {
            Self::Power(v) => v.kind(),
            Self::Current(v) => v.kind(),
        }
    }

    /// Power at a voltage.
    pub fn at(&self, voltage: Volts) -> Watts {
        match self {
            Self::Power(v) => v.get(),
            Self::Current(v) => voltage * v.get(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn current_per_clock_is_a_charge_per_cycle() {
        // 105 uA/MHz at 120 MHz is 12.6 mA; at 1.28 V that is 16.128 mW, or 134.4 pJ a cycle.
        let cycle: PerCycle = ron::from_str("Charge(\"105 uA/MHz\")").unwrap();
        assert!((cycle.energy_at_nominal(Volts(1.28)).0 - 134.4e-12).abs() < 1e-18);
    }
}
