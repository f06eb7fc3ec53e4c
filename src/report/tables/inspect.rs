//! `inspect`: a network layer by layer, or kind by kind.

mod kinds;
mod totals;

pub use kinds::kinds_text;
pub(in crate::report) use totals::order_text;

use super::{grouped, percent, shortened, table};
use crate::model::{LayerProfile, ModelProfile, OperandRole, Shape, Work};
use crate::units::Bytes;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use totals::{memory, origin_and_notes, totals};

/// Layers shown in a terminal, which is more than anyone reads there.
const ROWS: usize = 2000;
/// A table may be so wide before names are cut, since other commands ask for layers by name.
const WIDEST: usize = 150;
/// Names are not cut below this.
const SHORTEST_NAME: usize = 22;

/// Layers in the order they run, totals, memory.
pub fn inspect_text(profile: &ModelProfile) -> String {
    let mut text = format!("{}{}\n{}\n", profile.name, common_type(profile), layers(profile));
    let rest = profile.layers.len().saturating_sub(ROWS);
    if rest > 0 {
        let rest = grouped(rest as u64);
        let _ = writeln!(text, "and {rest} more layers; --csv FILE writes all of them");
    }
    text.push_str(&totals(profile));
    text.push_str(&memory(profile));
    text + &origin_and_notes(profile)
}

/// One row a layer, with names as long as there is room for.
fn layers(profile: &ModelProfile) -> String {
    let shown = profile.layers.iter().take(ROWS);
    let longest = shown.map(|layer| layer.layer.name.chars().count()).max().unwrap_or(0);
    let whole = layers_named(profile, longest);
    let width = whole.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    match width.saturating_sub(WIDEST) {
        0 => whole,
        over => layers_named(profile, longest.saturating_sub(over).max(SHORTEST_NAME)),
    }
}

fn layers_named(profile: &ModelProfile, longest_name: usize) -> String {
    let shown = Shown::of(profile);
    let mut headers = vec!["layer", "kind"];
    headers.extend(shown.types.then_some("type"));
    headers.extend(["output", "MACs"]);
    headers.extend(shown.live_macs.then_some("live\nMACs"));
    headers.extend(["element\nops", "parameters", "weights", "in", "out", "live\nafter"]);
    if shown.weights {
        headers.extend(["zeros", "bits/\nweight"]);
    }
    // What is alive while a layer runs is in the other forms; here its peak is told below.
    let mut rows = table(&headers, if shown.types { 4 } else { 3 });
    for layer in profile.layers.iter().take(ROWS) {
        rows.add_row(row(layer, longest_name, &shown));
    }
    rows.to_string()
}

/// Columns that only some networks have something in.
struct Shown {
    types: bool,
    live_macs: bool,
    weights: bool,
}

impl Shown {
    fn of(profile: &ModelProfile) -> Self {
        Self {
            types: types(profile).len() > 1,
            live_macs: profile.total.live_macs != profile.total.macs,
            weights: profile.total.weights.is_some(),
        }
    }
}

fn types(profile: &ModelProfile) -> BTreeSet<String> {
    profile.layers.iter().map(|layer| type_of(&layer.layer.work)).collect()
}

/// What a layer computes in, and what its stored filters are in where that is something else.
fn type_of(work: &Work) -> String {
    let filter = work.operands.iter().find(|o| o.role == OperandRole::Filter && o.constant);
    match filter.map(|filter| filter.element).filter(|stored| *stored != work.element) {
        Some(stored) => format!("{}, {stored} w", work.element),
        None => work.element.to_string(),
    }
}

/// One type of all layers is said once.
fn common_type(profile: &ModelProfile) -> String {
    let types = types(profile);
    let only = types.first().filter(|_| types.len() == 1);
    only.map_or_else(String::new, |element| format!(", all layers on {element}"))
}

fn row(profile: &LayerProfile, longest_name: usize, shown: &Shown) -> Vec<String> {
    let (layer, work) = (&profile.layer, &profile.layer.work);
    // A kind of many functions says less than the function.
    let kind = layer.function.map_or_else(|| work.kind.to_string(), |f| f.to_string());
    let mut row = vec![shortened(&layer.name, longest_name), kind];
    row.extend(shown.types.then(|| type_of(work)));
    row.extend([shape(layer.output_shape.as_ref()), grouped(work.macs)]);
    row.extend(shown.live_macs.then(|| grouped(work.live_macs)));
    row.extend([grouped(work.element_ops), grouped(work.parameters)]);
    row.extend([work.weight_bytes, work.input_bytes, work.output_bytes].map(bytes));
    row.push(bytes(profile.live_after_bytes));
    if shown.weights {
        let statistics = profile.weight_statistics;
        row.push(statistics.map_or_else(String::new, |s| percent(s.zeros)));
        row.push(statistics.map_or_else(String::new, |s| bits(s.entropy_bits)));
    }
    row
}

fn shape(shape: Option<&Shape>) -> String {
    shape.map_or_else(|| "?".into(), ToString::to_string)
}

fn bytes(count: u64) -> String {
    Bytes(count as f64).to_string()
}

fn bits(entropy: f64) -> String {
    format!("{entropy:.2}")
}
