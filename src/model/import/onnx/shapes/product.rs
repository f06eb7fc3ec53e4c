//! Matrix products and recurrent cells.

use super::{Inferred, broadcast, extents};
use crate::model::Shape;
use crate::model::import::onnx::node::Node;

/// `MatMul` and its quantised forms, the second operand at `port`.
pub(super) fn matrix(node: &Node<'_>, port: usize) -> Inferred {
    let (Some(a), Some(b)) = (node.shape(0), node.shape(port)) else { return Ok(None) };
    let a = turned(a, node.flag("transA", false));
    let b = turned(b, node.flag("transB", false));
    let misfit = || format!("{a} and {b} do not multiply");
    // A vector stands for a row on the left and a column on the right.
    let (rows, depth) = split(&a).ok_or_else(misfit)?;
    let (columns, height) = match b.0[..] {
        [] => return Err(misfit()),
        [height] => (None, height),
        [.., height, columns] => (Some(columns), height),
    };
    if depth != height {
        return Err(misfit());
    }
    let outer = |s: &Shape| Shape(s.0.get(..s.rank().saturating_sub(2)).unwrap_or(&[]).to_vec());
    let mut result = broadcast(&outer(&a), &outer(&b))?;
    result.0.extend(rows);
    result.0.extend(columns);
    Ok(Some(result))
}

/// Rows and depth of the left operand.
fn split(a: &Shape) -> Option<(Option<u64>, u64)> {
    match a.0[..] {
        [] => None,
        [depth] => Some((None, depth)),
        [.., rows, depth] => Some((Some(rows), depth)),
    }
}

fn turned(shape: &Shape, transposed: bool) -> Shape {
    let mut shape = shape.clone();
    if let (true, [.., rows, columns]) = (transposed, &mut shape.0[..]) {
        std::mem::swap(rows, columns);
    }
    shape
}

/// `Gemm`: a plain product of two matrices, either of them stored turned, the second at `port`.
pub(super) fn gemm(node: &Node<'_>, port: usize) -> Inferred {
    let (Some(a), Some(b)) = (node.shape(0), node.shape(port)) else { return Ok(None) };
    let left = turned(a, node.flag("transA", false));
    let right = turned(b, node.flag("transB", false));
    match (&left.0[..], &right.0[..]) {
        ([rows, depth], [height, columns]) if depth == height => {
            Ok(Some(Shape(vec![*rows, *columns])))
        }
        _ => Err(format!("{left} and {right} do not multiply")),
    }
}

/// `MatMulNBits`: rows times the matrix `[N, K]` that packed weights stand for.
pub(super) fn unpacked(node: &Node<'_>) -> Inferred {
    let (Some(rows), Some(weights)) = (node.shape(0), node.shape(1)) else { return Ok(None) };
    let [columns, depth] = weights.0[..] else { return Ok(None) };
    match rows.0.split_last() {
        Some((last, outer)) if *last == depth => Ok(Some(Shape([outer, &[columns]].concat()))),
        _ => Err(format!("{rows} and weights of {weights} do not multiply")),
    }
}

/// `LSTM`, `GRU`, `RNN`: all states, the last state, the last cell.
pub(super) fn recurrent(node: &Node<'_>) -> Result<Vec<Option<Shape>>, String> {
    let (Some(input), Some(weights)) = (node.shape(0), node.shape(2)) else {
        return Ok(Vec::new());
    };
    let [first, second, _] = input.0[..] else {
        return Err(format!("a sequence of {input}"));
    };
    // The recurrence is `[directions, gates * hidden, hidden]`.
    let stated = extents(&[node.int("hidden_size", weights.last() as i64)], "hidden_size")?;
    let (directions, hidden) = (weights.extent(0), stated.first().copied().unwrap_or(0));
    let (all, last) = if node.flag("layout", false) {
        (vec![first, second, directions, hidden], vec![first, directions, hidden])
    } else {
        (vec![first, directions, second, hidden], vec![directions, second, hidden])
    };
    let last = Some(Shape(last));
    Ok(vec![Some(Shape(all)), last.clone(), last])
}
