//! `roofline`: roofs, and which of them each layer stands under.

use super::{grouped, percent, shortened, table};
use crate::estimate::roofline::{
    Counted, EnergyRoof, EngineRoofline, LayerPoint, Point, Ridge, Roofs as CountedRoofs,
};
use crate::report::Roofs;
use crate::report::roofs::factor;
use crate::uncertainty::{CountBands, EngineBands, Interval90};
use crate::units::{BytesPerSecond, Quantity, Seconds, engineering};
use comfy_table::{CellAlignment, Table};
use std::fmt::Write as _;

/// Layers shown in a terminal, which is more than anyone reads there.
const ROWS: usize = 2000;
/// A loss of less than this share of the time is not worth a word.
const WORTH_SAYING: f64 = 0.02;

/// The roofs of each engine, then its layers, then all of them as one.
pub fn roofline_text(roofs: &Roofs<'_>) -> String {
    let p = roofs.prediction;
    let mut text = format!("{}\n", roofs.title());
    for caveat in &p.caveats {
        let _ = writeln!(text, "! {caveat}");
    }
    for (engine, bands) in roofs.roofline.engines.iter().zip(&roofs.bands.engines) {
        text.push_str(&engine_text(roofs, engine, bands));
    }
    if roofs.energy {
        let constant = &roofs.roofline.constant;
        let _ = writeln!(
            text,
            "constant power, whatever the engines do: {} at the loads ({} of it on evidence)",
            constant.power,
            percent(constant.coverage.share())
        );
        let _ = writeln!(text, "{}", roofs.race());
    }
    if !p.plan.uncosted.is_empty() {
        let count = p.plan.uncosted.len();
        let share = percent(1.0 - p.plan.costed_share);
        let _ = writeln!(
            text,
            "NOT COSTED: {count} layers, {share} of all known operations, are under no roof"
        );
    }
    for note in &p.plan.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

fn engine_text(roofs: &Roofs<'_>, engine: &EngineRoofline, bands: &EngineBands) -> String {
    let name = roofs.engine_name(engine.engine);
    let mut text = String::new();
    let mut section = |what: &str, part: Option<String>| {
        if let Some(part) = part {
            let _ = writeln!(text, "\n{name}, {what}\n{part}");
        }
    };
    section(
        "multiply-accumulates (a MAC is two FLOP)",
        counted_text(roofs, engine, &engine.macs, (bands, &bands.macs)),
    );
    section(
        "layers without MACs, by element operations",
        counted_text(roofs, engine, &engine.operations, (bands, &bands.operations)),
    );
    let moving = engine.moving;
    if moving.layers > 0 {
        let (layers, do_) = if moving.layers == 1 { ("layer", "does") } else { ("layers", "do") };
        let _ = writeln!(
            text,
            "{} {layers} on {name} only {do_} move data, under no roof: {}, {}",
            moving.layers, moving.time, moving.energy
        );
    }
    text
}

/// Roofs and layers that count the same; nothing where there is no layer.
fn counted_text<C: Counted>(
    roofs: &Roofs<'_>,
    engine: &EngineRoofline,
    counted: &CountedRoofs<C>,
    bands: (&EngineBands, &CountBands),
) -> Option<String> {
    let whole = counted.whole()?;
    let list = if roofs.energy {
        energy_roofs(roofs, engine, counted)
    } else {
        time_roofs(roofs, engine, counted, bands)
    };
    let mut text = format!("{list}\n{}", layers(roofs, engine, counted, &whole));
    let rest = counted.layers.len().saturating_sub(ROWS);
    if rest > 0 {
        let rest = grouped(rest as u64);
        let _ = write!(text, "\nand {rest} more layers; --json has all of them");
    }
    Some(text)
}

fn spread(band: Option<&Interval90>, value: f64, unit: &str) -> String {
    match band {
        Some(i) if i.low < value || i.high > value => {
            format!("{} to {}", engineering(i.low, unit), engineering(i.high, unit))
        }
        _ => String::new(),
    }
}

fn time_roofs<C: Counted>(
    roofs: &Roofs<'_>,
    engine: &EngineRoofline,
    counted: &CountedRoofs<C>,
    (bands, own): (&EngineBands, &CountBands),
) -> Table {
    let formats: Vec<String> =
        counted.compute.iter().map(|c| format!("ridge, {}/B\n{}", C::NAME, c.precision)).collect();
    let mut headers = vec!["roof", "at", "90 %"];
    headers.extend(formats.iter().map(String::as_str));
    headers.push("rests on");
    let mut rows = table(&headers, 1);
    left(&mut rows, headers.len() - 1);
    for (at, compute) in counted.compute.iter().enumerate() {
        let unit = C::PerSecond::UNIT;
        let mut row = vec![format!("{} peak", compute.precision), compute.peak.to_string()];
        row.push(spread(own.peaks.get(at), compute.peak.si(), unit));
        row.extend(formats.iter().map(|_| String::new()));
        row.push(compute.kind.name().to_owned());
        rows.add_row(row);
    }
    for (at, level) in engine.levels.iter().enumerate() {
        let unit = BytesPerSecond::UNIT;
        let mut row = vec![roofs.level_name(level).to_owned(), level.bandwidth.to_string()];
        row.push(spread(bands.levels.get(at), level.bandwidth.0, unit));
        row.extend(counted.compute.iter().map(|c| factor(c.ridge(level).si())));
        row.push(level.kind.name().to_owned());
        rows.add_row(row);
    }
    rows
}

fn energy_roofs<C: Counted>(
    roofs: &Roofs<'_>,
    engine: &EngineRoofline,
    counted: &CountedRoofs<C>,
) -> Table {
    let (balance, half) =
        (format!("balance,\n{}/B", C::NAME), format!("half of best,\n{}/B", C::NAME));
    let headers = ["below", "energy", &balance, &half, "best", "of which\nconstant", "rests on"];
    let mut rows = table(&headers, 1);
    left(&mut rows, headers.len() - 1);
    let constant = roofs.roofline.constant.power;
    for compute in &counted.compute {
        let mut row = vec![format!("{} full", compute.precision), compute.energy.to_string()];
        row.extend([String::new(), String::new()]);
        let alone = EnergyRoof::<C> {
            operation: compute.energy,
            byte: crate::units::JoulesPerByte::ZERO,
            constant,
            peak: compute.peak,
            bandwidth: BytesPerSecond(f64::INFINITY),
        };
        row.push(alone.best().to_string());
        row.push(percent(alone.constant_share()));
        row.push(compute.energy_kind.name().to_owned());
        rows.add_row(row);
        for level in &engine.levels {
            let roof = EnergyRoof::of(compute, level, constant);
            let costs = level.energy.0 > 0.0;
            let given = |text: String| if costs { text } else { String::new() };
            rows.add_row(vec![
                format!("  {}", roofs.level_name(level)),
                if costs { level.energy.to_string() } else { "none given".to_owned() },
                given(factor(roof.balance().si())),
                factor(roof.effective_balance().si()),
                String::new(),
                String::new(),
                given(level.energy_kind.name().to_owned()),
            ]);
        }
    }
    rows
}

fn left(rows: &mut Table, column: usize) {
    if let Some(column) = rows.column_mut(column) {
        column.set_cell_alignment(CellAlignment::Left);
    }
}

/// A row a layer and one for all.
fn layers<C: Counted>(
    roofs: &Roofs<'_>,
    engine: &EngineRoofline,
    counted: &CountedRoofs<C>,
    whole: &Point<C>,
) -> Table {
    let names: Vec<String> =
        engine.levels.iter().map(|l| format!("{}/B\n{}", C::NAME, roofs.level_name(l))).collect();
    let formats = counted.compute.len() > 1;
    let mut headers = vec!["layer", "kind"];
    headers.extend(formats.then_some("format"));
    headers.extend(names.iter().map(String::as_str));
    headers.extend(["attained", "attainable", "share"]);
    headers.extend(if roofs.energy {
        ["at the\nsources", "balance"]
    } else {
        ["ridge", "lowest\nroof"]
    });
    if !roofs.energy {
        headers.extend(["bound by", "beyond it"]);
    }
    let mut rows = table(&headers, if formats { 3 } else { 2 });
    if !roofs.energy {
        (headers.len() - 3..headers.len()).for_each(|column| left(&mut rows, column));
    }
    for layer in counted.layers.iter().take(ROWS) {
        let mut row = vec![shortened(&layer.name, 28), layer.kind.to_string()];
        row.extend(formats.then(|| layer.precision.to_string()));
        row.extend(figures(roofs, &layer.point, names.len()));
        let ridge = if roofs.energy { layer.balance } else { layer.ridge };
        let ridge = distance(roofs, engine, ridge);
        if roofs.energy {
            row.push(layer.point.per_joule_at_sources().to_string());
            row.push(ridge);
        } else {
            let name = |bound| roofs.prediction.bound_name(bound).to_owned();
            row.extend([ridge, name(layer.roof), name(layer.bound), beyond(roofs, layer)]);
        }
        rows.add_row(row);
    }
    let mut row = vec![format!("all {}", counted.layers.len()), String::new()];
    row.extend(formats.then(String::new));
    row.extend(figures(roofs, whole, names.len()));
    if roofs.energy {
        row.push(whole.per_joule_at_sources().to_string());
    }
    rows.add_row(row);
    rows
}

/// Intensities, attained, attainable, share.
fn figures<C: Counted>(roofs: &Roofs<'_>, point: &Point<C>, levels: usize) -> Vec<String> {
    let intensity = |level| point.intensity(level).map_or(String::new(), |i| factor(i.si()));
    let mut row: Vec<String> = (0..levels).map(intensity).collect();
    if roofs.energy {
        row.push(point.per_joule().to_string());
        row.push(point.attainable_per_joule().to_string());
        row.push(percent(point.energy_share()));
    } else {
        row.push(point.attained().to_string());
        row.push(point.attainable().to_string());
        row.push(percent(point.share()));
    }
    row
}

fn distance(roofs: &Roofs<'_>, engine: &EngineRoofline, ridge: Option<Ridge>) -> String {
    let Some(ridge) = ridge else { return String::new() };
    let name = engine.levels.get(ridge.level).map_or("", |level| roofs.level_name(level));
    format!("{} x {name}", factor(ridge.distance))
}

/// Where most of the time beyond the roofs goes.
fn beyond<C: Counted>(roofs: &Roofs<'_>, layer: &LayerPoint<C>) -> String {
    let time = layer.point.time;
    let largest = layer.lost.largest(time * WORTH_SAYING).filter(|_| roofs.level.is_none());
    let text = |(name, lost): (&str, Seconds)| format!("{name} {}", percent(lost / time));
    largest.map_or(String::new(), text)
}
