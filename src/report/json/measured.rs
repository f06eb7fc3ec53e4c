//! `stats` and `capture info`: what a capture holds and comes to.

use crate::capture::{Electrical, Measured, MeasuredWindow, Repeats};
use crate::trace::{ChannelId, Origin, Teller};
use serde_json::{Map, Value, json};

/// Gaps listed one by one.
const GAPS: usize = 1000;

/// Sums, gaps and windows. `mean_w` is over the time that power is known; `peak_w` is the largest
/// sample.
pub fn measured(m: &Measured) -> Value {
    let s = &m.summary;
    let powered = !s.header.components.is_empty();
    let known = |value: f64| if powered { json!(value) } else { Value::Null };
    let mut document = Map::new();
    document.insert("schema".into(), json!("joulecast.stats/1"));
    document.insert("format".into(), json!(m.layout.format));
    document.insert("energy_j".into(), known(s.energy.0));
    document.insert("mean_w".into(), known(s.mean.0));
    document.insert("peak_w".into(), json!(s.peak));
    document.insert("duration_s".into(), json!(s.duration));
    document.insert("gaps".into(), json!(s.gap_count));
    document.insert("unknown_s".into(), json!(s.unknown));
    let gaps = s
        .gaps
        .iter()
        .take(GAPS)
        .map(|gap| json!({"start_s": gap.start.seconds(), "stop_s": gap.end.seconds()}));
    document.insert("gap_list".into(), json!(gaps.collect::<Vec<_>>()));
    let components = s.header.components.iter().zip(&s.by_component).map(|(component, energy)| {
        json!({"name": component.name, "rail": component.rail, "energy_j": energy})
    });
    document.insert("components".into(), json!(components.collect::<Vec<_>>()));
    let windows: Vec<Value> = m.measured.iter().map(window).collect();
    document.insert("windows".into(), json!(windows));
    document.insert("between_windows_w".into(), json!(m.between_windows));
    document.insert("floor_w".into(), json!(s.floor));
    document.insert("repeats".into(), m.repeats.as_ref().map_or(Value::Null, repeats));
    document.insert("inferences_per_window".into(), json!(m.inferences_per_window));
    document.insert("energy_per_inference_j".into(), json!(m.energy_per_inference));
    document.insert("published_j".into(), json!(m.published()));
    document.insert("remarks".into(), json!(remarks(m)));
    Value::Object(document)
}

fn repeats(r: &Repeats) -> Value {
    json!({
        "count": r.count, "mean": r.mean, "standard_deviation": r.standard_deviation,
        "standard_error": r.standard_error, "relative_standard_deviation": r.relative(),
        "outliers": r.outliers, "drift_per_window": r.drift, "drifts": r.drifts(),
    })
}

fn window(w: &MeasuredWindow) -> Value {
    json!({
        "name": w.window.name,
        "start_s": w.window.start.seconds(),
        "stop_s": w.window.stop.seconds(),
        "duration_s": w.length(),
        "energy_j": (w.known.0 > 0.0).then_some(w.energy),
        "mean_w": w.mean(),
        "unknown_s": w.unknown,
        "energy_per_inference_j": w.per_inference,
    })
}

fn remarks(m: &Measured) -> Vec<&String> {
    m.layout.remarks.iter().chain(&m.windows.remarks).collect()
}

/// What a capture holds.
pub fn info(m: &Measured) -> Value {
    let name = |id: ChannelId| m.layout.channels.get(id.0).map(|channel| channel.name.as_str());
    let channels = m.layout.channels.iter().map(|channel| {
        json!({
            "name": channel.name, "kind": channel.kind.name(), "unit": channel.kind.unit(),
            "rail": channel.rail, "part_of": channel.part_of,
        })
    });
    let rails = m.supply.lines.iter().map(|line| {
        let (how, voltage) = match line.electrical {
            Electrical::Measured(power) => (name(power).map(str::to_owned), None),
            Electrical::Product { voltage, current } => {
                let of = |id| name(id).unwrap_or_default();
                (Some(format!("{} * {}", of(voltage), of(current))), None)
            }
            Electrical::Stated { voltage, current } => {
                (Some(format!("{voltage} * {}", name(current).unwrap_or_default())), Some(voltage))
            }
            Electrical::CurrentAlone(_) | Electrical::VoltageAlone(_) => (None, None),
        };
        json!({"name": line.name, "power_from": how, "stated_voltage_v": voltage})
    });
    let origin = match m.layout.origin {
        Origin::FirstSample => json!({"is": "first sample"}),
        Origin::OwnClock(seconds) => json!({"is": "the file's clock", "clock_s": seconds}),
        Origin::Wall { unix_ns, utc } => {
            json!({"is": "wall clock", "unix_ns": unix_ns, "utc": utc})
        }
    };
    let host = m.summary.marks.iter().filter(|mark| mark.teller == Teller::Host).count();
    let clocks = m.windows.matched.as_ref().map(|matched| {
        let fit = &matched.fit;
        json!({
            "offset_s": fit.offset, "drift_ppm": fit.drift * 1e6, "stop_lag_s": fit.stop_lag,
            "worst_s": fit.worst, "rms_s": fit.rms, "edges": fit.edges,
        })
    });
    json!({
        "schema": "joulecast.capture_info/1",
        "format": m.layout.format,
        "duration_s": m.summary.duration,
        "origin": origin,
        "supply_v": m.layout.supply,
        "channels": channels.collect::<Vec<_>>(),
        "rails": rails.collect::<Vec<_>>(),
        "lines": m.layout.lines,
        "edges": m.summary.edge_count,
        "marks": m.summary.marks.len(),
        "host_marks": host,
        "spans": m.summary.spans.len(),
        "gaps": m.summary.gap_count,
        "unknown_s": m.summary.unknown,
        "windows": m.measured.len(),
        "inferences_per_window": m.inferences_per_window,
        "host_clock": clocks,
        "remarks": remarks(m),
    })
}
