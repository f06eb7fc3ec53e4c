//! The normal distribution around an optimum.
//!
//! Covariance `(Σ w_i a_i a_iᵀ + P)⁻¹` of the unknowns, by singular values of the stacked rows; where
//! unknowns with priors outnumber the residuals by `K - K Aᵀ (1 + A K Aᵀ)⁻¹ A K` from the priors' covariance
//! `K`, so that no matrix of the unknowns is made.

use super::levenberg_marquardt::{Fit, weighted_by};
use super::rows::{Row, Rows};
use super::unknown::Unknown;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// A distribution of unknowns.
#[derive(Debug, Clone)]
pub struct Posterior {
    /// Units of the unknowns: those of their priors.
    scales: Vec<f64>,
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    /// Covariance in the unknowns' units, with singular values and vectors of the rows of columns of length one.
    Full { covariance: DMatrix<f64>, weakest: Option<Direction>, condition: f64 },
    /// Weighted rows in the unknowns' units, and the factor of `1 + A Aᵀ`.
    Wide { rows: Rows, factor: Cholesky<f64, Dyn> },
}

/// The direction in the space of unknowns that observations and priors tell least about.
#[derive(Debug, Clone, PartialEq)]
pub struct Direction {
    /// Parts of each unknown, of columns of length one; squares sum to one.
    pub parts: Vec<f64>,
}

impl Posterior {
    /// That of a fit; `None` where some unknowns are not determined.
    pub(super) fn of(fit: &Fit, unknowns: &[Unknown]) -> Option<Self> {
        let scales: Vec<f64> = unknowns.iter().map(Unknown::scale).collect();
        let scaled = fit.rows.0.iter().zip(&fit.weights).map(|(row, weight)| {
            row.scaled(|column| scales.get(column).copied().unwrap_or(1.0) * weight.sqrt())
        });
        let rows = Rows(scaled.collect());
        let known = unknowns.iter().all(|unknown| unknown.prior.is_some());
        let form = if known && unknowns.len() > rows.0.len() {
            let roots: Vec<f64> = fit.weights.iter().map(|weight| weight.sqrt()).collect();
            wide(rows, fit.covariance.as_ref().map(|own| weighted_by(own, &roots)))?
        } else {
            full(&rows, unknowns, &fit.held)?
        };
        Some(Self { scales, form })
    }

    /// Covariance of a linear function of the unknowns with each of them.
    pub fn along(&self, row: &Row) -> Vec<f64> {
        let own = row.scaled(|c| self.scales.get(c).copied().unwrap_or(0.0));
        let mut along = vec![0.0; self.scales.len()];
        match &self.form {
            Form::Full { covariance, .. } => {
                for (column, entry) in own.entries() {
                    for (at, along) in along.iter_mut().enumerate() {
                        *along += entry * covariance[(at, column)];
                    }
                }
            }
            Form::Wide { rows, factor } => {
                let told = rows.0.iter().map(|told| told.dot(&own));
                let solved = factor.solve(&DVector::from_iterator(rows.0.len(), told));
                along = rows.transposed_times(solved.as_slice(), along.len());
                along.iter_mut().for_each(|told| *told = -*told);
                for (column, entry) in own.entries() {
                    if let Some(along) = along.get_mut(column) {
                        *along += entry;
                    }
                }
            }
        }
        along.iter_mut().zip(&self.scales).for_each(|(along, scale)| *along *= scale);
        along
    }

    /// Covariance of two linear functions of the unknowns.
    pub fn covariance(&self, one: &Row, two: &Row) -> f64 {
        one.times(&self.along(two))
    }

    /// Variance of a linear function of the unknowns.
    pub fn variance(&self, row: &Row) -> f64 {
        self.covariance(row, row).max(0.0)
    }

    /// Standard deviation of an unknown.
    pub fn deviation(&self, unknown: usize) -> f64 {
        self.variance(&Row::of([(unknown, 1.0)])).sqrt()
    }

    /// Correlation of two unknowns; zero where one of them is certain.
    pub fn correlation(&self, one: usize, two: usize) -> f64 {
        let of = |unknown| Row::of([(unknown, 1.0)]);
        let both = self.deviation(one) * self.deviation(two);
        if both > 0.0 { self.covariance(&of(one), &of(two)) / both } else { 0.0 }
    }

    /// Largest over smallest singular value of the rows with priors, columns scaled to length one; `None`
    /// where unknowns outnumber the residuals.
    pub fn condition(&self) -> Option<f64> {
        match &self.form {
            Form::Full { condition, .. } => Some(*condition),
            Form::Wide { .. } => None,
        }
    }

    /// What is known least; `None` where unknowns outnumber the residuals.
    pub fn weakest(&self) -> Option<&Direction> {
        match &self.form {
            Form::Full { weakest, .. } => weakest.as_ref(),
            Form::Wide { .. } => None,
        }
    }
}

fn wide(rows: Rows, covariance: Option<DMatrix<f64>>) -> Option<Form> {
    let mut matrix = covariance.unwrap_or_else(|| rows.gram());
    for i in 0..matrix.nrows() {
        matrix[(i, i)] += 1.0;
    }
    Some(Form::Wide { factor: Cholesky::new(matrix)?, rows })
}

fn full(rows: &Rows, unknowns: &[Unknown], held: &[bool]) -> Option<Form> {
    let free: Vec<usize> = (0..unknowns.len()).filter(|at| !held[*at]).collect();
    let (n, p) = (rows.0.len(), free.len());
    let priors = free.iter().filter(|at| unknowns[**at].prior.is_some());
    let mut stacked = DMatrix::zeros(n + p, p);
    for (at, column) in free.iter().enumerate() {
        for (i, row) in rows.0.iter().enumerate() {
            stacked[(i, at)] = row.get(*column);
        }
    }
    for column in priors {
        let at = free.iter().position(|c| c == column)?;
        stacked[(n + at, at)] = 1.0;
    }
    let lengths: Vec<f64> = stacked.column_iter().map(|column| column.norm()).collect();
    if lengths.contains(&0.0) {
        return None;
    }
    for (mut column, length) in stacked.column_iter_mut().zip(&lengths) {
        column /= *length;
    }
    let values = stacked.svd(false, true);
    let right = values.v_t?;
    let (most, least) = (values.singular_values.max(), values.singular_values.min());
    if p > 0 && least <= most * f64::EPSILON * (n + p) as f64 {
        return None;
    }
    let mut covariance = DMatrix::zeros(unknowns.len(), unknowns.len());
    for (i, one) in free.iter().enumerate() {
        for (j, two) in free.iter().enumerate() {
            let parts = values.singular_values.iter().enumerate();
            let sum: f64 = parts.map(|(k, s)| right[(k, i)] * right[(k, j)] / (s * s)).sum();
            covariance[(*one, *two)] = sum / (lengths[i] * lengths[j]);
        }
    }
    let smallest = values.singular_values.iter().position(|s| *s == least);
    let weakest = smallest.map(|row| {
        let mut parts = vec![0.0; unknowns.len()];
        for (at, column) in free.iter().enumerate() {
            parts[*column] = right[(row, at)];
        }
        Direction { parts }
    });
    let condition = if p > 0 { most / least } else { 1.0 };
    Some(Form::Full { covariance, weakest, condition })
}
