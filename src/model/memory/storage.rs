//! Activations as buffers: tensors that share bytes are one.

use crate::model::{ModelGraph, Movement, Op, OperatorId, TensorId, TensorRole};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of one or more tensors that share them.
#[derive(Debug)]
pub(super) struct Buffer {
    /// The tensor as it was made or handed in.
    pub tensor: TensorId,
    pub bytes: u64,
    /// The operator that makes it; nothing when it is handed in.
    pub maker: Option<usize>,
    /// Operators that make or read it, in order, each once.
    pub users: Vec<usize>,
    /// True when it is read after the last operator.
    pub is_result: bool,
}

/// What the operators of a graph do to its buffers. Operators go by their position in the file.
#[derive(Debug, Default)]
pub(super) struct Storage {
    pub buffers: Vec<Buffer>,
    /// Buffers that each operator makes or reads, each once.
    pub touched: Vec<Vec<usize>>,
    /// Operators that make what each one reads.
    pub predecessors: Vec<Vec<usize>>,
    /// Operators without a result act on something outside the graph.
    pub is_fixed: Vec<bool>,
    /// False when an operator stands before one that makes what it reads.
    pub is_sorted: bool,
    /// Tensors of unknown size.
    pub unknown: usize,
}

impl Storage {
    pub(super) fn of(graph: &ModelGraph) -> Self {
        let storage = Self { is_sorted: true, ..Self::default() };
        let mut builder = Builder { graph, storage, buffer_of: BTreeMap::new() };
        for (at, id) in graph.operators().enumerate() {
            builder.operator(at, id);
        }
        builder.results();
        builder.order();
        builder.storage
    }

    pub(super) fn file_order(&self) -> Vec<usize> {
        (0..self.touched.len()).collect()
    }
}

struct Builder<'a> {
    graph: &'a ModelGraph,
    storage: Storage,
    /// The buffer of each tensor met; nothing for what is stored with the model.
    buffer_of: BTreeMap<TensorId, Option<usize>>,
}

impl Builder<'_> {
    fn operator(&mut self, at: usize, id: OperatorId) {
        let (inputs, outputs) = (self.graph.inputs(id), self.graph.op_outputs(id));
        let mut touched = BTreeSet::new();
        for tensor in inputs.iter().flatten() {
            touched.extend(self.read(*tensor));
        }
        let first = inputs.first().copied().flatten();
        for (port, tensor) in outputs.iter().enumerate() {
            let shared = first.filter(|input| port == 0 && self.shares(id, *input, *tensor));
            match shared.and_then(|input| self.buffer_of.get(&input).copied()) {
                Some(buffer) => drop(self.buffer_of.insert(*tensor, buffer)),
                None => touched.extend(self.made(*tensor, at)),
            }
        }
        for buffer in &touched {
            if let Some(buffer) = self.storage.buffers.get_mut(*buffer) {
                buffer.users.push(at);
            }
        }
        self.storage.touched.push(touched.into_iter().collect());
        self.storage.is_fixed.push(outputs.is_empty());
    }

    /// The buffer of a tensor that is read. One that nothing has made is handed in.
    fn read(&mut self, tensor: TensorId) -> Option<usize> {
        match self.buffer_of.get(&tensor) {
            Some(buffer) => *buffer,
            None => self.add(tensor, None),
        }
    }

    fn made(&mut self, tensor: TensorId, at: usize) -> Option<usize> {
        let Some(known) = self.buffer_of.get(&tensor) else { return self.add(tensor, Some(at)) };
        // It was read before it is made.
        let buffer = known.and_then(|at| self.storage.buffers.get_mut(at))?;
        buffer.maker = Some(at);
        *known
    }

    fn add(&mut self, id: TensorId, maker: Option<usize>) -> Option<usize> {
        let tensor = self.graph.tensor(id);
        if tensor.role == TensorRole::Constant {
            self.buffer_of.insert(id, None);
            return None;
        }
        let at = self.storage.buffers.len();
        let bytes = tensor.bytes().unwrap_or_else(|| {
            self.storage.unknown += 1;
            0
        });
        let (users, is_result) = (Vec::new(), false);
        self.storage.buffers.push(Buffer { tensor: id, bytes, maker, users, is_result });
        self.buffer_of.insert(id, Some(at));
        Some(at)
    }

    /// A view keeps the bytes; what is filed under views and changes their number is none.
    fn shares(&self, id: OperatorId, input: TensorId, output: TensorId) -> bool {
        let bytes = |id| self.graph.tensor(id).bytes();
        matches!(self.graph.operator(id).op, Op::Movement(Movement::View))
            && bytes(input).is_some()
            && bytes(input) == bytes(output)
    }

    fn results(&mut self) {
        for tensor in self.graph.outputs() {
            let buffer = self.read(*tensor).and_then(|at| self.storage.buffers.get_mut(at));
            if let Some(buffer) = buffer {
                buffer.is_result = true;
            }
        }
    }

    fn order(&mut self) {
        let position: BTreeMap<_, _> =
            self.graph.operators().enumerate().map(|(at, id)| (id, at)).collect();
        for (at, id) in self.graph.operators().enumerate() {
            let read = self.graph.inputs(id).into_iter().flatten();
            let makers = read.filter_map(|tensor| self.graph.producer(tensor));
            let makers: BTreeSet<_> = makers.filter_map(|id| position.get(&id).copied()).collect();
            self.storage.is_sorted &= makers.iter().all(|maker| *maker < at);
            self.storage.predecessors.push(makers.into_iter().collect());
        }
    }
}
