//! Operating points: everything has its clock and voltage, and every rail one feed.

use super::{Checker, names};
use crate::hardware::out_of_reach::out_of_reach;
use crate::hardware::spec::{Engine, Memory, ProfileSpec};
use std::collections::BTreeSet;

impl Checker<'_> {
    pub(super) fn operating_points(&mut self) {
        let spec = self.spec;
        let rails = names!(spec.rails);
        for (i, point) in spec.operating_points.iter().enumerate() {
            let at = |field: &str| format!("operating_points[{i}].{field}");
            for (clock, frequency) in &point.clocks {
                self.positive(at(&format!("clocks.{clock}")), frequency);
            }
            for (rail, voltage) in &point.voltages {
                // What several points call so is told at the first.
                if !spec.operating_points[..i].iter().any(|p| p.voltages.contains_key(rail)) {
                    self.resolve(at(&format!("voltages.{rail}")), "rail", rail, &rails);
                }
                self.positive(at(&format!("voltages.{rail}")), voltage);
            }
            for (domain, voltage) in &point.domain_voltages {
                let path = format!("operating_points[{i}].domain_voltages.{domain}");
                self.resolve(path.clone(), "domain", domain, &names!(spec.domains));
                self.positive(path, voltage);
            }
            self.choices(i);
            self.sleepers(i);
            self.feeds(i);
        }
        self.stand_at_points();
        self.reach();
        self.rising_voltages();
    }

    /// Set points of memories and states of loads that a point names.
    fn choices(&mut self, i: usize) {
        let spec = self.spec;
        let Some(point) = spec.operating_points.get(i) else { return };
        for (memory, wanted) in &point.set_points {
            let path = format!("operating_points[{i}].set_points.{memory}");
            match spec.memories.iter().find(|m| m.name == *memory) {
                Some(found) => {
                    let known: Vec<&str> = found.set_points.keys().map(String::as_str).collect();
                    self.resolve(path, "set point of this memory", wanted, &known);
                }
                None => {
                    self.resolve(path, "memory", memory, &names!(spec.memories));
                }
            }
        }
        for (load, wanted) in &point.loads {
            let path = format!("operating_points[{i}].loads.{load}");
            match spec.loads.iter().find(|l| l.name == *load) {
                Some(found) => {
                    self.resolve(path, "state of this load", wanted, &names!(found.states));
                }
                None => {
                    self.resolve(path, "state load", load, &names!(spec.loads));
                }
            }
        }
    }

    /// Domains that stay asleep have the state, and what is awake needs nothing in them.
    fn sleepers(&mut self, i: usize) {
        let spec = self.spec;
        let Some(point) = spec.operating_points.get(i) else { return };
        for (domain, wanted) in &point.asleep {
            let path = format!("operating_points[{i}].asleep.{domain}");
            match spec.domains.iter().find(|d| d.name == *domain) {
                Some(found) => {
                    self.resolve(path, "state of this domain", wanted, &names!(found.states));
                }
                None => {
                    self.resolve(path, "domain", domain, &names!(spec.domains));
                }
            }
        }
        let asleep = |domain: &str| point.asleep.contains_key(domain);
        let awake: Vec<_> = spec.engines.iter().filter(|e| !asleep(&e.domain)).collect();
        if awake.is_empty() && !point.asleep.is_empty() {
            self.fault(format!("operating_points[{i}].asleep"), "no engine is awake here");
        }
        for engine in awake {
            for (domain, what) in needed(spec, engine).filter(|(domain, _)| asleep(domain)) {
                let path = format!("operating_points[{i}].asleep.{domain}");
                let message = format!("engine `{}` is awake and works {what}", engine.name);
                self.fault(path, message);
            }
        }
    }

    /// Operating points keep to what rails, wait states and regulators allow.
    fn reach(&mut self) {
        let spec = self.spec;
        for (i, point) in spec.operating_points.iter().enumerate() {
            for (field, what) in out_of_reach(spec, point) {
                self.fault(format!("operating_points[{i}].{field}"), what.to_string());
            }
        }
    }

    /// At each point a rail has one feed, and the same rails are fed.
    fn feeds(&mut self, i: usize) {
        let spec = self.spec;
        let Some(point) = spec.operating_points.get(i) else { return };
        let in_use: Vec<usize> = (0..spec.regulators.len())
            .filter(|j| spec.regulators[*j].in_use_at(&point.name))
            .collect();
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
}

/// Domains that an engine needs beside its own, and what for: those of its memories, and of the caches and
/// links on the way to them.
fn needed<'a>(
    spec: &'a ProfileSpec,
    engine: &'a Engine,
) -> impl Iterator<Item = (&'a str, String)> + 'a {
    let works_from = |name: &String| engine.memories.contains(name);
    let memories = spec.memories.iter().filter(move |m| works_from(&m.name));
    let memories = memories.map(|m| (m.domain.as_str(), format!("from memory `{}`", m.name)));
    let direct = move |name: &String| {
        let staged = |m: &Memory| m.staged_through.as_ref().is_some_and(works_from);
        works_from(name) && !spec.memories.iter().any(|m| m.name == *name && staged(m))
    };
    let caches = spec.caches.iter();
    let caches = caches
        .filter(move |c| c.engines.contains(&engine.name) && c.backs.iter().any(direct))
        .map(|c| (c.domain.as_str(), format!("through cache `{}`", c.name)));
    let links = spec.links.iter();
    let links = links
        .filter(move |l| works_from(&l.joins.0) && works_from(&l.joins.1))
        .map(|l| (l.domain.as_str(), format!("through link `{}`", l.name)));
    memories.chain(caches).chain(links)
}
