//! The stored numbers of filters, followed from where the file stores them to the operator that
//! multiplies by them.

use super::composite::{Part, Source};
use super::node::Node;
use super::shapes::Output;
use crate::model::weights::{Place, Weights};
use crate::model::{ElementType, Op};
use std::rc::Rc;

/// Numbers of a filter as an operator finds them.
pub(super) struct Filter {
    pub weights: Weights,
    /// Stored `[K, N]` for a fully connected layer.
    pub turned: bool,
}

/// The filter of a node, if it is one with a filter and the file stores the numbers.
pub(super) fn of(node: &Node<'_>, op: &Op) -> Option<Filter> {
    let quantised = matches!(node.native, "QLinearConv" | "QLinearMatMul");
    let value = node.input(if quantised { 3 } else { 1 })?;
    let mut weights = value.weights.as_deref()?.clone();
    let turned = match op {
        Op::FullyConnected => value.turned == node.flag("transB", false),
        Op::Convolution(_) if !value.turned => false,
        _ => return None,
    };
    let zero_port = match node.native {
        "QLinearConv" | "QLinearMatMul" => Some(5),
        "ConvInteger" | "MatMulInteger" => Some(3),
        _ => None,
    };
    if let Some(port) = zero_port.filter(|port| node.input(*port).is_some()) {
        (weights.zero_points, weights.zero_axis) = (zero_points(node, port)?, 0);
        if matches!(op, Op::FullyConnected) && weights.zero_points.len() > 1 {
            weights.zero_axis = usize::from(!value.turned);
        }
    }
    Some(Filter { weights, turned })
}

/// The filter of a part of a composite operator.
pub(super) fn of_part(node: &Node<'_>, part: &Part) -> Option<Filter> {
    let Some(Source::Port(port)) = part.inputs.get(1) else { return None };
    let value = node.input(*port).filter(|value| value.constant)?;
    let weights = value.weights.as_deref()?.clone();
    Some(Filter { weights, turned: part.turned != value.turned })
}

/// The numbers that a folded node hands on unchanged, and whether it turned them.
pub(super) fn kept(node: &Node<'_>, outputs: &[Output]) -> (Option<Rc<Weights>>, bool) {
    kept_weights(node, outputs).map_or((None, false), |(weights, turned)| (Some(weights), turned))
}

fn kept_weights(node: &Node<'_>, outputs: &[Output]) -> Option<(Rc<Weights>, bool)> {
    let value = node.input(0)?;
    let stored = value.weights.as_ref()?;
    match node.native {
        "Identity" => Some((stored.clone(), value.turned)),
        "Reshape" | "Squeeze" | "Unsqueeze" | "Flatten" if !value.turned => {
            let mut weights = stored.as_ref().clone();
            // A zero point of its own axis does not survive other extents.
            if weights.zero_points.len() > 1 {
                return None;
            }
            weights.shape = outputs.first()?.shape.clone()?;
            Some((Rc::new(weights), false))
        }
        "Transpose" => {
            let swapped = matches!(node.ints("perm"), None | Some([] | [1, 0]));
            let plain = stored.shape.rank() == 2 && swapped;
            plain.then(|| (stored.clone(), !value.turned))
        }
        "DequantizeLinear" | "com.microsoft::DequantizeLinear" => {
            let mut weights = stored.as_ref().clone();
            if node.input(2).is_some() {
                weights.zero_points = zero_points(node, 2)?;
            }
            let given = node.int("axis", 1);
            let rank = weights.shape.rank() as i64;
            let counted = if given < 0 { given.saturating_add(rank) } else { given };
            weights.zero_axis = usize::try_from(counted).ok()?;
            Some((Rc::new(weights), value.turned))
        }
        _ => None,
    }
}

/// The zero points at a port: known numbers, or stored ones of eight bits.
fn zero_points(node: &Node<'_>, port: usize) -> Option<Vec<i64>> {
    if let Some(known) = node.numbers(port).and_then(|numbers| numbers.ints()) {
        return Some(known.to_vec());
    }
    let weights = node.input(port)?.weights.as_deref()?;
    let Place::Here(bytes) = &weights.place else { return None };
    match weights.element {
        ElementType::Int8 => {
            Some(bytes.iter().map(|b| i64::from(i8::from_le_bytes([*b]))).collect())
        }
        ElementType::UInt8 => Some(bytes.iter().map(|b| i64::from(*b)).collect()),
        _ => None,
    }
}
