//! The graph: operators and tensors as nodes, data flow as edges that know their port.

use super::{ElementType, ModelError, Op, Quality, Shape, Tensor, TensorRole, TransformRecord};
use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Where channels stand in an image tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Layout {
    /// `[N, spatial.., C]`, weights `[O, spatial.., I]` (TFLite).
    #[default]
    ChannelsLast,
    /// `[N, C, spatial..]`, weights `[O, I, spatial..]` (ONNX).
    ChannelsFirst,
}

/// The file a graph was imported from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Name of the file, without its folder.
    pub file: String,
    /// Its format (`TFLite`, `ONNX`).
    pub format: String,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

/// An operator of the graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Operator {
    /// The file's own name, made unique.
    pub name: String,
    /// What the file calls its type (`CONV_2D`, `com.microsoft::QLinearAdd`).
    pub native: String,
    /// What it computes.
    pub op: Op,
    /// An activation done on the way out (`RELU6`), as the file calls it.
    pub fused_activation: Option<String>,
    /// True when its last input is added to the result before the activation.
    pub residual: bool,
    /// Which part of its multiply-accumulates depends on the input of the network; nothing when all
    /// do, or when the weights were not seen.
    pub live: Option<Live>,
    /// Share of zeros in its first input, 0 to 1, where somebody measured it.
    pub input_zeros: Option<f64>,
}

impl Operator {
    /// An operator without anything fused into it.
    pub fn new(name: impl Into<String>, native: impl Into<String>, op: Op) -> Self {
        let (name, native) = (name.into(), native.into());
        let (fused_activation, live, input_zeros) = (None, None, None);
        Self { name, native, op, fused_activation, residual: false, live, input_zeros }
    }
}

/// What is left of an operator when channels that compute a constant are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Live {
    /// Output channels that depend on the input of the network.
    pub channels: u64,
    /// Pairs of input and output channel that are multiplied and both live.
    pub products: u64,
    /// All pairs that are multiplied.
    pub of: u64,
}

impl Live {
    /// Whether the numbers make sense.
    pub fn is_sound(&self) -> bool {
        self.of > 0 && self.products <= self.of && self.channels <= self.of
    }
}

/// Handle of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperatorId(NodeIndex);

/// Handle of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorId(NodeIndex);

#[derive(Debug, Clone)]
enum Node {
    Operator(Operator),
    Tensor(Tensor),
}

/// A network: a bipartite directed graph of operators and tensors.
///
/// Edges run tensor → operator and operator → tensor and carry the port number, so that a missing
/// optional input leaves a gap and shifts nothing. Operators keep the order of the file.
#[derive(Debug, Clone)]
pub struct ModelGraph {
    /// Name of the network.
    pub name: String,
    /// Where channels stand.
    pub layout: Layout,
    /// Where the network is described: a paper, a repository, a configuration.
    pub source: Option<String>,
    /// The licence of that description.
    pub licence: Option<String>,
    /// The file it came from, if any.
    pub origin: Option<Origin>,
    /// Things the reader should know: folded constants, operators not understood.
    pub notes: Vec<String>,
    /// What was done to the network as its file had it, in order.
    pub transforms: Vec<TransformRecord>,
    /// How good its answers are, if anyone measured it.
    pub quality: Option<Quality>,
    graph: DiGraph<Node, u32>,
    operators: Vec<OperatorId>,
    tensors: BTreeMap<String, TensorId>,
    outputs: Vec<TensorId>,
}

impl ModelGraph {
    /// An empty network.
    pub fn new(name: impl Into<String>, layout: Layout) -> Self {
        Self {
            name: printable(name.into()),
            layout,
            source: None,
            licence: None,
            origin: None,
            notes: Vec::new(),
            transforms: Vec::new(),
            quality: None,
            graph: DiGraph::new(),
            operators: Vec::new(),
            tensors: BTreeMap::new(),
            outputs: Vec::new(),
        }
    }

    /// The network with all that is said of it, and nothing in it.
    pub(super) fn emptied(&self) -> Self {
        let mut graph = self.clone();
        graph.graph = DiGraph::new();
        graph.operators.clear();
        graph.tensors.clear();
        graph.outputs.clear();
        graph
    }

    /// Adds a tensor. A name that is taken is an error.
    pub fn add_tensor(&mut self, mut tensor: Tensor) -> Result<TensorId, ModelError> {
        tensor.name = printable(tensor.name);
        if self.tensors.contains_key(&tensor.name) {
            return Err(ModelError::Graph {
                operator: tensor.name,
                reason: "two tensors have this name".into(),
            });
        }
        let name = tensor.name.clone();
        let id = TensorId(self.graph.add_node(Node::Tensor(tensor)));
        self.tensors.insert(name, id);
        Ok(id)
    }

    /// Adds an operator behind its inputs (`None` for an optional one left out) and before its
    /// outputs. A tensor with a second producer is an error, and then nothing is added.
    pub fn add_operator(
        &mut self,
        mut operator: Operator,
        inputs: &[Option<TensorId>],
        outputs: &[TensorId],
    ) -> Result<OperatorId, ModelError> {
        operator.name = printable(operator.name);
        let mut made = BTreeSet::new();
        let twice = outputs.iter().find(|t| self.producer(**t).is_some() || !made.insert(**t));
        if let Some(tensor) = twice {
            let reason = format!("`{}` is made twice", self.tensor(*tensor).name);
            return Err(ModelError::Graph { operator: operator.name, reason });
        }
        let id = OperatorId(self.graph.add_node(Node::Operator(operator)));
        for (port, input) in (0u32..).zip(inputs) {
            if let Some(tensor) = input {
                self.graph.add_edge(tensor.0, id.0, port);
            }
        }
        for (port, tensor) in (0u32..).zip(outputs) {
            self.graph.add_edge(id.0, tensor.0, port);
        }
        self.operators.push(id);
        Ok(id)
    }

    /// Declares the results of the network.
    pub fn set_outputs(&mut self, outputs: Vec<TensorId>) {
        self.outputs = outputs;
    }

    /// The results of the network.
    pub fn outputs(&self) -> &[TensorId] {
        &self.outputs
    }

    /// Operators in the order of the file.
    pub fn operators(&self) -> impl ExactSizeIterator<Item = OperatorId> + '_ {
        self.operators.iter().copied()
    }

    /// Tensors in the order of their names.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = TensorId> + '_ {
        self.tensors.values().copied()
    }

    /// The tensor called `name`.
    pub fn tensor_named(&self, name: &str) -> Option<TensorId> {
        self.tensors.get(name).copied()
    }

    /// The operator behind a handle of this graph, to change.
    pub fn operator_mut(&mut self, id: OperatorId) -> &mut Operator {
        match &mut self.graph[id.0] {
            Node::Operator(o) => o,
            Node::Tensor(_) => unreachable!("an OperatorId is only made for an operator"),
        }
    }

    /// The operator behind a handle of this graph.
    pub fn operator(&self, id: OperatorId) -> &Operator {
        match &self.graph[id.0] {
            Node::Operator(o) => o,
            Node::Tensor(_) => unreachable!("an OperatorId is only made for an operator"),
        }
    }

    /// The tensor behind a handle of this graph.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        match &self.graph[id.0] {
            Node::Tensor(t) => t,
            Node::Operator(_) => unreachable!("a TensorId is only made for a tensor"),
        }
    }

    /// The tensor behind a handle of this graph, to change.
    pub fn tensor_mut(&mut self, id: TensorId) -> &mut Tensor {
        match &mut self.graph[id.0] {
            Node::Tensor(t) => t,
            Node::Operator(_) => unreachable!("a TensorId is only made for a tensor"),
        }
    }

    /// Inputs of an operator by port; `None` where an optional one is left out.
    pub fn inputs(&self, id: OperatorId) -> Vec<Option<TensorId>> {
        let mut ports: Vec<_> = self
            .graph
            .edges_directed(id.0, Direction::Incoming)
            .map(|e| (*e.weight(), TensorId(e.source())))
            .collect();
        ports.sort_unstable_by_key(|(port, _)| *port);
        let mut inputs = Vec::with_capacity(ports.len());
        for (port, tensor) in ports {
            while inputs.len() < port as usize {
                inputs.push(None);
            }
            inputs.push(Some(tensor));
        }
        inputs
    }

    /// Outputs of an operator by port.
    pub fn op_outputs(&self, id: OperatorId) -> Vec<TensorId> {
        let mut ports: Vec<_> = self
            .graph
            .edges_directed(id.0, Direction::Outgoing)
            .map(|e| (*e.weight(), TensorId(e.target())))
            .collect();
        ports.sort_unstable_by_key(|(port, _)| *port);
        ports.into_iter().map(|(_, tensor)| tensor).collect()
    }

    /// Operators that read a tensor.
    pub fn consumers(&self, id: TensorId) -> impl Iterator<Item = OperatorId> + '_ {
        self.graph.edges_directed(id.0, Direction::Outgoing).map(|e| OperatorId(e.target()))
    }

    /// The operator that makes a tensor.
    pub fn producer(&self, id: TensorId) -> Option<OperatorId> {
        self.graph.edges_directed(id.0, Direction::Incoming).next().map(|e| OperatorId(e.source()))
    }

    /// Sorts operators so that each stands behind what it reads, changing the file's order only
    /// where it must. A cycle is an error that names an operator in it.
    pub fn sort(&mut self) -> Result<(), ModelError> {
        self.operators = self.sorted().map_err(|cycle| {
            let names = cycle.iter().map(|id| format!("`{}`", self.operator(*id).name));
            let operator = cycle.first().map_or("", |id| &self.operator(*id).name).to_owned();
            ModelError::Graph { operator, reason: cycle_reason(names) }
        })?;
        Ok(())
    }

    /// The operators, each behind what it reads; or those of a cycle, each reading from the next
    /// and the last from the first. Reads and writes of a state keep the order they are listed in,
    /// unless what they read does not allow it.
    pub(super) fn sorted(&self) -> Result<Vec<OperatorId>, Vec<OperatorId>> {
        let states = self.state_order();
        match self.sorted_with(&states) {
            Err(_) if !states.is_empty() => self.sorted_with(&[]),
            sorted => sorted,
        }
    }

    fn sorted_with(&self, states: &[(usize, usize)]) -> Result<Vec<OperatorId>, Vec<OperatorId>> {
        let mut behind: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let position: BTreeMap<_, _> =
            self.operators.iter().enumerate().map(|(i, id)| (*id, i)).collect();
        let mut missing: Vec<usize> =
            self.operators.iter().map(|id| self.makers(*id).count()).collect();
        for (before, after) in states {
            behind.entry(*before).or_default().push(*after);
            missing[*after] += 1;
        }
        let mut ready: BTreeSet<usize> =
            missing.iter().enumerate().filter(|(_, n)| **n == 0).map(|(i, _)| i).collect();
        let mut sorted = Vec::with_capacity(self.operators.len());
        while let Some(i) = ready.pop_first() {
            let id = self.operators[i];
            sorted.push(id);
            let outputs = self.op_outputs(id);
            let readers = outputs.iter().flat_map(|output| self.consumers(*output));
            let readers = readers.map(|reader| position[&reader]);
            for at in readers.chain(behind.remove(&i).into_iter().flatten()) {
                missing[at] -= 1;
                if missing[at] == 0 {
                    ready.insert(at);
                }
            }
        }
        let stuck = |id: &OperatorId| missing[position[id]] > 0;
        match self.operators.iter().find(|id| stuck(id)) {
            None => Ok(sorted),
            Some(first) => Err(self.cycle_behind(*first, stuck)),
        }
    }

    /// Goes from one operator that waits to one that it waits for, until one comes up again.
    fn cycle_behind(
        &self,
        first: OperatorId,
        stuck: impl Fn(&OperatorId) -> bool,
    ) -> Vec<OperatorId> {
        let (mut path, mut seen) = (Vec::new(), BTreeMap::new());
        let mut next = Some(first);
        while let Some(id) = next {
            if let Some(start) = seen.insert(id, path.len()) {
                return path.split_off(start);
            }
            path.push(id);
            next = self.makers(id).find(&stuck);
        }
        path
    }

    /// The operators that make what an operator reads, one for each input that is made.
    fn makers(&self, id: OperatorId) -> impl Iterator<Item = OperatorId> + '_ {
        self.inputs(id).into_iter().flatten().filter_map(|tensor| self.producer(tensor))
    }

    /// A tensor by its parts, for importers and tests.
    pub fn add(
        &mut self,
        name: &str,
        shape: &[u64],
        element: ElementType,
        role: TensorRole,
    ) -> Result<TensorId, ModelError> {
        self.add_tensor(Tensor::new(name, Some(Shape(shape.to_vec())), element, role))
    }
}

/// How many operators of a cycle are named.
const CYCLE_NAMES: usize = 6;

/// Says that operators make a cycle, each reading from the next.
pub(super) fn cycle_reason(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(CYCLE_NAMES);
    let mut chain = names.take(CYCLE_NAMES).collect::<Vec<_>>().join(" from ");
    if more > 0 {
        chain.push_str(&format!(" and so on through {more} more"));
    }
    format!("the graph has a cycle: it reads, through others, what it makes ({chain})")
}

/// A name without control characters, which would end up in tables, files and terminals.
pub(super) fn printable(name: String) -> String {
    if name.chars().any(char::is_control) {
        name.replace(char::is_control, "\u{fffd}")
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ElementFunction;

    fn operator(name: &str) -> Operator {
        Operator::new(name, "ADD", Op::Elementwise(ElementFunction::Add))
    }

    #[test]
    fn operators_out_of_order_are_sorted_and_a_cycle_is_named() {
        let mut g = ModelGraph::new("g", Layout::ChannelsLast);
        let t: Vec<_> = ["a", "b", "c", "d"]
            .iter()
            .map(|n| g.add(n, &[4], ElementType::Int8, TensorRole::Activation).unwrap())
            .collect();
        g.add_operator(operator("second"), &[Some(t[1]), None, Some(t[0])], &[t[2]]).unwrap();
        g.add_operator(operator("first"), &[Some(t[0])], &[t[1]]).unwrap();
        g.sort().unwrap();
        let names: Vec<_> = g.operators().map(|o| g.operator(o).name.clone()).collect();
        assert_eq!(names, ["first", "second"]);
        assert_eq!(g.inputs(g.operators[1]), [Some(t[1]), None, Some(t[0])]);
        assert!(g.add_operator(operator("third"), &[], &[t[2]]).is_err(), "second producer");

        let mut loop_ = ModelGraph::new("loop", Layout::ChannelsLast);
        let a = loop_.add("a", &[1], ElementType::Int8, TensorRole::Activation).unwrap();
        let b = loop_.add("b", &[1], ElementType::Int8, TensorRole::Activation).unwrap();
        loop_.add_operator(operator("x"), &[Some(a)], &[b]).unwrap();
        loop_.add_operator(operator("y"), &[Some(b)], &[a]).unwrap();
        let c = loop_.add("c", &[1], ElementType::Int8, TensorRole::Activation).unwrap();
        loop_.operators.clear();
        loop_.add_operator(operator("behind"), &[Some(b)], &[c]).unwrap();
        loop_.operators.extend([OperatorId(2.into()), OperatorId(3.into())]);
        let said = loop_.sort().unwrap_err().to_string();
        assert!(said.contains("cycle") && said.contains("`x` from `y`"), "{said}");
        assert!(!said.contains("behind"), "only what is in it: {said}");
    }
}
