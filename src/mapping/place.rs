//! Placement: each layer on the first engine that runs it.

use super::compressed;
use super::memory::{MemoryPlan, memory_plan};
use super::network::{Network, operations};
use super::plan::{Plan, Step, Uncosted};
use super::traffic::{Traffic, overflow_note, phases};
use crate::cost::{Setting, cost, executed_on};
use crate::hardware::Precision;
use crate::model::Layer;
use std::collections::BTreeSet;

/// Maps a network onto a profile. A layer that every engine refuses is listed as uncosted with the
/// reasons, and is in no sum.
pub fn plan(network: &Network, setting: Setting<'_>) -> Plan {
    let spec = setting.profile.spec();
    let mut steps = Vec::with_capacity(network.layers.len());
    let mut uncosted = Vec::new();
    let mut conversions = BTreeSet::new();
    let mut homes: Vec<Option<MemoryPlan>> = vec![None; spec.engines.len()];
    let all = network.operations();
    let mut overflowing = Vec::new();
    for (index, layer) in network.layers.iter().enumerate() {
        // Layers repeat, and what is mapped once is mapped alike again.
        if let Some(twin) = twin(layer, &steps, network) {
            if overflowing.iter().any(|(_, name)| *name == twin.name) {
                overflowing.push((twin.engine, layer.name.as_str()));
            }
            let again = Step { layer: index, name: layer.name.clone(), ..twin.clone() };
            steps.push(again);
            continue;
        }
        let mut reasons = Vec::new();
        let mut chosen = None;
        for engine in 0..spec.engines.len() {
            match cost(&layer.work, engine, setting) {
                Ok(found) => {
                    chosen = Some((engine, found));
                    break;
                }
                Err(refusal) => reasons.push(refusal),
            }
        }
        let Some((engine, cost)) = chosen else {
            let operations = operations(layer);
            let share = if all > 0 { operations as f64 / all as f64 } else { 0.0 };
            let (name, kind) = (layer.name.clone(), layer.work.kind);
            let reasons = reasons.iter().map(ToString::to_string).collect();
            uncosted.push(Uncosted { layer: index, name, kind, operations, share, reasons });
            continue;
        };
        if let Some(own) = Precision::of(layer.work.element).filter(|own| *own != cost.precision) {
            conversions.insert((own, cost.precision, engine));
        }
        let work = executed_on(&layer.work, engine, setting);
        let home =
            homes[engine].get_or_insert_with(|| memory_plan(network, engine, setting.profile));
        let traffic = Traffic::of(&work, &cost, engine, home, setting);
        if traffic.overflows {
            overflowing.push((engine, layer.name.as_str()));
        }
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
    let (mut notes, fits) = notes(&steps, &homes, conversions, setting);
    notes.extend(overflow_note(&overflowing, setting));
    notes.extend(compressed::notes(network, &steps, setting));
    let costed = steps.iter().map(|s| s.macs.saturating_add(s.element_ops));
    let costed = costed.fold(0, u64::saturating_add);
    Plan {
        network: network.name.clone(),
        point: setting.point.clone(),
        steps,
        uncosted,
        costed_share: if all > 0 { costed as f64 / all as f64 } else { 1.0 },
        fits,
        notes,
    }
}

/// A step of a layer with the same work.
fn twin<'a>(layer: &Layer, steps: &'a [Step], network: &Network) -> Option<&'a Step> {
    let alike = |step: &&Step| {
        let known = network.layers.get(step.layer);
        step.macs == layer.work.macs && known.is_some_and(|known| known.work == layer.work)
    };
    steps.iter().find(alike)
}

/// Says that software rates know no number format, where layers have several or wider ones.
fn paceless_note(steps: &[Step], setting: Setting<'_>) -> Option<String> {
    let by_software = steps.iter().filter(|step| setting.stack(step.engine).is_some());
    let known = |step: &&Step| {
        let stack = setting.stack(step.engine);
        stack.is_some_and(|s| s.relative_cycles.contains_key(&step.cost.precision))
    };
    let wider = by_software
        .filter(|step| step.macs > 0 && step.cost.precision.bits() > 8)
        .filter(|step| !known(step));
    let formats: BTreeSet<_> = wider.map(|step| step.cost.precision).collect();
    if formats.is_empty() {
        return None;
    }
    let names: Vec<_> = formats.iter().map(ToString::to_string).collect();
    Some(format!(
        "software rates go by kind of layer, whatever the number format: in {} they may differ",
        names.join(" and ")
    ))
}

/// Says how many multiply-accumulates of the graph are not done, and who leaves them out.
fn skipped_note(steps: &[Step], setting: Setting<'_>) -> Option<String> {
    let skipped = |step: &&Step| step.cost.macs < step.macs;
    let mut who = BTreeSet::new();
    for step in steps.iter().filter(skipped) {
        let dead = setting.stack(step.engine).filter(|s| s.removes_dead_channels);
        let engine = &setting.profile.spec().engines[step.engine].name;
        who.insert(match dead {
            Some(stack) => format!("dead channels, by software {}", stack.name),
            None => format!("zeros of weights, by {engine}"),
        });
    }
    if who.is_empty() {
        return None;
    }
    let sum = |of: fn(&Step) -> u64| steps.iter().map(of).fold(0, u64::saturating_add);
    let (all, done) = (sum(|s| s.macs), sum(|s| s.cost.macs));
    let who: Vec<_> = who.into_iter().collect();
    Some(format!("{} of {all} MACs are left out: {}", all - done.min(all), who.join("; ")))
}

/// What a reader should know of the engines in use, and whether everything fits their memories.
fn notes(
    steps: &[Step],
    homes: &[Option<MemoryPlan>],
    conversions: BTreeSet<(Precision, Precision, usize)>,
    setting: Setting<'_>,
) -> (Vec<String>, bool) {
    let used = homes.iter().enumerate();
    let used = || used.clone().filter_map(|(engine, home)| Some((engine, home.as_ref()?)));
    let name = |engine: usize| setting.profile.spec().engines[engine].name.as_str();
    let mut notes = Vec::new();
    for (engine, home) in used() {
        notes.extend(home.notes.iter().map(|note| format!("{}: {note}", name(engine))));
    }
    let activations: BTreeSet<_> = used().map(|(_, home)| home.activations).collect();
    if activations.len() > 1 {
        let note =
            "engines keep activations in different memories: moves between them are not costed";
        notes.push(note.to_owned());
    }
    notes.extend(conversions.into_iter().map(|(from, to, engine)| {
        format!("{} runs {from} layers in {to}: the network counts as converted", name(engine))
    }));
    notes.extend(skipped_note(steps, setting));
    notes.extend(paceless_note(steps, setting));
    let fits = used().all(|(_, home)| home.fits);
    (notes, fits)
}
