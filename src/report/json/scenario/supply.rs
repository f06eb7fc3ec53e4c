//! What feeds a run of a scenario.

use crate::report::scenario::ScenarioRun;
use crate::sim::{Holding, SourceUse};
use crate::units::SimTime;
use serde_json::{Value, json};

/// Nothing where every rail was held.
pub(super) fn first_brown_out(run: &ScenarioRun<'_>) -> Value {
    json!(run.simulated.supplied.first.map(|first| json!({
        "at_s": first.at.seconds(), "rail": run.rail_name(first.rail), "cause": first.cause.name(),
    })))
}

/// Losses of regulators and grids, with the modes of those that have several.
pub(super) fn regulators(run: &ScenarioRun<'_>) -> Value {
    let losses = run.simulated.ledger.losses.iter();
    let rows = losses.map(|(name, loss)| {
        let used = run.simulated.supplied.regulators.iter().find(|own| own.name == *name);
        let modes = used.into_iter().flat_map(|own| &own.modes).map(|(mode, time)| {
            let time = time.seconds();
            json!({"name": mode, "residency": run.share(time), "residency_s": time})
        });
        json!({
            "name": name, "loss_j": loss,
            "mode_changes": used.map_or(0, |own| own.changes),
            "wake_energy_j": used.map_or(0.0, |own| own.wake_energy.0),
            "modes": modes.collect::<Vec<_>>(),
        })
    });
    rows.collect()
}

pub(super) fn sources(run: &ScenarioRun<'_>) -> Value {
    run.simulated.supplied.sources.iter().map(|own| source(run, own)).collect()
}

fn source(run: &ScenarioRun<'_>, own: &SourceUse) -> Value {
    let mut map = serde_json::Map::new();
    let mut put = |name: &str, value: Value| map.insert(name.to_owned(), value);
    put("name", json!(own.name));
    put("kind", json!(own.holding.name()));
    put("rail", json!(run.rail_name(own.rail)));
    put("energy_given_j", json!(own.given));
    put("inside_loss_j", json!(own.inside));
    put("charge_used_c", json!(own.charge));
    put("lowest_v", json!(own.lowest));
    put("empty_at_s", json!(own.empty.map(SimTime::seconds)));
    match own.holding {
        Holding::Endless => {}
        Holding::Battery { capacity, start, left } => {
            put("capacity_c", json!(capacity));
            put("charge_at_start_c", json!(start));
            put("charge_left_c", json!(left));
            put("charge_left_share", json!(left / capacity));
        }
        Holding::Storage { start, left, leaked } => {
            put("stored_at_start_j", json!(start));
            put("stored_left_j", json!(left));
            put("stored_change_j", json!(left - start));
            put("leaked_j", json!(leaked));
            put("residual", json!(own.residual()));
        }
    }
    Value::Object(map)
}
