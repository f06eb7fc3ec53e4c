//! The places where a profile's power goes.

use super::Profile;

/// What a component stands for in the profile, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Switching of an engine.
    Engine(usize),
    /// Accesses and background of a memory.
    Memory(usize),
    /// Running clock tree of a domain.
    Clock(usize),
    /// What a domain draws in a state of rest, and to come out of it.
    Rest(usize),
    /// Leakage of a domain.
    Leakage(usize),
    /// Loss of a regulator.
    Regulator(usize),
}

/// Every component of a profile, in a fixed order: engines, memories, domains, regulators. Memories and leakage that the profile gives no number for are left out.
pub fn components(profile: &Profile) -> Vec<(Role, String)> {
    let spec = profile.spec();
    let mut out = Vec::new();
    for (i, engine) in spec.engines.iter().enumerate() {
        out.push((Role::Engine(i), engine.name.clone()));
    }
    for (i, memory) in spec.memories.iter().enumerate() {
        let costed = memory.read_energy.is_some()
            || memory.write_energy.is_some()
            || memory.background.is_some();
        if costed {
            out.push((Role::Memory(i), memory.name.clone()));
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
    for (i, regulator) in spec.regulators.iter().enumerate() {
        out.push((Role::Regulator(i), format!("{}_loss", regulator.name)));
    }
    out
}
