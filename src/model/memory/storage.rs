//! Activations as buffers: tensors that share bytes are one.

use super::buffers::Edge;
use crate::model::operand::is_written_in_place;
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
    /// True when it is alive after the last operator: a result, or a state.
    pub is_kept: bool,
    /// True when it is kept between runs, and so alive throughout.
    pub is_state: bool,
    /// True when it is a result of the network.
    pub is_result: bool,
}

impl Buffer {
    /// Which edge of the network it passes; one that passes both is handed in.
    pub(super) fn edge(&self) -> Option<Edge> {
        match (self.is_state, self.maker, self.is_result) {
            (true, ..) => None,
            (_, None, _) => Some(Edge::In),
            (_, Some(_), true) => Some(Edge::Out),
            (_, Some(_), false) => None,
        }
    }

    /// The first and the last of so many operators that it is alive at; nothing for what is handed in
    /// and never used.
    pub(super) fn lifetime(&self, operators: usize) -> Option<(usize, usize)> {
        if self.users.is_empty() && !self.is_kept {
            return None;
        }
        let made = self.users.first().copied().filter(|_| self.maker.is_some() && !self.is_state);
        let last = self.users.last().copied().filter(|_| !self.is_kept);
        Some((made.unwrap_or(0), last.unwrap_or(operators.saturating_sub(1))))
    }
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
        Self::with_tensors(graph).0
    }

    /// The same with the buffer of each tensor; nothing for what is stored with the model.
    pub(super) fn with_tensors(graph: &ModelGraph) -> (Self, BTreeMap<TensorId, Option<usize>>) {
        let storage = Self { is_sorted: true, ..Self::default() };
        let mut builder = Builder { graph, storage, buffer_of: BTreeMap::new() };
        builder.states();
        for (at, id) in graph.operators().enumerate() {
            builder.operator(at, id);
        }
        builder.results();
        builder.order();
        (builder.storage, builder.buffer_of)
    }

    /// What is kept between runs.
    pub(super) fn states(&self) -> impl Iterator<Item = &Buffer> {
        self.buffers.iter().filter(|buffer| buffer.is_state)
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
    /// A state takes its bytes whether or not an operator of this run touches it.
    fn states(&mut self) {
        for id in self.graph.tensors() {
            if self.graph.tensor(id).role == TensorRole::State {
                self.read(id);
            }
        }
    }

    fn operator(&mut self, at: usize, id: OperatorId) {
        let (inputs, outputs) = (self.graph.inputs(id), self.graph.op_outputs(id));
        let mut touched = BTreeSet::new();
        for tensor in inputs.iter().flatten() {
            touched.extend(self.read(*tensor));
        }
        for (port, tensor) in outputs.iter().enumerate() {
            let shared = if port == 0 { self.shared(id, &inputs, *tensor) } else { None };
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
        let (users, is_state) = (Vec::new(), tensor.role == TensorRole::State);
        let (is_kept, is_result) = (is_state, false);
        let buffer = Buffer { tensor: id, bytes, maker, users, is_kept, is_state, is_result };
        self.storage.buffers.push(buffer);
        self.buffer_of.insert(id, Some(at));
        Some(at)
    }

    /// The input in whose bytes an output lies. A view keeps the bytes; what is filed under views and
    /// changes their number is none. What is written into a state lies there, and so does a state of
    /// which some values are written anew.
    fn shared(
        &self,
        id: OperatorId,
        inputs: &[Option<TensorId>],
        output: TensorId,
    ) -> Option<TensorId> {
        let op = &self.graph.operator(id).op;
        let made = self.graph.tensor(output).bytes()?;
        let shares = |port: usize, input: &TensorId| {
            let tensor = self.graph.tensor(*input);
            match (op, tensor.bytes()) {
                (Op::Movement(Movement::View), Some(bytes)) => port == 0 && bytes == made,
                (Op::Movement(Movement::Scatter), Some(bytes)) => {
                    let renewed = port == 0 && tensor.role == TensorRole::State && bytes == made;
                    renewed || (is_written_in_place(op, port, tensor.role) && made <= bytes)
                }
                _ => false,
            }
        };
        let at_ports = inputs.iter().enumerate();
        at_ports
            .filter_map(|(port, input)| Some((port, (*input)?)))
            .find(|(port, input)| shares(*port, input))
            .map(|(_, input)| input)
    }

    fn results(&mut self) {
        for tensor in self.graph.outputs() {
            let buffer = self.read(*tensor).and_then(|at| self.storage.buffers.get_mut(at));
            if let Some(buffer) = buffer {
                buffer.is_kept = true;
                buffer.is_result = true;
            }
        }
    }

    fn order(&mut self) {
        let position: BTreeMap<_, _> =
            self.graph.operators().enumerate().map(|(at, id)| (id, at)).collect();
        let mut of_states: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (before, after) in self.graph.state_order() {
            of_states.entry(after).or_default().push(before);
        }
        for (at, id) in self.graph.operators().enumerate() {
            let read = self.graph.inputs(id).into_iter().flatten();
            let makers = read.filter_map(|tensor| self.graph.producer(tensor));
            let makers = makers.filter_map(|id| position.get(&id).copied());
            let makers: BTreeSet<_> =
                makers.chain(of_states.remove(&at).into_iter().flatten()).collect();
            self.storage.is_sorted &= makers.iter().all(|maker| *maker < at);
            self.storage.predecessors.push(makers.into_iter().collect());
        }
    }
}
