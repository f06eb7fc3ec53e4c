//! The linearised interval.
//!
//! Each uncertain quantity is moved by one standard deviation up and down, by itself: the deviation
//! of each parameter, and the factor that all values of one source share (errors of one source taken
//! as independent would average out over many parameters). With `u` and `d` the largest rise and
//! fall of `ln y` that one of them makes, `σ_up² = Σ u²`, `σ_down² = Σ d²`, and the 90 % interval is
//! `y exp(-1.6449 σ_down) … y exp(1.6449 σ_up)`: never below zero, and the same on both sides where
//! the figure is a product. Steps of a whole deviation, rather than a derivative, see a layer that
//! changes its binding roof on the way: where a rate hides behind another, only one side is wide.
//!
//! A parameter with a normal spread (a temperature) is moved by its standard deviation in SI. The numbers
//! of a profile's `posterior` are moved together, along the columns of the factor of their covariance.
//! Placement is redone for each step. Neglected: what two deviations do together; the sampled
//! interval has it.

use super::threads;
use super::together::Together;
use crate::cost::Setting;
use crate::estimate::{Estimate, totals};
use crate::evidence::Sources;
use crate::hardware::{Movable, ParameterRecord, Profile};
use crate::mapping::{Network, Plan, plan};
use crate::units::{Joules, Seconds, Spread};
use nalgebra::DMatrix;
use std::collections::BTreeMap;

/// Normal quantile of 95 %.
pub const Z90: f64 = 1.644_853_626_951_472_2;

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
    /// Energy times the square of the delay.
    Ed2p,
}

impl Figure {
    /// All of them.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Latency, Self::Energy, Self::Edp, Self::MeanPower, Self::Ed2p];

    /// How many there are.
    pub const COUNT: usize = 5;

    /// Its value in an estimate, in SI.
    pub fn of(self, estimate: &Estimate) -> f64 {
        self.of_totals(estimate.latency, estimate.energy)
    }

    /// Its value for the time and the energy of an inference, in SI.
    fn of_totals(self, time: Seconds, energy: Joules) -> f64 {
        match self {
            Self::Latency => time.0,
            Self::Energy => energy.0,
            Self::Edp => (energy * time).0,
            Self::MeanPower if time.0 > 0.0 => (energy / time).0,
            Self::MeanPower => 0.0,
            Self::Ed2p => (energy * time * time).0,
        }
    }
}

/// What one uncertain quantity adds to the variance of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Contribution {
    /// The parameter's path, `source KEY` for a factor that all values of a source share, or `posterior
    /// PATH` for what a fit says of this number that takes others with it.
    pub name: String,
    /// Mean change of the figure's logarithm for one standard deviation.
    pub effect: f64,
    /// Its share of the variance.
    pub share: f64,
}

/// Standard deviations of the logarithm of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sigma {
    /// Upwards.
    pub up: f64,
    /// Downwards.
    pub down: f64,
}

impl Sigma {
    /// The interval around a value.
    pub fn interval(self, value: f64) -> Interval90 {
        Interval90 { low: value * (-Z90 * self.down).exp(), high: value * (Z90 * self.up).exp() }
    }
}

/// How sure the figures of a prediction are.
#[derive(Debug, Clone, PartialEq)]
pub struct Uncertainty {
    /// Deviations of each figure.
    pub sigma: BTreeMap<Figure, Sigma>,
    /// What makes the energy uncertain, largest first.
    pub energy_contributions: Vec<Contribution>,
    /// What makes the latency uncertain, largest first.
    pub latency_contributions: Vec<Contribution>,
}

impl Uncertainty {
    /// The interval around a value of a figure.
    pub fn interval(&self, figure: Figure, value: f64) -> Interval90 {
        self.sigma.get(&figure).copied().unwrap_or_default().interval(value)
    }
}

/// The linearised uncertainty of a network's estimated figures at a setting.
pub fn linearised(network: &Network, setting: Setting<'_>) -> Uncertainty {
    linearised_of(setting, |setting| plan(network, setting))
}

/// The linearised uncertainty of the estimated figures of whatever plan `planned` makes of a setting.
pub fn linearised_of(
    setting: Setting<'_>,
    planned: impl Fn(Setting<'_>) -> Plan + Sync,
) -> Uncertainty {
    linearised_by(setting, |profile| evaluate(&planned, profile, setting))
}

/// The linearised uncertainty of whatever figures `evaluate` takes from the setting's profile, in the
/// order of [`Figure::ALL`]. Numbers that are not in use at the setting are not moved.
pub fn linearised_by(
    setting: Setting<'_>,
    evaluate: impl Fn(&Profile) -> [f64; Figure::COUNT] + Sync,
) -> Uncertainty {
    linearised_where(setting, |path| in_use(path, setting), evaluate)
}

/// The same, with the numbers that `used` says are in use.
fn linearised_where(
    setting: Setting<'_>,
    used: impl Fn(&str) -> bool,
    evaluate: impl Fn(&Profile) -> [f64; Figure::COUNT] + Sync,
) -> Uncertainty {
    Changes::of(setting.profile, used, |profile| evaluate(profile).to_vec()).headline()
}

/// The linearised deviations of any figures (those of single layers, say) that `evaluate` takes from the
/// setting's profile, always as many.
pub fn linearised_figures(
    setting: Setting<'_>,
    evaluate: impl Fn(&Profile) -> Vec<f64> + Sync,
) -> Vec<Sigma> {
    let changes = Changes::of(setting.profile, |path| in_use(path, setting), evaluate);
    (0..changes.above.ncols()).map(|column| changes.sigma(column)).collect()
}

/// Changes of `ln y` with each uncertain quantity one deviation up, and down. Rows: quantities; columns:
/// figures.
pub(super) struct Changes {
    moves: Vec<Move>,
    centre: Vec<f64>,
    above: DMatrix<f64>,
    below: DMatrix<f64>,
}

impl Changes {
    /// Those that the numbers of a profile make, of such as `used` says are in use.
    pub(super) fn of(
        profile: &Profile,
        used: impl Fn(&str) -> bool,
        evaluate: impl Fn(&Profile) -> Vec<f64> + Sync,
    ) -> Self {
        let records = profile.parameters();
        let moves = moves_where(&records, profile, used);
        let centre = evaluate(profile);
        let nothing = DMatrix::zeros(0, centre.len());
        let changes = Self { moves: Vec::new(), centre, above: nothing.clone(), below: nothing };
        let found = moved(profile, &moves, &evaluate);
        changes.and(moves, &found)
    }

    /// These and those of other quantities, with the figures that each makes one deviation up, and down.
    pub(super) fn and(self, moves: Vec<Move>, found: &[[Vec<f64>; 2]]) -> Self {
        let first = self.moves.len();
        let Self { moves: mut all, centre, above, below } = self;
        let longer = |of: DMatrix<f64>| of.resize_vertically(first + found.len(), 0.0);
        let (mut above, mut below) = (longer(above), longer(below));
        for (row, [up, down]) in found.iter().enumerate() {
            // What cannot be computed there is not known to be near.
            let sides = [(&mut above, up, f64::INFINITY), (&mut below, down, f64::NEG_INFINITY)];
            for (changes, figures, lost) in sides {
                for (column, (figure, centre)) in figures.iter().zip(&centre).enumerate() {
                    let change = if figure == centre { 0.0 } else { figure.ln() - centre.ln() };
                    changes[(first + row, column)] = if change.is_nan() { lost } else { change };
                }
            }
        }
        all.extend(moves);
        Self { moves: all, centre, above, below }
    }

    /// The deviations of the headline figures, which are the first columns, and what makes them.
    pub(super) fn headline(&self) -> Uncertainty {
        let sigma = Figure::ALL.into_iter().enumerate();
        let sigma = sigma.map(|(column, figure)| (figure, self.sigma(column))).collect();
        let of = |figure: Figure| {
            let column = Figure::ALL.iter().position(|f| *f == figure).unwrap_or(0);
            self.contributions(column)
        };
        let (energy_contributions, latency_contributions) =
            (of(Figure::Energy), of(Figure::Latency));
        Uncertainty { sigma, energy_contributions, latency_contributions }
    }

    /// The deviation of a figure.
    pub(super) fn sigma(&self, column: usize) -> Sigma {
        self.above.column(column).iter().zip(self.below.column(column).iter()).fold(
            Sigma::default(),
            |sum, (a, b)| Sigma {
                up: sum.up.hypot(a.max(*b).max(0.0)),
                down: sum.down.hypot((-a).max(-b).max(0.0)),
            },
        )
    }

    fn contributions(&self, column: usize) -> Vec<Contribution> {
        let changes = self.moves.iter().enumerate();
        contributions(changes.map(|(i, step)| {
            (step.name.clone(), (self.above[(i, column)], self.below[(i, column)]))
        }))
    }
}

/// Quantities that one thread takes at a time: a copy of the profile is made for each share.
const SHARE: usize = 32;

/// Figures with each quantity one deviation up, and down. Each depends on its own quantity alone, so that it
/// does not matter how many threads share them out.
fn moved(
    profile: &Profile,
    moves: &[Move],
    evaluate: &(impl Fn(&Profile) -> Vec<f64> + Sync),
) -> Vec<[Vec<f64>; 2]> {
    let shares: Vec<&[Move]> = moves.chunks(SHARE).collect();
    let found = threads::mapped(&shares, |moves| {
        let mut movable = Movable::of(profile);
        let mut at = |step: &Move, sign: f64| {
            evaluate(movable.perturbed(|index, value| step.apply(index, value, sign)))
        };
        moves.iter().map(|step| [at(step, 1.0), at(step, -1.0)]).collect::<Vec<_>>()
    });
    found.into_iter().flatten().collect()
}

/// What each of the named quantities adds, from the changes that it makes one deviation up and down.
/// Where some lead to what cannot be computed, no other counts beside them, and they share alike.
fn contributions(changes: impl Iterator<Item = (String, (f64, f64))>) -> Vec<Contribution> {
    let known = |change: f64| if change.is_finite() { change } else { 0.0 };
    let mut lost = Vec::new();
    let mut list: Vec<Contribution> = changes
        .map(|(name, (above, below))| {
            lost.push(!(above.is_finite() && below.is_finite()));
            Contribution { name, effect: (known(above) - known(below)) / 2.0, share: 0.0 }
        })
        .collect();
    let variance: f64 = list.iter().map(|c| c.effect * c.effect).sum();
    let all_lost = lost.iter().filter(|lost| **lost).count();
    for (contribution, lost) in list.iter_mut().zip(&lost) {
        contribution.share = match (lost, all_lost) {
            (true, _) => 1.0 / all_lost as f64,
            (false, 0) if variance > 0.0 => contribution.effect * contribution.effect / variance,
            (false, _) => 0.0,
        };
    }
    list.retain(|c| c.effect != 0.0 || c.share > 0.0);
    list.sort_by(|a, b| b.share.total_cmp(&a.share));
    list
}

/// One uncertain quantity: the parameters that move with it, by rising place, and how far.
pub(super) struct Move {
    pub(super) name: String,
    pub(super) parameters: Vec<(usize, Spread)>,
}

impl Move {
    /// That of a column of a posterior's factor, which brings in the number `first`.
    fn of_column(first: usize, moved: Vec<(usize, f64)>, records: &[ParameterRecord]) -> Self {
        let name = records.get(first).map_or("", |record| &record.name);
        let alone = moved.iter().all(|(place, _)| *place == first);
        let name = if alone { name.to_owned() } else { format!("posterior {name}") };
        let spread = |(place, sigma)| (place, Spread::LogNormal(sigma));
        Self { name, parameters: moved.into_iter().map(spread).collect() }
    }

    pub(super) fn apply(&self, index: usize, value: f64, sign: f64) -> f64 {
        let Ok(at) = self.parameters.binary_search_by_key(&index, |(place, _)| *place) else {
            return value;
        };
        match self.parameters.get(at) {
            Some((_, Spread::LogNormal(sigma))) => value * (sign * sigma).exp(),
            Some((_, Spread::Normal(sigma))) => value + sign * sigma,
            None => value,
        }
    }
}

fn in_use(path: &str, setting: Setting<'_>) -> bool {
    setting.profile.is_in_use(path, setting.point, setting.stacks)
}

pub(super) fn moves(records: &[ParameterRecord], setting: Setting<'_>) -> Vec<Move> {
    moves_where(records, setting.profile, |path| in_use(path, setting))
}

fn moves_where(
    records: &[ParameterRecord],
    profile: &Profile,
    used: impl Fn(&str) -> bool,
) -> Vec<Move> {
    let mut moves = Vec::new();
    let mut shared: BTreeMap<String, (f64, Vec<usize>)> = BTreeMap::new();
    let together = Together::of(profile);
    for (index, record) in records.iter().enumerate().filter(|(_, r)| used(&r.path)) {
        if let Some(spread) = record.parameter.spread
            && own_sigma(record) > 0.0
            && !together.has(index)
        {
            moves.push(Move { name: record.name.clone(), parameters: vec![(index, spread)] });
        }
        if let Some((key, sigma)) = common_sigma(record, &profile.spec().sources) {
            shared.entry(key).or_insert((sigma, Vec::new())).1.push(index);
        }
    }
    let together = together.among(|index| records.get(index).is_some_and(|r| used(&r.path)));
    moves.extend(together.columns().map(|(first, moved)| Move::of_column(first, moved, records)));
    moves.extend(shared.into_iter().filter(|(_, (sigma, _))| *sigma > 0.0).map(
        |(key, (sigma, parameters))| {
            let spread = |index| (index, Spread::LogNormal(sigma));
            let parameters = parameters.into_iter().map(spread).collect();
            Move { name: format!("source {key}"), parameters }
        },
    ));
    moves
}

/// The figures on another profile of the same structure, at the same point and with the same
/// software.
pub(super) fn evaluate(
    planned: impl Fn(Setting<'_>) -> Plan,
    profile: &Profile,
    setting: Setting<'_>,
) -> [f64; Figure::COUNT] {
    let Ok(point) = profile.repoint(setting.point) else { return [f64::NAN; Figure::COUNT] };
    let setting = Setting { profile, point: &point, stacks: setting.stacks };
    let plan = planned(setting);
    let (time, energy) = totals(&plan, setting);
    Figure::ALL.map(|figure| figure.of_totals(time, energy))
}

/// Sigma of a parameter's own deviation: of its logarithm, or in SI for a normal spread.
pub(super) fn own_sigma(record: &ParameterRecord) -> f64 {
    match record.parameter.spread {
        Some(Spread::LogNormal(sigma) | Spread::Normal(sigma)) => sigma,
        None => 0.0,
    }
}

/// Sigma of the factor that a parameter shares with its source. A condition that states no spread is
/// part of what the source says, and not off with it.
pub(super) fn common_sigma(record: &ParameterRecord, sources: &Sources) -> Option<(String, f64)> {
    let parameter = &record.parameter;
    let exact = parameter.condition && !parameter.stated;
    if exact || matches!(parameter.spread, Some(Spread::Normal(_))) {
        return None;
    }
    let key = record.parameter.source.as_ref()?;
    let sigma = sources.get(key)?.common?.0;
    Some((key.clone(), sigma))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_leaves_every_contribution_a_number() {
        let named = |changes: &[(f64, f64)]| {
            let names = ["a", "b", "c"].map(str::to_owned).into_iter();
            contributions(names.zip(changes.iter().copied()))
        };
        let found = named(&[(0.3, -0.3), (0.1, -0.1), (0.0, 0.0)]);
        let shares: Vec<f64> = found.iter().map(|c| c.share).collect();
        assert!((shares[0] - 0.9).abs() < 1e-12 && (shares[1] - 0.1).abs() < 1e-12, "{found:?}");
        assert_eq!(shares.len(), 2);
        let found = named(&[(0.3, -0.3), (f64::INFINITY, -0.1), (0.0, f64::NEG_INFINITY)]);
        let shares: Vec<(&str, f64)> = found.iter().map(|c| (c.name.as_str(), c.share)).collect();
        assert_eq!(shares, [("b", 0.5), ("c", 0.5), ("a", 0.0)]);
        assert!(found.iter().all(|c| c.effect.is_finite()), "{found:?}");
    }
}
