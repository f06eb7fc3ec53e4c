//! `calibrate`: the fit as a document.

use crate::calibrate::{FitReport, FittedNumber, FittedSight};
use serde_json::{Value, json};

/// The report of a fit.
pub fn calibration(outcome: &FitReport) -> Value {
    json!({
        "name": outcome.name,
        "unknowns": outcome.unknowns,
        "iterations": outcome.iterations,
        "converged": outcome.converged,
        "chi_squared_per_measurement": outcome.chi_squared_per_measurement,
        "condition": outcome.condition,
        "numbers": outcome.numbers.iter().map(number).collect::<Vec<_>>(),
        "measurements": outcome.sights.iter().map(sight).collect::<Vec<_>>(),
        "confused": outcome.confused.iter().map(|pair| {
            json!({"one": pair.one, "other": pair.other, "correlation": pair.correlation})
        }).collect::<Vec<_>>(),
        "weakest": outcome.weakest.as_ref().map(|weakest| {
            let parts = weakest.parts.iter().map(|(name, part)| json!({"number": name, "part": part}));
            json!({"parts": parts.collect::<Vec<_>>(), "experiment": weakest.experiment})
        }),
        "contradictions": outcome.contradictions.iter().map(|c| {
            json!({"one": c.one, "other": c.other, "sigmas": c.sigmas})
        }).collect::<Vec<_>>(),
        "strained": outcome.strained.iter().map(|(name, pull)| json!({"measurement": name, "pull": pull})).collect::<Vec<_>>(),
        "idle": outcome.idle,
        "untouched": outcome.untouched,
    })
}

fn number(number: &FittedNumber) -> Value {
    json!({
        "hardware": number.hardware,
        "runtime_version": number.version,
        "path": number.name,
        "written": number.written,
        "before": number.before,
        "value": number.value(),
        "sigma_before": number.sigma_before,
        "sigma": number.sigma,
        "moved_sigmas": number.moved(),
        "effect": number.effect,
        "prior_share": number.prior_share,
        "meter_share": number.meter_share,
        "told_by": number.told_by.as_ref().map(|(name, share)| json!({"measurement": name, "share": share})),
    })
}

fn sight(sight: &FittedSight) -> Value {
    json!({
        "id": sight.id,
        "quantity": sight.quantity.with_unit(),
        "measured": sight.measured,
        "before": sight.before,
        "pull_before": sight.pull_before(),
        "given": sight.given,
        "predicted": sight.predicted,
        "predicted_interval90": [sight.interval.low, sight.interval.high],
        "relative_error": sight.predicted / sight.measured - 1.0,
        "pull": sight.pull,
        "leverage": sight.leverage,
        "sharpens": sight.sharpens(),
        "fault": sight.fault,
        "tells": sight.tells.as_ref().map(|(name, share)| json!({"path": name, "share": share})),
    })
}
