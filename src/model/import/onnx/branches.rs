//! `If` whose condition is known before the network runs: the branch that is taken stands in its
//! place. Exporters write many of them around shapes.

use super::names::Names;
use super::proto::{Attribute, Graph, Node, Tensor};
use std::collections::{BTreeMap, HashMap};

/// Rounds of choosing, since a branch may hold further ones.
pub(super) const ROUNDS: usize = 32;

/// Letters of an `If` that stand in front of each name of its branch.
const PLACE_LENGTH: usize = 80;

/// Replaces nodes by the branch that their condition takes.
pub(super) fn choose(graph: &mut Graph, taken: &BTreeMap<usize, bool>, names: &mut Names) {
    let nodes = std::mem::take(&mut graph.nodes);
    for (index, mut node) in nodes.into_iter().enumerate() {
        match taken.get(&index).and_then(|condition| branch(&mut node, *condition)) {
            Some(body) => enter(graph, &node, index, body, names),
            None => graph.nodes.push(node),
        }
    }
}

/// Whether the branch of a condition is there.
pub(super) fn has_branch(node: &Node, condition: bool) -> bool {
    node.attributes.iter().any(|a| a.name == name(condition) && a.graph.is_some())
}

/// The attribute that holds the branch of a condition.
pub(super) fn name(condition: bool) -> &'static str {
    if condition { "then_branch" } else { "else_branch" }
}

fn branch(node: &mut Node, condition: bool) -> Option<Graph> {
    let attribute = node.attributes.iter_mut().find(|a| a.name == name(condition))?;
    attribute.graph.take().map(|graph| *graph)
}

/// The body's nodes and constants, under names of their own.
fn enter(graph: &mut Graph, node: &Node, index: usize, body: Graph, names: &mut Names) {
    let place = match node.name.as_str() {
        "" => format!("If_{index}"),
        name => format!("{}#{index}", name.chars().take(PLACE_LENGTH).collect::<String>()),
    };
    let own = own_names(&body);
    let renamed: HashMap<&str, String> =
        own.iter().map(|name| (name.as_str(), names.fresh(&format!("{place}/{name}")))).collect();
    let outputs: Vec<String> =
        body.outputs.iter().map(|output| current(&renamed, &output.name)).collect();
    for tensor in body.initializers {
        let name = current(&renamed, &tensor.name);
        graph.initializers.push(Tensor { name, ..tensor });
    }
    for mut sparse in body.sparse_initializers {
        if let Some(values) = &mut sparse.values {
            values.name = current(&renamed, &values.name);
        }
        graph.sparse_initializers.push(sparse);
    }
    // What the body states of its own tensors, its results among them.
    for mut info in body.value_info.into_iter().chain(body.outputs) {
        if let Some(name) = renamed.get(info.name.as_str()) {
            info.name.clone_from(name);
            graph.value_info.push(info);
        }
    }
    for (inner, mut made) in body.nodes.into_iter().enumerate() {
        made.name = match made.name.as_str() {
            "" => format!("{place}/{}_{inner}", made.op_type),
            name => format!("{place}/{name}"),
        };
        rename(&mut made, &renamed);
        graph.nodes.push(made);
    }
    for (result, made) in node.outputs.iter().zip(outputs).filter(|(name, _)| !name.is_empty()) {
        graph.nodes.push(Node {
            name: format!("{place}/{result}"),
            op_type: "Identity".to_owned(),
            inputs: vec![made],
            outputs: vec![result.clone()],
            ..Node::default()
        });
    }
}

/// What a body makes or stores itself; all else comes from outside.
fn own_names(body: &Graph) -> Vec<String> {
    let made = body.nodes.iter().flat_map(|node| &node.outputs);
    let stored = body.initializers.iter().map(|tensor| &tensor.name);
    let sparse = body.sparse_initializers.iter().filter_map(|s| Some(&s.values.as_ref()?.name));
    made.chain(stored).chain(sparse).filter(|name| !name.is_empty()).cloned().collect()
}

fn current(renamed: &HashMap<&str, String>, name: &str) -> String {
    renamed.get(name).cloned().unwrap_or_else(|| name.to_owned())
}

/// Renames what a node reads and makes, in the bodies inside of it too, which see the same names.
fn rename(node: &mut Node, renamed: &HashMap<&str, String>) {
    for name in node.inputs.iter_mut().chain(&mut node.outputs) {
        if let Some(new) = renamed.get(name.as_str()) {
            name.clone_from(new);
        }
    }
    for attribute in &mut node.attributes {
        rename_inside(attribute, renamed);
    }
}

/// The format allows no name of a body to be one from outside, so that nothing is hidden by another.
pub(super) fn rename_inside(attribute: &mut Attribute, renamed: &HashMap<&str, String>) {
    let Some(body) = &mut attribute.graph else { return };
    for node in &mut body.nodes {
        rename(node, renamed);
    }
    for output in &mut body.outputs {
        if let Some(new) = renamed.get(output.name.as_str()) {
            output.name.clone_from(new);
        }
    }
}
