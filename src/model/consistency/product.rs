//! Matrix products.

use super::{Check, broadcast, count};
use crate::model::einsum::Equation;
use crate::model::{Recurrence, Shape};

impl Check<'_> {
    pub(super) fn fully_connected(&mut self) {
        let (Some((input, output)), Some(weights)) = (self.through(), self.input(1)) else {
            return;
        };
        let columns = output.last();
        // What does not divide is no product at all, which counting the work reports.
        let Some((stored, made)) = weights.elements().zip(output.elements()) else { return };
        if columns == 0 || stored % columns != 0 {
            return;
        }
        let needed = (made / columns).checked_mul(stored / columns);
        if input.elements() != needed {
            self.at_input(
                0,
                format!(
                    "an input of {input} has {} elements, but weights {weights} and an output of \
                     {output} need {}",
                    count(input),
                    needed.map_or("too many".into(), |n| n.to_string())
                ),
            );
        }
        self.bias(output);
    }

    /// A bias has an element for each column, or one for each element that it broadcasts to.
    fn bias(&mut self, output: &Shape) {
        let Some(bias) = self.input(2) else { return };
        let fits = bias.elements() == Some(output.last())
            || broadcast(&bias.0, &output.0).as_deref() == Some(&output.0);
        if !fits {
            self.at_input(2, format!("a bias of {bias} does not fit an output of {output}"));
        }
    }

    pub(super) fn contraction(&mut self, equation: &str) {
        let shapes: Option<Vec<_>> =
            (0..self.o.inputs.len()).map(|port| self.input(port)).collect();
        let (Some(shapes), Some(output)) = (shapes, self.output()) else { return };
        // An equation that does not fit is reported where the work is counted.
        let Ok(equation) = Equation::new(equation, &shapes) else { return };
        let made = equation.shape();
        if made != *output {
            self.at_output(format!("an output of {output}, where the equation makes {made}"));
        }
    }

    /// All states together; the order of axes differs between files.
    pub(super) fn recurrence(&mut self, r: &Recurrence) {
        let Some((gates, output)) = self.through() else { return };
        let columns = r.cell.gates();
        let states = gates.elements().filter(|n| n.is_multiple_of(columns)).map(|n| n / columns);
        let last = states.and_then(|n| n.checked_div(r.steps));
        if states.is_some() && output.elements() != states && output.elements() != last {
            self.at_output(format!("an output of {output}, where {gates} makes other states"));
        }
    }

    pub(super) fn matrix_product(&mut self, transpose_a: bool, transpose_b: bool) {
        let Some((a, output)) = self.through() else { return };
        let Some(b) = self.input(1) else {
            return self.at_input(1, "the second operand is missing".into());
        };
        match product_of_shapes(a, b, transpose_a, transpose_b) {
            Err((port, reason)) => self.at_input(port, reason),
            Ok(made) if made != *output => {
                self.at_output(format!("an output of {output}, where {a} times {b} makes {made}"))
            }
            Ok(_) => {}
        }
    }
}

/// The shape that two operands of a matrix product make, or the port at fault and the reason.
pub(in crate::model) fn product_of_shapes(
    a: &Shape,
    b: &Shape,
    transpose_a: bool,
    transpose_b: bool,
) -> Result<Shape, (usize, String)> {
    let (Some(a_side), Some(b_side)) = (Side::of(a, !transpose_a), Side::of(b, transpose_b)) else {
        return Err((0, format!("scalars, {a} times {b}, make no matrix product")));
    };
    if a_side.inner != b_side.inner {
        let (inner, other) = (b_side.inner, a_side.inner);
        let reason = format!(
            "the inner extents differ: {other} of the first operand {a}, {inner} of this {b}"
        );
        return Err((1, reason));
    }
    let Some(mut made) = broadcast(a_side.leading, b_side.leading) else {
        return Err((1, format!("the leading axes of {a} and {b} do not broadcast")));
    };
    made.extend(a_side.outer.into_iter().chain(b_side.outer));
    Ok(Shape(made))
}

/// An operand of a product: a vector has no outer extent.
struct Side<'a> {
    leading: &'a [u64],
    outer: Option<u64>,
    inner: u64,
}

impl<'a> Side<'a> {
    fn of(shape: &'a Shape, inner_last: bool) -> Option<Self> {
        Some(match shape.0.as_slice() {
            [] => return None,
            [inner] => Self { leading: &[], outer: None, inner: *inner },
            [leading @ .., first, second] => {
                let (outer, inner) = if inner_last { (first, second) } else { (second, first) };
                Self { leading, outer: Some(*outer), inner: *inner }
            }
        })
    }
}
