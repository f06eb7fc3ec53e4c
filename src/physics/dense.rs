//! Products of small dense matrices with vectors, summed row by row so that they vectorise.

/// Entries of a sum that are held at once.
const BLOCK: usize = 8;

/// `out = sum weights_i row_i`, the rows of `matrix` being as long as `out`.
pub(super) fn combine(matrix: &[f64], weights: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    add_combined(matrix, weights, out);
}

/// The same, added to what is there.
pub(super) fn add_combined(matrix: &[f64], weights: &[f64], out: &mut [f64]) {
    let width = out.len();
    let (wide, rest) = out.as_chunks_mut::<BLOCK>();
    let (narrow, rest) = rest.as_chunks_mut::<{ BLOCK / 2 }>();
    let start = wide.len() * BLOCK;
    for (block, start) in wide.iter_mut().zip((0..).step_by(BLOCK)) {
        add_block(matrix, weights, (width, start), block);
    }
    for block in narrow.iter_mut() {
        add_block(matrix, weights, (width, start), block);
    }
    let start = start + narrow.len() * BLOCK / 2;
    for (entry, start) in rest.iter_mut().zip(start..) {
        add_block(matrix, weights, (width, start), std::array::from_mut(entry));
    }
}

/// A part of it, with its sums at hand.
#[inline(always)]
fn add_block<const SIZE: usize>(
    matrix: &[f64],
    weights: &[f64],
    (width, start): (usize, usize),
    block: &mut [f64; SIZE],
) {
    let mut sums = *block;
    // Rows from where the block starts, the last without what stands before.
    let rows = matrix.get(start..).unwrap_or(&[]).chunks(width);
    for (row, weight) in rows.zip(weights) {
        if let Some(part) = row.first_chunk::<SIZE>() {
            sums.iter_mut().zip(part).for_each(|(sum, entry)| *sum += weight * entry);
        }
    }
    *block = sums;
}

/// The same with weights that are counted up, most of them zero.
pub(super) fn add_rows(matrix: &[f64], weights: impl Iterator<Item = f64>, out: &mut [f64]) {
    out.fill(0.0);
    let rows = matrix.chunks_exact(out.len().max(1));
    for (row, weight) in rows.zip(weights).filter(|(_, weight)| *weight != 0.0) {
        out.iter_mut().zip(row).for_each(|(sum, entry)| *sum += weight * entry);
    }
}

/// The product of two vectors, in four sums side by side.
#[inline]
pub(super) fn dot(one: &[f64], other: &[f64]) -> f64 {
    let ((ones, one), (others, other)) = (one.as_chunks::<4>(), other.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (one, other) in ones.iter().zip(others) {
        for ((sum, a), b) in sums.iter_mut().zip(one).zip(other) {
            *sum += a * b;
        }
    }
    let rest: f64 = one.iter().zip(other).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// `matrix`, its rows `width` long, with rows and columns changed.
pub(super) fn transposed(matrix: &[f64], width: usize) -> Vec<f64> {
    let column = |c: usize| matrix.iter().skip(c).step_by(width.max(1)).copied();
    (0..width).flat_map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_and_its_transpose_give_the_same_form() {
        let (matrix, x, y) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, -1.0], [2.0, 0.0, 1.0]);
        let (mut right, mut left) = ([0.0; 3], [0.0; 2]);
        combine(&matrix, &x, &mut right);
        combine(&transposed(&matrix, 3), &y, &mut left);
        assert_eq!(right, [-3.0; 3]);
        assert_eq!(dot(&right, &y), dot(&left, &x));
    }
}
