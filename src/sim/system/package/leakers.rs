//! What leaks on the chip whose package heats, each by a source of the network or, of a block, one a state.

use crate::cost::Setting;
use crate::hardware::{LeakageSpec, LoadLeakage, Role};
use crate::physics::leaking_network::LeakSource;
use crate::units::{Celsius, PerKelvin};

/// Something that leaks on the chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sim::system) enum Leaks {
    Domain(usize),
    /// A block, which leaks by another law in each of its states.
    Load(usize),
}

#[derive(Debug)]
pub(super) struct Leaker {
    pub(super) of: Leaks,
    pub(super) place: usize,
    /// The first of its sources in the network, one a state.
    pub(super) first: usize,
    /// Reference and growth of each.
    pub(super) laws: Vec<(f64, f64)>,
    /// The largest growth.
    pub(super) growth: f64,
}

/// What leaks on the chip, and the sources of the network that stand for it.
pub(super) fn leakers(setting: Setting<'_>) -> (Vec<Leaker>, Vec<LeakSource>) {
    let (profile, spec) = (setting.profile, setting.profile.spec());
    let (mut leakers, mut sources) = (Vec::new(), Vec::new());
    let mut add = |of: Leaks, place: usize, laws: Vec<(f64, f64)>| {
        let growth = laws.iter().map(|(_, growth)| growth.abs()).fold(0.0, f64::max);
        let first = sources.len();
        sources.extend(laws.iter().map(|(reference, growth)| LeakSource {
            place,
            reference: Celsius(*reference),
            per_kelvin: PerKelvin(*growth),
        }));
        leakers.push(Leaker { of, place, first, laws, growth });
    };
    let law = |own: &LeakageSpec| (own.temperature.get().0, own.per_kelvin.get().0);
    for (domain, own) in spec.domains.iter().enumerate() {
        let node = profile.heated_node(Role::Leakage(domain));
        if let Some((leakage, node)) = own.leakage.as_ref().zip(node) {
            add(Leaks::Domain(domain), node, vec![law(leakage)]);
        }
    }
    for (load, own) in spec.loads.iter().enumerate() {
        let Some(node) = profile.heated_node(Role::Load(load)) else { continue };
        let laws = own.states.iter().map(|state| match &state.leakage {
            Some(LoadLeakage::Growing(own)) => Some(law(own)),
            _ => None,
        });
        let laws: Vec<Option<(f64, f64)>> = laws.collect();
        if laws.iter().any(Option::is_some) {
            // A state that does not grow leaks nothing here.
            let laws = laws.into_iter().map(|own| own.unwrap_or((0.0, 0.0))).collect();
            add(Leaks::Load(load), node, laws);
        }
    }
    (leakers, sources)
}
