//! Numbers that a fit says move together.
//!
//! With `C = L Lᵀ` the covariance of the logarithms of those numbers of the profile's `posterior` that are
//! in use, `L` lower triangular, the logarithms are `L z` of independent standard normal `z`: each column of
//! `L` is a move of its own, and each number goes with its entry of it.

use crate::hardware::Profile;
use nalgebra::DMatrix;

/// A pivot below this share of its variance is none: the number follows from those before it.
const PIVOT: f64 = 1e-12;

/// What is left of a covariance beside such a pivot, as a correlation, and how far below zero rounding may
/// take a variance.
const LEFT: f64 = 1e-5;
const BELOW: f64 = 1e-9;

/// The lower triangular factor `L` of a covariance `L Lᵀ` of numbers, some of which may follow from others;
/// `None` where it is no covariance.
pub fn lower_factor(covariance: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let size = covariance.nrows();
    let mut factor = DMatrix::<f64>::zeros(size, covariance.ncols());
    if covariance.ncols() != size || covariance.iter().any(|entry| !entry.is_finite()) {
        return None;
    }
    for j in 0..size {
        let left = |factor: &DMatrix<f64>, i: usize| {
            let before: f64 = (0..j).map(|k| factor[(i, k)] * factor[(j, k)]).sum();
            covariance[(i, j)] - before
        };
        let (variance, pivot) = (covariance[(j, j)], left(&factor, j));
        if variance < 0.0 || pivot < -BELOW * variance {
            return None;
        }
        let free = pivot > PIVOT * variance;
        factor[(j, j)] = if free { pivot.sqrt() } else { 0.0 };
        for i in j + 1..size {
            let (own, both) = (left(&factor, i), (variance * covariance[(i, i)].max(0.0)).sqrt());
            let skew = (covariance[(i, j)] - covariance[(j, i)]).abs();
            if skew > BELOW * both || (!free && own.abs() > LEFT * both) {
                return None;
            }
            factor[(i, j)] = if free { own / factor[(j, j)] } else { 0.0 };
        }
    }
    Some(factor)
}

/// The numbers of a profile's posterior, by their place in [`Profile::parameters`], with the rows of the
/// factor of their covariance.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Together {
    places: Vec<usize>,
    factor: DMatrix<f64>,
}

impl Together {
    /// All of them.
    pub fn of(profile: &Profile) -> Self {
        let rows = profile.spec().posterior.as_ref().map_or(&[][..], |block| &block.factor);
        let places = profile.links().posterior.clone();
        let entry = |i: usize, j: usize| rows.get(i).and_then(|row| row.get(j)).copied();
        let size = places.len();
        let factor = DMatrix::from_fn(size, size, |i, j| entry(i, j).unwrap_or(0.0));
        Self { places, factor }
    }

    /// Those that `used` says are in use.
    pub fn among(&self, used: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.places.len()).filter(|i| used(self.places[*i])).collect();
        if kept.len() == self.places.len() {
            return self.clone();
        }
        let rows = self.factor.select_rows(&kept);
        // The rows are finite, and what they make is a covariance.
        let factor = lower_factor(&(&rows * rows.transpose()));
        let zeros = || DMatrix::zeros(kept.len(), kept.len());
        let places = kept.iter().map(|i| self.places[*i]).collect();
        Self { places, factor: factor.unwrap_or_else(zeros) }
    }

    /// True for a number among them.
    pub fn has(&self, place: usize) -> bool {
        self.places.contains(&place)
    }

    /// Each column that moves anything: the number that comes in with it, and all that it moves, by rising
    /// place, with their deviations.
    pub fn columns(&self) -> impl Iterator<Item = (usize, Vec<(usize, f64)>)> + '_ {
        let column = |(k, first): (usize, &usize)| {
            let entries =
                self.places.iter().copied().zip(self.factor.column(k).into_iter().copied());
            let mut moved: Vec<(usize, f64)> = entries.filter(|(_, entry)| *entry != 0.0).collect();
            moved.sort_by_key(|(place, _)| *place);
            (!moved.is_empty()).then_some((*first, moved))
        };
        self.places.iter().enumerate().filter_map(column)
    }

    /// The logarithms of factors on the numbers, by their place, from as many standard normal draws as there
    /// are numbers.
    pub fn drawn(&self, mut normal: impl FnMut() -> f64) -> Vec<(usize, f64)> {
        let draws: Vec<f64> = self.places.iter().map(|_| normal()).collect();
        let row = |(i, place): (usize, &usize)| {
            let parts =
                self.factor.row(i).into_iter().zip(&draws).map(|(entry, draw)| entry * draw);
            (*place, parts.sum())
        };
        self.places.iter().enumerate().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix<const N: usize>(rows: [[f64; N]; N]) -> DMatrix<f64> {
        DMatrix::from_fn(N, N, |i, j| rows[i][j])
    }

    #[test]
    fn a_factor_makes_its_covariance_again() {
        let factor = matrix([[2.0, 0.0, 0.0], [-1.5, 0.5, 0.0], [1.0, 3.0, 0.25]]);
        let found = lower_factor(&(&factor * factor.transpose())).unwrap();
        assert!((found - factor).norm() < 1e-14);
        // The second is the first, the third has nothing.
        let singular =
            matrix([[4.0, 4.0, 0.0, 2.0], [4.0, 4.0, 0.0, 2.0], [0.0; 4], [2.0, 2.0, 0.0, 5.0]]);
        let found = lower_factor(&singular).unwrap();
        assert_eq!(
            found,
            matrix([[2.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0], [0.0; 4], [1.0, 0.0, 0.0, 2.0]])
        );
    }

    #[test]
    fn what_is_no_covariance_has_no_factor() {
        for rows in [
            [[1.0, 2.0], [2.0, 1.0]],
            [[-1.0, 0.0], [0.0, 1.0]],
            [[1.0, 0.5], [0.0, 1.0]],
            [[0.0, 0.1], [0.1, 1.0]],
            [[1.0, f64::NAN], [f64::NAN, 1.0]],
        ] {
            assert_eq!(lower_factor(&matrix(rows)), None, "{rows:?}");
        }
        assert_eq!(lower_factor(&DMatrix::zeros(2, 3)), None);
    }

    #[test]
    fn those_in_use_keep_their_covariance() {
        let factor = matrix([[2.0, 0.0, 0.0], [-1.5, 0.5, 0.0], [1.0, 3.0, 0.25]]);
        let covariance = &factor * factor.transpose();
        let all = Together { places: vec![7, 3, 5], factor };
        assert_eq!(all.among(|_| true), all);
        let some = all.among(|place| place != 7);
        let left = covariance.remove_row(0).remove_column(0);
        assert!((&some.factor * some.factor.transpose() - left).norm() < 1e-12);
        assert!(some.has(3) && !some.has(7));
        assert_eq!(all.among(|_| false).columns().count(), 0);
        let columns: Vec<_> = all.columns().collect();
        assert_eq!(columns[0], (7, vec![(3, -1.5), (5, 1.0), (7, 2.0)]));
        assert_eq!(columns[2], (5, vec![(5, 0.25)]));
        let mut draws = [1.0, 2.0, 4.0].into_iter();
        let drawn = all.drawn(|| draws.next().unwrap());
        assert_eq!(drawn, [(7, 2.0), (3, -0.5), (5, 8.0)]);
    }
}
