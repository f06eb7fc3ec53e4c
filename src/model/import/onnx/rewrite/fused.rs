//! Operators of ONNX Runtime that are several of the format's own in one.

use super::{named, part};
use crate::model::import::onnx::domain;
use crate::model::import::onnx::names::Names;
use crate::model::import::onnx::proto::{Attribute, Node};

/// The nodes that a fused node stands for; `None` if it stands for itself.
pub(super) fn parts(node: &Node, names: &mut Names) -> Option<Vec<Node>> {
    let has = |port: usize| input(node, port).is_some();
    match (domain(&node.domain), node.op_type.as_str()) {
        ("com.microsoft", "SkipLayerNormalization") => {
            Some(skipped(node, names, "LayerNormalization", [Some(2), Some(3)], 4))
        }
        ("com.microsoft", "SkipSimplifiedLayerNormalization") => {
            Some(skipped(node, names, "SimplifiedLayerNormalization", [Some(2), None], 3))
        }
        ("com.microsoft", "EmbedLayerNormalization") => Some(embedded(node, names)),
        ("com.microsoft", "FusedConv") if has(3) => Some(added(node, names)),
        ("com.microsoft", "BiasGelu" | "FastGelu") if has(1) => Some(biased(node, names)),
        ("com.microsoft", "FusedMatMul" | "FusedGemm") | ("", "Gemm") => scaled(node, names),
        _ => None,
    }
}

fn input(node: &Node, port: usize) -> Option<&String> {
    node.inputs.get(port).filter(|name| !name.is_empty())
}

fn sum(node: &Node, name: &str, operands: [&String; 2], made: String) -> Node {
    Node {
        name: format!("{}/{name}", node.name),
        inputs: operands.map(String::clone).to_vec(),
        outputs: vec![made],
        ..part(node, "Add")
    }
}

/// What skips the layer is added, and a bias if there is one; the sum, which may be an output, is
/// normalised.
fn skipped(
    node: &Node,
    names: &mut Names,
    normalisation: &str,
    settings: [Option<usize>; 2],
    bias: usize,
) -> Vec<Node> {
    let whole = named(node.outputs.get(3), node, "sum", names);
    let nothing = String::new();
    let operands = [0, 1].map(|port| input(node, port).unwrap_or(&nothing));
    let mut parts = Vec::new();
    match input(node, bias) {
        None => parts.push(sum(node, "Add", operands, whole.clone())),
        Some(bias) => {
            let before = named(None, node, "skip", names);
            parts.push(sum(node, "Add", operands, before.clone()));
            parts.push(sum(node, "bias", [&before, bias], whole.clone()));
        }
    }
    parts.push(normalised(node, normalisation, whole, settings, 3));
    parts
}

/// Normalisation along the last axis, the part that has the name of the operator.
fn normalised(
    node: &Node,
    op_type: &str,
    data: String,
    settings: [Option<usize>; 2],
    outputs: usize,
) -> Node {
    let setting = |port: &Option<usize>| input(node, (*port)?).cloned();
    let stored = settings.iter().map(|port| setting(port).unwrap_or_default());
    let mut inputs: Vec<String> = std::iter::once(data).chain(stored).collect();
    while inputs.last().is_some_and(String::is_empty) {
        inputs.pop();
    }
    let outputs = node.outputs.iter().take(outputs).cloned().collect();
    Node { name: node.name.clone(), inputs, outputs, ..part(node, op_type) }
}

/// Rows for words, places and segments are added up and normalised. Without given places there is
/// one for each word all the same.
fn embedded(node: &Node, names: &mut Names) -> Vec<Node> {
    let words = 0;
    let places = if input(node, 8).is_some() { 8 } else { words };
    let tables = [("words", 2, words), ("places", 3, places), ("segments", 4, 1)];
    let mut parts = Vec::new();
    let mut so_far: Option<String> = None;
    let given = |(_, table, indices): &(&str, usize, usize)| {
        input(node, *table).cloned().zip(input(node, *indices).cloned())
    };
    let count = tables.iter().filter(|table| given(table).is_some()).count();
    for (at, table) in tables.iter().filter(|table| given(table).is_some()).enumerate() {
        let Some((rows, indices)) = given(table) else { continue };
        let what = table.0;
        let picked = named(None, node, what, names);
        let gather = Node { inputs: vec![rows, indices], ..part(node, "Gather") };
        let name = format!("{}/{what}", node.name);
        parts.push(Node { name, outputs: vec![picked.clone()], ..gather });
        so_far = Some(match &so_far {
            None => picked,
            Some(before) => {
                let last = node.outputs.get(2).filter(|_| at + 1 == count);
                let made = named(last, node, &format!("with_{what}"), names);
                parts.push(sum(node, &format!("Add_{what}"), [before, &picked], made.clone()));
                made
            }
        });
    }
    let whole = so_far.unwrap_or_default();
    parts.push(normalised(node, "LayerNormalization", whole, [Some(5), Some(6)], 1));
    parts.extend(lengths(node));
    parts
}

/// How many words of each sample are none of padding.
fn lengths(node: &Node) -> Option<Node> {
    let made = node.outputs.get(1).filter(|name| !name.is_empty())?;
    let axis = Attribute { name: "axes".into(), ints: vec![1], ..Attribute::default() };
    let flat = Attribute { name: "keepdims".into(), ..Attribute::default() };
    // Without a mask the length of the words themselves is asked for.
    let mask = input(node, 7).or(input(node, 0))?;
    Some(Node {
        name: format!("{}/lengths", node.name),
        inputs: vec![mask.clone()],
        outputs: vec![made.clone()],
        attributes: vec![axis, flat],
        ..part(node, "ReduceSum")
    })
}

/// A convolution to whose result another tensor is added before its activation.
fn added(node: &Node, names: &mut Names) -> Vec<Node> {
    let fused = |a: &&Attribute| a.name.starts_with("activation");
    let activation = node.attributes.iter().find(|a| a.name == "activation");
    let activation = activation.map(|a| String::from_utf8_lossy(&a.text).into_owned());
    let convolved = named(None, node, "convolved", names);
    let mut convolution = Node {
        name: format!("{}/FusedConv", node.name),
        inputs: node.inputs.iter().take(3).cloned().collect(),
        outputs: vec![convolved.clone()],
        attributes: node.attributes.iter().filter(|a| !fused(a)).cloned().collect(),
        ..part(node, "FusedConv")
    };
    convolution.domain.clone_from(&node.domain);
    let other = input(node, 3).cloned().unwrap_or_default();
    let made = node.outputs.first().cloned().unwrap_or_default();
    let Some(activation) = activation.filter(|name| !name.is_empty()) else {
        let last = Node { name: node.name.clone(), ..sum(node, "", [&convolved, &other], made) };
        return vec![convolution, last];
    };
    let whole = named(None, node, "sum", names);
    let add = sum(node, "Add", [&convolved, &other], whole.clone());
    let last = Node { inputs: vec![whole], outputs: vec![made], ..part(node, &activation) };
    vec![convolution, add, Node { name: node.name.clone(), ..last }]
}

/// A bias is added before the activation.
fn biased(node: &Node, names: &mut Names) -> Vec<Node> {
    let nothing = String::new();
    let operands = [0, 1].map(|port| input(node, port).unwrap_or(&nothing));
    let whole = named(None, node, "sum", names);
    let add = sum(node, "Add", operands, whole.clone());
    let mut activation = Node {
        name: node.name.clone(),
        inputs: vec![whole],
        outputs: node.outputs.clone(),
        ..part(node, if node.op_type == "FastGelu" { "FastGelu" } else { "Gelu" })
    };
    activation.domain.clone_from(&node.domain);
    vec![add, activation]
}

/// A product that is scaled, and what is added to it: each factor is a multiplication of every
/// element. In whichever order it is done, there are as many.
fn scaled(node: &Node, names: &mut Names) -> Option<Vec<Node>> {
    let factor = |name: &str| {
        node.attributes.iter().find(|a| a.name == name).is_some_and(|a| a.float != 1.0)
    };
    let of_bias = factor("beta") && input(node, 2).is_some();
    if !factor("alpha") && !of_bias {
        return None;
    }
    let mut product = node.clone();
    product.attributes.retain(|a| !matches!(a.name.as_str(), "alpha" | "beta"));
    let mut parts = Vec::new();
    if let Some(bias) = product.inputs.get_mut(2).filter(|_| of_bias) {
        let made = named(None, node, "scaled_bias", names);
        let before = std::mem::replace(bias, made.clone());
        let name = format!("{}/scaled_bias", node.name);
        parts.push(Node { name, inputs: vec![before], outputs: vec![made], ..part(node, "Mul") });
    }
    if !factor("alpha") {
        parts.push(product);
        return Some(parts);
    }
    let made = named(None, node, "product", names);
    product.outputs = vec![made.clone()];
    parts.push(product);
    parts.push(Node { inputs: vec![made], outputs: node.outputs.clone(), ..part(node, "Mul") });
    Some(parts)
}
