//! Operators that the format itself defines by others, where that tells their work apart.

use super::proto::{Attribute, Node};

/// The nodes that a node stands for; `None` if it stands for itself.
pub(super) fn parts(node: &Node) -> Option<Vec<Node>> {
    match (super::domain(&node.domain), node.op_type.as_str()) {
        ("", "SoftmaxCrossEntropyLoss") => Some(cross_entropy(node)),
        ("", "SwiGLU") => Some(gated(node)),
        _ => None,
    }
}

/// Logarithms of the classes' probabilities, and the loss of the true ones.
fn cross_entropy(node: &Node) -> Vec<Node> {
    let logarithms = named(node.outputs.get(1), node, "log_prob");
    let class_axis = Attribute { name: "axis".into(), int: 1, ..Attribute::default() };
    let mut inputs = node.inputs.clone();
    if let Some(scores) = inputs.first_mut() {
        scores.clone_from(&logarithms);
    }
    let softmax = Node {
        inputs: node.inputs.iter().take(1).cloned().collect(),
        outputs: vec![logarithms],
        attributes: vec![class_axis],
        ..part(node, "LogSoftmax")
    };
    let loss = Node {
        inputs,
        outputs: node.outputs.iter().take(1).cloned().collect(),
        attributes: node.attributes.clone(),
        ..part(node, "NegativeLogLikelihoodLoss")
    };
    vec![softmax, loss]
}

/// The first operand activated, times the second.
fn gated(node: &Node) -> Vec<Node> {
    let gate = named(None, node, "gate");
    let swish = Node {
        inputs: node.inputs.iter().take(1).cloned().collect(),
        outputs: vec![gate.clone()],
        attributes: node.attributes.clone(),
        ..part(node, "Swish")
    };
    let product = Node {
        inputs: std::iter::once(gate).chain(node.inputs.get(1).cloned()).collect(),
        outputs: node.outputs.clone(),
        ..part(node, "Mul")
    };
    vec![swish, product]
}

fn part(node: &Node, op_type: &str) -> Node {
    let name = match node.name.as_str() {
        "" => String::new(),
        name => format!("{name}/{op_type}"),
    };
    Node { name, op_type: op_type.to_owned(), ..Node::default() }
}

/// A tensor between the parts, called after what the node makes unless it has a name already.
fn named(given: Option<&String>, node: &Node, what: &str) -> String {
    let made = node.outputs.first().map_or("", String::as_str);
    given.filter(|name| !name.is_empty()).cloned().unwrap_or_else(|| format!("{made}/{what}"))
}
