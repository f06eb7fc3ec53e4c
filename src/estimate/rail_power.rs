//! What loads draw at each tap of the supply tree in a phase, which is constant over it.

use crate::cost::Setting;
use crate::mapping::{Phase, Step, slowest};
use crate::units::{Seconds, Watts};

/// Power at each tap in a phase, with the engine at `swing` times its mean; its duration, and the
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
    power[links.domain_tap[links.engine_domain[step.engine]]] += engine;
    for transfer in &phase.transfers {
        let tap = links.domain_tap[links.channel_domain[transfer.channel]];
        power[tap] += transfer.energy / time;
    }
}
