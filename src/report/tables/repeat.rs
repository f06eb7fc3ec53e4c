//! `capture repeat`: several captures of one thing.

use super::table;
use crate::capture::{Compared, Measured, Repeats, Runs, values_of};
use crate::units::Joules;
use std::fmt::Write as _;

/// A row for each capture, then their mean and what differs between them; false where fewer than two
/// have anything to compare.
pub fn repeat_text(runs: &[(String, Measured)]) -> (String, bool) {
    let measured: Vec<&Measured> = runs.iter().map(|run| &run.1).collect();
    let (compared, values) = values_of(&measured);
    let what = match compared {
        Compared::EnergyPerInference => "an inference",
        Compared::WindowEnergy => "a window",
    };
    let mut rows = table(&["capture", "windows", what, "spread"], 1);
    for ((name, _), values) in runs.iter().zip(&values) {
        let repeats = Repeats::of(values);
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        rows.add_row([
            name.clone(),
            values.len().to_string(),
            if values.is_empty() { "not known".into() } else { Joules(mean).to_string() },
            repeats.map_or_else(String::new, |r| format!("{:.3} %", 100.0 * r.relative())),
        ]);
    }
    let mut text = format!("{rows}\n");
    let Some(all) = Runs::of(&values) else {
        text.push_str("fewer than two captures have windows with known power to compare\n");
        return (text, false);
    };
    let share = |value: f64| 100.0 * value / all.mean.abs();
    let _ = writeln!(
        text,
        "{what} takes {} ± {} (standard error over {} captures)",
        Joules(all.mean),
        Joules(all.standard_error),
        all.means.len()
    );
    let _ = writeln!(
        text,
        "spread within a capture {:.3} %, from capture to capture beyond that {:.3} %",
        share(all.within),
        share(all.between)
    );
    (text, true)
}
