//! The shape that an operator makes, told from itself and the shapes of its inputs.
//!
//! The importers of other formats know attributes that [`Op`] does not keep (axes, permutations,
//! target shapes); here stands what follows without them. [`super::consistency`] holds stated shapes
//! against each other and accepts more than one answer where files differ; this gives the usual one.

mod product;
mod window;

use super::consistency::broadcast;
use super::einsum::Equation;
use super::{ElementFunction, Layout, Op, Shape};

/// Shape of the first output. An input is `None` where it is left out or its shape is unknown.
///
/// `Ok(None)` where the operator alone does not determine it (views, reductions, parts, joins,
/// opaque ones) or an input that it depends on is `None`; an error, in words that lack the
/// operator's name, where the inputs contradict it or each other. A transposed convolution counts
/// as one without output padding, which [`super::Convolution`] does not state.
pub(super) fn infer(
    op: &Op,
    layout: Layout,
    inputs: &[Option<&Shape>],
) -> Result<Option<Shape>, String> {
    let input = |port: usize| inputs.get(port).copied().flatten();
    let one = |made: &dyn Fn(&Shape) -> Result<Shape, String>| input(0).map(made).transpose();
    let two = |made: &dyn Fn(&Shape, &Shape) -> Result<Shape, String>| {
        input(0).zip(input(1)).map(|(a, b)| made(a, b)).transpose()
    };
    match op {
        Op::Convolution(c) => two(&|data, weights| window::convolution(c, layout, data, weights)),
        Op::FullyConnected => two(&product::fully_connected),
        Op::MatMul { transpose_a, transpose_b } => {
            two(&|a, b| product::matrix(a, b, *transpose_a, *transpose_b))
        }
        Op::Einsum(equation) => contraction(equation, inputs),
        Op::Recurrence(recurrence) => one(&|gates| product::recurrence(recurrence, gates)),
        Op::Pool(pool) => one(&|data| window::pool(pool, layout, data)),
        // Tables of sines and cosines stand beside what is turned.
        Op::Elementwise(ElementFunction::Rotate) => one(&|data| Ok(data.clone())),
        Op::Elementwise(_) => element_wise(inputs),
        Op::Softmax
        | Op::BatchNormalisation
        | Op::Normalisation
        | Op::LocalResponseNormalisation { .. }
        | Op::Convert => one(&|data| Ok(data.clone())),
        Op::Reduce(_) | Op::Movement(_) | Op::Opaque => Ok(None),
    }
}

/// All shapes, or nothing where one is missing.
fn all<'a>(inputs: &[Option<&'a Shape>]) -> Option<Vec<&'a Shape>> {
    inputs.iter().copied().collect()
}

fn contraction(equation: &str, inputs: &[Option<&Shape>]) -> Result<Option<Shape>, String> {
    let Some(shapes) = all(inputs) else { return Ok(None) };
    Ok(Some(Equation::new(equation, &shapes)?.shape()))
}

fn element_wise(inputs: &[Option<&Shape>]) -> Result<Option<Shape>, String> {
    let Some(shapes) = all(inputs).filter(|shapes| !shapes.is_empty()) else { return Ok(None) };
    let mut joined = Shape::default();
    for shape in shapes {
        let misfit = || format!("an operand of {shape} does not broadcast with {joined}");
        joined = Shape(broadcast(&joined.0, &shape.0).ok_or_else(misfit)?);
    }
    Ok(Some(joined))
}

#[cfg(test)]
mod tests;
