//! What must hold in a profile, checked together: every fault is reported, with its field path.

use super::Links;
use super::spec::{Array, ProfileSpec, RegulatorKind, SoftwareStack};
use crate::diagnostic::{Fault, nearest, resolve_sources, source_kinds};
use crate::model::OpKind;
use crate::units::Quantity;
use std::collections::BTreeSet;

/// Version of the profile format.
const SCHEMA: &str = "joulecast.profile/1";

/// Larger than any array built, and small enough that no product of sides overflows.
const LARGEST_ARRAY_SIDE: u64 = 1 << 20;

/// Resolves sources and names. The links are complete only when no fault is returned.
pub(super) fn check(spec: &mut ProfileSpec) -> (Links, Vec<Fault>) {
    let kinds = source_kinds(&spec.sources);
    let faults = resolve_sources(spec, &kinds);
    let mut checker = Checker { spec, faults, links: Links::default() };
    checker.basics();
    checker.names();
    checker.component_names();
    checker.domains();
    checker.memories();
    checker.engines();
    checker.software();
    checker.regulators();
    checker.operating_points();
    (checker.links, checker.faults)
}

struct Checker<'a> {
    spec: &'a ProfileSpec,
    faults: Vec<Fault>,
    links: Links,
}

impl Checker<'_> {
    fn fault(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.faults.push(Fault::at(path, message));
    }

    /// The index of `name` in `names`; a fault with the nearest name otherwise.
    fn resolve(&mut self, path: String, what: &str, name: &str, names: &[&str]) -> usize {
        if let Some(index) = names.iter().position(|n| *n == name) {
            return index;
        }
        let mut fault = Fault::at(path, format!("no {what} is called `{name}`"));
        fault.help = match nearest(name, names.iter().copied()) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None => Some(format!("this profile has {}", names.join(", "))),
        };
        self.faults.push(fault);
        0
    }

    /// A value that physics wants above zero. A literal that could not be read has been reported.
    fn positive<Q: Quantity>(&mut self, path: String, value: &crate::evidence::Valued<Q>) {
        let parameter = value.parameter();
        if parameter.fault.is_none() && (parameter.value <= 0.0 || parameter.value.is_nan()) {
            self.fault(path, format!("{} must be above zero", Q::with_article()));
        }
    }

    fn basics(&mut self) {
        if self.spec.schema != SCHEMA {
            self.fault("schema", format!("schema `{}` is not `{SCHEMA}`", self.spec.schema));
        }
        if self.spec.extends.is_none() && !self.spec.without.is_empty() {
            self.fault("without", "a file without `extends` has nothing to take out of");
        }
        for (path, empty) in [
            ("operating_points", self.spec.operating_points.is_empty()),
            ("rails", self.spec.rails.is_empty()),
            ("domains", self.spec.domains.is_empty()),
            ("memories", self.spec.memories.is_empty()),
            ("engines", self.spec.engines.is_empty()),
        ] {
            if empty {
                self.fault(path, format!("a profile needs at least one of {path}"));
            }
        }
    }

    fn names(&mut self) {
        let spec = self.spec;
        let lists: [(&str, Vec<&str>); 7] = [
            ("operating_points", spec.operating_points.iter().map(|x| x.name.as_str()).collect()),
            ("rails", spec.rails.iter().map(|x| x.name.as_str()).collect()),
            ("regulators", spec.regulators.iter().map(|x| x.name.as_str()).collect()),
            ("domains", spec.domains.iter().map(|x| x.name.as_str()).collect()),
            ("memories", spec.memories.iter().map(|x| x.name.as_str()).collect()),
            ("engines", spec.engines.iter().map(|x| x.name.as_str()).collect()),
            ("software", spec.software.iter().map(|x| x.name.as_str()).collect()),
        ];
        for (list, names) in lists {
            let mut seen = BTreeSet::new();
            for (i, name) in names.into_iter().enumerate() {
                if name.is_empty() || name.chars().any(char::is_control) {
                    let message = "a name is printable text";
                    self.fault(format!("{list}[{i}].name"), message);
                }
                if !seen.insert(name) {
                    self.fault(format!("{list}[{i}].name"), format!("`{name}` is there twice"));
                }
            }
        }
    }

    fn domains(&mut self) {
        let spec = self.spec;
        let rails: Vec<&str> = spec.rails.iter().map(|r| r.name.as_str()).collect();
        let clocks: BTreeSet<&str> = spec
            .operating_points
            .iter()
            .flat_map(|p| p.clocks.keys().map(String::as_str))
            .collect();
        let clocks: Vec<&str> = clocks.into_iter().collect();
        for (i, domain) in spec.domains.iter().enumerate() {
            let at = |field: &str| format!("domains[{i}].{field}");
            let rail = self.resolve(at("rail"), "rail", &domain.rail, &rails);
            self.links.domain_rail.push(rail);
            self.resolve(at("clock"), "clock of an operating point", &domain.clock, &clocks);
            self.positive(at("nominal_voltage"), &domain.nominal_voltage);
            for (j, state) in domain.states.iter().enumerate() {
                if domain.states[..j].iter().any(|earlier| earlier.name == state.name) {
                    let path = format!("domains[{i}].states[{j}].name");
                    self.fault(path, format!("`{}` is there twice", state.name));
                }
                let timed = state.wake_time.as_ref().is_some_and(|t| t.get().0 > 0.0);
                if state.wake_energy.is_some() && !timed {
                    let path = format!("domains[{i}].states[{j}].wake_energy");
                    self.fault(path, "energy of waking needs a wake_time to be spent in");
                }
            }
        }
    }

    fn memories(&mut self) {
        let spec = self.spec;
        let domains: Vec<&str> = spec.domains.iter().map(|d| d.name.as_str()).collect();
        let memories: Vec<&str> = spec.memories.iter().map(|m| m.name.as_str()).collect();
        for (i, memory) in spec.memories.iter().enumerate() {
            let at = |field: &str| format!("memories[{i}].{field}");
            let domain = self.resolve(at("domain"), "domain", &memory.domain, &domains);
            self.links.memory_domain.push(domain);
            let stage = memory
                .staged_through
                .as_ref()
                .map(|s| self.resolve(at("staged_through"), "memory", s, &memories));
            let chained = stage.and_then(|s| spec.memories.get(s));
            if chained.is_some_and(|buffer| buffer.staged_through.is_some()) {
                let message = "a buffer is not staged through another: one level of staging";
                self.fault(at("staged_through"), message);
            }
            let full = chained.is_some_and(|buffer| !buffer.holds.is_empty());
            if full {
                let message = "a buffer that stages other memories holds nothing itself";
                self.fault(at("staged_through"), message);
            }
            self.links.memory_stage.push(stage);
            self.positive(at("capacity"), &memory.capacity);
            match &memory.bandwidth {
                super::Bandwidth::PerSecond(v) => self.positive(at("bandwidth.PerSecond"), v),
                super::Bandwidth::PerCycle(v) => self.positive(at("bandwidth.PerCycle"), v),
            }
            let reached = spec.engines.iter().any(|e| e.memories.contains(&memory.name));
            if !reached {
                let message = format!("no engine works from memory `{}`", memory.name);
                self.fault(at("name"), message);
            }
        }
    }

    fn engines(&mut self) {
        let spec = self.spec;
        let domains: Vec<&str> = spec.domains.iter().map(|d| d.name.as_str()).collect();
        let memories: Vec<&str> = spec.memories.iter().map(|m| m.name.as_str()).collect();
        for (i, engine) in spec.engines.iter().enumerate() {
            let at = |field: &str| format!("engines[{i}].{field}");
            let domain = self.resolve(at("domain"), "domain", &engine.domain, &domains);
            self.links.engine_domain.push(domain);
            let reached = engine.memories.iter().enumerate().map(|(j, name)| {
                let path = format!("engines[{i}].memories[{j}]");
                self.resolve(path, "memory", name, &memories)
            });
            let reached: Vec<usize> = reached.collect();
            self.links.engine_memories.push(reached);
            if engine.supports.is_empty() {
                self.fault(at("supports"), "an engine runs at least one kind of operator");
            }
            if engine.supports.contains(&OpKind::Opaque) {
                let message = "an operator that is not understood has no cost on any engine";
                self.fault(at("supports"), message);
            }
            if engine.memories.is_empty() {
                self.fault(at("memories"), "an engine works from at least one memory");
            }
            if engine.energy.per_mac.is_empty() && engine.energy.per_busy_cycle.is_none() {
                let message = "an engine costs energy: give per_mac or per_busy_cycle";
                self.fault(at("energy"), message);
            }
            match &engine.array {
                Array::Lanes { macs } => {
                    if macs.is_empty() {
                        let message = "a processor has a peak rate in at least one number format";
                        self.fault(at("array.Lanes.macs"), message);
                    }
                    for (precision, rate) in macs {
                        self.positive(at(&format!("array.Lanes.macs.{precision}")), rate);
                    }
                }
                Array::Systolic(s) => {
                    for (field, value) in [("rows", s.rows), ("columns", s.columns)] {
                        if value == 0 || value > LARGEST_ARRAY_SIDE {
                            let path = at(&format!("array.Systolic.{field}"));
                            let message = format!("an array has 1 to {LARGEST_ARRAY_SIDE} {field}");
                            self.fault(path, message);
                        }
                    }
                }
            }
        }
    }

    fn software(&mut self) {
        let spec = self.spec;
        let engines: Vec<&str> = spec.engines.iter().map(|e| e.name.as_str()).collect();
        for (i, stack) in spec.software.iter().enumerate() {
            let path = format!("software[{i}].engine");
            let engine = self.resolve(path, "engine", &stack.engine, &engines);
            self.links.stack_engine.push(engine);
            let mut driven = spec.engines.iter().filter(|e| e.name == stack.engine);
            if driven.any(|e| matches!(e.array, Array::Systolic(_))) {
                self.no_rates(i, stack);
            }
            for (kind, rate) in &stack.cycles_per_mac {
                self.positive(format!("software[{i}].cycles_per_mac.{kind}"), rate);
            }
        }
    }

    /// An array's cycles follow from its shape.
    fn no_rates(&mut self, i: usize, stack: &SoftwareStack) {
        for (field, rates) in [
            ("cycles_per_mac", stack.cycles_per_mac.len()),
            ("cycles_per_output", stack.cycles_per_output.len()),
            ("cycles_per_operation", stack.cycles_per_operation.len()),
        ] {
            if rates > 0 {
                let message = format!(
                    "`{}` is an array, whose cycles follow from its shape: software only adds dispatch",
                    stack.engine
                );
                self.faults.push(Fault::at(format!("software[{i}].{field}"), message));
            }
        }
    }

    fn regulators(&mut self) {
        let spec = self.spec;
        let rails: Vec<&str> = spec.rails.iter().map(|r| r.name.as_str()).collect();
        let points: Vec<&str> = spec.operating_points.iter().map(|p| p.name.as_str()).collect();
        for (i, regulator) in spec.regulators.iter().enumerate() {
            let at = |field: &str| format!("regulators[{i}].{field}");
            let input = self.resolve(at("input"), "rail", &regulator.input, &rails);
            let output = self.resolve(at("output"), "rail", &regulator.output, &rails);
            self.links.regulator_rails.push((input, output));
            for (j, point) in regulator.operating_points.iter().enumerate() {
                let path = format!("regulators[{i}].operating_points[{j}]");
                self.resolve(path, "operating point", point, &points);
            }
            if let RegulatorKind::Switching { efficiency, .. } = &regulator.kind {
                let value = efficiency.get().0;
                if efficiency.parameter().fault.is_none() && !(value > 0.0 && value <= 1.0) {
                    let path = at("kind.Switching.efficiency");
                    self.fault(path, "an efficiency lies above 0 and at most at 100 %");
                }
            }
        }
    }

    /// Follows each regulator in use at a point to its source; a rail that feeds itself is a fault.
    fn rail_loops(&mut self, in_use: &[usize], point: &str) {
        for &index in in_use {
            let (input, output) = self.links.regulator_rails[index];
            let mut rail = input;
            for _ in 0..=in_use.len() {
                if rail == output {
                    let name = self.spec.rails.get(output).map_or("", |r| r.name.as_str());
                    let message = format!("at `{point}` rail `{name}` feeds itself through this");
                    self.faults.push(Fault::at(format!("regulators[{index}].input"), message));
                    break;
                }
                let feeds = |i: &&usize| self.links.regulator_rails[**i].1 == rail;
                match in_use.iter().find(feeds) {
                    Some(i) => rail = self.links.regulator_rails[*i].0,
                    None => break,
                }
            }
        }
    }

    /// A trace and a ledger know components by name.
    fn component_names(&mut self) {
        let spec = self.spec;
        // What all of them together are called.
        let mut seen = BTreeSet::from(["total".to_owned()]);
        let named =
            spec.engines
                .iter()
                .enumerate()
                .map(|(i, e)| (format!("engines[{i}].name"), e.name.clone()))
                .chain(
                    spec.memories
                        .iter()
                        .enumerate()
                        .map(|(i, m)| (format!("memories[{i}].name"), m.name.clone())),
                )
                .chain(spec.domains.iter().enumerate().flat_map(|(i, d)| {
                    ["clock", "leakage", "rest"]
                        .map(|part| (format!("domains[{i}].name"), format!("{}_{part}", d.name)))
                }))
                .chain(
                    spec.regulators.iter().enumerate().map(|(i, r)| {
                        (format!("regulators[{i}].name"), format!("{}_loss", r.name))
                    }),
                );
        for (path, name) in named {
            if !seen.insert(name.clone()) {
                let message = format!("two things would be called `{name}` in a trace");
                self.faults.push(Fault::at(path, message));
            }
        }
    }

    fn operating_points(&mut self) {
        let spec = self.spec;
        let rails: Vec<&str> = spec.rails.iter().map(|r| r.name.as_str()).collect();
        for (i, point) in spec.operating_points.iter().enumerate() {
            let at = |field: &str| format!("operating_points[{i}].{field}");
            for (clock, frequency) in &point.clocks {
                self.positive(at(&format!("clocks.{clock}")), frequency);
            }
            for (rail, voltage) in &point.voltages {
                self.resolve(at(&format!("voltages.{rail}")), "rail", rail, &rails);
                self.positive(at(&format!("voltages.{rail}")), voltage);
            }
            for rail in &rails {
                if !point.voltages.contains_key(*rail) {
                    self.fault(at("voltages"), format!("rail `{rail}` has no voltage here"));
                }
            }
            for domain in &spec.domains {
                if !point.clocks.contains_key(&domain.clock) {
                    let message = format!("clock `{}` has no frequency here", domain.clock);
                    self.fault(at("clocks"), message);
                }
            }
            self.feeds(i);
        }
    }

    /// At each point a rail has one feed, the same rails are fed, and a linear regulator has headroom.
    fn feeds(&mut self, i: usize) {
        let spec = self.spec;
        let Some(point) = spec.operating_points.get(i) else { return };
        let in_use: Vec<usize> = (0..spec.regulators.len())
            .filter(|j| spec.regulators[*j].in_use_at(&point.name))
            .collect();
        self.rail_loops(&in_use, &point.name);
        let mut fed = BTreeSet::new();
        for &j in &in_use {
            let regulator = &spec.regulators[j];
            if !fed.insert(regulator.output.as_str()) {
                let message = format!(
                    "rail `{}` has two regulators at operating point `{}`",
                    regulator.output, point.name
                );
                self.fault(format!("regulators[{j}].output"), message);
            }
            self.headroom(i, j);
        }
        for (j, regulator) in spec.regulators.iter().enumerate() {
            if fed.insert(regulator.output.as_str()) {
                let message = format!(
                    "rail `{}` has no regulator at operating point `{}`",
                    regulator.output, point.name
                );
                self.fault(format!("regulators[{j}].operating_points"), message);
            }
        }
    }

    fn headroom(&mut self, i: usize, j: usize) {
        let spec = self.spec;
        let (point, regulator) = (&spec.operating_points[i], &spec.regulators[j]);
        let voltage = |rail: &String| point.voltages.get(rail).map(|v| v.get().0);
        if let (RegulatorKind::Ldo { .. }, Some(input), Some(output)) =
            (&regulator.kind, voltage(&regulator.input), voltage(&regulator.output))
            && input < output
        {
            let message = format!(
                "linear regulator `{}` cannot make {output} V out of {input} V at `{}`",
                regulator.name, point.name
            );
            self.fault(format!("operating_points[{i}].voltages.{}", regulator.output), message);
        }
    }
}
