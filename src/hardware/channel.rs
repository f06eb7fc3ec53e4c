//! What bytes pass through: memories, caches and links under one numbering.

use super::point::Point;
use super::profile::Profile;
use super::spec::{Bandwidth, Delay, Rows, TensorClass};
use crate::evidence::Valued;
use crate::units::{Bytes, JoulesPerByte, Watts};

/// A memory, a cache or a link at an operating point. Memories are numbered first, then caches, then
/// links, each in the order of the profile.
#[derive(Debug, Clone, Copy)]
pub struct Channel<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its domain, by index.
    pub domain: usize,
    /// Its bandwidth.
    pub bandwidth: &'a Bandwidth,
    /// Time before the first byte of a transfer.
    pub latency: Option<&'a Delay>,
    /// Bytes of its longest burst.
    pub burst: Option<&'a Valued<Bytes>>,
    /// Energy of a byte read, or moved.
    pub read_energy: Option<&'a Valued<JoulesPerByte>>,
    /// Energy of a byte written.
    pub write_energy: Option<&'a Valued<JoulesPerByte>>,
    /// Rows of a DRAM.
    pub rows: Option<&'a Rows>,
    /// Power while it stands ready.
    pub background: Option<&'a Valued<Watts>>,
}

impl Profile {
    /// The class of memories that tensors of a class live in when an engine runs the network: their own,
    /// and for inputs and results that no memory of the engine is said to hold that of activations.
    pub fn class_of_home(&self, engine: usize, class: TensorClass) -> TensorClass {
        let reached = self.links().engine_memories.get(engine).into_iter().flatten();
        let mut reached = reached.filter_map(|memory| self.spec().memories.get(*memory));
        match class {
            TensorClass::Inputs | TensorClass::Results
                if !reached.any(|memory| memory.holds.contains(&class)) =>
            {
                TensorClass::Activations
            }
            _ => class,
        }
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        let spec = self.spec();
        spec.memories.len() + spec.caches.len() + spec.links.len()
    }

    /// Number of the channel that is cache number `cache`.
    pub fn cache_channel(&self, cache: usize) -> usize {
        self.spec().memories.len() + cache
    }

    /// Number of the channel that is link number `link`.
    pub fn link_channel(&self, link: usize) -> usize {
        self.spec().memories.len() + self.spec().caches.len() + link
    }

    /// Name of a channel.
    pub fn channel_name(&self, index: usize) -> &str {
        let spec = self.spec();
        let memories = spec.memories.iter().map(|m| &m.name);
        let others = spec.caches.iter().map(|c| &c.name).chain(spec.links.iter().map(|l| &l.name));
        memories.chain(others).nth(index).map_or("", String::as_str)
    }

    /// A channel at an operating point, where the set point of a memory replaces what it states.
    pub fn channel<'a>(&'a self, index: usize, point: &Point) -> Channel<'a> {
        let spec = self.spec();
        let domain = self.links().channel_domain[index];
        if let Some(memory) = spec.memories.get(index) {
            let name = point.set_points.get(index).and_then(Option::as_ref);
            let set = name.and_then(|name| memory.set_points.get(name));
            return Channel {
                name: &memory.name,
                domain,
                bandwidth: set.map_or(&memory.bandwidth, |s| &s.bandwidth),
                latency: set.and_then(|s| s.latency.as_ref()).or(memory.latency.as_ref()),
                burst: set.and_then(|s| s.burst.as_ref()).or(memory.burst.as_ref()),
                read_energy: set
                    .and_then(|s| s.read_energy.as_ref())
                    .or(memory.read_energy.as_ref()),
                write_energy: set
                    .and_then(|s| s.write_energy.as_ref())
                    .or(memory.write_energy.as_ref()),
                rows: memory.rows.as_ref(),
                background: set.and_then(|s| s.background.as_ref()).or(memory.background.as_ref()),
            };
        }
        let index = index - spec.memories.len();
        if let Some(cache) = spec.caches.get(index) {
            return Channel {
                name: &cache.name,
                domain,
                bandwidth: &cache.bandwidth,
                latency: None,
                burst: None,
                read_energy: cache.read_energy.as_ref(),
                write_energy: cache.write_energy.as_ref(),
                rows: None,
                background: None,
            };
        }
        let link = &spec.links[index - spec.caches.len()];
        Channel {
            name: &link.name,
            domain,
            bandwidth: &link.bandwidth,
            latency: link.latency.as_ref(),
            burst: None,
            read_energy: link.energy.as_ref(),
            write_energy: None,
            rows: None,
            background: None,
        }
    }

    /// The cache through which an engine sees a memory.
    pub fn cache_between(&self, engine: usize, memory: usize) -> Option<usize> {
        let links = self.links();
        (0..self.spec().caches.len()).find(|c| {
            links.cache_engines[*c].contains(&engine) && links.cache_backs[*c].contains(&memory)
        })
    }

    /// The buffer through which an engine works from a memory: none where it does not reach the buffer,
    /// and works from the memory itself.
    pub fn buffer_between(&self, engine: usize, memory: usize) -> Option<usize> {
        let links = self.links();
        let reached = |buffer: &usize| links.engine_memories[engine].contains(buffer);
        links.memory_stage.get(memory).copied().flatten().filter(reached)
    }

    /// Every channel that traffic of an engine can pass: its memories, and the caches and links on the
    /// way to them.
    pub fn channels_of(&self, engine: usize) -> Vec<usize> {
        let mut channels = Vec::new();
        for &memory in &self.links().engine_memories[engine] {
            channels.push(memory);
            let way = match self.buffer_between(engine, memory) {
                Some(buffer) => self.link_between(memory, buffer).map(|l| self.link_channel(l)),
                None => self.cache_between(engine, memory).map(|c| self.cache_channel(c)),
            };
            channels.extend(way);
        }
        channels
    }

    /// The link that joins two memories.
    pub fn link_between(&self, one: usize, other: usize) -> Option<usize> {
        let joins = |(a, b): (usize, usize)| (a, b) == (one, other) || (b, a) == (one, other);
        self.links().link_joins.iter().position(|ends| joins(*ends))
    }
}
