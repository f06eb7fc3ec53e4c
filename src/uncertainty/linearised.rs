//! The linearised interval.
//!
//! In logarithms a figure is `ln y ≈ ln y0 + Σ g_p d_p + Σ_s c_s Σ_{p in s} g_p` with the elasticity
//! `g_p = d ln y / d ln p`, an independent deviation `d_p` of each parameter and one `c_s` of each
//! source that states a common factor. So `Var(ln y) = Σ g_p² s_p² + Σ_s s_s² (Σ_{p in s} g_p)²`, and
//! the 90 % interval is `y exp(±1.6449 σ)`: asymmetric, and never below zero. Errors of one source
//! that were taken as independent would average out over many parameters.
//!
//! A parameter with a normal spread (a temperature) enters by its standard deviation instead.
//! Elasticities are central differences on whole estimates, with the placement redone, so a change
//! of the binding roof within the step is seen. Neglected: curvature; the sampled interval has it.

use crate::cost::Setting;
use crate::estimate::{Estimate, estimate};
use crate::hardware::{ParameterRecord, Profile};
use crate::mapping::{Network, plan};
use crate::units::Spread;
use nalgebra::DMatrix;
use std::collections::BTreeMap;

/// Normal quantile of 95 %.
pub(super) const Z90: f64 = 1.644_853_626_951_472_2;

/// A central 90 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval90 {
    /// 5 % quantile.
    pub low: f64,
    /// 95 % quantile.
    pub high: f64,
}

/// A headline figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Time of an inference.
    Latency,
    /// Energy of an inference at the sources.
    Energy,
    /// Energy-delay product.
    Edp,
    /// Mean power.
    MeanPower,
}

impl Figure {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Latency, Self::Energy, Self::Edp, Self::MeanPower];

    /// Its value in an estimate, in SI.
    pub fn of(self, estimate: &Estimate) -> f64 {
        match self {
            Self::Latency => estimate.latency.0,
            Self::Energy => estimate.energy.0,
            Self::Edp => estimate.edp().0,
            Self::MeanPower => estimate.mean_power().0,
        }
    }
}

/// What one parameter adds to the variance of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Contribution {
    /// The parameter's path.
    pub path: String,
    /// Elasticity.
    pub elasticity: f64,
    /// Share of the variance that its own deviation makes.
    pub share: f64,
}

/// How sure the figures of an estimate are.
#[derive(Debug, Clone, PartialEq)]
pub struct Uncertainty {
    /// Standard deviation of the logarithm of each figure.
    pub sigma: BTreeMap<Figure, f64>,
    /// Parameters that make the energy uncertain, largest first.
    pub energy_contributions: Vec<Contribution>,
}

impl Uncertainty {
    /// The interval around a value of a figure.
    pub fn interval(&self, figure: Figure, value: f64) -> Interval90 {
        let sigma = self.sigma.get(&figure).copied().unwrap_or(0.0);
        let factor = (Z90 * sigma).exp();
        Interval90 { low: value / factor, high: value * factor }
    }
}

/// Relative step of a difference: far above rounding, far below any spread.
const STEP: f64 = 1e-4;

/// The linearised uncertainty of a network's estimated figures at a setting.
pub fn linearised(network: &Network, setting: Setting<'_>) -> Uncertainty {
    linearised_by(setting.profile, |profile| evaluate(network, profile, setting))
}

/// The linearised uncertainty of whatever figures `evaluate` takes from a profile, in the order of
/// [`Figure::ALL`].
pub fn linearised_by(profile: &Profile, evaluate: impl Fn(&Profile) -> [f64; 4]) -> Uncertainty {
    let records = profile.parameters();
    let uncertain: Vec<usize> =
        (0..records.len()).filter(|i| is_uncertain(&records[*i], profile)).collect();
    // Rows: parameters; columns: figures. Elasticities, or for normal spreads d ln y per unit.
    let mut gradient = DMatrix::zeros(uncertain.len(), Figure::ALL.len());
    for (row, index) in uncertain.iter().enumerate() {
        let record = &records[*index];
        let step = match record.parameter.spread {
            Some(Spread::Normal(_)) => Step::Absolute(1e-3),
            _ => Step::Relative(STEP),
        };
        let moved = |sign: f64| {
            evaluate(&profile.perturbed(|i, v| if i == *index { step.apply(v, sign) } else { v }))
        };
        let (above, below) = (moved(1.0), moved(-1.0));
        for (column, (a, b)) in above.iter().zip(&below).enumerate() {
            let slope = (a.ln() - b.ln()) / (2.0 * step.width());
            gradient[(row, column)] = if slope.is_finite() { slope } else { 0.0 };
        }
    }
    let groups = groups(&records, &uncertain, profile);
    let variances = (0..Figure::ALL.len()).map(|column| {
        let own: f64 = uncertain
            .iter()
            .enumerate()
            .map(|(row, index)| (gradient[(row, column)] * own_sigma(&records[*index])).powi(2))
            .sum();
        let common: f64 = groups
            .iter()
            .map(|(sigma, rows)| {
                let sum: f64 = rows.iter().map(|row| gradient[(*row, column)]).sum();
                (sum * sigma).powi(2)
            })
            .sum();
        own + common
    });
    let variances: Vec<f64> = variances.collect();
    let sigma = Figure::ALL.into_iter().zip(variances.iter().map(|v| v.sqrt())).collect();
    let column = Figure::ALL.iter().position(|f| *f == Figure::Energy).unwrap_or(0);
    let mut contributions: Vec<_> = uncertain
        .iter()
        .enumerate()
        .map(|(row, index)| {
            let elasticity = gradient[(row, column)];
            let own = (elasticity * own_sigma(&records[*index])).powi(2);
            let share = if variances[column] > 0.0 { own / variances[column] } else { 0.0 };
            Contribution { path: records[*index].path.clone(), elasticity, share }
        })
        .filter(|c| c.share > 0.0)
        .collect();
    contributions.sort_by(|a, b| b.share.total_cmp(&a.share));
    Uncertainty { sigma, energy_contributions: contributions }
}

#[derive(Clone, Copy)]
enum Step {
    Relative(f64),
    Absolute(f64),
}

impl Step {
    fn apply(self, value: f64, sign: f64) -> f64 {
        match self {
            Self::Relative(h) => value * (sign * h).exp(),
            Self::Absolute(h) => value + sign * h,
        }
    }

    fn width(self) -> f64 {
        match self {
            Self::Relative(h) | Self::Absolute(h) => h,
        }
    }
}

/// The figures on another profile of the same structure, at the same point and with the same
/// software.
pub(super) fn evaluate(network: &Network, profile: &Profile, setting: Setting<'_>) -> [f64; 4] {
    let Ok(point) = profile.point(Some(&setting.point.name)) else { return [f64::NAN; 4] };
    let setting = Setting { profile, point: &point, stacks: setting.stacks };
    let estimate = estimate(&plan(network, setting), setting);
    Figure::ALL.map(|f| f.of(&estimate))
}

/// Sigma of a parameter's own deviation: of its logarithm, or in SI for a normal spread.
pub(super) fn own_sigma(record: &ParameterRecord) -> f64 {
    match record.parameter.spread {
        Some(Spread::LogNormal(sigma) | Spread::Normal(sigma)) => sigma,
        None => 0.0,
    }
}

/// Sigma of the factor that a parameter shares with its source.
pub(super) fn common_sigma(record: &ParameterRecord, profile: &Profile) -> Option<(String, f64)> {
    if matches!(record.parameter.spread, Some(Spread::Normal(_))) {
        return None;
    }
    let key = record.parameter.source.as_ref()?;
    let sigma = profile.spec().sources.get(key)?.common?.0;
    Some((key.clone(), sigma))
}

fn is_uncertain(record: &ParameterRecord, profile: &Profile) -> bool {
    own_sigma(record) > 0.0 || common_sigma(record, profile).is_some_and(|(_, s)| s > 0.0)
}

/// Rows that share a source's common factor, with its sigma.
fn groups(
    records: &[ParameterRecord],
    uncertain: &[usize],
    profile: &Profile,
) -> Vec<(f64, Vec<usize>)> {
    let mut groups: BTreeMap<String, (f64, Vec<usize>)> = BTreeMap::new();
    for (row, index) in uncertain.iter().enumerate() {
        if let Some((key, sigma)) = common_sigma(&records[*index], profile) {
            groups.entry(key).or_insert((sigma, Vec::new())).1.push(row);
        }
    }
    groups.into_values().collect()
}
