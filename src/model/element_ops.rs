//! Arithmetic that is no multiply-accumulate, by what is computed.

use super::ElementFunction;
use serde::Serialize;
use std::collections::BTreeMap;

/// Element operations by function. An operation that hardware evaluates by a table or a short
/// polynomial counts as [`ElementFunction::operations_per_element`] says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct ElementOps(BTreeMap<ElementFunction, u64>);

impl ElementOps {
    /// None at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// The same with `count` operations more of a function. A sum past 64 bits stays at the largest
    /// number.
    #[must_use]
    pub fn and(mut self, function: ElementFunction, count: u64) -> Self {
        self.add(function, count);
        self
    }

    /// Adds `count` operations of a function.
    pub fn add(&mut self, function: ElementFunction, count: u64) {
        if count > 0 {
            let sum = self.0.entry(function).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    /// Adds those of another layer.
    pub fn add_all(&mut self, other: &Self) {
        for (function, count) in other.iter() {
            self.add(function, count);
        }
    }

    /// All of them together.
    pub fn total(&self) -> u64 {
        self.0.values().copied().fold(0, u64::saturating_add)
    }

    /// Functions with their operations, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = (ElementFunction, u64)> + '_ {
        self.0.iter().map(|(function, count)| (*function, *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElementFunction as F;

    #[test]
    fn sums_stop_at_the_largest_number_and_nothing_is_no_entry() {
        let mut ops = ElementOps::none().and(F::Add, u64::MAX).and(F::Add, 2).and(F::Clip, 0);
        assert_eq!(ops.iter().collect::<Vec<_>>(), [(F::Add, u64::MAX)]);
        ops.add_all(&ElementOps::none().and(F::Clip, 1));
        assert_eq!((ops.total(), ops.iter().count()), (u64::MAX, 2));
    }
}
