//! `LSTM`, `GRU`, `RNN`: the product of all inputs at once, then the steps.

use super::{Makes, Part, Source};
use crate::model::import::onnx::node::Node;
use crate::model::work::INITIAL_STATES;
use crate::model::{Cell, Op, Recurrence, Shape};

/// Inputs: sequence, weights, recurrence weights, bias, lengths, initial states, peepholes.
pub(super) fn parts(node: &Node<'_>) -> Result<Option<Vec<Part>>, String> {
    let cell = match node.native {
        "LSTM" => Cell::Lstm,
        "GRU" => Cell::Gru,
        _ => Cell::Simple,
    };
    let (Some(input), Some(weights), Some(recurrent)) =
        (node.shape(0), node.shape(1), node.shape(2))
    else {
        return Ok(None);
    };
    let ([first, second, features], [directions, rows, depth]) = (&input.0[..], &weights.0[..])
    else {
        return Err(format!("a sequence of {input} with weights of {weights}"));
    };
    let hidden = recurrent.last();
    let columns = cell.gates().checked_mul(hidden);
    let fits = depth == features && recurrent.0[..] == [*directions, *rows, hidden];
    if !fits || columns != Some(*rows) {
        return Err(format!("a sequence of {input}, weights {weights} and {recurrent} do not fit"));
    }
    let (steps, samples) =
        if node.flag("layout", false) { (*second, *first) } else { (*first, *second) };
    let width = directions.checked_mul(*rows).ok_or("its gates do not fit 64 bits")?;
    let gates = Makes::Inner(Shape(vec![steps, samples, width]));
    let product =
        Part::new("input", Op::FullyConnected, &[Source::Port(0), Source::Port(1)], gates);
    let recurrence = Recurrence { cell, hidden, steps, directions: *directions };
    // Initial states stand behind all that is learnt.
    let mut inputs = vec![Source::Part(0)];
    inputs.extend([2, 3, 7].map(Source::Port));
    inputs.resize(INITIAL_STATES, Source::Nothing);
    inputs.extend([5, 6].map(Source::Port));
    let steps =
        Part::new("recurrence", Op::Recurrence(recurrence), &inputs, Makes::Ports(vec![0, 1, 2]));
    Ok(Some(vec![product, steps]))
}
