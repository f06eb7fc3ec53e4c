//! A profile with its software at an operating point, and which of its numbers are fitted.

use super::factors::{Factors, Weighted};
use super::keys::Keys;
use super::unknowns::Unknowns;
use crate::calibrate::bench::Bench;
use crate::calibrate::calibration::{Calibration, matches};
use crate::calibrate::case::Case;
use crate::calibrate::validation::ValidationError;
use crate::hardware::{Movable, ParameterRecord, Profile};
use crate::units::Spread;

/// A configuration of a case.
#[derive(Debug)]
pub(super) struct Configuration {
    pub keys: Keys,
    pub bench: Bench,
    /// Numbers that are fitted.
    pub tuned: Vec<Tuned>,
    /// How many numbers the profile has.
    numbers: usize,
}

/// A number of a profile that is fitted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tuned {
    /// Its place in [`crate::hardware::Profile::parameters`].
    pub index: usize,
    /// Its path with names.
    pub name: String,
    /// Unknowns whose weighted sum is the logarithm of its factor.
    pub unknowns: Weighted,
}

impl Configuration {
    /// That of a case, with what is fitted of it.
    pub fn of(
        case: &Case,
        calibration: &Calibration,
        unknowns: &mut Unknowns,
    ) -> Result<Self, ValidationError> {
        let bench = Bench::of(case)?;
        let keys = Keys::of(case, &bench);
        let records = bench.profile.parameters();
        let mut tuned = Vec::new();
        for (index, record) in records.iter().enumerate() {
            if !is_fitted(record, calibration, &bench) {
                continue;
            }
            let mut factors = Factors { calibration, keys: &keys, unknowns };
            let own = factors.of_number(record, &bench.profile.spec().sources);
            if !own.is_empty() {
                tuned.push(Tuned { index, name: record.name.clone(), unknowns: own });
            }
        }
        Ok(Self { keys, bench, tuned, numbers: records.len() })
    }

    /// The logarithm of the factor on each fitted number.
    pub fn logs(&self, x: &[f64]) -> Vec<f64> {
        let log = |tuned: &Tuned| -> f64 {
            tuned.unknowns.iter().filter_map(|(at, weight)| Some(x.get(*at)? * weight)).sum()
        };
        self.tuned.iter().map(log).collect()
    }

    /// The profile where fitted numbers have these factors, for one of them at a time to be moved more.
    pub fn moving(&self, logs: &[f64]) -> Moving<'_> {
        let mut factors = vec![0.0; self.numbers];
        for (tuned, log) in self.tuned.iter().zip(logs) {
            if let Some(factor) = factors.get_mut(tuned.index) {
                *factor = *log;
            }
        }
        Moving { configuration: self, factors, movable: Movable::of(&self.bench.profile) }
    }
}

/// A profile whose fitted numbers have factors.
pub(super) struct Moving<'a> {
    configuration: &'a Configuration,
    /// The logarithm of the factor on each number of the profile.
    factors: Vec<f64>,
    movable: Movable<'a>,
}

impl Moving<'_> {
    /// The profile.
    pub fn here(&mut self) -> &Profile {
        self.stepped(None, 0.0)
    }

    /// The profile with one fitted number more by the logarithm of a factor.
    pub fn with(&mut self, number: usize, by: f64) -> &Profile {
        self.stepped(self.configuration.tuned.get(number).map(|tuned| tuned.index), by)
    }

    fn stepped(&mut self, number: Option<usize>, by: f64) -> &Profile {
        let factors = &self.factors;
        self.movable.perturbed(|index, value| {
            let own = factors.get(index).copied().unwrap_or(0.0);
            let step = if number == Some(index) { by } else { 0.0 };
            if own + step == 0.0 { value } else { value * (own + step).exp() }
        })
    }
}

/// True for a number that a prediction depends on, that is not exact, and that the calibration names. What
/// may be below zero has no factor.
fn is_fitted(record: &ParameterRecord, calibration: &Calibration, bench: &Bench) -> bool {
    let moves = matches!(record.parameter.spread, Some(Spread::LogNormal(_)));
    let named = || calibration.fit.iter().any(|pattern| matches(pattern, &record.name));
    let used = || bench.profile.is_in_use(&record.path, &bench.point, &bench.stacks);
    moves && record.parameter.value > 0.0 && named() && used()
}
