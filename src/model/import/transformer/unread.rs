//! Fields of arithmetic that is not counted, and activations that are not known: each is noted.

use super::fields::Fields;
use crate::model::transformer::known_activation;
use serde_json::Value;

/// Fields of arithmetic that is not counted here, and what it is. One that is false, 0 or empty says
/// that there is none.
const NOT_COUNTED: [(&str, &str); 26] = [
    ("attn_logit_softcapping", "scores pressed below a limit"),
    ("final_logit_softcapping", "scores of the vocabulary pressed below a limit"),
    ("clip_qkv", "queries, keys and values held within limits"),
    ("use_qk_norm", "queries and keys normalised"),
    ("qk_layernorm", "queries and keys normalised"),
    ("q_lora_rank", "queries compressed to a latent vector"),
    ("kv_lora_rank", "keys and values compressed to a latent vector"),
    ("index_topk", "keys picked by an indexer"),
    ("attention_chunk_size", "attention within chunks of tokens"),
    ("alibi", "positions by an addition to the scores"),
    ("num_kv_shared_layers", "layers that share a cache"),
    ("cross_attention_layers", "cross-attention"),
    ("add_cross_attention", "cross-attention"),
    ("is_encoder_decoder", "an encoder beside the decoder"),
    ("linear_num_value_heads", "layers of linear attention"),
    ("full_attention_interval", "layers of another kind between those of attention"),
    ("attn_layer_period", "layers of another kind between those of attention"),
    ("expert_layer_period", "layers with and without a mixture in turn"),
    ("mamba_d_state", "state-space layers"),
    ("ssm_cfg", "state-space layers"),
    ("num_nextn_predict_layers", "layers that predict further tokens"),
    ("hidden_size_per_layer_input", "embeddings of each layer"),
    ("altup_num_inputs", "several streams between layers"),
    ("embedding_size", "embeddings of another extent than between layers"),
    ("word_embed_proj_dim", "embeddings of another extent than between layers"),
    ("swiglu_limit", "activations held within a limit"),
];

/// Factors that are not multiplied by here. One of 1 changes nothing.
const FACTORS: [(&str, &str); 4] = [
    ("residual_multiplier", "residual parts multiplied by a number"),
    ("scale_depth", "residual parts multiplied by a number"),
    ("logits_scaling", "scores of the vocabulary divided by a number"),
    ("logit_scale", "scores of the vocabulary multiplied by a number"),
];

/// Notes on fields that say more than is counted; `read` are those that are counted all the same.
pub(super) fn notes(fields: &Fields<'_>, read: &[&str]) -> Vec<String> {
    let value = |field: &str| fields.value(&[field]).map(|(_, value)| value);
    let unread = |field: &str| !read.contains(&field);
    let missing = NOT_COUNTED
        .iter()
        .filter(|(field, _)| unread(field) && value(field).is_some_and(|value| !says_none(value)));
    let factors = FACTORS.iter().filter(|(field, _)| {
        unread(field) && value(field).is_some_and(|value| value.as_f64() != Some(1.0))
    });
    let note = |(field, what): &(&str, &str)| format!("not counted as such: {what} ({field})");
    missing.chain(factors).map(note).collect()
}

fn says_none(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}

/// The note on an activation that is not known.
pub(super) fn activation_note(path: &str, name: &str) -> Option<String> {
    known_activation(name).is_none().then(|| {
        format!(
            "{path} `{name}` is not known: counted as one function of each element, by its name"
        )
    })
}
