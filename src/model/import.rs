//! Reading a model from a file or by name, whatever its format.

mod onnx;
mod options;
mod source;
mod tflite;
mod transformer;

pub use options::{Options, Pass, WeightFormat};

use super::dead::Filters;
use super::generate::{families, of_family};
use super::{ElementType, ModelError, ModelGraph, Origin, read_ron, shipped_models};
use crate::diagnostic::nearest;
use prost::bytes::Bytes;
use sha2::{Digest, Sha256};
use source::Format;
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
    let bytes = source::bytes(path).map_err(|source| unreadable(name, source))?;
    // Where the model itself is, others of its weights may be.
    let folder = path.parent().map(|parent| match parent.as_os_str().is_empty() {
        true => Path::new("."),
        false => parent,
    });
    read_beside(name, &bytes, folder, options)
}

fn unreadable(name: &str, source: std::io::Error) -> ModelError {
    ModelError::Read { path: name.to_owned(), source }
}

/// Reads a model from the bytes of a file called `path`. No other file is read: weights that stand
/// beside the model are counted without their numbers.
pub fn from_bytes(path: &str, bytes: &[u8], bindings: &Bindings) -> Result<ModelGraph, ModelError> {
    read(path, &Bytes::copy_from_slice(bytes), &bindings.clone().into())
}

fn read(path: &str, bytes: &Bytes, options: &Options) -> Result<ModelGraph, ModelError> {
    read_beside(path, bytes, None, options)
}

/// Reads a model, of whose weights some may be in files of a folder. The bytes are shared, so that
/// weights inside them need not be copied.
fn read_beside(
    path: &str,
    bytes: &Bytes,
    folder: Option<&Path>,
    options: &Options,
) -> Result<ModelGraph, ModelError> {
    let not_a_model =
        |reason: &str| ModelError::NotAModel { path: path.to_owned(), reason: reason.to_owned() };
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let bindings = &options.bindings;
    let format = source::format(path, bytes).map_err(not_a_model)?;
    if format != Format::Configuration {
        options.no_transformer(path)?;
    }
    if format != Format::Onnx {
        bindings.none_open(path)?;
    }
    let (imported, format) = match format {
        Format::Configuration => {
            let graph = transformer::read(path, text, options)?;
            return Ok(with_origin(graph, path, "transformer configuration", bytes));
        }
        Format::Ron => return read_ron(path, text),
        Format::Tflite => (tflite::read(path, bytes)?, "TFLite"),
        Format::Onnx => (onnx::read(path, bytes, folder, bindings)?, "ONNX"),
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
    if let Some(made) = of_family(name) {
        options.bindings.none_open(name)?;
        options.no_transformer(name)?;
        return made;
    }
    if looks_like_path || path.extension().is_some() {
        let source = std::io::Error::new(std::io::ErrorKind::NotFound, "no such file");
        return Err(unreadable(name, source));
    }
    let names = shipped_models().iter().map(|m| m.name);
    let names = names.chain(families().iter().map(|family| family.name));
    Err(ModelError::Unknown {
        name: name.to_owned(),
        nearest: nearest(name, names).map(str::to_owned),
    })
}
