//! How far the roofs of a network may be off.
//!
//! As for headline figures ([`super::linearised`]): each uncertain quantity is moved by one standard
//! deviation up and down, by itself, and what that does to the logarithm of a roof is summed in squares.

use super::linearised::{Interval90, Z90, moves};
use crate::cost::{Setting, cost};
use crate::estimate::roofline::{
    ComputeRoof, ConstantPower, Counted, EnergyRoof, EngineRoofline, Level, Roofline, Roofs,
    constant_power,
};
use crate::hardware::{Movable, Profile};
use crate::mapping::Network;
use crate::units::Quantity;

/// Points of an energy roof in each decade of intensity.
const STEPS: i32 = 16;
/// Decades that an energy roof goes on past what there is.
const MARGIN: i32 = 2;
/// Most decades that are looked at.
const DECADES: i32 = 24;

/// Central 90 % intervals of all roofs.
#[derive(Debug, Clone, PartialEq)]
pub struct RoofBands {
    /// In the order of [`Roofline::engines`].
    pub engines: Vec<EngineBands>,
}

/// Intervals of the roofs of one engine.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineBands {
    /// Bandwidths \[B/s\], in the order of the engine's levels.
    pub levels: Vec<Interval90>,
    /// Of layers of multiply-accumulates.
    pub macs: CountBands,
    /// Of layers of element operations alone.
    pub operations: CountBands,
}

/// Intervals of the roofs of what is counted alike.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CountBands {
    /// Peaks \[1/s\], in the order of the compute roofs.
    pub peaks: Vec<Interval90>,
    /// The energy roof below the first of them, in the order of the engine's levels.
    pub energy: Vec<EnergyBand>,
}

/// An energy roof with its interval from the least intensity to the largest.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EnergyBand {
    /// Intensity \[1/B\] and interval \[1/J\].
    pub points: Vec<(f64, Interval90)>,
}

/// The linearised intervals of a network's roofs.
pub fn roof_bands(network: &Network, roofline: &Roofline, setting: Setting<'_>) -> RoofBands {
    let figures = |profile: &Profile| figures(network, roofline, profile, setting);
    let mut intervals = intervals(setting, figures).into_iter();
    let engines = roofline.engines.iter().map(|engine| {
        let levels = intervals.by_ref().take(engine.levels.len()).collect();
        let macs = taken(&engine.macs, &engine.levels, &mut intervals);
        let operations = taken(&engine.operations, &engine.levels, &mut intervals);
        EngineBands { levels, macs, operations }
    });
    RoofBands { engines: engines.collect() }
}

/// Intervals of any figures, all of them above zero.
fn intervals(setting: Setting<'_>, figures: impl Fn(&Profile) -> Vec<f64>) -> Vec<Interval90> {
    let profile = setting.profile;
    let centre = figures(profile);
    let mut sigma = vec![(0.0f64, 0.0f64); centre.len()];
    let mut movable = Movable::of(profile);
    for step in moves(&profile.parameters(), setting) {
        let mut moved =
            |sign: f64| figures(movable.perturbed(|i, value| step.apply(i, value, sign)));
        for (((up, down), centre), (above, below)) in
            sigma.iter_mut().zip(&centre).zip(moved(1.0).into_iter().zip(moved(-1.0)))
        {
            let [above, below] = [above, below].map(|moved| (moved / centre).ln());
            // `max` passes over what is no number.
            *up = up.hypot(0f64.max(above).max(below));
            *down = down.hypot(0f64.max(-above).max(-below));
        }
    }
    let around = |(value, (up, down)): (f64, (f64, f64))| Interval90 {
        low: value * (-Z90 * down).exp(),
        high: value * (Z90 * up).exp(),
    };
    centre.into_iter().zip(sigma).map(around).collect()
}

/// All figures of the roofs on a profile, as many on any; no numbers where it lacks something.
fn figures(
    network: &Network,
    roofline: &Roofline,
    profile: &Profile,
    setting: Setting<'_>,
) -> Vec<f64> {
    let point = profile.repoint(setting.point);
    let point = point.unwrap_or_else(|_| setting.point.clone());
    let setting = Setting { profile, point: &point, stacks: setting.stacks };
    let constant = constant_power(setting);
    let mut figures = Vec::new();
    for engine in &roofline.engines {
        let levels: Vec<Level> = engine
            .levels
            .iter()
            .map(|level| Level::of(level.channel, (level.read, level.written), setting))
            .collect();
        figures.extend(levels.iter().map(|level| level.bandwidth.0));
        let now = Now { network, engine, levels: &levels, constant: &constant, setting };
        now.figures(&engine.macs, &mut figures);
        now.figures(&engine.operations, &mut figures);
    }
    figures
}

/// An engine with its levels on a profile.
struct Now<'a> {
    network: &'a Network,
    engine: &'a EngineRoofline,
    levels: &'a [Level],
    constant: &'a ConstantPower,
    setting: Setting<'a>,
}

impl Now<'_> {
    fn figures<C: Counted>(&self, roofs: &Roofs<C>, figures: &mut Vec<f64>) {
        let again = roofs.compute.iter().map(|compute| {
            let work = &self.network.layers.get(compute.layer)?.work;
            let cost = cost(work, self.engine.engine, self.setting).ok()?;
            ComputeRoof::<C>::of(compute.layer, &cost, self.engine.engine, self.setting)
        });
        let again: Vec<Option<ComputeRoof<C>>> = again.collect();
        figures.extend(again.iter().map(|roof| roof.map_or(f64::NAN, |roof| roof.peak.si())));
        let Some(first) = again.first() else { return };
        let grid = grid(roofs, &self.engine.levels);
        for level in self.levels {
            figures.extend(grid.iter().map(|at| {
                let roof = first.as_ref().map(|c| EnergyRoof::of(c, level, self.constant.power));
                roof.map_or(f64::NAN, |roof| roof.at(C::PerByte::from_si(*at)).si())
            }));
        }
    }
}

/// Intensities that an energy roof is looked at.
fn grid<C: Counted>(roofs: &Roofs<C>, levels: &[Level]) -> Vec<f64> {
    let Some((low, high)) = roofs.span(levels) else { return Vec::new() };
    let first = low.si().log10().floor() as i32 - MARGIN;
    let last = (high.si().log10().ceil() as i32 + MARGIN).min(first.saturating_add(DECADES));
    (first * STEPS..=last * STEPS).map(|at| 10f64.powf(f64::from(at) / f64::from(STEPS))).collect()
}

/// The intervals of one count, in the order in which [`Now::figures`] makes them.
fn taken<C: Counted>(
    roofs: &Roofs<C>,
    levels: &[Level],
    intervals: &mut impl Iterator<Item = Interval90>,
) -> CountBands {
    let peaks: Vec<_> = intervals.by_ref().take(roofs.compute.len()).collect();
    if roofs.compute.is_empty() {
        return CountBands { peaks, energy: Vec::new() };
    }
    let grid = grid(roofs, levels);
    let energy = levels.iter().map(|_| {
        let own = intervals.by_ref().take(grid.len());
        EnergyBand { points: grid.iter().copied().zip(own).collect() }
    });
    let energy = energy.collect();
    CountBands { peaks, energy }
}
