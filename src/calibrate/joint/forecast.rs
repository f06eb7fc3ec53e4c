//! What a fit, or what is known before any, says of measurements.

use super::Joint;
use super::configuration::Tuned;
use super::local::{Around, Local};
use super::model::JointFit;
use super::observation::Run;
use super::scales::Scales;
use super::start::Start;
use crate::calibrate::fit::Row;
use crate::uncertainty::{Interval90, Sigma, threads};

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

/// A number that keeps more of its prior deviation than this was not touched by any measurement.
const UNTOUCHED: f64 = 0.95;

impl JointFit<'_> {
    /// Predictions of some measurements, whether the fit was given them or not.
    pub fn forecasts(&self, wanted: impl Fn(usize) -> bool) -> Vec<Forecast> {
        let variance = |row: &Row| self.posterior.variance(row);
        let is_learnt = |tuned: &Tuned| {
            let row = Row::of(tuned.unknowns.iter().copied());
            variance(&row).sqrt() < UNTOUCHED * self.joint.prior_variance(&row).sqrt()
        };
        let (x, start) = (&self.fit.x, self.start);
        self.joint.forecasts((x, start), self.scales, wanted, variance, is_learnt)
    }
}

impl Joint {
    /// Predictions of some measurements from what is known before any.
    pub fn prior_forecasts(&self, wanted: impl Fn(usize) -> bool) -> Vec<Forecast> {
        let x = vec![0.0; self.unknowns.len()];
        let variance = |row: &Row| self.prior_variance(row);
        self.forecasts((&x, None), Scales::STATED, wanted, variance, |_| false)
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
        (x, known): (&[f64], Option<&Start>),
        scales: Scales,
        wanted: impl Fn(usize) -> bool,
        variance: impl Fn(&Row) -> f64,
        is_learnt: impl Fn(&Tuned) -> bool,
    ) -> Vec<Forecast> {
        let used: Vec<bool> = (0..self.sights.len()).map(&wanted).collect();
        let mut forecasts = Vec::new();
        for (run, local) in self.locals(x, &used, known) {
            let Some(run) = self.runs.get(run) else { continue };
            let Some(configuration) = self.configurations.get(run.configuration) else { continue };
            let learnt: Vec<bool> = configuration.tuned.iter().map(&is_learnt).collect();
            for figure in self.figures_used(run, &used) {
                let sight = run.first + figure;
                let value = self.value(run, &local.values, figure, x);
                let (Some(value), Some(row)) = (value, self.row(run, &local, figure)) else {
                    continue;
                };
                let noise = self.sights.get(sight).map_or(0.0, |sight| scales.sigma_of(sight));
                let unlearnt = |at: usize| !learnt.get(at).copied().unwrap_or(false);
                forecasts.push(Forecast {
                    sight,
                    predicted: value.exp(),
                    sigma: variance(&row).max(0.0).sqrt().hypot(noise),
                    unexcited: local.share_of(figure, unlearnt),
                });
            }
        }
        forecasts
    }

    /// Figures and slopes of all runs that have a measurement in use; by the law around a
    /// known point where it is near.
    fn locals(&self, x: &[f64], used: &[bool], known: Option<&Start>) -> Vec<(usize, Local)> {
        let mut work = self.work(used);
        work.retain(|(_, runs)| !runs.is_empty());
        let found = threads::mapped(&work, |(at, runs)| {
            let logs = self.configurations[*at].logs(x);
            let near = known.and_then(|start| near_start(start.around.get(*at)?, runs, &logs));
            near.unwrap_or_else(|| {
                let around = Around::of(self, &self.configurations[*at], runs, logs);
                runs.iter().filter_map(|run| Some((*run, around.local(*run)?.clone()))).collect()
            })
        });
        let mut found: Vec<(usize, Local)> = found.into_iter().flatten().collect();
        found.sort_by_key(|(run, _)| *run);
        found
    }

    /// The logarithm of a figure as predicted.
    pub(super) fn value(&self, run: &Run, values: &[f64], figure: usize, x: &[f64]) -> Option<f64> {
        let sight = self.sights.get(run.first + figure)?;
        let off = sight.off.iter().filter_map(|(at, weight)| Some(x.get(*at)? * weight));
        Some(values.get(figure)? + off.sum::<f64>())
    }

    /// Its derivatives.
    pub(super) fn row(&self, run: &Run, local: &Local, figure: usize) -> Option<Row> {
        let sight = self.sights.get(run.first + figure)?;
        let configuration = self.configurations.get(run.configuration)?;
        let own = configuration.tuned.iter().zip(&local.slopes).flat_map(|(tuned, slopes)| {
            let slope = slopes.get(figure).copied().unwrap_or(0.0);
            tuned.unknowns.iter().map(move |(at, weight)| (*at, slope * weight))
        });
        Some(Row::of(own.chain(sight.off.iter().copied())))
    }
}

fn near_start(around: &Around, runs: &[usize], logs: &[f64]) -> Option<Vec<(usize, Local)>> {
    let values = around.near(runs, logs)?;
    let locals = runs.iter().zip(values).map(|(run, values)| {
        let slopes = around.local(*run)?.slopes.clone();
        Some((*run, Local { values, slopes }))
    });
    locals.collect()
}
