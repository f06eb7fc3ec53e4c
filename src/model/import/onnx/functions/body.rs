//! The body of a function at the place of a call.

use super::NODE_SIZE;
use crate::model::import::onnx::branches::rename_inside;
use crate::model::import::onnx::names::Names;
use crate::model::import::onnx::proto::{Attribute, Function, Graph, Node};
use prost::Message;
use std::collections::{HashMap, HashSet};

/// A body, and what the names and attributes in it stand for.
pub(super) struct Body<'a> {
    call: &'a Node,
    function: &'a Function,
    place: String,
    /// Tensors of the body by the name they have outside of it.
    tensors: HashMap<&'a str, String>,
    /// What the call gives, or the function where it does not, and its size.
    attributes: HashMap<&'a str, (&'a Attribute, usize)>,
}

impl<'a> Body<'a> {
    pub fn new(call: &'a Node, function: &'a Function, place: String) -> Self {
        let actual = |names: &[String], port: usize| names.get(port).cloned().unwrap_or_default();
        let mut tensors = HashMap::new();
        for (port, formal) in function.outputs.iter().enumerate() {
            let name = actual(&call.outputs, port);
            // An output that the call leaves out is made all the same.
            if !name.is_empty() {
                tensors.insert(formal.as_str(), name);
            }
        }
        for (port, formal) in function.inputs.iter().enumerate() {
            tensors.insert(formal.as_str(), actual(&call.inputs, port));
        }
        let mut attributes = HashMap::new();
        for given in call.attributes.iter().chain(&function.defaults) {
            attributes.entry(given.name.as_str()).or_insert_with(|| (given, given.encoded_len()));
        }
        Self { call, function, place, tensors, attributes }
    }

    /// Bytes that a copy of all nodes takes.
    pub fn size(&self) -> usize {
        let longest = self.tensors.values().map(String::len).max().unwrap_or(0);
        let sizes = self.function.nodes.iter().map(|node| self.size_of(node, longest));
        sizes.fold(0, usize::saturating_add)
    }

    fn size_of(&self, inner: &Node, longest: usize) -> usize {
        let names = inner.inputs.iter().chain(&inner.outputs).map(|name| {
            let outside = self.tensors.get(name.as_str());
            outside.map_or(self.place.len() + name.len(), String::len)
        });
        let names = names.fold(0, usize::saturating_add);
        let mut inside = Inside::default();
        inside.node(inner, &|of_call| self.attributes.get(of_call).map_or(0, |(_, size)| *size));
        let each = self.place.len().saturating_add(longest);
        NODE_SIZE
            .saturating_add(inner.encoded_len())
            .saturating_add(self.place.len())
            .saturating_add(names)
            .saturating_add(inside.names.saturating_mul(each))
            .saturating_add(inside.taken)
    }

    /// Gives all that is made inside a name of its own.
    pub fn name_inner(&mut self, names: &mut Names) {
        let made = self.function.nodes.iter().flat_map(|node| &node.outputs);
        for name in made.filter(|name| !name.is_empty()) {
            let place = &self.place;
            self.tensors.entry(name).or_insert_with(|| names.fresh(&format!("{place}/{name}")));
        }
    }

    pub fn node(&self, inner: &Node, index: usize) -> Node {
        let name = match inner.name.as_str() {
            "" => format!("{}/{}_{index}", self.place, inner.op_type),
            name => format!("{}/{name}", self.place),
        };
        Node {
            inputs: inner.inputs.iter().map(|name| self.tensor(name)).collect(),
            outputs: inner.outputs.iter().map(|name| self.tensor(name)).collect(),
            name,
            attributes: inner.attributes.iter().filter_map(|a| self.attribute(a)).collect(),
            op_type: inner.op_type.clone(),
            domain: inner.domain.clone(),
            overload: inner.overload.clone(),
        }
    }

    fn tensor(&self, name: &str) -> String {
        let unknown = || match name {
            "" => String::new(),
            name => format!("{}/{name}", self.place),
        };
        self.tensors.get(name).cloned().unwrap_or_else(unknown)
    }

    /// An attribute of a node inside, with the names that the tensors have outside.
    fn attribute(&self, inner: &Attribute) -> Option<Attribute> {
        let mut made = self.given(inner)?;
        if inner.of_call.is_empty() {
            rename_inside(&mut made, &self.tensors);
        }
        Some(made)
    }

    /// The attribute, or that of the call which it stands for, in the bodies inside of it too.
    fn given(&self, inner: &Attribute) -> Option<Attribute> {
        if !inner.of_call.is_empty() {
            let (given, _) = self.attributes.get(inner.of_call.as_str())?;
            return Some(Attribute { name: inner.name.clone(), ..(*given).clone() });
        }
        let mut made = inner.clone();
        for node in made.graph.iter_mut().flat_map(|graph| &mut graph.nodes) {
            node.attributes = node.attributes.iter().filter_map(|a| self.given(a)).collect();
        }
        Some(made)
    }

    /// Outputs that are inputs handed through.
    pub fn passed_on(&self) -> Vec<Node> {
        let inputs: HashSet<&String> = self.function.inputs.iter().collect();
        let ports = self.function.outputs.iter().zip(&self.call.outputs);
        let handed = ports.filter(|(formal, actual)| inputs.contains(formal) && !actual.is_empty());
        let node = |(formal, actual): (&String, &String)| Node {
            inputs: self.tensors.get(formal.as_str()).cloned().into_iter().collect(),
            outputs: vec![actual.clone()],
            name: format!("{}/{formal}", self.place),
            op_type: "Identity".to_owned(),
            ..Node::default()
        };
        handed.map(node).collect()
    }
}

/// What a node takes over from the call, and how many names the bodies inside of it hold.
#[derive(Default)]
struct Inside {
    names: usize,
    taken: usize,
}

impl Inside {
    fn node(&mut self, node: &Node, size: &impl Fn(&str) -> usize) {
        for attribute in &node.attributes {
            self.taken = self.taken.saturating_add(size(&attribute.of_call));
            if let Some(graph) = &attribute.graph {
                self.graph(graph, size);
            }
        }
    }

    fn graph(&mut self, graph: &Graph, size: &impl Fn(&str) -> usize) {
        self.names += graph.outputs.len();
        for node in &graph.nodes {
            self.names += node.inputs.len() + node.outputs.len();
            self.node(node, size);
        }
    }
}
