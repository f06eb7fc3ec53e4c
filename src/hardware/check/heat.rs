//! The thermal network.

use super::{Checker, names};
use crate::diagnostic::Fault;
use crate::hardware::spec::{BlockResponses, NodeNetwork, Package, ThermalNetwork};
use std::collections::BTreeSet;

impl Checker<'_> {
    pub(super) fn package(&mut self) {
        let Some(package) = &self.spec.package else { return };
        let before = self.faults.len();
        let empty = match &package.network {
            ThermalNetwork::Cauer(nodes) => {
                self.once_named(&names!(nodes));
                for (i, node) in nodes.iter().enumerate() {
                    let at = |field: &str| format!("package.network.Cauer[{i}].{field}");
                    self.positive(at("capacity"), &node.capacity);
                    self.positive(at("resistance"), &node.resistance);
                }
                nodes.is_empty()
            }
            ThermalNetwork::Foster(terms) => {
                for (i, term) in terms.iter().enumerate() {
                    let at = |field: &str| format!("package.network.Foster[{i}].{field}");
                    self.positive(at("time_constant"), &term.time_constant);
                    self.positive(at("resistance"), &term.resistance);
                }
                terms.is_empty()
            }
            ThermalNetwork::Nodes(network) => {
                self.node_network(network);
                network.nodes.is_empty()
            }
            ThermalNetwork::Responses(responses) => {
                self.responses(responses);
                responses.blocks.is_empty() || responses.terms.is_empty()
            }
        };
        if empty {
            self.fault("package.network", "heat needs at least one way to the air");
        }
        if self.faults.len() == before {
            self.solvable(package);
        }
        self.heated(package);
        self.heat_control(package);
    }

    fn once_named(&mut self, names: &[&str]) {
        for (i, name) in names.iter().enumerate() {
            if names[..i].contains(name) {
                let path = format!("package.network.Cauer[{i}].name");
                self.fault(path, format!("`{name}` is there twice"));
            }
        }
    }

    fn node_network(&mut self, network: &NodeNetwork) {
        let names = names!(network.nodes);
        self.once("package.network.Nodes.nodes", &names);
        for (i, node) in network.nodes.iter().enumerate() {
            let at = |field: &str| format!("package.network.Nodes.nodes[{i}].{field}");
            self.positive(at("capacity"), &node.capacity);
            if let Some(resistance) = &node.to_air {
                self.positive(at("to_air"), resistance);
            }
        }
        let mut joined = Vec::new();
        for (i, join) in network.joins.iter().enumerate() {
            let at = |field: &str| format!("package.network.Nodes.joins[{i}].{field}");
            self.positive(at("resistance"), &join.resistance);
            let one = self.find(at("between[0]"), "node", &join.between.0, &names);
            let other = self.find(at("between[1]"), "node", &join.between.1, &names);
            if one.is_some() && one == other {
                let message = format!("heat does not go from `{}` to itself", join.between.0);
                self.fault(at("between"), message);
            }
            match one.zip(other) {
                Some(ends) => joined.push(ends),
                // Whom it was meant to join is not known: nothing is said of who is left alone.
                None => return,
            }
        }
        self.floating(network, &joined);
    }

    /// Every node has a way to the air.
    fn floating(&mut self, network: &NodeNetwork, joined: &[(usize, usize)]) {
        let cooled = network.nodes.iter().enumerate().filter(|(_, node)| node.to_air.is_some());
        let mut cooled: BTreeSet<usize> = cooled.map(|(i, _)| i).collect();
        // Each round brings the air a join nearer.
        for _ in &network.nodes {
            for (one, other) in joined {
                if cooled.contains(one) || cooled.contains(other) {
                    cooled.extend([*one, *other]);
                }
            }
        }
        for (i, node) in network.nodes.iter().enumerate().filter(|(i, _)| !cooled.contains(i)) {
            let message = format!("heat has no way from `{}` to the air", node.name);
            let help = "give it `to_air`, or join it to a node from which there is one";
            let path = format!("package.network.Nodes.nodes[{i}].name");
            self.faults.push(Fault::at(path, message).with_help(help));
        }
    }

    fn responses(&mut self, responses: &BlockResponses) {
        let count = responses.blocks.len();
        let mut seen = BTreeSet::new();
        for (i, block) in responses.blocks.iter().enumerate() {
            if !seen.insert(block) {
                let path = format!("package.network.Responses.blocks[{i}]");
                self.fault(path, format!("`{block}` is there twice"));
            }
        }
        for (k, term) in responses.terms.iter().enumerate() {
            let at = |field: &str| format!("package.network.Responses.terms[{k}].{field}");
            self.positive(at("time_constant"), &term.time_constant);
            let triangle = term.resistances.len() == count
                && term.resistances.iter().enumerate().all(|(i, row)| row.len() == i + 1);
            if !triangle {
                let message = format!(
                    "a row for each of the {count} blocks, the first with one resistance, each further one with one more"
                );
                self.fault(at("resistances"), message);
                continue;
            }
            for (i, row) in term.resistances.iter().enumerate() {
                if let Some(own) = row.last() {
                    self.positive(at(&format!("resistances[{i}][{i}]")), own);
                }
            }
        }
    }

    /// Sound parts may make no network together.
    fn solvable(&mut self, package: &Package) {
        let told =
            matches!(package.network, ThermalNetwork::Nodes(_) | ThermalNetwork::Responses(_));
        let unread = self.faults.iter().any(|fault| fault.path.starts_with("package.network"));
        if !told || unread {
            return;
        }
        if let Err(error) = package.modes() {
            self.fault("package.network", error.to_string());
        }
    }

    /// The node of each domain, engine, load and regulator.
    fn heated(&mut self, package: &Package) {
        let spec = self.spec;
        let nodes = package.node_names();
        let lists = [
            names!(spec.domains),
            names!(spec.engines),
            names!(spec.loads),
            names!(spec.regulators),
        ];
        let all: Vec<&str> = lists.iter().flatten().copied().collect();
        let mut node_of = std::collections::BTreeMap::new();
        for (name, node) in &package.heats {
            let path = format!("package.heats.{name}");
            let what = "domain, engine, load or regulator";
            self.find(path.clone(), what, name, &all);
            if let Some(node) = self.find(path, "node", node, &nodes) {
                node_of.insert(name.as_str(), node);
            }
        }
        let named = |name: &str| node_of.get(name).copied();
        let of = |names: &[&str]| names.iter().map(|n| named(n).unwrap_or(0)).collect::<Vec<_>>();
        let heat = &mut self.links.heat;
        heat.domain_node = of(&lists[0]);
        heat.load_node = of(&lists[2]);
        heat.regulator_node = of(&lists[3]);
        let domains = &self.links.engine_domain;
        let of_domain = |engine: usize| {
            domains.get(engine).and_then(|domain| heat.domain_node.get(*domain)).copied()
        };
        let engine = |(i, name): (usize, &&str)| named(name).or_else(|| of_domain(i)).unwrap_or(0);
        heat.engine_node = lists[1].iter().enumerate().map(engine).collect();
    }
}
