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

/// Residuals of a model, in standard deviations, against its unknowns.
pub trait Model {
    /// The residuals; `None` where they cannot be computed.
    fn residuals(&self, x: &[f64]) -> Option<Vec<f64>>;

    /// The residuals with their derivatives.
    fn linearised(&self, x: &[f64]) -> Option<(Vec<f64>, Rows)>;
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
    model: &impl Model,
    unknowns: &[Unknown],
    start: &[f64],
    loss: Loss,
    limits: Limits,
) -> Result<Fit, FitError> {
    let problem = Problem { model, unknowns, loss };
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
        let is_last = |step: &Vec<f64>| {
            problem.is_small(step, &at.x, limits.step) || linear.fall(step) < limits.fall
        };
        if step.as_ref().is_some_and(is_last) {
            return Ok(problem.fitted(at, iteration, Stop::Step));
        }
        let trial = step.as_ref().map(|step| problem.moved(&at.x, step));
        let better = trial.and_then(|trial| problem.better(trial, at.cost));
        match (better, step) {
            (Some((x, cost)), Some(step)) => {
                let gain = (at.cost - cost) / linear.fall(&step);
                damping *= (1.0 - (2.0 * gain - 1.0).powi(3)).max(1.0 / 3.0);
                growth = 2.0;
                let Some(next) = problem.linearised(x) else { break };
                at = next;
                prepared = None;
            }
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

/// What is fitted.
struct Problem<'a, M> {
    model: &'a M,
    unknowns: &'a [Unknown],
    loss: Loss,
}

/// A point on the way, linearised, in units of the priors and under the weights of the loss.
struct Linearised {
    x: Vec<f64>,
    cost: f64,
    residuals: Vec<f64>,
    rows: Rows,
    weighted_residuals: Vec<f64>,
    weighted_rows: Rows,
    off_prior: Vec<Option<f64>>,
    held: Vec<bool>,
}

impl Linearised {
    fn linear<'a>(&'a self, free: &'a [bool]) -> Linear<'a> {
        let (rows, residuals) = (&self.weighted_rows, self.weighted_residuals.as_slice());
        Linear { rows, residuals, off_prior: &self.off_prior, free }
    }
}

impl<M: Model> Problem<'_, M> {
    fn begin(&self, start: &[f64]) -> Result<Linearised, FitError> {
        let clamped = self.unknowns.iter().zip(start).map(|(unknown, x)| unknown.clamped(*x));
        let x: Vec<f64> = clamped.collect();
        let residuals = self.model.residuals(&x).ok_or(FitError::Start { residual: 0 })?;
        if let Some(residual) = residuals.iter().position(|r| !r.is_finite()) {
            return Err(FitError::Start { residual });
        }
        let free = self.unknowns.iter().filter(|unknown| unknown.prior.is_none()).count();
        match residuals.len() {
            0 => return Err(FitError::NoObservations),
            n if n < free => {
                return Err(FitError::Undetermined { observations: n, unknowns: free });
            }
            _ => {}
        }
        let at = self.linearised(x).ok_or(FitError::Start { residual: 0 })?;
        // A prior of no width leaves no cost to lower.
        if at.cost.is_finite() { Ok(at) } else { Err(FitError::Cost) }
    }

    /// The loss with the priors' squares.
    fn cost(&self, x: &[f64], residuals: &[f64]) -> f64 {
        let data: f64 = residuals.iter().map(|residual| self.loss.of(*residual)).sum();
        let priors = self.unknowns.iter().zip(x).map(|(unknown, x)| unknown.off_prior(*x).powi(2));
        data + priors.sum::<f64>()
    }

    fn linearised(&self, x: Vec<f64>) -> Option<Linearised> {
        let (residuals, rows) = self.model.linearised(&x)?;
        let cost = self.cost(&x, &residuals);
        let scales: Vec<f64> = self.unknowns.iter().map(Unknown::scale).collect();
        let roots: Vec<f64> = residuals.iter().map(|r| self.loss.weight(*r).sqrt()).collect();
        let weighted_residuals = residuals.iter().zip(&roots).map(|(r, root)| r * root).collect();
        let scaled = |row: &Row, root: f64| {
            row.scaled(|column| scales.get(column).copied().unwrap_or(1.0) * root)
        };
        let weighted = rows.0.iter().zip(&roots).map(|(row, root)| scaled(row, *root));
        let weighted_rows = Rows(weighted.collect());
        let off = |(unknown, x): (&Unknown, &f64)| unknown.prior.map(|_| unknown.off_prior(*x));
        let off_prior = self.unknowns.iter().zip(&x).map(off).collect();
        let mut at = Linearised {
            held: vec![false; x.len()],
            x,
            cost,
            residuals,
            rows,
            weighted_residuals,
            weighted_rows,
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

    /// The point with its cost where that is below the one before.
    fn better(&self, x: Vec<f64>, cost: f64) -> Option<(Vec<f64>, f64)> {
        let own = self.cost(&x, &self.model.residuals(&x)?);
        (own < cost).then_some((x, own))
    }

    fn is_small(&self, step: &[f64], x: &[f64], limit: f64) -> bool {
        let units = self.unknowns.iter().zip(x).map(|(unknown, x)| x / unknown.scale());
        let length: f64 = units.map(|u| u * u).sum::<f64>().sqrt();
        step.iter().map(|d| d * d).sum::<f64>().sqrt() <= limit * (length + limit)
    }

    fn fitted(&self, at: Linearised, iterations: usize, stop: Stop) -> Fit {
        let weights = at.residuals.iter().map(|residual| self.loss.weight(*residual)).collect();
        let Linearised { x, cost, residuals, rows, held, .. } = at;
        Fit { x, residuals, rows, weights, cost, held, iterations, stop }
    }
}
