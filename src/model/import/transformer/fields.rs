//! Fields of a configuration, by any of the names that they go by.

use crate::diagnostic::{Fault, nearest};
use serde_json::{Map, Value};

/// Largest extent or count that is read; products of two stay within 64 bits.
pub(super) const LARGEST: u64 = 1 << 31;

/// More layers than any network, and few enough to write out.
pub(super) const MOST_LAYERS: u64 = 4096;

/// Fields that several readers ask for; a misspelt one is none of them.
const KNOWN: [&str; 24] = [
    "architectures",
    "head_dim",
    "hidden_act",
    "hidden_size",
    "intermediate_size",
    "max_position_embeddings",
    "model_type",
    "moe_intermediate_size",
    "n_embd",
    "n_head",
    "n_inner",
    "n_layer",
    "n_positions",
    "num_attention_heads",
    "num_experts",
    "num_experts_per_tok",
    "num_hidden_layers",
    "num_key_value_heads",
    "num_local_experts",
    "quantization_config",
    "rope_theta",
    "sliding_window",
    "torch_dtype",
    "vocab_size",
];

/// The fields of a file, and what is wrong in them.
pub(super) struct Fields<'a> {
    own: &'a Map<String, Value>,
    /// The path of `own`, with its dot.
    prefix: &'static str,
    /// The file around a nested configuration, asked second.
    outer: Option<&'a Map<String, Value>>,
    pub faults: Vec<Fault>,
    /// What a reader of the graph has to know.
    pub notes: Vec<String>,
}

impl<'a> Fields<'a> {
    /// The configuration itself, or that of the language model in one of several.
    pub fn of(file: &'a Map<String, Value>) -> Self {
        let nested = file.get("text_config").and_then(Value::as_object);
        let nested = nested.filter(|_| !file.contains_key("hidden_size"));
        let (own, prefix) = nested.map_or((file, ""), |own| (own, "text_config."));
        Self { own, prefix, outer: nested.map(|_| file), faults: Vec::new(), notes: Vec::new() }
    }

    pub fn is_nested(&self) -> bool {
        self.outer.is_some()
    }

    /// The first of `names` that has a value, with its path.
    pub fn value(&self, names: &[&str]) -> Option<(String, &'a Value)> {
        let own = [(Some(self.own), self.prefix), (self.outer, "")];
        own.into_iter().find_map(|(map, prefix)| {
            names.iter().find_map(|name| {
                let value = map?.get(*name).filter(|value| !value.is_null())?;
                Some((format!("{prefix}{name}"), value))
            })
        })
    }

    pub fn has(&self, names: &[&str]) -> bool {
        self.value(names).is_some()
    }

    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub fn fault(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.faults.push(Fault::at(path, message));
    }

    /// A whole number from 1 on; `None` where it is absent, or at fault.
    pub fn size(&mut self, names: &[&str]) -> Option<u64> {
        self.number(names, 1)
    }

    /// The same from `least` on.
    pub fn number(&mut self, names: &[&str], least: u64) -> Option<u64> {
        let (path, value) = self.value(names)?;
        self.contradicted(names, &path, value);
        let number = value.as_u64().filter(|n| (least..=LARGEST).contains(n));
        if number.is_none() {
            let shown = shown(value);
            self.fault(path, format!("{shown} is not a whole number from {least} to {LARGEST}"));
        }
        number
    }

    /// Says so where another name of the same field has another value.
    fn contradicted(&mut self, names: &[&str], read: &str, value: &Value) {
        for name in names {
            let Some((path, other)) = self.value(&[name]).filter(|(_, other)| *other != value)
            else {
                continue;
            };
            let note = format!("`{read}` is read as {value}, though `{path}` says {other}");
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }

    /// A number that must be there.
    pub fn required(&mut self, names: &[&str]) -> Option<u64> {
        if !self.has(names) {
            self.missing(names);
        }
        self.size(names)
    }

    fn missing(&mut self, names: &[&str]) {
        let Some(name) = names.first() else { return };
        let mut fault = Fault::at(*name, format!("`{name}` is missing"));
        let unknown = self.own.keys().map(String::as_str).filter(|key| !KNOWN.contains(key));
        fault.help = nearest(name, unknown)
            .map(|near| format!("`{near}` is not read; did you mean `{name}` by it?"));
        self.faults.push(fault);
    }

    pub fn flag(&mut self, names: &[&str]) -> Option<bool> {
        let (path, value) = self.value(names)?;
        let flag = value.as_bool();
        if flag.is_none() {
            self.fault(path, format!("{} is neither true nor false", shown(value)));
        }
        flag
    }

    pub fn text(&mut self, names: &[&str]) -> Option<&'a str> {
        let (path, value) = self.value(names)?;
        let text = value.as_str();
        if text.is_none() {
            self.fault(path, format!("{} is not a text", shown(value)));
        }
        text
    }

    /// A share from 0 to 1.
    pub fn share(&mut self, names: &[&str]) -> Option<f64> {
        let (path, value) = self.value(names)?;
        let share = value.as_f64().filter(|share| (0.0..=1.0).contains(share));
        if share.is_none() {
            self.fault(path, format!("{} is not a share from 0 to 1", shown(value)));
        }
        share
    }

    /// Layers, by number.
    pub fn layers(&mut self, names: &[&str]) -> Vec<u64> {
        let Some((path, value)) = self.value(names) else { return Vec::new() };
        let list = value.as_array().and_then(|list| list.iter().map(Value::as_u64).collect());
        if list.is_none() {
            self.fault(path, format!("{} is not a list of layers", shown(value)));
        }
        list.unwrap_or_default()
    }

    /// A list of texts.
    pub fn texts(&mut self, names: &[&str]) -> Option<Vec<&'a str>> {
        let (path, value) = self.value(names)?;
        let list = value.as_array().and_then(|list| list.iter().map(Value::as_str).collect());
        if list.is_none() {
            self.fault(path, format!("{} is not a list of texts", shown(value)));
        }
        list
    }
}

/// Characters of a value that a message shows.
const SHOWN: usize = 40;

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or("")),
    }
}
