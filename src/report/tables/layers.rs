//! Layers of a prediction: all of them, those that cost most, or taken together.

use super::{grouped, percent, shortened, table};
use crate::estimate::{By, Group, Key, LayerEstimate, groups, top};
use crate::report::Prediction;
use crate::units::{Joules, Seconds};
use comfy_table::{CellAlignment, Table};
use std::collections::BTreeSet;

/// Which rows a table of layers has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LayerView {
    /// Groups of layers instead of layers.
    pub by: Option<By>,
    /// Only so many, those of most energy.
    pub top: Option<usize>,
}

/// The table that a view asks for.
pub(super) fn layers_table(p: &Prediction<'_>, view: LayerView) -> Table {
    match view.by {
        Some(by) => groups_table(p, by, view.top),
        None => layer_table(p, view.top),
    }
}

fn layer_table(p: &Prediction<'_>, count: Option<usize>) -> Table {
    let mut headers = vec!["layer", "kind", "MACs", "use", "time", "energy", "power", "bound by"];
    let engines: BTreeSet<usize> = p.estimate.layers.iter().map(|l| l.engine).collect();
    if engines.len() > 1 {
        headers.push("on");
    }
    let mut rows = table(&headers, 2);
    for column in 7..headers.len() {
        if let Some(column) = rows.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Left);
        }
    }
    let layers = match count {
        Some(count) => top(p.estimate, count),
        None => p.estimate.layers.iter().collect(),
    };
    for l in &layers {
        rows.add_row(layer_row(p, l, engines.len() > 1));
    }
    let left = p.estimate.layers.len() - layers.len();
    if left > 0 {
        let shown = |of: fn(&LayerEstimate) -> f64| -> f64 { layers.iter().map(|l| of(l)).sum() };
        let time = Seconds((p.estimate.latency.0 - shown(|l| l.time.0)).max(0.0));
        let energy = Joules((p.estimate.energy.0 - shown(|l| l.energy.0)).max(0.0));
        let of_all = |of: fn(&LayerEstimate) -> u64| -> u64 {
            let all = p.estimate.layers.iter().map(of).fold(0, u64::saturating_add);
            all - layers.iter().map(|l| of(l)).fold(0, u64::saturating_add)
        };
        let name = format!("{left} others");
        let mut row = vec![name, String::new(), grouped(of_all(|l| l.macs)), String::new()];
        row.extend([time.to_string(), energy.to_string()]);
        row.resize(headers.len(), String::new());
        rows.add_row(row);
    }
    rows
}

fn layer_row(p: &Prediction<'_>, l: &LayerEstimate, with_engine: bool) -> Vec<String> {
    let idle = l.time.0 == 0.0;
    let mut row = vec![
        shortened(&l.name, 32),
        l.kind.to_string(),
        grouped(l.macs),
        if l.macs > 0 { percent(l.utilisation) } else { String::new() },
        l.time.to_string(),
        l.energy.to_string(),
        if idle { String::new() } else { l.power().to_string() },
        p.bound_name(l.bound).to_owned(),
    ];
    if with_engine {
        row.push(p.setting.profile.spec().engines[l.engine].name.clone());
    }
    row
}

/// What the layers of a group have in common, in words.
pub(in crate::report) fn key_name(p: &Prediction<'_>, key: Key) -> String {
    match key {
        Key::Kind(kind) => kind.to_string(),
        Key::Engine(engine) => p.setting.profile.spec().engines[engine].name.clone(),
        Key::Bound(bound) => p.bound_name(bound).to_owned(),
    }
}

fn groups_table(p: &Prediction<'_>, by: By, count: Option<usize>) -> Table {
    let what = match by {
        By::Kind => "kind",
        By::Engine => "engine",
        By::Bound => "bound by",
    };
    let headers = [what, "layers", "MACs", "time", "of all", "energy", "of all", "power"];
    let mut rows = table(&headers, 1);
    let groups = groups(p.estimate, by);
    let (time, energy) = (p.estimate.latency, p.estimate.energy);
    let share = |part: f64, whole: f64| percent(if whole > 0.0 { part / whole } else { 0.0 });
    for group in groups.iter().take(count.unwrap_or(usize::MAX)) {
        let Group { layers, macs, .. } = group;
        rows.add_row(vec![
            key_name(p, group.key),
            layers.to_string(),
            grouped(*macs),
            group.time.to_string(),
            share(group.time.0, time.0),
            group.energy.to_string(),
            share(group.energy.0, energy.0),
            if group.time.0 > 0.0 {
                (group.energy / group.time).to_string()
            } else {
                String::new()
            },
        ]);
    }
    rows
}
