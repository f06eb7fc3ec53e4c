//! What loads draw from each rail in a phase, which is constant over it.

use crate::cost::Setting;
use crate::mapping::{Phase, Step, phase_time};
use crate::units::{Seconds, Watts};

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
    let time = phase_time(phase, step.engine, setting).total;
    if time.0 <= 0.0 {
        return None;
    }
    let links = setting.profile.links();
    power.copy_from_slice(standing);
    let engine = phase.energy / time * swing;
    power[links.domain_rail[links.engine_domain[step.engine]]] += engine;
    for transfer in &phase.transfers {
        let rail = links.domain_rail[links.channel_domain[transfer.channel]];
        power[rail] += transfer.energy / time;
    }
    Some((time, engine))
}
