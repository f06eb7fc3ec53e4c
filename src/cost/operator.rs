//! The cost of one operator on one engine.

use super::asleep;
use super::block_engine::Ports;
use super::executed::{Skipped, executed};
use super::timing::{Passes, Refusal, Timing};
use super::voltage::dynamic_scale;
use super::{block_engine, fixed_function, lanes, systolic, tensor_tiles};
use crate::evidence::Kind;
use crate::hardware::{
    Array, DomainState, Engine, OperandStore, Point, Precision, Profile, SoftwareStack,
};
use crate::model::{ElementType, OpKind, OperandRole, Work};
use crate::units::{Bytes, Cycles, Joules, MacsPerCycle, Quantity};

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
    /// Multiply-accumulates that are really done: without dead channels that the software leaves out
    /// and zeros that the engine skips.
    pub macs: u64,
    /// Multiply-accumulate slots filled, padding included.
    pub array_macs: u64,
    /// Most multiply-accumulates a cycle.
    pub peak: MacsPerCycle,
    /// Number format computed in.
    pub precision: Precision,
    /// Passes of the operands.
    pub passes: Passes,
    /// Switching energy of the engine at the operating point.
    pub energy: Joules,
    /// Switching energy of the dispatch.
    pub dispatch_energy: Joules,
    /// What the cycles at work rest on.
    pub time_kind: Kind,
    /// What the dispatch rests on.
    pub dispatch_kind: Kind,
    /// What the energy rests on.
    pub energy_kind: Kind,
}

impl Cost {
    /// MACs that are done over what the engine could do in the cycles at work, 0 to 1: how well shapes
    /// fill it.
    pub fn occupancy(&self) -> f64 {
        let could = self.peak.0 * self.compute.0;
        if could > 0.0 { self.macs as f64 / could } else { 0.0 }
    }
}

/// The cost of `work` on engine number `engine`, or why it refuses.
pub fn cost(work: &Work, engine: usize, setting: Setting<'_>) -> Result<Cost, Refusal> {
    let spec = setting.profile.spec();
    let unit = &spec.engines[engine];
    if !unit.supports.contains(&work.kind) {
        return Err(Refusal::Unsupported { engine: unit.name.clone(), kind: work.kind });
    }
    if let Some((domain, state)) = sleeper(engine, setting) {
        return Err(Refusal::Asleep {
            engine: unit.name.clone(),
            kind: work.kind,
            domain: spec.domains[domain].name.clone(),
            state: state.name.clone(),
        });
    }
    if let (Some(limits), Some(window)) = (&unit.windows, work.window)
        && work.gemm.is_some()
        && !limits.take(&window)
    {
        let (engine, window) = (unit.name.clone(), Box::new(window));
        return Err(Refusal::NoWindow { engine, kind: work.kind, window });
    }
    let precision = runs_in(unit, work.element).ok_or_else(|| Refusal::no_precision(unit, work))?;
    let stack = setting.stack(engine);
    let work = executed(work, stack);
    let skipped = Skipped::of(&work, unit);
    let timing = timing(engine, &work, precision, skipped, setting)?;
    let dispatch = dispatch(unit, stack, work.kind);
    let done = Work { macs: work.macs - skipped.macs.min(work.macs), ..work.into_owned() };
    with_energy(&done, engine, precision, timing, dispatch, setting)
}

/// The cost of work whose cycles are known.
fn with_energy(
    done: &Work,
    engine: usize,
    precision: Precision,
    timing: Timing,
    dispatch: (Cycles, Kind),
    setting: Setting<'_>,
) -> Result<Cost, Refusal> {
    let EngineWork { energy, dispatch_energy, kind: energy_kind } =
        engine_work(done, engine, precision, &timing, dispatch, setting)?;
    Ok(Cost {
        compute: timing.compute,
        dispatch: dispatch.0,
        macs: done.macs,
        array_macs: timing.array_macs,
        peak: timing.peak,
        precision,
        passes: timing.passes,
        energy,
        dispatch_energy,
        time_kind: timing.kind,
        dispatch_kind: dispatch.1,
        energy_kind,
    })
}

/// The cost of `work` on engine number `engine` where another tool says how long the datapath is at work,
/// and that it runs the operator there: the energy is this profile's, and nothing is spent on a start.
pub fn cost_in_cycles(
    work: &Work,
    engine: usize,
    compute: Cycles,
    setting: Setting<'_>,
) -> Result<Cost, Refusal> {
    let unit = &setting.profile.spec().engines[engine];
    let precision = runs_in(unit, work.element).ok_or_else(|| Refusal::no_precision(unit, work))?;
    let skipped = Skipped::of(work, unit);
    let own = timing(engine, work, precision, skipped, setting).ok();
    let timing = Timing {
        compute,
        array_macs: own.as_ref().map_or(work.macs, |own| own.array_macs),
        made: own.as_ref().map_or(1.0, |own| own.made),
        peak: own.map_or(MacsPerCycle::ZERO, |own| own.peak),
        passes: Passes::ONCE,
        kind: Kind::Derived,
    };
    let dispatch = (Cycles::ZERO, Kind::STRONGEST);
    let done = Work { macs: work.macs - skipped.macs.min(work.macs), ..work.clone() };
    with_energy(&done, engine, precision, timing, dispatch, setting)
}

/// A domain that is asleep and that the engine needs: its own, or that of a memory that it works from,
/// or of what stands on the way there.
fn sleeper<'a>(engine: usize, setting: Setting<'a>) -> Option<(usize, &'a DomainState)> {
    if setting.point.asleep.iter().all(Option::is_none) {
        return None;
    }
    let links = setting.profile.links();
    let channels = setting.profile.channels_of(engine).into_iter();
    let domains = channels.map(|channel| links.channel_domain[channel]);
    let mut needed = [links.engine_domain[engine]].into_iter().chain(domains);
    needed.find_map(|domain| Some((domain, asleep(domain, setting)?)))
}

/// Cycles of the datapath, with the engine's residual factor and without skipped zeros.
fn timing(
    engine: usize,
    work: &Work,
    precision: Precision,
    skipped: Skipped,
    setting: Setting<'_>,
) -> Result<Timing, Refusal> {
    let unit = &setting.profile.spec().engines[engine];
    let stack = setting.stack(engine);
    let mut timing = match &unit.array {
        Array::Lanes(array) => lanes::timing(unit, array, stack, work, precision)?,
        Array::Systolic(array) => systolic::timing(unit, array, work, precision)?,
        Array::TensorTiles(tiles) => tensor_tiles::timing(unit, tiles, work, precision)?,
        Array::FixedFunction(function) => fixed_function::timing(unit, function, work, precision)?,
        Array::Blocks(array) => {
            let ports = Ports::of(work, engine, setting);
            block_engine::timing(unit, array, work, precision, (ports, skipped.steps))?
        }
    };
    if let Some(factor) = unit.efficiency.get(&work.kind) {
        // Its spread must not make an engine faster than its datapath.
        timing.compute = timing.compute / factor.get().0.min(1.0);
        timing.kind = timing.kind.weaker(factor.kind());
    }
    // A datapath that works by blocks has shorter steps.
    let in_steps = matches!(unit.array, Array::Blocks(_)) && skipped.steps < 1.0;
    if skipped.macs > 0 || in_steps {
        let left = if in_steps { 1.0 } else { skipped.time };
        timing.compute = timing.compute * left;
        timing.kind = timing.kind.weaker(skipped.kind);
    }
    if let Some(rate) = stack.and_then(|s| s.weight_stream.as_ref()).filter(|_| work.macs > 0) {
        let (clock, clock_kind) =
            setting.point.clocks[setting.profile.links().engine_domain[engine]];
        timing.compute += clock * (Bytes(work.weight_bytes as f64) / rate.get());
        timing.kind = timing.kind.weaker(rate.kind()).weaker(clock_kind);
    }
    Ok(timing)
}

/// Cycles to start an operator: those of the engine and those of the software that drives it. A view
/// starts no engine.
fn dispatch(engine: &Engine, stack: Option<&SoftwareStack>, kind: OpKind) -> (Cycles, Kind) {
    let software = stack.and_then(|s| s.dispatch.as_ref());
    let own = engine.dispatch.iter().filter(|_| kind != OpKind::View);
    let overheads = own.chain(software);
    overheads.fold((Cycles::ZERO, Kind::STRONGEST), |(sum, kind), overhead| {
        (sum + overhead.get(), kind.weaker(overhead.kind()))
    })
}

/// What running a network costs whatever is in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Start {
    /// Cycles.
    pub cycles: Cycles,
    /// Switching energy of the engine in them, at the operating point.
    pub energy: Joules,
    /// What the cycles rest on.
    pub kind: Kind,
    /// What the energy rests on, if there is any.
    pub energy_kind: Kind,
}

/// What the software of engine number `engine` takes to run a network.
pub fn start(engine: usize, setting: Setting<'_>) -> Option<Start> {
    let stated = setting.stack(engine)?.start.as_ref()?;
    let (cycles, kind) = (stated.get(), stated.kind());
    let (energy, energy_kind) = match busy_energy(engine, cycles, setting) {
        Some((energy, own)) => (energy, kind.weaker(own)),
        None => (Joules::ZERO, Kind::STRONGEST),
    };
    Some(Start { cycles, energy, kind, energy_kind })
}

/// Switching energy of an engine in cycles of anything, at the operating point, and what it rests on;
/// nothing where the profile has none, and what the domain draws is all there is.
pub fn busy_energy(engine: usize, cycles: Cycles, setting: Setting<'_>) -> Option<(Joules, Kind)> {
    let spec = setting.profile.spec();
    let cycle = spec.engines.get(engine)?.energy.per_busy_cycle.as_ref()?;
    let domain = setting.profile.links().engine_domain[engine];
    let (scale, scale_kind) = dynamic_scale(domain, setting);
    let each = cycle.energy_at_nominal(spec.domains[domain].nominal_voltage.get());
    Some((each * cycles.0 * scale, cycle.kind().weaker(scale_kind)))
}

/// The number format an engine computes elements of a type in: their own, or the one it runs them
/// as; `None` when it does neither.
pub fn runs_in(engine: &Engine, element: ElementType) -> Option<Precision> {
    let own = Precision::of(element)?;
    let has = |p: &Precision| engine.array.computes_in(*p);
    Some(own).filter(has).or_else(|| engine.runs_as.get(&own).copied().filter(has))
}

struct EngineWork {
    energy: Joules,
    dispatch_energy: Joules,
    kind: Kind,
}

/// Switching energy at the operating point, and the weakest evidence in it. Work that nothing in the
/// profile gives an energy for is refused.
fn engine_work(
    work: &Work,
    engine: usize,
    precision: Precision,
    timing: &Timing,
    dispatch: (Cycles, Kind),
    setting: Setting<'_>,
) -> Result<EngineWork, Refusal> {
    let spec = setting.profile.spec();
    let unit = &spec.engines[engine];
    let domain = setting.profile.links().engine_domain[engine];
    let (scale, mut kind) = dynamic_scale(domain, setting);
    let (mut sum, mut starting) = (Joules::ZERO, Joules::ZERO);
    let (mut macs_costed, mut operations_costed) = (work.macs == 0, work.element_ops == 0);
    let (switched, zeros_kind) = switched(work, unit);
    if let Some(per_mac) = unit.energy.per_mac.get(&precision).filter(|_| work.macs > 0) {
        sum += per_mac.get().times(work.macs) * timing.made * switched;
        kind = kind.weaker(per_mac.kind());
        macs_costed = true;
    }
    if let Some(per_op) = unit.energy.per_operation.get(&precision).filter(|_| work.element_ops > 0)
    {
        sum += per_op.get().times(work.element_ops);
        kind = kind.weaker(per_op.kind());
        operations_costed = true;
    }
    if let Some(cycle) = &unit.energy.per_busy_cycle {
        let each = cycle.energy_at_nominal(spec.domains[domain].nominal_voltage.get());
        sum += each * timing.compute.0;
        starting += each * dispatch.0.0;
        kind = kind.weaker(cycle.kind()).weaker(timing.kind);
        if dispatch.0.0 > 0.0 {
            kind = kind.weaker(dispatch.1);
        }
        (macs_costed, operations_costed) = (true, true);
    }
    if let Some(store) = unit.energy.operand_store.as_ref().filter(|_| work.macs > 0) {
        let (each, traffic_kind) = stored_bytes(store, work);
        let bytes = each * work.macs as f64 * timing.made * switched;
        let (energy, energy_kind) = energy_of_byte(store, &unit.array, work);
        sum += Joules(bytes * energy);
        kind = kind.weaker(traffic_kind).weaker(energy_kind);
    }
    kind = kind.weaker(zeros_kind);
    // The operations fused into MAC work ride along in its pipeline.
    if !macs_costed || (!operations_costed && work.macs == 0) {
        let (engine, kind) = (unit.name.clone(), work.kind);
        return Err(Refusal::NoEnergy { engine, kind, precision });
    }
    Ok(EngineWork { energy: sum * scale, dispatch_energy: starting * scale, kind })
}

/// Share of the energy of products that is left where zeros in the data save some of it.
fn switched(work: &Work, unit: &Engine) -> (f64, Kind) {
    match &unit.energy.zero_data_saves {
        Some(saved) if work.macs > 0 && work.input_zeros > 0.0 => {
            (1.0 - work.input_zeros.min(1.0) * saved.get().0.clamp(0.0, 1.0), saved.kind())
        }
        _ => (1.0, Kind::STRONGEST),
    }
}

/// Energy of a byte of the operand store \[J/B\]: with what changing words costs where the input channels of
/// a result come in several passes.
fn energy_of_byte(store: &OperandStore, array: &Array, work: &Work) -> (f64, Kind) {
    let own = (store.energy.get().si(), store.energy.kind());
    match &store.reload {
        Some(reload) if fixed_function::sums_in_passes(array, work) => {
            (own.0 + reload.get().si(), own.1.weaker(reload.kind()))
        }
        _ => own,
    }
}

/// Bytes of the operand store for a multiply-accumulate \[B\]: those of its operands, or its share of a
/// word that is read whole, if that is more. Of weights in fewer bits than are computed in, a word holds
/// more.
fn stored_bytes(store: &OperandStore, work: &Work) -> (f64, Kind) {
    let own = store.traffic.get().si();
    let Some(word) = &store.word else { return (own, store.traffic.kind()) };
    let points = work.window.map_or(1, |w| w.kernel_height.saturating_mul(w.kernel_width)).max(1);
    let whole = word.get().si() / points as f64;
    let (bytes, kind) =
        if whole > own { (whole, word.kind()) } else { (own, store.traffic.kind()) };
    (bytes * narrowed(work), kind)
}

/// Bits of a stored weight over those that are computed in, at most 1.
fn narrowed(work: &Work) -> f64 {
    let filter = work.operands.iter().find(|own| own.role == OperandRole::Filter && own.constant);
    let own = work.element.bits().max(1) as f64;
    filter.map_or(1.0, |filter| (filter.element.bits() as f64 / own).min(1.0))
}
