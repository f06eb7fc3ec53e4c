//! A network as mapping sees it: layers with their work, and how much memory its tensors take.

use super::memory::Homes;
use super::{BatchPart, Directions};
use crate::model::{
    Buffers, Layer, ModelError, ModelGraph, Quality, Transform, TransformRecord, Work, apply,
};

/// What mapping needs of a network: its layers, and how much memory its tensors take.
#[derive(Debug, Clone, PartialEq, Default)]
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
    /// Its tensors as they take memory, and where they live.
    pub homes: Homes,
    /// What is asked of its mapping.
    pub directions: Directions,
    /// For each layer the first one with the same work, wherever its tensors lie. Layers repeat, and what
    /// is mapped once is mapped alike again.
    pub alike: Vec<usize>,
    /// The network for parts of its batch, a single sample first; none where no batch was asked for.
    pub parts: Vec<BatchPart>,
}

impl Network {
    /// Counts a graph.
    pub fn of(graph: &ModelGraph) -> Result<Self, ModelError> {
        let mut layers = graph.layers()?;
        let homes = Homes::new(Buffers::of(graph, &mut layers));
        let constants = graph.tensors().map(|t| graph.tensor(t));
        let weight_bytes = constants
            .filter(|t| t.role == crate::model::TensorRole::Constant)
            .filter_map(crate::model::Tensor::bytes)
            .fold(0u64, u64::saturating_add);
        let alike = alike(&layers);
        let peak = graph.live_activation_bytes().into_iter().max().unwrap_or(0);
        Ok(Self {
            name: graph.name.clone(),
            layers,
            weight_bytes,
            peak_activation_bytes: peak,
            transforms: graph.transforms.clone(),
            fused: None,
            quality: graph.quality.clone(),
            homes,
            directions: Directions::default(),
            alike,
            parts: Vec::new(),
        })
    }

    /// Counts a graph as software executes it: fused, where it fuses; and the parts that a batch can be
    /// cut in.
    ///
    /// # Errors
    /// As [`Network::of`], and those of the transform.
    pub fn executed(graph: &ModelGraph, fuses: bool) -> Result<Self, ModelError> {
        let made = |graph: &ModelGraph| Self::executed_at_once(graph, fuses);
        let whole = made(graph)?;
        Ok(Self { parts: BatchPart::all(graph, made, &whole), ..whole })
    }

    fn executed_at_once(graph: &ModelGraph, fuses: bool) -> Result<Self, ModelError> {
        if !fuses {
            return Self::of(graph);
        }
        let mut network = Self::of(&apply(graph, &[Transform::Fuse])?)?;
        network.fused = network.transforms.pop().filter(|record| !record.changed.is_empty());
        Ok(network)
    }

    /// Its tensors as they take memory.
    pub fn buffers(&self) -> &Buffers {
        self.homes.buffers()
    }

    /// The layers that made the operands of a layer, in the order of its operands; nothing for what is
    /// handed in or stored with the model.
    pub fn producers(&self, layer: usize) -> &[Option<usize>] {
        self.buffers().producers(layer)
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

/// For each layer the first one with the same work.
fn alike(layers: &[Layer]) -> Vec<usize> {
    let anywhere = |layer: &Layer| {
        let mut work = layer.work.clone();
        work.output_buffer = None;
        work.operands.iter_mut().for_each(|operand| operand.buffer = None);
        work
    };
    let mut known: Vec<(usize, Work)> = Vec::new();
    let mut first = Vec::with_capacity(layers.len());
    for (index, layer) in layers.iter().enumerate() {
        let work = anywhere(layer);
        let found = known.iter().find(|(_, other)| other.macs == work.macs && *other == work);
        first.push(found.map_or(index, |(first, _)| *first));
        if found.is_none() {
            known.push((index, work));
        }
    }
    first
}

/// MACs and element operations of one layer.
pub(super) fn operations(layer: &Layer) -> u64 {
    layer.work.macs.saturating_add(layer.work.element_ops)
}
