//! What a loss is reduced to.

use crate::model::Shape;
use crate::model::import::onnx::node::Node;

/// `NegativeLogLikelihoodLoss`: a number, or one for each label.
pub(super) fn likelihood(node: &Node<'_>) -> Option<Shape> {
    match node.text("reduction") {
        "none" => node.shape(1).cloned(),
        _ => Some(Shape::default()),
    }
}
