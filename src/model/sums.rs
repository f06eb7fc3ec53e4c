//! The work of several layers together.

use super::{ElementOps, WeightStatistics, Work};
use serde::Serialize;

/// Work summed over layers. A sum past 64 bits stays at the largest number.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Sums {
    /// How many layers.
    pub layers: u64,
    /// Multiply-accumulates.
    pub macs: u64,
    /// Multiply-accumulates without those of dead channels.
    pub live_macs: u64,
    /// Multiply-accumulates on zeros that are not stored.
    pub skippable_macs: u64,
    /// Other arithmetic, by element.
    pub element_ops: u64,
    /// The same by function.
    pub element_ops_by_function: ElementOps,
    /// Parameters read layer by layer; one that two layers share counts twice.
    pub parameters_read: u64,
    /// Bytes of constants read layer by layer; one that two layers share counts twice.
    pub weight_bytes_read: u64,
    /// Bytes of activations read.
    pub input_bytes: u64,
    /// Bytes written.
    pub output_bytes: u64,
    /// What the weights are like, of those layers whose weights were seen.
    pub weights: Option<WeightMean>,
}

impl Sums {
    /// Adds a layer. Its weight statistics come with the number of weights they are of.
    pub fn add(&mut self, work: &Work, weights: Option<(WeightStatistics, u64)>) {
        for (sum, part) in [
            (&mut self.layers, 1),
            (&mut self.macs, work.macs),
            (&mut self.live_macs, work.live_macs),
            (&mut self.skippable_macs, work.skippable_macs),
            (&mut self.element_ops, work.element_ops),
            (&mut self.parameters_read, work.parameters),
            (&mut self.weight_bytes_read, work.weight_bytes),
            (&mut self.input_bytes, work.input_bytes),
            (&mut self.output_bytes, work.output_bytes),
        ] {
            *sum = sum.saturating_add(part);
        }
        self.element_ops_by_function.add_all(&work.element_ops_by_function);
        if let Some((statistics, elements)) = weights.filter(|(_, elements)| *elements > 0) {
            let mean = self.weights.get_or_insert_default();
            *mean = mean.and(statistics, elements);
        }
    }

    /// Share of another sum's multiply-accumulates, 0 to 1; 0 where there are none.
    pub fn share_of_macs(&self, all: &Self) -> f64 {
        if all.macs == 0 { 0.0 } else { self.macs as f64 / all.macs as f64 }
    }
}

/// Statistics of weights of several layers, each layer as heavy as it has weights.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct WeightMean {
    /// Weights seen.
    pub elements: u64,
    /// Share of them that are zero, 0 to 1.
    pub zeros: f64,
    /// Entropy in bits for each weight, taken layer by layer.
    pub entropy_bits: f64,
}

impl WeightMean {
    fn and(self, statistics: WeightStatistics, elements: u64) -> Self {
        let all = self.elements.saturating_add(elements);
        let share = elements as f64 / all as f64;
        let mean = |old: f64, new: f64| old + (new - old) * share;
        Self {
            elements: all,
            zeros: mean(self.zeros, statistics.zeros),
            entropy_bits: mean(self.entropy_bits, statistics.entropy_bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_count_by_their_number() {
        let statistics = |zeros, entropy_bits| WeightStatistics {
            zeros,
            entropy_bits,
            one_of_four: None,
            two_of_four: None,
            four_of_eight: None,
            zero_filters: 0,
        };
        let mean =
            WeightMean::default().and(statistics(0.5, 4.0), 300).and(statistics(0.1, 8.0), 100);
        assert_eq!(mean.elements, 400);
        assert!((mean.zeros - 0.4).abs() < 1e-12 && (mean.entropy_bits - 5.0).abs() < 1e-12);
    }
}
