//! The highest current of each rail while a network runs, and how fast it rises.
//!
//! Within a phase of a layer powers are constant, and an engine's own power swings up to its
//! `peak_to_mean` above. The highest current of a rail is that of the phase in which its loads and the
//! regulators that draw from it take most; regulators are solved at that peak. An engine that goes from
//! rest to its peak within its `ramp` raises the current of its rail by `I / ramp`.

use super::rail_power::{rail_power, standing_power};
use crate::cost::{Setting, SupplyState, supply};
use crate::mapping::{Plan, Step};
use crate::units::{Amperes, AmperesPerSecond, Watts};

/// The highest current of a rail.
#[derive(Debug, Clone, PartialEq)]
pub struct RailPeak {
    /// The rail, by index.
    pub rail: usize,
    /// The current.
    pub current: Amperes,
    /// The layer, by its place in the network.
    pub layer: usize,
    /// Steepest rise of an engine on this rail that has a ramp.
    pub rise: Option<AmperesPerSecond>,
    /// The least of what feeds the rail, where it has a limit.
    pub limit: Option<Limit>,
}

/// What a regulator or a supply can give.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Its name.
    pub name: String,
    /// Its highest current.
    pub current: Amperes,
}

impl RailPeak {
    /// True where more is drawn than what feeds the rail can give.
    pub fn is_over(&self) -> bool {
        self.limit.as_ref().is_some_and(|limit| self.current > limit.current)
    }
}

/// The highest current of every rail that draws any, in the order of the profile.
pub fn rail_peaks(plan: &Plan, setting: Setting<'_>) -> Vec<RailPeak> {
    let rails = setting.point.voltages.len();
    let mut peaks: Vec<RailPeak> = (0..rails)
        .map(|rail| RailPeak {
            rail,
            current: Amperes::ZERO,
            layer: 0,
            rise: None,
            limit: limit(rail, setting),
        })
        .collect();
    let standing = standing_power(setting);
    let (mut power, mut state) = (vec![Watts::ZERO; rails], SupplyState::default());
    for (step, phase) in plan.steps.iter().flat_map(|s| s.phases.iter().map(move |p| (s, p))) {
        let swing = &setting.profile.spec().engines[step.engine].peak_to_mean;
        let swing = swing.as_ref().map_or(1.0, |ratio| ratio.get().0.max(1.0));
        let Some((_, engine)) = rail_power(step, phase, swing, &standing, &mut power, setting)
        else {
            continue;
        };
        supply(&power, setting, &mut state);
        for (peak, current) in peaks.iter_mut().zip(&state.rail_current) {
            if *current > peak.current {
                (peak.current, peak.layer) = (*current, step.layer);
            }
        }
        rise(step, engine, &mut peaks, setting);
    }
    peaks.retain(|peak| peak.current.0 > 0.0);
    peaks
}

fn rise(step: &Step, engine: Watts, peaks: &mut [RailPeak], setting: Setting<'_>) {
    let Some(ramp) = &setting.profile.spec().engines[step.engine].ramp else { return };
    let links = setting.profile.links();
    let rail = links.domain_rail[links.engine_domain[step.engine]];
    let swing = engine / setting.point.voltages[rail].0;
    let steepness = swing / ramp.get();
    let so_far = peaks[rail].rise.map_or(f64::NEG_INFINITY, |r| r.0);
    if steepness.0 > so_far {
        peaks[rail].rise = Some(steepness);
    }
}

/// The limit of the regulator in use or of the supply that feeds a rail.
fn limit(rail: usize, setting: Setting<'_>) -> Option<Limit> {
    let (spec, links) = (setting.profile.spec(), setting.profile.links());
    let regulator = setting.point.regulators.iter().find(|r| links.regulator_rails[**r].1 == rail);
    let (name, most) = match regulator.and_then(|r| spec.regulators.get(*r)) {
        Some(regulator) => (&regulator.name, regulator.max_current.as_ref()?),
        None => {
            let supply = links.supply_rail.iter().position(|r| *r == rail)?;
            let supply = spec.supplies.get(supply)?;
            (&supply.name, supply.max_current.as_ref()?)
        }
    };
    Some(Limit { name: name.clone(), current: most.get() })
}
