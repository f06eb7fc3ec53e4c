//! What energy at the sources rests on.

use super::is_fed;
use crate::cost::Setting;
use crate::evidence::{Coverage, Kind, Valued};
use crate::hardware::RegulatorKind;
use crate::units::{Joules, Quantity};

/// What a regulator's conversion rests on.
fn regulator_kind(index: usize, setting: Setting<'_>) -> Kind {
    let (input, output) = setting.profile.links().regulator_rails[index];
    let voltages = &setting.point.voltages;
    let kind = voltages[input].1.weaker(voltages[output].1);
    let regulator = &setting.profile.spec().regulators[index];
    let modes = regulator.modes.iter().map(|mode| {
        let kind = conversion_kind(&mode.kind).weaker(mode.enter_below.kind());
        kind.weaker(of(&mode.leave_above))
    });
    modes.fold(kind.weaker(conversion_kind(&regulator.kind)), Kind::weaker)
}

/// What the loss in the grid of a domain rests on, beside its load.
pub fn grid_kind(domain: usize, setting: Setting<'_>) -> Kind {
    let own = setting.profile.spec().domains.get(domain);
    let stated = own.and_then(|own| own.ir_drop.as_ref());
    let rail = setting.profile.links().domain_rail.get(domain);
    let voltage = rail.and_then(|rail| setting.point.voltages.get(*rail));
    let kind = stated.map_or(Kind::STRONGEST, Valued::kind);
    kind.weaker(voltage.map_or(Kind::STRONGEST, |(_, kind)| *kind))
}

fn of<Q: Quantity>(value: &Option<Valued<Q>>) -> Kind {
    value.as_ref().map_or(Kind::STRONGEST, Valued::kind)
}

/// The weakest number of a conversion: every one that is part of the loss.
fn conversion_kind(kind: &RegulatorKind) -> Kind {
    let weakest = |kinds: &[Kind]| kinds.iter().fold(Kind::STRONGEST, |weak, k| weak.weaker(*k));
    match kind {
        RegulatorKind::Ldo(ldo) => weakest(&[of(&ldo.quiescent), of(&ldo.ground_share)]),
        RegulatorKind::Switching(s) => weakest(&[s.efficiency.kind(), s.quiescent.kind()]),
        RegulatorKind::Buck(b) => weakest(&[
            b.quiescent.kind(),
            b.switching_loss.kind(),
            of(&b.skips_below),
            b.drop.kind(),
            b.resistance.kind(),
        ]),
        RegulatorKind::BuckFit(fit) => {
            let points = fit.points.iter().map(|p| p.load.kind().weaker(p.efficiency.kind()));
            points.fold(weakest(&[of(&fit.quiescent), of(&fit.skips_below)]), Kind::weaker)
        }
        RegulatorKind::Table(table) => {
            let points = table.points.iter().map(|p| p.load.kind().weaker(p.efficiency.kind()));
            points.fold(of(&table.quiescent), Kind::weaker)
        }
        RegulatorKind::LoadSwitch(s) => weakest(&[s.resistance.kind(), of(&s.quiescent)]),
    }
}

/// What energy at the sources rests on. `rails` holds the load energy of each rail by evidence, with that
/// of its grids, and `losses` the energy that each regulator burnt for them. What a rail draws through a
/// regulator rests on what the rail's own load rests on, and on the regulator.
pub fn evidence_at_sources(
    rails: &mut [Coverage],
    losses: &[Joules],
    setting: Setting<'_>,
) -> Coverage {
    let links = setting.profile.links();
    for &index in &setting.point.regulators {
        let (input, output) = links.regulator_rails[index];
        let kind = regulator_kind(index, setting);
        let load = rails[output].total();
        let factor = if load > 0.0 { 1.0 + losses[index].0 / load } else { 0.0 };
        let through = rails[output].clone();
        for (own, amount) in through.amounts() {
            rails[input].add(own.weaker(kind), amount * factor);
        }
        if load <= 0.0 {
            rails[input].add(kind, losses[index].0);
        }
    }
    let mut sum = Coverage::default();
    for (rail, coverage) in rails.iter().enumerate() {
        if !is_fed(rail, setting) {
            sum.merge(coverage);
        }
    }
    sum
}
