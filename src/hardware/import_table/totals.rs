//! Rows that hold sums: recognised, held against the rows, never imported.

use super::{BlockMode, Reading};
use crate::units::Watts;

/// Difference within which a rounded sum is the sum.
const ROUNDING: f64 = 5e-3;

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

pub(super) fn agrees(sum: Watts, stated: Watts) -> bool {
    (sum.0 - stated.0).abs() <= ROUNDING * sum.0.abs().max(stated.0.abs())
}

/// Power of a row.
#[derive(Debug, Clone)]
struct Addend {
    line: u64,
    block: String,
    mode: String,
    dynamic: Watts,
    leakage: Watts,
}

#[derive(Debug)]
struct Stated {
    line: u64,
    block: Option<String>,
    mode: Option<String>,
    dynamic: Option<Reading<Watts>>,
    leakage: Option<Reading<Watts>>,
    total: Option<Reading<Watts>>,
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
            dynamic: mode.dynamic.value,
            leakage: mode.leakage.as_ref().map_or(Watts::ZERO, |l| l.value),
        });
    }

    pub(super) fn stated(
        &mut self,
        line: u64,
        block: Option<String>,
        mode: Option<String>,
        dynamic: Option<Reading<Watts>>,
        leakage: Option<Reading<Watts>>,
        total: Option<Reading<Watts>>,
    ) {
        self.stated.push(Stated { line, block, mode, dynamic, leakage, total });
    }

    /// Every sum held against its rows.
    pub(super) fn checked(&self) -> Vec<TotalCheck> {
        let mut checks = Vec::new();
        let mut before = 0;
        for stated in &self.stated {
            let mut held = |part, value: &Option<Reading<Watts>>, of: fn(&Addend) -> Watts| {
                if let Some(value) = value {
                    checks.push(self.check(stated, (part, value.value), before, of));
                }
            };
            held("dynamic", &stated.dynamic, |a| a.dynamic);
            held("leakage", &stated.leakage, |a| a.leakage);
            held("total", &stated.total, |a| a.dynamic + a.leakage);
            before = stated.line;
        }
        checks
    }

    /// One sum. A row of sums may be of all rows, or of those since the sum above it.
    fn check(
        &self,
        stated: &Stated,
        (part, value): (&str, Watts),
        before: u64,
        of: fn(&Addend) -> Watts,
    ) -> TotalCheck {
        let belongs = |a: &&Addend| {
            stated.block.as_ref().is_none_or(|b| *b == a.block)
                && stated.mode.as_ref().is_none_or(|m| *m == a.mode)
        };
        let all: Watts = self.addends.iter().filter(belongs).map(of).sum();
        let since = |a: &&Addend| a.line > before && a.line < stated.line;
        let part_sum: Watts = self.addends.iter().filter(belongs).filter(since).map(of).sum();
        let sum = if agrees(part_sum, value) { part_sum } else { all };
        let mut words = format!("{part} power");
        if let Some(block) = &stated.block {
            words.push_str(&format!(" of `{block}`"));
        }
        if let Some(mode) = &stated.mode {
            words.push_str(&format!(" in `{mode}`"));
        }
        TotalCheck { line: stated.line, of: words, stated: value, sum, agrees: agrees(sum, value) }
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
        for name in ["summer", "total recall engine", "modem", "", "sum engine"] {
            assert!(!is_total(name), "{name}");
        }
    }
}
