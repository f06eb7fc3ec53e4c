//! The same figures as in the tables, under stable names with the unit as suffix. Each document has
//! a `schema` field; `name_interval90` holds `[low, high]` beside `name`.

mod against;
mod align;
mod calibration;
mod convert;
mod fold;
mod hardware;
mod inspect;
mod limits;
mod measured;
mod memory;
mod outlook;
mod repeat;
mod roofline;
mod scenario;

pub use against::against;
pub use align::align;
pub use calibration::calibration;
pub use convert::converted;
pub use fold::fold;
pub use hardware::{hardware, hardware_check, hardware_list, software_check};
pub use inspect::{InspectDocument, inspect, inspect_by_kind};
pub use measured::{info, measured};
pub use outlook::{scenario_check, scenario_list};
pub use repeat::repeat;
pub use roofline::roofline;
pub use scenario::scenario_run;

use super::tables::{key_name, window_name};
use super::{LayerView, ListedModel, Prediction};
use crate::calibrate::{
    Comparison, Errors, Missed, Protocol, Scored, Split, errors_by_protocol, summaries,
};
use crate::estimate::{Advice, By, LayerEstimate, LevelTraffic, groups, top};
use crate::model::{Demand, TransformRecord, Variant};
use crate::sim::{Arrivals, Outcome, Workload};
use crate::trace::{Cause, WINDOWS};
use crate::uncertainty::{Figure, Interval90, Sampled};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

fn pair(interval: Interval90) -> Value {
    json!([interval.low, interval.high])
}

/// What was done to the network, each step as it stands on the command line.
fn transforms(records: &[TransformRecord]) -> Value {
    let records = records.iter().map(|record| {
        json!({
            "flag": record.transform.to_string(), "transform": record.transform,
            "changed": record.changed, "kept": record.kept,
        })
    });
    Value::Array(records.collect())
}

/// `model compare`: variants with the demands they are held against.
pub fn variants(variants: &[Variant], demands: &[Demand]) -> Value {
    let rows = variants.iter().map(|variant| {
        let mut row = json!(variant);
        if let Some(row) = row.as_object_mut() {
            row.insert("good_enough".into(), json!(variant.is_good_enough()));
        }
        row
    });
    json!({
        "schema": "joulecast.model_compare/1",
        "demands": demands,
        "models": rows.collect::<Vec<_>>(),
    })
}

/// `estimate`: layers and totals with intervals and coverage.
pub fn estimate(
    p: &Prediction<'_>,
    view: LayerView,
    sampled: Option<&BTreeMap<Figure, Sampled>>,
) -> Value {
    let e = p.estimate;
    let interval = |figure: Figure| pair(p.uncertainty.interval(figure, figure.of(e)));
    let mut totals = json!({
        "macs": p.network.macs(),
        "latency_s": e.latency, "latency_s_interval90": interval(Figure::Latency),
        "energy_j": e.energy, "energy_j_interval90": interval(Figure::Energy),
        "edp_js": e.edp(), "edp_js_interval90": interval(Figure::Edp),
        "mean_w": e.mean_power(), "mean_w_interval90": interval(Figure::MeanPower),
        "ed2p_js2": e.ed2p(), "ed2p_js2_interval90": interval(Figure::Ed2p),
        "load_energy_j": e.load_energy,
        "traffic": levels(p),
        "coverage": coverage(p),
        "indicative": indicative(p),
        "costed_share": p.plan.costed_share, "unknown_layers": p.plan.unknown_layers(),
        "fits": p.plan.fits,
        "energy_by_component_j": by_component(p),
    });
    if let (Some(sampled), Some(totals)) = (sampled, totals.as_object_mut()) {
        for (figure, name) in [
            (Figure::Latency, "latency_s"),
            (Figure::Energy, "energy_j"),
            (Figure::Edp, "edp_js"),
            (Figure::MeanPower, "mean_w"),
            (Figure::Ed2p, "ed2p_js2"),
        ] {
            if let Some(s) = sampled.get(&figure) {
                totals.insert(format!("{name}_sampled90"), pair(s.interval));
                totals.insert(format!("{name}_sampled_median"), json!(s.median));
            }
        }
    }
    let mut document = subject(p, "joulecast.estimate/1");
    document.insert("totals".into(), totals);
    if let Some(by) = view.by {
        document.insert("groups".into(), grouped(p, by));
    }
    document.insert("rails".into(), limits::rails(p));
    document.insert("junction".into(), limits::junction(p));
    document.insert("supplies".into(), limits::supplies(p.lifetimes()));
    let shown = match view.top {
        Some(count) => layers(p, top(p.estimate, count).into_iter()),
        None => layers(p, p.estimate.layers.iter()),
    };
    document.insert("layers".into(), shown);
    document.insert("uncosted".into(), uncosted(p));
    document.insert("fallbacks".into(), fallbacks(p));
    document.insert("notes".into(), json!(p.plan.notes));
    let top = p.uncertainty.energy_contributions.iter().take(10);
    let top: Vec<_> = top
        .map(
            |c| json!({"name": c.name, "effect_of_one_sigma": c.effect, "variance_share": c.share}),
        )
        .collect();
    document.insert("energy_uncertainty".into(), json!(top));
    Value::Object(document)
}

/// Adds where tensors live to the document of an estimate.
pub fn add_memory(document: &mut Value, p: &Prediction<'_>) {
    if let Some(document) = document.as_object_mut() {
        document.insert("memory".into(), memory::plans(p));
    }
}

fn subject(p: &Prediction<'_>, schema: &str) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("schema".into(), json!(schema));
    map.insert("model".into(), json!(p.network.name));
    map.insert("transforms".into(), transforms(&p.network.transforms));
    let fused = p.network.fused.as_ref().map(|record| &record.changed);
    map.insert("fused_by_software".into(), json!(fused));
    map.insert("quality".into(), json!(p.network.quality));
    map.insert("hardware".into(), json!(p.setting.profile.spec().name));
    map.insert("operating_point".into(), json!(p.setting.point.name));
    map.insert("corner".into(), json!(p.setting.profile.corner()));
    map.insert("states".into(), load_states(p));
    map.insert("asleep".into(), p.asleep().into_iter().collect());
    map.insert("software".into(), json!(p.software()));
    map.insert("objective".into(), json!(p.network.directions.objective.to_string()));
    map.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
    map.insert("caveats".into(), json!(p.caveats));
    map
}

/// State of every block that runs no network.
fn load_states(p: &Prediction<'_>) -> Value {
    let loads = p.setting.profile.spec().loads.iter().zip(&p.setting.point.load_states);
    let named = loads.filter_map(|(l, s)| Some((l.name.clone(), json!(l.states.get(*s)?.name))));
    Value::Object(named.collect())
}

fn coverage(p: &Prediction<'_>) -> Value {
    json!({
        "energy": p.energy_evidence.share(),
        "time": p.time_evidence.share(),
        "energy_by_kind": hardware::by_kind(p.energy_evidence),
        "time_by_kind": hardware::by_kind(p.time_evidence),
    })
}

fn indicative(p: &Prediction<'_>) -> bool {
    p.energy_evidence.is_indicative() || p.time_evidence.is_indicative()
}

fn component_name(p: &Prediction<'_>, role: crate::hardware::Role) -> String {
    let found = crate::hardware::components(p.setting.profile).into_iter().find(|c| c.0 == role);
    found.map_or_else(String::new, |(_, name)| name)
}

fn by_component(p: &Prediction<'_>) -> Value {
    let parts = p.estimate.by_component.iter();
    parts.map(|c| (component_name(p, c.role), json!(c.energy))).collect()
}

/// Bytes and energy of a level, and how many MACs are done for each byte.
fn traffic(p: &Prediction<'_>, level: &LevelTraffic, macs: u64) -> (String, Value) {
    let figures = json!({
        "read_bytes": level.read, "write_bytes": level.write, "energy_j": level.energy,
        "macs_per_byte": level.intensity(macs).filter(|_| macs > 0),
    });
    (p.setting.profile.channel_name(level.channel).to_owned(), figures)
}

/// Layers taken together.
fn grouped(p: &Prediction<'_>, by: By) -> Value {
    let groups = groups(p.estimate, by);
    let rows = groups.iter().map(|group| {
        json!({
            "name": key_name(p, group.key), "layers": group.layers, "macs": group.macs,
            "element_ops": group.element_ops, "time_s": group.time, "energy_j": group.energy,
        })
    });
    Value::Array(rows.collect())
}

fn layers<'a>(p: &Prediction<'_>, layers: impl Iterator<Item = &'a LayerEstimate>) -> Value {
    let spec = p.setting.profile.spec();
    let layers = layers.map(|l| {
        let traffic: Map<String, Value> = l
            .traffic
            .iter()
            .map(|level| traffic(p, level, l.macs))
            .collect();
        let parts: Map<String, Value> =
            l.by_component.iter().map(|c| (component_name(p, c.role), json!(c.energy))).collect();
        json!({
            "name": l.name, "kind": l.kind, "engine": spec.engines[l.engine].name,
            "macs": l.macs, "executed_macs": l.executed_macs, "array_macs": l.array_macs, "element_ops": l.element_ops,
            "time_s": l.time, "cycles": l.cycles, "energy_j": l.energy, "power_w": l.power(),
            "bound_by": p.bound_name(l.bound),
            "utilisation": l.utilisation, "occupancy": l.occupancy, "keeps_result": l.keeps_result,
            "traffic": traffic, "energy_by_component_j": parts,
        })
    });
    Value::Array(layers.collect())
}

/// Traffic of all layers by level.
fn levels(p: &Prediction<'_>) -> Value {
    let macs = p.estimate.layers.iter().map(|l| l.macs).fold(0, u64::saturating_add);
    let levels = p.estimate.levels();
    let named: Map<_, _> = levels.iter().map(|level| traffic(p, level, macs)).collect();
    Value::Object(named)
}

fn uncosted(p: &Prediction<'_>) -> Value {
    let rows = p.plan.uncosted.iter().map(|u| {
        json!({"name": u.name, "kind": u.kind, "operations": u.operations, "share": u.share, "reasons": u.reasons})
    });
    Value::Array(rows.collect())
}

/// Adds changes with what they save to the document of an estimate.
pub fn add_advice(document: &mut Value, p: &Prediction<'_>, advice: Option<&[Advice]>) {
    let (Some(document), Some(advice)) = (document.as_object_mut(), advice) else { return };
    let rows = advice.iter().map(|own| {
        json!({
            "change": own.change.words(p.network, p.setting),
            "flag": own.change.flag(p.network, p.setting),
            "changes_answers": own.change.changes_answers(),
            "needs_hardware": own.change.needs_hardware(),
            "latency_s": own.time, "energy_j": own.energy,
            "saved_s": own.saved_time, "saved_j": own.saved_energy,
        })
    });
    document.insert("advice".into(), rows.collect());
}

/// Layers that an engine before theirs refuses.
fn fallbacks(p: &Prediction<'_>) -> Value {
    let engines = &p.setting.profile.spec().engines;
    let rows = p.plan.fallbacks.iter().map(|fallback| {
        let refused = fallback.refused.iter();
        let refused = refused.map(|(engine, refusal)| {
            json!({"engine": engines[*engine].name, "reason": refusal.to_string()})
        });
        json!({
            "layer": p.network.layers.get(fallback.layer).map(|l| &l.name),
            "engine": engines[fallback.engine].name, "share": fallback.share,
            "refused": refused.collect::<Vec<_>>(),
        })
    });
    Value::Array(rows.collect())
}

/// `run`: metrics of a simulated run, with the sums of joules and their gaps.
pub fn run(p: &Prediction<'_>, workload: &Workload, outcome: &Outcome) -> Value {
    let m = &outcome.metrics;
    let ledger = &outcome.ledger;
    let count = m.inferences.max(1) as f64;
    let (latency, edp) = (outcome.latency.mean().0, outcome.edp().0);
    let per_inference = outcome.energy_per_inference().0;
    let layer_energy: f64 = ledger
        .by_cause
        .keys()
        .filter(|c| matches!(c, Cause::Layer { .. }))
        .map(|c| ledger.of(c).0)
        .sum();
    let around = |figure, value: f64| pair(p.uncertainty.interval(figure, value));
    let windows: Map<String, Value> = WINDOWS
        .iter()
        .zip(&m.window_peaks)
        .map(|(width, peak)| (window_name(*width).replace('µ', "u").replace(' ', ""), json!(peak)))
        .collect();
    let residuals = ledger.residuals();
    let named = |map: &BTreeMap<String, crate::units::Joules>| -> Value {
        map.iter().map(|(k, v)| (k.clone(), json!(v))).collect()
    };
    let causes: Vec<Value> = ledger
        .by_cause
        .keys()
        .map(|cause| {
            let (kind, name) = match cause {
                Cause::Layer { layer, .. } => {
                    ("layer", p.network.layers.get(*layer).map_or("", |l| l.name.as_str()))
                }
                Cause::Idle => ("idle", "idle"),
                Cause::Transition => ("transition", "transition"),
            };
            json!({"kind": kind, "name": name, "energy_j": ledger.of(cause)})
        })
        .collect();
    let mut document = subject(p, "joulecast.run/1");
    let period = match workload.arrivals {
        Arrivals::BackToBack => None,
        Arrivals::Periodic(period) => Some(period),
    };
    document.insert(
        "workload".into(),
        json!({"inferences": workload.inferences, "period_s": period, "idle": workload.rest}),
    );
    document.insert("supplies".into(), limits::supplies(p.lifetimes_of_run(outcome)));
    document.insert(
        "metrics".into(),
        json!({
            "inferences": m.inferences, "duration_s": m.duration, "busy_s": m.busy,
            "latency_s": latency, "latency_s_interval90": around(Figure::Latency, latency),
            "energy_j": m.energy, "energy_j_interval90": around(Figure::Energy, m.energy.0),
            "response_s": outcome.response.mean(), "longest_response_s": outcome.response.longest(),
            "waited": outcome.waited,
            "mean_w": m.mean, "mean_w_interval90": around(Figure::MeanPower, m.mean.0),
            "peak_w": m.peak, "window_peak_w": windows,
            "j_per_inference": per_inference,
            "j_per_inference_interval90": around(Figure::Energy, per_inference),
            "active_j_per_inference": layer_energy / count,
            "edp_js": edp, "edp_js_interval90": around(Figure::Edp, edp),
            "ed2p_js2": outcome.ed2p(), "ed2p_js2_interval90": around(Figure::Ed2p, outcome.ed2p().0),
            "load_energy_j": m.load_energy, "loss_energy_j": m.loss_energy,
            "source_energy_j": ledger.source,
            "identity_residual": residuals.largest(),
            "coverage": coverage(p), "indicative": indicative(p),
            "costed_share": p.plan.costed_share, "unknown_layers": p.plan.unknown_layers(),
        "fits": p.plan.fits,
            "events": outcome.events,
        }),
    );
    document.insert(
        "joules".into(),
        json!({
            "by_cause": causes, "by_component_j": named(&ledger.by_component),
            "by_rail_j": named(&ledger.by_rail), "losses_j": named(&ledger.losses),
            "stored_j": ledger.stored, "unmet_j": ledger.unmet,
            "residuals": {"cause": residuals.cause, "component": residuals.component, "rail": residuals.rail, "source": residuals.source},
        }),
    );
    document.insert("layers".into(), layers(p, p.estimate.layers.iter()));
    document.insert("uncosted".into(), uncosted(p));
    document.insert("fallbacks".into(), fallbacks(p));
    document.insert("notes".into(), json!(p.plan.notes));
    Value::Object(document)
}

/// `validate`: predicted against measured.
pub fn validate(comparisons: &[Comparison], predictions: &[Scored], notes: &[&str]) -> Value {
    let mut cases: Vec<Value> = comparisons
        .iter()
        .map(|c| {
            json!({
                "id": c.id, "case": c.case, "hardware": c.hardware, "model": c.model,
                "layer": c.layer, "macs": c.macs, "printed_macs": c.printed_macs, "fault": c.fault,
                "quantity": c.quantity,
                "measured": c.measured, "predicted": c.predicted,
                "predicted_interval90": pair(c.interval),
                "relative_error": c.relative_error, "split": c.split.name(),
                "protocol": Protocol::Uncalibrated.name(),
                "coverage": c.coverage, "covered": c.covered(), "costed_share": c.costed_share, "fits": c.fits,
                "captured": c.captured,
                "recorded_error": c.recorded_error, "worse_than_recorded": c.worse,
            })
        })
        .collect();
    let held = predictions.iter().filter(|p| p.protocol != Protocol::Uncalibrated);
    cases.extend(held.map(|p| {
        json!({
            "id": p.id, "family": p.family, "hardware": p.hardware,
            "quantity": p.quantity.with_unit(), "measured": p.measured, "predicted": p.predicted,
            "predicted_interval90": pair(p.interval), "relative_error": p.relative_error(),
            "split": Split::HoldOut.name(), "protocol": p.protocol.name(), "covered": p.is_covered(),
            "unexcited_share": p.unexcited, "counts": p.counts,
        })
    }));
    let by_board: Vec<Value> = summaries(comparisons)
        .iter()
        .map(|s| {
            json!({
                "hardware": s.hardware, "split": s.split.name(), "of": s.grain.name(),
                "latency": s.latency.map(errors), "energy": s.energy.map(errors),
            })
        })
        .collect();
    let (mut summary, mut families) = (Map::new(), Map::new());
    for own in errors_by_protocol(predictions) {
        let errors = protocol_errors(own.latency, own.energy);
        let protocol = own.protocol.name().to_owned();
        match own.family {
            None => summary.insert(protocol, errors),
            Some(family) => {
                let of = families.entry(family).or_insert_with(|| Value::Object(Map::new()));
                of.as_object_mut().and_then(|of| of.insert(protocol, errors))
            }
        };
    }
    json!({
        "schema": "joulecast.validate/2", "cases": cases, "summary": summary,
        "summary_by_family": families, "summary_by_board": by_board, "notes": notes,
    })
}

fn protocol_errors(latency: Option<Missed>, energy: Option<Missed>) -> Value {
    let both: Vec<Missed> = latency.into_iter().chain(energy).collect();
    let figures: usize = both.iter().map(|own| own.figures).sum();
    let covered: f64 = both.iter().map(|own| own.coverage * own.figures as f64).sum();
    json!({
        "n": figures,
        "n_latency": latency.map_or(0, |own| own.figures),
        "n_energy": energy.map_or(0, |own| own.figures),
        "median_abs_error_latency": latency.map(|own| own.median),
        "p90_abs_error_latency": latency.map(|own| own.p90),
        "worst_abs_error_latency": latency.map(|own| own.worst),
        "median_abs_error_energy": energy.map(|own| own.median),
        "p90_abs_error_energy": energy.map(|own| own.p90),
        "worst_abs_error_energy": energy.map(|own| own.worst),
        "coverage90": if figures > 0 { json!(covered / figures as f64) } else { Value::Null },
    })
}

fn errors(e: Errors) -> Value {
    json!({
        "median_absolute_error": e.median, "worst_absolute_error": e.worst,
        "covered": e.covered, "figures": e.figures,
    })
}

/// `model list`.
pub fn model_list(rows: &[ListedModel]) -> Value {
    json!({"schema": "joulecast.model_list/1", "models": rows})
}
