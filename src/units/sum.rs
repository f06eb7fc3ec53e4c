//! A sum that does not lose small terms.

use serde::{Deserialize, Serialize};

/// Neumaier's compensated sum: the error does not grow with the number of terms, so that the sums of
/// a long run can be held against each other to 1e-9.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct CompensatedSum {
    sum: f64,
    lost: f64,
}

impl CompensatedSum {
    /// Adds a term.
    #[inline]
    pub fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        self.lost += if self.sum.abs() >= term.abs() {
            (self.sum - sum) + term
        } else {
            (term - sum) + self.sum
        };
        self.sum = sum;
    }

    /// The sum so far.
    #[inline]
    pub fn value(&self) -> f64 {
        self.sum + self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_terms_survive_a_large_sum() {
        let mut sum = CompensatedSum::default();
        let mut plain = 0.0;
        sum.add(1e9);
        plain += 1e9;
        for _ in 0..1_000_000 {
            sum.add(1e-9);
            plain += 1e-9;
        }
        assert_eq!(plain, 1e9, "a plain sum loses them all");
        assert!((sum.value() - 1e9 - 1e-3).abs() < 1e-7);
    }
}
