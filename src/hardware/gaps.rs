//! What is sound in a profile and still leaves work uncosted.

use super::profile::Profile;
use super::spec::{Array, Engine};
use crate::evidence::Kind;
use crate::model::OpKind;

impl Profile {
    /// Kinds of operator that an engine supports and nothing gives a rate for, and number formats
    /// without an energy.
    pub fn gaps(&self) -> Vec<String> {
        let mut gaps = self.unrated();
        gaps.extend(self.idle_blocks());
        for engine in &self.spec().engines {
            gaps.extend(undone(engine));
            gaps.extend(energies(engine));
            gaps.extend(measured(engine));
        }
        gaps
    }

    /// Rails and domains that nothing is on, and rails that no supply pays for.
    fn idle_blocks(&self) -> Vec<String> {
        let (spec, links) = (self.spec(), self.links());
        let mut gaps = Vec::new();
        for (rail, unit) in spec.rails.iter().enumerate() {
            let name = &unit.name;
            let feeds = |regulator: &(usize, usize)| regulator.0 == rail;
            let loaded = links.domain_rail.contains(&rail) || links.load_rail.contains(&rail);
            if !loaded && !links.regulator_rails.iter().any(feeds) {
                gaps.push(format!("nothing is on rail {name}"));
            }
            let regulated = links.regulator_rails.iter().any(|r| r.1 == rail);
            if !spec.supplies.is_empty() && !regulated && !links.supply_rail.contains(&rail) {
                gaps.push(format!(
                    "no supply and no regulator feeds rail {name}: it is ideal, and in no battery's life"
                ));
            }
        }
        for (domain, unit) in spec.domains.iter().enumerate() {
            let holds =
                links.engine_domain.contains(&domain) || links.channel_domain.contains(&domain);
            if !holds && (unit.clock_tree.is_some() || unit.leakage.is_some()) {
                gaps.push(format!("domain {} holds nothing, and draws power", unit.name));
            }
        }
        gaps
    }

    fn unrated(&self) -> Vec<String> {
        let spec = self.spec();
        let mut gaps = Vec::new();
        for (stack, engines) in spec.software.iter().zip(&self.links().stack_engines) {
            let rated = |kind: &OpKind| match kind {
                OpKind::View => true,
                kind if kind.is_mac_work() => stack.cycles_per_mac.contains_key(kind),
                kind => {
                    stack.cycles_per_output.contains_key(kind)
                        || stack.cycles_per_operation.contains_key(kind)
                }
            };
            for unit in engines.iter().map(|e| &spec.engines[*e]) {
                if !matches!(unit.array, Array::Lanes(_)) {
                    continue;
                }
                let missing = unit.supports.iter().filter(|kind| !rated(kind));
                let missing: Vec<String> = missing.map(ToString::to_string).collect();
                if !missing.is_empty() {
                    let (software, engine) = (&stack.name, &unit.name);
                    let missing = missing.join(", ");
                    gaps.push(format!("software {software} has no rate for {missing} on {engine}"));
                }
            }
        }
        gaps
    }
}

/// Kinds that an array is said to run and has no way to.
fn undone(engine: &Engine) -> Option<String> {
    let operations = match &engine.array {
        Array::Lanes(_) => return None,
        Array::Systolic(array) => array.operations.is_some(),
        Array::TensorTiles(tiles) => !tiles.operations.is_empty(),
        Array::FixedFunction(function) => function.operations.is_some(),
        Array::Blocks(_) => true,
    };
    let moves = |kind: OpKind| matches!(kind, OpKind::View | OpKind::Movement);
    let can = |kind: OpKind| match (&engine.array, kind.is_mac_work()) {
        (Array::FixedFunction(f), true) => f.unrolled.contains_key(&kind),
        (Array::FixedFunction(f), false) if f.operations_by_kind.contains_key(&kind) => true,
        (Array::Blocks(b), true) if kind == OpKind::DepthwiseConv => b.depthwise.is_some(),
        (Array::Blocks(b), false) if kind == OpKind::Pool => b.pool.is_some(),
        (_, true) => true,
        (_, false) => operations || moves(kind),
    };
    let missing = engine.supports.iter().filter(|kind| !can(**kind));
    let missing: Vec<String> = missing.map(ToString::to_string).collect();
    (!missing.is_empty()).then(|| format!("{} has no rate for {}", engine.name, missing.join(", ")))
}

fn energies(engine: &Engine) -> Vec<String> {
    if engine.energy.per_busy_cycle.is_some() {
        return Vec::new();
    }
    let formats = engine.array.formats().into_iter();
    let without = formats.filter(|p| !engine.energy.per_mac.contains_key(p));
    without.map(|p| format!("{} has no energy per MAC in {p}", engine.name)).collect()
}

/// Energies per MAC that were measured: nobody measures a multiplier alone.
fn measured(engine: &Engine) -> Option<String> {
    let per_mac = engine.energy.per_mac.iter();
    let measured = per_mac.filter(|(_, energy)| energy.kind() == Kind::Measured);
    let formats: Vec<String> = measured.map(|(format, _)| format.to_string()).collect();
    (!formats.is_empty()).then(|| {
        format!(
            "{} has a measured energy per MAC in {}: a chip's holds memory, clock, leakage and regulator, and would be counted twice",
            engine.name,
            formats.join(", ")
        )
    })
}
