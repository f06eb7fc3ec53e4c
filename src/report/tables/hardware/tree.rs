//! The tree of a profile: supplies, rails, regulators, domains and what is in them.

use super::drawing::{Branch, drawn, whole};
use crate::evidence::{Parameter, Valued};
use crate::hardware::{
    Bandwidth, Cache, Delay, DomainNode, DomainState, EngineEnergy, Feed, Link, LoadLeakage,
    Memory, PerCycle, Profile, RailNode, Regulator, RegulatorKind, StateLoad, Supply, TensorClass,
    rail_tree,
};
use crate::units::Quantity;

/// All of it, drawn.
pub(super) fn tree_text(profile: &Profile) -> String {
    let roots: Vec<Branch> =
        rail_tree(profile).iter().map(|node| Tree { profile }.root(node)).collect();
    drawn(&roots)
}

pub(super) fn value<Q: Quantity>(value: &Valued<Q>) -> String {
    whole(&value.parameter().written)
}

struct Tree<'a> {
    profile: &'a Profile,
}

impl Tree<'_> {
    fn root(&self, node: &RailNode) -> Branch {
        let supply = match node.feed {
            Feed::Supply(Some(index)) => self.profile.spec().supplies.get(index),
            _ => None,
        };
        let label = supply.map_or_else(|| "supply (ideal)".to_owned(), of_supply);
        Branch::new(label, vec![self.rail(node)])
    }

    fn rail(&self, node: &RailNode) -> Branch {
        let spec = self.profile.spec();
        let name = spec.rails.get(node.rail).map_or("", |rail| rail.name.as_str());
        let voltages = spec.operating_points.iter().filter_map(|p| p.voltages.get(name));
        if node.again {
            return Branch::leaf(format!("rail {name}, as above"));
        }
        let label = format!("rail {name}: {}", range(voltages.map(|v| v.parameter())));
        let mut inside: Vec<Branch> = node.domains.iter().map(|d| self.domain(d)).collect();
        let loads = node.loads.iter().filter_map(|load| spec.loads.get(*load));
        inside.extend(loads.map(|load| Branch::leaf(of_load(load))));
        inside.extend(node.rails.iter().map(|rail| self.fed(rail)));
        Branch::new(label, inside)
    }

    /// A rail behind regulators, of which one is in use at a time.
    fn fed(&self, node: &RailNode) -> Branch {
        let Feed::Regulators(indices) = &node.feed else { return self.rail(node) };
        let regulators = indices.iter().filter_map(|i| self.profile.spec().regulators.get(*i));
        let labels = regulators.enumerate().map(|(i, regulator)| {
            let word = if i == 0 { "regulator" } else { "or regulator" };
            format!("{word} {}", of_regulator(regulator))
        });
        Branch { labels: labels.collect(), branches: vec![self.rail(node)] }
    }

    fn domain(&self, node: &DomainNode) -> Branch {
        let spec = self.profile.spec();
        let Some(domain) = spec.domains.get(node.domain) else {
            return Branch::leaf(String::new());
        };
        let clocks = spec.operating_points.iter().filter_map(|p| p.clocks.get(&domain.clock));
        let mut parts = vec![
            format!("clock {} {}", domain.clock, range(clocks.map(|v| v.parameter()))),
            format!("costs stated at {}", value(&domain.nominal_voltage)),
        ];
        parts.extend(
            domain.clock_tree.as_ref().map(|tree| whole(&format!("clock tree {}", cost(tree)))),
        );
        parts.extend(domain.leakage.as_ref().map(|leakage| {
            format!("leakage {} at {}", value(&leakage.power), value(&leakage.temperature))
        }));
        let states: Vec<String> = domain.states.iter().map(of_state).collect();
        if !states.is_empty() {
            parts.push(format!("rests in {}", states.join(", ")));
        }
        let off_chip = if domain.off_chip { " (off chip)" } else { "" };
        let label = format!("domain {}{off_chip}: {}", domain.name, parts.join("; "));
        let mut inside = Vec::new();
        let engines = node.engines.iter().filter_map(|i| spec.engines.get(*i));
        inside.extend(engines.map(super::engine::of_engine));
        inside.extend(node.memories.iter().filter_map(|i| spec.memories.get(*i)).map(of_memory));
        inside.extend(node.caches.iter().filter_map(|i| spec.caches.get(*i)).map(of_cache));
        inside.extend(node.links.iter().filter_map(|i| spec.links.get(*i)).map(of_link));
        Branch::new(label, inside.into_iter().map(Branch::leaf).collect())
    }
}

/// Each value where there are few, else the lowest and the highest.
fn range<'a>(parameters: impl Iterator<Item = &'a Parameter>) -> String {
    let mut sorted: Vec<&Parameter> = parameters.collect();
    sorted.sort_by(|a, b| a.value.total_cmp(&b.value));
    sorted.dedup_by(|a, b| a.value == b.value);
    let written = |parameter: &Parameter| whole(&parameter.written);
    match sorted.as_slice() {
        [] => String::new(),
        [first, .., last] if sorted.len() > 3 => {
            format!("{} to {}", written(first), written(last))
        }
        few => few.iter().map(|p| written(p)).collect::<Vec<_>>().join(", "),
    }
}

fn of_supply(supply: &Supply) -> String {
    let parts = [
        supply.capacity.as_ref().map(value),
        supply.resistance.as_ref().map(value),
        supply.max_current.as_ref().map(|most| format!("at most {}", value(most))),
    ];
    named("supply", &supply.name, parts)
}

/// `kind name: parts`.
fn named(kind: &str, name: &str, parts: impl IntoIterator<Item = Option<String>>) -> String {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return format!("{kind} {name}");
    }
    format!("{kind} {name}: {}", parts.join(", "))
}

fn of_regulator(regulator: &Regulator) -> String {
    let mut parts = match &regulator.kind {
        RegulatorKind::Ldo(ldo) => vec![
            Some("linear".to_owned()),
            ldo.quiescent.as_ref().map(|i| format!("quiescent {}", value(i))),
            ldo.ground_share
                .as_ref()
                .map(|share| format!("{} of the load to ground", value(share))),
            ldo.dropout.as_ref().map(|r| format!("dropout {}", value(r))),
        ],
        RegulatorKind::Switching(switching) => vec![
            Some(format!("switching at {}", value(&switching.efficiency))),
            Some(format!("quiescent {}", value(&switching.quiescent))),
        ],
        RegulatorKind::Buck(buck) => vec![
            Some(format!("switching, quiescent {}", value(&buck.quiescent))),
            Some(format!("{} of switching", value(&buck.switching_loss))),
            buck.skips_below.as_ref().map(|load| format!("skips pulses below {}", value(load))),
            Some(format!("drop {}", value(&buck.drop))),
            Some(value(&buck.resistance)),
        ],
        RegulatorKind::Table(table) => {
            let points = table.points.iter().map(|point| {
                Some(format!("{} at {}", value(&point.efficiency), value(&point.load)))
            });
            std::iter::once(Some("switching".to_owned())).chain(points).collect()
        }
        RegulatorKind::BuckFit(_) | RegulatorKind::LoadSwitch(_) => Vec::new(),
    };
    parts.push(regulator.max_current.as_ref().map(|most| format!("at most {}", value(most))));
    parts.push(regulator.off_chip.then(|| "off chip".to_owned()));
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let points = match regulator.operating_points.as_slice() {
        [] => String::new(),
        points => format!("; in use at {}", points.join(", ")),
    };
    format!("{}: {text}{points}", regulator.name)
}

pub(super) fn cost(cost: &PerCycle) -> String {
    match cost {
        PerCycle::Energy(energy) => value(energy),
        PerCycle::Charge(charge) => value(charge),
    }
}

fn of_state(state: &DomainState) -> String {
    let wakes = state.wake_time.as_ref();
    wakes.map_or(state.name.clone(), |time| format!("{} (wakes in {})", state.name, value(time)))
}

fn bandwidth(bandwidth: &Bandwidth) -> String {
    match bandwidth {
        Bandwidth::PerSecond(rate) => value(rate),
        Bandwidth::PerCycle(rate) => value(rate),
        Bandwidth::WaitStates(law) => format!("{} an access, with wait states", value(&law.width)),
    }
}

fn delay(delay: &Delay) -> String {
    match delay {
        Delay::Time(time) => value(time),
        Delay::Cycles(cycles) => value(cycles),
    }
}

/// Energies of access: `read 1 pJ/B`, `write 2 pJ/B`.
fn energies<Q: Quantity>(
    read: Option<&Valued<Q>>,
    write: Option<&Valued<Q>>,
) -> [Option<String>; 2] {
    let named = |word: &str, energy: &Valued<Q>| whole(&format!("{word} {}", value(energy)));
    [read.map(|energy| named("read", energy)), write.map(|energy| named("write", energy))]
}

fn of_memory(memory: &Memory) -> String {
    let holds = memory.holds.iter().map(|class| match class {
        TensorClass::Weights => "weights",
        TensorClass::Activations => "activations",
        TensorClass::Inputs => "inputs",
        TensorClass::Results => "results",
    });
    let holds = holds.collect::<Vec<_>>().join(" and ");
    let mut parts = vec![
        Some(value(&memory.capacity)),
        memory.usable.as_ref().map(|usable| format!("{} for networks", value(usable))),
        Some(if holds.is_empty() { "stages only".to_owned() } else { format!("holds {holds}") }),
        Some(bandwidth(&memory.bandwidth)),
        memory.latency.as_ref().map(|time| format!("latency {}", delay(time))),
    ];
    parts.extend(energies(memory.read_energy.as_ref(), memory.write_energy.as_ref()));
    parts.push(memory.background.as_ref().map(|power| format!("background {}", value(power))));
    parts.push(memory.staged_through.as_ref().map(|buffer| format!("staged through {buffer}")));
    let states = memory.states.iter().map(|s| format!("{} {}", s.name, value(&s.power)));
    let states = states.collect::<Vec<_>>().join(", ");
    parts.push((!states.is_empty()).then(|| format!("rests in {states}")));
    named("memory", &memory.name, parts)
}

fn of_cache(cache: &Cache) -> String {
    let mut parts = vec![
        Some(value(&cache.capacity)),
        Some(format!("lines of {}", value(&cache.line))),
        Some(bandwidth(&cache.bandwidth)),
    ];
    parts.extend(energies(cache.read_energy.as_ref(), cache.write_energy.as_ref()));
    let between = format!("between {} and {}", cache.engines.join(", "), cache.backs.join(", "));
    parts.push(Some(between));
    named("cache", &cache.name, parts)
}

fn of_link(link: &Link) -> String {
    let parts = [
        Some(format!("joins {} and {}", link.joins.0, link.joins.1)),
        Some(bandwidth(&link.bandwidth)),
        link.latency.as_ref().map(|time| format!("latency {}", delay(time))),
        link.energy.as_ref().map(value),
    ];
    named("link", &link.name, parts)
}

fn of_load(load: &StateLoad) -> String {
    let initial = load.initial.as_ref().or(load.states.first().map(|s| &s.name));
    let states = load.states.iter().map(|state| {
        let leakage = state.leakage.as_ref().map(|leakage| match leakage {
            LoadLeakage::Constant(power) => format!(" + {} leakage", value(power)),
            LoadLeakage::Growing(law) => {
                format!(" + {} leakage at {}", value(&law.power), value(&law.temperature))
            }
        });
        let (dynamic, leakage) = (value(&state.dynamic), leakage.unwrap_or_default());
        let only = load.states.len() == 1 || initial != Some(&state.name);
        let first = if only { "" } else { " (initial)" };
        format!("{}{first} {dynamic}{leakage} at {}", state.name, value(&state.voltage))
    });
    let states = states.collect::<Vec<_>>().join("; ");
    let off_chip = if load.off_chip { " (off chip)" } else { "" };
    format!("load {}{off_chip}: {states}", load.name)
}

/// What a unit of an engine's work costs.
pub(super) fn work_energy(energy: &EngineEnergy) -> Vec<String> {
    let mut parts: Vec<String> = energy
        .per_mac
        .iter()
        .map(|(format, e)| whole(&format!("{format} {}/MAC", value(e))))
        .collect();
    parts.extend(energy.per_busy_cycle.as_ref().map(|c| format!("{} while busy", cost(c))));
    parts
}
