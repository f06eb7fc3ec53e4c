//! What a memory plan says.

use super::lacks::Lack;
use crate::hardware::Profile;
use crate::model::{Buffers, Operand, StoredTensor, Work};
use crate::units::Bytes;
use std::sync::Arc;

/// A tensor in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// The tensor, by its number among the network's [`Buffers`].
    pub buffer: usize,
    /// Where it starts, in bytes from the start of the memory.
    pub offset: u64,
    /// Bytes that it takes, in the engine's number format.
    pub bytes: u64,
    /// The first and the last layer that it is alive at; nothing for weights, which stay.
    pub lifetime: Option<(usize, usize)>,
}

/// What one memory holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryUse {
    /// The memory, by index.
    pub memory: usize,
    /// Whole bytes that it holds.
    pub capacity_bytes: u64,
    /// Bytes of the weights in it.
    pub weight_bytes: u64,
    /// Where the highest activation ends: what activations take of it.
    pub peak_bytes: u64,
    /// Most bytes of its activations that are alive at once; no placing needs less.
    pub alive_bytes: u64,
    /// The first layer at which so many are alive.
    pub peak_at: Option<usize>,
    /// Activations in it, from the bottom.
    pub activations: Vec<Placed>,
    /// Weights in it, from the bottom, above all activations.
    pub weights: Vec<Placed>,
    /// Tensors that it may hold and has no room for.
    pub spilled: Vec<usize>,
    /// Those of them that no memory has room for, counted as living in this one, the largest.
    pub overflow: Vec<usize>,
}

impl MemoryUse {
    pub(super) fn empty(memory: usize, capacity_bytes: u64) -> Self {
        Self {
            memory,
            capacity_bytes,
            weight_bytes: 0,
            peak_bytes: 0,
            alive_bytes: 0,
            peak_at: None,
            activations: Vec::new(),
            weights: Vec::new(),
            spilled: Vec::new(),
            overflow: Vec::new(),
        }
    }

    /// Where the highest tensor ends.
    pub fn top_bytes(&self) -> u64 {
        let weights = self.weights.last().map_or(0, |last| last.offset.saturating_add(last.bytes));
        self.peak_bytes.max(weights)
    }

    /// What is left above all.
    pub fn free_bytes(&self) -> u64 {
        self.capacity_bytes.saturating_sub(self.top_bytes())
    }
}

/// Where the tensors of a network live when an engine runs it.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryPlan {
    /// The nearest memory that may hold weights, by index.
    pub weights: Option<usize>,
    /// The nearest memory that may hold activations, by index.
    pub activations: Option<usize>,
    /// Bytes of all weights, in the engine's number format.
    pub weight_bytes: Bytes,
    /// Most bytes of activations alive at once, in the order they run and in the engine's format.
    pub peak_activation_bytes: Bytes,
    /// True when everything has room where it lives.
    pub fits: bool,
    /// What each memory of the engine that may hold tensors does hold, the nearest first.
    pub memories: Vec<MemoryUse>,
    /// Tensors that no memory of the engine may hold.
    pub homeless: Vec<usize>,
    /// The memory of every buffer.
    pub(super) homes: Vec<Option<usize>>,
    pub(super) bytes: Vec<u64>,
    pub(super) lacks: Vec<Lack>,
    pub(super) buffers: Arc<Buffers>,
}

impl MemoryPlan {
    /// The buffers that it is about.
    pub fn buffers(&self) -> &Buffers {
        &self.buffers
    }

    /// Bytes of a buffer in the engine's number format.
    pub fn bytes_of(&self, buffer: usize) -> u64 {
        self.bytes.get(buffer).copied().unwrap_or(0)
    }

    /// The memory that a buffer lives in.
    pub fn home(&self, buffer: usize) -> Option<usize> {
        self.homes.get(buffer).copied().flatten()
    }

    /// The memory that an operand of a layer lives in, by its place among the operands of the layer's
    /// work.
    pub fn home_of(&self, layer: usize, operand: usize) -> Option<usize> {
        self.home(self.buffers.read(layer, operand)?)
    }

    /// The memory that the result of a layer lives in.
    pub fn output_home(&self, layer: usize) -> Option<usize> {
        self.home(self.buffers.made(layer)?)
    }

    /// The memory of an operand; of one that is not among the buffers, the nearest that may hold it.
    pub fn home_of_operand(&self, operand: &Operand) -> Option<usize> {
        let nearest = if operand.constant { self.weights } else { self.activations };
        self.home_or(operand.buffer, nearest)
    }

    /// The memory of a result, likewise.
    pub fn home_of_result(&self, work: &Work) -> Option<usize> {
        self.home_or(work.output_buffer, self.activations)
    }

    fn home_or(&self, buffer: Option<usize>, nearest: Option<usize>) -> Option<usize> {
        buffer.and_then(|at| self.homes.get(at)).copied().unwrap_or(nearest)
    }

    /// What has no room, where it spills to, and what has no home.
    pub fn notes(&self, profile: &Profile) -> Vec<String> {
        let name = |memory: usize| {
            profile.spec().memories.get(memory).map_or("", |memory| memory.name.as_str())
        };
        self.lacks.iter().map(|lack| lack.note(name)).collect()
    }

    /// Those that are weights, or that are not.
    pub fn of_class(&self, buffers: &[usize], constant: bool) -> Vec<usize> {
        let is = |tensor: &StoredTensor| tensor.is_constant() == constant;
        let own = |at: &usize| self.buffers.tensors().get(*at).is_some_and(is);
        buffers.iter().copied().filter(own).collect()
    }

    /// Bytes of some buffers together, in the engine's number format.
    pub fn sum(&self, buffers: &[usize]) -> Bytes {
        let sum = buffers.iter().map(|at| u128::from(self.bytes_of(*at))).sum::<u128>();
        Bytes(sum as f64)
    }
}

/// A memory plan, and the engines of a [`Plan`](crate::mapping::Plan) that go by it.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryInUse {
    /// Engines, by index.
    pub engines: Vec<usize>,
    /// Where tensors live when these run the network.
    pub plan: Arc<MemoryPlan>,
}
