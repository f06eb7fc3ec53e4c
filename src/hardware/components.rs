//! The places where a profile's power goes.

use super::Profile;
use super::spec::Memory;

/// What a component stands for in the profile, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Switching of an engine.
    Engine(usize),
    /// Accesses and background of a memory, a cache or a link, by number of the channel.
    Channel(usize),
    /// Running clock tree of a domain.
    Clock(usize),
    /// What a domain draws in a state of rest, and to come out of it.
    Rest(usize),
    /// Leakage of a domain.
    Leakage(usize),
    /// A block that runs no network.
    Load(usize),
    /// Loss of a regulator.
    Regulator(usize),
    /// Loss in the power grid of a domain.
    Grid(usize),
}

impl Role {
    /// True for what is lost on the way to loads.
    pub fn is_loss(self) -> bool {
        matches!(self, Self::Regulator(_) | Self::Grid(_))
    }
}

fn is_costed(memory: &Memory) -> bool {
    let own = memory.read_energy.is_some() || memory.write_energy.is_some();
    let set = |s: &super::SetPoint| {
        s.read_energy.is_some() || s.write_energy.is_some() || s.background.is_some()
    };
    own || memory.background.is_some()
        || memory.rows.is_some()
        || !memory.states.is_empty()
        || memory.set_points.values().any(set)
}

/// Every component of a profile, in a fixed order: engines, memories, caches, links, domains, state
/// loads, regulators, grids. What the profile gives no number for is left out.
pub fn components(profile: &Profile) -> Vec<(Role, String)> {
    let spec = profile.spec();
    let mut out = Vec::new();
    for (i, engine) in spec.engines.iter().enumerate() {
        out.push((Role::Engine(i), engine.name.clone()));
    }
    let memories = spec.memories.iter().map(|m| (&m.name, is_costed(m)));
    let caches = spec.caches.iter();
    let caches = caches.map(|c| (&c.name, c.read_energy.is_some() || c.write_energy.is_some()));
    let links = spec.links.iter().map(|l| (&l.name, l.energy.is_some()));
    for (i, (name, costed)) in memories.chain(caches).chain(links).enumerate() {
        if costed {
            out.push((Role::Channel(i), name.clone()));
        }
    }
    for (i, domain) in spec.domains.iter().enumerate() {
        if domain.clock_tree.is_some() {
            out.push((Role::Clock(i), format!("{}_clock", domain.name)));
        }
        if domain.leakage.is_some() {
            out.push((Role::Leakage(i), format!("{}_leakage", domain.name)));
        }
        if !domain.states.is_empty() {
            out.push((Role::Rest(i), format!("{}_rest", domain.name)));
        }
    }
    for (i, load) in spec.loads.iter().enumerate() {
        out.push((Role::Load(i), load.name.clone()));
    }
    for (i, regulator) in spec.regulators.iter().enumerate() {
        out.push((Role::Regulator(i), format!("{}_loss", regulator.name)));
    }
    for (i, domain) in spec.domains.iter().enumerate() {
        if domain.ir_drop.is_some() {
            out.push((Role::Grid(i), format!("{}_grid", domain.name)));
        }
    }
    out
}
