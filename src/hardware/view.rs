//! What of a profile work on one engine can depend on.
//!
//! An engine knows itself, its software, and the memories, caches and links that it reaches, with their domains:
//! how fast these run and at which voltage. What stands by, what feeds the rails and what other engines are is
//! nothing to it. A number that is none of these counts as one that every engine depends on.

use super::in_use::item;
use super::point::Point;
use super::profile::Profile;
use crate::evidence::{FieldPath, Parameters};

/// What engines reach.
#[derive(Debug, Default)]
pub(super) struct Reaches {
    engines: Vec<Reach>,
    /// Engines that each number is something to, one bit each; of more than 64 some share one.
    touched: Vec<u64>,
}

/// What one engine reaches, by index.
#[derive(Debug, Default)]
struct Reach {
    memories: Vec<usize>,
    caches: Vec<usize>,
    links: Vec<usize>,
    domains: Vec<usize>,
}

const EVERY: u64 = u64::MAX;

fn bit(engine: usize) -> u64 {
    1 << (engine % 64)
}

impl Profile {
    /// All that work on an engine can depend on, as words that are alike only where it is; nothing where some
    /// of it was moved from what was read.
    ///
    /// `stack` is the software stack of the engine.
    pub fn view(&self, engine: usize, point: &Point, stack: Option<usize>) -> Option<Vec<u64>> {
        let identity = self.identity();
        let reaches = identity.reaches.get_or_init(|| Reaches::of(self));
        let touches = |place: usize| reaches.touched.get(place).copied().unwrap_or(EVERY);
        if identity.moved.iter().any(|(place, _)| touches(*place) & bit(engine) != 0) {
            return None;
        }
        let place = |place: Option<usize>| place.map_or(0, |place| place as u64 + 1);
        let mut words = vec![identity.origin, engine as u64, place(stack)];
        let reach = reaches.engines.get(engine)?;
        for &domain in &reach.domains {
            let (clock, clock_kind) = *point.clocks.get(domain)?;
            let rail = *self.links().domain_rail.get(domain)?;
            let (voltage, voltage_kind) = *point.voltages.get(rail)?;
            let kinds = (clock_kind as u64) << 8 | voltage_kind as u64;
            let asleep = place(point.asleep.get(domain).copied().flatten());
            words.extend([clock.0.to_bits(), voltage.0.to_bits(), kinds, asleep]);
        }
        for &memory in &reach.memories {
            let name = point.set_points.get(memory).and_then(Option::as_ref);
            let known = self.spec().memories.get(memory).map(|memory| memory.set_points.keys());
            let set = name.and_then(|name| known?.into_iter().position(|own| own == name));
            words.push(place(set));
        }
        Some(words)
    }
}

impl Reaches {
    fn of(profile: &Profile) -> Self {
        let engines: Vec<_> =
            (0..profile.spec().engines.len()).map(|engine| Reach::of(engine, profile)).collect();
        let mut touched = Vec::new();
        profile.spec().clone().walk(&mut FieldPath::root(), &mut |path, _| {
            touched.push(touches(path.as_str(), &engines, profile));
        });
        Self { engines, touched }
    }
}

impl Reach {
    fn of(engine: usize, profile: &Profile) -> Self {
        let links = profile.links();
        let mut memories = links.engine_memories.get(engine).cloned().unwrap_or_default();
        memories.extend(links.engine_ahead.get(engine).copied().flatten());
        let stages = memories.iter().filter_map(|m| links.memory_stage.get(*m).copied().flatten());
        memories.extend(stages.collect::<Vec<_>>());
        memories.sort_unstable();
        memories.dedup();
        let serves = |cache: &usize| links.cache_engines[*cache].contains(&engine);
        let caches: Vec<_> = (0..links.cache_engines.len()).filter(serves).collect();
        let ends = links.link_joins.iter().enumerate();
        let joined = ends.filter(|(_, (a, b))| memories.contains(a) && memories.contains(b));
        let joins: Vec<_> = joined.map(|(link, _)| link).collect();
        let channels = memories.iter().copied();
        let channels = channels.chain(caches.iter().map(|cache| profile.cache_channel(*cache)));
        let channels = channels.chain(joins.iter().map(|link| profile.link_channel(*link)));
        let domains = channels.filter_map(|channel| links.channel_domain.get(channel).copied());
        let mut domains: Vec<_> = domains.chain(links.engine_domain.get(engine).copied()).collect();
        domains.sort_unstable();
        domains.dedup();
        Self { memories, caches, links: joins, domains }
    }
}

/// The engines that a number is something to.
fn touches(path: &str, engines: &[Reach], profile: &Profile) -> u64 {
    let those = |is: &dyn Fn(usize, &Reach) -> bool| {
        let all = engines.iter().enumerate().filter(|(engine, reach)| is(*engine, reach));
        all.fold(0, |bits, (engine, _)| bits | bit(engine))
    };
    let field = |rest: &str, fields: &[&str]| {
        let name = rest.trim_start_matches('.');
        fields.iter().any(|field| name.strip_prefix(field).is_some_and(|r| !continues(r)))
    };
    // Clocks and voltages are those of the point.
    let elsewhere = ["operating_points", "rails", "regulators", "supplies", "loads", "corners"];
    if elsewhere.iter().any(|list| item(path, list).is_some())
        || field(path, &["temperature", "package"])
    {
        return 0;
    }
    if let Some((own, _)) = item(path, "engines") {
        return those(&|engine, _| engine == own);
    }
    if let Some((memory, rest)) = item(path, "memories") {
        let stands_by = field(rest, &["background", "states"]);
        return if stands_by { 0 } else { those(&|_, reach| reach.memories.contains(&memory)) };
    }
    if let Some((cache, _)) = item(path, "caches") {
        return those(&|_, reach| reach.caches.contains(&cache));
    }
    if let Some((link, _)) = item(path, "links") {
        return those(&|_, reach| reach.links.contains(&link));
    }
    if let Some((domain, rest)) = item(path, "domains") {
        let stands_by = field(rest, &["leakage", "clock_tree", "states"]);
        return if stands_by { 0 } else { those(&|_, reach| reach.domains.contains(&domain)) };
    }
    if let Some((stack, _)) = item(path, "software") {
        let runs = profile.links().stack_engines.get(stack);
        return runs.map_or(EVERY, |own| those(&|engine, _| own.contains(&engine)));
    }
    EVERY
}

/// True where a name goes on.
fn continues(rest: &str) -> bool {
    rest.starts_with(|next: char| next.is_alphanumeric() || next == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(profile: &Profile, point: &str, engine: usize) -> Option<Vec<u64>> {
        let stacks = profile.stacks(None).unwrap();
        profile.view(engine, &profile.point(Some(point)).unwrap(), stacks[engine])
    }

    #[test]
    fn an_engine_sees_its_own_numbers_and_those_of_what_it_reaches() {
        let profile = Profile::load("edge_soc_example").unwrap();
        let names: Vec<_> = profile.spec().engines.iter().map(|e| e.name.clone()).collect();
        let sees = |engine: usize, start: &str| {
            let records = profile.parameters();
            let place = records.iter().position(|r| r.name.starts_with(start)).unwrap();
            let moved = profile.perturbed(|i, value| if i == place { value * 2.0 } else { value });
            view(&moved, "balanced", engine).is_none()
        };
        let npu = names.iter().position(|name| name == "npu").unwrap();
        let cpu = names.iter().position(|name| name == "cpu").unwrap();
        assert!(sees(npu, "engines.npu.") && !sees(cpu, "engines.npu."));
        assert!(sees(npu, "memories.lpddr.") && sees(cpu, "memories.lpddr."));
        assert!(sees(npu, "domains.npu.nominal_voltage"));
        assert!(!sees(npu, "domains.npu.leakage") && !sees(npu, "regulators."));
    }

    #[test]
    fn other_profiles_points_and_corners_look_otherwise() {
        let profile = Profile::load("edge_soc_example").unwrap();
        let own = view(&profile, "balanced", 0).unwrap();
        assert_eq!(view(&profile.clone(), "balanced", 0).as_ref(), Some(&own));
        assert_ne!(view(&profile, "peak", 0).as_ref(), Some(&own));
        assert_ne!(view(&profile, "balanced", 1).as_ref(), Some(&own));
        let again = Profile::load("edge_soc_example").unwrap();
        assert_ne!(view(&again, "balanced", 0).as_ref(), Some(&own), "another that was read");
        assert_ne!(view(&profile.double_buffered(1), "balanced", 0).as_ref(), Some(&own));
        let corner = again.at_corner("FF_hot", None).unwrap();
        assert_ne!(view(&corner, "balanced", 0).as_ref(), Some(&own));
    }
}
