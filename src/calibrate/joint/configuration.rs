//! A profile with its software at an operating point, and which of its numbers are fitted.

use super::keys::Keys;
use super::unknowns::Unknowns;
use crate::calibrate::bench::Bench;
use crate::calibrate::calibration::{Calibration, Shared, matches};
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
    /// Unknowns whose sum is the logarithm of its factor.
    pub unknowns: Vec<usize>,
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
            let own = factors(record, calibration, &keys, &bench, unknowns);
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
            let parts = tuned.unknowns.iter().filter_map(|at| x.get(*at));
            if let Some(factor) = factors.get_mut(tuned.index) {
                *factor = parts.sum();
            }
        }
        factors
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

/// The unknowns of a number: those that it shares, else its own and that of its source.
fn factors(
    record: &ParameterRecord,
    calibration: &Calibration,
    keys: &Keys,
    bench: &Bench,
    unknowns: &mut Unknowns,
) -> Vec<usize> {
    let mut own = Vec::new();
    for (rule, shared) in calibration.shared.iter().enumerate() {
        if !shared.paths.iter().any(|pattern| matches(pattern, &record.name)) {
            continue;
        }
        if let Some(over) = keys.along_all(&shared.over, None) {
            own.extend(of_rule(rule, shared, &over, record, unknowns));
        }
    }
    if !own.is_empty() {
        return own;
    }
    let hardware = &keys.hardware;
    if let Some(Spread::LogNormal(sigma)) = record.parameter.spread
        && sigma > 0.0
    {
        own.push(unknowns.factor(format!("{hardware} {}", record.name), sigma));
    }
    let source = record.parameter.source.as_ref();
    let common = source.and_then(|key| {
        let common = bench.profile.spec().sources.get(key)?.common?;
        Some((key, common.0))
    });
    if let Some((key, sigma)) = common
        && sigma > 0.0
    {
        own.push(unknowns.factor(format!("{hardware} source {key}"), sigma));
    }
    own
}

fn of_rule(
    rule: usize,
    shared: &Shared,
    over: &str,
    record: &ParameterRecord,
    unknowns: &mut Unknowns,
) -> Vec<usize> {
    let over = if over.is_empty() { "all" } else { over };
    let mut own = Vec::new();
    if let Some(common) = shared.common {
        own.push(unknowns.factor(format!("{over} (shared[{rule}])"), common.0));
    }
    if let Some(each) = shared.each {
        let name = format!("{over} {} (shared[{rule}])", beyond_stack(&record.name));
        own.push(unknowns.factor(name, each.0));
    }
    own
}

/// What a number is, whatever the software stack that has it is called.
fn beyond_stack(name: &str) -> &str {
    let Some(rest) = name.strip_prefix("software.") else { return name };
    let fields = ["cycles_per_", "relative_cycles", "dispatch"];
    fields.iter().filter_map(|field| rest.find(field)).min().map_or(name, |at| &rest[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_software_is_called_alike_in_all_stacks() {
        assert_eq!(beyond_stack("software.a-8.1.cycles_per_mac.Conv"), "cycles_per_mac.Conv");
        assert_eq!(beyond_stack("software.b.dispatch"), "dispatch");
        assert_eq!(beyond_stack("domains.core.clock_tree"), "domains.core.clock_tree");
    }
}
