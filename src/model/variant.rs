//! Variants of a network side by side: size, work, quality, and demands on it.

use super::{ModelError, ModelGraph, OpKind, Quality};
use serde::Serialize;
use std::fmt;

/// A least value of a quality figure, over the whole test set or a slice of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Demand {
    /// What is measured.
    pub metric: String,
    /// A part of the test set.
    pub slice: Option<String>,
    /// The least value that will do.
    pub at_least: f64,
}

impl Demand {
    /// Reads `METRIC=VALUE` or `METRIC/SLICE=VALUE`. The error says what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = "expected METRIC=VALUE or METRIC/SLICE=VALUE, for example accuracy=0.85";
        let (what, value) = text.split_once('=').ok_or(expected)?;
        let at_least: f64 =
            value.trim().parse().map_err(|_| format!("`{value}` is not a number"))?;
        let (metric, slice) = match what.split_once('/') {
            Some((metric, slice)) => (metric, Some(slice.trim().to_owned())),
            None => (what, None),
        };
        let metric = metric.trim().to_owned();
        let named = !metric.is_empty() && slice.as_ref().is_none_or(|slice| !slice.is_empty());
        if named && at_least.is_finite() {
            Ok(Self { metric, slice, at_least })
        } else {
            Err(expected.to_owned())
        }
    }

    /// Whether a figure meets it; nothing where the figure is another one.
    fn met_by(&self, quality: &Quality) -> Option<bool> {
        let same = quality.metric == self.metric;
        let value = match &self.slice {
            None => Some(quality.value),
            Some(slice) => quality.slices.get(slice).copied(),
        };
        value.filter(|_| same).map(|value| value >= self.at_least)
    }
}

impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.metric)?;
        if let Some(slice) = &self.slice {
            write!(f, "/{slice}")?;
        }
        write!(f, " at least {}", self.at_least)
    }
}

/// What a variant costs and how good it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Variant {
    /// The name or file it was asked for by.
    pub model: String,
    /// Layers.
    pub layers: u64,
    /// Multiply-accumulates.
    pub macs: u64,
    /// Multiply-accumulates without those of dead channels.
    pub live_macs: u64,
    /// Multiply-accumulates on zeros that are not stored.
    pub skippable_macs: u64,
    /// Layers of which nobody knows how much work they are; they are in no sum here.
    pub unknown_layers: u64,
    /// Other arithmetic, by element.
    pub element_ops: u64,
    /// Parameters that are stored, each once.
    pub stored_parameters: u64,
    /// Bytes of all constants, each once.
    pub stored_weight_bytes: u64,
    /// Most bytes of activations alive at once, in the order that lowers it.
    pub peak_activation_bytes: u64,
    /// How good its answers are, if anyone measured it.
    pub quality: Option<Quality>,
    /// What was done to it, in order.
    pub transforms: Vec<String>,
    /// For each demand, whether it is met; nothing where no figure says so.
    pub meets: Vec<Option<bool>>,
}

impl Variant {
    /// Counts a graph and holds its quality against demands.
    pub fn of(model: &str, graph: &ModelGraph, demands: &[Demand]) -> Result<Self, ModelError> {
        let profile = graph.profile()?;
        let met = |demand: &Demand| graph.quality.as_ref().and_then(|q| demand.met_by(q));
        Ok(Self {
            model: model.to_owned(),
            layers: profile.total.layers,
            macs: profile.total.macs,
            live_macs: profile.total.live_macs,
            skippable_macs: profile.total.skippable_macs,
            unknown_layers: profile
                .layers
                .iter()
                .filter(|layer| layer.layer.work.kind == OpKind::Opaque)
                .count() as u64,
            element_ops: profile.total.element_ops,
            stored_parameters: profile.stored_parameters,
            stored_weight_bytes: profile.stored_weight_bytes,
            peak_activation_bytes: profile.memory.chosen.peak_bytes,
            quality: profile.quality,
            transforms: profile.transforms.iter().map(|t| t.transform.to_string()).collect(),
            meets: demands.iter().map(met).collect(),
        })
    }

    /// Whether every demand is met.
    pub fn is_good_enough(&self) -> bool {
        self.meets.iter().all(|met| *met == Some(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demand_is_met_by_its_own_metric_and_slice_only() {
        let mut quality = Quality::parse("accuracy=0.86@us").unwrap();
        quality.slices.insert("night".into(), 0.7);
        let met = |text: &str| Demand::parse(text).unwrap().met_by(&quality);
        assert_eq!(met("accuracy=0.86"), Some(true));
        assert_eq!(met("accuracy=0.87"), Some(false));
        assert_eq!(met("accuracy/night=0.75"), Some(false));
        assert_eq!((met("accuracy/day=0.1"), met("mAP=0.1")), (None, None));
        for bad in ["accuracy", "=0.5", "accuracy/=0.5", "accuracy=x", "accuracy=inf"] {
            assert!(Demand::parse(bad).is_err(), "{bad}");
        }
    }
}
