//! The thermal network.

use super::{Checker, names};
use crate::hardware::spec::ThermalNetwork;

impl Checker<'_> {
    pub(super) fn package(&mut self) {
        let Some(package) = &self.spec.package else { return };
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
        };
        if empty {
            self.fault("package.network", "heat needs at least one way to the air");
        }
    }

    fn once_named(&mut self, names: &[&str]) {
        for (i, name) in names.iter().enumerate() {
            if names[..i].contains(name) {
                let path = format!("package.network.Cauer[{i}].name");
                self.fault(path, format!("`{name}` is there twice"));
            }
        }
    }
}
