//! Where the junction settles under back-to-back inference.
//!
//! What is on the chip heats it: engines, memories, links, clock trees, state loads and regulators that
//! are not `off_chip`. Their mean power and the leakage at the temperature that it makes settle
//! together ([`steady_of`]).

use super::Estimate;
use crate::cost::{Setting, leakage_law};
use crate::evidence::Kind;
use crate::hardware::{Role, ThermalNetwork};
use crate::physics::leakage_fixed_point::{SteadyTemperature, steady_of};
use crate::units::{Celsius, KelvinsPerWatt, Watts};

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
    let (resistance, kind) = resistance(&package.network);
    let (ambient, kind) = (package.ambient.get(), kind.weaker(package.ambient.kind()));
    if estimate.latency.0 <= 0.0 {
        return None;
    }
    let on_chip = estimate.by_component.iter().filter(|c| heats(c.role, setting));
    let dynamic: Watts = on_chip.map(|c| c.energy / estimate.latency).sum();
    let domains = (0..spec.domains.len()).filter(|d| !spec.domains[*d].off_chip);
    let leakages: Vec<_> = domains.filter_map(|d| leakage_law(d, setting)).collect();
    let steady = steady_of(ambient, resistance, dynamic, &leakages);
    Some(Junction { ambient, resistance, steady, kind })
}

fn resistance(network: &ThermalNetwork) -> (KelvinsPerWatt, Kind) {
    let parts: Vec<_> = match network {
        ThermalNetwork::Cauer(nodes) => nodes.iter().map(|n| &n.resistance).collect(),
        ThermalNetwork::Foster(terms) => terms.iter().map(|t| &t.resistance).collect(),
    };
    let sum = parts.iter().map(|r| r.get()).sum();
    (sum, parts.iter().fold(Kind::STRONGEST, |kind, r| kind.weaker(r.kind())))
}

/// True for what heats the chip at any temperature alike.
fn heats(role: Role, setting: Setting<'_>) -> bool {
    let spec = setting.profile.spec();
    let links = setting.profile.links();
    let on_chip = |domain: usize| !spec.domains[domain].off_chip;
    match role {
        Role::Engine(i) => on_chip(links.engine_domain[i]),
        Role::Channel(i) => on_chip(links.channel_domain[i]),
        Role::Clock(domain) | Role::Rest(domain) => on_chip(domain),
        Role::Load(i) => !spec.loads[i].off_chip,
        Role::Regulator(i) => !spec.regulators[i].off_chip,
        Role::Leakage(_) => false,
    }
}
