//! The place of a number as people say it: `domains.core.clock_tree` for `domains[0].clock_tree`.

use super::spec::{ProfileSpec, ThermalNetwork};

impl ProfileSpec {
    /// A field path with the names of list items in the place of their numbers, as `without` takes them.
    /// Items without a name keep their number.
    pub fn named_path(&self, path: &str) -> String {
        let mut named = String::with_capacity(path.len());
        let mut plain = String::new();
        for (i, part) in path.split('.').enumerate() {
            if i > 0 {
                named.push('.');
                plain.push('.');
            }
            let (field, numbers) = part.split_once('[').unwrap_or((part, ""));
            named.push_str(field);
            plain.push_str(field);
            for number in numbers.split_terminator(']').map(|n| n.trim_start_matches('[')) {
                let name = number.parse().ok().and_then(|index| self.item(&plain, index));
                match name {
                    Some(name) => {
                        named.push('.');
                        named.push_str(name);
                    }
                    None => named.extend(["[", number, "]"]),
                }
                plain.extend(["[", number, "]"]);
            }
        }
        named
    }

    /// The name of item number `index` of the list at a path.
    fn item(&self, list: &str, index: usize) -> Option<&str> {
        let within = |head: &str, tail: &str| {
            let inside = list.strip_prefix(head)?.strip_suffix(tail)?;
            inside.strip_prefix('[')?.strip_suffix(']')?.parse::<usize>().ok()
        };
        if let Some(domain) = within("domains", ".states") {
            return Some(&self.domains.get(domain)?.states.get(index)?.name);
        }
        if let Some(memory) = within("memories", ".states") {
            return Some(&self.memories.get(memory)?.states.get(index)?.name);
        }
        if let Some(load) = within("loads", ".states") {
            return Some(&self.loads.get(load)?.states.get(index)?.name);
        }
        let name = match list {
            "corners" => &self.corners.get(index)?.name,
            "operating_points" => &self.operating_points.get(index)?.name,
            "rails" => &self.rails.get(index)?.name,
            "regulators" => &self.regulators.get(index)?.name,
            "supplies" => &self.supplies.get(index)?.name,
            "domains" => &self.domains.get(index)?.name,
            "memories" => &self.memories.get(index)?.name,
            "caches" => &self.caches.get(index)?.name,
            "links" => &self.links.get(index)?.name,
            "engines" => &self.engines.get(index)?.name,
            "loads" => &self.loads.get(index)?.name,
            "software" => &self.software.get(index)?.name,
            "package.network.Cauer" => match &self.package.as_ref()?.network {
                ThermalNetwork::Cauer(nodes) => &nodes.get(index)?.name,
                _ => return None,
            },
            "package.network.Nodes.nodes" => match &self.package.as_ref()?.network {
                ThermalNetwork::Nodes(network) => &network.nodes.get(index)?.name,
                _ => return None,
            },
            "package.sensors" => &self.package.as_ref()?.sensors.get(index)?.name,
            _ => return None,
        };
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use crate::hardware::Profile;

    #[test]
    fn every_item_that_has_a_name_is_called_by_it() {
        let profile = Profile::load("edge_soc_example").unwrap();
        let named = |path: &str| profile.spec().named_path(path);
        assert_eq!(named("domains[0].clock_tree.Energy"), "domains.cpu.clock_tree.Energy");
        assert_eq!(named("loads[1].states[2].dynamic"), "loads.display.states.off.dynamic");
        assert_eq!(
            named("regulators[3].kind.Table.points[1].load"),
            "regulators.buck_gpu.kind.Table.points[1].load"
        );
        assert_eq!(
            named("package.network.Cauer[0].capacity"),
            "package.network.Cauer.die.capacity"
        );
        assert_eq!(named("temperature"), "temperature");
        assert_eq!(named("domains[99].x"), "domains[99].x");
        let records = profile.parameters();
        let unnamed = records.iter().filter(|r| r.name.contains('['));
        let lists = ["Table.points[", "WaitStates.ranges[", ".skips["];
        assert!(unnamed.clone().count() > 10);
        for record in unnamed {
            assert!(lists.iter().any(|list| record.name.contains(list)), "{}", record.name);
        }
        let mut names: Vec<_> = records.iter().map(|r| &r.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), records.len(), "no two have one name");
    }
}
