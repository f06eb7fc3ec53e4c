//! Buffers in an engine's number formats.

use crate::cost::runs_in;
use crate::hardware::{Precision, Profile};
use crate::model::{Block, Buffers, Edge, ElementType, Kept, StoredTensor, Used, keep};

/// The format that an engine runs each type of a network in, where it runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Formats(Vec<(ElementType, Option<Precision>)>);

impl Formats {
    pub(super) fn of(buffers: &Buffers, engine: usize, profile: &Profile) -> Self {
        let unit = profile.spec().engines.get(engine);
        let types = buffers.types().iter();
        Self(types.map(|own| (*own, unit.and_then(|unit| runs_in(unit, *own)))).collect())
    }

    fn of_type(&self, element: ElementType) -> Option<Precision> {
        self.0.iter().find(|(own, _)| *own == element).and_then(|(_, format)| *format)
    }

    /// Bytes of a buffer: in the widest format that a layer which touches it is run in, and as stored
    /// where none is run.
    fn bytes(&self, tensor: &StoredTensor) -> u64 {
        let run = tensor.computed_in.iter().filter_map(|own| Some((*own, self.of_type(*own)?)));
        let widths = run.map(|(own, format)| {
            if Precision::of(own) == Some(format) {
                tensor.bytes
            } else {
                tensor.whole.converted_bytes(own, format.bits()).ceil() as u64
            }
        });
        widths.max().unwrap_or(tensor.bytes)
    }
}

/// What places are looked for.
#[derive(Debug)]
pub(super) struct Sizes {
    /// Bytes of every buffer.
    pub bytes: Vec<u64>,
    /// Buffers of activations that are ever alive.
    pub activations: Vec<usize>,
    /// These as blocks.
    pub used: Vec<Used>,
    /// Where they pass the edge of the network.
    pub edges: Vec<Option<Edge>>,
    /// Buffers of weights, those used most for their size first.
    pub weights: Vec<usize>,
    /// All activations in one memory without limit.
    pub all: Kept,
}

impl Sizes {
    pub(super) fn of(buffers: &Buffers, formats: &Formats) -> Self {
        let tensors = buffers.tensors();
        let bytes: Vec<u64> = tensors.iter().map(|tensor| formats.bytes(tensor)).collect();
        let size = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let alive = tensors.iter().enumerate().filter_map(|(at, tensor)| {
            let (first, last) = tensor.lifetime?;
            let traffic = (tensor.uses * size(at) as f64) as u64;
            Some((at, Used { block: Block { first, last, bytes: size(at) }, traffic }))
        });
        let (activations, used): (Vec<usize>, Vec<Used>) = alive.unzip();
        let edge = |at: &usize| tensors.get(*at).and_then(|tensor| tensor.edge);
        let edges = activations.iter().map(edge).collect();
        let constants = tensors.iter().enumerate().filter(|(_, tensor)| tensor.is_constant());
        let mut weights: Vec<usize> = constants.map(|(at, _)| at).collect();
        let uses = |at: &usize| tensors.get(*at).map_or(0.0, |tensor| tensor.uses);
        weights.sort_by(|a, b| {
            uses(b).total_cmp(&uses(a)).then(size(*b).cmp(&size(*a))).then(a.cmp(b))
        });
        let all = keep(&used, u64::MAX);
        Self { bytes, activations, used, edges, weights, all }
    }
}
