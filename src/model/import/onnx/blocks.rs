//! Weights of few bits as ONNX Runtime packs them into bytes, with a scale for each block of a row.
//! They get the extents and the type that they stand for; their numbers stay as they are.

use super::domain;
use super::names::Names;
use super::proto::{Attribute, Graph, Node, Tensor};
use super::value::{INT4, UINT4};
use std::collections::{HashMap, HashSet};

/// The product with such weights.
pub(super) const MATRIX: &str = "com.microsoft::MatMulNBits";

/// The operators that read them.
const OPERATORS: [&str; 2] = ["MatMulNBits", "GatherBlockQuantized"];

/// `TensorProto.UINT8` and `INT8`.
const UINT8: i32 = 2;
const INT8: i32 = 3;

/// What a node takes a stored tensor for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Rows of `depth` weights of so many bits, padded to whole blocks.
    Matrix { rows: i64, depth: i64, bits: i64, block: i64 },
    /// Two elements of four bits a byte along the last axis.
    Pairs,
    /// The tensor as it is stored.
    Plain,
}

/// Gives packed weights their extents, and replaces the operators that pick rows of them.
pub(super) fn unpack(graph: &mut Graph, names: &mut Names) {
    let packed = |node: &Node| OPERATORS.iter().any(|op_type| is_vendor(node, op_type));
    if !graph.nodes.iter().any(packed) {
        return;
    }
    let uses = uses(&graph.nodes);
    let mut pairs = HashSet::new();
    for tensor in &mut graph.initializers {
        retype(tensor, uses.get(tensor.name.as_str()).copied().unwrap_or(Use::Plain));
        if matches!(tensor.data_type, UINT4 | INT4) {
            pairs.insert(tensor.name.clone());
        }
    }
    let mut nodes = Vec::with_capacity(graph.nodes.len());
    for node in std::mem::take(&mut graph.nodes) {
        let stored = node.inputs.first().is_some_and(|name| pairs.contains(name));
        let known = stored || int(&node, "bits", 4) == 8;
        match is_vendor(&node, "GatherBlockQuantized") && known {
            true => nodes.extend(picked(&node, names)),
            false => nodes.push(node),
        }
    }
    graph.nodes = nodes;
}

/// How each tensor is read; what is read in two ways is taken as it is stored.
fn uses(nodes: &[Node]) -> HashMap<String, Use> {
    let mut uses = HashMap::new();
    for node in nodes {
        for (port, name) in node.inputs.iter().enumerate() {
            let this = usage(node, port);
            let known = uses.entry(name.clone()).or_insert(this);
            if *known != this {
                *known = Use::Plain;
            }
        }
    }
    uses
}

fn usage(node: &Node, port: usize) -> Use {
    if port == 1 && is_vendor(node, "MatMulNBits") {
        let of = |name| int(node, name, 0);
        let bits = int(node, "bits", 4);
        return Use::Matrix { rows: of("N"), depth: of("K"), bits, block: of("block_size") };
    }
    let four_bits = int(node, "bits", 4) == 4;
    match port == 0 && four_bits && is_vendor(node, "GatherBlockQuantized") {
        true => Use::Pairs,
        false => Use::Plain,
    }
}

fn is_vendor(node: &Node, op_type: &str) -> bool {
    node.op_type == op_type && domain(&node.domain) == "com.microsoft"
}

fn int(node: &Node, name: &str, default: i64) -> i64 {
    node.attributes.iter().find(|a| a.name == name).map_or(default, |a| a.int)
}

fn retype(tensor: &mut Tensor, seen: Use) {
    match seen {
        Use::Matrix { rows, depth, bits, block } if is_packed(tensor, rows, depth, bits, block) => {
            tensor.dims = vec![rows, depth];
            tensor.data_type = if bits == 4 { UINT4 } else { INT8 };
            // Numbers between padding are not those of the matrix alone.
            if depth % block != 0 {
                let (name, data_type) = (std::mem::take(&mut tensor.name), tensor.data_type);
                let dims = std::mem::take(&mut tensor.dims);
                *tensor = Tensor { name, data_type, dims, ..Tensor::default() };
            }
        }
        Use::Pairs if tensor.data_type == UINT8 => {
            if let Some(last) = tensor.dims.last_mut() {
                *last = last.saturating_mul(2);
                tensor.data_type = UINT4;
            }
        }
        _ => {}
    }
}

/// Whether a tensor of bytes holds as many as the blocks of a matrix take.
fn is_packed(tensor: &Tensor, rows: i64, depth: i64, bits: i64, block: i64) -> bool {
    let sound = matches!(bits, 4 | 8) && rows > 0 && depth > 0 && block > 0 && block % 2 == 0;
    if !sound || !matches!(tensor.data_type, UINT8 | INT8) {
        return false;
    }
    let blocks = (depth - 1) / block + 1;
    let needed =
        [rows, blocks, block / 2, bits / 4].iter().try_fold(1i64, |n, e| n.checked_mul(*e));
    let held = tensor.dims.iter().try_fold(1i64, |n, e| n.checked_mul(*e));
    needed.is_some() && needed == held
}

/// Rows of the weights, of their scales and zero points, and the numbers that they make together.
fn picked(node: &Node, names: &mut Names) -> Vec<Node> {
    let input = |port: usize| node.inputs.get(port).filter(|name| !name.is_empty());
    let setting = |name: &str, int| Attribute { name: name.into(), int, ..Attribute::default() };
    let mut parts = Vec::new();
    let mut dequantise = Node {
        name: node.name.clone(),
        op_type: "DequantizeLinear".to_owned(),
        outputs: node.outputs.clone(),
        attributes: vec![
            setting("axis", int(node, "quantize_axis", 1)),
            setting("block_size", int(node, "block_size", 128)),
        ],
        ..Node::default()
    };
    for (port, what) in [(0, "rows"), (2, "scales"), (3, "zero_points")] {
        let Some(table) = input(port) else { continue };
        let made = node.outputs.first().map_or("", String::as_str);
        let made = names.fresh(&format!("{made}/{what}"));
        dequantise.inputs.push(made.clone());
        parts.push(Node {
            name: format!("{}/{what}", node.name),
            op_type: "Gather".to_owned(),
            inputs: std::iter::once(table).chain(input(1)).cloned().collect(),
            outputs: vec![made],
            attributes: vec![setting("axis", int(node, "gather_axis", 0))],
            ..Node::default()
        });
    }
    parts.push(dequantise);
    parts
}
