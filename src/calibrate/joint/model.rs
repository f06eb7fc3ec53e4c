//! The joint prediction as a model to fit.

use super::Joint;
use super::local::{Around, Local};
use super::prior::{Part, PriorOfNumbers, covariance};
use super::scales::Scales;
use super::start::Start;
use crate::calibrate::fit::{Fit, FitError, Limits, Loss, Model, Posterior, Row, Rows, fit};
use crate::uncertainty::threads;
use nalgebra::DMatrix;
use std::sync::Arc;

/// Which measurements a fit is given.
#[derive(Debug)]
pub struct Given<'a> {
    joint: &'a Joint,
    /// For each of the sights.
    used: Vec<bool>,
    /// Where the fit starts: what is known there already.
    start: Option<&'a Start>,
    /// How much wider than stated noise and discrepancy are.
    pub(super) scales: Scales,
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
    pub(super) start: Option<&'a Start>,
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
        let fit = fit(
            &mut Fitting::of(self, limits == Limits::coarse()),
            &unknowns,
            start,
            loss,
            limits,
        )?;
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
}

/// Most rounds in which scales are estimated.
const ROUNDS: usize = 16;

/// A model of what a fit is given, with what it has seen on its way.
pub(super) struct Fitting<'a, 'g> {
    given: &'g Given<'a>,
    /// Configurations by index, with the runs that are in use.
    work: Vec<(usize, Vec<usize>)>,
    /// Whether slopes may be those of the law around where they were taken last.
    by_law: bool,
    /// By configuration: where slopes were taken last.
    around: Vec<Option<Arc<Around>>>,
    /// By configuration: what its runs show where rows were asked for last; none where that is the start.
    last: Vec<Option<Vec<Local>>>,
}

/// What the runs in use of a configuration show at a point.
pub(super) struct Seen {
    logs: Vec<f64>,
    /// Logarithms of figures, by run.
    values: Vec<Vec<f64>>,
    /// True where the start is so near that its slopes do.
    is_near: bool,
}

impl<'a, 'g> Fitting<'a, 'g> {
    pub(super) fn of(given: &'g Given<'a>, by_law: bool) -> Self {
        let work = given.joint.work(&given.used);
        let around = work.iter().map(|(at, _)| given.start?.around.get(*at).cloned()).collect();
        Self { given, by_law, last: vec![None; work.len()], work, around }
    }

    fn seen(&self, at: usize, runs: &[usize], x: &[f64]) -> Option<Seen> {
        let joint = self.given.joint;
        let configuration = joint.configurations.get(at)?;
        let logs = configuration.logs(x);
        let start = self.given.start.and_then(|start| start.around.get(at));
        let near = start.and_then(|start| start.near(runs, &logs));
        let is_near = near.is_some();
        let values = near.unwrap_or_else(|| joint.values(configuration, runs, &logs));
        Some(Seen { logs, values, is_near })
    }

    /// Slopes of the runs of a configuration: by the law around where they were taken last, as long as it holds
    /// and no more than that is asked for; else anew, for the place to be remembered.
    fn rows_of(&self, (at, runs): &(usize, Vec<usize>), seen: &Seen) -> Option<Sloped> {
        let joint = self.given.joint;
        if seen.is_near {
            return Some(Sloped { rows: self.rows_of_start(runs)?, locals: None, anew: None });
        }
        let known = self.around.get(*at)?.as_ref().filter(|_| self.by_law);
        let known = known.and_then(|around| around.slopes_at(runs, &seen.logs, &seen.values));
        let (locals, anew) = match known {
            Some(locals) => (locals, None),
            None => {
                let configuration = joint.configurations.get(*at)?;
                let logs = seen.logs.clone();
                let around = Around::with(joint, configuration, runs, logs, &seen.values);
                let locals = runs.iter().filter_map(|run| around.local(*run).cloned());
                (locals.collect(), Some(Arc::new(around)))
            }
        };
        let mut rows = Vec::new();
        for (run, local) in runs.iter().zip(&locals) {
            let run = joint.runs.get(*run)?;
            for figure in joint.figures_used(run, &self.given.used) {
                let sigma = self.given.sigma(run.first + figure)?;
                rows.push(joint.row(run, local, figure)?.scaled(|_| 1.0 / sigma));
            }
        }
        Some(Sloped { rows, locals: Some(locals), anew })
    }

    fn rows_of_start(&self, runs: &[usize]) -> Option<Vec<Row>> {
        let (joint, start) = (self.given.joint, self.given.start?);
        let mut rows = Vec::new();
        for run in runs {
            let run = joint.runs.get(*run)?;
            for sight in joint.figures_used(run, &self.given.used).map(|f| run.first + f) {
                let sigma = self.given.sigma(sight)?;
                rows.push(start.rows.get(sight)?.scaled(|_| 1.0 / sigma));
            }
        }
        Some(rows)
    }
}

/// Rows of a configuration, and where slopes were taken anew.
struct Sloped {
    rows: Vec<Row>,
    /// None where they are those of the start.
    locals: Option<Vec<Local>>,
    anew: Option<Arc<Around>>,
}

impl Given<'_> {
    fn sigma(&self, sight: usize) -> Option<f64> {
        Some(self.scales.sigma_of(self.joint.sights.get(sight)?))
    }
}

impl Model for Fitting<'_, '_> {
    type Seen = Vec<Seen>;

    fn residuals(&mut self, x: &[f64]) -> Option<(Vec<f64>, Vec<Seen>)> {
        let joint = self.given.joint;
        let seen = threads::mapped(&self.work, |(at, runs)| self.seen(*at, runs, x));
        let seen = seen.into_iter().collect::<Option<Vec<_>>>()?;
        let mut residuals = Vec::new();
        for ((_, runs), seen) in self.work.iter().zip(&seen) {
            for (run, values) in runs.iter().zip(&seen.values) {
                let run = joint.runs.get(*run)?;
                for figure in joint.figures_used(run, &self.given.used) {
                    let sight = joint.sights.get(run.first + figure)?;
                    let value = joint.value(run, values, figure, x)?;
                    let sigma = self.given.sigma(run.first + figure)?;
                    residuals.push((value - sight.measured.ln()) / sigma);
                }
            }
        }
        Some((residuals, seen))
    }

    fn rows(&mut self, _: &[f64], seen: &Vec<Seen>) -> Option<Rows> {
        let work: Vec<_> = self.work.iter().zip(seen).collect();
        let sloped = threads::mapped(&work, |(work, seen)| self.rows_of(work, seen));
        let sloped = sloped.into_iter().collect::<Option<Vec<_>>>()?;
        let mut rows = Vec::new();
        for ((around, last), own) in self.around.iter_mut().zip(&mut self.last).zip(sloped) {
            rows.extend(own.rows);
            *last = own.locals;
            if let Some(anew) = own.anew {
                *around = Some(anew);
            }
        }
        Some(Rows(rows))
    }

    fn covariance(&self) -> Option<DMatrix<f64>> {
        let (joint, used) = (self.given.joint, &self.given.used);
        let parts = self.work.iter().zip(&self.last).map(|(work, last)| {
            let locals: Vec<&Local> = match last {
                Some(locals) => locals.iter().collect(),
                None => {
                    let around = self.given.start?.around.get(work.0)?;
                    work.1.iter().map(|run| around.local(*run)).collect::<Option<_>>()?
                }
            };
            Part::of(joint, work, &locals, used, self.given.scales)
        });
        let prior = joint.prior.get_or_init(|| PriorOfNumbers::of(joint));
        covariance(prior, &parts.collect::<Option<Vec<_>>>()?)
    }
}
