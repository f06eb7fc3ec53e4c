//! What a network keeps in memory: its tensors, those that share bytes as one.

use super::storage::Storage;
use crate::model::{
    ElementType, Layer, ModelGraph, OpKind, Operand, OperandRole, OperatorId, TensorId, TensorRole,
};
use std::collections::BTreeMap;

/// Where a tensor passes the edge of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// It is handed in (and may be handed out again as it is).
    In,
    /// It is made, and handed out.
    Out,
}

/// Bytes of one tensor, or of several that share them (views, and what is written into a state).
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTensor {
    /// Its name; of several, that of the first.
    pub name: String,
    /// It as an operand that is read whole.
    pub whole: Operand,
    /// Its size as the file stores it.
    pub bytes: u64,
    /// The first and the last layer that it is alive at, in the order they run. Nothing for what is
    /// stored with the model, and for what is handed in and never used.
    pub lifetime: Option<(usize, usize)>,
    /// True when it is kept between runs.
    pub is_state: bool,
    /// Where it passes the edge of the network, if it does; a state stays within.
    pub edge: Option<Edge>,
    /// How often an inference reads or writes all of it; of a table, the share that is picked.
    pub uses: f64,
    /// Types that layers which read or make it are computed in.
    pub computed_in: Vec<ElementType>,
}

impl StoredTensor {
    /// True when it is stored with the model.
    pub fn is_constant(&self) -> bool {
        self.whole.constant
    }
}

/// What the operands of a layer are.
#[derive(Debug, Clone, PartialEq, Default)]
struct Ports {
    /// Buffers that its operands lie in.
    read: Vec<Option<usize>>,
    /// Layers that made its operands.
    makers: Vec<Option<usize>>,
    /// The buffer that its result lies in; of several, the largest.
    made: Option<usize>,
}

/// Buffers of a network, and which layer reads and makes which.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Buffers {
    tensors: Vec<StoredTensor>,
    ports: Vec<Ports>,
    types: Vec<ElementType>,
}

impl Buffers {
    /// Buffers of a graph. Tells the operands of its layers which ones they are.
    pub fn of(graph: &ModelGraph, layers: &mut [Layer]) -> Self {
        let (storage, buffer_of) = Storage::with_tensors(graph);
        let steps = graph.operators().len();
        let mut table = Table {
            graph,
            buffers: Self::default(),
            buffer_of: buffer_of.into_iter().filter_map(|(t, at)| Some((t, at?))).collect(),
            position: graph.operators().enumerate().map(|(at, id)| (id, at)).collect(),
        };
        for buffer in &storage.buffers {
            let at = table.add(buffer.tensor, buffer.bytes, buffer.lifetime(steps));
            if let Some(own) = table.buffers.tensors.get_mut(at) {
                (own.is_state, own.edge) = (buffer.is_state, buffer.edge());
            }
        }
        for id in graph.tensors() {
            let tensor = graph.tensor(id);
            if tensor.role == TensorRole::Constant {
                let at = table.add(id, tensor.bytes().unwrap_or(0), None);
                table.buffer_of.insert(id, at);
            }
        }
        for (id, layer) in graph.operators().zip(layers) {
            table.layer(id, layer);
        }
        table.buffers
    }

    /// All of them: activations and states first, then what is stored with the model.
    pub fn tensors(&self) -> &[StoredTensor] {
        &self.tensors
    }

    /// Types that its layers are computed in.
    pub fn types(&self) -> &[ElementType] {
        &self.types
    }

    /// The buffer of an operand, by its place among those of the layer's work.
    pub fn read(&self, layer: usize, operand: usize) -> Option<usize> {
        self.ports.get(layer)?.read.get(operand).copied().flatten()
    }

    /// The buffers of all operands of a layer.
    pub fn all_read(&self, layer: usize) -> impl Iterator<Item = usize> {
        self.ports.get(layer).into_iter().flat_map(|ports| ports.read.iter().copied().flatten())
    }

    /// The buffer of a layer's result; of several, the largest.
    pub fn made(&self, layer: usize) -> Option<usize> {
        self.ports.get(layer)?.made
    }

    /// The layers that made the operands of a layer, in the order of the operands of its work; nothing
    /// for what is handed in or stored with the model.
    pub fn producers(&self, layer: usize) -> &[Option<usize>] {
        self.ports.get(layer).map_or(&[], |ports| ports.makers.as_slice())
    }
}

struct Table<'a> {
    graph: &'a ModelGraph,
    buffers: Buffers,
    buffer_of: BTreeMap<TensorId, usize>,
    position: BTreeMap<OperatorId, usize>,
}

impl Table<'_> {
    fn add(&mut self, id: TensorId, bytes: u64, lifetime: Option<(usize, usize)>) -> usize {
        let tensor = self.graph.tensor(id);
        let whole = Operand {
            role: OperandRole::Side,
            constant: tensor.role == TensorRole::Constant,
            element: tensor.element,
            elements: tensor.elements().unwrap_or(0),
            repeats: 1,
            sparsity: tensor.sparsity,
            port: 0,
            buffer: None,
            handed_in: false,
            encoded: None,
            statistics: None,
        };
        self.buffers.tensors.push(StoredTensor {
            name: tensor.name.clone(),
            whole,
            bytes,
            lifetime,
            is_state: false,
            edge: None,
            uses: 0.0,
            computed_in: Vec::new(),
        });
        self.buffers.tensors.len() - 1
    }

    fn layer(&mut self, id: OperatorId, layer: &mut Layer) {
        let (inputs, outputs) = (self.graph.inputs(id), self.graph.op_outputs(id));
        // A view moves nothing.
        let moves = layer.work.kind != OpKind::View;
        let element = layer.work.element;
        if !self.buffers.types.contains(&element) {
            self.buffers.types.push(element);
        }
        let mut ports = Ports::default();
        for operand in &mut layer.work.operands {
            let tensor = inputs.get(operand.port).copied().flatten();
            operand.buffer = tensor.and_then(|tensor| self.buffer_of.get(&tensor).copied());
            operand.handed_in = self.passes(operand.buffer, Edge::In);
            let maker = tensor.and_then(|tensor| self.graph.producer(tensor));
            ports.makers.push(maker.and_then(|maker| self.position.get(&maker).copied()));
            ports.read.push(operand.buffer);
            let times = if moves { operand.repeats as f64 } else { 0.0 };
            self.used(operand.buffer, operand.elements, times, element);
        }
        let mut largest = None;
        for output in outputs {
            let tensor = self.graph.tensor(output);
            let Some(buffer) = self.buffer_of.get(&output).copied() else { continue };
            let times = if moves { 1.0 } else { 0.0 };
            self.used(Some(buffer), tensor.elements().unwrap_or(0), times, element);
            let bytes = tensor.bytes().unwrap_or(0);
            if largest.is_none_or(|(most, _)| bytes > most) {
                largest = Some((bytes, buffer));
            }
        }
        ports.made = largest.map(|(_, buffer)| buffer);
        layer.work.output_buffer = ports.made;
        layer.work.handed_out = self.passes(ports.made, Edge::Out);
        self.buffers.ports.push(ports);
    }

    fn passes(&self, buffer: Option<usize>, edge: Edge) -> bool {
        let own = buffer.and_then(|at| self.buffers.tensors.get(at));
        own.is_some_and(|own| own.edge == Some(edge))
    }

    fn used(&mut self, buffer: Option<usize>, elements: u64, times: f64, element: ElementType) {
        let Some(own) = buffer.and_then(|at| self.buffers.tensors.get_mut(at)) else { return };
        own.uses += times * elements as f64 / own.whole.elements.max(1) as f64;
        if !own.computed_in.contains(&element) {
            own.computed_in.push(element);
        }
    }
}
