//! A run of a scenario.

mod heat;
mod supply;

use super::{hardware, pair};
use crate::report::scenario::{Pressure, ScenarioRun, TimeIn};
use crate::report::tables::window_name;
use crate::sim::kernel::Ending;
use crate::sim::load::Tally;
use crate::sim::scenario::End;
use crate::sim::{Durations, Quantiles, StreamUse};
use crate::trace::{Cause, WINDOWS};
use crate::uncertainty::{Figure, Interval90};
use crate::units::{Joules, Seconds, SimTime};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// `run` of a scenario: its metrics, and what became of streams, engines, rails and domains.
pub fn scenario_run(run: &ScenarioRun<'_>) -> Value {
    let mut document = subject(run);
    document.insert("metrics".into(), metrics(run));
    document.insert("workloads".into(), workloads(run));
    document.insert("cascades".into(), cascades(run));
    document.insert("engines".into(), engines(run));
    document.insert("rails".into(), rails(run));
    document.insert("regulators".into(), supply::regulators(run));
    document.insert("sources".into(), supply::sources(run));
    document.insert("domains".into(), domains(run));
    if let Some(used) = &run.simulated.speeds {
        document.insert("opp_changes".into(), json!(used.changes));
    }
    document.insert("blocks".into(), blocks(run));
    document.insert("ports".into(), ports(run));
    document.insert("supplies".into(), supplies(run));
    document.insert("heat".into(), heat::heat(run));
    document.insert("joules".into(), joules(run));
    document.insert("energy_uncertainty".into(), movers(run));
    Value::Object(document)
}

fn subject(run: &ScenarioRun<'_>) -> Map<String, Value> {
    let (scenario, profile) = (run.scenario, run.scenario.profile());
    let ending = match run.simulated.ending {
        Ending::Done => "done",
        Ending::Until(_) => "until",
        Ending::MaxEvents(_) => "max_events",
        Ending::Interrupted => "interrupted",
    };
    let ended = run.brown_out().filter(|_| run.simulated.supplied.ended);
    let hot = run.overheated();
    let limit = match run.simulated.heat.as_ref().and_then(|heat| heat.runaway) {
        Some(_) => "thermal_runaway",
        None => "critical_temperature",
    };
    let (ending, reason) = match (ended, hot) {
        (Some(said), _) => ("brown_out", said),
        (None, Some(said)) => (limit, said),
        (None, None) => (ending, run.simulated.ending.to_string()),
    };
    let warnings = run.outlook.warnings.iter();
    let warnings: Vec<_> = warnings.map(super::outlook::warning).collect();
    let mut map = Map::new();
    let mut put = |name: &str, value: Value| {
        map.insert(name.to_owned(), value);
    };
    put("schema", json!("joulecast.scenario_run/1"));
    put("scenario", json!(scenario.spec().name));
    put("description", json!(scenario.spec().description));
    put("hardware", json!(profile.spec().name));
    put("operating_point", json!(scenario.point().name));
    put("corner", json!(profile.corner()));
    put("seed", json!(run.seed));
    put("generator", json!(run.generator()));
    put("fidelity", json!(format!("{:?}", run.fidelity).to_lowercase()));
    put("version", json!(env!("CARGO_PKG_VERSION")));
    put("incomplete", json!(run.simulated.ending.is_incomplete()));
    put("ending", json!({"kind": ending, "reason": reason}));
    if let Some(resumed) = &run.resumed {
        let changed = resumed.changed.iter();
        let changed: Vec<_> = changed
            .map(|own| json!({"policy": own.policy, "was": own.was, "is": own.is}))
            .collect();
        put("resumed", json!({"at_s": resumed.at.seconds(), "changed": changed}));
    }
    put("caveats", json!(run.caveats));
    put("warnings", json!(warnings));
    put("assumed", json!(scenario.assumed()));
    map
}

/// Puts a figure and its interval, where there is one.
fn figure(map: &mut Map<String, Value>, name: &str, value: Value, interval: Option<Interval90>) {
    map.insert(name.to_owned(), value);
    if let Some(interval) = interval {
        map.insert(format!("{name}_interval90"), pair(interval));
    }
}

fn metrics(run: &ScenarioRun<'_>) -> Value {
    let (simulated, m) = (run.simulated, &run.simulated.metrics);
    let ledger = &simulated.ledger;
    let mut map = Map::new();
    let asked = match run.scenario.end {
        End::After(time) => json!({"duration_s": time.seconds()}),
        End::Inferences(count) => json!({"inferences": count}),
    };
    map.insert("asked_for".into(), asked);
    map.insert("duration_s".into(), json!(m.duration));
    map.insert("inferences".into(), json!(simulated.inferences()));
    map.insert("inferences_in_time".into(), json!(simulated.in_time()));
    figure(&mut map, "energy_j", json!(m.energy), run.energy_interval(m.energy));
    figure(&mut map, "source_energy_j", json!(ledger.source), run.energy_interval(ledger.source));
    map.insert("load_energy_j".into(), json!(m.load_energy));
    map.insert("loss_energy_j".into(), json!(m.loss_energy));
    figure(&mut map, "mean_w", json!(m.mean), run.interval(Figure::MeanPower, m.mean.0));
    map.insert("peak_w".into(), json!(m.peak));
    map.insert("max_temperature_c".into(), heat::highest(run));
    let windows: Map<String, Value> = WINDOWS
        .iter()
        .zip(&m.window_peaks)
        .map(|(width, peak)| (window_name(*width).replace('µ', "u").replace(' ', ""), json!(peak)))
        .collect();
    map.insert("window_peak_w".into(), Value::Object(windows));
    let each = simulated.energy_per_inference();
    let interval = each.and_then(|each| run.interval(Figure::Energy, each.0));
    figure(&mut map, "j_per_inference", json!(each), interval);
    let edp = simulated.edp();
    let interval = edp.and_then(|edp| run.interval(Figure::Edp, edp.0));
    figure(&mut map, "edp_js", json!(edp), interval);
    let latency = simulated.mean_latency();
    let interval = latency.and_then(|latency| run.interval(Figure::Latency, latency.0));
    figure(&mut map, "mean_latency_s", json!(latency), interval);
    let frugal = simulated.inferences_per_second_and_watt();
    // The other way round than energy.
    let interval = frugal.zip(run.interval(Figure::Energy, 1.0));
    let interval =
        interval.map(|(frugal, of)| Interval90 { low: frugal / of.high, high: frugal / of.low });
    figure(&mut map, "inferences_per_s_per_w", json!(frugal), interval);
    let throughput = run.per_second(simulated.inferences());
    map.insert("inferences_per_s".into(), json!(throughput));
    let in_time = run.per_second(simulated.in_time());
    map.insert("inferences_in_time_per_s".into(), json!(in_time));
    let latencies = run.quantiles(|own| own.served.latency.quantiles());
    map.insert("latency_s".into(), quantiles(&latencies));
    let responses = run.quantiles(|own| own.served.response.quantiles());
    map.insert("response_s".into(), quantiles(&responses));
    map.insert("deadline_misses".into(), json!(run.deadline_misses()));
    map.insert("brown_outs".into(), json!(simulated.supplied.brown_outs));
    map.insert("first_brown_out".into(), supply::first_brown_out(run));
    map.insert("unmet_j".into(), json!(ledger.unmet));
    map.insert("identity_residual".into(), json!(ledger.residuals().largest()));
    map.insert("events".into(), json!(simulated.events));
    map.insert(
        "coverage".into(),
        json!({
            "energy": run.grounds.energy.share(),
            "time": run.grounds.time.share(),
            "energy_by_kind": hardware::by_kind(&run.grounds.energy),
            "time_by_kind": hardware::by_kind(&run.grounds.time),
        }),
    );
    map.insert("indicative".into(), json!(run.is_indicative()));
    Value::Object(map)
}

fn at(quantiles: &Quantiles, share: f64) -> Value {
    json!(quantiles.quantile(share).map(SimTime::seconds))
}

/// p50, p95 and p99; null of none.
fn quantiles(of: &Quantiles) -> Value {
    json!({
        "p50": at(of, 0.5), "p95": at(of, 0.95), "p99": at(of, 0.99), "exact": of.is_exact(),
    })
}

fn durations(of: &Durations) -> Value {
    let quantiles = of.quantiles();
    let some = |time: Seconds| json!((quantiles.count() > 0).then_some(time));
    json!({
        "mean": some(of.mean()),
        "p50": at(quantiles, 0.5), "p95": at(quantiles, 0.95), "p99": at(quantiles, 0.99),
        "max": some(of.longest()), "exact": quantiles.is_exact(),
    })
}

fn workloads(run: &ScenarioRun<'_>) -> Value {
    let rows = run.simulated.streams.iter().enumerate();
    rows.map(|(stream, own)| workload(run, stream, own)).collect()
}

fn workload(run: &ScenarioRun<'_>, stream: usize, own: &StreamUse) -> Value {
    let (served, energy) = (&own.served, run.simulated.energy_of(stream));
    let inferences = served.inferences;
    let layers: Vec<_> = run
        .layers(stream)
        .into_iter()
        .map(|(name, energy)| json!({"name": name, "energy_j": energy}))
        .collect();
    let misses = served.deadlines.late.saturating_add(served.deadlines.lost);
    let (load, loss) = run.simulated.load_and_loss_of(stream);
    let mut latency = durations(&served.latency);
    for (name, share) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
        let quantile = served.latency.quantiles().quantile(share).map(SimTime::seconds);
        let interval = quantile.and_then(|time| run.latency_interval_of(stream, time));
        if let (Some(interval), Some(map)) = (interval, latency.as_object_mut()) {
            map.insert(format!("{name}_interval90"), pair(interval));
        }
    }
    let each = (inferences > 0).then(|| energy / inferences as f64);
    let interval = each.and_then(|each| run.energy_interval_of(stream, each));
    let mut document = json!({
        "name": own.name,
        "runs_network": own.runs_network,
        "asked": served.asked, "served": served.done, "refused": served.refused,
        "dropped": served.dropped, "unfinished": own.unfinished, "waited": served.waited,
        "longest_queue": served.longest_queue,
        "inferences": inferences, "inferences_in_time": served.in_time,
        "inferences_per_s": run.per_second(inferences),
        "busy_share": run.share(served.busy.seconds()),
        "latency_s": latency, "response_s": durations(&served.response),
        "has_deadline": own.has_deadline,
        "deadline_misses": misses, "late": served.deadlines.late, "lost": served.deadlines.lost,
        "deadline_miss_share": served.deadlines.missed_share(),
        "latest_by_s": served.deadlines.worst.seconds(),
        "energy_j": energy, "load_energy_j": load, "loss_energy_j": loss,
        "j_per_inference": each,
        "pressure": run.pressure(stream).as_ref().map(pressure),
        "layers": layers,
    });
    if let (Some(interval), Some(map)) = (interval, document.as_object_mut()) {
        map.insert("j_per_inference_interval90".into(), pair(interval));
    }
    document
}

fn pressure(own: &Pressure) -> Value {
    json!({
        "offered_per_s": own.offered, "served_per_s": own.served, "alone_per_s": own.alone,
        "engine": own.engine.as_ref().map(|(name, _)| name),
        "engine_load": own.engine.as_ref().map(|(_, share)| share),
        "saturated": own.saturated,
    })
}

fn cascades(run: &ScenarioRun<'_>) -> Value {
    let expected = run.outlook.cascades.iter().zip(&run.scenario.cascades);
    let rows = run.simulated.cascades.iter().zip(expected);
    let rows = rows.map(|((name, tally), (expected, wake))| {
        let rate = wake.cascade.look_rate();
        let stages = wake.cascade.stages().iter().enumerate();
        let stages: Vec<_> = stages
            .map(|(stage, own)| cascade_stage(&own.name, stage, tally, expected.as_ref()))
            .collect();
        json!({
            "name": name, "looks": tally.looks(), "events": tally.events(),
            "wakes_per_h": tally.wakes_per_hour(rate),
            "expected_wakes_per_h": expected.as_ref().map(|own| own.wakes_per_hour()),
            "stages": stages,
        })
    });
    rows.collect()
}

fn cascade_stage(
    name: &str,
    stage: usize,
    tally: &Tally,
    expected: Option<&crate::sim::load::Expected>,
) -> Value {
    let passed = |stage: usize| tally.true_passed(stage) + tally.false_passed(stage);
    let asked = stage.checked_sub(1).map_or(tally.looks(), passed);
    let expected = expected.and_then(|own| own.stages.get(stage));
    json!({
        "name": name, "asked": asked, "passed": passed(stage),
        "true_passed": tally.true_passed(stage), "false_passed": tally.false_passed(stage),
        "precision": tally.precision(stage), "recall": tally.recall(stage),
        "expected_precision": expected.and_then(|own| own.precision),
        "expected_recall": expected.map(|own| own.recall),
    })
}

fn engines(run: &ScenarioRun<'_>) -> Value {
    let engines = run.scenario.profile().spec().engines.iter().zip(&run.simulated.engines);
    let rows = engines.map(|(engine, busy)| {
        let asked = run.outlook.engines.iter().find(|own| own.engine == engine.name);
        json!({
            "name": engine.name, "busy_s": busy.seconds(), "busy_share": run.share(busy.seconds()),
            "expected_share": asked.map(|own| own.share),
        })
    });
    rows.collect()
}

fn rails(run: &ScenarioRun<'_>) -> Value {
    let (simulated, lasted) = (run.simulated, run.simulated.metrics.duration);
    let voltages = &run.scenario.point().voltages;
    let rails = simulated.metrics.header.rails.iter().zip(&simulated.rails).enumerate();
    let rows = rails.map(|(number, (rail, used))| {
        let mean = (lasted.0 > 0.0).then(|| used.charge / lasted);
        json!({
            "name": rail.name, "is_source": rail.is_source, "voltage_v": voltages.get(number),
            "load_energy_j": used.load_energy, "charge_c": used.charge,
            "mean_a": mean, "peak_a": used.peak_current, "peak_load_w": used.peak_power,
            "lowest_v": used.lowest, "collapsed_s": used.collapsed.seconds(),
        })
    });
    rows.collect()
}

/// Shares of time by state, and the same in seconds.
fn times(parts: &[TimeIn]) -> (Value, Value) {
    let named = |of: fn(&TimeIn) -> f64| -> Value {
        parts.iter().map(|own| (own.state.clone(), json!(of(own)))).collect()
    };
    (named(|own| own.share), named(|own| own.time.0))
}

fn domains(run: &ScenarioRun<'_>) -> Value {
    // All clocks of a chip change together.
    let (opp_shares, opp_seconds) = times(&run.operating_points());
    let moves = run.simulated.speeds.is_some();
    let rows = run.simulated.domains.iter().enumerate().map(|(number, own)| {
        let (shares, seconds) = times(&run.residency(number));
        let rest = run.outlook.rests.iter().find(|rest| rest.domain == own.name);
        let mut row = json!({
            "name": own.name, "residency": shares, "residency_s": seconds,
            "wakes": own.residency.wakes, "stayed_on": own.residency.stayed,
            "break_even_s": rest.and_then(|rest| rest.break_even),
            "entry_j": own.transitions.entry, "wake_j": own.transitions.wake,
            "inrush_j": own.transitions.inrush,
            "inrush_current_a": own.transitions.inrush_current,
            "rail_raise_j": own.transitions.rail,
            "reloads": own.transitions.reloads, "reloaded_bytes": own.transitions.reloaded,
            "reload_j": own.transitions.reload,
        });
        if let (true, Some(row)) = (moves, row.as_object_mut()) {
            row.insert("opp_residency".into(), json!(opp_shares));
            row.insert("opp_residency_s".into(), json!(opp_seconds));
        }
        row
    });
    rows.collect()
}

fn blocks(run: &ScenarioRun<'_>) -> Value {
    let rows = run.scenario.profile().spec().loads.iter().enumerate().map(|(number, own)| {
        let (shares, seconds) = times(&run.block_times(number));
        json!({"name": own.name, "residency": shares, "residency_s": seconds})
    });
    rows.collect()
}

fn ports(run: &ScenarioRun<'_>) -> Value {
    let profile = run.scenario.profile();
    let rows = run.simulated.contended.iter().enumerate().map(|(channel, time)| {
        let time = time.seconds();
        json!({
            "name": profile.channel_name(channel),
            "contended_s": time, "contended_share": run.share(time),
        })
    });
    rows.collect()
}

fn supplies(run: &ScenarioRun<'_>) -> Value {
    let rows = run.endurances().into_iter().map(
        |own| json!({"name": own.supply, "charge_c": own.charge, "lasts_h": own.lasts.0 / 3600.0}),
    );
    rows.collect()
}

fn joules(run: &ScenarioRun<'_>) -> Value {
    let ledger = &run.simulated.ledger;
    let named = |map: &BTreeMap<String, Joules>| -> Value {
        map.iter().map(|(name, energy)| (name.clone(), json!(energy))).collect()
    };
    let mut by_cause = Map::new();
    for (stream, own) in run.simulated.streams.iter().enumerate() {
        by_cause.insert(own.name.clone(), json!(run.simulated.energy_of(stream)));
    }
    let residuals = ledger.residuals();
    json!({
        "by_workload_j": by_cause,
        "idle_j": ledger.of(&Cause::Idle), "transitions_j": ledger.of(&Cause::Transition),
        "by_component_j": named(&ledger.by_component), "by_rail_j": named(&ledger.by_rail),
        "losses_j": named(&ledger.losses), "stored_j": ledger.stored,
        "residuals": {
            "cause": residuals.cause, "component": residuals.component,
            "rail": residuals.rail, "source": residuals.source,
        },
    })
}

fn movers(run: &ScenarioRun<'_>) -> Value {
    let all = run.uncertainty.iter().flat_map(|own| &own.energy_contributions).take(10);
    all.map(|own| json!({"name": own.name, "effect_of_one_sigma": own.effect, "variance_share": own.share}))
        .collect()
}
