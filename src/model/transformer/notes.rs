//! What a reader of the graph has to know, in words.

use super::architecture::{Stem, Transformer};
use crate::model::builder::Stored;
use crate::model::totals::{read_parameters, stored_parameters};
use crate::model::{ModelGraph, Pass};

pub(super) fn notes(
    graph: &ModelGraph,
    of: &Transformer,
    pass: Pass,
    stored: Stored,
) -> Vec<String> {
    let mut notes = vec![pass_note(of, pass)];
    notes.extend(cache_note(of, pass));
    notes.extend(window_note(of, pass));
    notes.extend(experts_note(graph, of, pass));
    if stored.element != of.element {
        let scales = match stored.group {
            Some(group) => format!("each group of {group} weights"),
            None => "each output".to_owned(),
        };
        notes.push(format!(
            "filters inside of layers are stored as {}, with a Float16 scale for {scales}, and \
             computed in {}; embeddings, head, normalisations and biases keep their type",
            stored.element, of.element
        ));
    }
    notes
}

fn pass_note(of: &Transformer, pass: Pass) -> String {
    match (&of.stem, pass) {
        (Stem::Patches { image, patch, .. }, _) => {
            format!("one image of {image}x{image} in patches of {patch}x{patch}")
        }
        (_, Pass::Prefill(tokens)) if of.conventions.causal => format!(
            "prefill of {tokens} tokens: scores are counted in full and masked, the head is applied \
             to the last token"
        ),
        (_, Pass::Prefill(tokens)) => format!("one pass of {tokens} tokens"),
        (_, Pass::Decode(keys)) => {
            format!("decode of one token that attends to {keys} keys, its own among them")
        }
    }
}

fn cache_note(of: &Transformer, pass: Pass) -> Option<String> {
    let keys = match pass {
        Pass::Decode(keys) if of.conventions.causal => keys,
        _ => return None,
    };
    let row = of.heads.key.checked_mul(of.heads.extent)?.checked_mul(2)?;
    let rows = (0..of.layers).try_fold(0u64, |sum, l| sum.checked_add(of.attended(l, keys)))?;
    let bytes = row.checked_mul(rows)?.checked_mul(of.element.bits())? / 8;
    Some(format!("a cache of keys and values of {bytes} B ({}) is read once", of.element))
}

fn window_note(of: &Transformer, pass: Pass) -> Option<String> {
    let window = of.heads.window.as_ref()?;
    match pass {
        Pass::Prefill(tokens) if tokens > window.keys => Some(format!(
            "tokens attend to the last {} keys in some layers; their scores are counted in full all \
             the same",
            window.keys
        )),
        _ => None,
    }
}

fn experts_note(graph: &ModelGraph, of: &Transformer, pass: Pass) -> Option<String> {
    let experts = of.experts.as_ref()?;
    let tokens = match pass {
        Pass::Prefill(tokens) => tokens,
        Pass::Decode(_) => 1,
    };
    let (stored, read) = (stored_parameters(graph), read_parameters(graph));
    Some(format!(
        "mixture of experts: {stored} parameters are stored, {read} are active in this pass, which \
         touches {} of the {} experts of a layer; each token picks {}, any as likely as another",
        experts.touched(tokens),
        experts.count,
        experts.picked,
    ))
}
