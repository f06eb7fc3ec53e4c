//! Names are there once, and tell components of a trace apart.

use super::{Checker, names};
use crate::diagnostic::Fault;
use std::collections::BTreeSet;

impl Checker<'_> {
    pub(super) fn names(&mut self) {
        let spec = self.spec;
        let lists: [(&str, Vec<&str>); 12] = [
            ("corners", names!(spec.corners)),
            ("operating_points", names!(spec.operating_points)),
            ("rails", names!(spec.rails)),
            ("regulators", names!(spec.regulators)),
            ("supplies", names!(spec.supplies)),
            ("domains", names!(spec.domains)),
            ("memories", names!(spec.memories)),
            ("caches", names!(spec.caches)),
            ("links", names!(spec.links)),
            ("engines", names!(spec.engines)),
            ("loads", names!(spec.loads)),
            ("software", names!(spec.software)),
        ];
        for (list, names) in lists {
            self.once(list, &names);
        }
        for (i, domain) in spec.domains.iter().enumerate() {
            self.once(&format!("domains[{i}].states"), &names!(domain.states));
        }
        for (i, regulator) in spec.regulators.iter().enumerate() {
            self.once(&format!("regulators[{i}].modes"), &names!(regulator.modes));
        }
        for (i, memory) in spec.memories.iter().enumerate() {
            self.once(&format!("memories[{i}].states"), &names!(memory.states));
        }
        for (i, load) in spec.loads.iter().enumerate() {
            self.once(&format!("loads[{i}].states"), &names!(load.states));
        }
    }

    pub(super) fn once(&mut self, list: &str, names: &[&str]) {
        let mut seen = BTreeSet::new();
        for (i, name) in names.iter().enumerate() {
            let path = format!("{list}[{i}].name");
            if name.is_empty() || name.chars().any(char::is_control) {
                self.fault(path.clone(), "a name is printable text");
            }
            if !seen.insert(*name) {
                self.fault(path, format!("`{name}` is there twice"));
            }
        }
    }

    /// A trace and a ledger know components by name.
    pub(super) fn component_names(&mut self) {
        let spec = self.spec;
        // What all of them together are called.
        let mut seen = BTreeSet::from(["total".to_owned()]);
        let mut named: Vec<(String, String)> = Vec::new();
        for (list, names) in [
            ("engines", names!(spec.engines)),
            ("memories", names!(spec.memories)),
            ("caches", names!(spec.caches)),
            ("links", names!(spec.links)),
            ("loads", names!(spec.loads)),
        ] {
            // What is there twice has been reported as that.
            let plain = names.iter().enumerate().filter(|(i, n)| !names[..*i].contains(n));
            named.extend(plain.map(|(i, n)| (format!("{list}[{i}].name"), (*n).to_owned())));
        }
        let once = spec.domains.iter().enumerate();
        let earlier = |i: usize, name: &str| spec.domains[..i].iter().any(|d| d.name == name);
        for (i, domain) in once.filter(|(i, d)| !earlier(*i, &d.name)) {
            let parts = ["clock", "leakage", "rest"];
            let part = |p| (format!("domains[{i}].name"), format!("{}_{p}", domain.name));
            named.extend(parts.map(part));
            named.extend(domain.ir_drop.iter().map(|_| part("grid")));
        }
        let earlier = |i: usize, name: &str| spec.regulators[..i].iter().any(|r| r.name == name);
        for (i, regulator) in spec.regulators.iter().enumerate() {
            if earlier(i, &regulator.name) {
                continue;
            }
            named.push((format!("regulators[{i}].name"), format!("{}_loss", regulator.name)));
        }
        for (path, name) in named {
            if !seen.insert(name.clone()) {
                let message = format!("two things would be called `{name}` in a trace");
                self.faults.push(Fault::at(path, message));
            }
        }
    }
}
