//! Functions that a file brings along: each call is replaced by the nodes of the body.
//!
//! A body may call other functions, so that a short file can ask for any number of nodes: their depth
//! and size together are bounded, and a function that calls itself is refused.

use super::proto::{Attribute, Function, Graph, Model, Node};
use super::{domain, rewrite};
use prost::Message;
use std::collections::{BTreeMap, HashMap, HashSet};

/// More calls inside each other than exporters write.
const DEPTH_LIMIT: usize = 32;

/// Bytes that copied bodies may come to, more than the largest real networks need.
const SIZE_LIMIT: usize = 1 << 27;

/// What a node takes beside its names and attributes.
const NODE_SIZE: usize = 256;

/// Domain, name and overload.
type Key<'a> = (&'a str, &'a str, &'a str);

/// The model with all calls replaced, and why the calls that are left are not read.
pub(super) fn inlined(mut model: Model) -> Result<(Model, BTreeMap<String, String>), String> {
    let functions = std::mem::take(&mut model.functions);
    adopt_versions(&mut model, &functions);
    let mut unread = BTreeMap::new();
    let mut known = HashMap::new();
    for function in &functions {
        match other_version(&model, function) {
            Some(reason) => {
                let native = format!("{}::{}", domain(&function.domain), function.name);
                unread.insert(native, reason);
            }
            None => {
                known.insert(key(&function.domain, &function.name, &function.overload), function);
            }
        }
    }
    if let Some(graph) = &mut model.graph {
        let mut expansion = Expansion::new(&known, graph);
        for node in std::mem::take(&mut graph.nodes) {
            expansion.node(node, &mut Vec::new())?;
        }
        graph.nodes = expansion.made;
    }
    Ok((model, unread))
}

fn key<'a>(set: &'a str, name: &'a str, overload: &'a str) -> Key<'a> {
    (domain(set), name, overload)
}

/// Operator sets that only functions import are the model's own from then on.
fn adopt_versions(model: &mut Model, functions: &[Function]) {
    for set in functions.iter().flat_map(|function| &function.opset_import) {
        let same = |own: &super::proto::OperatorSet| domain(&own.domain) == domain(&set.domain);
        // A model that names no version at all is cut short, which must not be mended here.
        if !model.opset_import.is_empty() && !model.opset_import.iter().any(same) {
            model.opset_import.push(set.clone());
        }
    }
}

/// Says so if a function is written for another version of the operators than the model.
fn other_version(model: &Model, function: &Function) -> Option<String> {
    function.opset_import.iter().find_map(|set| {
        let same = |own: &&super::proto::OperatorSet| domain(&own.domain) == domain(&set.domain);
        let own = model.opset_import.iter().find(same).filter(|own| own.version != set.version)?;
        let (theirs, ours) = (set.version, own.version);
        Some(format!("it is written for version {theirs} of the operators, the model for {ours}"))
    })
}

struct Expansion<'a> {
    functions: &'a HashMap<Key<'a>, &'a Function>,
    /// Names of tensors and of the places of calls.
    names: HashSet<String>,
    made: Vec<Node>,
    size: usize,
    /// Numbers behind names given already.
    renamed: u64,
}

impl<'a> Expansion<'a> {
    fn new(functions: &'a HashMap<Key<'a>, &'a Function>, graph: &Graph) -> Self {
        let made = graph.nodes.iter().flat_map(|node| &node.outputs);
        let stored = graph.initializers.iter().map(|tensor| &tensor.name);
        let given = graph.inputs.iter().map(|input| &input.name);
        let names = made.chain(stored).chain(given).cloned().collect();
        Self { functions, names, made: Vec::with_capacity(graph.nodes.len()), size: 0, renamed: 0 }
    }

    fn node(&mut self, node: Node, inside: &mut Vec<Key<'a>>) -> Result<(), String> {
        let called = key(&node.domain, &node.op_type, &node.overload);
        // What the format defines itself goes before a function of that name.
        if let Some(function) = self.functions.get(&called).filter(|_| !called.0.is_empty()) {
            return self.call(&node, function, inside);
        }
        match rewrite::parts(&node) {
            Some(parts) => self.made.extend(parts),
            None => self.made.push(node),
        }
        Ok(())
    }

    fn call(
        &mut self,
        node: &Node,
        function: &'a Function,
        inside: &mut Vec<Key<'a>>,
    ) -> Result<(), String> {
        let called = key(&function.domain, &function.name, &function.overload);
        if inside.contains(&called) {
            return Err(format!("function `{}::{}` calls itself", called.0, called.1));
        }
        if inside.len() >= DEPTH_LIMIT {
            return Err(format!("functions call each other more than {DEPTH_LIMIT} deep"));
        }
        inside.push(called);
        let mut body = Body::new(node, function, self.place(node));
        for (index, inner) in function.nodes.iter().enumerate() {
            self.grow(body.size(inner))?;
            self.node(body.node(inner, index), inside)?;
        }
        for passed in body.passed_on() {
            self.node(passed, inside)?;
        }
        inside.pop();
        Ok(())
    }

    fn grow(&mut self, by: usize) -> Result<(), String> {
        self.size = self.size.saturating_add(by);
        if self.size > SIZE_LIMIT {
            return Err(format!("the calls of its functions come to more than {SIZE_LIMIT} bytes"));
        }
        Ok(())
    }

    /// What the names inside a call begin with.
    fn place(&mut self, node: &Node) -> String {
        let name = if node.name.is_empty() { &node.op_type } else { &node.name };
        let mut place = name.clone();
        while !self.names.insert(place.clone()) {
            self.renamed += 1;
            place = format!("{name}#{}", self.renamed);
        }
        place
    }
}

/// The body of a function at the place of a call.
struct Body<'a> {
    call: &'a Node,
    function: &'a Function,
    place: String,
    tensors: HashMap<&'a str, String>,
}

impl<'a> Body<'a> {
    fn new(call: &'a Node, function: &'a Function, place: String) -> Self {
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
        Self { call, function, place, tensors }
    }

    /// Bytes that a copy of a node takes.
    fn size(&self, inner: &Node) -> usize {
        let names = inner.inputs.iter().chain(&inner.outputs).map(|name| {
            let outside = self.tensors.get(name.as_str());
            outside.map_or(self.place.len() + name.len(), String::len)
        });
        let attributes = self.call.attributes.iter().chain(&self.function.defaults);
        let taken = attributes.filter(|a| inner.attributes.iter().any(|i| i.of_call == a.name));
        let taken: usize = taken.map(Message::encoded_len).sum();
        let names: usize = names.sum();
        NODE_SIZE
            .saturating_add(inner.encoded_len())
            .saturating_add(self.place.len())
            .saturating_add(names)
            .saturating_add(taken)
    }

    fn node(&mut self, inner: &'a Node, index: usize) -> Node {
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

    fn tensor(&mut self, name: &'a str) -> String {
        if name.is_empty() {
            return String::new();
        }
        let place = &self.place;
        self.tensors.entry(name).or_insert_with(|| format!("{place}/{name}")).clone()
    }

    /// An attribute of a node inside, which may stand for one of the call.
    fn attribute(&self, inner: &Attribute) -> Option<Attribute> {
        if inner.of_call.is_empty() {
            return Some(inner.clone());
        }
        let mut given = self.call.attributes.iter().chain(&self.function.defaults);
        let given = given.find(|attribute| attribute.name == inner.of_call)?;
        Some(Attribute { name: inner.name.clone(), ..given.clone() })
    }

    /// Outputs that are inputs handed through.
    fn passed_on(&self) -> Vec<Node> {
        let ports = self.function.outputs.iter().zip(&self.call.outputs);
        let handed = ports
            .filter(|(formal, actual)| self.function.inputs.contains(formal) && !actual.is_empty());
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
