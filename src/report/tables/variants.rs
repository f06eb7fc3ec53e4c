//! `model compare`: variants side by side.

use super::{grouped, plain, table, without_header};
use crate::model::{Demand, Variant};
use crate::units::Bytes;
use std::fmt::Write as _;

/// Variants with their sizes, each held against the first.
pub fn variants_table(variants: &[Variant], demands: &[Demand]) -> String {
    let live = variants.iter().any(|v| v.live_macs != v.macs);
    let mut headers = vec!["model", "MACs", ""];
    headers.extend(live.then_some("live\nMACs"));
    headers.extend(["element\nops", "parameters", "weights", "", "peak of\nactivations", ""]);
    headers.extend(["quality"]);
    headers.extend((!demands.is_empty()).then_some("enough"));
    let mut rows = table(&headers, 1);
    let first = variants.first();
    for variant in variants {
        let against = |of: fn(&Variant) -> u64| {
            // What is not known cannot be held against anything.
            let known = |v: &&Variant| v.unknown_layers == 0;
            let base = first.filter(|first| *first != variant && known(first)).map(of);
            let base = base.filter(|_| known(&variant));
            base.map_or_else(String::new, |base| change(base, of(variant)))
        };
        let bytes = |count: u64| Bytes(count as f64).to_string();
        let mut row = vec![variant.model.clone(), grouped(variant.macs), against(|v| v.macs)];
        row.extend(live.then(|| grouped(variant.live_macs)));
        row.extend([grouped(variant.element_ops), grouped(variant.stored_parameters)]);
        row.extend([bytes(variant.stored_weight_bytes), against(|v| v.stored_weight_bytes)]);
        row.extend([bytes(variant.peak_activation_bytes), against(|v| v.peak_activation_bytes)]);
        row.push(variant.quality.as_ref().map_or_else(
            || "?".to_owned(),
            |quality| format!("{} {}", quality.metric, quality.value),
        ));
        row.extend((!demands.is_empty()).then(|| enough(variant)));
        rows.add_row(row);
    }
    format!("{rows}\n{}", notes(variants, demands))
}

/// The change against the first, in per cent, or how many times as much.
fn change(base: u64, own: u64) -> String {
    if base == 0 {
        return String::new();
    }
    let ratio = own as f64 / base as f64;
    let percent = (ratio - 1.0) * 100.0;
    if ratio >= 10.0 {
        format!("x {ratio:.0}")
    } else if percent.abs() < 0.05 {
        "=".to_owned()
    } else {
        format!("{percent:+.1} %")
    }
}

fn enough(variant: &Variant) -> String {
    if variant.is_good_enough() {
        "yes"
    } else if variant.meets.contains(&Some(false)) {
        "no"
    } else {
        "not known"
    }
    .to_owned()
}

fn notes(variants: &[Variant], demands: &[Demand]) -> String {
    let mut text = String::new();
    for demand in demands {
        let _ = writeln!(text, "demanded: {demand}");
    }
    for variant in variants.iter().filter(|variant| variant.unknown_layers > 0) {
        let (layers, is) = match variant.unknown_layers {
            1 => ("1 layer".to_owned(), "is"),
            many => (format!("{many} layers"), "are"),
        };
        let _ = writeln!(
            text,
            "PARTIAL: {}: {layers} {is} of unknown work, which is in no figure here",
            variant.model
        );
    }
    let mut told = plain(2, 2);
    for variant in variants {
        if let Some(quality) = &variant.quality {
            told.add_row(vec![format!("{}:", variant.model), quality.to_string()]);
        }
        for transform in &variant.transforms {
            told.add_row(vec![format!("{}:", variant.model), transform.clone()]);
        }
    }
    if told.row_iter().next().is_some() {
        text.push_str(&without_header(&told));
    }
    text
}
