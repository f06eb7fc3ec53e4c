//! What a prediction means for what feeds and cools the chip.

use crate::estimate::RailPeak;
use crate::physics::leakage_fixed_point::SteadyTemperature;
use crate::report::Prediction;
use crate::report::prediction::Lifetime;
use crate::units::{Seconds, engineering};
use std::fmt::Write as _;

/// Domains asleep, highest currents and the junction; a line each.
pub(super) fn limits_text(p: &Prediction<'_>) -> String {
    let mut text = String::new();
    let asleep: Vec<String> = p.asleep().iter().map(|(d, s)| format!("{d} ({s})")).collect();
    if !asleep.is_empty() {
        text.push_str(&super::listed("asleep throughout", &asleep));
    }
    let peaks: Vec<String> = p.peaks.iter().map(|peak| peak_text(p, peak)).collect();
    if !peaks.is_empty() {
        text.push_str(&super::listed("highest current by rail, engines at their peak", &peaks));
    }
    if let Some(junction) = &p.junction {
        let founded = match junction.kind {
            kind if kind.is_evidence() => String::new(),
            kind => format!(", {}", kind.name()),
        };
        let settles = match junction.steady {
            SteadyTemperature::Settles(at) => format!("settles at {:.1} °C", at.0),
            SteadyTemperature::RunsAway => "runs away".to_owned(),
        };
        let _ = writeln!(
            text,
            "junction, back to back: {settles} in air of {:.0} °C ({:.1} K/W{founded}); leakage above is at {:.0} °C",
            junction.ambient.0,
            junction.resistance.0,
            p.setting.profile.spec().temperature.get().0
        );
    }
    text
}

/// How long each battery lasts, a line each.
pub(super) fn lifetimes_text(lives: &[Lifetime], load: &str) -> String {
    let mut text = String::new();
    for life in lives {
        let _ = writeln!(
            text,
            "{} of {}, {load}: {} inferences in {}",
            life.supply,
            charge(life.capacity.0),
            super::grouped(life.inferences as u64),
            duration(life.duration)
        );
    }
    text
}

fn peak_text(p: &Prediction<'_>, peak: &RailPeak) -> String {
    let name = &p.setting.profile.spec().rails[peak.rail].name;
    let layer = p.network.layers.get(peak.layer).map_or("", |l| l.name.as_str());
    let mut notes = vec![format!("in {}", super::shortened(layer, 24))];
    if let Some(limit) = &peak.limit {
        notes.push(format!("{} gives {}", limit.name, limit.current));
    }
    if let Some(sag) = peak.sag {
        notes.push(format!("its supply sags by {sag}"));
    }
    if let Some(rise) = peak.rise {
        notes.push(format!("rises at {} A/µs", engineering(rise.0 * 1e-6, "").trim()));
    }
    format!("{name} {} ({})", peak.current, notes.join("; "))
}

/// As batteries are marked.
pub(super) fn charge(coulombs: f64) -> String {
    format!("{:.0} mAh", coulombs / 3.6)
}

pub(super) fn duration(time: Seconds) -> String {
    match time.0 {
        s if s < 120.0 => time.to_string(),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}
