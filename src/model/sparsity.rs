//! Weights stored without their zeros.
//!
//! Bits of an element of `b` bits, of which a share `d` is kept: a bitmap costs one bit an element,
//! `1 + d b`; a structure of `n` in `m` costs an index of `ceil(log2 m)` bits a kept element,
//! `(b + ceil(log2 m)) n / m`, as sparse tensor cores store it.

use serde::{Deserialize, Serialize};

/// How zeros are left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Sparsity {
    /// A bitmap says which elements are kept.
    Unstructured {
        /// Share of zeros, 0 to 1.
        zeros: f64,
    },
    /// In every group of `of` elements along the depth of the sum, `keep` are stored.
    Structured {
        /// Elements stored.
        keep: u32,
        /// Elements of a group.
        of: u32,
    },
}

impl Sparsity {
    /// Share of the elements that are stored.
    pub fn density(self) -> f64 {
        match self {
            Self::Unstructured { zeros } => (1.0 - zeros).clamp(0.0, 1.0),
            Self::Structured { keep, of } => f64::from(keep.min(of)) / f64::from(of.max(1)),
        }
    }

    /// Stored bits of an element whose values take `bits`. Where leaving out would cost more than it
    /// saves, all are stored.
    pub fn bits_per_element(self, bits: u64) -> f64 {
        let dense = bits as f64;
        let sparse = match self {
            Self::Unstructured { .. } => 1.0 + self.density() * dense,
            Self::Structured { of, .. } => {
                let index = f64::from(of.max(1).next_power_of_two().trailing_zeros());
                self.density() * (dense + index)
            }
        };
        sparse.min(dense)
    }

    /// Whether the numbers make sense.
    pub fn is_sound(self) -> bool {
        match self {
            Self::Unstructured { zeros } => (0.0..=1.0).contains(&zeros),
            Self::Structured { keep, of } => keep > 0 && keep <= of && of <= 1024,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_in_four_of_eight_bits_stores_five_bits_an_element() {
        assert_eq!(Sparsity::Structured { keep: 2, of: 4 }.bits_per_element(8), 5.0);
        assert_eq!(Sparsity::Unstructured { zeros: 0.75 }.bits_per_element(8), 3.0);
        assert_eq!(Sparsity::Unstructured { zeros: 0.0 }.bits_per_element(8), 8.0, "kept dense");
        assert!(!Sparsity::Structured { keep: 5, of: 4 }.is_sound());
        assert!(!Sparsity::Unstructured { zeros: f64::NAN }.is_sound());
    }
}
