//! A supply tree of a profile at an operating point.

use super::mode::modes;
use super::{Feed, Grid, RailNode, RegulatorNode, Source, SupplyTree};
use crate::cost::Setting;
use crate::hardware::Supply;
use crate::units::{Ohms, Volts};

pub(super) fn tree(setting: Setting<'_>) -> SupplyTree {
    let (spec, links, point) = (setting.profile.spec(), setting.profile.links(), setting.point);
    let regulators = spec.regulators.iter().zip(&links.regulator_rails);
    let regulators: Vec<RegulatorNode> = regulators
        .map(|(stated, (input, output))| RegulatorNode {
            input: *input,
            output: *output,
            modes: modes(stated),
        })
        .collect();
    let mut tree = SupplyTree {
        rails: Vec::with_capacity(point.voltages.len()),
        grids: grids(setting),
        sources: Vec::new(),
        order: order(setting),
        rank: vec![0; point.voltages.len()],
        taps: links.tap_rail.clone(),
        idle: (0..regulators.len()).filter(|r| !point.regulators.contains(r)).collect(),
        domains: spec.domains.len(),
        regulators,
    };
    for (place, rail) in tree.order.iter().enumerate() {
        tree.rank[*rail] = place;
    }
    for (rail, (voltage, _)) in point.voltages.iter().enumerate() {
        let feeding = point.regulators.iter().find(|r| links.regulator_rails[**r].1 == rail);
        let (feed, moves) = match feeding {
            Some(&regulator) => {
                let modes = &tree.regulators[regulator].modes;
                let moves = modes.iter().any(|mode| mode.law.series().is_some());
                (Feed::Regulator(regulator), moves)
            }
            None => {
                let source = source(rail, *voltage, setting);
                let moves = source.follows;
                tree.sources.push(source);
                (Feed::Source(tree.sources.len() - 1), moves)
            }
        };
        let drawing = point.regulators.iter().filter(|r| links.regulator_rails[**r].0 == rail);
        let grids = tree.grids.iter().enumerate();
        let grids = grids.filter(|(_, grid)| links.domain_rail[grid.domain] == rail);
        tree.rails.push(RailNode {
            set: *voltage,
            feed,
            children: drawing.copied().collect(),
            grids: grids.map(|(grid, _)| grid).collect(),
            moves,
            root: rail,
        });
    }
    find_roots(&mut tree);
    tree
}

/// From the sources down: what moves with a rail that moves has that rail's root.
fn find_roots(tree: &mut SupplyTree) {
    for place in (0..tree.order.len()).rev() {
        let rail = tree.order[place];
        if let Feed::Regulator(regulator) = tree.rails[rail].feed {
            let input = tree.regulators[regulator].input;
            if tree.rails[rail].moves && tree.rails[input].moves {
                tree.rails[rail].root = tree.rails[input].root;
            }
        }
    }
}

/// Rails so that each stands behind those that draw from it.
fn order(setting: Setting<'_>) -> Vec<usize> {
    let links = setting.profile.links();
    let fed = setting.point.regulators.iter().map(|r| links.regulator_rails[*r].1);
    let mut order: Vec<usize> = fed.collect();
    let rest = (0..setting.point.voltages.len()).filter(|rail| !order.contains(rail));
    let rest: Vec<usize> = rest.collect();
    order.extend(rest);
    order
}

fn grids(setting: Setting<'_>) -> Vec<Grid> {
    let domains = setting.profile.spec().domains.iter().enumerate();
    let grids = domains.filter_map(|(domain, stated)| {
        let tap = *setting.profile.links().domain_tap.get(domain)?;
        Some(Grid { domain, tap, resistance: stated.ir_drop.as_ref()?.get() })
    });
    grids.collect()
}

fn source(rail: usize, voltage: Volts, setting: Setting<'_>) -> Source {
    let (spec, links) = (setting.profile.spec(), setting.profile.links());
    let supply = links.supply_rail.iter().position(|own| *own == rail);
    let stated = supply.and_then(|supply| spec.supplies.get(supply));
    let resistance = stated.and_then(|s| s.resistance.as_ref()).map_or(Ohms::ZERO, |r| r.get());
    let curve = stated.map(open_circuit).unwrap_or_default();
    let charge = stated.and_then(|s| s.charge.as_ref()).map_or(1.0, |share| share.get().0);
    let storage = stated.and_then(|s| s.storage.as_ref()).map(|s| s.maximum.get());
    let charged = super::interpolated(&curve, charge).map(Volts);
    Source {
        rail,
        supply,
        resistance,
        follows: stated.is_some_and(Supply::is_followed),
        open_circuit: charged.or(storage).unwrap_or(voltage),
        drains: charged.or(storage).is_some(),
        curve,
    }
}

/// The curve of a battery in rising order, which a spread must not change.
fn open_circuit(supply: &Supply) -> Vec<(f64, f64)> {
    let points = supply.open_circuit.iter().map(|p| (p.charge.get().0, p.voltage.get().0));
    let mut points: Vec<(f64, f64)> = points.collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.dedup_by(|next, kept| next.0 <= kept.0);
    points
}
