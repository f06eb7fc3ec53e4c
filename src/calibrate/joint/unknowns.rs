//! The unknowns of several configurations: what they share is one unknown.

use crate::calibrate::calibration::Off;
use crate::calibrate::fit::Unknown;
use std::collections::{BTreeMap, BTreeSet};

/// Unknowns by name, in the order they are first met.
#[derive(Debug, Clone, Default)]
pub(super) struct Unknowns {
    list: Vec<Unknown>,
    /// What those are off that are a discrepancy.
    off: Vec<Option<Off>>,
    by_name: BTreeMap<String, usize>,
    /// Those that are what a meter is off by.
    meters: BTreeSet<usize>,
}

impl Unknowns {
    /// The unknown of a name: the logarithm of a factor with a deviation around one, for what the model is off
    /// by or for a number.
    pub fn factor(&mut self, name: String, of: Option<Off>, deviation: f64) -> usize {
        let next = self.list.len();
        let at = *self.by_name.entry(name.clone()).or_insert(next);
        if at == next {
            self.list.push(Unknown::with_prior(name, 0.0, deviation));
            self.off.push(of);
        }
        at
    }

    /// The same for what a meter is off by.
    pub fn meter(&mut self, name: String, deviation: f64) -> usize {
        let at = self.factor(name, None, deviation);
        self.meters.insert(at);
        at
    }

    /// All of them, with what they are off where they are a discrepancy, and those that are of meters.
    pub fn into_parts(self) -> (Vec<Unknown>, Vec<Option<Off>>, BTreeSet<usize>) {
        (self.list, self.off, self.meters)
    }
}
