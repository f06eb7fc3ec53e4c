//! Components of a run: what they are called, what feeds them, and where each role of the profile is.

use crate::cost::{Setting, is_fed};
use crate::hardware::{Role, components};
use crate::trace::{Component, ComponentKind, Header, Rail};

/// Where the components of each role are in the header.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    engines: Vec<Option<usize>>,
    channels: Vec<Option<usize>>,
    clocks: Vec<Option<usize>>,
    leakages: Vec<Option<usize>>,
    rests: Vec<Option<usize>>,
    loads: Vec<Option<usize>>,
    regulators: Vec<Option<usize>>,
    grids: Vec<Option<usize>>,
}

impl Places {
    pub(super) fn of(&self, role: Role) -> Option<usize> {
        let (list, index) = match role {
            Role::Engine(i) => (&self.engines, i),
            Role::Channel(i) => (&self.channels, i),
            Role::Clock(i) => (&self.clocks, i),
            Role::Leakage(i) => (&self.leakages, i),
            Role::Rest(i) => (&self.rests, i),
            Role::Load(i) => (&self.loads, i),
            Role::Regulator(i) => (&self.regulators, i),
            Role::Grid(i) => (&self.grids, i),
        };
        list.get(index).copied().flatten()
    }

    fn set(&mut self, role: Role, place: usize) {
        let (list, index) = match role {
            Role::Engine(i) => (&mut self.engines, i),
            Role::Channel(i) => (&mut self.channels, i),
            Role::Clock(i) => (&mut self.clocks, i),
            Role::Leakage(i) => (&mut self.leakages, i),
            Role::Rest(i) => (&mut self.rests, i),
            Role::Load(i) => (&mut self.loads, i),
            Role::Regulator(i) => (&mut self.regulators, i),
            Role::Grid(i) => (&mut self.grids, i),
        };
        if list.len() <= index {
            list.resize(index + 1, None);
        }
        list[index] = Some(place);
    }
}

/// Components and rails, where each role is, and the tap that each load draws at.
pub(super) fn header(setting: Setting<'_>) -> (Header, Places, Vec<Option<usize>>) {
    let spec = setting.profile.spec();
    let links = setting.profile.links();
    let mut header = Header::default();
    for (index, rail) in spec.rails.iter().enumerate() {
        header.rails.push(Rail { name: rail.name.clone(), is_source: !is_fed(index, setting) });
    }
    let (mut places, mut taps) = (Places::default(), Vec::new());
    for (role, name) in components(setting.profile) {
        let (kind, domain, rail) = match role {
            Role::Engine(i) => (ComponentKind::Engine, Some(links.engine_domain[i]), None),
            Role::Channel(i) => (channel_kind(i, setting), Some(links.channel_domain[i]), None),
            Role::Clock(i) => (ComponentKind::Clock, Some(i), None),
            Role::Leakage(i) => (ComponentKind::Leakage, Some(i), None),
            Role::Rest(i) => (ComponentKind::Rest, Some(i), None),
            Role::Load(i) => (ComponentKind::Load, None, Some(links.load_rail[i])),
            Role::Regulator(i) if !setting.point.regulators.contains(&i) => continue,
            Role::Regulator(i) => {
                (ComponentKind::RegulatorLoss, None, Some(links.regulator_rails[i].0))
            }
            Role::Grid(i) => (ComponentKind::GridLoss, Some(i), None),
        };
        let rail = rail.or(domain.map(|d| links.domain_rail[d])).unwrap_or(0);
        places.set(role, taps.len());
        header.components.push(Component {
            name,
            kind,
            domain: domain.map_or(String::new(), |d| spec.domains[d].name.clone()),
            rail: spec.rails[rail].name.clone(),
        });
        let tap = domain.map_or(rail, |d| links.domain_tap[d]);
        taps.push((!role.is_loss()).then_some(tap));
    }
    (header, places, taps)
}

/// Memories come first among channels, then caches, then links.
fn channel_kind(channel: usize, setting: Setting<'_>) -> ComponentKind {
    let spec = setting.profile.spec();
    if channel < spec.memories.len() {
        ComponentKind::Memory
    } else if channel < spec.memories.len() + spec.caches.len() {
        ComponentKind::Cache
    } else {
        ComponentKind::Link
    }
}
