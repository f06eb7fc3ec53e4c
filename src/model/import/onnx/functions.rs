//! Functions that a file brings along: each call is replaced by the nodes of the body.
//!
//! A body may call other functions, so that a short file can ask for any number of nodes: their depth
//! and size together are bounded, and a function that calls itself is refused.

mod body;

use super::names::Names;
use super::proto::{Function, Graph, Node, OperatorSet};
use super::{domain, rewrite};
use body::Body;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// More calls inside each other than exporters write.
const DEPTH_LIMIT: usize = 32;

/// Bytes that copied bodies may come to, more than the largest real networks need.
const SIZE_LIMIT: usize = 1 << 27;

/// What a node takes beside its names and attributes.
const NODE_SIZE: usize = 256;

/// Domain, name and overload.
type Key<'a> = (&'a str, &'a str, &'a str);

/// The functions of a file.
pub(super) struct Functions<'a> {
    known: HashMap<Key<'a>, &'a Function>,
    /// Those whose calls are not replaced, and why.
    pub unread: BTreeMap<String, String>,
    /// Bytes of all that was copied so far.
    size: usize,
}

impl<'a> Functions<'a> {
    /// The functions that are written for the operators of the model. Operator sets that only
    /// functions import are the model's own from then on.
    pub fn new(functions: &'a [Function], sets: &mut Vec<OperatorSet>) -> Self {
        adopt_versions(sets, functions);
        let versions = sets.iter().map(|set| (domain(&set.domain), set.version)).collect();
        let (mut known, mut unread) = (HashMap::new(), BTreeMap::new());
        for function in functions {
            match other_version(&versions, function) {
                Some(reason) => {
                    let native = format!("{}::{}", domain(&function.domain), function.name);
                    unread.insert(native, reason);
                }
                None => {
                    known.insert(
                        key(&function.domain, &function.name, &function.overload),
                        function,
                    );
                }
            }
        }
        Self { known, unread, size: 0 }
    }

    /// Replaces all calls in a graph, and the operators that the format defines by others.
    pub fn inline(&mut self, graph: &mut Graph, names: &mut Names) -> Result<(), String> {
        let nodes = std::mem::take(&mut graph.nodes);
        let made = Vec::with_capacity(nodes.len());
        let mut expansion = Expansion { functions: self, names, made };
        for (index, mut node) in nodes.into_iter().enumerate() {
            if node.name.is_empty() {
                // Its place in the file, which what comes before it may move.
                node.name = format!("{}_{index}", node.op_type);
            }
            expansion.node(node, &mut Vec::new())?;
        }
        graph.nodes = expansion.made;
        Ok(())
    }
}

fn key<'a>(set: &'a str, name: &'a str, overload: &'a str) -> Key<'a> {
    (domain(set), name, overload)
}

fn adopt_versions(sets: &mut Vec<OperatorSet>, functions: &[Function]) {
    // A model that names no version at all is cut short, which must not be mended here.
    if sets.is_empty() {
        return;
    }
    let mut own: BTreeSet<String> = sets.iter().map(|set| domain(&set.domain).to_owned()).collect();
    for set in functions.iter().flat_map(|function| &function.opset_import) {
        if own.insert(domain(&set.domain).to_owned()) {
            sets.push(set.clone());
        }
    }
}

/// Says so if a function is written for another version of the operators than the model.
fn other_version(versions: &HashMap<&str, i64>, function: &Function) -> Option<String> {
    function.opset_import.iter().find_map(|set| {
        let ours = versions.get(domain(&set.domain)).filter(|ours| **ours != set.version)?;
        let theirs = set.version;
        Some(format!("it is written for version {theirs} of the operators, the model for {ours}"))
    })
}

struct Expansion<'a, 'f> {
    functions: &'a mut Functions<'f>,
    /// Names of tensors and of the places of calls.
    names: &'a mut Names,
    made: Vec<Node>,
}

impl<'f> Expansion<'_, 'f> {
    fn node(&mut self, node: Node, inside: &mut Vec<Key<'f>>) -> Result<(), String> {
        let called = key(&node.domain, &node.op_type, &node.overload);
        // What the format defines itself goes before a function of that name.
        let function = self.functions.known.get(&called).filter(|_| !called.0.is_empty());
        if let Some(function) = function.copied() {
            return self.call(&node, function, inside);
        }
        if let Some(parts) = rewrite::many(&node) {
            let made = node.outputs.first().map_or(0, String::len);
            let each = NODE_SIZE.saturating_add(node.name.len()).saturating_add(made);
            self.grow(each.saturating_mul(parts))?;
        }
        match rewrite::parts(&node, self.names) {
            Some(parts) => self.made.extend(parts),
            None => self.made.push(node),
        }
        Ok(())
    }

    fn call(
        &mut self,
        node: &Node,
        function: &'f Function,
        inside: &mut Vec<Key<'f>>,
    ) -> Result<(), String> {
        let called = key(&function.domain, &function.name, &function.overload);
        if inside.contains(&called) {
            return Err(format!("function `{}::{}` calls itself", called.0, called.1));
        }
        if inside.len() >= DEPTH_LIMIT {
            return Err(format!("functions call each other more than {DEPTH_LIMIT} deep"));
        }
        inside.push(called);
        let place = self.names.fresh(&node.name);
        let mut body = Body::new(node, function, place);
        self.grow(body.size())?;
        body.name_inner(self.names);
        for (index, inner) in function.nodes.iter().enumerate() {
            self.node(body.node(inner, index), inside)?;
        }
        for passed in body.passed_on() {
            self.node(passed, inside)?;
        }
        inside.pop();
        Ok(())
    }

    fn grow(&mut self, by: usize) -> Result<(), String> {
        let size = &mut self.functions.size;
        *size = size.saturating_add(by);
        if *size > SIZE_LIMIT {
            return Err(format!("the calls of its functions come to more than {SIZE_LIMIT} bytes"));
        }
        Ok(())
    }
}
