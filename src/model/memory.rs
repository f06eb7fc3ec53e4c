//! Activations alive at once, in the order of the file.

use super::{ModelGraph, TensorRole};

impl ModelGraph {
    /// Bytes of activations alive while each operator runs, in the order of the operators: its
    /// inputs and outputs, and whatever a later one still reads. Views share their input's bytes
    /// but are counted like any other tensor, which is an upper bound.
    pub fn live_activation_bytes(&self) -> Vec<u64> {
        let order: Vec<_> = self.operators().collect();
        let mut changes = vec![0i128; order.len() + 1];
        let position: std::collections::BTreeMap<_, _> =
            order.iter().enumerate().map(|(i, id)| (*id, i)).collect();
        for id in self.tensors() {
            let tensor = self.tensor(id);
            if tensor.role == TensorRole::Constant {
                continue;
            }
            let Some(bytes) = tensor.bytes() else { continue };
            let made = self.producer(id).and_then(|op| position.get(&op).copied()).unwrap_or(0);
            let mut last = self.consumers(id).filter_map(|op| position.get(&op)).max().copied();
            if self.outputs().contains(&id) {
                last = order.len().checked_sub(1);
            }
            let last = last.unwrap_or(made).max(made);
            if let Some(change) = changes.get_mut(made) {
                *change += i128::from(bytes);
            }
            if let Some(change) = changes.get_mut(last + 1) {
                *change -= i128::from(bytes);
            }
        }
        let mut alive = 0i128;
        let running = changes.iter().take(order.len()).map(|change| {
            alive += change;
            u64::try_from(alive).unwrap_or(u64::MAX)
        });
        running.collect()
    }
}
