//! `inspect --by kind`: sums over the layers of each kind.

use super::super::{grouped, percent, table};
use super::totals::{origin_and_notes, totals};
use super::{Shown, bits, bytes};
use crate::model::{ModelProfile, Sums};

/// Sums over the layers of each kind.
pub fn kinds_text(profile: &ModelProfile) -> String {
    let shown = Shown::of(profile);
    let mut headers = vec!["kind", "layers", "MACs", "share"];
    headers.extend(shown.live_macs.then_some("live\nMACs"));
    headers.extend(["element\nops", "parameters\nread", "weights\nread", "in", "out"]);
    if shown.weights {
        headers.extend(["zeros", "bits/\nweight"]);
    }
    let mut rows = table(&headers, 1);
    for (kind, sums) in profile.by_kind() {
        rows.add_row(kind_row(kind.to_string(), &sums, &profile.total, &shown));
    }
    rows.add_row(kind_row("all".into(), &profile.total, &profile.total, &shown));
    format!("{}\n{rows}\n{}{}", profile.name, totals(profile), origin_and_notes(profile))
}

fn kind_row(name: String, sums: &Sums, all: &Sums, shown: &Shown) -> Vec<String> {
    let share = percent(sums.share_of_macs(all));
    let mut row = vec![name, grouped(sums.layers), grouped(sums.macs), share];
    row.extend(shown.live_macs.then(|| grouped(sums.live_macs)));
    row.extend([grouped(sums.element_ops), grouped(sums.parameters_read)]);
    row.extend([sums.weight_bytes_read, sums.input_bytes, sums.output_bytes].map(bytes));
    if shown.weights {
        row.push(sums.weights.map_or_else(String::new, |mean| percent(mean.zeros)));
        row.push(sums.weights.map_or_else(String::new, |mean| bits(mean.entropy_bits)));
    }
    row
}
