//! What a layer's work is counted in, each with units of its own.

use crate::cost::Cost;
use crate::evidence::{Kind, Valued};
use crate::hardware::{Array, Engine, FixedFunction, Precision};
use crate::mapping::Step;
use crate::model::OpKind;
use crate::units::{
    JoulesPerMac, JoulesPerOperation, MacsPerByte, MacsPerCycle, MacsPerJoule, MacsPerSecond,
    OperationsPerByte, OperationsPerCycle, OperationsPerJoule, OperationsPerSecond, Quantity,
};
use std::fmt::{Debug, Display};

/// Operations of one kind, with the units of their rates.
pub trait Counted: Copy + Debug + PartialEq + 'static {
    /// Rate of a datapath.
    type PerCycle: Quantity;
    /// Intensity.
    type PerByte: Quantity + Display;
    /// Rate.
    type PerSecond: Quantity + Display;
    /// Efficiency.
    type PerJoule: Quantity + Display;
    /// Energy of one.
    type Energy: Quantity + Display;
    /// One of them, as units spell it.
    const NAME: &'static str;
    /// What a step does of them; nothing where it is counted in others.
    fn of(step: &Step) -> Option<Self>;
    /// How many.
    fn count(self) -> u64;
    /// So many more.
    fn plus(self, other: Self) -> Self;
    /// Most of them in a cycle of the engine, and what that rests on; nothing where its profile says none.
    fn rate(engine: &Engine, cost: &Cost) -> Option<(Self::PerCycle, Kind)>;
    /// Energy \[J\] of one in a number format at the nominal voltage, cycles apart.
    fn switching(engine: &Engine, precision: Precision) -> (f64, Kind);
}

/// Multiply-accumulates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Macs(pub u64);

/// Element operations of layers without multiply-accumulates: an addition, a comparison, a step of a
/// normalisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementOperations(pub u64);

impl Counted for Macs {
    type PerCycle = MacsPerCycle;
    type PerByte = MacsPerByte;
    type PerSecond = MacsPerSecond;
    type PerJoule = MacsPerJoule;
    type Energy = JoulesPerMac;
    const NAME: &'static str = "MAC";

    fn of(step: &Step) -> Option<Self> {
        Some(Self(step.cost.macs)).filter(|macs| macs.0 > 0)
    }

    fn count(self) -> u64 {
        self.0
    }

    fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    fn rate(engine: &Engine, cost: &Cost) -> Option<(MacsPerCycle, Kind)> {
        let kind = |rate: Option<&Valued<_>>| rate.map_or(Kind::STRONGEST, Valued::kind);
        let precision = cost.precision;
        let kind = match &engine.array {
            Array::Lanes(lanes) => lanes.macs.get(&precision).map_or(Kind::STRONGEST, Valued::kind),
            Array::TensorTiles(tiles) => {
                tiles.macs.get(&precision).map_or(Kind::STRONGEST, Valued::kind)
            }
            // The size of an array is structure.
            Array::Systolic(array) => kind(array.rates.get(&precision)),
            Array::FixedFunction(unit) => steps_kind(unit).weaker(kind(unit.rates.get(&precision))),
        };
        Some((cost.peak, kind)).filter(|(rate, _)| rate.0 > 0.0)
    }

    fn switching(engine: &Engine, precision: Precision) -> (f64, Kind) {
        let (mut energy, mut kind) = (0.0, Kind::STRONGEST);
        if let Some(each) = engine.energy.per_mac.get(&precision) {
            (energy, kind) = (each.get().0, each.kind());
        }
        if let Some(store) = &engine.energy.operand_store {
            energy += store.traffic.get().si() * store.energy.get().si();
            kind = kind.weaker(store.traffic.kind()).weaker(store.energy.kind());
        }
        (energy, kind)
    }
}

/// What the steps of a datapath rest on.
fn steps_kind(unit: &FixedFunction) -> Kind {
    let cycles = unit.unrolled.values().flat_map(|u| [&u.cycles, &u.step_channel_cycles]);
    cycles.flatten().fold(Kind::STRONGEST, |kind, cycles| kind.weaker(cycles.kind()))
}

impl Counted for ElementOperations {
    type PerCycle = OperationsPerCycle;
    type PerByte = OperationsPerByte;
    type PerSecond = OperationsPerSecond;
    type PerJoule = OperationsPerJoule;
    type Energy = JoulesPerOperation;
    const NAME: &'static str = "op";

    fn of(step: &Step) -> Option<Self> {
        let alone = step.macs == 0 && step.kind != OpKind::View;
        Some(Self(step.element_ops)).filter(|operations| alone && operations.0 > 0)
    }

    fn count(self) -> u64 {
        self.0
    }

    fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    fn rate(engine: &Engine, cost: &Cost) -> Option<(OperationsPerCycle, Kind)> {
        let known = |rate: &Valued<OperationsPerCycle>| (rate.get(), rate.kind());
        let precision = cost.precision;
        let rate = match &engine.array {
            Array::Lanes(lanes) => lanes.operations.get(&precision).map(known).or_else(|| {
                // Lanes do as many element operations as multiply-accumulates.
                let same = lanes.macs.get(&precision)?;
                Some((OperationsPerCycle(same.get().0), same.kind()))
            }),
            Array::TensorTiles(tiles) => tiles.operations.get(&precision).map(known),
            Array::Systolic(array) => array.operations.as_ref().map(known),
            Array::FixedFunction(unit) => {
                let rates = unit.operations.iter().chain(unit.operations_by_kind.values());
                rates.map(known).max_by(|a, b| a.0.0.total_cmp(&b.0.0))
            }
        };
        rate.filter(|(rate, _)| rate.0 > 0.0)
    }

    fn switching(engine: &Engine, precision: Precision) -> (f64, Kind) {
        let each = engine.energy.per_operation.get(&precision);
        each.map_or((0.0, Kind::STRONGEST), |each| (each.get().0, each.kind()))
    }
}
