//! `roofline`: roofs with their intervals, layers below them, all of them as one.

use super::{coverage, indicative, pair, subject, uncosted};
use crate::estimate::roofline::{
    Counted, EnergyRoof, EngineRoofline, LayerPoint, Point, Roofs as CountedRoofs,
};
use crate::report::Roofs;
use crate::uncertainty::{CountBands, EngineBands, Interval90};
use crate::units::Quantity;
use serde_json::{Map, Value, json};

/// Roofs of each engine in time and in energy. Names that end in `_per_s`, `_per_byte` and `_per_j` count
/// what `counts` says.
pub fn roofline(roofs: &Roofs<'_>) -> Value {
    let p = roofs.prediction;
    let engines = roofs.roofline.engines.iter().zip(&roofs.bands.engines);
    let engines: Vec<Value> =
        engines.map(|(engine, bands)| of_engine(roofs, engine, bands)).collect();
    let constant = &roofs.roofline.constant;
    let level = roofs.level.map(|channel| p.setting.profile.channel_name(channel));
    let mut document = subject(p, "joulecast.roofline/1");
    document.insert("level".into(), json!(level));
    document.insert("constant_power_w".into(), json!(constant.power));
    document.insert("constant_power_coverage".into(), json!(constant.coverage.share()));
    document.insert("coverage".into(), coverage(p));
    document.insert("indicative".into(), json!(indicative(p)));
    document.insert("costed_share".into(), json!(p.plan.costed_share));
    document.insert("engines".into(), json!(engines));
    document.insert("uncosted".into(), uncosted(p));
    document.insert("notes".into(), json!(p.plan.notes));
    Value::Object(document)
}

fn of_engine(roofs: &Roofs<'_>, engine: &EngineRoofline, bands: &EngineBands) -> Value {
    let levels = engine.levels.iter().enumerate().map(|(at, level)| {
        json!({
            "name": roofs.level_name(level),
            "bandwidth_bytes_per_s": level.bandwidth,
            "bandwidth_bytes_per_s_interval90": interval(bands.levels.get(at)),
            "bandwidth_rests_on": level.kind.name(),
            "energy_j_per_byte": level.energy,
            "energy_rests_on": level.energy_kind.name(),
            "read_bytes": level.read.0, "write_bytes": level.written.0,
        })
    });
    json!({
        "name": roofs.engine_name(engine.engine),
        "levels": levels.collect::<Vec<_>>(),
        "macs": counted(roofs, engine, &engine.macs, &bands.macs),
        "operations": counted(roofs, engine, &engine.operations, &bands.operations),
        "moving": {
            "layers": engine.moving.layers, "time_s": engine.moving.time,
            "energy_j": engine.moving.energy,
        },
    })
}

fn interval(band: Option<&Interval90>) -> Value {
    band.map_or(Value::Null, |band| pair(*band))
}

/// Null where no layer counts so.
fn counted<C: Counted>(
    roofs: &Roofs<'_>,
    engine: &EngineRoofline,
    counted: &CountedRoofs<C>,
    bands: &CountBands,
) -> Value {
    let Some(whole) = counted.whole() else { return Value::Null };
    let compute = counted.compute.iter().enumerate().map(|(at, compute)| {
        let by_level = engine.levels.iter().map(|level| {
            let roof = EnergyRoof::of(compute, level, roofs.roofline.constant.power);
            let value = json!({
                "ridge_per_byte": compute.ridge(level).si(),
                "energy_balance_per_byte": roof.balance().si(),
                "energy_balance_with_constant_power_per_byte": roof.effective_balance().si(),
                "best_per_j": roof.best().si(),
                "constant_share_of_energy_at_best": roof.constant_share(),
            });
            (roofs.level_name(level).to_owned(), value)
        });
        json!({
            "format": compute.precision.to_string(),
            "peak_per_s": compute.peak.si(),
            "peak_per_s_interval90": interval(bands.peaks.get(at)),
            "peak_rests_on": compute.kind.name(),
            "energy_j": compute.energy.si(),
            "energy_rests_on": compute.energy_kind.name(),
            "levels": by_level.collect::<Map<_, _>>(),
        })
    });
    let layers = counted.layers.iter().map(|layer| of_layer(roofs, engine, layer));
    json!({
        "counts": C::NAME,
        "compute": compute.collect::<Vec<_>>(),
        "layers": layers.collect::<Vec<_>>(),
        "all": Value::Object(point(roofs, engine, &whole)),
    })
}

fn of_layer<C: Counted>(
    roofs: &Roofs<'_>,
    engine: &EngineRoofline,
    layer: &LayerPoint<C>,
) -> Value {
    let mut row = point(roofs, engine, &layer.point);
    let name = |bound| json!(roofs.prediction.bound_name(bound));
    row.insert("name".into(), json!(layer.name));
    row.insert("kind".into(), json!(layer.kind));
    row.insert("format".into(), json!(layer.precision.to_string()));
    row.insert("lowest_roof".into(), name(layer.roof));
    row.insert("longest_by_itself".into(), name(layer.longest));
    row.insert("bound_by".into(), name(layer.bound));
    for (key, ridge) in [("ridge", layer.ridge), ("energy_balance", layer.balance)] {
        let at = ridge.and_then(|ridge| {
            let level = engine.levels.get(ridge.level)?;
            Some(json!({"level": roofs.level_name(level), "distance": ridge.distance}))
        });
        row.insert(key.into(), json!(at));
    }
    if roofs.level.is_none() {
        let lost = layer.lost;
        let lost = json!({
            "engine_s": lost.engine, "dispatch_s": lost.dispatch, "latency_s": lost.latency,
            "serial_s": lost.serial,
        });
        row.insert("beyond_the_roofs".into(), lost);
    }
    Value::Object(row)
}

fn point<C: Counted>(
    roofs: &Roofs<'_>,
    engine: &EngineRoofline,
    point: &Point<C>,
) -> Map<String, Value> {
    let levels = engine.levels.iter().enumerate().filter_map(|(at, level)| {
        let bytes = point.bytes.get(at)?.0;
        let intensity = point.intensity(at).map(Quantity::si);
        let value = json!({"bytes": bytes, "intensity_per_byte": intensity});
        Some((roofs.level_name(level).to_owned(), value))
    });
    let mut row = Map::new();
    for (name, value) in [
        ("count", json!(point.work.count())),
        ("levels", Value::Object(levels.collect())),
        ("time_s", json!(point.time)),
        ("least_time_s", json!(point.ideal_time)),
        ("attained_per_s", json!(point.attained().si())),
        ("attainable_per_s", json!(point.attainable().si())),
        ("share_of_attainable", json!(point.share())),
        ("energy_j", json!(point.energy)),
        ("load_energy_j", json!(point.load_energy)),
        ("least_load_energy_j", json!(point.ideal_energy)),
        ("attained_per_load_j", json!(point.per_joule().si())),
        ("attainable_per_load_j", json!(point.attainable_per_joule().si())),
        ("attained_per_j", json!(point.per_joule_at_sources().si())),
        ("share_of_attainable_energy", json!(point.energy_share())),
    ] {
        row.insert(name.into(), value);
    }
    row
}
