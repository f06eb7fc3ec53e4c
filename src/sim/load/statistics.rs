//! Sample statistics for the tests of arrivals.

use super::LoadError;
use crate::units::{Seconds, SimTime};

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The unbiased variance.
pub(super) fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

/// Seconds between times.
pub(super) fn gaps(times: &[SimTime]) -> Vec<f64> {
    times.windows(2).map(|pair| pair[1].since(pair[0]).seconds().0).collect()
}

/// How many times fall into each of so many windows on end.
pub(super) fn counts(
    times: impl Iterator<Item = Result<SimTime, LoadError>>,
    window: Seconds,
    windows: usize,
) -> Vec<f64> {
    let mut counts = vec![0.0; windows];
    for at in times.map(Result::unwrap) {
        match counts.get_mut((at.seconds() / window) as usize) {
            Some(count) => *count += 1.0,
            None => break,
        }
    }
    counts
}
