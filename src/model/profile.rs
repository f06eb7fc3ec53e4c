//! A network layer by layer, in the order it runs: work, weights, live memory.

use super::{
    ActivationMemory, Layer, ModelError, ModelGraph, OpKind, OperandRole, OperatorId, Origin,
    Quality, Sums, Tensor, TensorRole, TransformRecord, WeightStatistics, read_parameters,
    stored_parameters,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// A layer with all that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerProfile {
    /// Its place in the order of the file, from 0.
    pub file_position: usize,
    /// What it is, and its work.
    #[serde(flatten)]
    pub layer: Layer,
    /// Bytes of activations that it reads and writes.
    pub activation_bytes: u64,
    /// What its weights are like, where they were seen.
    pub weight_statistics: Option<WeightStatistics>,
    /// Bytes of activations alive while it runs.
    pub live_during_bytes: u64,
    /// Bytes of activations alive after it.
    pub live_after_bytes: u64,
}

impl LayerProfile {
    /// The statistics with the number of weights they are of.
    fn weights(&self) -> Option<(WeightStatistics, u64)> {
        let operands = &self.layer.work.operands;
        let filter = operands.iter().find(|operand| operand.role == OperandRole::Filter)?;
        Some((self.weight_statistics?, filter.elements))
    }
}

/// A network layer by layer.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelProfile {
    /// Its name.
    pub name: String,
    /// The file it came from, if any.
    pub origin: Option<Origin>,
    /// Where the architecture is described, and under which licence.
    pub source: Option<String>,
    /// The licence of that description.
    pub licence: Option<String>,
    /// What was done to the network as its file had it, in order.
    pub transforms: Vec<TransformRecord>,
    /// How good its answers are, if anyone measured it.
    pub quality: Option<Quality>,
    /// Things the reader should know.
    pub notes: Vec<String>,
    /// Layers in the order chosen to lower the peak of live activations.
    pub layers: Vec<LayerProfile>,
    /// All layers together.
    pub total: Sums,
    /// Parameters that are stored, each once.
    pub stored_parameters: u64,
    /// Parameters that this run reads, each once.
    pub active_parameters: u64,
    /// Bytes of all constants, each once.
    pub stored_weight_bytes: u64,
    /// Parameters that are means and variances of batch normalisation.
    pub normalisation_statistics: u64,
    /// Live activations in that order, and in the order of the file.
    pub memory: ActivationMemory,
}

impl ModelProfile {
    /// Layers of each kind together.
    pub fn by_kind(&self) -> BTreeMap<OpKind, Sums> {
        let mut kinds: BTreeMap<OpKind, Sums> = BTreeMap::new();
        for layer in &self.layers {
            let work = &layer.layer.work;
            kinds.entry(work.kind).or_default().add(work, layer.weights());
        }
        kinds
    }

    /// The layer that runs while the most is alive.
    pub fn peak_layer(&self) -> Option<&LayerProfile> {
        self.layers.get(self.memory.chosen.peak_at?)
    }

    /// Parameters without means and variances of batch normalisation, which training does not
    /// learn: many tools count these only.
    pub fn learned_parameters(&self) -> u64 {
        self.stored_parameters.saturating_sub(self.normalisation_statistics)
    }
}

impl ModelGraph {
    /// The network layer by layer. Errors name the operator whose shapes do not fit.
    pub fn profile(&self) -> Result<ModelProfile, ModelError> {
        let memory = self.activation_memory();
        let layers = self.profiled(&memory)?;
        let mut total = Sums::default();
        for layer in &layers {
            total.add(&layer.layer.work, layer.weights());
        }
        let constants = self.tensors().map(|id| self.tensor(id));
        let constants = constants.filter(|tensor| tensor.role == TensorRole::Constant);
        let mut notes = self.notes.clone();
        notes.extend(unknown_note(memory.unknown_tensors));
        Ok(ModelProfile {
            name: self.name.clone(),
            origin: self.origin.clone(),
            source: self.source.clone(),
            licence: self.licence.clone(),
            transforms: self.transforms.clone(),
            quality: self.quality.clone(),
            notes,
            layers,
            total,
            stored_parameters: stored_parameters(self),
            active_parameters: read_parameters(self),
            stored_weight_bytes: constants.filter_map(Tensor::bytes).fold(0, u64::saturating_add),
            normalisation_statistics: self.normalisation_statistics(),
            memory,
        })
    }

    fn profiled(&self, memory: &ActivationMemory) -> Result<Vec<LayerProfile>, ModelError> {
        let operators: Vec<_> = self.operators().collect();
        let mut layers: Vec<_> = self.layers()?.into_iter().map(Some).collect();
        let live = &memory.chosen;
        let alive = live.during_bytes.iter().zip(&live.after_bytes);
        let profiled = live.order.iter().zip(alive).filter_map(|(at, (during, after))| {
            let layer = layers.get_mut(*at)?.take()?;
            let work = &layer.work;
            Some(LayerProfile {
                file_position: *at,
                activation_bytes: work.input_bytes.saturating_add(work.output_bytes),
                weight_statistics: self.filter(*operators.get(*at)?, &layer),
                live_during_bytes: *during,
                live_after_bytes: *after,
                layer,
            })
        });
        Ok(profiled.collect())
    }

    /// Statistics of an operator's filter, which is its second input.
    fn filter(&self, id: OperatorId, layer: &Layer) -> Option<WeightStatistics> {
        layer.work.operands.iter().find(|operand| operand.role == OperandRole::Filter)?;
        let filter = self.inputs(id).get(1).copied().flatten()?;
        self.tensor(filter).statistics
    }
}

fn unknown_note(count: usize) -> Option<String> {
    let tensors = if count == 1 { "1 tensor" } else { &format!("{count} tensors") };
    (count > 0).then(|| format!("the size of {tensors} is not known; live memory counts it as 0"))
}
