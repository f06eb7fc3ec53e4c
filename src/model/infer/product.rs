//! Matrix products and recurrent cells.

use crate::model::consistency::product_of_shapes;
use crate::model::{Recurrence, Shape};

/// `[.., K]` becomes `[.., N]`. An input whose last extent is no `K` of the weights is flattened to
/// rows of `K` first.
pub(super) fn fully_connected(input: &Shape, weights: &Shape) -> Result<Shape, String> {
    let misfit = || format!("an input of {input} and weights {weights} do not multiply");
    let stored = weights.elements().ok_or_else(misfit)?;
    let depth = input.last();
    let columns = match weights.0[..] {
        // Stored `[N, K]`, or turned.
        [columns, inner] if inner == depth => Some(columns),
        [inner, columns] if inner == depth => Some(columns),
        [..] if weights.rank() != 2 && depth > 0 && stored.is_multiple_of(depth) => {
            Some(stored / depth)
        }
        _ => None,
    };
    if let (Some(columns), [leading @ .., _]) = (columns, &input.0[..]) {
        return Ok(Shape([leading, &[columns]].concat()));
    }
    let inner = weights.last();
    let elements = input.elements().ok_or_else(misfit)?;
    if inner == 0 || !elements.is_multiple_of(inner) || !stored.is_multiple_of(inner) {
        return Err(misfit());
    }
    Ok(Shape(vec![elements / inner, stored / inner]))
}

pub(super) fn matrix(
    a: &Shape,
    b: &Shape,
    transpose_a: bool,
    transpose_b: bool,
) -> Result<Shape, String> {
    product_of_shapes(a, b, transpose_a, transpose_b).map_err(|(_, reason)| reason)
}

/// All states: the innermost extent holds the gates of one direction, or of all.
pub(super) fn recurrence(recurrence: &Recurrence, gates: &Shape) -> Result<Shape, String> {
    let Recurrence { cell, hidden, directions, .. } = *recurrence;
    let misfit = || format!("gate inputs of {gates} do not end with those of a state of {hidden}");
    let columns = cell.gates().checked_mul(hidden).ok_or_else(misfit)?;
    let [leading @ .., last] = &gates.0[..] else { return Err(misfit()) };
    let states = if *last == columns {
        hidden
    } else if columns.checked_mul(directions) == Some(*last) {
        last / cell.gates()
    } else {
        return Err(misfit());
    };
    Ok(Shape([leading, &[states]].concat()))
}
