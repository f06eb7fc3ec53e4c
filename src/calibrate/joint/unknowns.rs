//! The unknowns of several configurations: what they share is one unknown.

use crate::calibrate::fit::Unknown;
use std::collections::BTreeMap;

/// Unknowns by name, in the order they are first met.
#[derive(Debug, Clone, Default)]
pub(super) struct Unknowns {
    list: Vec<Unknown>,
    by_name: BTreeMap<String, usize>,
}

impl Unknowns {
    /// The unknown of a name: the logarithm of a factor with a deviation around one.
    pub fn factor(&mut self, name: String, deviation: f64) -> usize {
        let next = self.list.len();
        let at = *self.by_name.entry(name.clone()).or_insert(next);
        if at == next {
            self.list.push(Unknown::with_prior(name, 0.0, deviation));
        }
        at
    }

    /// All of them.
    pub fn list(&self) -> &[Unknown] {
        &self.list
    }
}
