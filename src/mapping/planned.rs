//! From a network to its plan: candidates on every engine, placement, handovers, steps.

use super::Directions;
use super::ahead::fetch_ahead;
use super::begin::begin;
use super::candidate::Candidate;
use super::choices::Choices;
use super::compressed;
use super::handover::handover;
use super::memory::{MemoryInUse, MemoryPlan};
use super::network::{Network, operations};
use super::notes::notes;
use super::parts::least;
use super::pipelined::overlap;
use super::place::Handover;
use super::plan::{Fallback, Phase, PhaseKind, Plan, Step, Transfer, Uncosted};
use super::traffic::{beside, overflow_note};
use crate::cost::Setting;
use crate::hardware::Precision;
use crate::model::Layer;
use crate::units::{Bytes, Cycles, Joules};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maps a network onto a profile, as its [`Network::directions`] ask. A layer that every engine refuses,
/// or that the engine refuses that it is tied to, is listed as uncosted with the reasons, and is in no
/// sum. A batch goes through at once, or in parts where that costs less.
pub fn plan(network: &Network, setting: Setting<'_>) -> Plan {
    let at_once = plan_at_once(network, &network.directions, setting);
    if network.parts.is_empty() { at_once } else { least(at_once, network, setting) }
}

/// The plan of all samples of a network together.
pub(super) fn plan_at_once(
    network: &Network,
    directions: &Directions,
    setting: Setting<'_>,
) -> Plan {
    let mut choices = Choices::of(network, directions, setting);
    let (placement, handovers) = choices.placement(network, setting);
    choices.chain(network, &placement, setting);
    let mut arrivals = arrivals(&handovers, network.layers.len(), setting);
    let mut steps = Vec::with_capacity(network.layers.len());
    let mut early = Vec::with_capacity(network.layers.len());
    let (mut uncosted, mut fallbacks) = (Vec::new(), Vec::new());
    let (mut conversions, mut overflowing) = (BTreeSet::new(), Vec::new());
    let all = network.operations();
    let share = |of: u64| if all > 0 { of as f64 / all as f64 } else { 0.0 };
    for (index, layer) in network.layers.iter().enumerate() {
        let operations = operations(layer);
        let refusals = choices.refusals.get_mut(index).map(std::mem::take).unwrap_or_default();
        let engine = placement.get(index).copied().flatten();
        let Some(candidate) = engine.and_then(|engine| choices.take(index, engine)) else {
            let reasons = refusals.iter().map(|(_, refusal)| refusal.to_string()).collect();
            let (name, kind, share) = (layer.name.clone(), layer.work.kind, share(operations));
            uncosted.push(Uncosted { layer: index, name, kind, operations, share, reasons });
            continue;
        };
        let engine = candidate.engine;
        if refusals.iter().any(|(other, _)| *other < engine) {
            let (layer, share) = (index, share(operations));
            let refused = refusals.into_iter().filter(|(other, _)| *other < engine).collect();
            fallbacks.push(Fallback { layer, engine, share, refused });
        }
        if let Some(own) =
            Precision::of(layer.work.element).filter(|own| *own != candidate.cost.precision)
        {
            conversions.insert((own, candidate.cost.precision, engine));
        }
        if candidate.overflows {
            overflowing.push((engine, layer.name.as_str()));
        }
        let arrived = arrivals.get_mut(index).map(std::mem::take).unwrap_or_default();
        early.push(candidate.early);
        steps.push(step(index, layer, candidate, arrived));
    }
    fetch_ahead(&mut steps, &early, setting);
    begin(&mut steps, setting);
    let at_once = overlap(&mut steps, network, setting);
    let (mut notes, fits) = notes(&steps, &choices.homes, conversions, setting);
    notes.extend(overflow_note(&overflowing, setting));
    notes.extend(compressed::notes(network, &steps, setting));
    notes.extend(at_once);
    let engines = steps.iter().map(|s| s.engine).collect();
    let costed = steps.iter().map(|s| s.macs.saturating_add(s.element_ops));
    let costed = costed.fold(0, u64::saturating_add);
    Plan {
        network: network.name.clone(),
        point: setting.point.clone(),
        steps,
        uncosted,
        fallbacks,
        costed_share: if all > 0 { costed as f64 / all as f64 } else { 1.0 },
        fits,
        notes,
        memory: in_use(&engines, &choices.homes),
        passes: 1,
    }
}

/// The memory plans of the engines in use, each once.
fn in_use(engines: &BTreeSet<usize>, homes: &[Arc<MemoryPlan>]) -> Vec<MemoryInUse> {
    let mut found: Vec<MemoryInUse> = Vec::new();
    for (engine, plan) in engines.iter().filter_map(|e| Some((*e, homes.get(*e)?))) {
        match found.iter_mut().find(|own| Arc::ptr_eq(&own.plan, plan)) {
            Some(own) => own.engines.push(engine),
            None => found.push(MemoryInUse { engines: vec![engine], plan: Arc::clone(plan) }),
        }
    }
    found
}

/// Transfers of handovers, by the layer that they precede.
fn arrivals(handovers: &[Handover], layers: usize, setting: Setting<'_>) -> Vec<Vec<Transfer>> {
    let mut arrivals = vec![Vec::new(); layers];
    for Handover { reader, bytes, from, to } in handovers {
        if let Some(own) = arrivals.get_mut(*reader) {
            *own = beside(std::mem::take(own), &handover(Bytes(*bytes), *from, *to, setting));
        }
    }
    arrivals
}

fn step(index: usize, layer: &Layer, candidate: Candidate, arrivals: Vec<Transfer>) -> Step {
    let Candidate { engine, cost, traffic, mut phases, keeps, .. } = candidate;
    let traffic = beside(traffic, &arrivals);
    if !arrivals.is_empty() {
        let (compute, energy) = (Cycles::ZERO, Joules::ZERO);
        phases.insert(
            0,
            Phase {
                kind: PhaseKind::Handover,
                compute,
                energy,
                transfers: arrivals,
                pieces: 1,
                stated: None,
            },
        );
    }
    Step {
        layer: index,
        name: layer.name.clone(),
        kind: layer.work.kind,
        macs: layer.work.macs,
        element_ops: layer.work.element_ops,
        engine,
        traffic,
        phases,
        keeps_result: keeps,
        cost,
    }
}
