//! Reading a model from a file or by name, whatever its format.

mod onnx;
mod options;
mod tflite;
mod transformer;

pub use options::{Options, Pass, WeightFormat};

use super::dead::Filters;
use super::{ElementType, ModelError, ModelGraph, Origin, read_ron, shipped_models};
use crate::diagnostic::nearest;
use prost::bytes::Bytes;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// Values that the user gives to symbolic dimensions (`--bind N=1`).
#[derive(Debug, Clone, Default)]
pub struct Bindings(pub BTreeMap<String, u64>);

impl Bindings {
    /// Refuses a value for what is not open in the file at `path`, since it would change nothing.
    fn check(
        &self,
        path: &str,
        is_open: impl Fn(&str) -> bool,
        known: &[String],
    ) -> Result<(), ModelError> {
        let Some(symbol) = self.0.keys().find(|symbol| !is_open(symbol)) else { return Ok(()) };
        let near = nearest(symbol, known.iter().map(String::as_str));
        Err(ModelError::UnknownSymbol {
            path: path.to_owned(),
            symbol: symbol.clone(),
            nearest: near.map(str::to_owned),
            known: known.to_vec(),
        })
    }

    /// The same for a format whose dimensions are all stated.
    fn none_open(&self, path: &str) -> Result<(), ModelError> {
        self.check(path, |_| false, &[])
    }
}

/// What an importer made of a file.
struct Imported {
    graph: ModelGraph,
    filters: Filters,
}

/// Either the file is at fault, in words that lack its name, or what it says makes no graph.
enum Fault {
    File(String),
    Graph(ModelError),
}

impl From<String> for Fault {
    fn from(reason: String) -> Self {
        Self::File(reason)
    }
}

impl From<ModelError> for Fault {
    fn from(error: ModelError) -> Self {
        Self::Graph(error)
    }
}

/// Reads the model that `name` stands for: a path to a `.ron`, `.tflite` or `.onnx` file or to a
/// transformer configuration (`.json`), or the name of a shipped one. The format is told from the
/// content.
pub fn load(name: &str, bindings: &Bindings) -> Result<ModelGraph, ModelError> {
    load_with(name, &bindings.clone().into())
}

/// The same with all that can be asked of a file. What does not apply to it is an error.
pub fn load_with(name: &str, options: &Options) -> Result<ModelGraph, ModelError> {
    let path = Path::new(name);
    if !path.exists() {
        return shipped(name, path, options);
    }
    let bytes =
        std::fs::read(path).map_err(|source| ModelError::Read { path: name.to_owned(), source })?;
    read(name, &Bytes::from(bytes), options)
}

/// Reads a model from the bytes of a file called `path`.
pub fn from_bytes(path: &str, bytes: &[u8], bindings: &Bindings) -> Result<ModelGraph, ModelError> {
    read(path, &Bytes::copy_from_slice(bytes), &bindings.clone().into())
}

/// The bytes are shared, so that weights inside them need not be copied.
fn read(path: &str, bytes: &Bytes, options: &Options) -> Result<ModelGraph, ModelError> {
    let extension = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or("");
    let not_a_model =
        |reason: &str| ModelError::NotAModel { path: path.to_owned(), reason: reason.to_owned() };
    if bytes.is_empty() {
        return Err(not_a_model("the file is empty"));
    }
    let bindings = &options.bindings;
    let text = std::str::from_utf8(bytes);
    // A name that says what a file is holds, whatever is in it.
    let named = matches!(extension, "onnx" | "tflite" | "ron");
    if let Ok(text) = text
        && (extension == "json" || (!named && text.trim_start().starts_with('{')))
    {
        bindings.none_open(path)?;
        let graph = transformer::read(path, text, options)?;
        return Ok(with_origin(graph, path, "transformer configuration", bytes));
    }
    options.no_transformer(path)?;
    let (imported, format) = if bytes.get(4..8) == Some(b"TFL3") || extension == "tflite" {
        bindings.none_open(path)?;
        (tflite::read(path, bytes)?, "TFLite")
    } else if extension == "onnx" {
        (onnx::read(path, bytes, bindings)?, "ONNX")
    } else if let Ok(text) = text {
        bindings.none_open(path)?;
        return read_ron(path, text);
    } else {
        return Err(not_a_model("it is neither TFLite, nor ONNX (.onnx), nor a RON or JSON text"));
    };
    let Imported { mut graph, filters } = imported;
    graph.sort()?;
    graph.layers()?;
    graph.follow_weights(&filters, bytes.len());
    let notes = graph.misfit_notes().into_iter().chain(unsized_note(&graph));
    graph.notes.extend(notes.collect::<Vec<_>>());
    Ok(with_origin(graph, path, format, bytes))
}

fn with_origin(mut graph: ModelGraph, path: &str, format: &str, bytes: &[u8]) -> ModelGraph {
    let hash = Sha256::digest(bytes);
    graph.origin = Some(Origin {
        file: Path::new(path)
            .file_name()
            .map_or_else(String::new, |n| n.to_string_lossy().into_owned()),
        format: format.to_owned(),
        sha256: hash.iter().map(|b| format!("{b:02x}")).collect(),
    });
    graph
}

/// Names tensors whose bytes cannot be counted, so that they are not missed in silence.
fn unsized_note(graph: &ModelGraph) -> Option<String> {
    let tensors = graph.tensors().map(|id| graph.tensor(id));
    let mut names = tensors
        .filter(|t| t.shape.is_some() && t.element == ElementType::Other)
        .map(|t| format!("`{}`", t.name));
    let first = names.next()?;
    Some(format!(
        "{first} and {} more tensors are of a type without a known width; their bytes count as 0",
        names.count()
    ))
}

fn shipped(name: &str, path: &Path, options: &Options) -> Result<ModelGraph, ModelError> {
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or(name);
    let looks_like_path = path.components().count() > 1;
    if let Some(model) = shipped_models().iter().find(|m| m.name == stem || m.path == name) {
        // A path that does not exist is answered from the shipped files only if it is one of theirs.
        if !looks_like_path || model.path == name {
            options.bindings.none_open(name)?;
            options.no_transformer(name)?;
            return read_ron(model.path, model.text);
        }
    }
    if looks_like_path || path.extension().is_some() {
        let source = std::io::Error::from(std::io::ErrorKind::NotFound);
        return Err(ModelError::Read { path: name.to_owned(), source });
    }
    let names = shipped_models().iter().map(|m| m.name);
    Err(ModelError::Unknown {
        name: name.to_owned(),
        nearest: nearest(name, names).map(str::to_owned),
    })
}
