//! Sources that run down, and modes of regulators.

use super::super::{duration, grouped, listed, percent, table};
use crate::report::scenario::ScenarioRun;
use crate::sim::Holding;
use crate::units::{Coulombs, Seconds};
use std::fmt::Write as _;

/// A charge as batteries state it.
fn ampere_hours(charge: Coulombs) -> String {
    crate::units::engineering(charge.0 / 3600.0, "Ah")
}

/// Sources, where one runs down or a rail was not held.
pub(super) fn sources(run: &ScenarioRun<'_>) -> String {
    let supplied = &run.simulated.supplied;
    let runs_down = supplied.sources.iter().any(|own| own.holding != Holding::Endless);
    if !runs_down && supplied.brown_outs == 0 {
        return String::new();
    }
    let headers = ["source", "kind", "gave", "burnt inside", "used", "left", "lowest", "empty"];
    let mut rows = table(&headers, 2);
    for own in &supplied.sources {
        let (used, left) = match own.holding {
            Holding::Endless => (ampere_hours(own.charge), String::new()),
            Holding::Battery { left, capacity, .. } => {
                let share = percent(left / capacity);
                (ampere_hours(own.charge), format!("{} ({share})", ampere_hours(left)))
            }
            Holding::Storage { start, left, .. } => ((start - left).to_string(), left.to_string()),
        };
        let name = own.name.as_deref().unwrap_or_else(|| run.rail_name(own.rail));
        rows.add_row(vec![
            name.to_owned(),
            own.holding.name().to_owned(),
            own.given.to_string(),
            own.inside.to_string(),
            used,
            left,
            own.lowest.to_string(),
            own.empty.map_or_else(String::new, |at| duration(at.seconds())),
        ]);
    }
    let mut text = format!("{rows}\n");
    let rails = run.simulated.rails.iter().enumerate();
    let short: Vec<String> = rails
        .filter(|(_, rail)| rail.collapsed.seconds() > Seconds::ZERO)
        .map(|(rail, own)| format!("{} {}", run.rail_name(rail), duration(own.collapsed.seconds())))
        .collect();
    if !short.is_empty() {
        text.push_str(&listed("rails that could not give what was asked", &short));
    }
    text
}

/// Regulators with several modes: shares of time, changes, what they took.
pub(super) fn modes(run: &ScenarioRun<'_>) -> String {
    let mut text = String::new();
    for own in &run.simulated.supplied.regulators {
        let shares = own
            .modes
            .iter()
            .map(|(name, time)| format!("{name} {}", percent(run.share(time.seconds()))));
        let shares: Vec<String> = shares.collect();
        let _ = writeln!(
            text,
            "regulator {}: {}; {} changes, {} for them",
            own.name,
            shares.join(", "),
            grouped(own.changes),
            own.wake_energy
        );
    }
    text
}
