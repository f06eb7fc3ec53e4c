//! ONNX files: shapes are inferred, arithmetic on shapes and stored weights is folded away, and all
//! else stays a layer under the name and type that the file gives it.
//!
//! The file is untrusted: sizes are checked, nothing is allocated from a number alone, and an
//! operator that is not understood leaves its outputs unknown without failing the rest.

mod blocks;
mod branches;
mod composite;
mod control_flow;
mod environment;
mod external;
mod filters;
mod fold;
mod functions;
mod names;
mod node;
mod notes;
mod operators;
mod order;
mod proto;
mod rewrite;
mod shapes;
mod value;

use super::{Fault, Imported};
use crate::model::dead::Filters;
use crate::model::{Bindings, Layout, ModelError, ModelGraph, Op, Operator, OperatorId, TensorId};
use environment::Environment;
use filters::Filter;
use functions::Functions;
use names::Names;
use node::Node;
use notes::Notes;
use operators::Meaning;
use prost::Message;
use prost::bytes::Bytes;
use shapes::Output;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use value::Value;

/// Reads an ONNX file, and weights in files of `folder`.
pub(super) fn read(
    path: &str,
    bytes: &Bytes,
    folder: Option<&Path>,
    bindings: &Bindings,
) -> Result<Imported, ModelError> {
    let unusable = |reason: String| ModelError::Onnx { path: path.to_owned(), reason };
    let mut model = proto::Model::decode(bytes.clone())
        .map_err(|e| unusable(format!("it is no ONNX model: {e}")))?;
    let functions = std::mem::take(&mut model.functions);
    let mut functions = Functions::new(&functions, &mut model.opset_import);
    let mut branches = 0;
    for round in 1.. {
        let mut names = model.graph.as_ref().map(Names::of).unwrap_or_default();
        if let Some(graph) = &mut model.graph {
            functions.inline(graph, &mut names).map_err(unusable)?;
            blocks::unpack(graph, &mut names);
            order::sort(graph).map_err(unusable)?;
        }
        let file = opened(&model).map_err(|reason| unusable(reason.to_owned()))?;
        let versions = model.opset_import.iter().map(|set| (domain(&set.domain), set.version));
        let name = Path::new(path).file_stem().map_or(path.into(), |stem| stem.to_string_lossy());
        let importer = Importer {
            path,
            versions: versions.collect(),
            graph: ModelGraph::new(name, Layout::ChannelsFirst),
            environment: Environment::new(path, folder, file, bindings)?,
            operators: HashSet::with_capacity(file.nodes.len()),
            names,
            notes: Notes::new(functions.unread.clone(), branches),
            filters: Filters::default(),
            disputed: BTreeSet::new(),
            taken: BTreeMap::new(),
        };
        let Read { imported, taken, mut names } = importer.import(file)?;
        if taken.is_empty() || round == branches::ROUNDS {
            return Ok(imported);
        }
        branches += taken.len();
        if let Some(graph) = &mut model.graph {
            branches::choose(graph, &taken, &mut names);
        }
    }
    Err(unusable("its branches hold each other without end".to_owned()))
}

/// The graph of a model. Other files decode as messages without any known field.
fn opened(model: &proto::Model) -> Result<&proto::Graph, &'static str> {
    if model.ir_version <= 0 {
        return Err("it is no ONNX model, or cut short: ir_version is missing");
    }
    let graph = model.graph.as_ref().ok_or("it has no graph; it may be cut short")?;
    if graph.nodes.is_empty() {
        return Err("its graph has no nodes");
    }
    if model.opset_import.is_empty() {
        return Err("it names no operator set; it may be cut short");
    }
    Ok(graph)
}

/// The default domain has two names.
fn domain(name: &str) -> &str {
    if name == "ai.onnx" { "" } else { name }
}

/// What an operator is called: its type, behind the domain if it has one of its own.
fn native(proto: &proto::Node) -> String {
    match domain(&proto.domain) {
        "" => proto.op_type.clone(),
        domain => format!("{domain}::{}", proto.op_type),
    }
}

struct Importer<'a> {
    path: &'a str,
    versions: BTreeMap<&'a str, i64>,
    graph: ModelGraph,
    environment: Environment<'a>,
    /// Names of operators.
    operators: HashSet<String>,
    /// Names of tensors.
    names: Names,
    notes: Notes,
    filters: Filters,
    /// Filters that operators read with different zero points.
    disputed: BTreeSet<TensorId>,
    /// The conditions of `If` nodes that are known, by their place in the file.
    taken: BTreeMap<usize, bool>,
}

/// What was read, and the branches to choose before it is read again.
struct Read {
    imported: Imported,
    taken: BTreeMap<usize, bool>,
    names: Names,
}

impl<'a> Importer<'a> {
    fn import(mut self, file: &'a proto::Graph) -> Result<Read, ModelError> {
        self.environment.add_inputs(&mut self.graph)?;
        for (index, node) in file.nodes.iter().enumerate() {
            let name = self.unique_name(node, index);
            self.taken.extend(self.condition(node).map(|condition| (index, condition)));
            self.node(&name, node).map_err(|fault| match fault {
                Fault::File(reason) => {
                    let reason = format!("node `{name}` ({}): {reason}", node.op_type);
                    ModelError::Onnx { path: self.path.to_owned(), reason }
                }
                Fault::Graph(error) => error,
            })?;
        }
        let mut outputs = Vec::new();
        for output in &file.outputs {
            let id = self.environment.tensor(&mut self.graph, &output.name)?;
            outputs.push(id.ok_or_else(|| ModelError::Onnx {
                path: self.path.to_owned(),
                reason: format!("nothing makes its output `{}`", output.name),
            })?);
        }
        self.graph.set_outputs(outputs);
        self.graph.notes = self.environment.notes();
        self.graph.notes.extend(self.notes.lines());
        let imported = Imported { graph: self.graph, filters: self.filters };
        Ok(Read { imported, taken: self.taken, names: self.names })
    }

    /// The condition of an `If`, where it is known and its branch is there.
    fn condition(&self, node: &proto::Node) -> Option<bool> {
        if node.op_type != "If" || !domain(&node.domain).is_empty() {
            return None;
        }
        let values = self.environment.values(&node.inputs).ok()?;
        let numbers = values.first().copied().flatten()?.numbers.as_ref()?;
        let condition = *numbers.ints()?.first()? != 0;
        branches::has_branch(node, condition).then_some(condition)
    }

    fn unique_name(&mut self, node: &proto::Node, index: usize) -> String {
        let mut name = node.name.clone();
        if name.is_empty() {
            name = format!("{}_{index}", node.op_type);
        }
        if self.operators.contains(&name) {
            name = format!("{name}#{index}");
        }
        while !self.operators.insert(name.clone()) {
            name.push('#');
        }
        name
    }

    fn node(&mut self, name: &str, proto: &'a proto::Node) -> Result<(), Fault> {
        let domain = domain(&proto.domain);
        let native = native(proto);
        let version = self.versions.get(domain).copied();
        if version.is_none() && domain.is_empty() {
            return Err(Fault::File("the file names no version of its operator set".into()));
        }
        let inputs = self.environment.values(&proto.inputs)?;
        let mut node = Node::new(proto, &native, version.unwrap_or(i64::MAX), inputs);
        node.stated_cache =
            proto.outputs.get(1).and_then(|name| self.environment.stated_shape(name));
        let meaning = operators::meaning(&node)?;
        let mut outputs = shapes::infer(&node, &meaning)?;
        if is_folded(&node, &meaning, &outputs) {
            let made = folded(&node, &outputs);
            self.notes.folded += 1;
            return Ok(self.environment.define(&proto.outputs, made)?);
        }
        for (output, name) in outputs.iter_mut().zip(&proto.outputs) {
            self.environment.declared(name, output);
        }
        for (output, stated) in outputs.iter_mut().zip(control_flow::stated(proto, &node)) {
            self.environment.stated(&stated, output);
        }
        if let Some(parts) = composite::parts(&node)? {
            let filtered = |part| {
                let filter = filters::of_part(&node, &part);
                (part, filter)
            };
            let parts = parts.into_iter().map(filtered).collect();
            if node.int("local_window_size", -1) > 0 {
                self.notes.windowed(name);
            }
            let made = outputs.into_iter().map(|o| Value::made(o.element, o.shape)).collect();
            return self.add_parts(name, proto, made, parts);
        }
        let op = op(&node, meaning, &outputs, name, &mut self.notes);
        let filter = filters::of(&node, &op);
        let operator = Operator {
            fused_activation: operators::fused_activation(&node),
            ..Operator::new(name, native.clone(), op)
        };
        let made = outputs.into_iter().map(|o| Value::made(o.element, o.shape)).collect();
        let id = self.add(operator, proto, made)?;
        self.remember(id, filter);
        Ok(())
    }

    /// Keeps the numbers of an operator's filter until all of the graph is there.
    fn remember(&mut self, id: OperatorId, filter: Option<Filter>) {
        let tensor = self.graph.inputs(id).get(1).copied().flatten();
        let Some(tensor) = tensor else { return };
        let Some(filter) = filter else { return self.without_filter(id, tensor) };
        if self.disputed.contains(&tensor) {
            return;
        }
        match self.filters.weights.entry(tensor) {
            Entry::Vacant(entry) => {
                entry.insert(filter.weights);
            }
            Entry::Occupied(entry) if filters::agree(entry.get(), &filter.weights) => {}
            Entry::Occupied(_) => return self.dispute(tensor),
        }
        self.filters.turned.extend(filter.turned.then_some(id));
    }

    /// Numbers that one operator cannot tell are told by none, since they are kept by tensor.
    fn without_filter(&mut self, id: OperatorId, tensor: TensorId) {
        if matches!(self.graph.operator(id).op, Op::Convolution(_) | Op::FullyConnected) {
            self.dispute(tensor);
        }
    }

    fn dispute(&mut self, tensor: TensorId) {
        if self.filters.weights.remove(&tensor).is_some() {
            self.notes.disputed(&self.graph.tensor(tensor).name);
        }
        self.disputed.insert(tensor);
    }

    fn add(
        &mut self,
        operator: Operator,
        proto: &'a proto::Node,
        made: Vec<Value>,
    ) -> Result<OperatorId, Fault> {
        let mut inputs = Vec::with_capacity(proto.inputs.len());
        for name in &proto.inputs {
            inputs.push(self.environment.tensor(&mut self.graph, name)?);
        }
        let inputs = ordered(operators::port_order(&operator.native), &inputs);
        self.environment.define(&proto.outputs, made)?;
        let mut outputs = Vec::with_capacity(proto.outputs.len());
        for name in proto.outputs.iter().filter(|name| !name.is_empty()) {
            outputs.extend(self.environment.tensor(&mut self.graph, name)?);
        }
        Ok(self.graph.add_operator(operator, &inputs, &outputs)?)
    }
}

/// Whether a node is no work of the network: it is done once, before the first run.
fn is_folded(node: &Node<'_>, meaning: &Meaning, outputs: &[Output]) -> bool {
    if outputs.iter().any(|output| output.shape.is_none()) {
        return false;
    }
    if matches!(node.native, "Shape" | "Size" | "Constant") {
        return true;
    }
    if operators::is_random(node.native) {
        return false;
    }
    let cheap = matches!(
        meaning,
        Meaning::Known(Op::Movement(_) | Op::Elementwise(_) | Op::Convert | Op::Reduce(_))
    );
    let mut given = node.inputs.iter().flatten().peekable();
    cheap && given.peek().is_some() && given.all(|value| value.constant)
}

/// The constants that a folded node makes.
fn folded(node: &Node<'_>, outputs: &[Output]) -> Vec<Value> {
    let mut numbers = fold::numbers(node, outputs).into_iter();
    let (weights, turned) = filters::kept(node, outputs);
    let values = outputs.iter().map(|output| Value {
        stored: stored_element(node, output),
        constant: true,
        numbers: numbers.next().flatten(),
        weights: weights.clone(),
        turned,
        ..Value::made(output.element, output.shape.clone())
    });
    values.collect()
}

/// Weights that are dequantised before use, and perhaps turned then, stay stored as they are.
fn stored_element(node: &Node<'_>, output: &Output) -> crate::model::ElementType {
    let kept = matches!(
        node.native,
        "DequantizeLinear"
            | "com.microsoft::DequantizeLinear"
            | "Identity"
            | "Reshape"
            | "Transpose"
            | "Squeeze"
            | "Unsqueeze"
            | "Flatten"
    );
    node.input(0).filter(|_| kept).map_or(output.element, |value| value.stored)
}

/// What a layer computes, opaque when a shape that its work hangs on is not known.
fn op(node: &Node<'_>, meaning: Meaning, outputs: &[Output], name: &str, notes: &mut Notes) -> Op {
    let inputs_known = node.inputs.iter().flatten().all(|value| value.shape.is_some());
    let resolved = inputs_known && outputs.first().is_none_or(|output| output.shape.is_some());
    match meaning {
        Meaning::Known(op) if resolved => return op,
        Meaning::Known(_) | Meaning::Unresolved => notes.unresolved(name),
        Meaning::ControlFlow => notes.control_flow(node.native),
        Meaning::Container => notes.container(node.native),
        Meaning::Opaque => notes.opaque(node.native),
    }
    Op::Opaque
}

/// Inputs with data, weights and bias in front, the others behind.
fn ordered(order: &[Option<usize>], inputs: &[Option<TensorId>]) -> Vec<Option<TensorId>> {
    let first = order.iter().map(|port| inputs.get((*port)?).copied().flatten());
    let rest = inputs.iter().enumerate().filter(|(port, _)| !order.contains(&Some(*port)));
    first.chain(rest.map(|(_, id)| *id)).collect()
}

#[cfg(test)]
mod tests;
