//! The cost of one operator on one engine.

use super::timing::{Passes, Refusal, Timing};
use super::{lanes, systolic};
use crate::evidence::Kind;
use crate::hardware::{Array, Engine, Point, Precision, Profile, SoftwareStack};
use crate::model::Work;
use crate::physics::switching;
use crate::units::{Cycles, Joules, Quantity};

/// What operators are costed against: a profile at an operating point with its software.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// The operating point.
    pub point: &'a Point,
    /// Software stack of each engine.
    pub stacks: &'a [Option<usize>],
}

impl<'a> Setting<'a> {
    /// The stack of an engine.
    pub fn stack(&self, engine: usize) -> Option<&'a SoftwareStack> {
        let index = self.stacks.get(engine).copied().flatten()?;
        self.profile.spec().software.get(index)
    }
}

/// The cost of one operator on one engine.
#[derive(Debug, Clone, PartialEq)]
pub struct Cost {
    /// Cycles at work.
    pub compute: Cycles,
    /// Cycles to start the operator.
    pub dispatch: Cycles,
    /// Multiply-accumulate slots filled, padding included.
    pub array_macs: u64,
    /// MACs over what the engine could do in the same cycles, 0 to 1; 0 without MACs.
    pub utilisation: f64,
    /// Number format computed in.
    pub precision: Precision,
    /// Passes of the operands.
    pub passes: Passes,
    /// Switching energy of the engine at the operating point.
    pub energy: Joules,
    /// Switching energy of the dispatch.
    pub dispatch_energy: Joules,
    /// What the cycles rest on.
    pub time_kind: Kind,
    /// What the energy rests on.
    pub energy_kind: Kind,
}

/// The cost of `work` on engine number `engine`, or why it refuses.
pub fn cost(work: &Work, engine: usize, setting: Setting<'_>) -> Result<Cost, Refusal> {
    let spec = setting.profile.spec();
    let unit = &spec.engines[engine];
    if !unit.supports.contains(&work.kind) {
        return Err(Refusal::Unsupported { engine: unit.name.clone(), kind: work.kind });
    }
    let precision = precision(unit, work)?;
    let timing = match &unit.array {
        Array::Lanes { macs } => lanes::timing(unit, macs, setting.stack(engine), work, precision)?,
        Array::Systolic(array) => systolic::timing(unit, array, work)?,
    };
    let EngineWork { energy, dispatch_energy, kind: energy_kind } =
        engine_work(work, engine, precision, &timing, setting);
    Ok(Cost {
        compute: timing.compute,
        dispatch: timing.dispatch,
        array_macs: timing.array_macs,
        utilisation: timing.utilisation,
        precision,
        passes: timing.passes,
        energy,
        dispatch_energy,
        time_kind: timing.kind,
        energy_kind,
    })
}

/// The format an engine computes an operator in: its own, or the one it runs it as.
fn precision(engine: &Engine, work: &Work) -> Result<Precision, Refusal> {
    let refusal = || Refusal::NoPrecision { engine: engine.name.clone(), element: work.element };
    let own = Precision::of(work.element).ok_or_else(refusal)?;
    let has = |p: Precision| match &engine.array {
        Array::Lanes { macs } => macs.contains_key(&p),
        Array::Systolic(s) => s.precision == p,
    };
    if has(own) {
        return Ok(own);
    }
    engine.runs_as.get(&own).copied().filter(|p| has(*p)).ok_or_else(refusal)
}

struct EngineWork {
    energy: Joules,
    dispatch_energy: Joules,
    kind: Kind,
}

/// Switching energy at the operating point, and the weakest evidence in it.
fn engine_work(
    work: &Work,
    engine: usize,
    precision: Precision,
    timing: &Timing,
    setting: Setting<'_>,
) -> EngineWork {
    let spec = setting.profile.spec();
    let links = setting.profile.links();
    let unit = &spec.engines[engine];
    let domain_index = links.engine_domain[engine];
    let domain = &spec.domains[domain_index];
    let (voltage, voltage_kind) = setting.point.voltages[links.domain_rail[domain_index]];
    let nominal = domain.nominal_voltage.get();
    let exponent = domain.voltage_exponent.as_ref().map_or(switching::SQUARE_LAW, |e| e.get().0);
    let scale = switching::scale(voltage, nominal, exponent);
    let (mut sum, mut dispatch, mut kind) = (Joules::ZERO, Joules::ZERO, voltage_kind);
    if let Some(per_mac) = unit.energy.per_mac.get(&precision).filter(|_| work.macs > 0) {
        sum += per_mac.get().times(work.macs);
        kind = kind.weaker(per_mac.kind());
    }
    if let Some(per_op) = unit.energy.per_operation.get(&precision).filter(|_| work.element_ops > 0)
    {
        sum += per_op.get().times(work.element_ops);
        kind = kind.weaker(per_op.kind());
    }
    if let Some(cycle) = &unit.energy.per_busy_cycle {
        let each = cycle.energy_at_nominal(nominal);
        sum += each * timing.compute.0;
        dispatch += each * timing.dispatch.0;
        kind = kind.weaker(cycle.kind()).weaker(timing.kind);
    }
    if let Some(store) = unit.energy.operand_store.as_ref().filter(|_| work.macs > 0) {
        let bytes = store.traffic.get().si() * work.macs as f64;
        sum += Joules(bytes * store.energy.get().si());
        kind = kind.weaker(store.traffic.kind()).weaker(store.energy.kind());
    }
    EngineWork { energy: sum * scale, dispatch_energy: dispatch * scale, kind }
}
