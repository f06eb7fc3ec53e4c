//! Changes with what they would save.

use super::{percent, table};
use crate::estimate::Advice;
use crate::report::Prediction;
use std::fmt::Write as _;

/// The changes, each with the joules and seconds that it saves of a sample.
pub fn advice_text(p: &Prediction<'_>, advice: &[Advice]) -> String {
    if advice.is_empty() {
        return "no change that was tried saves a thousandth of the energy or of the time\n"
            .to_owned();
    }
    let mut rows =
        table(&["what would save, estimated anew", "energy", "of all", "time", "of all"], 1);
    let share = |part: f64, whole: f64| percent(if whole > 0.0 { part / whole } else { 0.0 });
    for own in advice {
        let mark = match (own.change.changes_answers(), own.change.needs_hardware()) {
            (true, _) => " *",
            (_, true) => " +",
            _ => "",
        };
        let words = own.change.words(p.network, p.setting);
        let flag = own.change.flag(p.network, p.setting);
        let flag =
            flag.filter(|flag| *flag != words).map_or_else(String::new, |f| format!("\n  {f}"));
        rows.add_row(vec![
            format!("{words}{mark}{flag}"),
            own.saved_energy.to_string(),
            share(own.saved_energy.0, p.estimate.energy.0),
            own.saved_time.to_string(),
            share(own.saved_time.0, p.estimate.latency.0),
        ]);
    }
    let mut text = format!("{rows}\n");
    if advice.iter().any(|own| own.change.changes_answers()) {
        let _ =
            writeln!(text, "* changes what the network answers: its accuracy is to be measured");
    }
    if advice.iter().any(|own| own.change.needs_hardware()) {
        let _ = writeln!(
            text,
            "+ other hardware; a larger memory is given the energy per byte of this one"
        );
    }
    text
}
