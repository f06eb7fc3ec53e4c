//! Products of small dense matrices with vectors, summed row by row so that they vectorise.

/// `out = sum weights_i row_i`, the rows of `matrix` being as long as `out`.
pub(super) fn combine(matrix: &[f64], weights: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    add_combined(matrix, weights, out);
}

/// The same, added to what is there.
pub(super) fn add_combined(matrix: &[f64], weights: &[f64], out: &mut [f64]) {
    if out.is_empty() {
        return;
    }
    for (row, weight) in matrix.chunks_exact(out.len()).zip(weights) {
        if *weight == 0.0 {
            continue;
        }
        for (sum, entry) in out.iter_mut().zip(row) {
            *sum += weight * entry;
        }
    }
}

/// The product of two vectors.
pub(super) fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
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
