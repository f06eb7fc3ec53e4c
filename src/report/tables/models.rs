//! What is in a network, and which ship.

use super::{grouped, plain, shortened, table, without_header};
use crate::mapping::Network;
use crate::model::ModelGraph;
use crate::units::Bytes;
use comfy_table::CellAlignment;
use std::fmt::Write as _;

/// `inspect`: layers, totals, memory.
pub fn inspect_text(graph: &ModelGraph, network: &Network, live_bytes: &[u64]) -> String {
    let headers = [
        "layer",
        "kind",
        "type",
        "output",
        "MACs",
        "element ops",
        "parameters",
        "weights",
        "activations",
        "live",
    ];
    let mut rows = table(&headers, 4);
    for (layer, live) in network.layers.iter().zip(live_bytes) {
        let w = &layer.work;
        rows.add_row(vec![
            shortened(&layer.name, 28),
            w.kind.to_string(),
            w.element.to_string(),
            layer.output_shape.as_ref().map_or("?".into(), ToString::to_string),
            grouped(w.macs),
            grouped(w.element_ops),
            grouped(w.parameters),
            Bytes(w.weight_bytes as f64).to_string(),
            Bytes(w.output_bytes as f64).to_string(),
            Bytes(*live as f64).to_string(),
        ]);
    }
    let sum = |f: fn(&crate::model::Work) -> u64| -> u64 {
        network.layers.iter().map(|l| f(&l.work)).fold(0, u64::saturating_add)
    };
    let mut text = format!("{}\n{rows}\n", network.name);
    let mut totals = plain(2, 1);
    totals.add_row(vec!["layers".to_owned(), grouped(network.layers.len() as u64)]);
    totals.add_row(vec!["MACs".to_owned(), grouped(sum(|w| w.macs))]);
    totals.add_row(vec!["element operations".to_owned(), grouped(sum(|w| w.element_ops))]);
    totals.add_row(vec!["parameters".to_owned(), grouped(sum(|w| w.parameters))]);
    totals.add_row(vec!["weights".to_owned(), Bytes(network.weight_bytes as f64).to_string()]);
    let skippable = sum(|w| w.skippable_macs);
    if skippable > 0 {
        totals.add_row(vec!["MACs on zeros not stored".to_owned(), grouped(skippable)]);
    }
    let peak = Bytes(network.peak_activation_bytes as f64);
    totals.add_row(vec!["peak of live activations".to_owned(), peak.to_string()]);
    text.push_str(&without_header(&totals));
    if let Some(origin) = &graph.origin {
        let _ =
            writeln!(text, "from {} ({}), sha256 {}", origin.file, origin.format, origin.sha256);
    }
    for record in &graph.transforms {
        for line in record.lines() {
            let _ = writeln!(text, "transform: {line}");
        }
    }
    if let Some(quality) = &graph.quality {
        let _ = writeln!(text, "quality: {quality}");
    }
    for note in &graph.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

/// `model list`.
pub fn model_list_table(rows: &[(&str, &str, u64, u64)]) -> String {
    let mut out = table(&["model", "MACs", "parameters", "file"], 1);
    if let Some(column) = out.column_mut(3) {
        column.set_cell_alignment(CellAlignment::Left);
    }
    for (name, path, macs, parameters) in rows {
        out.add_row(vec![
            (*name).to_owned(),
            grouped(*macs),
            grouped(*parameters),
            (*path).to_owned(),
        ]);
    }
    format!("{out}\n")
}
