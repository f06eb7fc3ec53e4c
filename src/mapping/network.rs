//! A network as mapping sees it: layers with their work, and how much memory its tensors take.

use super::Directions;
use crate::model::{Layer, ModelError, ModelGraph, Quality, Transform, TransformRecord, apply};
use std::collections::BTreeMap;

/// What mapping needs of a network: its layers, and how much memory its tensors take.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// Its name.
    pub name: String,
    /// Layers in the order they run, which is that of the file.
    pub layers: Vec<Layer>,
    /// Bytes of all constants.
    pub weight_bytes: u64,
    /// Most bytes of activations alive at once in that order.
    pub peak_activation_bytes: u64,
    /// What was done to the network as its file had it, in order.
    pub transforms: Vec<TransformRecord>,
    /// What software fuses of it, where it fuses anything.
    pub fused: Option<TransformRecord>,
    /// How good its answers are, if anyone measured it.
    pub quality: Option<Quality>,
    /// The layer that makes each operand of each layer; nothing for what is stored or handed in.
    pub producers: Vec<Vec<Option<usize>>>,
    /// What is asked of its mapping.
    pub directions: Directions,
}

impl Network {
    /// Counts a graph.
    pub fn of(graph: &ModelGraph) -> Result<Self, ModelError> {
        let layers = graph.layers()?;
        let constants = graph.tensors().map(|t| graph.tensor(t));
        let weight_bytes = constants
            .filter(|t| t.role == crate::model::TensorRole::Constant)
            .filter_map(crate::model::Tensor::bytes)
            .fold(0u64, u64::saturating_add);
        let peak = graph.live_activation_bytes().into_iter().max().unwrap_or(0);
        Ok(Self {
            name: graph.name.clone(),
            layers,
            weight_bytes,
            peak_activation_bytes: peak,
            transforms: graph.transforms.clone(),
            fused: None,
            quality: graph.quality.clone(),
            producers: producers(graph),
            directions: Directions::default(),
        })
    }

    /// Counts a graph as software executes it: fused, where it fuses.
    ///
    /// # Errors
    /// As [`Network::of`], and those of the transform.
    pub fn executed(graph: &ModelGraph, fuses: bool) -> Result<Self, ModelError> {
        if !fuses {
            return Self::of(graph);
        }
        let mut network = Self::of(&apply(graph, &[Transform::Fuse])?)?;
        network.fused = network.transforms.pop().filter(|record| !record.changed.is_empty());
        Ok(network)
    }

    /// MACs of all layers.
    pub fn macs(&self) -> u64 {
        self.layers.iter().map(|l| l.work.macs).fold(0, u64::saturating_add)
    }

    /// MACs and element operations of all layers.
    pub fn operations(&self) -> u64 {
        self.layers.iter().map(operations).fold(0, u64::saturating_add)
    }
}

/// The layer that makes each operand of each layer.
fn producers(graph: &ModelGraph) -> Vec<Vec<Option<usize>>> {
    let place: BTreeMap<_, _> = graph.operators().enumerate().map(|(i, id)| (id, i)).collect();
    let maker = |tensor| graph.producer(tensor).and_then(|id| place.get(&id).copied());
    let of = |id| graph.operand_tensors(id).into_iter().map(maker).collect();
    graph.operators().map(of).collect()
}

/// MACs and element operations of one layer.
pub(super) fn operations(layer: &Layer) -> u64 {
    layer.work.macs.saturating_add(layer.work.element_ops)
}
