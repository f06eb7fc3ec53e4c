//! Weights that are lost with the power of a domain, and their way back.
//!
//! What plans keep in a memory from one inference to the next are its weights: those of layers that run on
//! an engine which works from it. Activations and what is streamed through a buffer come anew with each
//! inference. Networks that share a memory are loaded one beside the other, as far as it holds them.

use crate::cost::{Setting, access_energy, bandwidth, latency};
use crate::evidence::Kind;
use crate::hardware::{DomainState, Profile, TensorClass};
use crate::mapping::{MemoryInUse, Plan};
use crate::units::{Bytes, BytesPerSecond, Joules, Seconds};
use std::collections::{BTreeMap, BTreeSet};

/// Weights that live in a memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resident {
    /// The memory, by index.
    pub memory: usize,
    /// The memory that they come from; nothing where the profile has none that may hold them.
    pub from: Option<usize>,
    /// How many bytes they are.
    pub bytes: Bytes,
}

/// A part of a reload on one channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReloadMove {
    /// The channel, by number.
    pub channel: usize,
    /// The rate that is asked for.
    pub demand: BytesPerSecond,
    /// Energy of all bytes.
    pub energy: Joules,
    /// What the energy rests on.
    pub kind: Kind,
}

/// What a domain loads on waking.
#[derive(Debug, Clone, PartialEq)]
pub struct Reload {
    /// Bytes that are written to its memories.
    pub bytes: Bytes,
    /// How long that takes where nothing contends, and what it rests on.
    pub time: Seconds,
    /// What the time rests on.
    pub time_kind: Kind,
    /// Channels that it passes.
    pub moves: Vec<ReloadMove>,
    /// Other domains that must be on meanwhile.
    pub needs: Vec<usize>,
}

impl Reload {
    /// Energy of all transfers.
    pub fn energy(&self) -> Joules {
        self.moves.iter().map(|own| own.energy).sum()
    }
}

/// Weights that plans keep in the memories of a profile.
pub fn residents(plans: &[&Plan], profile: &Profile) -> Vec<Resident> {
    let mut sums: BTreeMap<usize, (u128, Option<usize>)> = BTreeMap::new();
    let mut known: Vec<(&str, &MemoryInUse)> = Vec::new();
    for plan in plans {
        for own in &plan.memory {
            // The same network once more has the same weights.
            if known.contains(&(plan.network.as_str(), own)) {
                continue;
            }
            known.push((plan.network.as_str(), own));
            let read = weights_read(plan, own);
            for used in &own.plan.memories {
                let weights = used.weights.iter().filter(|placed| read.contains(&placed.buffer));
                let bytes: u128 = weights.map(|placed| u128::from(placed.bytes)).sum();
                if bytes > 0 {
                    let from = source(used.memory, own, profile);
                    let sum = sums.entry(used.memory).or_insert((0, from));
                    sum.0 += bytes;
                }
            }
        }
    }
    let rooms = &profile.spec().memories;
    let room = |memory: usize| rooms.get(memory).map_or(0.0, |own| own.room().get().0);
    let residents = sums.into_iter().map(|(memory, (bytes, from))| Resident {
        memory,
        from,
        bytes: Bytes((bytes as f64).min(room(memory))),
    });
    residents.collect()
}

/// Buffers that layers on these engines read.
fn weights_read(plan: &Plan, own: &MemoryInUse) -> BTreeSet<usize> {
    let buffers = own.plan.buffers();
    let steps = plan.steps.iter().filter(|step| own.engines.contains(&step.engine));
    steps.flat_map(|step| buffers.all_read(step.layer)).collect()
}

/// The memory that weights of a memory come from.
fn source(memory: usize, own: &MemoryInUse, profile: &Profile) -> Option<usize> {
    let links = profile.links();
    if let Some(stated) = links.memory_reload.get(memory).copied().flatten() {
        return Some(stated);
    }
    let reached = links.engine_memories.get(*own.engines.first()?)?;
    let behind = reached.iter().skip_while(|other| **other != memory).skip(1).copied();
    let holds = |other: &usize| {
        let stated = profile.spec().memories.get(*other);
        stated.is_some_and(|memory| memory.holds.contains(&TensorClass::Weights))
    };
    behind.into_iter().find(holds)
}

/// Layers between which a plan keeps activations in memories that lose them at rest: the domain, the first
/// layer and the last. Each of `lost` is a domain and a memory in it.
pub fn kept_alive(plan: &Plan, lost: &[(usize, usize)]) -> Vec<(usize, (usize, usize))> {
    let uses = plan.memory.iter().flat_map(|own| &own.plan.memories);
    let kept = uses.flat_map(|used| {
        let domain = lost.iter().find(|(_, memory)| *memory == used.memory);
        let domain = domain.map(|(domain, _)| *domain);
        let alive = used.activations.iter().filter_map(|placed| placed.lifetime);
        domain.into_iter().flat_map(move |own| alive.clone().map(move |layers| (own, layers)))
    });
    kept.collect()
}

/// What a domain loads when it comes back from a state; nothing where no weights are lost in it.
pub fn reload(
    domain: usize,
    state: &DomainState,
    residents: &[Resident],
    setting: Setting<'_>,
) -> Option<Reload> {
    let (spec, links) = (setting.profile.spec(), setting.profile.links());
    let is_lost = |own: &&Resident| {
        let stated = spec.memories.get(own.memory);
        links.channel_domain.get(own.memory) == Some(&domain)
            && stated.is_some_and(|memory| state.loses.contains(&memory.name))
    };
    // Bytes read and written, and how many memories are loaded through it, by channel.
    let mut passed: BTreeMap<usize, (Bytes, Bytes, f64)> = BTreeMap::new();
    let mut pass = |channel: usize, read: Bytes, write: Bytes| {
        let sum = passed.entry(channel).or_insert((Bytes::ZERO, Bytes::ZERO, 0.0));
        *sum = (sum.0 + read, sum.1 + write, sum.2 + 1.0);
    };
    let mut bytes = Bytes::ZERO;
    for own in residents.iter().filter(is_lost) {
        bytes += own.bytes;
        pass(own.memory, Bytes::ZERO, own.bytes);
        let Some(from) = own.from else { continue };
        pass(from, own.bytes, Bytes::ZERO);
        if let Some(link) = setting.profile.link_between(from, own.memory) {
            pass(setting.profile.link_channel(link), own.bytes, Bytes::ZERO);
        }
    }
    if bytes.0 <= 0.0 {
        return None;
    }
    let (mut time, mut time_kind) = (Seconds::ZERO, Kind::STRONGEST);
    for (channel, (read, write, requests)) in &passed {
        let (rate, kind) = bandwidth(*channel, setting);
        let (first, first_kind) = latency(*channel, setting);
        let own = (*read + *write) / rate + first * *requests;
        if own > time {
            (time, time_kind) = (own, kind.weaker(first_kind));
        }
    }
    let moves = passed.iter().map(|(channel, (read, write, _))| {
        let (energy, kind) = access_energy(*channel, *read, *write, setting);
        let demand = ((*read + *write) / time).min(bandwidth(*channel, setting).0);
        ReloadMove { channel: *channel, demand, energy, kind }
    });
    let needs: BTreeSet<usize> =
        passed.keys().filter_map(|channel| links.channel_domain.get(*channel)).copied().collect();
    let needs = needs.into_iter().filter(|own| *own != domain).collect();
    Some(Reload { bytes, time, time_kind, moves: moves.collect(), needs })
}
