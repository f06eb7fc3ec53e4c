//! The stored numbers of filters, followed from where the file stores them to the operator that
//! multiplies by them.

use super::blocks::MATRIX;
use super::composite::{Part, Source};
use super::node::Node;
use super::shapes::Output;
use super::value::nibbles;
use crate::model::weights::{Place, Weights};
use crate::model::{ElementType, Op};
use std::rc::Rc;

/// Numbers of a filter as an operator finds them.
pub(super) struct Filter {
    pub weights: Weights,
    /// Stored `[K, N]` for a fully connected layer.
    pub turned: bool,
}

/// The ports of the filter of an operator and of its zero points.
fn ports(native: &str) -> (usize, Option<usize>) {
    match native {
        "QLinearConv" | "QLinearMatMul" | "com.microsoft::QGemm" => (3, Some(5)),
        "ConvInteger" | "MatMulInteger" | "com.microsoft::DynamicQuantizeMatMul" => (1, Some(3)),
        "com.microsoft::MatMulIntegerToFloat" => (1, Some(5)),
        _ => (1, None),
    }
}

/// The filter of a node, if it is one with a filter and the file stores the numbers.
pub(super) fn of(node: &Node<'_>, op: &Op) -> Option<Filter> {
    let (port, zero_port) = ports(node.native);
    let value = node.input(port)?;
    let mut weights = value.weights.as_deref()?.clone();
    let rows_first = node.flag("transB", false) || node.native == MATRIX;
    let turned = match op {
        Op::FullyConnected => value.turned == rows_first,
        // The scale of a channel, without which it is its shift alone.
        Op::Convolution(_) | Op::BatchNormalisation if !value.turned => false,
        _ => return None,
    };
    if node.native == MATRIX {
        weights.zero_points = vec![blocked_zero_point(node)?];
    } else if let Some(port) = zero_port.filter(|port| node.input(*port).is_some()) {
        weights.zero_points = zero_points(node, port)?;
        // One for each output: along the last axis of `[K, N]`, or the first of `[N, K]`.
        weights.zero_axis = usize::from(turned);
    }
    Some(Filter { weights, turned })
}

/// The zero point of all blocks, in the middle unless it is given.
fn blocked_zero_point(node: &Node<'_>) -> Option<i64> {
    let four_bits = node.int("bits", 4) == 4;
    if node.input(3).is_none() {
        return Some(if four_bits { 8 } else { 128 });
    }
    let [point] = zero_points(node, 3)?[..] else { return None };
    // Two to a byte.
    let (low, high) = (point & 15, point >> 4 & 15);
    if four_bits { (low == high).then_some(low) } else { Some(point) }
}

/// Whether two operators read the same numbers in a filter.
pub(super) fn agree(one: &Weights, other: &Weights) -> bool {
    one.element == other.element
        && one.shape == other.shape
        && one.zero_points == other.zero_points
        && (one.zero_points.len() < 2 || one.zero_axis == other.zero_axis)
}

/// The filter of a part of a composite operator.
pub(super) fn of_part(node: &Node<'_>, part: &Part) -> Option<Filter> {
    let filtered = matches!(part.op, Op::FullyConnected | Op::Recurrence(_));
    let Some(Source::Port(port)) = part.inputs.get(1).filter(|_| filtered) else { return None };
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
            Some((Rc::new(dequantised(node, stored, value.turned)?), value.turned))
        }
        _ => None,
    }
}

fn dequantised(node: &Node<'_>, stored: &Weights, turned: bool) -> Option<Weights> {
    let mut weights = stored.clone();
    if node.input(2).is_none() {
        return Some(weights);
    }
    weights.zero_points = zero_points(node, 2)?;
    if weights.zero_points.len() < 2 {
        return Some(weights);
    }
    // Of blocks along an axis each has its own.
    if node.int("block_size", 0) != 0 {
        return None;
    }
    let at = super::node::axis(node.int("axis", 1), weights.shape.rank()).ok()?;
    weights.zero_axis = if turned { 1usize.checked_sub(at)? } else { at };
    Some(weights)
}

/// The zero points at a port, known or stored; one if all are the same.
fn zero_points(node: &Node<'_>, port: usize) -> Option<Vec<i64>> {
    let mut points = match node.numbers(port).and_then(|numbers| numbers.ints()) {
        Some(known) => known.to_vec(),
        None => stored_points(node.input(port)?.weights.as_deref()?)?,
    };
    let first = *points.first()?;
    if points.iter().all(|point| *point == first) {
        points.truncate(1);
    }
    Some(points)
}

fn stored_points(weights: &Weights) -> Option<Vec<i64>> {
    let Place::Here(bytes) = &weights.place else { return None };
    match weights.element {
        ElementType::Int8 => {
            Some(bytes.iter().map(|b| i64::from(i8::from_le_bytes([*b]))).collect())
        }
        ElementType::UInt8 => Some(bytes.iter().map(|b| i64::from(*b)).collect()),
        ElementType::Int4 => {
            let count = usize::try_from(weights.shape.elements()?).ok()?;
            Some(nibbles(bytes).take(count).map(i64::from).collect())
        }
        _ => None,
    }
}
