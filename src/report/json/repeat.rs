//! `capture repeat`: several captures of one thing.

use crate::capture::{Compared, Measured, Runs, values_of};
use serde_json::{Value, json};

/// Values of each capture, their mean, spread within and between.
pub fn repeat(runs: &[(String, Measured)]) -> Value {
    let measured: Vec<&Measured> = runs.iter().map(|run| &run.1).collect();
    let (compared, values) = values_of(&measured);
    let captures = runs
        .iter()
        .zip(&values)
        .map(|((name, _), values)| json!({"capture": name, "energies_j": values}));
    let all = Runs::of(&values).map(|all| {
        json!({
            "mean_j": all.mean, "standard_error_j": all.standard_error,
            "within_standard_deviation_j": all.within,
            "between_standard_deviation_j": all.between,
        })
    });
    json!({
        "schema": "joulecast.capture_repeat/1",
        "of": match compared {
            Compared::EnergyPerInference => "inference",
            Compared::WindowEnergy => "window",
        },
        "captures": captures.collect::<Vec<_>>(),
        "all": all,
    })
}
