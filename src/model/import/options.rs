//! What a reader may ask of a file beyond what the file says.

use super::Bindings;
use crate::model::{ElementType, ModelError};

/// Which pass of a transformer is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// So many tokens at once, without any before them.
    Prefill(u64),
    /// One token that attends to so many keys in the cache, its own among them.
    Decode(u64),
}

/// How the filters inside of a transformer's layers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeightFormat {
    /// `Int4` or `Int8`.
    pub element: ElementType,
    /// Weights along the depth that share a scale; all of an output where nothing is stated.
    pub group: Option<u64>,
}

/// Everything asked of a file; by default nothing.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Values of symbolic dimensions.
    pub bindings: Bindings,
    /// The pass of a transformer configuration.
    pub pass: Option<Pass>,
    /// The storage of a transformer configuration's filters.
    pub weights: Option<WeightFormat>,
}

impl From<Bindings> for Options {
    fn from(bindings: Bindings) -> Self {
        Self { bindings, ..Self::default() }
    }
}

impl Options {
    /// Refuses what only a transformer configuration understands, since it would change nothing.
    pub(super) fn no_transformer(&self, path: &str) -> Result<(), ModelError> {
        let is_onnx = path.to_ascii_lowercase().ends_with(".onnx");
        let lengths = if is_onnx {
            "the lengths of an ONNX file are its open dimensions (--bind NAME=N)"
        } else {
            "the shapes of this file are those of one pass already"
        };
        let weights = "--precision weights:TYPE stores the filters of any network in fewer bits";
        let (option, instead) = match (self.pass, self.weights) {
            (Some(Pass::Prefill(_)), _) => ("--prefill", lengths),
            (Some(Pass::Decode(_)), _) => ("--decode", lengths),
            (None, Some(_)) => ("--weights", weights),
            (None, None) => return Ok(()),
        };
        let reason = format!("it applies to a transformer configuration (.json); {instead}");
        Err(refused(path, option, &reason))
    }
}

/// An option that does not fit the file.
pub(super) fn refused(path: &str, option: &'static str, reason: &str) -> ModelError {
    ModelError::Option { path: path.to_owned(), option, reason: reason.to_owned() }
}
