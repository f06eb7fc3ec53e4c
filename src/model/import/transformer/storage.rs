//! How filters are stored: as the configuration says, or as the user asks.

use super::fields::Fields;
use crate::model::builder::Stored;
use crate::model::import::options::{WeightFormat, refused};
use crate::model::transformer::Transformer;
use crate::model::{ElementType, ModelError};

/// Filters in the type that is computed in.
pub(super) fn plain(transformer: &Transformer) -> Stored {
    Stored { element: transformer.element, group: None }
}

/// What the user asks for.
pub(super) fn asked(path: &str, format: WeightFormat) -> Result<Option<Stored>, ModelError> {
    let WeightFormat { element, group } = format;
    if !matches!(element, ElementType::Int4 | ElementType::Int8) {
        return Err(refused(path, "--weights", &format!("{element} is neither Int4 nor Int8")));
    }
    if group == Some(0) {
        return Err(refused(path, "--weight-group", "a group has at least one weight"));
    }
    Ok(Some(Stored { element, group }))
}

/// What `quantization_config` says, and a note where that is not understood.
pub(super) fn stated(fields: &mut Fields<'_>) -> (Option<Stored>, Option<String>) {
    let Some((path, value)) = fields.value(&["quantization_config"]) else { return (None, None) };
    let bits = value.get("bits").and_then(serde_json::Value::as_u64);
    let element = match bits {
        Some(4) => Some(ElementType::Int4),
        Some(8) => Some(ElementType::Int8),
        _ => None,
    };
    let Some(element) = element else {
        let how = value.get("quant_method").and_then(|m| m.as_str()).unwrap_or("unknown method");
        let note = format!(
            "{path} ({how}) is not understood: filters are counted in the type that is computed in"
        );
        return (None, Some(note));
    };
    // A group of -1 is all of an output.
    let group = value.get("group_size").and_then(serde_json::Value::as_u64).filter(|g| *g > 0);
    (Some(Stored { element, group }), None)
}

/// The type that is computed in.
pub(super) fn element(fields: &mut Fields<'_>) -> (ElementType, Option<String>) {
    let names = ["torch_dtype", "dtype"];
    let Some((path, _)) = fields.value(&names) else {
        let note = "torch_dtype is not stated: weights, activations and cache count as Float32";
        return (ElementType::Float32, Some(note.to_owned()));
    };
    let element = match fields.text(&names).map(|name| name.trim_start_matches("torch.")) {
        Some("float16" | "half") => ElementType::Float16,
        Some("bfloat16") => ElementType::BFloat16,
        Some("float32" | "float") => ElementType::Float32,
        Some(other) => {
            let message = format!("`{other}` is none of float16, bfloat16, float32");
            fields.fault(path, message);
            ElementType::Float32
        }
        None => ElementType::Float32,
    };
    (element, None)
}
