//! `capture fold`: the profile of one inference, and its layers.

use crate::capture::{Assigned, Folded, Measured};
use serde_json::{Value, json};

/// Period, energy, bins, layers.
pub fn fold(m: &Measured, folded: &Folded, layers: Option<&[Assigned]>) -> Value {
    let bins = folded.power.iter().zip(&folded.error).zip(&folded.samples).enumerate();
    let bins = bins.map(|(at, ((power, error), samples))| {
        json!({
            "phase_s": folded.start_of(at), "power_w": power, "standard_error_w": error,
            "samples": samples,
        })
    });
    let layers = layers.map(|layers| {
        let layer = |layer: &Assigned| {
            json!({
                "name": layer.name, "layers": layer.layers.clone().collect::<Vec<_>>(),
                "start_s": layer.start, "stop_s": layer.end, "duration_s": layer.end - layer.start,
                "mean_w": layer.mean, "energy_j": layer.energy,
                "start_standard_deviation_s": layer.start_error, "confidence": layer.confidence,
            })
        };
        layers.iter().map(layer).collect::<Vec<_>>()
    });
    json!({
        "schema": "joulecast.fold/1",
        "format": m.layout.format,
        "period_s": folded.period,
        "period_standard_error_s": folded.period_error,
        "energy_j": folded.energy(),
        "inferences": folded.inferences,
        "windows": m.measured.len(),
        "unexplained": folded.unexplained,
        "noise_w": folded.noise(),
        "bins": bins.collect::<Vec<_>>(),
        "layers": layers,
    })
}
