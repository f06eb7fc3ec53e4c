//! All measurements predicted under all protocols, and how far off the predictions are.

use super::calibration::{Calibration, CalibrationError};
use super::case::{Case, Quantity};
use super::fit::Limits;
use super::gathered::Gathered;
use super::holdout::{Protocol, hold_out};
use super::joint::Joint;
use super::validation::Comparison;
use crate::evidence::Kind;
use crate::uncertainty::{Interval90, threads};
use std::collections::BTreeMap;

/// A measurement and what was predicted of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// Case, network, and layer where it is of one.
    pub id: String,
    /// What was fitted together; the profile where nothing was.
    pub family: String,
    /// The profile.
    pub hardware: String,
    /// True for a figure of one layer.
    pub of_layer: bool,
    /// What is measured.
    pub quantity: Quantity,
    /// The measurement, in SI.
    pub measured: f64,
    /// The prediction, in SI.
    pub predicted: f64,
    /// Its 90 % interval.
    pub interval: Interval90,
    /// What the prediction had.
    pub protocol: Protocol,
    /// Share of it that rests on numbers which no measurement told anything about.
    pub unexcited: f64,
    /// True where it is in summaries: the source has no fault, and was read.
    pub counts: bool,
}

impl Scored {
    /// `predicted / measured - 1`.
    pub fn relative_error(&self) -> f64 {
        self.predicted / self.measured - 1.0
    }

    /// True when the measurement lies in the interval.
    pub fn is_covered(&self) -> bool {
        (self.interval.low..=self.interval.high).contains(&self.measured)
    }

    /// That of a profile as it stands.
    pub fn uncalibrated(comparison: &Comparison, family: &str) -> Self {
        Self {
            id: comparison.id.clone(),
            family: family.to_owned(),
            hardware: comparison.hardware.clone(),
            of_layer: comparison.layer.is_some(),
            quantity: comparison.of,
            measured: comparison.measured,
            predicted: comparison.predicted,
            interval: comparison.interval,
            protocol: Protocol::Uncalibrated,
            unexcited: 1.0,
            counts: comparison.fault.is_none() && is_read(comparison.kind),
        }
    }
}

/// Predictions of profiles as they stand, by the calibrations that cases are of; a case of none is of its
/// profile.
pub fn as_they_stand(all: &[Gathered], comparisons: &[Comparison]) -> Vec<Scored> {
    let mut families = BTreeMap::new();
    for gathered in all {
        let name = gathered.calibration.name.as_str();
        families.extend(gathered.cases.iter().map(|case| (case.id.as_str(), name)));
    }
    let scored = comparisons.iter().map(|comparison| {
        let family = families.get(comparison.case.as_str()).copied();
        Scored::uncalibrated(comparison, family.unwrap_or(&comparison.hardware))
    });
    scored.collect()
}

/// False for a figure that nobody looked up.
fn is_read(kind: Kind) -> bool {
    !matches!(kind, Kind::Recalled | Kind::Assumed)
}

/// The measurements of a calibration, predicted under protocols that hold some of them out.
///
/// # Errors
/// A case names what does not exist, a fit has nothing to work from.
pub fn held_out(
    gathered: &Gathered,
    protocols: &[Protocol],
) -> Result<Vec<Scored>, CalibrationError> {
    let parts = threads::mapped(&gathered.parts(), |cases| {
        held_out_of(cases, &gathered.calibration, protocols)
    });
    let mut predictions = Vec::new();
    for part in parts {
        predictions.extend(part?);
    }
    Ok(predictions)
}

/// The same of cases that are fitted together.
fn held_out_of(
    cases: &[Case],
    calibration: &Calibration,
    protocols: &[Protocol],
) -> Result<Vec<Scored>, CalibrationError> {
    if protocols.iter().all(|protocol| *protocol == Protocol::Uncalibrated) {
        return Ok(Vec::new());
    }
    let joint = Joint::of(cases, calibration)?;
    let all = joint.fitted_to_all(calibration.loss, Limits::coarse())?;
    let start = joint.start(&all.fit.x, all.scales);
    let mut predictions = Vec::new();
    let asked: Vec<Protocol> =
        protocols.iter().copied().filter(|own| *own != Protocol::Uncalibrated).collect();
    for held in hold_out(&joint, &asked, calibration.loss, &start)? {
        let Some(sight) = joint.sights().get(held.forecast.sight) else { continue };
        predictions.push(Scored {
            id: sight.id.clone(),
            family: calibration.name.clone(),
            hardware: sight.keys.hardware.clone(),
            of_layer: sight.layer.is_some(),
            quantity: sight.quantity,
            measured: sight.measured,
            predicted: held.forecast.predicted,
            interval: held.forecast.interval(),
            protocol: held.protocol,
            unexcited: held.forecast.unexcited,
            counts: sight.fault.is_none() && is_read(sight.kind),
        });
    }
    Ok(predictions)
}

/// Errors of one quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Missed {
    /// Figures.
    pub figures: usize,
    /// Median of the absolute relative errors.
    pub median: f64,
    /// What 90 of 100 of them stay below.
    pub p90: f64,
    /// The largest.
    pub worst: f64,
    /// Share of the measurements in the 90 % interval of their prediction.
    pub coverage: f64,
}

impl Missed {
    /// Those of some predictions of whole networks; `None` where none counts.
    pub fn by<'a>(
        predictions: impl Iterator<Item = &'a Scored>,
        quantity: Quantity,
    ) -> Option<Self> {
        let own: Vec<&Scored> =
            predictions.filter(|p| p.counts && !p.of_layer && p.quantity == quantity).collect();
        let mut errors: Vec<f64> = own.iter().map(|p| p.relative_error().abs()).collect();
        errors.sort_by(f64::total_cmp);
        let covered = own.iter().filter(|p| p.is_covered()).count();
        Some(Self {
            figures: own.len(),
            median: quantile(&errors, 0.5)?,
            p90: quantile(&errors, 0.9)?,
            worst: *errors.last()?,
            coverage: covered as f64 / own.len() as f64,
        })
    }
}

/// A quantile, between two values in proportion.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * (sorted.len().checked_sub(1)?) as f64;
    let below = place.floor();
    let (low, high) = (*sorted.get(below as usize)?, *sorted.get(place.ceil() as usize)?);
    Some(low + (place - below) * (high - low))
}

/// Errors under one protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct ProtocolErrors {
    /// What predictions had.
    pub protocol: Protocol,
    /// What was fitted together; all where it is none.
    pub family: Option<String>,
    /// Errors of latency.
    pub latency: Option<Missed>,
    /// Errors of energy.
    pub energy: Option<Missed>,
}

/// Errors by protocol, over all and by family, in the order of protocols and of first appearance.
pub fn errors_by_protocol(predictions: &[Scored]) -> Vec<ProtocolErrors> {
    let mut families: Vec<&str> = Vec::new();
    for prediction in predictions {
        if !families.contains(&prediction.family.as_str()) {
            families.push(&prediction.family);
        }
    }
    let mut errors = Vec::new();
    for protocol in Protocol::ALL {
        let of = |family: Option<&str>| {
            let own = || {
                predictions.iter().filter(move |p| {
                    p.protocol == protocol && family.is_none_or(|family| p.family == family)
                })
            };
            let latency = Missed::by(own(), Quantity::Latency);
            let energy = Missed::by(own(), Quantity::Energy);
            let family = family.map(str::to_owned);
            ProtocolErrors { protocol, family, latency, energy }
        };
        let all = std::iter::once(None).chain(families.iter().copied().map(Some)).map(of);
        errors.extend(all.filter(|own| own.latency.is_some() || own.energy.is_some()));
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_lies_between_its_neighbours() {
        let sorted = [1.0, 2.0, 3.0, 4.0, 10.0];
        assert_eq!(quantile(&sorted, 0.5), Some(3.0));
        assert!((quantile(&sorted, 0.9).unwrap() - 7.6).abs() < 1e-12);
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[7.0], 0.9), Some(7.0));
    }
}
