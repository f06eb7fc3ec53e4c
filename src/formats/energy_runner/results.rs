//! `results.txt`: the energies as published, of both runners.

use super::super::{FormatError, Input};
use super::LARGEST_TEXT;
use crate::trace::StatedRun;
use crate::units::Joules;

pub(super) fn read(input: &mut Input<'_>) -> Result<StatedRun, FormatError> {
    let text = input.text(LARGEST_TEXT)?;
    let mut run = StatedRun::default();
    for line in text.lines() {
        if let Some(energy) = after(line, "Energy/Inf").and_then(microjoule) {
            run.by_window.push(energy);
        } else if let Some(energy) = after(line, "Median energy cost is").and_then(microjoule) {
            run.energy_per_inference = Some(energy);
        } else if let Some(count) = after(line, "Inferences ").and_then(|t| t.parse().ok()) {
            run.inferences_per_window = Some(count);
        }
    }
    Ok(run)
}

/// What follows a label and its colon, without blanks.
fn after<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(label)?;
    Some(rest.trim_start_matches(['.', ' ', ':']).trim_end())
}

fn microjoule(text: &str) -> Option<Joules> {
    let (number, unit) = text.split_once(' ')?;
    let value: f64 = number.parse().ok()?;
    unit.starts_with("uJ/inf").then_some(Joules(value * 1e-6))
}
