//! Activations alive at once, and the order of execution that keeps them few.
//!
//! While an operator runs, its inputs and outputs are alive, and whatever a later one still reads.
//! Tensors handed in are alive from the start until they are last read, results until the end, and
//! states, which are kept between runs, throughout. Constants are stored with the model and are no
//! activations. Views share their input's bytes, and rows written into a state those of the state.

mod arena;
mod buffers;
mod descent;
mod greedy;
mod live;
mod order;
mod peaks;
mod region;
mod search;
mod spill;
mod storage;
#[cfg(test)]
mod tests;
mod windows;

pub(crate) use arena::{ALIGNMENT, Block};
pub use buffers::{Buffers, Edge, StoredTensor};
pub(crate) use spill::{Kept, Used, keep};

use super::{ModelGraph, Shape};
use serde::Serialize;
use std::fmt;
use storage::Storage;

/// Bytes of activations alive in one order of execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveMemory {
    /// The operators as they run, each by its position in the order of the file.
    pub order: Vec<usize>,
    /// Bytes alive while each of them runs.
    pub during_bytes: Vec<u64>,
    /// Bytes alive after each of them.
    pub after_bytes: Vec<u64>,
    /// Most bytes alive while one runs.
    pub peak_bytes: u64,
    /// The first operator at which the peak is reached, by its position in `order`; nothing in a
    /// network without operators.
    pub peak_at: Option<usize>,
    /// What is alive then: first what this run works on, then states, each the largest first.
    pub peak_tensors: Vec<LiveTensor>,
}

/// A tensor alive at the peak. One that views share stands under the name it was made under.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LiveTensor {
    /// Its name.
    pub name: String,
    /// Its extents, if known.
    pub shape: Option<Shape>,
    /// Its size.
    pub bytes: u64,
    /// True when it is kept between runs.
    pub is_state: bool,
}

/// What gave an order of execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderMethod {
    /// It is that of the file: no better one was found.
    FileOrder,
    /// A search that sees every order that could be better.
    ExactSearch,
    /// The best of several orders made by rules, where a search would take too long.
    Heuristic,
}

impl fmt::Display for OrderMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::FileOrder => "file order",
            Self::ExactSearch => "exact search",
            Self::Heuristic => "heuristic",
        })
    }
}

/// Activations in the order of the file and in the one chosen to lower the peak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivationMemory {
    /// In the chosen order, which is that of the file where no other has a lower peak.
    pub chosen: LiveMemory,
    /// What gave it.
    pub method: OrderMethod,
    /// True when it is known that no order has a lower peak. Operators without a result act on
    /// something outside the graph, so that nothing is moved across them.
    pub is_lowest: bool,
    /// In the order of the file.
    pub file: LiveMemory,
    /// Bytes of states, which are kept between runs and alive throughout.
    pub state_bytes: u64,
    /// How many states there are.
    pub state_tensors: usize,
    /// Tensors of unknown size, which count as 0.
    pub unknown_tensors: usize,
}

impl ModelGraph {
    /// Bytes of activations alive while each operator runs, in the order of the file.
    pub fn live_activation_bytes(&self) -> Vec<u64> {
        let storage = Storage::of(self);
        storage.sweep(&storage.file_order()).during_bytes()
    }

    /// Activations alive in the order of the file, and in an order chosen to lower the peak. Takes
    /// time and memory that are about linear in the size of the graph.
    pub fn activation_memory(&self) -> ActivationMemory {
        let storage = Storage::of(self);
        let choice = order::choose(&storage);
        ActivationMemory {
            chosen: storage.live(self, choice.order),
            method: choice.method,
            is_lowest: choice.is_lowest,
            file: storage.live(self, storage.file_order()),
            state_bytes: storage.states().map(|state| state.bytes).fold(0, u64::saturating_add),
            state_tensors: storage.states().count(),
            unknown_tensors: storage.unknown,
        }
    }
}
