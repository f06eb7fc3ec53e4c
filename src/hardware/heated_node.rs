//! Which node of the package each place of power heats.

use super::{Profile, Role};

impl Profile {
    /// True for what heats the chip whose package the profile states: what is not `off_chip` itself, nor
    /// in a domain that is.
    pub fn is_on_chip(&self, role: Role) -> bool {
        let (spec, links) = (self.spec(), self.links());
        let within = |domain: Option<&usize>| {
            domain.and_then(|domain| spec.domains.get(*domain)).is_some_and(|own| !own.off_chip)
        };
        match role {
            Role::Engine(i) => within(links.engine_domain.get(i)),
            Role::Channel(i) => within(links.channel_domain.get(i)),
            Role::Clock(i) | Role::Rest(i) | Role::Leakage(i) | Role::Grid(i) => within(Some(&i)),
            Role::Load(i) => spec.loads.get(i).is_some_and(|own| !own.off_chip),
            Role::Regulator(i) => spec.regulators.get(i).is_some_and(|own| !own.off_chip),
        }
    }

    /// The node of the package that a place of power heats; nothing of what is on another chip, and
    /// without a package.
    pub fn heated_node(&self, role: Role) -> Option<usize> {
        self.spec().package.as_ref()?;
        let (links, heat) = (self.links(), &self.links().heat);
        let node = match role {
            Role::Engine(i) => heat.engine_node.get(i),
            Role::Channel(i) => heat.domain_node.get(*links.channel_domain.get(i)?),
            Role::Clock(i) | Role::Rest(i) | Role::Leakage(i) | Role::Grid(i) => {
                heat.domain_node.get(i)
            }
            Role::Load(i) => heat.load_node.get(i),
            Role::Regulator(i) => heat.regulator_node.get(i),
        };
        node.copied().filter(|_| self.is_on_chip(role))
    }
}
