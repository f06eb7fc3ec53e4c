//! Levenberg and Marquardt's method, damped by the gain ratio.
//!
//! Damping after Nielsen (Damping parameter in Marquardt's method, IMM, Technical University of Denmark,
//! 1999): `ρ = ΔF / ΔF_linear`; where the loss falls, `μ` is multiplied by `max(1/3, 1 - (2ρ - 1)³)` and
//! the step taken; otherwise `μ` is multiplied by `ν`, and `ν` doubles.

use super::loss::Loss;
use super::posterior::Posterior;
use super::rows::{Row, Rows};
use super::step::Linear;
use super::unknown::Unknown;
use nalgebra::DMatrix;

/// Residuals of a model, in standard deviations, against its unknowns.
pub trait Model {
    /// What is known of a point once its residuals are, and that its derivatives need again.
    type Seen;

    /// The residuals; `None` where they cannot be computed.
    fn residuals(&mut self, x: &[f64]) -> Option<(Vec<f64>, Self::Seen)>;

    /// Their derivatives, at a point where they were computed.
    fn rows(&mut self, x: &[f64], seen: &Self::Seen) -> Option<Rows>;

    /// `A K Aᵀ` with `A` the rows given last and `K` the covariance of the priors, for a model that has a shorter
    /// way to it.
    fn covariance(&self) -> Option<DMatrix<f64>> {
        None
    }
}

/// When a fit stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Largest part of the gradient, over the length of its column, that counts as none.
    pub gradient: f64,
    /// Step, over the length of the vector of unknowns in their units, that counts as none.
    pub step: f64,
    /// Fall of the sum of squares that a step promises and that counts as none.
    pub fall: f64,
    /// Steps that are tried.
    pub iterations: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { gradient: 1e-10, step: 1e-10, fall: 0.0, iterations: 100 }
    }
}

impl Limits {
    /// As near as a tenth of a deviation in the worst direction: enough for a prediction that is off by many.
    pub fn coarse() -> Self {
        Self { gradient: 1e-5, step: 1e-5, fall: 0.01, iterations: 30 }
    }
}

/// Why a fit stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The gradient vanished.
    Gradient,
    /// Steps became too small to matter.
    Step,
    /// All iterations were used.
    Iterations,
}

/// Why there is no fit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FitError {
    /// Nothing can be predicted where the fit starts.
    #[error("residual {residual} is no number where the fit starts")]
    Start {
        /// The first of them.
        residual: usize,
    },
    /// The loss is no number where the fit starts.
    #[error("the sum of squares is no number where the fit starts: a prior has no width")]
    Cost,
    /// Nothing to fit to.
    #[error("there are no observations")]
    NoObservations,
    /// Unknowns without priors outnumber the residuals.
    #[error("{observations} observations do not determine {unknowns} unknowns without priors")]
    Undetermined {
        /// Residuals.
        observations: usize,
        /// Unknowns of which nothing is known.
        unknowns: usize,
    },
}

/// An optimum.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The unknowns.
    pub x: Vec<f64>,
    /// Residuals there, in standard deviations.
    pub residuals: Vec<f64>,
    /// Their derivatives.
    pub rows: Rows,
    /// Their covariance under the priors, where the model has it.
    pub covariance: Option<DMatrix<f64>>,
    /// Weight of each residual under the loss.
    pub weights: Vec<f64>,
    /// The loss with the priors' squares.
    pub cost: f64,
    /// Unknowns that stand at a bound.
    pub held: Vec<bool>,
    /// Steps tried.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: Stop,
}

impl Fit {
    /// The distribution of the unknowns, in which standard deviations of observations are trusted.
    pub fn posterior(&self, unknowns: &[Unknown]) -> Option<Posterior> {
        Posterior::of(self, unknowns)
    }

    /// Sum of squares of residuals and priors over what is left of their count.
    pub fn reduced_chi_squared(&self) -> f64 {
        let free = self.held.iter().filter(|held| !**held).count();
        self.cost / self.residuals.len().saturating_sub(free) as f64
    }
}

/// The optimum of a model from a start.
///
/// # Errors
/// The model cannot be computed at the start, or leaves unknowns without priors undetermined.
pub fn fit(
    model: &mut impl Model,
    unknowns: &[Unknown],
    start: &[f64],
    loss: Loss,
    limits: Limits,
) -> Result<Fit, FitError> {
    let mut problem = Problem { model, unknowns, loss };
    let mut at = problem.begin(start)?;
    let (mut damping, mut growth) = (FIRST_DAMPING, 2.0);
    let mut prepared = None;
    for iteration in 0..limits.iterations {
        let free: Vec<bool> = at.held.iter().map(|held| !held).collect();
        let linear = at.linear(&free);
        let prepared_here = prepared.get_or_insert_with(|| linear.prepared());
        if linear.is_flat(prepared_here, limits.gradient) {
            return Ok(problem.fitted(at, iteration, Stop::Gradient));
        }
        let step = linear.step(prepared_here, damping).map(|step| problem.shortened(step));
        let is_small = |step: &Vec<f64>| problem.is_small(step, &at.x, limits.step);
        if step.as_ref().is_some_and(is_small) {
            return Ok(problem.fitted(at, iteration, Stop::Step));
        }
        // A damped step promises less than there is.
        let promises_little = |step: &Vec<f64>| linear.fall(step) < limits.fall;
        let is_last = damping <= FIRST_DAMPING && step.as_ref().is_some_and(promises_little);
        let trial = step.as_ref().map(|step| problem.moved(&at.x, step));
        let better = trial.and_then(|trial| problem.better(trial, at.cost));
        match (better, step) {
            (Some(better), Some(step)) => {
                let gain = (at.cost - better.cost) / linear.fall(&step);
                damping *= (1.0 - (2.0 * gain - 1.0).powi(3)).max(1.0 / 3.0);
                growth = 2.0;
                let Some(next) = problem.linearised(better) else { break };
                at = next;
                prepared = None;
                if is_last {
                    return Ok(problem.fitted(at, iteration + 1, Stop::Step));
                }
            }
            _ if is_last => return Ok(problem.fitted(at, iteration, Stop::Step)),
            _ => {
                damping *= growth;
                growth *= 2.0;
            }
        }
    }
    Ok(problem.fitted(at, limits.iterations, Stop::Iterations))
}

/// Small, for problems that are nearly linear in logarithms.
const FIRST_DAMPING: f64 = 1e-3;

/// The farthest that a logarithm moves in one step: beyond, a sum of terms no longer shows a term that has
/// become too small by mistake.
const FARTHEST: f64 = 2.0;

/// A covariance with each row and column times a factor.
pub(super) fn weighted_by(covariance: &DMatrix<f64>, factors: &[f64]) -> DMatrix<f64> {
    let factor = |at: usize| factors.get(at).copied().unwrap_or(1.0);
    covariance.map_with_location(|i, j, own| own * factor(i) * factor(j))
}

/// What is fitted.
struct Problem<'a, M> {
    model: &'a mut M,
    unknowns: &'a [Unknown],
    loss: Loss,
}

/// A point on the way, with what is known of it.
struct Found<S> {
    x: Vec<f64>,
    cost: f64,
    residuals: Vec<f64>,
    seen: S,
}

/// A point on the way, linearised, in units of the priors and under the weights of the loss.
struct Linearised {
    x: Vec<f64>,
    cost: f64,
    residuals: Vec<f64>,
    rows: Rows,
    covariance: Option<DMatrix<f64>>,
    weighted_residuals: Vec<f64>,
    weighted_rows: Rows,
    weighted_covariance: Option<DMatrix<f64>>,
    off_prior: Vec<Option<f64>>,
    held: Vec<bool>,
}

impl Linearised {
    fn linear<'a>(&'a self, free: &'a [bool]) -> Linear<'a> {
        let (rows, residuals) = (&self.weighted_rows, self.weighted_residuals.as_slice());
        let covariance = self.weighted_covariance.as_ref();
        Linear { rows, residuals, covariance, off_prior: &self.off_prior, free }
    }
}

impl<M: Model> Problem<'_, M> {
    fn begin(&mut self, start: &[f64]) -> Result<Linearised, FitError> {
        let clamped = self.unknowns.iter().zip(start).map(|(unknown, x)| unknown.clamped(*x));
        let x: Vec<f64> = clamped.collect();
        let found = self.found(x).ok_or(FitError::Start { residual: 0 })?;
        if let Some(residual) = found.residuals.iter().position(|r| !r.is_finite()) {
            return Err(FitError::Start { residual });
        }
        let free = self.unknowns.iter().filter(|unknown| unknown.prior.is_none()).count();
        match found.residuals.len() {
            0 => return Err(FitError::NoObservations),
            n if n < free => {
                return Err(FitError::Undetermined { observations: n, unknowns: free });
            }
            _ => {}
        }
        let at = self.linearised(found).ok_or(FitError::Start { residual: 0 })?;
        // A prior of no width leaves no cost to lower.
        if at.cost.is_finite() { Ok(at) } else { Err(FitError::Cost) }
    }

    fn found(&mut self, x: Vec<f64>) -> Option<Found<M::Seen>> {
        let (residuals, seen) = self.model.residuals(&x)?;
        let cost = self.cost(&x, &residuals);
        Some(Found { x, cost, residuals, seen })
    }

    /// The loss with the priors' squares.
    fn cost(&self, x: &[f64], residuals: &[f64]) -> f64 {
        let data: f64 = residuals.iter().map(|residual| self.loss.of(*residual)).sum();
        let priors = self.unknowns.iter().zip(x).map(|(unknown, x)| unknown.off_prior(*x).powi(2));
        data + priors.sum::<f64>()
    }

    fn linearised(&mut self, found: Found<M::Seen>) -> Option<Linearised> {
        let Found { x, cost, residuals, seen } = found;
        let rows = self.model.rows(&x, &seen)?;
        let scales: Vec<f64> = self.unknowns.iter().map(Unknown::scale).collect();
        let roots: Vec<f64> = residuals.iter().map(|r| self.loss.weight(*r).sqrt()).collect();
        let weighted_residuals = residuals.iter().zip(&roots).map(|(r, root)| r * root).collect();
        let scaled = |row: &Row, root: f64| {
            row.scaled(|column| scales.get(column).copied().unwrap_or(1.0) * root)
        };
        let weighted = rows.0.iter().zip(&roots).map(|(row, root)| scaled(row, *root));
        let weighted_rows = Rows(weighted.collect());
        let covariance = self.model.covariance();
        let weighted_covariance = covariance.as_ref().map(|own| weighted_by(own, &roots));
        let off = |(unknown, x): (&Unknown, &f64)| unknown.prior.map(|_| unknown.off_prior(*x));
        let off_prior = self.unknowns.iter().zip(&x).map(off).collect();
        let mut at = Linearised {
            held: vec![false; x.len()],
            x,
            cost,
            residuals,
            rows,
            covariance,
            weighted_residuals,
            weighted_rows,
            weighted_covariance,
            off_prior,
        };
        let gradient = at.linear(&[]).gradient();
        let held = self.unknowns.iter().zip(&at.x).zip(gradient);
        at.held = held.map(|((unknown, x), g)| unknown.is_held(*x, g)).collect();
        Some(at)
    }

    /// The step, shortened as a whole where it leads too far.
    fn shortened(&self, step: Vec<f64>) -> Vec<f64> {
        let moves = self.unknowns.iter().zip(&step).map(|(unknown, d)| (d * unknown.scale()).abs());
        let farthest = moves.fold(0.0, f64::max);
        let share = if farthest > FARTHEST { FARTHEST / farthest } else { 1.0 };
        step.into_iter().map(|d| d * share).collect()
    }

    /// The point that a step leads to, within bounds.
    fn moved(&self, x: &[f64], step: &[f64]) -> Vec<f64> {
        let moved = self.unknowns.iter().zip(x).zip(step);
        moved.map(|((unknown, x), d)| unknown.clamped(x + d * unknown.scale())).collect()
    }

    /// The point where its cost is below the one before.
    fn better(&mut self, x: Vec<f64>, cost: f64) -> Option<Found<M::Seen>> {
        self.found(x).filter(|found| found.cost < cost)
    }

    fn is_small(&self, step: &[f64], x: &[f64], limit: f64) -> bool {
        let units = self.unknowns.iter().zip(x).map(|(unknown, x)| x / unknown.scale());
        let length: f64 = units.map(|u| u * u).sum::<f64>().sqrt();
        step.iter().map(|d| d * d).sum::<f64>().sqrt() <= limit * (length + limit)
    }

    fn fitted(&self, at: Linearised, iterations: usize, stop: Stop) -> Fit {
        let weights = at.residuals.iter().map(|residual| self.loss.weight(*residual)).collect();
        let Linearised { x, cost, residuals, rows, covariance, held, .. } = at;
        Fit { x, residuals, rows, covariance, weights, cost, held, iterations, stop }
    }
}
