//! What feeds what, and what stands where: the rails of a profile as a tree.

use super::profile::Profile;
use std::collections::BTreeSet;

/// A rail with all it feeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RailNode {
    /// The rail, by index.
    pub rail: usize,
    /// What feeds it.
    pub feed: Feed,
    /// Domains on it.
    pub domains: Vec<DomainNode>,
    /// State loads on it, by index.
    pub loads: Vec<usize>,
    /// Rails behind regulators that draw from it.
    pub rails: Vec<RailNode>,
    /// True for a rail that regulators of several rails take turns to feed, where it comes up again: what
    /// it feeds stands where it came first.
    pub again: bool,
}

/// What feeds a rail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Feed {
    /// A supply by index; none means an ideal one.
    Supply(Option<usize>),
    /// Regulators by index: one, or several that take turns over operating points.
    Regulators(Vec<usize>),
}

/// A domain with all that is in it, by index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainNode {
    /// The domain.
    pub domain: usize,
    /// Engines.
    pub engines: Vec<usize>,
    /// Memories.
    pub memories: Vec<usize>,
    /// Caches.
    pub caches: Vec<usize>,
    /// Links.
    pub links: Vec<usize>,
}

/// The rails that no regulator feeds, each with what is behind it.
pub fn rail_tree(profile: &Profile) -> Vec<RailNode> {
    let fed: Vec<usize> = profile.links().regulator_rails.iter().map(|r| r.1).collect();
    let sources = (0..profile.spec().rails.len()).filter(|rail| !fed.contains(rail));
    let mut seen = BTreeSet::new();
    sources
        .map(|rail| {
            let supply = profile.links().supply_rail.iter().position(|r| *r == rail);
            node(profile, rail, Feed::Supply(supply), &mut seen)
        })
        .collect()
}

fn node(profile: &Profile, rail: usize, feed: Feed, seen: &mut BTreeSet<usize>) -> RailNode {
    if !seen.insert(rail) {
        let (domains, loads, rails) = (Vec::new(), Vec::new(), Vec::new());
        return RailNode { rail, feed, domains, loads, rails, again: true };
    }
    let links = profile.links();
    let drawn = links.regulator_rails.iter().enumerate().filter(|(_, r)| r.0 == rail);
    // Outputs in the order of their first regulator.
    let mut outputs: Vec<(usize, Vec<usize>)> = Vec::new();
    for (regulator, (_, output)) in drawn {
        match outputs.iter_mut().find(|(of, _)| of == output) {
            Some((_, regulators)) => regulators.push(regulator),
            None => outputs.push((*output, vec![regulator])),
        }
    }
    let here = |of: &[usize]| {
        of.iter().enumerate().filter(|(_, r)| **r == rail).map(|(i, _)| i).collect::<Vec<_>>()
    };
    let domains = here(&links.domain_rail).into_iter().map(|d| domain_node(profile, d)).collect();
    let loads = here(&links.load_rail);
    let rails = outputs
        .into_iter()
        .map(|(output, regulators)| node(profile, output, Feed::Regulators(regulators), seen))
        .collect();
    RailNode { rail, feed, domains, loads, rails, again: false }
}

fn domain_node(profile: &Profile, domain: usize) -> DomainNode {
    let (spec, links) = (profile.spec(), profile.links());
    let within = |of: &[usize]| {
        of.iter().enumerate().filter(|(_, d)| **d == domain).map(|(i, _)| i).collect::<Vec<_>>()
    };
    let (memories, caches) = (spec.memories.len(), spec.caches.len());
    let channels = within(&links.channel_domain);
    let numbered = |from: usize, to: usize| {
        channels.iter().filter(|c| (from..to).contains(*c)).map(|c| c - from).collect::<Vec<_>>()
    };
    DomainNode {
        domain,
        engines: within(&links.engine_domain),
        memories: numbered(0, memories),
        caches: numbered(memories, memories + caches),
        links: numbered(memories + caches, usize::MAX),
    }
}
