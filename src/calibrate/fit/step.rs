//! The damped step of a linear least-squares problem with priors.
//!
//! In units of the priors, with `A` the residuals' derivatives, `r` the residuals, `u` the deviations from
//! the prior means and `P` one for unknowns with a prior and zero for the others, the step `d` solves
//! `(AᵀA + P + μ D) d = -(Aᵀ r + P u)`: by QR of the stacked rows `[A; √P; √(μ D)]`, so that the normal
//! equations are never formed; or, where all unknowns have priors and outnumber the residuals, with `D = 1`
//! by Cholesky of the `n` by `n` matrix `(1 + μ) 1 + A Aᵀ` (push-through identity).

use super::rows::Rows;
use nalgebra::{Cholesky, DMatrix, DVector};

/// A linear problem, in units of the priors.
pub(super) struct Linear<'a> {
    /// Derivatives of the residuals.
    pub rows: &'a Rows,
    /// The residuals.
    pub residuals: &'a [f64],
    /// The rows' products with one another, where they are known already.
    pub covariance: Option<&'a DMatrix<f64>>,
    /// Deviations of the unknowns from their prior means; `None` where there is no prior.
    pub off_prior: &'a [Option<f64>],
    /// Unknowns that may move.
    pub free: &'a [bool],
}

impl Linear<'_> {
    /// Half the gradient of the sum of squares.
    pub fn gradient(&self) -> Vec<f64> {
        let mut gradient = self.rows.transposed_times(self.residuals, self.off_prior.len());
        for (gradient, off) in gradient.iter_mut().zip(self.off_prior) {
            *gradient += off.unwrap_or(0.0);
        }
        gradient
    }

    /// Squares of the norms of columns, priors among them.
    fn column_squares(&self) -> Vec<f64> {
        let prior = |off: &Option<f64>| if off.is_some() { 1.0 } else { 0.0 };
        let mut squares: Vec<f64> = self.off_prior.iter().map(prior).collect();
        for row in &self.rows.0 {
            for (column, entry) in row.entries() {
                if let Some(square) = squares.get_mut(column) {
                    *square += entry * entry;
                }
            }
        }
        squares
    }

    /// True where the small matrix is that of the residuals.
    fn is_wide(&self) -> bool {
        let known = self.off_prior.iter().all(Option::is_some) && self.free.iter().all(|f| *f);
        known && self.off_prior.len() > self.rows.0.len()
    }

    /// True where no unknown that may move has a slope: the part of the gradient over the length of its
    /// column and of all residuals.
    pub fn is_flat(&self, prepared: &Prepared, limit: f64) -> bool {
        let squares = self.column_squares();
        let priors = self.off_prior.iter().flatten();
        let length: f64 = self.residuals.iter().chain(priors).map(|r| r * r).sum();
        let slopes = prepared.gradient().iter().zip(squares).zip(self.free);
        slopes.filter(|(_, free)| **free).all(|((gradient, square), _)| {
            gradient.abs() <= limit * (square * length).sqrt().max(f64::MIN_POSITIVE)
        })
    }

    /// How the step is solved, whatever the damping.
    pub fn prepared(&self) -> Prepared {
        let gradient = self.gradient();
        if self.is_wide() {
            let along = self.rows.times(&gradient);
            return Prepared::Wide { gram: self.gram(), gradient, along };
        }
        let columns: Vec<usize> = (0..self.free.len()).filter(|c| self.free[*c]).collect();
        Prepared::Tall { squares: self.column_squares(), columns, gradient }
    }

    fn gram(&self) -> DMatrix<f64> {
        self.covariance.cloned().unwrap_or_else(|| self.rows.gram())
    }

    /// The step at a damping; `None` where it cannot be computed.
    pub fn step(&self, prepared: &Prepared, damping: f64) -> Option<Vec<f64>> {
        match prepared {
            Prepared::Wide { gram, gradient, along } => {
                let mut matrix = gram.clone();
                for i in 0..matrix.nrows() {
                    matrix[(i, i)] += 1.0 + damping;
                }
                let solved = Cholesky::new(matrix)?.solve(&DVector::from_column_slice(along));
                let back = self.rows.transposed_times(solved.as_slice(), gradient.len());
                let step = gradient.iter().zip(back).map(|(g, back)| -(g - back) / (1.0 + damping));
                finite(step.collect())
            }
            Prepared::Tall { squares, columns, .. } => self.tall(squares, columns, damping),
        }
    }

    fn tall(&self, squares: &[f64], columns: &[usize], damping: f64) -> Option<Vec<f64>> {
        let (n, p) = (self.rows.0.len(), columns.len());
        let mut of_column = vec![None; self.free.len()];
        for (at, column) in columns.iter().enumerate() {
            of_column[*column] = Some(at);
        }
        let mut matrix = DMatrix::zeros(n + 2 * p, p);
        let mut right = DVector::zeros(n + 2 * p);
        for (i, (row, residual)) in self.rows.0.iter().zip(self.residuals).enumerate() {
            for (column, entry) in row.entries() {
                if let Some(at) = of_column.get(column).copied().flatten() {
                    matrix[(i, at)] = entry;
                }
            }
            right[i] = -residual;
        }
        for (at, column) in columns.iter().enumerate() {
            if let Some(off) = self.off_prior[*column] {
                matrix[(n + at, at)] = 1.0;
                right[n + at] = -off;
            }
            // A column of zeros moves nothing.
            let square = if squares[*column] > 0.0 { squares[*column] } else { 1.0 };
            matrix[(n + p + at, at)] = (damping * square).sqrt();
        }
        let factors = matrix.qr();
        factors.q_tr_mul(&mut right);
        let mut part = right.rows(0, p).into_owned();
        if !factors.unpack_r().solve_upper_triangular_mut(&mut part) {
            return None;
        }
        let mut step = vec![0.0; self.free.len()];
        for (column, value) in columns.iter().zip(part.iter()) {
            step[*column] = *value;
        }
        finite(step)
    }

    /// By how much the sum of squares falls with a step, if the problem is linear.
    pub fn fall(&self, step: &[f64]) -> f64 {
        let moved = self.rows.times(step);
        let change = |before: f64, by: f64| before * before - (before + by) * (before + by);
        let data: f64 = self.residuals.iter().zip(moved).map(|(r, by)| change(*r, by)).sum();
        let priors = self.off_prior.iter().zip(step);
        let priors: f64 = priors.filter_map(|(off, by)| Some(change((*off)?, *by))).sum();
        data + priors
    }
}

fn finite(step: Vec<f64>) -> Option<Vec<f64>> {
    step.iter().all(|d| d.is_finite()).then_some(step)
}

/// What steps of any damping share.
pub(super) enum Prepared {
    /// By the matrix of the residuals.
    Wide { gram: DMatrix<f64>, gradient: Vec<f64>, along: Vec<f64> },
    /// By the stacked rows.
    Tall { squares: Vec<f64>, columns: Vec<usize>, gradient: Vec<f64> },
}

impl Prepared {
    /// Half the gradient of the sum of squares.
    pub fn gradient(&self) -> &[f64] {
        match self {
            Self::Wide { gradient, .. } | Self::Tall { gradient, .. } => gradient,
        }
    }
}
