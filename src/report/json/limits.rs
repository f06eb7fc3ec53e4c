//! What a prediction means for what feeds and cools the chip.

use crate::physics::leakage_fixed_point::SteadyTemperature;
use crate::report::Prediction;
use crate::report::prediction::Lifetime;
use serde_json::{Value, json};

/// Highest current of each rail.
pub(super) fn rails(p: &Prediction<'_>) -> Value {
    let spec = p.setting.profile.spec();
    let rails = p.peaks.iter().map(|peak| {
        json!({
            "name": spec.rails[peak.rail].name,
            "peak_a": peak.current,
            "peak_layer": p.network.layers.get(peak.layer).map(|l| &l.name),
            "rise_a_per_s": peak.rise,
            "limit_a": peak.limit.as_ref().map(|l| l.current),
            "limited_by": peak.limit.as_ref().map(|l| &l.name),
            "sag_v": peak.sag,
            "headroom_v": peak.headroom.map(|h| h.spare),
        })
    });
    Value::Array(rails.collect())
}

/// Where the junction settles under back-to-back inference; null without a package.
pub(super) fn junction(p: &Prediction<'_>) -> Value {
    let Some(junction) = &p.junction else { return Value::Null };
    let (at, runs_away) = match junction.steady {
        SteadyTemperature::Settles(at) => (json!(at), false),
        SteadyTemperature::RunsAway => (Value::Null, true),
    };
    json!({
        "ambient_degc": junction.ambient, "resistance_k_per_w": junction.resistance,
        "steady_degc": at, "runs_away": runs_away, "kind": junction.kind.name(),
    })
}

/// How many inferences each supply that holds a charge lasts.
pub(super) fn supplies(lives: Vec<Lifetime>) -> Value {
    let lives = lives.into_iter().map(|life| {
        json!({
            "name": life.supply, "capacity_c": life.capacity,
            "inferences": life.inferences, "duration_s": life.duration,
        })
    });
    Value::Array(lives.collect())
}
