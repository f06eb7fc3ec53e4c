//! Transforms: pure functions from graph to graph, applied in order.
//!
//! Each leaves a record of what was asked, what it changed in words and numbers, and which operators
//! stayed as they were. A graph that a transform would make inconsistent is an error that names the
//! operator; no extent is guessed in silence.

mod batch;
mod carry;
mod channels;
mod draft;
mod filters;
mod fusion;
mod gates;
mod parse;
mod precision;
mod propagate;
mod record;
mod resolution;
mod select;
mod separable;
mod sparsity;
mod stored;
mod view;

pub use record::{Fallback, TransformRecord};

use super::consistency::{empty_note, misfit_note};
use super::{ElementType, ModelError, ModelGraph, Sparsity};
use draft::Draft;
use record::{Done, figures};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use stored::Stored;

/// A change of a network. `layers` is the name of an operator, or a pattern of names in which `*`
/// stands for any text and `?` for one letter; all operators when left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Transform {
    /// Another number format, converted at the borders to operators that keep theirs.
    Precision {
        /// The format.
        to: ElementType,
        /// Only stored filters change; what is computed in stays.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        weights_only: bool,
        /// Which operators.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        layers: Option<String>,
    },
    /// Filters stored without zeros.
    Sparsity {
        /// How zeros are left out.
        stored: Sparsity,
        /// Which operators.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        layers: Option<String>,
    },
    /// Normalisation, bias, residual addition and activation done on the way out of the operator
    /// before them.
    Fuse,
    /// So many samples at once.
    Batch(u64),
    /// Extents of the image inputs, one for each spatial axis, or one for all.
    Resolution(Vec<u64>),
    /// Standard convolutions made depthwise and pointwise ones.
    Separable(String),
    /// Inner channels times a factor: of MobileNetV1 its width multiplier. That of MobileNetV2 is
    /// another one, which scales expansions from their bottlenecks and keeps the last 1280 channels
    /// below 1.
    Width(f64),
}

/// Applies transforms in order to a copy of a graph.
///
/// Errors name the transform and the operator that cannot follow it, or the layer nearest to one
/// that does not exist.
pub fn apply(graph: &ModelGraph, transforms: &[Transform]) -> Result<ModelGraph, ModelError> {
    transforms.iter().try_fold(graph.clone(), |graph, transform| {
        changed(&graph, transform).map_err(|refusal| refusal.into_error(transform))
    })
}

/// Why a transform is not done.
enum Refusal {
    /// Its values make no sense, or not for this network.
    Value(String),
    /// No layer has the name.
    NoLayer { name: String, nearest: Option<String> },
    /// An operator cannot follow.
    Operator { operator: String, reason: String },
    /// What came out is no graph.
    Graph(ModelError),
}

impl Refusal {
    fn operator(operator: &str, reason: impl Into<String>) -> Self {
        Self::Operator { operator: operator.to_owned(), reason: reason.into() }
    }

    fn into_error(self, transform: &Transform) -> ModelError {
        let transform = transform.to_string();
        match self {
            Self::Value(reason) => ModelError::TransformValue { transform, reason },
            Self::NoLayer { name, nearest } => ModelError::NoLayer { transform, name, nearest },
            Self::Graph(ModelError::Graph { operator, reason })
            | Self::Operator { operator, reason } => {
                ModelError::Transform { transform, operator, reason }
            }
            Self::Graph(error) => error,
        }
    }
}

impl From<ModelError> for Refusal {
    fn from(error: ModelError) -> Self {
        Self::Graph(error)
    }
}

fn changed(graph: &ModelGraph, transform: &Transform) -> Result<ModelGraph, Refusal> {
    let mut draft = Draft::of(graph);
    let stored = Stored::of(&draft);
    let mut done = edit(&mut draft, transform)?;
    stored.follow(&mut draft, transform, &mut done);
    let mut made = draft.into_graph(graph)?;
    let misfits = renewed_misfits(graph, &made)?;
    let Done { mut changed, kept, samples } = done;
    let (before, after) = (graph.layers()?, made.layers()?);
    if let Some(samples) = samples {
        batch::work_follows(&before, &after, samples)?;
    }
    changed.extend(figures(graph, &before, &made, &after));
    if !changed.is_empty() {
        renew_notes(graph, &mut made, misfits);
    }
    if transform.changes_answers() && made.quality.take().is_some() {
        changed.push("the quality figure of the network before does not hold for this one".into());
    }
    made.transforms.push(TransformRecord { transform: transform.clone(), changed, kept });
    Ok(made)
}

fn edit(draft: &mut Draft, transform: &Transform) -> Result<Done, Refusal> {
    match transform {
        Transform::Precision { to, weights_only, layers } => {
            precision::convert(draft, *to, *weights_only, layers.as_deref())
        }
        Transform::Sparsity { stored, layers } => {
            sparsity::leave_out_zeros(draft, *stored, layers.as_deref())
        }
        Transform::Fuse => Ok(fusion::fuse(draft)),
        Transform::Batch(samples) => batch::set_batch(draft, *samples),
        Transform::Resolution(extents) => resolution::set_resolution(draft, extents),
        Transform::Separable(layers) => separable::separate(draft, layers),
        Transform::Width(factor) => channels::scale(draft, *factor),
    }
}

impl Transform {
    /// Whether the network computes something else than before.
    pub fn changes_answers(&self) -> bool {
        !matches!(self, Self::Fuse | Self::Batch(_))
    }

    /// Samples that the network takes at once afterwards, where it sets them.
    pub fn samples(&self) -> Option<u64> {
        match self {
            Self::Batch(samples) => Some(*samples),
            _ => None,
        }
    }
}

/// Notes on shapes that do not agree. They are refused, but for operators that the file itself had
/// so.
fn renewed_misfits(from: &ModelGraph, made: &ModelGraph) -> Result<Vec<String>, Refusal> {
    let odd: BTreeSet<_> = from
        .operators()
        .map(|id| (&from.operator(id).name, from.misfits(id)))
        .filter(|(name, misfits)| {
            misfits.iter().any(|misfit| from.notes.contains(&misfit_note(name, misfit)))
        })
        .map(|(name, _)| name)
        .collect();
    let mut notes = Vec::new();
    for id in made.operators() {
        let name = &made.operator(id).name;
        for misfit in made.misfits(id) {
            if !odd.contains(name) {
                return Err(Refusal::operator(name, misfit.reason));
            }
            notes.push(misfit_note(name, &misfit));
        }
    }
    Ok(notes)
}

/// What a note on the network before its transforms begins with.
const BEFORE: &str = "before transforms: ";

/// Notes state figures of the network as its file has it. Those on shapes that do not agree are
/// written anew; the others say that they are of before.
fn renew_notes(from: &ModelGraph, made: &mut ModelGraph, misfits: Vec<String>) {
    let old = from.misfit_notes();
    let empty = made.tensors().filter_map(|id| empty_note(made.tensor(id)));
    let empty: Vec<_> = empty.collect();
    let mut notes: Vec<_> = made.notes.iter().filter(|note| !old.contains(note)).cloned().collect();
    for note in notes.iter_mut().filter(|note| !note.starts_with(BEFORE)) {
        note.insert_str(0, BEFORE);
    }
    notes.extend(empty.into_iter().chain(misfits));
    made.notes = notes;
}

#[cfg(test)]
mod tests;
