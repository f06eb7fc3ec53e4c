//! The highest current of each rail while a network runs, and how fast it rises.
//!
//! Within a phase of a layer powers are constant, and an engine's own power swings up to its
//! `peak_to_mean` above. The highest current of a rail is that of the phase in which its loads and the
//! regulators that draw from it take most; regulators are solved at that peak. An engine that goes from
//! rest to its peak within its `ramp` raises the current of its rail by `I / ramp`. A supply's voltage
//! sags by `R I`, and what it leaves to a regulator that steps down is held against what that needs:
//! its output, and with a linear one its dropout `R_do I`. Neglected: that sources give more current
//! while they sag, but for those that are followed.

use super::rail_power::rail_power;
use crate::cost::{Setting, SupplyState, SupplyTree, standing_power};
use crate::mapping::{Plan, Step};
use crate::units::{Amperes, AmperesPerSecond, Volts, Watts};

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
    /// What the voltage of its supply falls by at this current, where the supply has a resistance.
    pub sag: Option<Volts>,
    /// What is left of its voltage then.
    pub left: Volts,
    /// True where some phase asks for more than can be given at any voltage.
    pub collapses: bool,
    /// The least that its regulator has to spare, where that only steps down.
    pub headroom: Option<Headroom>,
}

/// What a regulator that only steps down has to spare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Headroom {
    /// The regulator, by index.
    pub regulator: usize,
    /// Its load.
    pub current: Amperes,
    /// Voltage of its input, with the sag of a supply there.
    pub given: Volts,
    /// What that stands above the least that makes its output; negative where it cannot.
    pub spare: Volts,
}

impl Headroom {
    /// True where the regulator cannot make its output.
    pub fn is_short(&self) -> bool {
        self.spare.0 < -1e-9
    }
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
            sag: None,
            left: Volts::ZERO,
            collapses: false,
            headroom: None,
        })
        .collect();
    let standing = standing_power(setting);
    let tree = SupplyTree::new(setting);
    let (mut power, mut state) = (vec![Watts::ZERO; tree.taps()], SupplyState::default());
    for (step, phase) in plan.steps.iter().flat_map(|s| s.phases.iter().map(move |p| (s, p))) {
        let swing = &setting.profile.spec().engines[step.engine].peak_to_mean;
        let swing = swing.as_ref().map_or(1.0, |ratio| ratio.get().0.max(1.0));
        let Some((_, engine)) = rail_power(step, phase, swing, &standing, &mut power, setting)
        else {
            continue;
        };
        tree.solve_afresh(&power, &mut state);
        for (peak, current) in peaks.iter_mut().zip(&state.rail_current) {
            if *current > peak.current {
                (peak.current, peak.layer) = (*current, step.layer);
                peak.sag = sag(peak.rail, *current, setting);
                peak.left =
                    state.rail_voltage[peak.rail] - tree.unfollowed_sag(peak.rail, *current);
            }
            peak.collapses |= tree.is_collapsed(peak.rail, &state);
        }
        spare(&tree, &state, &mut peaks, setting);
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

/// What the supply of a rail falls by at a current.
fn sag(rail: usize, current: Amperes, setting: Setting<'_>) -> Option<Volts> {
    let (spec, links) = (setting.profile.spec(), setting.profile.links());
    let supply = links.supply_rail.iter().position(|r| *r == rail)?;
    Some(spec.supplies.get(supply)?.resistance.as_ref()?.get() * current)
}

/// Keeps the least that each regulator has to spare.
fn spare(tree: &SupplyTree, state: &SupplyState, peaks: &mut [RailPeak], setting: Setting<'_>) {
    for &regulator in &setting.point.regulators {
        let (input, output) = setting.profile.links().regulator_rails[regulator];
        let fallen = tree.unfollowed_sag(input, state.rail_current[input]);
        let given = state.rail_voltage[input] - fallen;
        let current = state.rail_current[output];
        let Some(spare) = tree.headroom(regulator, given, current) else { continue };
        if peaks[output].headroom.is_none_or(|least| spare < least.spare) {
            peaks[output].headroom = Some(Headroom { regulator, current, given, spare });
        }
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
