//! Rows that hold sums: recognised, held against the rows, never imported.

use super::number::half_digit;
use super::{BlockMode, Reading};
use crate::units::Watts;

/// A share of a sum that is more than rounding, however few digits there are.
const ROUNDING: f64 = 5e-3;

/// What arithmetic alone may do to a sum.
const ARITHMETIC: f64 = 1e-9;

/// A sum that the table states, and what its rows add up to.
#[derive(Debug, Clone, PartialEq)]
pub struct TotalCheck {
    /// Its line.
    pub line: u64,
    /// What it is the sum of, in words.
    pub of: String,
    /// What it states.
    pub stated: Watts,
    /// What the rows add up to.
    pub sum: Watts,
    /// True where both are the same up to rounding.
    pub agrees: bool,
}

/// True for the name of a row of sums.
pub(super) fn is_total(name: &str) -> bool {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != 'Σ' && c != 'σ');
    let words: Vec<&str> = words.filter(|w| !w.is_empty()).collect();
    let is_word =
        |w: &str| matches!(w, "total" | "totals" | "sum" | "subtotal" | "σ" | "summe" | "gesamt");
    match words.as_slice() {
        ["grand" | "sub", "total", ..] => true,
        // `total power`, and no block called `sum engine`.
        [first, rest @ ..] => {
            is_word(first)
                && rest.iter().all(|w| {
                    matches!(*w, "power" | "of" | "all" | "mw" | "uw" | "w" | "soc" | "chip")
                })
        }
        [] => false,
    }
}

/// What stands behind the word for a sum in a name, and whether a colon sets it apart: `active` of
/// `Total active` and of `Sum: active`. `None` for a name that does not start with such a word.
pub(super) fn behind_total(name: &str) -> Option<(&str, bool)> {
    let end = name.find(|c: char| !c.is_alphanumeric()).unwrap_or(name.len());
    let (first, rest) = name.split_at(end);
    if matches!(first.to_lowercase().as_str(), "grand" | "sub") {
        return behind_total(rest.trim_start_matches([' ', '-']));
    }
    if !is_total(first) {
        return None;
    }
    let rest = rest.trim_start();
    Some((rest.trim_matches(|c: char| !c.is_alphanumeric()), rest.starts_with(':')))
}

/// A sum of powers, and how finely what it is made of is stated.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    pub power: Watts,
    terms: f64,
    /// Half of a unit in the last place of the finest term; numbers of few digits stand among them as
    /// a spreadsheet shows them, without zeros at the end.
    finest: Option<f64>,
}

impl Sum {
    pub(super) fn of(reading: Option<&Reading<Watts>>) -> Self {
        let Some(reading) = reading.filter(|r| r.value != Watts::ZERO) else {
            return Self::default();
        };
        Self { power: reading.value, terms: 1.0, finest: half_digit(&reading.written) }
    }

    pub(super) fn and(self, other: Self) -> Self {
        let finest = match (self.finest, other.finest) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Self { power: self.power + other.power, terms: self.terms + other.terms, finest }
    }

    /// True where `stated` is this sum up to rounding: half of its own last digit, and that of the terms,
    /// of which the errors go either way.
    pub(super) fn is(self, stated: &Reading<Watts>) -> bool {
        let own = half_digit(&stated.written).unwrap_or(0.0);
        let rounding = own + self.finest.unwrap_or(0.0) * self.terms.sqrt();
        let size = self.power.0.abs().max(stated.value.0.abs());
        let allowed = rounding.min(ROUNDING * size).max(ARITHMETIC * size);
        (self.power - stated.value).0.abs() <= allowed
    }
}

/// Power of a row.
#[derive(Debug, Clone)]
struct Addend {
    line: u64,
    block: String,
    mode: String,
    dynamic: Sum,
    leakage: Sum,
}

/// A row of sums, and what they are of: the whole where it names no block and no mode.
#[derive(Debug)]
pub(super) struct Stated {
    pub(super) line: u64,
    pub(super) block: Option<String>,
    pub(super) mode: Option<String>,
    pub(super) dynamic: Option<Reading<Watts>>,
    pub(super) leakage: Option<Reading<Watts>>,
    pub(super) total: Option<Reading<Watts>>,
}

/// Rows and sums of a table.
#[derive(Debug, Default)]
pub(super) struct Totals {
    addends: Vec<Addend>,
    stated: Vec<Stated>,
}

impl Totals {
    pub(super) fn adds(&mut self, block: &str, mode: &BlockMode) {
        self.addends.push(Addend {
            line: mode.line,
            block: block.to_owned(),
            mode: mode.name.clone(),
            dynamic: Sum::of(Some(&mode.dynamic)),
            leakage: Sum::of(mode.leakage.as_ref()),
        });
    }

    pub(super) fn states(&mut self, stated: Stated) {
        self.stated.push(stated);
    }

    /// Every sum held against its rows.
    pub(super) fn checked(&self) -> Vec<TotalCheck> {
        let mut checks = Vec::new();
        let mut before = 0;
        for stated in &self.stated {
            let mut held = |part, value: &Option<Reading<Watts>>, of: fn(&Addend) -> Sum| {
                if let Some(value) = value {
                    checks.push(self.check(stated, (part, value), before, of));
                }
            };
            held("dynamic", &stated.dynamic, |a| a.dynamic);
            held("leakage", &stated.leakage, |a| a.leakage);
            held("total", &stated.total, |a| a.dynamic.and(a.leakage));
            before = stated.line;
        }
        checks
    }

    /// One sum. A row of sums may be of all rows, or of those since the sum above it.
    fn check(
        &self,
        stated: &Stated,
        (part, value): (&str, &Reading<Watts>),
        before: u64,
        of: fn(&Addend) -> Sum,
    ) -> TotalCheck {
        let belongs = |a: &&Addend| {
            stated.block.as_ref().is_none_or(|b| *b == a.block)
                && stated.mode.as_ref().is_none_or(|m| *m == a.mode)
        };
        let rows = || self.addends.iter().filter(belongs);
        let all = rows().map(of).fold(Sum::default(), Sum::and);
        let since = |a: &&Addend| a.line > before && a.line < stated.line;
        let part_sum = rows().filter(since).map(of).fold(Sum::default(), Sum::and);
        let sum = if part_sum.is(value) { part_sum } else { all };
        let mut words = format!("{part} power");
        if let Some(block) = &stated.block {
            words.push_str(&format!(" of `{block}`"));
        }
        if let Some(mode) = &stated.mode {
            words.push_str(&format!(" in `{mode}`"));
        }
        TotalCheck {
            line: stated.line,
            of: words,
            stated: value.value,
            sum: sum.power,
            agrees: sum.is(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_sums_are_known_by_name_and_blocks_are_not_taken_for_them() {
        for name in ["Total", "SUM", "Grand total", "Sub-total", "Total power (mW)", "Σ"] {
            assert!(is_total(name), "{name}");
        }
        assert_eq!(behind_total("Total active"), Some(("active", false)));
        assert_eq!(behind_total("Grand total: deep sleep"), Some(("deep sleep", true)));
        assert_eq!(behind_total("modem total"), None);
        for name in ["summer", "total recall engine", "modem", "", "sum engine"] {
            assert!(!is_total(name), "{name}");
        }
    }
}
