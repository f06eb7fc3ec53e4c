//! Totals below the rows of `inspect`, and what is alive at the peak.

use super::super::{grouped, percent, plain, shortened, without_header};
use super::{bits, bytes, shape};
use crate::model::{LiveTensor, ModelProfile, OrderMethod, TransformRecord, WeightMean};
use std::fmt::Write as _;

/// Tensors listed at the peak; the rest are counted.
const LISTED: usize = 8;
const LONGEST_TENSOR: usize = 48;

pub(super) fn totals(profile: &ModelProfile) -> String {
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
    if profile.active_parameters != profile.stored_parameters {
        add("  read in this run", grouped(profile.active_parameters));
    }
    if total.parameters_read != profile.active_parameters {
        add("  read, shared ones each time", grouped(total.parameters_read));
    }
    if profile.normalisation_statistics > 0 {
        add("  without normalisation statistics", grouped(profile.learned_parameters()));
    }
    add("weights", bytes(profile.stored_weight_bytes));
    if let Some(WeightMean { zeros, entropy_bits, .. }) = total.weights {
        add("  zeros", percent(zeros));
        add("  bits/weight", bits(entropy_bits));
    }
    if profile.memory.state_tensors > 0 {
        add("states kept between runs", bytes(profile.memory.state_bytes));
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
pub(super) fn memory(profile: &ModelProfile) -> String {
    let mut text = format!("layers are in the order they run: {}\n", order_text(profile));
    let Some(layer) = profile.peak_layer() else { return text };
    let tensors = profile.memory.chosen.peak_tensors.iter();
    let (states, working): (Vec<_>, Vec<_>) = tensors.partition(|tensor| tensor.is_state);
    let _ = writeln!(text, "alive at the peak, in `{}`:", layer.layer.name);
    let mut table = plain(3, 2);
    for tensor in working.iter().take(LISTED) {
        let name = format!("  {}", shortened(&tensor.name, LONGEST_TENSOR));
        table.add_row(vec![name, shape(tensor.shape.as_ref()), bytes(tensor.bytes)]);
    }
    text.push_str(&without_header(&table));
    let rest = working.get(LISTED..).unwrap_or_default();
    if !rest.is_empty() {
        let _ = writeln!(text, "   and {} more, {} together", rest.len(), bytes(sum(rest)));
    }
    if !states.is_empty() {
        let tensors = if states.len() == 1 { "tensor" } else { "tensors" };
        let (count, size) = (states.len(), bytes(sum(&states)));
        let _ = writeln!(text, "   states kept between runs: {count} {tensors}, {size}");
    }
    text
}

fn sum(tensors: &[&LiveTensor]) -> u64 {
    tensors.iter().map(|tensor| tensor.bytes).fold(0, u64::saturating_add)
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

pub(super) fn origin_and_notes(profile: &ModelProfile) -> String {
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
