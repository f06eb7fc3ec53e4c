//! What is drawn whatever the engines do.

use crate::cost::{Setting, background, load_power, working_power};
use crate::evidence::Coverage;
use crate::units::Watts;

/// Power at the loads that goes with time and not with work: clock trees, leakage, memories that stand ready,
/// states of rest, blocks that run no network.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstantPower {
    /// The power.
    pub power: Watts,
    /// What it rests on, in watts.
    pub coverage: Coverage,
}

/// The constant power of a profile at an operating point.
pub fn constant_power(setting: Setting<'_>) -> ConstantPower {
    let links = setting.profile.links();
    let domains = (0..links.domain_rail.len()).flat_map(|domain| {
        let own = working_power(domain, setting);
        [own.clock, own.leakage, own.rest]
    });
    let loads = (0..links.load_rail.len()).map(|load| load_power(load, setting));
    let memories = 0..setting.profile.spec().memories.len();
    let memories = memories.filter_map(|memory| background(memory, setting));
    let mut constant = ConstantPower { power: Watts::ZERO, coverage: Coverage::default() };
    for known in domains.chain(loads).chain(memories) {
        if known.power.0 != 0.0 {
            constant.power += known.power;
            constant.coverage.add(known.kind, known.power.0);
        }
    }
    constant
}
