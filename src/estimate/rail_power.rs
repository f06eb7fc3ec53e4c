//! What loads draw from each rail in a phase, which is constant over it.

use super::phase::slowest;
use crate::cost::{Setting, background, load_power, working_power};
use crate::mapping::{Phase, Step};
use crate::units::{Seconds, Watts};

/// What each rail draws whatever the engines do.
pub(super) fn standing_power(setting: Setting<'_>) -> Vec<Watts> {
    let links = setting.profile.links();
    let mut power = vec![Watts::ZERO; setting.point.voltages.len()];
    for (domain, &rail) in links.domain_rail.iter().enumerate() {
        let own = working_power(domain, setting);
        power[rail] += own.clock.power + own.leakage.power + own.rest.power;
    }
    for (load, &rail) in links.load_rail.iter().enumerate() {
        power[rail] += load_power(load, setting).power;
    }
    for memory in 0..setting.profile.spec().memories.len() {
        let rail = links.domain_rail[links.channel_domain[memory]];
        power[rail] += background(memory, setting).map_or(Watts::ZERO, |b| b.power);
    }
    power
}

/// Power of each rail in a phase, with the engine at `swing` times its mean; its duration, and the
/// engine's own power. Nothing for a phase without duration.
pub(super) fn rail_power(
    step: &Step,
    phase: &Phase,
    swing: f64,
    standing: &[Watts],
    power: &mut [Watts],
    setting: Setting<'_>,
) -> Option<(Seconds, Watts)> {
    let time = slowest(phase, step.engine, setting, |_| {}).total;
    if time.0 <= 0.0 {
        return None;
    }
    let engine = phase.energy / time * swing;
    draw(step, phase, (time, engine), standing, power, setting);
    Some((time, engine))
}

/// The same for a phase whose time and whose power of the engine are known.
pub(super) fn draw(
    step: &Step,
    phase: &Phase,
    (time, engine): (Seconds, Watts),
    standing: &[Watts],
    power: &mut [Watts],
    setting: Setting<'_>,
) {
    let links = setting.profile.links();
    power.copy_from_slice(standing);
    power[links.domain_rail[links.engine_domain[step.engine]]] += engine;
    for transfer in &phase.transfers {
        let rail = links.domain_rail[links.channel_domain[transfer.channel]];
        power[rail] += transfer.energy / time;
    }
}
