//! Operators that are several layers: recurrent networks and attention.
//!
//! Their parts stand in the graph under the operator's own name and type, so that energy per layer
//! still follows the file: `name.input` and `name.recurrence`; `name.scores`, `name.softmax`,
//! `name.context`.

mod attention;
mod enter;
mod recurrent;

use super::node::Node;
use crate::model::{Op, Shape};

/// Where a part takes an operand from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// An input of the operator, if it is given.
    Port(usize),
    /// What an earlier part makes.
    Part(usize),
    /// An optional operand that is left out.
    Nothing,
}

/// What a part makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Makes {
    /// A tensor between parts.
    Inner(Shape),
    /// Outputs of the operator, of which those left out are skipped.
    Ports(Vec<usize>),
}

/// One part of a composite operator.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    /// Its name behind that of the operator.
    pub suffix: &'static str,
    pub op: Op,
    pub inputs: Vec<Source>,
    pub makes: Makes,
    /// True for a product whose stored weights are `[K, N]`.
    pub turned: bool,
}

impl Part {
    fn new(suffix: &'static str, op: Op, inputs: &[Source], makes: Makes) -> Self {
        Self { suffix, op, inputs: inputs.to_vec(), makes, turned: false }
    }
}

/// Whether an operator is several layers.
pub(super) fn is_composite(native: &str) -> bool {
    matches!(native, "LSTM" | "GRU" | "RNN") || attention::is_attention(native)
}

/// The parts of a composite operator whose shapes are known; nothing for any other operator.
pub(super) fn parts(node: &Node<'_>) -> Result<Option<Vec<Part>>, String> {
    match node.native {
        "LSTM" | "GRU" | "RNN" => recurrent::parts(node),
        name if attention::is_attention(name) => {
            let Some(attention) = attention::Attention::new(node)? else { return Ok(None) };
            Ok(Some(attention.parts(node)))
        }
        _ => Ok(None),
    }
}

/// Shapes of the outputs of an attention operator.
pub(super) fn attention_shapes(node: &Node<'_>) -> Option<Result<Vec<Option<Shape>>, String>> {
    attention::is_attention(node.native).then(|| {
        Ok(attention::Attention::new(node)?.map_or_else(Vec::new, |attention| attention.shapes()))
    })
}

/// Whether a node has the output at a port, by name.
pub(super) fn has_output(node: &Node<'_>, port: usize) -> bool {
    node.names.get(port).is_some_and(|name| !name.is_empty())
}
