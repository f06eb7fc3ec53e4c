//! `inspect`: a network layer by layer, or kind by kind.

use super::{grouped, percent, plain, shortened, table, without_header};
use crate::model::{
    ElementType, LayerProfile, ModelProfile, OrderMethod, Shape, Sums, TransformRecord, WeightMean,
};
use crate::units::Bytes;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Layers shown in a terminal, which is more than anyone reads there.
const ROWS: usize = 2000;
/// Tensors listed at the peak; the rest are counted.
const LISTED: usize = 8;
const LONGEST_NAME: usize = 22;
const LONGEST_TENSOR: usize = 48;

/// Layers in the order they run, totals, memory.
pub fn inspect_text(profile: &ModelProfile) -> String {
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
        rows.add_row(row(layer, &shown));
    }
    let mut text = format!("{}{}\n{rows}\n", profile.name, common_type(profile));
    let rest = profile.layers.len().saturating_sub(ROWS);
    if rest > 0 {
        let rest = grouped(rest as u64);
        let _ = writeln!(text, "and {rest} more layers; --csv FILE writes all of them");
    }
    text.push_str(&totals(profile));
    text.push_str(&memory(profile));
    text + &origin_and_notes(profile)
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

fn types(profile: &ModelProfile) -> BTreeSet<ElementType> {
    profile.layers.iter().map(|layer| layer.layer.work.element).collect()
}

/// One type of all layers is said once.
fn common_type(profile: &ModelProfile) -> String {
    let types = types(profile);
    let only = types.first().filter(|_| types.len() == 1);
    only.map_or_else(String::new, |element| format!(", all layers on {element}"))
}

fn row(profile: &LayerProfile, shown: &Shown) -> Vec<String> {
    let (layer, work) = (&profile.layer, &profile.layer.work);
    let mut row = vec![shortened(&layer.name, LONGEST_NAME), work.kind.to_string()];
    row.extend(shown.types.then(|| work.element.to_string()));
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

fn totals(profile: &ModelProfile) -> String {
    let total = &profile.total;
    let mut table = plain(2, 1);
    let mut add = |name: &str, value: String| {
        table.add_row(vec![name.to_owned(), value]);
    };
    add("layers", grouped(total.layers));
    add("MACs", grouped(total.macs));
    if total.live_macs != total.macs {
        add("live MACs", grouped(total.live_macs));
    }
    add("element operations", grouped(total.element_ops));
    for (function, count) in total.element_ops_by_function.iter() {
        add(&format!("  {function:?}"), grouped(count));
    }
    if total.skippable_macs > 0 {
        add("MACs on zeros not stored", grouped(total.skippable_macs));
    }
    add("parameters", grouped(profile.stored_parameters));
    if total.parameters != profile.stored_parameters {
        add("  read, by layer", grouped(total.parameters));
    }
    if profile.normalisation_statistics > 0 {
        add("  without normalisation statistics", grouped(profile.learned_parameters()));
    }
    add("weights", bytes(profile.stored_weight_bytes));
    if let Some(WeightMean { zeros, entropy_bits, .. }) = total.weights {
        add("  zeros", percent(zeros));
        add("  bits/weight", bits(entropy_bits));
    }
    add("activations written", bytes(total.output_bytes));
    add("peak of live activations", bytes(profile.memory.chosen.peak_bytes));
    add("  in the file's order", bytes(profile.memory.file.peak_bytes));
    let mut text = without_header(&table);
    if profile.normalisation_statistics > 0 {
        let _ = writeln!(
            text,
            "{} parameters are means and variances of batch normalisation, stored but not learned",
            grouped(profile.normalisation_statistics)
        );
    }
    text
}

/// The order, and what is alive at its peak.
fn memory(profile: &ModelProfile) -> String {
    let mut text = format!("layers are in the order they run: {}\n", order_text(profile));
    let Some(layer) = profile.peak_layer() else { return text };
    let tensors = &profile.memory.chosen.peak_tensors;
    let _ = writeln!(text, "alive at the peak, in `{}`:", layer.layer.name);
    let mut table = plain(3, 2);
    for tensor in tensors.iter().take(LISTED) {
        let name = format!("  {}", shortened(&tensor.name, LONGEST_TENSOR));
        table.add_row(vec![name, shape(tensor.shape.as_ref()), bytes(tensor.bytes)]);
    }
    text.push_str(&without_header(&table));
    let rest = tensors.get(LISTED..).unwrap_or_default();
    if !rest.is_empty() {
        let sum = rest.iter().map(|tensor| tensor.bytes).fold(0, u64::saturating_add);
        let _ = writeln!(text, "   and {} more, {} together", rest.len(), bytes(sum));
    }
    text
}

/// What gave the order, and whether it is the best.
pub(in crate::report) fn order_text(profile: &ModelProfile) -> String {
    let memory = &profile.memory;
    match (memory.method, memory.is_lowest) {
        (OrderMethod::FileOrder, true) => "file order, no other has a lower peak".into(),
        (OrderMethod::FileOrder, false) => "file order, no lower peak was found".into(),
        (method, true) => format!("{method}, no other order has a lower peak"),
        (method, false) => format!("{method}, an order with a lower peak may exist"),
    }
}

fn origin_and_notes(profile: &ModelProfile) -> String {
    let mut text = String::new();
    if let Some(origin) = &profile.origin {
        let _ =
            writeln!(text, "from {} ({}), sha256 {}", origin.file, origin.format, origin.sha256);
    }
    if let Some(source) = &profile.source {
        let licence = profile.licence.as_ref().map_or(String::new(), |l| format!(" ({l})"));
        let _ = writeln!(text, "described in {source}{licence}");
    }
    for line in profile.transforms.iter().flat_map(TransformRecord::lines) {
        let _ = writeln!(text, "transform: {line}");
    }
    if let Some(quality) = &profile.quality {
        let _ = writeln!(text, "quality: {quality}");
    }
    for note in &profile.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// Sums over the layers of each kind.
pub fn kinds_text(profile: &ModelProfile) -> String {
    let shown = Shown::of(profile);
    let mut headers = vec!["kind", "layers", "MACs", "share"];
    headers.extend(shown.live_macs.then_some("live\nMACs"));
    headers.extend(["element\nops", "parameters", "weights", "in", "out"]);
    if shown.weights {
        headers.extend(["zeros", "bits/\nweight"]);
    }
    let mut rows = table(&headers, 1);
    for (kind, sums) in profile.by_kind() {
        rows.add_row(kind_row(kind.to_string(), &sums, &profile.total, &shown));
    }
    rows.add_row(kind_row("all".into(), &profile.total, &profile.total, &shown));
    format!("{}\n{rows}\n{}", profile.name, origin_and_notes(profile))
}

fn kind_row(name: String, sums: &Sums, all: &Sums, shown: &Shown) -> Vec<String> {
    let share = percent(sums.share_of_macs(all));
    let mut row = vec![name, grouped(sums.layers), grouped(sums.macs), share];
    row.extend(shown.live_macs.then(|| grouped(sums.live_macs)));
    row.extend([grouped(sums.element_ops), grouped(sums.parameters)]);
    row.extend([sums.weight_bytes, sums.input_bytes, sums.output_bytes].map(bytes));
    if shown.weights {
        row.push(sums.weights.map_or_else(String::new, |mean| percent(mean.zeros)));
        row.push(sums.weights.map_or_else(String::new, |mean| bits(mean.entropy_bits)));
    }
    row
}
