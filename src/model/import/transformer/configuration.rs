//! From fields to a transformer, with all that is wrong.

use super::family::{Family, Kind, family};
use super::fields::{Fields, MOST_LAYERS};
use super::{mixture, storage};
use crate::diagnostic::Fault;
use crate::model::builder::Stored;
use crate::model::transformer::{Bias, Conventions, Head, Heads, Order, Stem, Transformer, Window};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What a file says.
pub(super) struct Configuration {
    pub transformer: Transformer,
    pub notes: Vec<String>,
    /// Tokens that the model is made for.
    pub positions: Option<u64>,
    /// How filters are stored, if not in the type that is computed in.
    pub stored: Option<Stored>,
}

const HIDDEN: [&str; 2] = ["hidden_size", "n_embd"];
const LAYERS: [&str; 2] = ["num_hidden_layers", "n_layer"];
const HEADS: [&str; 2] = ["num_attention_heads", "n_head"];
const KEY_HEADS: [&str; 1] = ["num_key_value_heads"];
const INSIDE: [&str; 2] = ["intermediate_size", "n_inner"];

/// Fields of arithmetic that is not counted here, and what it is.
const NOT_COUNTED: [(&str, &str); 7] = [
    ("attn_logit_softcapping", "scores pressed below a limit"),
    ("kv_lora_rank", "keys and values compressed to a latent vector"),
    ("mamba_d_state", "state-space layers"),
    ("ssm_cfg", "state-space layers"),
    ("linear_num_value_heads", "layers of linear attention"),
    ("num_nextn_predict_layers", "layers that predict further tokens"),
    ("cross_attention_layers", "cross-attention"),
];

pub(super) fn configuration(
    name: &str,
    file: &Map<String, Value>,
) -> Result<Configuration, Vec<Fault>> {
    let mut fields = Fields::of(file);
    let mut notes = Vec::new();
    let model_type = fields.text(&["model_type"]).unwrap_or("");
    let (family, known) = family(model_type);
    if !known {
        notes.push(format!(
            "model_type `{model_type}` is not known: counted like Llama, with gated feed-forward \
             layers, rotary positions and no biases but those that are stated"
        ));
    }
    if fields.is_nested() {
        notes.push("of this file, its text_config is counted: the language model alone".into());
    }
    let not_counted = NOT_COUNTED.iter().filter(|(field, _)| fields.has(&[field]));
    notes.extend(not_counted.map(|(field, what)| format!("not counted as such: {what} ({field})")));
    let (element, note) = storage::element(&mut fields);
    notes.extend(note);
    let (stored, note) = storage::stated(&mut fields);
    notes.extend(note);
    let positions = fields.size(&["max_position_embeddings", "n_positions"]);
    let read = sizes(name, &mut fields, &family, positions);
    match read {
        Some(mut transformer) if fields.faults.is_empty() => {
            transformer.element = element;
            Ok(Configuration { transformer, notes, positions, stored })
        }
        _ => Err(fields.faults),
    }
}

/// The transformer, but for its type. Every field is looked at before any fault stops it.
fn sizes(
    name: &str,
    fields: &mut Fields<'_>,
    family: &Family,
    positions: Option<u64>,
) -> Option<Transformer> {
    let hidden = fields.required(&HIDDEN);
    let layers = fields.required(&LAYERS);
    if let (Some(n), Some((path, _))) = (layers.filter(|n| *n > MOST_LAYERS), fields.value(&LAYERS))
    {
        fields.fault(path, format!("{n} layers are more than {MOST_LAYERS}"));
    }
    let layers = layers.filter(|layers| *layers <= MOST_LAYERS);
    let heads = heads(fields, hidden);
    let inside = feed_forward(fields, family, hidden);
    let experts = mixture::experts(fields, layers.unwrap_or(0), inside);
    if experts.as_ref().is_some_and(|experts| !experts.dense.is_empty()) && !fields.has(&INSIDE) {
        fields.required(&INSIDE);
    }
    let stem = stem(fields, family, positions);
    let head = head(fields, family);
    let window = window(fields, family, layers.unwrap_or(0));
    let conventions = conventions(fields, family, heads.as_ref());
    let heads = Heads { window, ..heads? };
    Some(Transformer {
        name: name.to_owned(),
        element: crate::model::ElementType::Float32,
        hidden: hidden?,
        layers: layers?,
        heads,
        // A network of experts alone needs no width of its own.
        feed_forward: inside.or(experts.as_ref().map(|experts| experts.width))?,
        experts,
        conventions: conventions?,
        stem: stem?,
        head,
    })
}

fn heads(fields: &mut Fields<'_>, hidden: Option<u64>) -> Option<Heads> {
    let query = fields.required(&HEADS);
    let stated = fields.size(&["head_dim"]);
    let multi_query = fields.flag(&["multi_query"]).unwrap_or(false);
    let key = fields.size(&KEY_HEADS).or(if multi_query { Some(1) } else { query });
    let path = |fields: &Fields<'_>, names: &[&str]| fields.value(names).map(|(path, _)| path);
    if let (Some(q), Some(k)) = (query, key)
        && !q.is_multiple_of(k)
        && let Some(at) = path(fields, &KEY_HEADS)
    {
        fields.fault(at, format!("{k} heads of keys do not divide {q} heads of queries"));
    }
    let extent = match (stated, hidden, query) {
        (Some(extent), ..) => Some(extent),
        (None, Some(hidden), Some(query)) if hidden.is_multiple_of(query) => Some(hidden / query),
        (None, Some(hidden), Some(query)) => {
            let message = format!("{query} heads do not divide a hidden extent of {hidden}");
            let at = path(fields, &HEADS).unwrap_or_default();
            fields.faults.push(Fault::at(at, message).with_help("or state `head_dim`"));
            None
        }
        _ => None,
    };
    Some(Heads { query: query?, key: key?, extent: extent?, window: None })
}

fn feed_forward(fields: &mut Fields<'_>, family: &Family, hidden: Option<u64>) -> Option<u64> {
    // Networks with learned positions and plain layers default to four times the hidden extent.
    let default = family.rotary.is_none() && family.kind == Kind::Decoder;
    if default && !fields.has(&INSIDE) {
        return hidden.map(|hidden| hidden.saturating_mul(4));
    }
    let mixture_alone = fields.has(&["moe_intermediate_size"]);
    if mixture_alone { fields.size(&INSIDE) } else { fields.required(&INSIDE) }
}

fn stem(fields: &mut Fields<'_>, family: &Family, positions: Option<u64>) -> Option<Stem> {
    if family.kind == Kind::Image {
        let (image, patch) = (fields.required(&["image_size"]), fields.required(&["patch_size"]));
        let channels = fields.size(&["num_channels"]).unwrap_or(3);
        if let (Some(image), Some(patch)) = (image, patch)
            && !image.is_multiple_of(patch)
        {
            fields.fault("patch_size", format!("patches of {patch} do not divide {image}"));
        }
        return Some(Stem::Patches { image: image?, patch: patch?, channels });
    }
    let vocabulary = fields.required(&["vocab_size"]);
    let learned = family.rotary.is_none();
    if learned && positions.is_none() {
        fields.required(&["max_position_embeddings", "n_positions"]);
    }
    let segments =
        (family.kind == Kind::Encoder).then(|| fields.size(&["type_vocab_size"]).unwrap_or(2));
    Some(Stem::Tokens {
        vocabulary: vocabulary?,
        positions: positions.filter(|_| learned),
        segments,
    })
}

fn head(fields: &mut Fields<'_>, family: &Family) -> Head {
    match family.kind {
        Kind::Decoder => {
            Head::Language { tied: fields.flag(&["tie_word_embeddings"]).unwrap_or(family.tied) }
        }
        Kind::Encoder => Head::Pooler,
        Kind::Image => {
            let labels = fields.value(&["id2label"]).and_then(|(_, labels)| labels.as_object());
            let named = labels.map(|labels| labels.len() as u64).filter(|count| *count > 0);
            let count = fields.size(&["num_labels"]).or(named);
            count.map_or(Head::Pooler, Head::Classes)
        }
    }
}

fn window(fields: &mut Fields<'_>, family: &Family, layers: u64) -> Option<Window> {
    let on = fields.flag(&["use_sliding_window"]).unwrap_or(true);
    let keys = fields.size(&["sliding_window"]).filter(|_| on)?;
    let by_type = fields.texts(&["layer_types"]);
    let every = fields.size(&["sliding_window_pattern"]).or(family.full_every);
    // So many layers at the bottom attend to all keys.
    let first = fields.number(&["max_window_layers"], 0);
    let full = |layer: &u64| match (&by_type, every) {
        (Some(types), _) => {
            let kind = usize::try_from(*layer).ok().and_then(|at| types.get(at));
            kind != Some(&"sliding_attention")
        }
        (None, Some(every)) => (layer + 1).is_multiple_of(every),
        (None, None) => first.is_some_and(|first| *layer < first),
    };
    Some(Window { keys, full: (0..layers).filter(full).collect::<BTreeSet<_>>() })
}

fn conventions(
    fields: &mut Fields<'_>,
    family: &Family,
    heads: Option<&Heads>,
) -> Option<Conventions> {
    let share = fields.share(&["partial_rotary_factor", "rotary_pct"]);
    let activation = fields.text(&["hidden_act", "hidden_activation", "activation_function"]);
    let parallel = fields.flag(&["use_parallel_residual"]).unwrap_or(true);
    let order = match family.order {
        Order::Parallel if !parallel => Order::Before,
        order => order,
    };
    let bias = biases(fields, family);
    let rotated = family.rotary.map_or(0.0, |default| share.unwrap_or(default));
    let extent = heads?.extent;
    // Pairs of elements are rotated.
    let rotated = ((extent as f64 * rotated) as u64).min(extent) / 2 * 2;
    Some(Conventions {
        causal: family.kind == Kind::Decoder,
        shift: family.shift,
        order,
        rotated,
        head_norm: family.head_norm,
        gated: family.gated,
        activation: activation.unwrap_or(family.activation).to_owned(),
        bias,
        scaled: family.scaled,
    })
}

fn biases(fields: &mut Fields<'_>, family: &Family) -> Bias {
    let mut bias = family.bias;
    if let Some(all) = fields.flag(&["use_bias"]) {
        bias = Bias { head: bias.head, ..Bias::all(all) };
    }
    if let Some(attention) = fields.flag(&["attention_bias", "qkv_bias"]) {
        bias.queries = attention;
        // A bias of the queries alone says nothing of the output's.
        if family.whole_attention_bias && family.kind != Kind::Image {
            bias.output = attention;
        }
    }
    bias.feed_forward = fields.flag(&["mlp_bias"]).unwrap_or(bias.feed_forward);
    bias
}
