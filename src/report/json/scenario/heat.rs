//! Heat of a run of a scenario.

use crate::report::scenario::ScenarioRun;
use crate::sim::{HeatUse, TrippedBy};
use serde_json::{Value, json};

/// Nothing where leakage followed no temperature.
pub(super) fn heat(run: &ScenarioRun<'_>) -> Value {
    run.simulated.heat.as_ref().map_or(Value::Null, document)
}

/// The highest temperature of all nodes.
pub(super) fn highest(run: &ScenarioRun<'_>) -> Value {
    let highest = run.simulated.heat.as_ref().and_then(HeatUse::highest);
    json!(highest.map(|own| own.0))
}

fn document(heat: &HeatUse) -> Value {
    let nodes = heat.nodes.iter().map(|own| {
        json!({
            "name": own.name, "first_c": own.first.0, "max_c": own.highest.0,
            "max_at_s": own.highest_at.seconds(), "mean_c": own.mean.0, "last_c": own.last.0,
            "heat_j": own.heat,
        })
    });
    let sensors = heat.sensors.iter().map(|own| {
        json!({
            "name": own.name, "max_reading_c": own.highest.map(|own| own.0),
            "last_reading_c": own.last.map(|own| own.0), "readings": own.readings,
        })
    });
    let tripped = heat.tripped.map(|own| {
        let (node, sensor) = match own.by {
            TrippedBy::Node(node) => (heat.nodes.get(node).map(|own| &own.name), None),
            TrippedBy::Sensor(own) => (None, heat.sensors.get(own).map(|own| &own.name)),
        };
        json!({
            "at_s": own.at.seconds(), "node": node, "sensor": sensor,
            "temperature_c": own.temperature.0,
        })
    });
    let runaway = heat.runaway.map(|own| {
        json!({
            "at_s": own.at.seconds(), "node": heat.nodes.get(own.node).map(|own| &own.name),
            "unbounded": own.unbounded,
        })
    });
    json!({
        "ambient_c": heat.ambient.0,
        "nodes": nodes.collect::<Vec<_>>(), "sensors": sensors.collect::<Vec<_>>(),
        "leaked_j": heat.leaked, "leakage_booked_j": heat.booked, "steps": heat.steps,
        "trip": tripped, "runaway": runaway,
    })
}
