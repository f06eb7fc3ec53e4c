//! `inspect`: layers or kinds, totals, memory.

use crate::model::{ActivationMemory, LayerProfile, ModelProfile, Sums};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A document whose layers are written one by one, since a network may have a hundred thousand.
#[derive(Debug, Serialize)]
pub struct InspectDocument<'a> {
    #[serde(flatten)]
    head: Map<String, Value>,
    layers: &'a [LayerProfile],
}

/// Every layer in the order it runs.
pub fn inspect(profile: &ModelProfile) -> InspectDocument<'_> {
    InspectDocument { head: head(profile, "joulecast.inspect/3"), layers: &profile.layers }
}

/// Sums over the layers of each kind.
pub fn inspect_by_kind(profile: &ModelProfile) -> Value {
    let kinds: Vec<Value> = profile
        .by_kind()
        .into_iter()
        .map(|(kind, sums)| {
            let mut row = sums_of(&sums);
            row.insert("kind".into(), json!(kind));
            row.insert("share_of_macs".into(), json!(sums.share_of_macs(&profile.total)));
            Value::Object(row)
        })
        .collect();
    let mut document = head(profile, "joulecast.inspect_by_kind/2");
    document.insert("kinds".into(), json!(kinds));
    Value::Object(document)
}

fn head(profile: &ModelProfile, schema: &str) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("schema".into(), json!(schema));
    map.insert("model".into(), json!(profile.name));
    map.insert("origin".into(), json!(profile.origin));
    map.insert("source".into(), json!(profile.source));
    map.insert("licence".into(), json!(profile.licence));
    map.insert("totals".into(), Value::Object(totals(profile)));
    map.insert("memory".into(), memory(&profile.memory, profile));
    map.insert("transforms".into(), super::transforms(&profile.transforms));
    map.insert("quality".into(), json!(profile.quality));
    map.insert("notes".into(), json!(profile.notes));
    map
}

/// What is stored stands under the plain names, each tensor once; what layers read ends in `_read`.
fn totals(profile: &ModelProfile) -> Map<String, Value> {
    let mut totals = sums_of(&profile.total);
    let learned = profile.learned_parameters();
    for (name, count) in [
        ("parameters", profile.stored_parameters),
        ("active_parameters", profile.active_parameters),
        ("parameters_without_normalisation_statistics", learned),
        ("weight_bytes", profile.stored_weight_bytes),
        ("state_bytes", profile.memory.state_bytes),
        ("peak_activation_bytes", profile.memory.chosen.peak_bytes),
    ] {
        totals.insert(name.into(), json!(count));
    }
    totals
}

fn sums_of(sums: &Sums) -> Map<String, Value> {
    match json!(sums) {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn memory(memory: &ActivationMemory, profile: &ModelProfile) -> Value {
    json!({
        "order": memory.chosen.order,
        "method": memory.method,
        "is_lowest": memory.is_lowest,
        "peak_bytes": memory.chosen.peak_bytes,
        "peak_at": profile.peak_layer().map(|layer| &layer.layer.name),
        "peak_tensors": memory.chosen.peak_tensors,
        "file_order_peak_bytes": memory.file.peak_bytes,
    })
}
