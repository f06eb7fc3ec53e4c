//! A counter of energy: mean power between two reads, with its wraps put right.

use super::super::ReadFault;
use super::super::stamps::Picoseconds;
use super::columns::value;
use std::collections::BTreeMap;

/// One counter and its last read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Counter {
    column: usize,
    range: Option<usize>,
    /// Its channel.
    pub(super) channel: usize,
    name: String,
    before: Option<(Picoseconds, f64)>,
}

/// What happened to counters, by their name.
#[derive(Debug, Default)]
pub(super) struct Oddities {
    wraps: BTreeMap<String, u64>,
    unknown: BTreeMap<String, u64>,
    still: BTreeMap<String, u64>,
    intervals: BTreeMap<String, u64>,
}

impl Counter {
    /// In column `column`, with its range in another.
    pub(super) fn new(column: usize, range: Option<usize>, channel: usize, name: String) -> Self {
        Self { column, range, channel, name, before: None }
    }

    /// Takes in a row; the start of the interval that ends with it, and the mean power in it \[W\].
    pub(super) fn take(
        &mut self,
        at: Picoseconds,
        cells: &[&str],
        oddities: &mut Oddities,
    ) -> Result<Option<(Picoseconds, f64)>, ReadFault> {
        let cell = |column: usize| cells.get(column).copied().unwrap_or_default();
        let now = value(cell(self.column), &self.name)?;
        if now.is_nan() {
            return Ok(None);
        }
        let range = match self.range {
            Some(column) => value(cell(column), &self.name)?,
            None => 0.0,
        };
        // Rows of one time: the later reads nothing that the next would not.
        if self.before.is_some_and(|(before, _)| before == at) {
            return Ok(None);
        }
        let Some((from, energy)) = self.before.replace((at, now)) else { return Ok(None) };
        let count = |of: &mut BTreeMap<String, u64>| *of.entry(self.name.clone()).or_default() += 1;
        count(&mut oddities.intervals);
        let mut grown = now - energy;
        if grown < 0.0 && range >= energy {
            count(&mut oddities.wraps);
            grown += range;
        } else if grown < 0.0 {
            count(&mut oddities.unknown);
            return Ok(None);
        } else if grown == 0.0 {
            count(&mut oddities.still);
        }
        // Microjoule by picosecond are megawatt.
        Ok(Some((from, grown / (at - from) as f64 * 1e6)))
    }
}

impl Oddities {
    /// One sentence each.
    pub(super) fn remarks(&self) -> Vec<String> {
        let wraps = self.wraps.iter().map(|(name, n)| {
            format!(
                "{name} wrapped {}: more than once between two reads would not show",
                if *n == 1 { "once".to_owned() } else { format!("{n} times") }
            )
        });
        let unknown = self.unknown.iter().map(|(name, n)| {
            format!("{name} fell {n} times without a known range (max_energy_range_uj): those intervals are gaps")
        });
        let still = self.still.iter().map(|(name, n)| {
            let all = self.intervals.get(name).copied().unwrap_or_default();
            format!("{name} stood still in {n} of {all} intervals: it was read faster than it is renewed, or nothing was drawn")
        });
        wraps.chain(unknown).chain(still).collect()
    }
}
