//! The joint prediction as a model to fit, and what a fit of it forecasts.

use super::Joint;
use super::configuration::{Configuration, Tuned};
use super::observation::{Doing, Run};
use super::scales::Scales;
use crate::calibrate::fit::{Fit, FitError, Limits, Loss, Model, Posterior, Row, Rows, fit};
use crate::hardware::Movable;
use crate::uncertainty::{Interval90, Sigma, threads};

/// The difference of logarithms that slopes are taken over: small beside any spread, large beside rounding.
const STEP: f64 = 1e-4;

/// Which measurements a fit is given.
#[derive(Debug)]
pub struct Given<'a> {
    joint: &'a Joint,
    /// For each of the sights.
    used: Vec<bool>,
    /// Where the fit starts: what is known there already.
    start: Option<&'a Start>,
    /// How much wider than stated noise and discrepancy are.
    scales: Scales,
}

/// A point that several fits start from, with all figures and slopes there.
#[derive(Debug)]
pub struct Start {
    x: Vec<f64>,
    scales: Scales,
    /// By run.
    locals: Vec<Local>,
    /// Derivatives of the logarithm of each prediction, by sight.
    rows: Vec<Row>,
}

/// A fit to some of the measurements.
#[derive(Debug)]
pub struct JointFit<'a> {
    pub(super) joint: &'a Joint,
    /// The optimum.
    pub fit: Fit,
    /// The distribution around it.
    pub posterior: Posterior,
    /// The measurements that it was given, by index.
    pub given: Vec<usize>,
    /// How much wider than stated noise and discrepancy are.
    pub scales: Scales,
    /// Where it started.
    start: Option<&'a Start>,
}

/// A prediction of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// The measurement, by index among the sights.
    pub sight: usize,
    /// The prediction, in SI.
    pub predicted: f64,
    /// Deviation of its logarithm, the scatter of the measurement in it.
    pub sigma: f64,
    /// Share of it that rests on numbers which no measurement told anything about.
    pub unexcited: f64,
}

impl Forecast {
    /// The interval that 90 of 100 measurements lie in.
    pub fn interval(&self) -> Interval90 {
        Sigma { up: self.sigma, down: self.sigma }.interval(self.predicted)
    }
}

/// Figures of a run: logarithms, and their slopes with the logarithm of each fitted number.
#[derive(Debug, Clone)]
pub(super) struct Local {
    values: Vec<f64>,
    pub slopes: Vec<Vec<f64>>,
    /// True where slopes are those of the start.
    is_known: bool,
}

impl Start {
    pub(super) fn locals(&self) -> &[Local] {
        &self.locals
    }

    /// Figures of runs of a configuration at a point so near that they are straight up to there; `None` where
    /// it is not.
    fn near(&self, configuration: &Configuration, runs: &[usize], x: &[f64]) -> Option<Vec<Local>> {
        let moved = configuration.moved(&self.x, x)?;
        let near = runs.iter().map(|run| {
            let start = self.locals.get(*run)?;
            let mut values = start.values.clone();
            for (slopes, moved) in start.slopes.iter().zip(&moved) {
                for (value, slope) in values.iter_mut().zip(slopes) {
                    *value += slope * moved;
                }
            }
            Some(Local { values, slopes: start.slopes.clone(), is_known: true })
        });
        near.collect()
    }
}

impl Local {
    /// Share of the slopes of a figure that some of the numbers have.
    fn share_of(&self, figure: usize, is_one: impl Fn(usize) -> bool) -> f64 {
        let slopes = || self.slopes.iter().map(|own| own.get(figure).map_or(0.0, |s| s.abs()));
        let all: f64 = slopes().sum();
        let some: f64 = slopes().enumerate().filter(|(n, _)| is_one(*n)).map(|(_, s)| s).sum();
        if all > 0.0 { some / all } else { 0.0 }
    }
}

impl Joint {
    /// The measurements that `is_used` picks.
    pub fn given(&self, is_used: impl Fn(usize) -> bool) -> Given<'_> {
        Given {
            joint: self,
            used: (0..self.sights.len()).map(is_used).collect(),
            start: None,
            scales: Scales::STATED,
        }
    }

    /// A point for fits to start from, with the scales to start with.
    pub fn start(&self, x: &[f64], scales: Scales) -> Start {
        let all = vec![true; self.sights.len()];
        let locals: Vec<Local> =
            self.locals(x, &all, true, None).into_iter().map(|(_, local)| local).collect();
        let rows = self.runs.iter().zip(&locals).flat_map(|(run, local)| {
            let row = |figure| self.row(run, local, figure);
            (0..run.figures).map(move |figure| row(figure).unwrap_or_default())
        });
        Start { x: x.to_vec(), scales, rows: rows.collect(), locals }
    }

    /// Predictions of some measurements from what is known before any.
    pub fn prior_forecasts(&self, wanted: impl Fn(usize) -> bool) -> Vec<Forecast> {
        let x = vec![0.0; self.unknowns.len()];
        let variance = |row: &Row| self.prior_variance(row);
        self.forecasts(&x, wanted, None, Scales::STATED, variance, |_| false)
    }

    /// Variance of a linear function of the unknowns before any measurement.
    pub fn prior_variance(&self, row: &Row) -> f64 {
        let own = |(at, slope): (usize, f64)| {
            let prior = self.unknowns.get(at).and_then(|unknown| unknown.prior);
            prior.map_or(0.0, |prior| (slope * prior.deviation).powi(2))
        };
        row.entries().map(own).sum()
    }

    fn forecasts(
        &self,
        x: &[f64],
        wanted: impl Fn(usize) -> bool,
        known: Option<&Start>,
        scales: Scales,
        variance: impl Fn(&Row) -> f64,
        is_learnt: impl Fn(&Tuned) -> bool,
    ) -> Vec<Forecast> {
        let used: Vec<bool> = (0..self.sights.len()).map(&wanted).collect();
        let mut forecasts = Vec::new();
        for (run, local) in self.locals(x, &used, true, known) {
            let Some(run) = self.runs.get(run) else { continue };
            let Some(configuration) = self.configurations.get(run.configuration) else { continue };
            let learnt: Vec<bool> = configuration.tuned.iter().map(&is_learnt).collect();
            for figure in self.figures_used(run, &used) {
                let sight = run.first + figure;
                let value = self.value(run, &local, figure, x);
                let (Some(value), Some(row)) = (value, self.row(run, &local, figure)) else {
                    continue;
                };
                let noise = self.sights.get(sight).map_or(0.0, |sight| scales.sigma_of(sight));
                forecasts.push(Forecast {
                    sight,
                    predicted: value.exp(),
                    sigma: variance(&row).max(0.0).sqrt().hypot(noise),
                    unexcited: local
                        .share_of(figure, |at| !learnt.get(at).copied().unwrap_or(false)),
                });
            }
        }
        forecasts
    }

    fn figures_used(&self, run: &Run, used: &[bool]) -> Vec<usize> {
        let of = |figure: &usize| used.get(run.first + figure).copied().unwrap_or(false);
        (0..run.figures).filter(of).collect()
    }

    /// Figures of all runs that have a measurement in use, with slopes where they are asked for.
    fn locals(
        &self,
        x: &[f64],
        used: &[bool],
        slopes: bool,
        known: Option<&Start>,
    ) -> Vec<(usize, Local)> {
        let mut by_configuration: Vec<Vec<usize>> = vec![Vec::new(); self.configurations.len()];
        for (at, run) in self.runs.iter().enumerate() {
            if !self.figures_used(run, used).is_empty()
                && let Some(list) = by_configuration.get_mut(run.configuration)
            {
                list.push(at);
            }
        }
        let work: Vec<(&Configuration, Vec<usize>)> =
            self.configurations.iter().zip(by_configuration).filter(|w| !w.1.is_empty()).collect();
        let found = threads::mapped(&work, |(configuration, runs)| {
            let locals = match known.and_then(|start| start.near(configuration, runs, x)) {
                Some(near) => near,
                None => self.locals_of(configuration, runs, x, slopes),
            };
            runs.iter().copied().zip(locals).collect::<Vec<_>>()
        });
        let mut found: Vec<_> = found.into_iter().flatten().collect();
        found.sort_by_key(|(run, _)| *run);
        found
    }

    fn locals_of(
        &self,
        configuration: &Configuration,
        runs: &[usize],
        x: &[f64],
        slopes: bool,
    ) -> Vec<Local> {
        let factors = configuration.factors(x);
        let mut movable = Movable::of(&configuration.bench.profile);
        let mut at = |number: Option<usize>, by: f64| -> Vec<Vec<f64>> {
            let profile = movable.perturbed(|index, value| {
                let own = factors.get(index).copied().unwrap_or(0.0);
                let step = if number == Some(index) { by } else { 0.0 };
                if own + step == 0.0 { value } else { value * (own + step).exp() }
            });
            let values = runs.iter().filter_map(|run| self.runs.get(*run)).map(|run| {
                let values = match &run.doing {
                    Doing::Network(network, figures) => {
                        configuration.bench.values(network, figures, profile)
                    }
                    Doing::Rest(state) => vec![configuration.bench.idle_power(state, profile)],
                };
                values.into_iter().map(f64::ln).collect()
            });
            values.collect()
        };
        let mut locals: Vec<Local> = at(None, 0.0)
            .into_iter()
            .map(|values| Local { values, slopes: Vec::new(), is_known: false })
            .collect();
        if slopes {
            for tuned in &configuration.tuned {
                for (local, moved) in locals.iter_mut().zip(at(Some(tuned.index), STEP)) {
                    let slope = moved.iter().zip(&local.values).map(|(a, b)| (a - b) / STEP);
                    let slope = slope.collect();
                    local.slopes.push(slope);
                }
            }
        }
        locals
    }

    /// The logarithm of a figure as predicted.
    fn value(&self, run: &Run, local: &Local, figure: usize, x: &[f64]) -> Option<f64> {
        let sight = self.sights.get(run.first + figure)?;
        let off = sight.off.iter().filter_map(|(at, weight)| Some(x.get(*at)? * weight));
        Some(local.values.get(figure)? + off.sum::<f64>())
    }

    /// Its derivatives.
    fn row(&self, run: &Run, local: &Local, figure: usize) -> Option<Row> {
        let sight = self.sights.get(run.first + figure)?;
        let configuration = self.configurations.get(run.configuration)?;
        let own = configuration.tuned.iter().zip(&local.slopes).flat_map(|(tuned, slopes)| {
            let slope = slopes.get(figure).copied().unwrap_or(0.0);
            tuned.unknowns.iter().map(move |(at, weight)| (*at, slope * weight))
        });
        Some(Row::of(own.chain(sight.off.iter().copied())))
    }
}

impl<'a> Given<'a> {
    /// The same, for a fit that starts at a point.
    pub fn starting_at(self, start: &'a Start) -> Self {
        Self { start: Some(start), scales: start.scales, ..self }
    }

    /// The fit to these measurements, from its start or from the priors.
    ///
    /// # Errors
    /// There is nothing to fit to, or something cannot be predicted.
    pub fn fitted(mut self, loss: Loss, limits: Limits) -> Result<JointFit<'a>, FitError> {
        let zeros = vec![0.0; self.joint.unknowns.len()];
        let start = self.start.map_or(zeros, |start| self.without_what_is_out(start));
        let mut fitted = self.fitted_once(&start, loss, limits)?;
        let Some(worth) = self.joint.worth else { return Ok(fitted) };
        for _ in 0..ROUNDS {
            let scales = Scales::told_by(&fitted, worth);
            let stands = scales.are_near(self.scales);
            self.scales = scales;
            fitted = self.fitted_once(&fitted.fit.x, loss, limits)?;
            if stands {
                break;
            }
        }
        Ok(fitted)
    }

    /// A start in which unknowns that only measurements which are not given depend on stand at their priors:
    /// what was known of them came from those.
    fn without_what_is_out(&self, start: &Start) -> Vec<f64> {
        let mut depended = vec![false; start.x.len()];
        let given = start.rows.iter().zip(&self.used).filter(|(_, used)| **used);
        for (unknown, _) in given.flat_map(|(row, _)| row.entries()) {
            if let Some(depended) = depended.get_mut(unknown) {
                *depended = true;
            }
        }
        let kept = start.x.iter().zip(depended);
        kept.map(|(x, depended)| if depended { *x } else { 0.0 }).collect()
    }

    fn fitted_once(
        &self,
        start: &[f64],
        loss: Loss,
        limits: Limits,
    ) -> Result<JointFit<'a>, FitError> {
        let unknowns = self.scales.applied(self.joint);
        let fit = fit(self, &unknowns, start, loss, limits)?;
        let posterior = fit.posterior(&unknowns).ok_or(FitError::Undetermined {
            observations: fit.residuals.len(),
            unknowns: unknowns.len(),
        })?;
        let (joint, given, scales) = (self.joint, self.indices(), self.scales);
        Ok(JointFit { joint, fit, posterior, given, scales, start: self.start })
    }

    fn indices(&self) -> Vec<usize> {
        (0..self.used.len()).filter(|at| self.used.get(*at).copied().unwrap_or(false)).collect()
    }

    fn residuals_of(&self, x: &[f64], slopes: bool) -> (Vec<f64>, Vec<Row>) {
        let (mut residuals, mut rows) = (Vec::new(), Vec::new());
        for (at, local) in self.joint.locals(x, &self.used, slopes, self.start) {
            let Some(run) = self.joint.runs.get(at) else { continue };
            for figure in self.joint.figures_used(run, &self.used) {
                let value = self.joint.value(run, &local, figure, x);
                let sight = self.joint.sights.get(run.first + figure);
                let (Some(value), Some(sight)) = (value, sight) else { continue };
                let sigma = self.scales.sigma_of(sight);
                residuals.push((value - sight.measured.ln()) / sigma);
                if slopes {
                    let known = self.start.filter(|_| local.is_known);
                    let row = match known.and_then(|start| start.rows.get(run.first + figure)) {
                        Some(row) => row.scaled(|_| 1.0 / sigma),
                        None => self
                            .joint
                            .row(run, &local, figure)
                            .unwrap_or_default()
                            .scaled(|_| 1.0 / sigma),
                    };
                    rows.push(row);
                }
            }
        }
        (residuals, rows)
    }
}

impl Model for Given<'_> {
    fn residuals(&self, x: &[f64]) -> Option<Vec<f64>> {
        Some(self.residuals_of(x, false).0)
    }

    fn linearised(&self, x: &[f64]) -> Option<(Vec<f64>, Rows)> {
        let (residuals, rows) = self.residuals_of(x, true);
        Some((residuals, Rows(rows)))
    }
}

/// Most rounds in which scales are estimated.
const ROUNDS: usize = 8;

/// A number that keeps more of its prior deviation than this was not touched by any measurement.
const UNTOUCHED: f64 = 0.95;

impl JointFit<'_> {
    /// Predictions of some measurements, whether the fit was given them or not.
    pub fn forecasts(&self, wanted: impl Fn(usize) -> bool) -> Vec<Forecast> {
        let variance = |row: &Row| self.posterior.variance(row);
        self.joint.forecasts(&self.fit.x, wanted, self.start, self.scales, variance, |tuned| {
            let row = Row::of(tuned.unknowns.iter().copied());
            variance(&row).sqrt() < UNTOUCHED * self.joint.prior_variance(&row).sqrt()
        })
    }
}
