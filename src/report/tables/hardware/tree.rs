//! The tree of a profile: supplies, rails, regulators, domains and what is in them.

use super::drawing::{Branch, drawn, whole};
use crate::evidence::{Parameter, Valued};
use crate::hardware::{
    Bandwidth, BuckFit, Cache, Delay, DomainNode, DomainState, EngineEnergy, Feed, Link,
    LoadLeakage, Memory, PerCycle, Profile, RailNode, Regulator, RegulatorKind, StateLoad, Supply,
    TensorClass, rail_tree,
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
        let voltages = spec.operating_points.iter().filter_map(|p| spec.rail_voltage(p, name));
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
        parts.extend(domain.ir_drop.as_ref().map(|r| format!("grid {}", value(r))));
        let asks = spec.operating_points.iter();
        let asks = asks.filter_map(|p| p.domain_voltages.get(&domain.name)).map(|v| v.parameter());
        let asks = range(asks);
        parts.extend((!asks.is_empty()).then(|| format!("asks {asks}")));
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
    let curve = match supply.open_circuit.as_slice() {
        [] => None,
        [only] => Some(format!("{} without load", value(&only.voltage))),
        [first, .., last] => {
            Some(format!("{} to {} without load", value(&first.voltage), value(&last.voltage)))
        }
    };
    let storage = supply.storage.as_ref().map(|storage| {
        let leakage = storage.leakage.as_ref();
        let leakage = leakage.map_or(String::new(), |r| format!(", leaking through {}", value(r)));
        let (from, to) = (value(&storage.minimum), value(&storage.maximum));
        format!("storage of {} from {from} to {to}{leakage}", value(&storage.capacitance))
    });
    let parts = [
        supply.capacity.as_ref().map(value),
        storage,
        curve,
        supply.charge.as_ref().map(|share| format!("{} charged", value(share))),
        supply.resistance.as_ref().map(value),
        supply.is_followed().then(|| "its rail sags with it".to_owned()),
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

/// A regulator by the parts of its conversion, under full load and in its lighter modes.
fn of_regulator(regulator: &Regulator) -> String {
    let mut parts = of_kind(&regulator.kind);
    parts.push(regulator.max_current.as_ref().map(|most| format!("at most {}", value(most))));
    parts.push(regulator.off_chip.then(|| "off chip".to_owned()));
    let mut text = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    for mode in &regulator.modes {
        let parts = of_kind(&mode.kind).into_iter().flatten().collect::<Vec<_>>().join(", ");
        let below = value(&mode.enter_below);
        let leave = mode.leave_above.as_ref();
        let above = leave.map_or(String::new(), |load| format!(" until above {}", value(load)));
        let wake = mode.wake_time.as_ref();
        let wake = wake.map_or(String::new(), |time| format!(" (wakes in {})", value(time)));
        text.push_str(&format!("; {} below {below}{above}{wake}: {parts}", mode.name));
    }
    let points = match regulator.operating_points.as_slice() {
        [] => String::new(),
        points => format!("; in use at {}", points.join(", ")),
    };
    format!("{}: {text}{points}", regulator.name)
}

fn of_kind(kind: &RegulatorKind) -> Vec<Option<String>> {
    match kind {
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
                let input = point.input.as_ref();
                let input = input.map_or(String::new(), |v| format!(" from {}", value(v)));
                Some(format!("{} at {}{input}", value(&point.efficiency), value(&point.load)))
            });
            std::iter::once(Some("switching".to_owned())).chain(points).collect()
        }
        RegulatorKind::BuckFit(points) => of_fit(points),
        RegulatorKind::LoadSwitch(switch) => vec![
            Some(format!("load switch of {}", value(&switch.resistance))),
            switch.quiescent.as_ref().map(|i| format!("quiescent {}", value(i))),
        ],
    }
}

/// What a fit found, and how far it is off.
fn of_fit(points: &BuckFit) -> Vec<Option<String>> {
    let mut parts = vec![Some(format!("switching, fitted to {} points", points.points.len()))];
    let Ok(fit) = points.fitted() else { return parts };
    let law = fit.law;
    parts.push(Some(format!("quiescent {}", law.quiescent)));
    parts.push(Some(format!("{} of switching", law.switching)));
    parts.push(law.knee.map(|load| format!("skips pulses below {load}")));
    parts.push(Some(format!("drop {}", law.proportional)));
    parts.push(Some(law.resistance.to_string()));
    let worst = fit.worst().map(|(_, error)| format!("off by {:.1} points", 100.0 * error.abs()));
    parts.push(worst);
    parts
}

pub(super) fn cost(cost: &PerCycle) -> String {
    match cost {
        PerCycle::Energy(energy) => value(energy),
        PerCycle::Charge(charge) => value(charge),
    }
}

fn of_state(state: &DomainState) -> String {
    let voltage = state.voltage.as_ref().map(|voltage| format!("at {}", value(voltage)));
    let wakes = state.wake_time.as_ref().map(|time| format!("wakes in {}", value(time)));
    let enters = state.entry_time.as_ref().map(|time| format!("enters in {}", value(time)));
    let loses = (!state.loses.is_empty()).then(|| format!("loses {}", state.loses.join(", ")));
    let parts: Vec<String> = voltage.into_iter().chain(enters).chain(wakes).chain(loses).collect();
    if parts.is_empty() {
        return state.name.clone();
    }
    format!("{} ({})", state.name, parts.join(", "))
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
