//! Evidence coverage: the share of a sum that rests on measured, datasheet, paper or fitted
//! numbers.

use super::Kind;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// Share on evidence below which a figure is indicative.
pub const INDICATIVE_BELOW: f64 = 0.5;

/// A sum split by the kind of evidence its terms rest on.
///
/// A term that is a product (cycles per MAC times clock period) counts for its weakest factor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// In the order of [`Kind::ALL`]; nothing where no term rests on a kind.
    #[serde(serialize_with = "as_map", deserialize_with = "from_map")]
    by_kind: [Option<f64>; Kind::ALL.len()],
}

fn as_map<S: Serializer>(by_kind: &[Option<f64>], to: S) -> Result<S::Ok, S::Error> {
    let known = Kind::ALL.iter().zip(by_kind).filter_map(|(kind, sum)| Some((kind, (*sum)?)));
    to.collect_map(known)
}

fn from_map<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<[Option<f64>; Kind::ALL.len()], D::Error> {
    let known = BTreeMap::<Kind, f64>::deserialize(from)?;
    Ok(Kind::ALL.map(|kind| known.get(&kind).copied()))
}

impl Coverage {
    /// Adds a term of size `amount` that rests on `kind`.
    pub fn add(&mut self, kind: Kind, amount: f64) {
        if let Some(sum) = self.by_kind.get_mut(kind as usize) {
            *sum.get_or_insert(0.0) += amount;
        }
    }

    /// Adds all terms of another sum.
    pub fn merge(&mut self, other: &Self) {
        for (kind, amount) in other.amounts() {
            self.add(kind, amount);
        }
    }

    /// The sum of each kind, strongest first.
    pub fn amounts(&self) -> impl Iterator<Item = (Kind, f64)> + '_ {
        Kind::ALL.into_iter().zip(self.by_kind).filter_map(|(kind, sum)| Some((kind, sum?)))
    }

    /// Every term times `factor`.
    pub fn scaled(mut self, factor: f64) -> Self {
        self.by_kind.iter_mut().flatten().for_each(|amount| *amount *= factor);
        self
    }

    /// The whole sum.
    pub fn total(&self) -> f64 {
        self.by_kind.iter().flatten().fold(0.0, |sum, v| sum + v)
    }

    /// Share of evidence, 0 to 1; 0 for an empty sum.
    pub fn share(&self) -> f64 {
        let total = self.total();
        // An empty sum of floats is -0, which would be printed.
        let sound =
            self.amounts().filter(|(k, _)| k.is_evidence()).fold(0.0, |sum, (_, v)| sum + v);
        if total > 0.0 { sound / total } else { 0.0 }
    }

    /// Share of each kind, strongest first.
    pub fn shares(&self) -> impl Iterator<Item = (Kind, f64)> + '_ {
        let total = self.total();
        self.amounts().filter(move |_| total > 0.0).map(move |(k, v)| (k, v / total))
    }

    /// True below [`INDICATIVE_BELOW`]: the figure is then indicative, and says so wherever it is printed.
    pub fn is_indicative(&self) -> bool {
        self.share() < INDICATIVE_BELOW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_counts_only_evidence() {
        let mut c = Coverage::default();
        assert_eq!(c.share(), 0.0);
        c.add(Kind::Assumed, 0.0);
        assert!(c.share().is_sign_positive());
        c.add(Kind::Measured, 3.0);
        c.add(Kind::Assumed, 1.0);
        assert_eq!(c.share(), 0.75);
        assert!(!c.is_indicative());
        c.add(Kind::Derived, 4.0);
        assert!(c.is_indicative());
    }
}
