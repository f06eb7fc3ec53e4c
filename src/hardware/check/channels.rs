//! Memories, caches and links: reached, staged, sized.

use super::{Checker, names};
use crate::hardware::spec::{Bandwidth, Delay, Memory, Rows, TensorClass};

impl Checker<'_> {
    pub(super) fn memories(&mut self) {
        let spec = self.spec;
        let domains = names!(spec.domains);
        let memories = names!(spec.memories);
        for (i, memory) in spec.memories.iter().enumerate() {
            let at = |field: &str| format!("memories[{i}].{field}");
            let domain = self.resolve(at("domain"), "domain", &memory.domain, &domains);
            self.links.channel_domain.push(domain);
            let stage = memory.staged_through.as_ref();
            let stage = stage.and_then(|s| self.find(at("staged_through"), "memory", s, &memories));
            self.staging(&at("staged_through"), stage);
            self.links.memory_stage.push(stage);
            let source = memory.reloaded_from.as_ref();
            let source =
                source.and_then(|s| self.find(at("reloaded_from"), "memory", s, &memories));
            if source == Some(i) {
                self.fault(at("reloaded_from"), "what a memory has lost comes from another one");
            }
            self.links.memory_reload.push(source);
            self.positive(at("capacity"), &memory.capacity);
            self.usable(&at("usable"), memory);
            self.serial(&at("serial"), memory);
            self.bandwidth(&at("bandwidth"), &memory.bandwidth);
            self.delay(&at("latency"), memory.latency.as_ref());
            if let Some(rows) = &memory.rows {
                self.rows(&at("rows"), rows);
            }
            for (name, set) in &memory.set_points {
                let at = |field: &str| format!("memories[{i}].set_points.{name}.{field}");
                self.bandwidth(&at("bandwidth"), &set.bandwidth);
                self.delay(&at("latency"), set.latency.as_ref());
            }
            for (j, state) in memory.states.iter().enumerate() {
                let path = format!("memories[{i}].states[{j}].power");
                self.not_negative(path, &state.power);
            }
            self.reached(&at("name"), memory);
        }
    }

    fn usable(&mut self, path: &str, memory: &Memory) {
        let Some(usable) = &memory.usable else { return };
        self.positive(path.to_owned(), usable);
        let whole = memory.capacity.get();
        if usable.get().0 > whole.0 {
            self.fault(path, format!("more than the {whole} that it holds"));
        }
    }

    /// What is moved apart from computing passes a buffer, and is of a class that operands are told by.
    fn serial(&mut self, path: &str, memory: &Memory) {
        if !memory.serial.is_empty() && memory.staged_through.is_none() {
            let message = "what is moved before and behind computing passes a buffer";
            self.fault(path, message);
        }
        let of_operands = [TensorClass::Weights, TensorClass::Activations];
        if memory.serial.iter().any(|class| !of_operands.contains(class)) {
            self.fault(path, "operands are Weights or Activations");
        }
    }

    /// An engine works from it, or from the buffer that it is staged through.
    fn reached(&mut self, path: &str, memory: &Memory) {
        let mut engines = self.spec.engines.iter();
        // One that others are only loaded from is of use, too.
        let mut loaded = self.spec.memories.iter().filter_map(|own| own.reloaded_from.as_ref());
        let is_source = loaded.any(|source| *source == memory.name);
        if !is_source && !engines.any(|e| e.memories.contains(&memory.name)) {
            self.fault(path, format!("no engine works from memory `{}`", memory.name));
        }
    }

    fn staging(&mut self, path: &str, stage: Option<usize>) {
        let Some(buffer) = stage.and_then(|s| self.spec.memories.get(s)) else { return };
        if buffer.staged_through.is_some() {
            let message = "a buffer is not staged through another: one level of staging";
            self.fault(path, message);
        }
        if !buffer.holds.is_empty() {
            let message = "a buffer that stages other memories holds nothing itself";
            self.fault(path, message);
        }
    }

    fn bandwidth(&mut self, path: &str, bandwidth: &Bandwidth) {
        match bandwidth {
            Bandwidth::PerSecond(rate) => self.positive(format!("{path}.PerSecond"), rate),
            Bandwidth::PerCycle(rate) => self.positive(format!("{path}.PerCycle"), rate),
            Bandwidth::WaitStates(law) => {
                self.wait_states(&format!("{path}.WaitStates"), law);
            }
        }
    }

    fn delay(&mut self, path: &str, delay: Option<&Delay>) {
        match delay {
            Some(Delay::Time(time)) => self.not_negative(format!("{path}.Time"), time),
            Some(Delay::Cycles(cycles)) => self.not_negative(format!("{path}.Cycles"), cycles),
            None => {}
        }
    }

    fn rows(&mut self, path: &str, rows: &Rows) {
        self.share(format!("{path}.hit"), &rows.hit);
        self.positive(format!("{path}.burst"), &rows.burst);
        self.not_negative(format!("{path}.activation"), &rows.activation);
    }

    pub(super) fn caches(&mut self) {
        let spec = self.spec;
        let (domains, memories) = (names!(spec.domains), names!(spec.memories));
        let engines = names!(spec.engines);
        for (i, cache) in spec.caches.iter().enumerate() {
            let at = |field: &str| format!("caches[{i}].{field}");
            let domain = self.resolve(at("domain"), "domain", &cache.domain, &domains);
            self.links.channel_domain.push(domain);
            self.positive(at("capacity"), &cache.capacity);
            self.positive(at("line"), &cache.line);
            let (line, capacity) = (cache.line.get(), cache.capacity.get());
            if line.0 > capacity.0 {
                self.fault(at("line"), format!("a line of {line} is more than the cache holds"));
            }
            self.bandwidth(&at("bandwidth"), &cache.bandwidth);
            let served = self.resolve_all(&at("engines"), "engine", &cache.engines, &engines);
            let backed = self.resolve_all(&at("backs"), "memory", &cache.backs, &memories);
            for (field, empty) in [("engines", served.is_empty()), ("backs", backed.is_empty())] {
                if empty {
                    let message = "a cache stands between at least one engine and one memory";
                    self.fault(at(field), message);
                }
            }
            self.cache_ways(i);
            self.links.cache_engines.push(served);
            self.links.cache_backs.push(backed);
        }
    }

    /// What a cache stands between passes it: no buffer comes first, and no other cache.
    fn cache_ways(&mut self, i: usize) {
        let spec = self.spec;
        let Some(cache) = spec.caches.get(i) else { return };
        let served = spec.engines.iter().filter(|e| cache.engines.contains(&e.name));
        for engine in served {
            let works_from = |name: &String| engine.memories.contains(name);
            for (k, memory) in cache.backs.iter().enumerate().filter(|(_, m)| works_from(m)) {
                let path = format!("caches[{i}].backs[{k}]");
                let home = spec.memories.iter().find(|m| m.name == *memory);
                let buffer = home.and_then(|m| m.staged_through.as_ref()).filter(|b| works_from(b));
                let mut others = spec.caches.iter().take(i);
                let other =
                    others.find(|c| c.engines.contains(&engine.name) && c.backs.contains(memory));
                if let Some(buffer) = buffer {
                    let message = format!(
                        "engine `{}` works from `{memory}` through buffer `{buffer}`, not through a cache",
                        engine.name
                    );
                    self.fault(path, message);
                } else if let Some(other) = other {
                    let message = format!(
                        "engine `{}` works from `{memory}` through cache `{}` already: one level of caches",
                        engine.name, other.name
                    );
                    self.fault(path, message);
                }
            }
        }
    }

    /// What a link joins has no other link, and an engine that works from both ends.
    fn link_ways(&mut self, i: usize) {
        let spec = self.spec;
        let Some(link) = spec.links.get(i) else { return };
        let (one, other) = &link.joins;
        let joins = |ends: &(String, String)| {
            (&ends.0, &ends.1) == (one, other) || (&ends.1, &ends.0) == (one, other)
        };
        let path = format!("links[{i}].joins");
        if let Some(first) = spec.links.iter().take(i).find(|l| joins(&l.joins)) {
            let message =
                format!("`{one}` and `{other}` are joined by link `{}` already", first.name);
            self.fault(path, message);
        } else if !spec
            .engines
            .iter()
            .any(|e| e.memories.contains(one) && e.memories.contains(other))
        {
            let message = format!(
                "nothing passes between `{one}` and `{other}`: no engine works from both of them"
            );
            self.fault(path, message);
        }
    }

    pub(super) fn link_ends(&mut self) {
        let spec = self.spec;
        let (domains, memories) = (names!(spec.domains), names!(spec.memories));
        for (i, link) in spec.links.iter().enumerate() {
            let at = |field: &str| format!("links[{i}].{field}");
            let domain = self.resolve(at("domain"), "domain", &link.domain, &domains);
            self.links.channel_domain.push(domain);
            let one = self.find(at("joins[0]"), "memory", &link.joins.0, &memories);
            let other = self.find(at("joins[1]"), "memory", &link.joins.1, &memories);
            self.links.link_joins.push((one.unwrap_or(0), other.unwrap_or(0)));
            let staged = |a: usize, b: usize| {
                spec.memories.get(a).and_then(|m| m.staged_through.as_deref())
                    == spec.memories.get(b).map(|m| m.name.as_str())
            };
            if let (Some(one), Some(other)) = (one, other)
                && !staged(one, other)
                && !staged(other, one)
            {
                let message = format!(
                    "nothing passes between `{}` and `{}`: neither is staged through the other",
                    link.joins.0, link.joins.1
                );
                self.fault(at("joins"), message);
            } else if one.is_some() && other.is_some() {
                self.link_ways(i);
            }
            self.bandwidth(&at("bandwidth"), &link.bandwidth);
            self.delay(&at("latency"), link.latency.as_ref());
        }
    }
}
