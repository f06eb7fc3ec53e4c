//! What a fit says: its numbers, what they rest on, and what it could not tell.

use super::calibration::Calibration;
use super::case::Quantity;
use super::experiment::experiment_for;
use super::fit::{Row, Stop};
use super::joint::{Joint, JointFit, Scales};
use crate::uncertainty::Interval90;
use nalgebra::DMatrix;

/// The report of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FitReport {
    /// The calibration.
    pub name: String,
    /// The numbers that were fitted.
    pub numbers: Vec<FittedNumber>,
    /// Correlations of the logarithms of each two of them, in their order; zero where one is exact.
    pub correlations: DMatrix<f64>,
    /// The measurements, in the order of the cases.
    pub sights: Vec<FittedSight>,
    /// Unknowns of the fit: numbers, what they share, and what the model is off by.
    pub unknowns: usize,
    /// Steps that the fit took.
    pub iterations: usize,
    /// False where it ran out of them.
    pub converged: bool,
    /// Sum of squares of residuals and priors over the count of measurements.
    pub chi_squared_per_measurement: f64,
    /// How much wider than stated noise and discrepancy are: of times, of powers.
    pub scales: Scales,
    /// Largest over smallest singular value of the problem in the numbers alone, columns of length one.
    pub condition: Option<f64>,
    /// Numbers that the measurements hardly tell apart.
    pub confused: Vec<Confused>,
    /// What is known least, with the experiment that would settle it.
    pub weakest: Option<Weakest>,
    /// Measurements that contradict one another.
    pub contradictions: Vec<Contradiction>,
    /// Measurements that the fit misses by more than chance, with their pulls.
    pub strained: Vec<(String, f64)>,
    /// Numbers that no measurement depends on.
    pub idle: Vec<String>,
    /// Measurements that no fitted number touches, by name.
    pub untouched: Vec<String>,
}

/// A number of a profile after the fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedNumber {
    /// The profile.
    pub hardware: String,
    /// The version of the runtime that it holds for, where versions differ.
    pub version: Option<String>,
    /// Its path with names.
    pub name: String,
    /// Value and unit as the profile has them.
    pub written: String,
    /// Its value before, in SI.
    pub before: f64,
    /// Its value over that before.
    pub factor: f64,
    /// Deviation of its logarithm before.
    pub sigma_before: f64,
    /// Deviation of its logarithm.
    pub sigma: f64,
    /// Share of what it rests on that is the prior; the rest is measured.
    pub prior_share: f64,
    /// Share of its deviation that is what meters may be off by.
    pub meter_share: f64,
    /// The measurement that told most about it, with its share.
    pub told_by: Option<(String, f64)>,
    /// Mean change of the logarithm of a prediction with that of the number.
    pub effect: f64,
}

impl FittedSight {
    /// Its name with what is measured.
    pub fn name(&self) -> String {
        format!("{} {}", self.id, self.quantity.name())
    }

    /// The residual before the fit, in deviations of what the priors and its own scatter allow.
    pub fn pull_before(&self) -> f64 {
        let off = (self.before / self.measured).ln();
        if self.sigma_before > 0.0 { off / self.sigma_before } else { 0.0 }
    }

    /// By what factor the deviation of the number that it told most about would be wider without it: the share
    /// `t` of that number's variance and the leverage `h` of the measurement make `√(1 + t / (1 - h))`
    /// (a row taken from the normal equations, Sherman and Morrison).
    pub fn sharpens(&self) -> f64 {
        let told = self.tells.as_ref().map_or(0.0, |(_, share)| *share);
        (1.0 + told / (1.0 - self.leverage).max(f64::EPSILON)).sqrt()
    }
}

impl FittedNumber {
    /// Its value, in SI.
    pub fn value(&self) -> f64 {
        self.before * self.factor
    }

    /// How many deviations of its prior it moved by.
    pub fn moved(&self) -> f64 {
        if self.sigma_before > 0.0 { self.factor.ln() / self.sigma_before } else { 0.0 }
    }
}

/// A measurement and its prediction, after the fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedSight {
    /// Case, network and layer.
    pub id: String,
    /// The case.
    pub case: String,
    /// The profile.
    pub hardware: String,
    /// False where the fit did not have it: its source has a fault, or it says nothing new.
    pub given: bool,
    /// What is measured.
    pub quantity: Quantity,
    /// The measurement, in SI.
    pub measured: f64,
    /// Predicted before the fit, in SI.
    pub before: f64,
    /// Deviation of the logarithm of that, the scatter of the measurement in it.
    pub sigma_before: f64,
    /// Predicted after it, in SI.
    pub predicted: f64,
    /// The interval that 90 of 100 such measurements lie in.
    pub interval: Interval90,
    /// Residual of the fit, in its deviations, over the root of what the fit leaves of it.
    pub pull: f64,
    /// Share of the fit's prediction that is its own measurement: one where only it tells.
    pub leverage: f64,
    /// The number that it told most about, with its share of what that rests on.
    pub tells: Option<(String, f64)>,
    /// Why the fit was not given it.
    pub fault: Option<String>,
}

/// Two numbers whose deviations go together.
#[derive(Debug, Clone, PartialEq)]
pub struct Confused {
    /// One of them.
    pub one: String,
    /// The other.
    pub other: String,
    /// Correlation of their logarithms.
    pub correlation: f64,
}

/// The combination of numbers that is known least.
#[derive(Debug, Clone, PartialEq)]
pub struct Weakest {
    /// Its largest parts: numbers, and by what factor of a prediction each is off with it, in logarithms. They
    /// cancel in what was measured.
    pub parts: Vec<(String, f64)>,
    /// What would tell.
    pub experiment: &'static str,
}

/// Measurements that cannot both be right.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// A measurement.
    pub one: String,
    /// The other.
    pub other: String,
    /// By how many deviations they disagree.
    pub sigmas: f64,
}

/// Correlation from which on two numbers count as one.
const CONFUSED: f64 = 0.95;

/// Deviations from which on two measurements of one thing contradict each other.
const CONTRADICT: f64 = 3.0;

/// Cosine of two measurements' sensitivities from which on they measure one thing.
const SAME: f64 = 0.9;

impl FitReport {
    /// The report of a fit of a calibration.
    pub fn of(calibration: &Calibration, joint: &Joint, fitted: &JointFit<'_>) -> Self {
        let report = Reported { joint, fitted };
        let (numbers, shares) = report.numbers();
        let (confused, weakest) = report.directions(&numbers);
        let fit = &fitted.fit;
        let sights = report.sights(&numbers, &shares);
        let strained = sights.iter().filter(|sight| sight.pull.abs() > CONTRADICT);
        let strained = strained.map(|sight| (sight.name(), sight.pull)).collect();
        let (idle, moved): (Vec<_>, Vec<_>) =
            numbers.into_iter().partition(|(number, _)| number.effect == 0.0);
        let correlations = report.correlations(&moved.iter().collect::<Vec<_>>());
        Self {
            name: calibration.name.clone(),
            correlations,
            sights,
            unknowns: joint.unknowns().len(),
            iterations: fit.iterations,
            converged: fit.stop != Stop::Iterations,
            chi_squared_per_measurement: fit.cost / fit.residuals.len() as f64,
            scales: fitted.scales,
            condition: fitted.posterior.condition(),
            confused,
            weakest,
            contradictions: report.contradictions(),
            untouched: report.untouched(),
            strained,
            idle: idle.into_iter().map(|(number, _)| number.name).collect(),
            numbers: moved.into_iter().map(|(number, _)| number).collect(),
        }
    }
}

/// A fit under report.
struct Reported<'a> {
    joint: &'a Joint,
    fitted: &'a JointFit<'a>,
}

impl Reported<'_> {
    /// The numbers, each with what makes it of the unknowns, and the share of what each rests on that each
    /// measurement is.
    fn numbers(&self) -> (Vec<(FittedNumber, Row)>, Vec<Vec<f64>>) {
        let numbers = self.joint.numbers();
        let effects =
            self.joint.effects(&numbers, &self.joint.start(&self.fitted.fit.x, self.fitted.scales));
        let (mut made, mut shares) = (Vec::new(), Vec::new());
        for (number, effect) in numbers.into_iter().zip(effects) {
            let along = self.fitted.posterior.along(&number.row);
            let variance = number.row.times(&along);
            let told = self.told(&along, variance);
            let most = told.iter().enumerate().max_by(|one, other| one.1.total_cmp(other.1));
            let most = most.filter(|(_, share)| **share > 0.0);
            let told_by = most
                .and_then(|(at, share)| Some((self.name(*self.fitted.given.get(at)?)?, *share)));
            let meter_share = self.meters(&along, variance);
            let measured = told.iter().sum::<f64>() + meter_share;
            let fitted = FittedNumber {
                hardware: number.hardware,
                version: number.version,
                name: number.name,
                written: number.written,
                before: number.value,
                factor: number.row.times(&self.fitted.fit.x).exp(),
                sigma_before: self.joint.prior_variance(&number.row).sqrt(),
                sigma: variance.max(0.0).sqrt(),
                prior_share: (1.0 - measured).clamp(0.0, 1.0),
                meter_share,
                told_by,
                effect,
            };
            made.push((fitted, number.row));
            shares.push(told);
        }
        (made, shares)
    }

    /// The share of a variance that is the scatter of each measurement; the rest is that of the priors.
    fn told(&self, along: &[f64], variance: f64) -> Vec<f64> {
        let fit = &self.fitted.fit;
        let own = fit.rows.0.iter().zip(&fit.weights);
        let share = own.map(|(row, weight)| weight * row.times(along).powi(2) / variance);
        share.map(|share| if share.is_finite() { share } else { 0.0 }).collect()
    }

    /// The share of a variance that is what meters may be off by.
    fn meters(&self, along: &[f64], variance: f64) -> f64 {
        let share = |at: usize| {
            let prior = self.joint.unknowns().get(at)?.prior?;
            Some((along.get(at)? / prior.deviation).powi(2) / variance)
        };
        let sum: f64 = self.joint.meters().filter_map(share).sum();
        if sum.is_finite() { sum } else { 0.0 }
    }

    fn name(&self, sight: usize) -> Option<String> {
        let sight = self.joint.sights().get(sight)?;
        Some(format!("{} {}", sight.id, sight.quantity.name()))
    }

    fn sights(&self, numbers: &[(FittedNumber, Row)], shares: &[Vec<f64>]) -> Vec<FittedSight> {
        let before = self.joint.prior_forecasts(|_| true);
        let after = self.fitted.forecasts(|_| true);
        let fit = &self.fitted.fit;
        let list = self.joint.sights().iter().zip(before.iter().zip(&after)).enumerate();
        let list = list.map(|(at, (sight, (before, after)))| {
            let own = self.fitted.given.binary_search(&at).ok();
            let leverage = own.and_then(|own| {
                let variance = self.fitted.posterior.variance(fit.rows.0.get(own)?);
                Some((fit.weights.get(own)? * variance).max(0.0))
            });
            let left = leverage.map_or(after.sigma, |leverage| {
                self.fitted.scales.sigma_of(sight) * (1.0 - leverage).max(f64::EPSILON).sqrt()
            });
            FittedSight {
                id: sight.id.clone(),
                case: sight.keys.case.clone(),
                hardware: sight.keys.hardware.clone(),
                given: own.is_some(),
                quantity: sight.quantity,
                measured: sight.measured,
                before: before.predicted,
                sigma_before: before.sigma,
                predicted: after.predicted,
                interval: after.interval(),
                pull: (after.predicted / sight.measured).ln() / left,
                leverage: leverage.unwrap_or(0.0),
                fault: sight.fault.clone().or(sight.again.map(str::to_owned)),
                tells: own.and_then(|own| {
                    let told = shares.iter().map(|told| told.get(own).copied().unwrap_or(0.0));
                    let told = told.zip(numbers).filter(|(_, (number, _))| number.effect > 0.0);
                    let most = told.max_by(|one, other| one.0.total_cmp(&other.0));
                    let most = most.filter(|(share, _)| *share > 0.0);
                    most.map(|(share, (number, _))| (number.name.clone(), share))
                }),
            }
        });
        list.collect()
    }

    /// Pairs of numbers of one profile that go together, and the combination that is known least.
    fn directions(&self, numbers: &[(FittedNumber, Row)]) -> (Vec<Confused>, Option<Weakest>) {
        let mut groups: Vec<Vec<&(FittedNumber, Row)>> = Vec::new();
        for number in numbers.iter().filter(|(n, _)| n.sigma > 0.0 && n.effect > 0.0) {
            let same = |group: &&mut Vec<&(FittedNumber, Row)>| {
                group.first().is_some_and(|(first, _)| {
                    (&first.hardware, &first.version) == (&number.0.hardware, &number.0.version)
                })
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.push(number),
                None => groups.push(vec![number]),
            }
        }
        let (mut confused, mut weakest) = (Vec::new(), None::<(f64, Weakest)>);
        for group in groups {
            let correlations = self.correlations(&group);
            confused.extend(pairs(&group, &correlations));
            let widest = widest(&group, &correlations);
            if let Some((width, found)) = widest
                && weakest.as_ref().is_none_or(|(known, _)| width > *known)
            {
                weakest = Some((width, found));
            }
        }
        (confused, weakest.map(|(_, found)| found))
    }

    fn correlations(&self, group: &[&(FittedNumber, Row)]) -> DMatrix<f64> {
        let along = group.iter().map(|number| self.fitted.posterior.along(&number.1));
        let along: Vec<Vec<f64>> = along.collect();
        DMatrix::from_fn(group.len(), group.len(), |i, j| {
            let widths = group[i].0.sigma * group[j].0.sigma;
            if widths > 0.0 { group[i].1.times(&along[j]) / widths } else { 0.0 }
        })
    }

    /// Pairs of measurements of one thing that differ by more than chance.
    fn contradictions(&self) -> Vec<Contradiction> {
        let fit = &self.fitted.fit;
        let own: Vec<(usize, f64, &Row, f64)> = self
            .fitted
            .given
            .iter()
            .zip(fit.residuals.iter().zip(&fit.rows.0))
            .map(|(sight, (residual, row))| (*sight, *residual, row, row.dot(row).sqrt()))
            .filter(|(_, _, _, length)| *length > 0.0)
            .collect();
        let mut found = Vec::new();
        for (i, (one, r1, a1, l1)) in own.iter().enumerate() {
            for (other, r2, a2, l2) in own.iter().skip(i + 1) {
                if (r1 - r2).abs() < CONTRADICT || a1.dot(a2) < SAME * l1 * l2 {
                    continue;
                }
                // Both measure one combination, in deviations of their own.
                let sigmas = (r1 / l1 - r2 / l2).abs() / (1.0 / (l1 * l1) + 1.0 / (l2 * l2)).sqrt();
                if sigmas >= CONTRADICT
                    && let (Some(one), Some(other)) = (self.name(*one), self.name(*other))
                {
                    found.push(Contradiction { one, other, sigmas });
                }
            }
        }
        found.sort_by(|one, other| other.sigmas.total_cmp(&one.sigmas));
        found
    }

    /// Measurements whose prediction no number of a profile moves.
    fn untouched(&self) -> Vec<String> {
        let mut touched = vec![false; self.joint.unknowns().len()];
        for number in self.joint.numbers() {
            for (unknown, _) in number.row.entries() {
                if let Some(touched) = touched.get_mut(unknown) {
                    *touched = true;
                }
            }
        }
        let moves = |row: &Row| row.entries().any(|(at, _)| touched.get(at) == Some(&true));
        let rows = self.fitted.given.iter().zip(&self.fitted.fit.rows.0);
        rows.filter(|(_, row)| !moves(row)).filter_map(|(sight, _)| self.name(*sight)).collect()
    }
}

fn pairs(group: &[&(FittedNumber, Row)], correlations: &DMatrix<f64>) -> Vec<Confused> {
    let mut found = Vec::new();
    for (i, one) in group.iter().enumerate() {
        for (j, other) in group.iter().enumerate().skip(i + 1) {
            let correlation = correlations[(i, j)];
            if correlation.abs() > CONFUSED {
                let name = |number: &(FittedNumber, Row)| {
                    format!("{} {}", number.0.hardware, number.0.name)
                };
                found.push(Confused { one: name(one), other: name(other), correlation });
            }
        }
    }
    found
}

/// The combination of numbers whose effects on predictions are widest and cancel, with how wide it is.
fn widest(group: &[&(FittedNumber, Row)], correlations: &DMatrix<f64>) -> Option<(f64, Weakest)> {
    let effect = |at: usize| group[at].0.effect * group[at].0.sigma;
    let effects = DMatrix::from_fn(group.len(), group.len(), |i, j| {
        correlations[(i, j)] * effect(i) * effect(j)
    });
    let eigen = effects.symmetric_eigen();
    let (at, width) = eigen.eigenvalues.argmax();
    let vector = eigen.eigenvectors.column(at);
    let parts = group.iter().zip(vector.iter()).filter(|(_, part)| part.abs() > 0.3);
    let parts = parts.map(|(number, part)| (number.0.name.clone(), *part * width.sqrt()));
    let mut parts: Vec<(String, f64)> = parts.collect();
    parts.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
    let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
    let experiment = experiment_for(&names);
    (parts.len() > 1).then_some((width, Weakest { parts, experiment }))
}
