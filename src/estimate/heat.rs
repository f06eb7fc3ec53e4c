//! Where the junction settles under back-to-back inference.
//!
//! What is on the chip heats it: engines, memories, links, clock trees, state loads and regulators that
//! are not `off_chip`. Their mean power and the leakage at the temperature that it makes settle
//! together ([`steady_of`]), leakage of blocks and of domains that are asleep included. Neglected: that
//! regulators burn more as leakage grows; where several nodes are heated, that it is not all the first.

use super::Estimate;
use crate::cost::{Setting, asleep, leakage_law, load_leakage_law};
use crate::evidence::Kind;
use crate::hardware::{Package, Role, ThermalNetwork};
use crate::physics::leakage::Leakage;
use crate::physics::leakage_fixed_point::{SteadyTemperature, steady_of};
use crate::units::{Celsius, KelvinsPerWatt, Volts, Watts};

/// The junction under back-to-back inference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Junction {
    /// Temperature of the air.
    pub ambient: Celsius,
    /// Junction to air.
    pub resistance: KelvinsPerWatt,
    /// Where it settles, or that it does not.
    pub steady: SteadyTemperature,
    /// What resistance and ambient rest on.
    pub kind: Kind,
}

/// Where the junction settles; nothing without a package.
pub fn junction(estimate: &Estimate, setting: Setting<'_>) -> Option<Junction> {
    let spec = setting.profile.spec();
    let package = spec.package.as_ref()?;
    let (resistance, kind) = resistance(package)?;
    let (ambient, kind) = (package.ambient.get(), kind.weaker(package.ambient.kind()));
    if estimate.latency.0 <= 0.0 {
        return None;
    }
    let on_chip = estimate.by_component.iter().filter(|c| heats(c.role, setting));
    let drawn: Watts = on_chip.map(|c| c.energy / estimate.latency).sum();
    let (apart, within) = leakages(setting);
    let at = spec.temperature.get();
    let leaked: Watts = within.iter().map(|(law, voltage)| law.at(*voltage, at)).sum();
    let laws = [apart, within].concat();
    let steady = steady_of(ambient, resistance, drawn - leaked, &laws);
    Some(Junction { ambient, resistance, steady, kind })
}

/// Laws with the voltages of their rails.
type Laws = Vec<(Leakage, Volts)>;

/// The laws of what leaks on the chip: those that are components of their own, and those whose leakage,
/// at the profile's temperature, is part of a state of rest or of a block's power.
fn leakages(setting: Setting<'_>) -> (Laws, Laws) {
    let spec = setting.profile.spec();
    let (mut apart, mut within) = (Vec::new(), Vec::new());
    for domain in (0..spec.domains.len()).filter(|d| !spec.domains[*d].off_chip) {
        let laws = if asleep(domain, setting).is_some() { &mut within } else { &mut apart };
        laws.extend(leakage_law(domain, setting));
    }
    let loads = (0..spec.loads.len()).filter(|load| !spec.loads[*load].off_chip);
    within.extend(loads.filter_map(|load| load_leakage_law(load, setting)));
    (apart, within)
}

/// From the first node to the air; nothing for a network that no number comes out of.
fn resistance(package: &Package) -> Option<(KelvinsPerWatt, Kind)> {
    let own = || Some(package.modes().ok()?.steady_resistance(0, 0));
    let parts: Vec<_> = match &package.network {
        ThermalNetwork::Cauer(nodes) => nodes.iter().map(|n| &n.resistance).collect(),
        ThermalNetwork::Foster(terms) => terms.iter().map(|t| &t.resistance).collect(),
        ThermalNetwork::Nodes(network) => {
            let to_air = network.nodes.iter().filter_map(|node| node.to_air.as_ref());
            network.joins.iter().map(|join| &join.resistance).chain(to_air).collect()
        }
        ThermalNetwork::Responses(responses) => {
            responses.terms.iter().filter_map(|term| term.resistances.first()?.first()).collect()
        }
    };
    let resistance = match &package.network {
        ThermalNetwork::Nodes(_) => own()?,
        _ => parts.iter().map(|r| r.get()).sum(),
    };
    Some((resistance, parts.iter().fold(Kind::STRONGEST, |kind, r| kind.weaker(r.kind()))))
}

/// True for what heats the chip at any temperature alike, leakage within it apart.
fn heats(role: Role, setting: Setting<'_>) -> bool {
    !matches!(role, Role::Leakage(_)) && setting.profile.is_on_chip(role)
}
