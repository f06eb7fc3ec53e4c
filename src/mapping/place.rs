//! Placement: each layer on the first engine that runs it.

use super::memory::memory_plan;
use super::network::{Network, operations};
use super::plan::{Plan, Step, Uncosted};
use super::traffic::{Traffic, phases};
use crate::cost::{Setting, cost};
use crate::hardware::Precision;
use std::collections::BTreeSet;

/// Maps a network onto a profile. A layer that every engine refuses is listed as uncosted with the
/// reasons, and is in no sum.
pub fn plan(network: &Network, setting: Setting<'_>) -> Plan {
    let spec = setting.profile.spec();
    let mut steps = Vec::with_capacity(network.layers.len());
    let mut uncosted = Vec::new();
    let mut conversions = BTreeSet::new();
    let homes: Vec<_> =
        (0..spec.engines.len()).map(|e| memory_plan(network, e, setting.profile)).collect();
    let all = network.operations();
    for (index, layer) in network.layers.iter().enumerate() {
        let mut reasons = Vec::new();
        let mut chosen = None;
        for engine in 0..spec.engines.len() {
            match cost(&layer.work, engine, setting) {
                Ok(found) => {
                    chosen = Some((engine, found));
                    break;
                }
                Err(refusal) => reasons.push(refusal.to_string()),
            }
        }
        let Some((engine, cost)) = chosen else {
            let operations = operations(layer);
            let share = if all > 0 { operations as f64 / all as f64 } else { 0.0 };
            let (name, kind) = (layer.name.clone(), layer.work.kind);
            uncosted.push(Uncosted { layer: index, name, kind, operations, share, reasons });
            continue;
        };
        if let Some(own) = Precision::of(layer.work.element).filter(|own| *own != cost.precision) {
            conversions.insert((own, cost.precision, engine));
        }
        let traffic = Traffic::of(&layer.work, &cost, &homes[engine], setting);
        let phases = phases(&cost, &traffic, spec.engines[engine].transfers);
        steps.push(Step {
            layer: index,
            name: layer.name.clone(),
            kind: layer.work.kind,
            macs: layer.work.macs,
            element_ops: layer.work.element_ops,
            engine,
            traffic: traffic.total(),
            phases,
            cost,
        });
    }
    let memory =
        homes.into_iter().next().unwrap_or_else(|| memory_plan(network, 0, setting.profile));
    let mut notes = memory.notes.clone();
    notes.extend(conversions.into_iter().map(|(from, to, engine)| {
        format!(
            "{} runs {from} layers in {to}: the network counts as converted",
            spec.engines[engine].name
        )
    }));
    Plan {
        network: network.name.clone(),
        point: setting.point.clone(),
        steps,
        uncosted,
        memory,
        notes,
    }
}
