//! Figures of runs and their slopes with the fitted numbers.

use super::Joint;
use super::configuration::Configuration;
use super::observation::Doing;
use crate::calibrate::case::Quantity;
use crate::hardware::Profile;

/// The difference of logarithms that slopes are taken over: small beside any spread, large beside rounding.
const STEP: f64 = 1e-4;

/// Logarithms of figures that the law of [`Around`] gets this near to have its slopes too.
const HELD: f64 = 0.005;

/// Logarithms of factors that differ by less than this leave the law as good as exact.
const NEAR: f64 = 0.01;

/// Figures of a run: logarithms, and their slopes with the logarithm of each fitted number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Local {
    pub values: Vec<f64>,
    /// By fitted number, then by figure.
    pub slopes: Vec<Vec<f64>>,
}

impl Local {
    /// Share of the slopes of a figure that some of the numbers have.
    pub fn share_of(&self, figure: usize, is_one: impl Fn(usize) -> bool) -> f64 {
        let slopes = || self.slopes.iter().map(|own| own.get(figure).map_or(0.0, |s| s.abs()));
        let all: f64 = slopes().sum();
        let some: f64 = slopes().enumerate().filter(|(n, _)| is_one(*n)).map(|(_, s)| s).sum();
        if all > 0.0 { some / all } else { 0.0 }
    }
}

/// What runs of a configuration show at a point, and hence near it.
///
/// Times are sums of terms, each with a factor of one number, and energies are such sums for time times such
/// sums for power: `y = y₀ Π_g (1 + Σ_{i∈g} s_i (e^{d_i} - 1))`, with `s` the slopes, `d` by how much logarithms
/// of factors differ, `g` the numbers that time depends on and the others. A number that makes a figure smaller
/// divides it: `e^{s d}`.
#[derive(Debug)]
pub(super) struct Around {
    /// Logarithms of the factors on each fitted number.
    logs: Vec<f64>,
    /// The runs, rising.
    runs: Vec<usize>,
    /// What each shows.
    locals: Vec<Local>,
    /// For each run, the numbers that its time depends on.
    timed: Vec<Vec<bool>>,
}

impl Around {
    pub fn of(
        joint: &Joint,
        configuration: &Configuration,
        runs: &[usize],
        logs: Vec<f64>,
    ) -> Self {
        let values = joint.values(configuration, runs, &logs);
        Self::with(joint, configuration, runs, logs, &values)
    }

    /// That of a point where values are known.
    pub fn with(
        joint: &Joint,
        configuration: &Configuration,
        runs: &[usize],
        logs: Vec<f64>,
        values: &[Vec<f64>],
    ) -> Self {
        let locals = joint.slopes(configuration, runs, &logs, values);
        let timed = runs.iter().zip(&locals).map(|(run, local)| joint.timed(*run, local)).collect();
        Self { logs, runs: runs.to_vec(), locals, timed }
    }

    pub fn local(&self, run: usize) -> Option<&Local> {
        self.locals.get(self.runs.binary_search(&run).ok()?)
    }

    /// Values of some of the runs as the law has them; `None` where it leads too far.
    pub fn near(&self, runs: &[usize], logs: &[f64]) -> Option<Vec<Vec<f64>>> {
        let moved = self.moved(logs);
        if !moved.iter().all(|moved| moved.abs() < NEAR) {
            return None;
        }
        let values = runs.iter().map(|run| {
            let at = self.runs.binary_search(run).ok()?;
            let (local, timed) = (self.locals.get(at)?, self.timed.get(at)?);
            let values = local.values.iter().enumerate();
            let value =
                |(figure, own)| Some(own + Sums::of(local, timed, &moved, figure)?.change());
            values.map(value).collect()
        });
        values.collect()
    }

    /// By how much logarithms of factors differ from those here.
    fn moved(&self, logs: &[f64]) -> Vec<f64> {
        self.logs.iter().zip(logs).map(|(own, other)| other - own).collect()
    }

    /// Slopes at another point, where the law predicts all values that are known there; `None` where it does
    /// not.
    pub fn slopes_at(
        &self,
        runs: &[usize],
        logs: &[f64],
        values: &[Vec<f64>],
    ) -> Option<Vec<Local>> {
        let moved = self.moved(logs);
        let locals = runs.iter().zip(values).map(|(run, values)| {
            let at = self.runs.binary_search(run).ok()?;
            self.law(self.locals.get(at)?, self.timed.get(at)?, &moved, values)
        });
        locals.collect()
    }

    fn law(&self, local: &Local, timed: &[bool], moved: &[f64], values: &[f64]) -> Option<Local> {
        let mut slopes = local.slopes.clone();
        for (figure, (own, value)) in local.values.iter().zip(values).enumerate() {
            let sums = Sums::of(local, timed, moved, figure)?;
            let is_near = (own + sums.change() - value).abs() < HELD;
            // What is no number is not near.
            if !is_near {
                return None;
            }
            for ((of_number, moved), timed) in slopes.iter_mut().zip(moved).zip(timed) {
                let slope = of_number.get_mut(figure)?;
                if *slope > 0.0 {
                    *slope *= moved.exp() / sums.of[usize::from(*timed)];
                }
            }
        }
        Some(Local { values: values.to_vec(), slopes })
    }
}

/// The law of [`Around`] for a figure.
struct Sums {
    /// `1 + Σ s (e^d - 1)` of the numbers that time does not depend on, and of those that it does.
    of: [f64; 2],
    /// `Σ s d` of those that make it smaller.
    divided: f64,
}

impl Sums {
    fn of(local: &Local, timed: &[bool], moved: &[f64], figure: usize) -> Option<Self> {
        let mut sums = Self { of: [1.0, 1.0], divided: 0.0 };
        for ((slopes, moved), timed) in local.slopes.iter().zip(moved).zip(timed) {
            let slope = slopes.get(figure)?;
            if *moved == 0.0 {
                continue;
            }
            if *slope > 0.0 {
                sums.of[usize::from(*timed)] += slope * moved.exp_m1();
            } else {
                sums.divided += slope * moved;
            }
        }
        Some(sums)
    }

    /// By how much the logarithm of the figure differs.
    fn change(&self) -> f64 {
        self.of[0].ln() + self.of[1].ln() + self.divided
    }
}

impl Joint {
    /// Logarithms of figures of runs of a configuration where its fitted numbers have these factors.
    pub(super) fn values(
        &self,
        configuration: &Configuration,
        runs: &[usize],
        logs: &[f64],
    ) -> Vec<Vec<f64>> {
        self.figures(configuration, runs, configuration.moving(logs).here())
    }

    /// The same with slopes, where the values are known.
    fn slopes(
        &self,
        configuration: &Configuration,
        runs: &[usize],
        logs: &[f64],
        values: &[Vec<f64>],
    ) -> Vec<Local> {
        let local = |values: &Vec<f64>| Local { values: values.clone(), slopes: Vec::new() };
        let mut locals: Vec<Local> = values.iter().map(local).collect();
        let mut moving = configuration.moving(logs);
        for number in 0..configuration.tuned.len() {
            let above = self.figures(configuration, runs, moving.with(number, STEP));
            for (local, above) in locals.iter_mut().zip(&above) {
                let slopes = above.iter().zip(&local.values).map(|(a, b)| (a - b) / STEP);
                local.slopes.push(slopes.collect());
            }
        }
        locals
    }

    fn figures(
        &self,
        configuration: &Configuration,
        runs: &[usize],
        profile: &Profile,
    ) -> Vec<Vec<f64>> {
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
    }

    /// The numbers that the time of a run depends on; none where no time is measured.
    fn timed(&self, run: usize, local: &Local) -> Vec<bool> {
        let own = self.runs.get(run);
        let is_time = |figure: &usize| {
            let sight = own.and_then(|run| self.sights.get(run.first + figure));
            sight.is_some_and(|sight| sight.quantity == Quantity::Latency && sight.layer.is_none())
        };
        let time = (0..local.values.len()).find(is_time);
        let depends =
            |slopes: &Vec<f64>| time.and_then(|at| slopes.get(at)).is_some_and(|s| *s != 0.0);
        local.slopes.iter().map(depends).collect()
    }
}
