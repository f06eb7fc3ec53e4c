//! What feeds what, and what stands where: the rails of a profile as a tree.

use super::profile::Profile;

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

/// More levels than any tree of rails has. Regulators of different operating points may point at each
/// other; each point by itself has been checked.
const DEEPEST: usize = 8;

/// The rails that no regulator feeds, each with what is behind it.
pub fn rail_tree(profile: &Profile) -> Vec<RailNode> {
    let fed: Vec<usize> = profile.links().regulator_rails.iter().map(|r| r.1).collect();
    let sources = (0..profile.spec().rails.len()).filter(|rail| !fed.contains(rail));
    sources
        .map(|rail| {
            let supply = profile.links().supply_rail.iter().position(|r| *r == rail);
            node(profile, rail, Feed::Supply(supply), 0)
        })
        .collect()
}

fn node(profile: &Profile, rail: usize, feed: Feed, depth: usize) -> RailNode {
    let links = profile.links();
    let mut rails = Vec::new();
    // Outputs in the order of their first regulator.
    let drawn: Vec<(usize, usize)> = links
        .regulator_rails
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, r)| r.0 == rail)
        .map(|(i, r)| (i, r.1))
        .collect();
    for (first, output) in &drawn {
        let from_here = |(i, of): &(usize, usize)| (of == output).then_some(*i);
        let regulators: Vec<usize> = drawn.iter().filter_map(from_here).collect();
        if depth < DEEPEST && regulators.first() == Some(first) {
            rails.push(node(profile, *output, Feed::Regulators(regulators), depth + 1));
        }
    }
    let here = |of: &[usize]| {
        of.iter().enumerate().filter(|(_, r)| **r == rail).map(|(i, _)| i).collect::<Vec<_>>()
    };
    RailNode {
        rail,
        feed,
        domains: here(&links.domain_rail).into_iter().map(|d| domain_node(profile, d)).collect(),
        loads: here(&links.load_rail),
        rails,
    }
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
