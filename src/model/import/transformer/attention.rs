//! Heads, and the keys that they attend to.

use super::family::Family;
use super::fields::Fields;
use super::limits;
use crate::diagnostic::{Fault, nearest};
use crate::model::transformer::{Heads, Window};
use std::collections::BTreeSet;

pub(super) const HEADS: [&str; 2] = ["num_attention_heads", "n_head"];
const KEY_HEADS: [&str; 1] = ["num_key_value_heads"];

const FULL: &str = "full_attention";
const SLIDING: &str = "sliding_attention";
/// Layers of arithmetic that is not counted here, as `layer_types` calls them.
const NOT_COUNTED: [&str; 8] = [
    "attention",
    "chunked_attention",
    "compressed_sparse_attention",
    "conv",
    "hybrid",
    "linear_attention",
    "mamba",
    "recurrent",
];

pub(super) fn heads(fields: &mut Fields<'_>, hidden: Option<u64>) -> Option<Heads> {
    let query = fields.required(&HEADS);
    let stated = fields.size(&["head_dim"]);
    let multi_query = fields.flag(&["multi_query"]).unwrap_or(false);
    let key = fields.size(&KEY_HEADS).or(if multi_query { Some(1) } else { query });
    if let (Some(q), Some(k)) = (query, key)
        && !q.is_multiple_of(k)
        && let Some((at, _)) = fields.value(&KEY_HEADS)
    {
        fields.fault(at, format!("{k} heads of keys do not divide {q} heads of queries"));
    }
    let extent = stated.or_else(|| divided(fields, hidden?, query?));
    limits::extent(fields, &[query?, extent?], &[&HEADS, &["head_dim"]])?;
    Some(Heads { query: query?, key: key?, extent: extent?, window: None })
}

/// The extent of a head that no field states.
fn divided(fields: &mut Fields<'_>, hidden: u64, heads: u64) -> Option<u64> {
    if hidden.is_multiple_of(heads) {
        return Some(hidden / heads);
    }
    let message = format!("{heads} heads do not divide a hidden extent of {hidden}");
    let at = fields.value(&HEADS).map(|(path, _)| path).unwrap_or_default();
    fields.faults.push(Fault::at(at, message).with_help("or state `head_dim`"));
    None
}

pub(super) fn window(fields: &mut Fields<'_>, family: &Family, layers: u64) -> Option<Window> {
    let on = fields.flag(&["use_sliding_window"]).unwrap_or(family.window);
    let keys = fields.size(&["sliding_window"]).filter(|_| on);
    let by_type = layer_types(fields, layers);
    let every = fields.size(&["sliding_window_pattern"]).or(family.full_every);
    // So many layers at the bottom attend to all keys.
    let first = fields.number(&["max_window_layers"], 0).or(family.full_below);
    let slides = by_type.as_ref().is_some_and(|types| types.contains(&SLIDING));
    let Some(keys) = keys else {
        if slides {
            fields.note("layer_types names sliding attention, and no sliding_window is in use: those layers \
                 attend to all keys"
                    .into(),);
        }
        return None;
    };
    let full = |layer: &u64| match (&by_type, every) {
        (Some(types), _) => {
            let kind = usize::try_from(*layer).ok().and_then(|at| types.get(at));
            kind != Some(&SLIDING)
        }
        (None, Some(every)) => (layer + 1).is_multiple_of(every),
        (None, None) => first.is_some_and(|first| *layer < first),
    };
    Some(Window { keys, full: (0..layers).filter(full).collect::<BTreeSet<_>>() })
}

/// The kind of attention of each layer. A list of another length, or a word that is not known, is a
/// fault; layers of arithmetic that is not counted are noted.
fn layer_types<'a>(fields: &mut Fields<'a>, layers: u64) -> Option<Vec<&'a str>> {
    const NAMES: [&str; 1] = ["layer_types"];
    let (path, _) = fields.value(&NAMES)?;
    let types = fields.texts(&NAMES)?;
    if layers > 0 && types.len() as u64 != layers {
        let count = types.len();
        fields.fault(path, format!("{count} types of attention for {layers} layers"));
        return None;
    }
    let mut noted = BTreeSet::new();
    for (at, kind) in types.iter().enumerate() {
        if NOT_COUNTED.contains(kind) {
            noted.insert(*kind);
        } else if ![FULL, SLIDING].contains(kind) {
            let known = [FULL, SLIDING].into_iter().chain(NOT_COUNTED);
            let mut fault =
                Fault::at(format!("{path}[{at}]"), format!("`{kind}` is no known type"));
            fault.help = nearest(kind, known).map(|near| format!("did you mean `{near}`?"));
            fields.faults.push(fault);
        }
    }
    for kind in noted {
        fields.note(format!("layers of {kind} count like those of {FULL} (layer_types)"));
    }
    Some(types)
}
