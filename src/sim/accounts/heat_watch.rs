//! Power into each node of a package, as it changes.

use super::{Accounts, Places};
use crate::cost::Setting;
use crate::hardware::components;
use crate::units::Watts;

/// Components by the node that they heat.
#[derive(Debug)]
pub(super) struct HeatWatch {
    /// Node of each component; nothing of what heats none.
    node_of: Vec<Option<usize>>,
    /// Components of each node.
    at_node: Vec<Vec<usize>>,
    /// Nodes whose power changed since they were looked at.
    changed: Vec<bool>,
    any: bool,
}

impl HeatWatch {
    pub(super) fn new(setting: Setting<'_>, places: &Places, count: usize, nodes: usize) -> Self {
        let mut own = Self {
            node_of: vec![None; count],
            at_node: vec![Vec::new(); nodes],
            changed: vec![false; nodes],
            any: false,
        };
        for (role, _) in components(setting.profile) {
            let place = places.of(role).filter(|place| *place < count);
            let node = setting.profile.heated_node(role).filter(|node| *node < nodes);
            if let Some((place, node)) = place.zip(node) {
                own.node_of[place] = Some(node);
                own.at_node[node].push(place);
            }
        }
        own
    }

    /// The power of a component has changed.
    pub(super) fn note(&mut self, place: usize) {
        if let Some(node) = self.node_of[place] {
            self.changed[node] = true;
            self.any = true;
        }
    }
}

impl Accounts<'_> {
    /// Watches the power of the nodes of a package from now on.
    pub(in crate::sim) fn watch_heat(&mut self, nodes: usize) {
        let count = self.told.len();
        self.heat = Some(HeatWatch::new(self.setting, &self.places, count, nodes));
    }

    /// Brings `power` up to date, a number a node; true where any has changed.
    pub(in crate::sim) fn follow_heat(&mut self, power: &mut [Watts]) -> bool {
        let Some(watch) = &mut self.heat else { return false };
        if !std::mem::take(&mut watch.any) {
            return false;
        }
        let nodes = watch.changed.iter_mut().zip(&watch.at_node).zip(power);
        for ((changed, places), power) in nodes {
            if std::mem::take(changed) {
                *power = Watts(places.iter().map(|c| self.numbers.components[*c].value).sum());
            }
        }
        true
    }

    /// True where the power of a node has changed since it was looked at.
    pub(in crate::sim) fn heat_changed(&self) -> bool {
        self.heat.as_ref().is_some_and(|watch| watch.any)
    }
}
