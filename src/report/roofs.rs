//! What every report of a roofline starts from.

use super::Prediction;
use crate::estimate::roofline::{Level, Roofline};
use crate::evidence::Kind;
use crate::uncertainty::RoofBands;

/// The roofs of a prediction.
#[derive(Debug)]
pub struct Roofs<'a> {
    /// The prediction that they are of.
    pub prediction: &'a Prediction<'a>,
    /// The roofs and the layers below them.
    pub roofline: &'a Roofline,
    /// How far the roofs may be off.
    pub bands: &'a RoofBands,
    /// True for energy, false for time.
    pub energy: bool,
    /// The one level that is looked at, by number of the channel; all when left out.
    pub level: Option<usize>,
}

impl Roofs<'_> {
    /// Name of an engine.
    pub(super) fn engine_name(&self, engine: usize) -> &str {
        let engines = &self.prediction.setting.profile.spec().engines;
        engines.get(engine).map_or("", |engine| engine.name.as_str())
    }

    /// Name of a level.
    pub(super) fn level_name(&self, level: &Level) -> &str {
        self.prediction.setting.profile.channel_name(level.channel)
    }

    /// Whether finishing early saves more than working gently, by the engine that takes most energy.
    pub(super) fn race(&self) -> String {
        let share = self.roofline.constant_share_at_best();
        let percent = 100.0 * share;
        let pays = if share > 0.5 {
            "time takes more than work, so racing to idle pays as far as idle switches it off"
        } else {
            "work takes more than time, so a slower point at a lower voltage may save more than racing to idle"
        };
        format!("constant power is {percent:.0} % of the energy at best: {pays}")
    }

    /// What is drawn or listed, in one line.
    pub(super) fn title(&self) -> String {
        let what = if self.energy { "energy roofline" } else { "roofline" };
        let level = self.level.map(|channel| {
            format!(" at {}", self.prediction.setting.profile.channel_name(channel))
        });
        format!("{}: {what}{}", self.prediction.subject(), level.unwrap_or_default())
    }
}

/// True for a roof that nobody stands in for: what it rests on was recalled or assumed.
pub(super) fn is_unfounded(kind: Kind) -> bool {
    kind >= Kind::Recalled
}

/// ` (assumed)` or ` (recalled)` behind what rests on no more.
pub(super) fn standing(kind: Kind) -> String {
    if is_unfounded(kind) { format!(" ({})", kind.name()) } else { String::new() }
}

/// A factor with three significant digits: `0.0412`, `3.14`, `1 250`.
pub(super) fn factor(value: f64) -> String {
    if !value.is_finite() || value <= 0.0 {
        return format!("{value}");
    }
    let decimals = (2 - value.log10().floor() as i32).clamp(0, 6) as usize;
    format!("{value:.decimals$}")
}
