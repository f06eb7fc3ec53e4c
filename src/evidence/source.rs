//! Where a number comes from.

use crate::units::{Literal, Spread};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The kind of a source, from the strongest to the weakest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Taken with an instrument, published with enough context to repeat it.
    Measured,
    /// The vendor's stated value.
    Datasheet,
    /// A peer-reviewed or archived publication.
    Paper,
    /// Fitted by this program to measurements.
    Fitted,
    /// Computed from other numbers by a stated formula.
    Derived,
    /// Known from the named document, which was not re-read.
    Recalled,
    /// No source; the reasoning is given.
    Assumed,
}

impl Kind {
    /// All kinds, strongest first.
    pub const ALL: [Self; 7] = [
        Self::Measured,
        Self::Datasheet,
        Self::Paper,
        Self::Fitted,
        Self::Derived,
        Self::Recalled,
        Self::Assumed,
    ];

    /// What leaves another kind as it is in [`Kind::weaker`]: for structure, which has no source.
    pub const STRONGEST: Self = Self::Measured;

    /// True for what evidence coverage counts: measured, datasheet, paper, fitted.
    pub fn is_evidence(self) -> bool {
        matches!(self, Self::Measured | Self::Datasheet | Self::Paper | Self::Fitted)
    }

    /// The weaker of two: a product is as well founded as its weakest factor.
    pub fn weaker(self, other: Self) -> Self {
        self.max(other)
    }

    /// In lower case, for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Datasheet => "datasheet",
            Self::Paper => "paper",
            Self::Fitted => "fitted",
            Self::Derived => "derived",
            Self::Recalled => "recalled",
            Self::Assumed => "assumed",
        }
    }
}

/// An entry of a profile's `sources` table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// What kind of source it is.
    pub kind: Kind,
    /// Author, title, document number, table: enough to find it.
    pub citation: String,
    /// The condition under which its numbers hold.
    #[serde(default)]
    pub condition: Option<String>,
    /// A factor that all its values share. Independent errors would average out over a sum, and
    /// intervals would come out too narrow.
    #[serde(default)]
    pub common: Option<CommonSpread>,
}

/// The `sources` table.
pub type Sources = BTreeMap<String, Source>;

/// A shared spread such as `"±20%"`: sigma of the logarithm of the common factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommonSpread(pub f64);

impl<'de> Deserialize<'de> for CommonSpread {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bad = || serde::de::Error::custom("expected a shared spread such as \"±20%\"");
        let literal = Literal::parse(&format!("1 x {}", text.trim())).map_err(|_| bad())?;
        match literal.spread_as::<crate::units::Ratio>() {
            Some(Spread::LogNormal(sigma)) if literal.source.is_none() => Ok(Self(sigma)),
            _ => Err(bad()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_as_weak_as_its_weakest_factor() {
        assert_eq!(Kind::Measured.weaker(Kind::Assumed), Kind::Assumed);
        assert_eq!(Kind::Recalled.weaker(Kind::Derived), Kind::Recalled);
        assert!(!Kind::Derived.is_evidence() && Kind::Fitted.is_evidence());
    }

    #[test]
    fn a_common_spread_is_read_as_a_log_normal() {
        let c: CommonSpread = ron::from_str("\"±20%\"").unwrap();
        assert!((c.0 - 1.2f64.ln()).abs() < 1e-15);
        assert!(ron::from_str::<CommonSpread>("\"20%\"").is_err());
        assert!(ron::from_str::<CommonSpread>("\"±2 V\"").is_err());
    }
}
