//! A profile with its software at an operating point, and which of its numbers are fitted.

use super::factors::{Factors, Weighted};
use super::keys::Keys;
use super::unknowns::Unknowns;
use crate::calibrate::bench::Bench;
use crate::calibrate::calibration::{Calibration, matches};
use crate::calibrate::case::Case;
use crate::calibrate::validation::ValidationError;
use crate::hardware::ParameterRecord;
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

    /// The logarithm of the factor on each number of the profile.
    pub fn factors(&self, x: &[f64]) -> Vec<f64> {
        let mut factors = vec![0.0; self.numbers];
        for tuned in &self.tuned {
            let parts = tuned.unknowns.iter().filter_map(|(at, weight)| Some(x.get(*at)? * weight));
            if let Some(factor) = factors.get_mut(tuned.index) {
                *factor = parts.sum();
            }
        }
        factors
    }

    /// By how much the logarithm of each fitted number differs between two points; `None` where some are so far
    /// apart that predictions are not straight between them.
    pub fn moved(&self, from: &[f64], to: &[f64]) -> Option<Vec<f64>> {
        let moved = self.tuned.iter().map(|tuned| {
            let parts = tuned.unknowns.iter();
            let parts =
                parts.filter_map(|(at, weight)| Some((to.get(*at)? - from.get(*at)?) * weight));
            let moved: f64 = parts.sum();
            (moved.abs() < NEAR).then_some(moved)
        });
        moved.collect()
    }
}

/// Logarithms of factors that differ by less than this leave a prediction straight to its square.
const NEAR: f64 = 0.01;

/// True for a number that a prediction depends on, that is not exact, and that the calibration names. What
/// may be below zero has no factor.
fn is_fitted(record: &ParameterRecord, calibration: &Calibration, bench: &Bench) -> bool {
    let moves = matches!(record.parameter.spread, Some(Spread::LogNormal(_)));
    let named = || calibration.fit.iter().any(|pattern| matches(pattern, &record.name));
    let used = || bench.profile.is_in_use(&record.path, &bench.point, &bench.stacks);
    moves && record.parameter.value > 0.0 && named() && used()
}
