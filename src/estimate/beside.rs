//! What the energy of a time rests on in which no network runs.

use super::total::standing_parts;
use crate::cost::{
    Setting, SupplyState, SupplyTree, evidence_at_sources, grid_kind, standing_power,
};
use crate::evidence::{Coverage, Kind};
use crate::units::{Joules, Quantity, Seconds};

/// What the energy at the sources rests on over a time that is known as well as `lasts` says, in which
/// everything stands by at the operating point and, perhaps, an engine works without a network: its number,
/// its switching energy and what that rests on. Losses of regulators are in it.
pub fn energy_beside(
    (time, lasts): (Seconds, Kind),
    work: Option<(usize, Joules, Kind)>,
    setting: Setting<'_>,
) -> Coverage {
    if time <= Seconds::ZERO {
        return Coverage::default();
    }
    let (spec, links) = (setting.profile.spec(), setting.profile.links());
    let mut rails = vec![Coverage::default(); setting.point.voltages.len()];
    let mut add = |rail: usize, kind: Kind, energy: Joules| {
        if let Some(own) = rails.get_mut(rail).filter(|_| energy != Joules::ZERO) {
            own.add(kind.weaker(lasts), energy.si());
        }
    };
    for (_, rail, known) in standing_parts(setting) {
        add(rail, known.kind, known.power * time);
    }
    let mut power = standing_power(setting);
    if let Some((engine, energy, kind)) = work {
        let domain = links.engine_domain[engine];
        add(links.domain_rail[domain], kind, energy);
        power[links.domain_tap[domain]] += energy / time;
    }
    let (tree, mut supply) = (SupplyTree::new(setting), SupplyState::default());
    tree.solve_afresh(&power, &mut supply);
    for domain in 0..spec.domains.len() {
        let lost = supply.grid_loss.get(domain).map_or(Joules::ZERO, |loss| *loss * time);
        add(links.domain_rail[domain], grid_kind(domain, setting), lost);
    }
    let losses: Vec<Joules> = supply.regulator_loss.iter().map(|loss| *loss * time).collect();
    evidence_at_sources(&mut rails, &losses, setting)
}
