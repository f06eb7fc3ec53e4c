//! An engine in a line: datapath, size, formats, cost.

use super::drawing::whole;
use super::tree::{value, work_energy};
use crate::evidence::Valued;
use crate::hardware::{
    Array, BlockEngine, Dataflow, Engine, FixedFunction, Lanes, Precision, Systolic, TensorTiles,
    WindowLimits,
};
use crate::units::{Quantity, Ratio};
use std::collections::BTreeMap;

/// Kinds of operator that are named rather than counted.
const KINDS_NAMED: usize = 6;

pub(super) fn of_engine(engine: &Engine) -> String {
    let core = engine.core.as_ref().map_or(String::new(), |core| format!(" ({core})"));
    let mut parts = vec![datapath(&engine.array)];
    let cost = work_energy(&engine.energy);
    if !cost.is_empty() {
        parts.push(cost.join(", "));
    }
    let runs_as = engine.runs_as.iter().map(|(from, to)| format!("{from} runs as {to}"));
    parts.extend(runs_as);
    let kinds: Vec<String> = engine.supports.iter().map(ToString::to_string).collect();
    parts.push(match kinds.len() {
        count if count > KINDS_NAMED => format!("runs {count} kinds of operator"),
        _ => format!("runs {}", kinds.join(", ")),
    });
    parts.extend(engine.windows.as_ref().and_then(of_windows));
    parts.push(format!("works from {}", engine.memories.join(", ")));
    format!("engine {}{core}: {}", engine.name, parts.join("; "))
}

fn datapath(array: &Array) -> String {
    match array {
        Array::Lanes(lanes) => of_lanes(lanes),
        Array::Systolic(systolic) => of_systolic(systolic),
        Array::TensorTiles(tiles) => of_tiles(tiles),
        Array::FixedFunction(function) => of_function(function),
        Array::Blocks(blocks) => of_blocks(blocks),
    }
}

/// `Int8 4 MAC/cycle, Int16 2 MAC/cycle`.
fn rates<Q: Quantity>(rates: &BTreeMap<Precision, Valued<Q>>) -> String {
    let each = rates.iter().map(|(format, rate)| whole(&format!("{format} {}", value(rate))));
    each.collect::<Vec<_>>().join(", ")
}

/// `Int16, Int8 at 2 x`.
fn formats(own: Precision, others: &BTreeMap<Precision, Valued<Ratio>>) -> String {
    let others = others.iter().map(|(format, rate)| format!(", {format} at {}", value(rate)));
    format!("{own}{}", others.collect::<String>())
}

fn of_lanes(lanes: &Lanes) -> String {
    let vector = lanes.vector.as_ref().map_or(String::new(), |vector| {
        let elements = vector.elements.iter().map(|(format, n)| format!("{n} {format}"));
        format!(", vectors of {}", elements.collect::<Vec<_>>().join(" or "))
    });
    format!("lanes, {}{vector}", rates(&lanes.macs))
}

fn of_systolic(array: &Systolic) -> String {
    let stays = match array.dataflow {
        Dataflow::WeightStationary => "weight stationary",
        Dataflow::OutputStationary => "output stationary",
        Dataflow::InputStationary => "input stationary",
        Dataflow::RowStationary => "row stationary",
    };
    let formats = formats(array.precision, &array.rates);
    format!("{} x {} array, {stays}, {formats}", array.rows, array.columns)
}

fn of_tiles(tiles: &TensorTiles) -> String {
    let TensorTiles { units, m, n, k, macs, .. } = tiles;
    format!("{units} units for tiles of {m} x {n} x {k}, each {}", rates(macs))
}

fn of_function(function: &FixedFunction) -> String {
    let steps = function.unrolled.iter().map(|(kind, unrolled)| {
        let extents = unrolled.extents().into_iter().filter(|(_, extent)| *extent > 1);
        let named = extents.map(|(name, extent)| format!("{extent} {}", name.replace('_', " ")));
        let named = named.collect::<Vec<_>>().join(" x ");
        format!(", {kind} by {}", if named.is_empty() { "one" } else { named.as_str() })
    });
    let formats = formats(function.precision, &function.rates);
    let own = match function.stages.len() {
        0 => String::new(),
        layers => format!(", {layers} layers with a datapath each"),
    };
    format!("fixed function, {formats}{}{own}", steps.collect::<String>())
}

fn of_blocks(array: &BlockEngine) -> String {
    let micro = array.micro_blocks.iter();
    let micro = micro.map(|m| format!("{} x {} x {}", m.rows, m.columns, m.channels));
    let formats = formats(array.precision, &array.rates);
    format!("blocks of results by {}, {formats}", micro.collect::<Vec<_>>().join(" or "))
}

/// Windows of convolutions that it takes.
fn of_windows(limits: &WindowLimits) -> Option<String> {
    let size = |(height, width): &(u64, u64)| whole(&format!("{height} x {width}"));
    let sizes = limits.sizes.iter().map(size).collect::<Vec<_>>().join(", ");
    let parts = [
        (!sizes.is_empty()).then(|| format!("windows of {sizes}")),
        limits.largest.as_ref().map(|most| format!("windows up to {}", size(most))),
        limits.largest_stride.map(|most| format!("strides up to {most}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
