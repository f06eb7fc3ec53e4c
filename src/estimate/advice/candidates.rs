//! Which changes are tried: of the layers that cost most, and of what they wait for.

use super::{Change, Subject};
use crate::cost::{cost, runs_in};
use crate::estimate::LayerEstimate;
use crate::hardware::Transfers;
use crate::model::{ElementType, Layer, OpKind, OperandRole, Transform};
use std::collections::BTreeSet;

/// Layers of most energy, and of most time, that are looked at one by one.
const LAYERS: usize = 8;

/// Number formats that layers are tried in.
const FORMATS: [ElementType; 4] =
    [ElementType::Float16, ElementType::BFloat16, ElementType::Int16, ElementType::Int8];

/// Samples at once.
const BATCHES: [u64; 2] = [4, 16];

/// Times that a buffer is made larger.
const FACTORS: [f64; 2] = [2.0, 4.0];

pub(super) fn candidates(subject: &Subject<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    for layer in costly(subject) {
        of_layer(layer, subject, &mut changes);
    }
    of_network(subject, &mut changes);
    of_hardware(subject, &mut changes);
    changes
}

/// The layers that cost most, in the order in which they run.
fn costly<'a>(subject: &Subject<'a>) -> Vec<&'a LayerEstimate> {
    let layers = &subject.estimate.layers;
    let mut chosen = BTreeSet::new();
    for figure in [|l: &LayerEstimate| l.energy.0, |l: &LayerEstimate| l.time.0] {
        let mut order: Vec<usize> = (0..layers.len()).collect();
        order.sort_by(|a, b| figure(&layers[*b]).total_cmp(&figure(&layers[*a])));
        chosen.extend(order.into_iter().take(LAYERS));
    }
    chosen.into_iter().filter_map(|index| layers.get(index)).collect()
}

fn of_layer(found: &LayerEstimate, subject: &Subject<'_>, changes: &mut Vec<Change>) {
    let Some(layer) = subject.network.layers.get(found.layer) else { return };
    let named = Some(layer.name.clone());
    changes.extend(narrower(layer, found.engine, subject).map(|to| {
        let (weights_only, layers) = (false, named.clone());
        Change::Model(Transform::Precision { to, weights_only, layers })
    }));
    if stores_weights_wider(layer, 4) {
        let (to, weights_only) = (ElementType::Int4, true);
        changes.push(Change::Model(Transform::Precision { to, weights_only, layers: named }));
    }
    let taps = layer.work.window.map_or(1, |w| w.kernel_height.saturating_mul(w.kernel_width));
    if matches!(layer.work.kind, OpKind::Conv | OpKind::StemConv) && taps > 1 {
        changes.push(Change::Model(Transform::Separable(layer.name.clone())));
    }
    for engine in 0..subject.setting.profile.spec().engines.len() {
        if engine != found.engine && cost(&layer.work, engine, subject.setting).is_ok() {
            changes.push(Change::Place { layer: found.layer, engine });
        }
    }
}

/// Formats of fewer bits that the engine computes the layer in.
fn narrower(
    layer: &Layer,
    engine: usize,
    subject: &Subject<'_>,
) -> impl Iterator<Item = ElementType> {
    let unit = subject.setting.profile.spec().engines.get(engine);
    let bits = |element| Some(runs_in(unit?, element)?.bits());
    let own = bits(layer.work.element);
    let narrower = FORMATS.into_iter().filter(move |element| {
        let fewer = bits(*element).zip(own).is_some_and(|(bits, own)| bits < own);
        fewer && element.bits() < layer.work.element.bits()
    });
    narrower.collect::<Vec<_>>().into_iter()
}

fn stores_weights_wider(layer: &Layer, bits: u64) -> bool {
    let filters = layer.work.operands.iter().filter(|o| o.role == OperandRole::Filter);
    layer.work.macs > 0 && filters.into_iter().any(|o| o.constant && o.element.bits() > bits)
}

fn of_network(subject: &Subject<'_>, changes: &mut Vec<Change>) {
    let setting = subject.setting;
    if !setting.profile.fuses(setting.stacks) {
        changes.push(Change::Model(Transform::Fuse));
    }
    let wide = subject.network.layers.iter().filter(|l| l.work.element.bits() > 8);
    if wide.filter(|l| l.work.macs > 0).count() > 1 {
        let (to, weights_only, layers) = (ElementType::Int8, false, None);
        changes.push(Change::Model(Transform::Precision { to, weights_only, layers }));
    }
    if subject.network.layers.iter().filter(|l| stores_weights_wider(l, 4)).count() > 1 {
        let (to, weights_only, layers) = (ElementType::Int4, true, None);
        changes.push(Change::Model(Transform::Precision { to, weights_only, layers }));
    }
    changes.extend(BATCHES.map(|samples| Change::Model(Transform::Batch(samples))));
    let points = setting.profile.spec().operating_points.iter().map(|point| &point.name);
    let others = points.filter(|name| **name != setting.point.name);
    changes.extend(others.map(|name| Change::OperatingPoint { name: name.clone() }));
}

fn of_hardware(subject: &Subject<'_>, changes: &mut Vec<Change>) {
    let profile = subject.setting.profile;
    let buffers: BTreeSet<usize> = profile.links().memory_stage.iter().copied().flatten().collect();
    for memory in buffers {
        changes.extend(FACTORS.map(|factor| Change::Capacity { memory, factor }));
    }
    let used: BTreeSet<usize> = subject.estimate.layers.iter().map(|l| l.engine).collect();
    for engine in used {
        let unit = profile.spec().engines.get(engine);
        if unit.is_some_and(|unit| unit.transfers != Transfers::DoubleBuffered) {
            changes.push(Change::Transfers { engine });
        }
    }
}
