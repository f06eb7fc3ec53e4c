//! How good the answers of a network are, as somebody measured it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A quality figure of a network, with where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quality {
    /// What is measured (`accuracy`, `mAP`, `AUC`).
    pub metric: String,
    /// Its value over the whole test set.
    pub value: f64,
    /// Its value over named parts of the test set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub slices: BTreeMap<String, f64>,
    /// Who measured it, on what.
    pub source: String,
}

impl Quality {
    /// Reads `METRIC=VALUE@SOURCE`, as on the command line. The error says what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = "expected METRIC=VALUE@SOURCE, for example accuracy=0.861@\"our test set\"";
        let (metric, rest) = text.split_once('=').ok_or(expected)?;
        let (value, source) = rest.split_once('@').ok_or(expected)?;
        let value = number(value)?;
        let source = source.trim().trim_matches('"').to_owned();
        let metric = metric.trim().to_owned();
        let quality = Self { metric, value, slices: BTreeMap::new(), source };
        quality.check()?;
        Ok(quality)
    }

    /// Reads `SLICE=VALUE`, as on the command line. The error says what was expected.
    pub fn parse_slice(text: &str) -> Result<(String, f64), String> {
        let expected = "expected SLICE=VALUE, for example night=0.79";
        let (name, value) = text.split_once('=').ok_or(expected)?;
        let name = name.trim();
        if name.is_empty() {
            return Err(expected.to_owned());
        }
        Ok((name.to_owned(), number(value)?))
    }

    /// Whether it can be compared: finite values, a metric and a source.
    pub fn check(&self) -> Result<(), String> {
        if self.metric.is_empty() || self.source.is_empty() {
            return Err("a quality figure needs a metric and a source".to_owned());
        }
        if let Some(value) = self.values().find(|value| !value.is_finite()) {
            return Err(format!("a quality of {value} cannot be compared"));
        }
        Ok(())
    }

    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        std::iter::once(self.value).chain(self.slices.values().copied())
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.metric, self.value)?;
        for (slice, value) in &self.slices {
            write!(f, ", {slice} {value}")?;
        }
        write!(f, " ({})", self.source)
    }
}

fn number(text: &str) -> Result<f64, String> {
    let value: f64 = text.trim().parse().map_err(|_| format!("`{text}` is not a number"))?;
    if value.is_finite() { Ok(value) } else { Err(format!("`{text}` is not a finite number")) }
}

#[cfg(test)]
mod tests {
    use super::Quality;

    #[test]
    fn a_figure_without_value_or_source_is_none() {
        let quality = Quality::parse("accuracy=0.861@\"test set, 1000 images\"").unwrap();
        assert_eq!((quality.metric.as_str(), quality.value), ("accuracy", 0.861));
        assert_eq!(quality.source, "test set, 1000 images");
        for bad in ["accuracy", "accuracy=0.8", "accuracy=x@y", "=1@y", "accuracy=inf@y", "a=1@"] {
            assert!(Quality::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(Quality::parse_slice("night=0.79"), Ok(("night".to_owned(), 0.79)));
        assert!(Quality::parse_slice("=0.79").is_err());
        assert!(Quality::parse_slice("night=NaN").is_err());
    }
}
