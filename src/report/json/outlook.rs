//! A scenario before it runs.

use crate::sim::scenario::{Outlook, Scenario, StreamOutlook, Warning};
use serde_json::{Value, json};

/// A warning with the field and the line that it concerns.
pub(super) fn warning(own: &Warning) -> Value {
    let (file, place) = &own.place;
    json!({
        "field": own.path, "file": file, "line": place.map(|(line, _)| line),
        "column": place.map(|(_, column)| column), "message": own.message,
    })
}

/// `scenario list`.
pub fn scenario_list(rows: &[(&'static str, String, String)]) -> Value {
    let rows = rows.iter().map(|(name, hardware, description)| {
        json!({"name": name, "hardware": hardware, "description": description})
    });
    json!({"schema": "joulecast.scenario_list/1", "scenarios": rows.collect::<Vec<_>>()})
}

/// `scenario check`: what closed forms say.
pub fn scenario_check(scenario: &Scenario, outlook: &Outlook) -> Value {
    let engines = &scenario.profile().spec().engines;
    let streams: Vec<_> = outlook.streams.iter().map(|own| stream(own, engines)).collect();
    let loads = outlook.engines.iter().map(|load| {
        let by = load.by_stream.iter();
        let by = by
            .filter_map(|(at, share)| Some((outlook.streams.get(*at)?.name.clone(), json!(share))));
        json!({"name": load.engine, "share": load.share, "by_workload": by.collect::<Value>()})
    });
    let cascades = scenario.cascades.iter().zip(&outlook.cascades).map(|(wake, expected)| {
        let stages = expected.iter().flat_map(|own| &own.stages).zip(wake.cascade.stages());
        let stages = stages.map(|(own, stage)| {
            json!({
                "name": stage.name, "asked_per_s": own.asked, "passes_per_s": own.passes,
                "precision": own.precision, "recall": own.recall,
            })
        });
        json!({
            "name": wake.name,
            "wakes_per_h": expected.as_ref().map(|own| own.wakes_per_hour()),
            "stages": stages.collect::<Vec<_>>(),
        })
    });
    let rests = outlook.rests.iter().map(|own| {
        json!({
            "domain": own.domain, "state": own.state, "on_w": own.on, "rest_w": own.rest,
            "entry_s": own.entry_time, "wake_s": own.wake_time, "wake_cost_j": own.cost, "break_even_s": own.break_even,
        })
    });
    json!({
        "schema": "joulecast.scenario_check/1",
        "scenario": scenario.spec().name, "file": scenario.file(),
        "hardware": scenario.profile().spec().name, "operating_point": scenario.point().name,
        "version": env!("CARGO_PKG_VERSION"),
        "workloads": streams, "engines": loads.collect::<Vec<_>>(),
        "cascades": cascades.collect::<Vec<_>>(), "rests": rests.collect::<Vec<_>>(),
        "warnings": outlook.warnings.iter().map(warning).collect::<Vec<_>>(),
        "assumed": scenario.assumed(),
    })
}

fn stream(own: &StreamOutlook, engines: &[crate::hardware::Engine]) -> Value {
    let used = own.engines.iter().zip(engines).filter(|(time, _)| time.0 > 0.0);
    let used: Value = used.map(|(time, engine)| (engine.name.clone(), json!(time))).collect();
    json!({
        "name": own.name, "inferences_per_s": own.rate,
        "inferences_per_s_between": own.rate_between.map(|(least, most)| [least, most]),
        "latency_s": own.latency, "request_s": own.request, "engine_s": used,
    })
}
