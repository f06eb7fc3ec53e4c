//! What the bodies of control flow say of the outputs of its node.

use super::branches;
use super::node::{Node, axis};
use super::proto::{self, Graph, ValueInfo};
use crate::model::Shape;

/// What one body states of an output of the node.
pub(super) struct Stated<'a> {
    pub info: &'a ValueInfo,
    /// An axis that the node puts in, and its extent.
    along: Option<(usize, u64)>,
}

impl Stated<'_> {
    /// The shape at the node, from the one in the body.
    pub fn shape(&self, mut inner: Shape) -> Option<Shape> {
        if let Some((at, extent)) = self.along {
            if at > inner.rank() {
                return None;
            }
            inner.0.insert(at, extent);
        }
        Some(inner)
    }
}

/// The statements on each output of `If`, `Loop` and `Scan`; where several are made they have to
/// agree.
pub(super) fn stated<'a>(proto: &'a proto::Node, node: &Node<'_>) -> Vec<Vec<Stated<'a>>> {
    let body = |name: &str| {
        let attribute = proto.attributes.iter().find(|a| a.name == name);
        attribute.and_then(|a| a.graph.as_deref())
    };
    let outputs = 0..proto.outputs.len();
    match node.native {
        "If" => {
            let branches = [true, false].map(|condition| body(branches::name(condition)));
            let [Some(one), Some(other)] = branches else { return Vec::new() };
            outputs
                .map(|port| [one, other].iter().filter_map(|b| plain(b, port)).collect())
                .collect()
        }
        "Loop" => {
            let Some(body) = body("body") else { return Vec::new() };
            // Behind the condition; what is collected has as many rows as the loop has rounds.
            let carried = proto.inputs.len().saturating_sub(2);
            let stated = |port: usize| (port < carried).then(|| plain(body, port + 1)).flatten();
            outputs.map(|port| stated(port).into_iter().collect()).collect()
        }
        "Scan" if node.opset >= 9 => {
            let Some(body) = body("body") else { return Vec::new() };
            outputs.map(|port| scanned(node, body, port).into_iter().collect()).collect()
        }
        _ => Vec::new(),
    }
}

fn plain(body: &Graph, port: usize) -> Option<Stated<'_>> {
    Some(Stated { info: body.outputs.get(port)?, along: None })
}

/// A state, or what each step gives put one behind the other.
fn scanned<'a>(node: &Node<'_>, body: &'a Graph, port: usize) -> Option<Stated<'a>> {
    let sequences = usize::try_from(node.int("num_scan_inputs", 0)).ok()?;
    let states = node.inputs.len().checked_sub(sequences)?;
    let info = body.outputs.get(port)?;
    let Some(collected) = port.checked_sub(states) else {
        return Some(Stated { info, along: None });
    };
    let first = node.shape(states)?;
    let listed = |name: &str, at: usize| node.ints(name).and_then(|axes| axes.get(at)).copied();
    let read = axis(listed("scan_input_axes", 0).unwrap_or(0), first.rank()).ok()?;
    let at = usize::try_from(listed("scan_output_axes", collected).unwrap_or(0)).ok()?;
    Some(Stated { info, along: Some((at, first.extent(read))) })
}
