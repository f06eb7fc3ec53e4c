//! Operators that the format itself defines by others, where that tells their work apart.

mod fused;

use super::names::Names;
use super::proto::{Attribute, Node};

/// The nodes that a node stands for; `None` if it stands for itself.
pub(super) fn parts(node: &Node, names: &mut Names) -> Option<Vec<Node>> {
    match (super::domain(&node.domain), node.op_type.as_str()) {
        ("", "SoftmaxCrossEntropyLoss") => Some(cross_entropy(node, names)),
        ("", "SwiGLU") => Some(gated(node, names)),
        _ if many(node).is_some() => Some(pairs(node, names)),
        _ => fused::parts(node, names),
    }
}

/// As how many nodes one stands that may stand for any number.
pub(super) fn many(node: &Node) -> Option<usize> {
    let operands = node.inputs.len();
    let adds_up = matches!(node.op_type.as_str(), "Sum" | "Max" | "Min" | "Mean");
    (adds_up && super::domain(&node.domain).is_empty() && operands > 2).then_some(operands)
}

/// Logarithms of the classes' probabilities, and the loss of the true ones.
fn cross_entropy(node: &Node, names: &mut Names) -> Vec<Node> {
    let logarithms = named(node.outputs.get(1), node, "log_prob", names);
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
fn gated(node: &Node, names: &mut Names) -> Vec<Node> {
    let gate = named(None, node, "gate", names);
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

/// More than two operands two by two, since each pair is an operation. A mean is divided at the end.
fn pairs(node: &Node, names: &mut Names) -> Vec<Node> {
    let is_mean = node.op_type == "Mean";
    let function = if is_mean { "Sum" } else { &node.op_type };
    let mut operands = node.inputs.iter();
    let mut so_far = operands.next().cloned().unwrap_or_default();
    let mut parts = Vec::with_capacity(node.inputs.len());
    let last = node.inputs.len().saturating_sub(2);
    for (number, operand) in operands.enumerate() {
        // The last one makes what the file names.
        let made = match (number == last && !is_mean, node.outputs.first()) {
            (true, Some(output)) => output.clone(),
            _ => named(None, node, &(number + 1).to_string(), names),
        };
        let name = format!("{}/{}", node.name, number + 1);
        let inputs = vec![so_far, operand.clone()];
        so_far = made.clone();
        parts.push(Node { inputs, outputs: vec![made], name, ..part(node, function) });
    }
    if is_mean {
        parts.push(Node { inputs: vec![so_far], ..part(node, "Mean") });
    }
    // The last one is the operator that the file names.
    if let Some(last) = parts.last_mut() {
        last.name.clone_from(&node.name);
        last.outputs.clone_from(&node.outputs);
    }
    parts
}

fn part(node: &Node, op_type: &str) -> Node {
    let name = format!("{}/{op_type}", node.name);
    Node { name, op_type: op_type.to_owned(), ..Node::default() }
}

/// A tensor between the parts, called after what the node makes unless it has a name already.
fn named(given: Option<&String>, node: &Node, what: &str, names: &mut Names) -> String {
    let made = node.outputs.first().map_or("", String::as_str);
    let given = given.filter(|name| !name.is_empty()).cloned();
    given.unwrap_or_else(|| names.fresh(&format!("{made}/{what}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(op_type: &str, inputs: &[&str], outputs: &[&str]) -> Node {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Node {
            op_type: op_type.into(),
            name: "n".into(),
            inputs: names(inputs),
            outputs: names(outputs),
            ..Node::default()
        }
    }

    /// Each part as `name: outputs = type(inputs)`.
    fn shown(node: &Node) -> Vec<String> {
        let parts = parts(node, &mut Names::default()).unwrap_or_default();
        let part = |p: &Node| {
            let (outputs, inputs) = (p.outputs.join(","), p.inputs.join(","));
            format!("{}: {outputs} = {}({inputs})", p.name, p.op_type)
        };
        parts.iter().map(part).collect()
    }

    #[test]
    fn operands_are_taken_two_by_two() {
        let sum = ["n/1: y/1 = Sum(a,b)", "n: y = Sum(y/1,c)"];
        assert_eq!(shown(&node("Sum", &["a", "b", "c"], &["y"])), sum);
        let mean = ["n/1: y/1 = Sum(a,b)", "n/2: y/2 = Sum(y/1,c)", "n: y = Mean(y/2)"];
        assert_eq!(shown(&node("Mean", &["a", "b", "c"], &["y"])), mean);
        assert!(parts(&node("Sum", &["a", "b"], &["y"]), &mut Names::default()).is_none());
    }

    #[test]
    fn a_loss_is_taken_from_logarithms_that_may_be_an_output() {
        let loss = node("SoftmaxCrossEntropyLoss", &["x", "t", "w"], &["y", "p"]);
        let parts = [
            "n/LogSoftmax: p = LogSoftmax(x)",
            "n/NegativeLogLikelihoodLoss: y = NegativeLogLikelihoodLoss(p,t,w)",
        ];
        assert_eq!(shown(&loss), parts);
        let loss = node("SoftmaxCrossEntropyLoss", &["x", "t"], &["y"]);
        assert_eq!(shown(&loss)[0], "n/LogSoftmax: y/log_prob = LogSoftmax(x)");
    }

    #[test]
    fn a_gate_is_an_activation_and_a_product() {
        let parts = ["n/Swish: y/gate = Swish(a)", "n/Mul: y = Mul(y/gate,b)"];
        assert_eq!(shown(&node("SwiGLU", &["a", "b"], &["y"])), parts);
    }

    #[test]
    fn operators_of_other_domains_are_left_alone() {
        let vendor = Node { domain: "acme".into(), ..node("SwiGLU", &["a", "b"], &["y"]) };
        assert!(parts(&vendor, &mut Names::default()).is_none());
    }
}
