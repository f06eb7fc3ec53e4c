//! Numbers of a fit that share one factor, as one.

use super::super::called::{self, Called};
use crate::calibrate::{FitReport, FittedNumber};
use std::collections::BTreeMap;

/// Correlation of numbers that are one and the same factor.
const SAME: f64 = 1.0 - 1e-6;

/// Numbers that move as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Factor {
    /// The first of them, by index.
    pub first: usize,
    pub count: usize,
}

impl Factor {
    /// The first of its numbers.
    pub(super) fn number<'a>(&self, report: &'a FitReport) -> Option<&'a FittedNumber> {
        report.numbers.get(self.first)
    }
}

/// The factors of a fit, in the order of its numbers.
pub(super) fn factors(report: &FitReport) -> Vec<Factor> {
    let mut factors: Vec<Factor> = Vec::new();
    for (at, number) in report.numbers.iter().enumerate() {
        let same = |factor: &&mut Factor| {
            let shared = report.correlations.get((factor.first, at));
            let first = report.numbers.get(factor.first);
            // Numbers that move together but were known differently are not one.
            let alike = first.is_some_and(|first| {
                (first.factor / number.factor).ln().abs() < 1e-9
                    && (first.sigma_before - number.sigma_before).abs() < 1e-9
            });
            alike && shared.is_some_and(|own| *own >= SAME)
        };
        match factors.iter_mut().find(same) {
            Some(factor) => factor.count += 1,
            None => factors.push(Factor { first: at, count: 1 }),
        }
    }
    factors
}

/// What factors are called: the first of their numbers, and how many more.
pub(super) struct Names(Vec<Called>);

impl Names {
    pub(super) fn of(report: &FitReport) -> Self {
        Self(called::numbers(report))
    }

    pub(super) fn of_factor(&self, factor: &Factor) -> Called {
        let none = || Called { name: String::new(), of: String::new() };
        let mut called = self.0.get(factor.first).cloned().unwrap_or_else(none);
        if factor.count > 1 {
            called.name.push_str(&format!(" +{}", factor.count - 1));
        }
        called
    }
}

/// What there is to say where factors stand for several numbers.
pub(super) fn said(report: &FitReport, factors: &[Factor]) -> Option<String> {
    let alike = report.numbers.len().checked_sub(factors.len()).filter(|alike| *alike > 0)?;
    Some(format!("{alike} of the numbers share the factor of another and are in its row (+)"))
}

/// As many factors as are wanted by what they are worth, in turns of each kind of number so that none has the page
/// to itself; in their order.
pub(super) fn in_turns(
    report: &FitReport,
    factors: &[Factor],
    wanted: usize,
    worth: impl Fn(&FittedNumber) -> f64,
) -> Vec<Factor> {
    let mut ranked: Vec<(f64, Factor)> = factors
        .iter()
        .filter_map(|factor| Some((worth(factor.number(report)?), *factor)))
        .collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut turns: BTreeMap<&str, usize> = BTreeMap::new();
    let mut taken: Vec<(usize, Factor)> = Vec::new();
    for (_, factor) in ranked {
        let Some(number) = factor.number(report) else { continue };
        let turn = turns.entry(kind(&number.name)).or_default();
        taken.push((*turn, factor));
        *turn += 1;
    }
    // A stable sort: within a turn the worthiest first.
    taken.sort_by_key(|(turn, _)| *turn);
    taken.truncate(wanted);
    let mut chosen: Vec<Factor> = taken.into_iter().map(|(_, factor)| factor).collect();
    chosen.sort_by_key(|factor| factor.first);
    chosen
}

/// The last two parts of a path.
fn kind(path: &str) -> &str {
    let start = path.rmatch_indices('.').nth(1).map_or(0, |(at, _)| at + 1);
    path.get(start..).unwrap_or(path)
}
