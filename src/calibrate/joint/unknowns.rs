//! The unknowns of several configurations: what they share is one unknown.

use crate::calibrate::calibration::Off;
use crate::calibrate::fit::Unknown;
use std::collections::BTreeMap;

/// Unknowns by name, in the order they are first met.
#[derive(Debug, Clone, Default)]
pub(super) struct Unknowns {
    list: Vec<Unknown>,
    /// What those are off that are a discrepancy.
    off: Vec<Option<Off>>,
    by_name: BTreeMap<String, usize>,
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

    /// All of them, with what they are off where they are a discrepancy.
    pub fn into_parts(self) -> (Vec<Unknown>, Vec<Option<Off>>) {
        (self.list, self.off)
    }
}
