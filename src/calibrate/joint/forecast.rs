//! What a fit, or what is known before any, says of measurements.

use super::Joint;
use super::configuration::{Configuration, Tuned};
use super::local::{Around, Local};
use super::model::JointFit;
use super::observation::Run;
use super::scales::Scales;
use super::start::Start;
use crate::calibrate::fit::Row;
use crate::uncertainty::{Interval90, Sigma, Z90, threads};

/// A prediction of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// The measurement, by index among the sights.
    pub sight: usize,
    /// The prediction, in SI.
    pub predicted: f64,
    /// Deviation of its logarithm, the scatter of the measurement in it.
    pub sigma: f64,
    /// The same to either side as the interval has it: a part of a sum that is known to a factor makes the sum
    /// larger by more than smaller.
    pub spread: Sigma,
    /// Share of it that rests on numbers which no measurement told anything about.
    pub unexcited: f64,
}

impl Forecast {
    /// The interval that 90 of 100 measurements lie in.
    pub fn interval(&self) -> Interval90 {
        self.spread.interval(self.predicted)
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
        let along = |row: &Row| self.posterior.along(row);
        self.joint.forecasts((x, start), self.scales, wanted, along, is_learnt)
    }
}

impl Joint {
    /// Predictions of some measurements from what is known before any.
    pub fn prior_forecasts(&self, wanted: impl Fn(usize) -> bool) -> Vec<Forecast> {
        let x = vec![0.0; self.unknowns.len()];
        let along = |row: &Row| self.prior_along(row);
        self.forecasts((&x, None), Scales::STATED, wanted, along, |_| false)
    }

    /// Variance of a linear function of the unknowns before any measurement.
    pub fn prior_variance(&self, row: &Row) -> f64 {
        let own = |(at, slope): (usize, f64)| {
            let prior = self.unknowns.get(at).and_then(|unknown| unknown.prior);
            prior.map_or(0.0, |prior| (slope * prior.deviation).powi(2))
        };
        row.entries().map(own).sum()
    }

    /// Covariance of a linear function of the unknowns with each of them, before any measurement.
    fn prior_along(&self, row: &Row) -> Vec<f64> {
        let mut along = vec![0.0; self.unknowns.len()];
        for (at, slope) in row.entries() {
            let prior = self.unknowns.get(at).and_then(|unknown| unknown.prior);
            if let (Some(along), Some(prior)) = (along.get_mut(at), prior) {
                *along = slope * prior.deviation.powi(2);
            }
        }
        along
    }

    fn forecasts(
        &self,
        (x, known): (&[f64], Option<&Start>),
        scales: Scales,
        wanted: impl Fn(usize) -> bool,
        along: impl Fn(&Row) -> Vec<f64>,
        is_learnt: impl Fn(&Tuned) -> bool,
    ) -> Vec<Forecast> {
        let used: Vec<bool> = (0..self.sights.len()).map(&wanted).collect();
        let mut forecasts = Vec::new();
        for (at, local) in self.locals(x, &used, known) {
            let Some(run) = self.runs.get(at) else { continue };
            let Some(configuration) = self.configurations.get(run.configuration) else { continue };
            let logs = configuration.logs(x);
            let learnt: Vec<bool> = configuration.tuned.iter().map(&is_learnt).collect();
            for figure in self.figures_used(run, &used) {
                let sight = run.first + figure;
                let value = self.value(run, &local.values, figure, x);
                let (Some(value), Some(row)) = (value, self.row(run, &local, figure)) else {
                    continue;
                };
                let noise = self.sights.get(sight).map_or(0.0, |sight| scales.sigma_of(sight));
                let unlearnt = |at: usize| !learnt.get(at).copied().unwrap_or(false);
                let along = along(&row);
                let sigma = row.times(&along).max(0.0).sqrt().hypot(noise);
                let side = |sign: f64| {
                    let side =
                        Side { joint: self, configuration, logs: &logs, along: &along, sign };
                    side.deviation(at, &local, figure, (noise, sigma))
                };
                forecasts.push(Forecast {
                    sight,
                    predicted: value.exp(),
                    sigma,
                    spread: Sigma { up: side(1.0), down: side(-1.0) },
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

/// How far a figure goes to a side.
///
/// Of all points that are as probable, the one where a figure with slopes `g` is largest lies at `k C g / σ` from the
/// optimum, with `C` the covariance of the unknowns and `σ` the deviation of the figure: what the model says there is
/// its quantile at `k` deviations (the first-order reliability method; Hasofer and Lind 1974). Where the figure is a
/// line that is `k σ`. A part of a sum that is known to a factor makes it go up by more and down by less, and a part
/// that others hide does not make it go down at all.
struct Side<'a> {
    joint: &'a Joint,
    configuration: &'a Configuration,
    /// Logarithms of the factors on its fitted numbers.
    logs: &'a [f64],
    /// Covariance of the logarithm of the figure with each unknown.
    along: &'a [f64],
    /// Upwards or downwards.
    sign: f64,
}

impl Side<'_> {
    /// The deviation, so that 1.645 of them are the quantile; `sigma` where the model does not lead there.
    fn deviation(
        &self,
        run: usize,
        local: &Local,
        figure: usize,
        (noise, sigma): (f64, f64),
    ) -> f64 {
        self.quantile(run, local, figure, (noise, sigma))
            .map(|quantile| quantile / (self.sign * Z90))
            .filter(|own| own.is_finite() && *own > 0.0)
            .unwrap_or(sigma)
    }

    fn quantile(
        &self,
        run: usize,
        local: &Local,
        figure: usize,
        (noise, sigma): (f64, f64),
    ) -> Option<f64> {
        let step = self.sign * Z90 / sigma;
        let sum = |weighted: &[(usize, f64)]| -> f64 {
            weighted.iter().filter_map(|(at, weight)| Some(self.along.get(*at)? * weight)).sum()
        };
        let there = self.configuration.tuned.iter().zip(self.logs);
        let there: Vec<f64> = there.map(|(tuned, log)| log + step * sum(&tuned.unknowns)).collect();
        let values = self.joint.values(self.configuration, &[run], &there);
        let change = values.first()?.get(figure)? - local.values.get(figure)?;
        let sight = self.joint.runs.get(run)?.first + figure;
        let off = sum(&self.joint.sights.get(sight)?.off);
        // Scatter and discrepancies are factors of their own.
        Some(change + step * (off + noise * noise))
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
