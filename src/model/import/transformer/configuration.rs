//! From fields to a transformer, with all that is wrong.

use super::attention::{HEADS, heads, window};
use super::family::{Family, HEAD_NORM, Kind, family};
use super::fields::{Fields, MOST_LAYERS};
use super::limits::{self, TableNames};
use super::{mixture, storage, unread};
use crate::diagnostic::Fault;
use crate::model::builder::Stored;
use crate::model::transformer::{Bias, Conventions, Head, Heads, Order, Stem, Transformer};
use serde_json::{Map, Value};

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
const INSIDE: [&str; 2] = ["intermediate_size", "n_inner"];
const POSITIONS: [&str; 2] = ["max_position_embeddings", "n_positions"];
const ACTIVATION: [&str; 3] = ["hidden_act", "hidden_activation", "activation_function"];

const TABLES: TableNames<'_> = TableNames {
    hidden: &HIDDEN,
    heads: &HEADS,
    inside: &INSIDE,
    expert: &mixture::WIDTH,
    experts: &mixture::COUNT,
    positions: &POSITIONS,
};

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
    notes.extend(unread::notes(&fields, family.counted));
    let (element, note) = storage::element(&mut fields);
    notes.extend(note);
    let (stored, note) = storage::stated(&mut fields);
    notes.extend(note);
    let positions = fields.size(&POSITIONS);
    let read = sizes(name, &mut fields, &family, positions);
    if let Some(transformer) = read.as_ref().filter(|_| fields.faults.is_empty()) {
        limits::check(&mut fields, transformer, &TABLES);
    }
    match read {
        Some(mut transformer) if fields.faults.is_empty() => {
            transformer.element = element;
            notes.append(&mut fields.notes);
            Ok(Configuration { transformer, notes, positions, stored })
        }
        None if fields.faults.is_empty() => {
            let message = "the sizes that are stated make no transformer";
            Err(vec![Fault::at("", message)])
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
    if experts.is_none() && inside.is_none() && fields.faults.is_empty() {
        // The width of an expert is there, and no experts.
        fields.required(if fields.has(&mixture::COUNT) { &INSIDE } else { &mixture::COUNT });
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

fn feed_forward(fields: &mut Fields<'_>, family: &Family, hidden: Option<u64>) -> Option<u64> {
    // Networks with learned positions and plain layers default to four times the hidden extent.
    let default = family.rotary.is_none() && family.kind == Kind::Decoder;
    if default && !fields.has(&INSIDE) {
        return limits::extent(fields, &[hidden?, 4], &[&HIDDEN]);
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
        let distilled = family.distilled;
        return Some(Stem::Patches { image: image?, patch: patch?, channels, distilled });
    }
    let vocabulary = fields.required(&["vocab_size"]);
    let learned = family.rotary.is_none();
    if learned && positions.is_none() {
        fields.required(&POSITIONS);
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

fn conventions(
    fields: &mut Fields<'_>,
    family: &Family,
    heads: Option<&Heads>,
) -> Option<Conventions> {
    let share = fields.share(&["partial_rotary_factor", "rotary_pct"]);
    let activation = activation(fields, family);
    let parallel = fields.flag(&["use_parallel_residual"]).unwrap_or(true);
    let order = match family.order {
        Order::Parallel if !parallel => Order::Before,
        order => order,
    };
    let bias = biases(fields, family);
    let stated = family.counts(HEAD_NORM) && fields.flag(&[HEAD_NORM]) == Some(true);
    let head_norm = family.head_norm || stated;
    let factor = fields.value(&["embedding_multiplier", "scale_emb"]).and_then(|(_, v)| v.as_f64());
    let rotated = family.rotary.map_or(0.0, |default| share.unwrap_or(default));
    let extent = heads?.extent;
    // Pairs of elements are rotated.
    let rotated = ((extent as f64 * rotated) as u64).min(extent) / 2 * 2;
    Some(Conventions {
        causal: family.kind == Kind::Decoder,
        shift: family.shift,
        order,
        rotated,
        head_norm,
        gated: family.gated,
        activation,
        bias,
        scaled: family.scaled || factor.is_some_and(|factor| factor != 1.0),
    })
}

fn activation(fields: &mut Fields<'_>, family: &Family) -> String {
    let Some((path, _)) = fields.value(&ACTIVATION) else { return family.activation.to_owned() };
    let name = fields.text(&ACTIVATION).unwrap_or(family.activation).to_owned();
    if let Some(note) = unread::activation_note(&path, &name) {
        fields.note(note);
    }
    name
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
