//! What is alive, operator by operator, in a given order.

use super::storage::Storage;
use super::{LiveMemory, LiveTensor};
use crate::model::ModelGraph;

/// A sum of buffers, which may be past 64 bits where each is not.
pub(super) type Total = u128;

/// Bytes alive while and after each operator of an order.
#[derive(Debug)]
pub(super) struct Sweep {
    pub during: Vec<Total>,
    pub after: Vec<Total>,
}

impl Sweep {
    pub(super) fn peak(&self) -> Total {
        self.during.iter().copied().max().unwrap_or(0)
    }

    pub(super) fn during_bytes(&self) -> Vec<u64> {
        self.during.iter().copied().map(bytes).collect()
    }
}

/// A sum past 64 bits stays at the largest number.
fn bytes(total: Total) -> u64 {
    u64::try_from(total).unwrap_or(u64::MAX)
}

/// The buffers alive while an order is walked through.
struct Walk<'a> {
    storage: &'a Storage,
    /// Users of each buffer that have not run.
    waiting: Vec<usize>,
    is_made: Vec<bool>,
    alive: Total,
}

impl<'a> Walk<'a> {
    fn new(storage: &'a Storage) -> Self {
        let waiting = storage.buffers.iter().map(|b| b.users.len()).collect();
        let is_made = storage.buffers.iter().map(|b| b.maker.is_none()).collect();
        Self { storage, waiting, is_made, alive: storage.handed_in() }
    }

    fn begin(&mut self, operator: usize) {
        for at in self.storage.touched.get(operator).into_iter().flatten() {
            let (Some(buffer), Some(is_made)) =
                (self.storage.buffers.get(*at), self.is_made.get_mut(*at))
            else {
                continue;
            };
            if buffer.maker == Some(operator) && !*is_made {
                *is_made = true;
                self.alive += Total::from(buffer.bytes);
            }
        }
    }

    fn end(&mut self, operator: usize) {
        for at in self.storage.touched.get(operator).into_iter().flatten() {
            let (Some(buffer), Some(waiting)) =
                (self.storage.buffers.get(*at), self.waiting.get_mut(*at))
            else {
                continue;
            };
            *waiting = waiting.saturating_sub(1);
            if *waiting == 0 && !buffer.is_kept {
                self.alive = self.alive.saturating_sub(Total::from(buffer.bytes));
            }
        }
    }
}

impl Storage {
    /// Bytes alive before the first operator: what is handed in and used.
    pub(super) fn handed_in(&self) -> Total {
        let alive = self.buffers.iter().filter(|b| b.maker.is_none());
        let used = alive.filter(|b| b.is_kept || !b.users.is_empty());
        used.map(|b| Total::from(b.bytes)).sum()
    }

    /// Runs an order that holds every operator once.
    pub(super) fn sweep(&self, order: &[usize]) -> Sweep {
        let mut walk = Walk::new(self);
        let mut sweep = Sweep { during: Vec::new(), after: Vec::new() };
        for operator in order {
            walk.begin(*operator);
            sweep.during.push(walk.alive);
            walk.end(*operator);
            sweep.after.push(walk.alive);
        }
        sweep
    }

    pub(super) fn live(&self, graph: &ModelGraph, order: Vec<usize>) -> LiveMemory {
        let sweep = self.sweep(&order);
        let peak = sweep.peak();
        let peak_at = sweep.during.iter().position(|alive| *alive == peak);
        let peak_tensors = peak_at.map_or_else(Vec::new, |at| self.alive_at(graph, &order, at));
        LiveMemory {
            during_bytes: sweep.during_bytes(),
            after_bytes: sweep.after.into_iter().map(bytes).collect(),
            peak_bytes: bytes(peak),
            peak_at,
            peak_tensors,
            order,
        }
    }

    /// What is alive while the operator at a position runs: states last, the largest first.
    fn alive_at(&self, graph: &ModelGraph, order: &[usize], at: usize) -> Vec<LiveTensor> {
        let mut walk = Walk::new(self);
        for operator in order.iter().take(at) {
            walk.begin(*operator);
            walk.end(*operator);
        }
        order.get(at).into_iter().for_each(|operator| walk.begin(*operator));
        let state = self.buffers.iter().zip(walk.is_made.iter().zip(&walk.waiting));
        let alive = state.filter(|(buffer, (is_made, waiting))| {
            **is_made && (**waiting > 0 || buffer.is_kept) && buffer.bytes > 0
        });
        let mut tensors: Vec<_> = alive
            .map(|(buffer, _)| {
                let tensor = graph.tensor(buffer.tensor);
                let (name, shape) = (tensor.name.clone(), tensor.shape.clone());
                LiveTensor { name, shape, bytes: buffer.bytes, is_state: buffer.is_state }
            })
            .collect();
        tensors.sort_by(|a, b| {
            let order = a.is_state.cmp(&b.is_state).then_with(|| b.bytes.cmp(&a.bytes));
            order.then_with(|| a.name.cmp(&b.name))
        });
        tensors
    }
}
