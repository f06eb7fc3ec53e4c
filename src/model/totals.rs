//! Totals over the layers of a network.
//!
//! A sum past 64 bits stays at the largest number, which any table shows as what it is: absurd.

use super::work::is_parameter;
use super::{Layer, ModelGraph, Op, Tensor, TensorId, TensorRole};
use std::collections::BTreeSet;

fn total(layers: &[Layer], part: impl Fn(&Layer) -> u64) -> u64 {
    layers.iter().map(part).fold(0, u64::saturating_add)
}

/// Multiply-accumulates of all layers.
pub fn total_macs(layers: &[Layer]) -> u64 {
    total(layers, |layer| layer.work.macs)
}

/// Multiply-accumulates of all layers without those of dead channels.
pub fn total_live_macs(layers: &[Layer]) -> u64 {
    total(layers, |layer| layer.work.live_macs)
}

/// Element operations of all layers.
pub fn total_element_ops(layers: &[Layer]) -> u64 {
    total(layers, |layer| layer.work.element_ops)
}

/// Parameters that all layers read; one that two layers share counts twice.
pub fn total_parameters(layers: &[Layer]) -> u64 {
    total(layers, |layer| layer.work.parameters)
}

/// Parameters that some operator reads, each once.
pub fn read_parameters(graph: &ModelGraph) -> u64 {
    elements(graph, read_as_parameters(graph).into_iter())
}

/// Parameters that are stored, each once: those that operators read, and those that none does (the
/// experts that a pass does not pick).
pub fn stored_parameters(graph: &ModelGraph) -> u64 {
    let constant = |id: &TensorId| graph.tensor(*id).role == TensorRole::Constant;
    let idle = graph.tensors().filter(constant).filter(|id| graph.consumers(*id).next().is_none());
    let idle = idle.filter(|id| !is_scale_of_idle(graph, *id));
    read_parameters(graph).saturating_add(elements(graph, idle))
}

/// Scales of filters in fewer bits are no parameters. Where an operator reads both, their port says
/// which are scales; where none does, the names of both do.
fn is_scale_of_idle(graph: &ModelGraph, id: TensorId) -> bool {
    let stem = graph.tensor(id).name.strip_suffix(".scales");
    let filter = stem.and_then(|stem| graph.tensor_named(&format!("{stem}.weight")));
    filter
        .is_some_and(|filter| graph.tensor(filter).element.bits() < graph.tensor(id).element.bits())
}

fn read_as_parameters(graph: &ModelGraph) -> BTreeSet<TensorId> {
    let mut read = BTreeSet::new();
    for id in graph.operators() {
        let op = &graph.operator(id).op;
        let inputs = graph.inputs(id).into_iter().enumerate();
        let parameters = inputs.filter(|(port, _)| is_parameter(op, *port));
        read.extend(parameters.filter_map(|(_, tensor)| tensor));
    }
    read.retain(|tensor| graph.tensor(*tensor).role == TensorRole::Constant);
    read
}

fn elements(graph: &ModelGraph, tensors: impl Iterator<Item = TensorId>) -> u64 {
    let elements = tensors.filter_map(|id| graph.tensor(id).elements());
    elements.fold(0, u64::saturating_add)
}

/// Bytes of constants that all layers read; one that two layers share counts twice.
pub fn total_weight_bytes(layers: &[Layer]) -> u64 {
    total(layers, |layer| layer.work.weight_bytes)
}

/// Bytes that all layers write.
pub fn total_output_bytes(layers: &[Layer]) -> u64 {
    total(layers, |layer| layer.work.output_bytes)
}

/// Ports of the stored mean and variance of a batch normalisation.
const STATISTICS: [usize; 2] = [3, 4];

impl ModelGraph {
    /// Parameters that are means and variances of batch normalisation: they are stored and read, and
    /// training does not learn them.
    pub fn normalisation_statistics(&self) -> u64 {
        let normalisations =
            self.operators().filter(|id| self.operator(*id).op == Op::BatchNormalisation);
        let stored = normalisations.flat_map(|id| {
            let inputs = self.inputs(id);
            STATISTICS.map(|port| inputs.get(port).copied().flatten())
        });
        let tensors = stored.flatten().map(|id| self.tensor(id));
        let constants = tensors.filter(|tensor| tensor.role == TensorRole::Constant);
        constants.filter_map(Tensor::elements).fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ElementType, Layout, ModelGraph, Op, Operator, TensorRole};

    #[test]
    fn totals_stop_at_the_largest_number() {
        let mut graph = ModelGraph::new("g", Layout::ChannelsLast);
        let x = graph.add("x", &[1 << 31], ElementType::Int8, TensorRole::Input).unwrap();
        let w = graph.add("w", &[1 << 61], ElementType::Int4, TensorRole::Constant).unwrap();
        for name in ["a", "b", "c"] {
            let y = graph.add(name, &[1 << 31], ElementType::Int8, TensorRole::Activation).unwrap();
            let operator = Operator::new(name, "", Op::FullyConnected);
            graph.add_operator(operator, &[Some(x), Some(w)], &[y]).unwrap();
        }
        let layers = graph.layers().unwrap();
        assert_eq!(layers[0].work.macs, 1 << 61);
        assert_eq!(total_macs(&layers), 3 << 61);
        let many = [layers.clone(), layers.clone(), layers.clone()].concat();
        assert_eq!(total_macs(&many), u64::MAX);
        assert_eq!(total_parameters(&many), u64::MAX);
        assert_eq!(total_weight_bytes(&layers), 3 << 60);
        assert_eq!((total_element_ops(&layers), total_output_bytes(&layers)), (0, 3 << 31));
        assert_eq!(total_macs(&[]), 0);
    }

    #[test]
    fn a_batch_normalisation_stores_two_statistics_for_two_learned_parameters() {
        let mut graph = ModelGraph::new("g", Layout::ChannelsFirst);
        let mut add = |name, role| graph.add(name, &[8], ElementType::Float32, role).unwrap();
        let x = add("x", TensorRole::Input);
        let stored = ["scale", "shift", "mean", "variance"].map(|n| add(n, TensorRole::Constant));
        let y = add("y", TensorRole::Activation);
        let inputs: Vec<_> = std::iter::once(x).chain(stored).map(Some).collect();
        let operator = Operator::new("norm", "BatchNormalization", Op::BatchNormalisation);
        graph.add_operator(operator, &inputs, &[y]).unwrap();
        let profile = graph.profile().unwrap();
        assert_eq!((profile.total.parameters_read, profile.normalisation_statistics), (32, 16));
        assert_eq!(profile.learned_parameters(), 16);
    }
}
