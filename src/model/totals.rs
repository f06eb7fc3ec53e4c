//! Totals over the layers of a network.
//!
//! A sum past 64 bits stays at the largest number, which any table shows as what it is: absurd.

use super::Layer;

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

/// Bytes of constants that all layers read; one that two layers share counts twice.
pub fn total_weight_bytes(layers: &[Layer]) -> u64 {
    total(layers, |layer| layer.work.weight_bytes)
}

/// Bytes that all layers write.
pub fn total_output_bytes(layers: &[Layer]) -> u64 {
    total(layers, |layer| layer.work.output_bytes)
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
}
